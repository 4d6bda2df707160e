/** Files from web servers. Redirects are not followed here: whoever asks decides where to go. */

import { HvError } from "../base/errors.ts";

export interface DownloadRequest {
  /** The first byte that is wanted; the server may send all of them anyway. */
  offset?: number;
  /** What the server called the version of which the bytes before the offset are. */
  validator?: string;
  signal: AbortSignal;
}

/** A server's answer, whose bytes have not been read. */
export interface Download extends Disposable {
  status: number;
  /** Where else to ask, of an answer that sends there; a full address. */
  location: string | undefined;
  /** The number of bytes that the server says will follow; `undefined` when it does not say. */
  length: number | undefined;
  /** Where in the file the bytes begin: 0, unless the server goes on where it was asked to. */
  start: number;
  /** What the server calls this version, to be given back when going on later; `undefined` when it has no word for it. */
  validator: string | undefined;
  /** The next bytes; `null` at the end. Rejects with `hv.unavailable` when the server breaks off before it. */
  read(): Promise<Uint8Array | null>;
}

export interface Downloads {
  /** Asks for a file. Throws `hv.unavailable` when the server cannot be reached or does not speak HTTP. */
  open(address: string, request: DownloadRequest): Promise<Download>;
}

export const denoDownloads: Downloads = {
  async open(address, { offset = 0, validator, signal }) {
    const headers = new Headers({ "accept-encoding": "identity" });
    if (offset > 0) headers.set("range", `bytes=${offset}-`);
    if (offset > 0 && validator !== undefined) headers.set("if-range", validator);
    const given = new AbortController();
    const onAbort = (): void => given.abort(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const response = await fetch(address, { headers, redirect: "manual", signal: given.signal });
      return downloadOf(address, response, signal, () => {
        signal.removeEventListener("abort", onAbort);
        given.abort();
      });
    } catch (error) {
      signal.removeEventListener("abort", onAbort);
      signal.throwIfAborted();
      throw unreachable(address, error);
    }
  },
};

function downloadOf(address: string, response: Response, signal: AbortSignal, close: () => void): Download {
  const { status, headers } = response;
  const reader = response.body?.getReader();
  const location = headers.get("location");
  const length = numberOf(headers.get("content-length"));
  const etag = headers.get("etag");
  // A weak tag calls different bytes the same.
  const strong = etag?.startsWith("W/") === true ? undefined : etag ?? undefined;
  return {
    status,
    location: location === null ? undefined : new URL(location, address).href,
    length,
    start: status === 206 ? startOf(headers.get("content-range")) : 0,
    validator: strong ?? headers.get("last-modified") ?? undefined,
    async read() {
      if (reader === undefined) return null;
      try {
        const { value, done } = await reader.read();
        return done ? null : value;
      } catch (error) {
        signal.throwIfAborted();
        throw unreachable(address, error);
      }
    },
    [Symbol.dispose]() {
      // The rest of a body that nobody reads would keep the connection.
      reader?.cancel().catch(() => {});
      close();
    },
  };
}

function numberOf(text: string | null): number | undefined {
  const number = text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  return number;
}

/** Reads `bytes 100-199/200`; a server that does not say where it begins is not believed to have gone on. */
function startOf(range: string | null): number {
  return numberOf(/^bytes (\d+)-/.exec(range ?? "")?.[1] ?? null) ?? 0;
}

function unreachable(address: string, error: unknown): HvError {
  const text = error instanceof Error ? error.message : String(error);
  return new HvError("hv.unavailable", `Cannot read "${withoutSecrets(address)}": ${withoutAddress(text)}`, {
    hint: "Look whether the server can be reached, then call again: what has come is kept",
    context: { url: withoutSecrets(address) },
    cause: error,
  });
}

/** An address without its query, which can hold a token. */
export function withoutSecrets(address: string): string {
  return address.replace(/[?#].*$/s, "");
}

/** The platform's texts repeat the whole address. */
function withoutAddress(text: string): string {
  return text.replace(/\(https?:[^)]*\)/g, "").replace(/https?:\S+/g, "the address").replace(/\s+/g, " ")
    .trim();
}
