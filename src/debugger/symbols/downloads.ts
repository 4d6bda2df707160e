/** Fetches files of symbol servers into a cache that has the layout of a store. */

import { HvError, toHvError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { folderOf, joinPath } from "../../base/paths.ts";
import { visibleText } from "../../base/visible_text.ts";
import type { Progress } from "../../contract/operation.ts";
import { type Download, withoutSecrets } from "../../host/downloads.ts";
import type { Host } from "../../host/host.ts";
import { type Begun, forgetBegun, noteBegun, readBegun } from "./begun_files.ts";
import type { StoreKey } from "./keys.ts";
import { parsePointer, partsInStore, POINTER_BYTES, POINTER_NAME } from "./pointer_file.ts";
import { Silence } from "./silence.ts";

/** What fetching needs of the world. */
export type DownloadHost = Pick<Host, "files" | "locks" | "clock" | "downloads">;

/** From where, to where, and how much at most. */
export interface DownloadOptions {
  /** Addresses of stores; asked in their order. */
  readonly servers: readonly string[];
  /** The folder of the cache. */
  readonly cache: string;
  /** Of all files of one call together. */
  readonly limitBytes: number;
  /** Throws for an address that may not be asked; servers that send on elsewhere are checked again. */
  readonly allow: (address: string) => void;
  readonly signal: AbortSignal;
  readonly progress: (progress: Progress) => void;
}

const PROGRESS_BYTES = 1024 * 1024;
const MOST_REDIRECTIONS = 5;

/** The downloads of one call. What a server does not have is asked for once. */
export class SymbolDownloads {
  readonly #host: DownloadHost;
  readonly #options: DownloadOptions;
  readonly #absent = new Set<string>();
  /** Servers that failed: they are not asked again in this call. */
  readonly #silent = new Set<string>();
  readonly #urls = new Map<string, string>();
  #fetched = 0;

  constructor(host: DownloadHost, options: DownloadOptions) {
    this.#host = host;
    this.#options = options;
  }

  /**
   * The path of the file in the cache, once some server has given it: plain, packed, or where its `file.ptr` leads;
   * null when none has it. `warn` hears why a server gave nothing although it was asked. Fails with the signal's
   * reason.
   */
  async fetch({ name, key }: StoreKey, warn: (text: string) => void): Promise<string | null> {
    const folder = joinPath(this.#options.cache, name, key);
    for (const server of this.#options.servers) {
      const address = (file: string) => urlOf(server, [name, key, file]);
      const found = await this.#attempt(server, warn, async () => {
        for (const file of [name, `${name.slice(0, -1)}_`]) {
          const path = joinPath(folder, file);
          if (await this.#fetchOnce(address(file), path)) return path;
        }
        return null;
      });
      if (found !== null) return found;
      const target = await this.#attempt(
        server,
        warn,
        () => this.#followPointer(server, address(POINTER_NAME), warn),
      );
      if (target === null) continue;
      const path = joinPath(folder, name);
      const led = await this.#attempt(
        target,
        warn,
        async () => await this.#fetchOnce(target, path) ? path : null,
      );
      if (led !== null) return led;
    }
    return null;
  }

  /** A place that fails is not asked again, and `warn` hears why. */
  async #attempt(
    place: string,
    warn: (text: string) => void,
    work: () => Promise<string | null>,
  ): Promise<string | null> {
    if (this.#silent.has(place)) return null;
    try {
      return await work();
    } catch (thrown) {
      this.#options.signal.throwIfAborted();
      const failure = toHvError(thrown);
      if (failure.code === "hv.internal") throw failure;
      this.#silent.add(place);
      warn(visibleText(failure.message));
      return null;
    }
  }

  /** Removes a file that is not what its name says; the server that gave it is not asked for it again. */
  async discard(path: string): Promise<void> {
    this.#absent.add(this.#urls.get(path) ?? "");
    await this.#host.files.remove(path);
  }

  /** Where a pointer leads; null when there is none, or it leads where nothing can be asked for. */
  async #followPointer(server: string, url: string, warn: (text: string) => void): Promise<string | null> {
    if (this.#absent.has(url)) return null;
    this.#absent.add(url);
    const named = await this.#readPointer(url);
    if (named === null) return null;
    const parts = partsInStore(named);
    if (parts !== null) return urlOf(server, parts);
    if (mayLead(url, named)) return named;
    warn(visibleText(`"${withoutSecrets(url)}" leads to "${withoutSecrets(named)}" and was not followed`));
    return null;
  }

  async #readPointer(url: string): Promise<string | null> {
    using silence = new Silence(this.#host.clock, this.#options.signal, url);
    using answer = await this.#ask(url, null, silence.signal);
    if (isAbsent(answer)) return null;
    if (answer.status !== 200) throw refusal(url, answer);
    const bytes = new Uint8Array(POINTER_BYTES);
    let size = 0;
    for (
      let piece = await answer.read();
      piece !== null && size < bytes.length;
      piece = await answer.read()
    ) {
      silence.heard();
      bytes.set(piece.subarray(0, bytes.length - size), size);
      size = Math.min(bytes.length, size + piece.length);
    }
    return parsePointer(bytes.subarray(0, size));
  }

  /** False when the server has no such file: then it is not asked for it again. */
  async #fetchOnce(url: string, path: string): Promise<boolean> {
    if (this.#absent.has(url)) return false;
    const given = await this.#fetchInto(url, path);
    if (given) this.#urls.set(path, url);
    else this.#absent.add(url);
    return given;
  }

  /** False when the server has no such file. */
  async #fetchInto(url: string, path: string): Promise<boolean> {
    const { files, locks } = this.#host;
    await files.makeFolder(folderOf(path));
    const part = `${path}.part`;
    using _lock = await locks.take(`${path}.lock`, this.#options.signal);
    if (await files.stat(path) !== undefined) return true;
    const begun = await readBegun(files, part, url);
    using silence = new Silence(this.#host.clock, this.#options.signal, url);
    using answer = await this.#ask(url, begun, silence.signal);
    if (isAbsent(answer)) {
      if (begun !== null) await forgetBegun(files, part);
      return false;
    }
    if (answer.status === 416) {
      // It has got shorter: what was begun is of another version.
      await forgetBegun(files, part);
      throw serverFailure(url, "what was begun is no part of the file any more", { status: 416 });
    }
    if (answer.status !== 200 && answer.status !== 206) throw refusal(url, answer);
    const goesOn = answer.status === 206 && begun !== null && answer.start === begun.size;
    if (answer.status === 206 && !goesOn) {
      throw serverFailure(url, "the server sends another part than was asked for", { start: answer.start });
    }
    await noteBegun(files, part, url, answer.validator);
    await this.#write(part, goesOn ? begun.size : 0, url, answer, silence);
    await files.rename(part, path);
    await forgetBegun(files, part);
    return true;
  }

  /** Redirections are followed, but never from https to plain http. */
  async #ask(
    url: string,
    begun: Begun | null,
    signal: AbortSignal,
  ): Promise<Download> {
    let address = url;
    for (let hop = 0; hop <= MOST_REDIRECTIONS; hop++) {
      const resume = begun === null ? {} : { offset: begun.size, validator: begun.validator };
      this.#options.allow(address);
      const answer = await this.#host.downloads.open(address, { signal, ...resume });
      if (answer.status < 300 || answer.status >= 400 || answer.location === undefined) return answer;
      const { location } = answer;
      answer[Symbol.dispose]();
      if (!mayLead(address, location)) {
        throw serverFailure(url, `it leads to "${withoutSecrets(location)}"`, {});
      }
      address = location;
    }
    throw serverFailure(url, `it leads on more than ${MOST_REDIRECTIONS} times`, {});
  }

  async #write(part: string, start: number, url: string, answer: Download, silence: Silence): Promise<void> {
    const { limitBytes, progress } = this.#options;
    const { files } = this.#host;
    const total = answer.length === undefined ? null : start + answer.length;
    if (this.#fetched + (answer.length ?? 0) > limitBytes) throw overLimit(url, limitBytes);
    using writer = start > 0 ? await files.append(part) : await files.create(part, { overwrite: true });
    let size = start;
    let told = start;
    for (let piece = await answer.read(); piece !== null; piece = await answer.read()) {
      silence.heard();
      this.#fetched += piece.length;
      if (this.#fetched > limitBytes) throw overLimit(url, limitBytes);
      await writer.write(piece);
      size += piece.length;
      if (size - told < PROGRESS_BYTES) continue;
      told = size;
      const fraction = total === null || total === 0 ? {} : { fraction: Math.min(1, size / total) };
      progress({ message: `Fetching ${visibleText(url)}`, ...fraction });
    }
    if (total !== null && size !== total) {
      throw serverFailure(url, `${size} of ${total} bytes came`, { wanted_bytes: total, found_bytes: size });
    }
    await writer.sync();
  }
}

/** Whether an address may send on to another: to web servers only, and never from https to plain http. */
function mayLead(from: string, to: string): boolean {
  return /^https:/i.test(to) || (/^http:/i.test(to) && !/^https:/i.test(from));
}

function isAbsent({ status }: Download): boolean {
  return status === 404 || status === 410;
}

function refusal(url: string, { status }: Download): HvError {
  return serverFailure(url, `the server answers ${status}`, { status });
}

function urlOf(server: string, parts: readonly string[]): string {
  return [server.replace(/\/+$/, ""), ...parts.map(encodeURIComponent)].join("/");
}

function serverFailure(url: string, what: string, context: JsonObject): HvError {
  return new HvError("hv.unavailable", `Cannot fetch "${withoutSecrets(url)}": ${what}`, {
    hint: "Try again: what came is kept",
    context: { url: withoutSecrets(url), ...context },
  });
}

function overLimit(url: string, limitBytes: number): HvError {
  return new HvError(
    "hv.unavailable",
    `Cannot fetch "${url}": with it more than ${Math.floor(limitBytes / 1024 ** 2)} MiB would be fetched`,
    {
      hint: "Give a higher --download-limit",
      context: { url, limit_bytes: limitBytes },
      retryable: false,
    },
  );
}
