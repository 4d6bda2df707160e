/**
 * PowerShell Direct as a way into a Windows guest: programs with exact arguments, streams apart, files byte for byte.
 */

import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import type {
  ByteFeed,
  ByteSink,
  GuestChannel,
  GuestCommand,
  GuestExit,
  GuestFiles,
  WriteOptions,
} from "../../guest/channel.ts";
import { type CredentialPlace, readSecret, readStoredLogin } from "../../guest/credentials.ts";
import { type GuestLogin, readLogin } from "../../guest/login.ts";
import { passingName } from "../../guest/passing.ts";
import { windowsFiles } from "../../guest/windows/folders.ts";
import { refuseFailure } from "../../guest/windows/failures.ts";
import { startSha256 } from "../../host/digest.ts";
import type { HyperV } from "./client.ts";

/** How long one look for output waits in the guest; calls to one guest take turns, so that it is short. */
const LOOK_MS = 400;
/** The same while there is something to send, which waits for its turn. */
const LOOK_BETWEEN_MS = 20;
/** How long a program is given to take what was sent before the next look for output. */
const TAKE_MS = 50;
/** Bytes of a file that travel at once: the objects of a session may have some megabytes. */
const PART_BYTES = 256 * 1024;
/** How long ending a program may take after its caller has gone. */
const END_LIMIT_MS = 15_000;
/** Between two tries to reach a guest that boots. */
const TRY_AGAIN_MS = 500;

const Answer = z.object({
  failure: z.optional(z.string()),
  message: z.optional(z.string()),
  out: z.optional(z.nullable(z.string())),
  err: z.optional(z.nullable(z.string())),
  code: z.optional(z.nullable(z.number())),
  bytes: z.optional(z.string()),
  folder: z.optional(z.string()),
  kind: z.optional(z.enum(["missing", "file", "folder"])),
  size_bytes: z.optional(z.number()),
  modified_ms: z.optional(z.number()),
  taken: z.optional(z.boolean()),
  closed: z.optional(z.boolean()),
});
type Answer = z.infer<typeof Answer>;

/** The variable of which the guest's end reads the password when no login names another. */
const USUAL_VARIABLE = "HVLAB_GUEST_PASSWORD";

export class PowerShellDirect implements GuestChannel {
  readonly name = "psdirect";
  readonly family = "windows";
  readonly folders: GuestFiles = windowsFiles((question, words, signal) =>
    this.#call(question, words, signal)
  );
  readonly #hyperv: HyperV;
  readonly #vm: string;
  readonly #login: GuestLogin | undefined;
  readonly #place: CredentialPlace;

  /** `place` is where the guest's logins are stored. */
  constructor(
    hyperv: HyperV,
    place: CredentialPlace,
    login: GuestLogin | undefined = readLogin(hyperv.host),
  ) {
    this.#hyperv = hyperv;
    this.#place = place;
    this.#vm = place.key;
    this.#login = login;
  }

  async ping(signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        await this.#call("identity", ["ping"], signal);
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof HvError) || error.code !== "hv.guest_not_ready") throw error;
        await this.#hyperv.host.clock.sleep(TRY_AGAIN_MS, signal);
      }
    }
  }

  async exec(
    { run_as: user, ...command }: GuestCommand,
    sinks: { stdout: ByteSink; stderr: ByteSink },
    signal: AbortSignal,
  ): Promise<GuestExit> {
    if (user !== undefined) return await (await this.as(user)).exec(command, sinks, signal);
    const { argv, cwd, env = {}, stdin } = command;
    const [program = ""] = argv;
    if (program === "") throw new HvError("hv.not_found", 'There is no program ""', { context: { program } });
    const feeds = stdin === undefined ? "" : "feed";
    const key = crypto.randomUUID();
    const words = [key, String(argv.length), ...argv, cwd ?? "", feeds, ...Object.entries(env).flat()];
    const end = async (): Promise<void> => {
      await this.#call("stop_program", [key], AbortSignal.timeout(END_LIMIT_MS)).catch(() => {});
    };
    try {
      refuseFailure(await this.#call("start_program", words, signal), `start "${program}"`, { program });
    } catch (error) {
      // It may run although nobody has heard so.
      if (signal.aborted) await end();
      throw error;
    }
    const left = new AbortController();
    const feeding = this.#feed(key, stdin, AbortSignal.any([signal, left.signal]));
    let isFed = false;
    const fed = feeding.then(() => void (isFed = true));
    // A failure is met by the next look.
    fed.catch(() => {});
    try {
      for (;;) {
        const look = String(isFed ? LOOK_MS : LOOK_BETWEEN_MS);
        const looking = this.#call("read_program", [key, look], signal);
        const { out, err, code } = await Promise.race([looking, fed.then(() => looking)]);
        if (out) await sinks.stdout(Uint8Array.fromBase64(out));
        if (err) await sinks.stderr(Uint8Array.fromBase64(err));
        // Windows counts exit codes without a sign; PowerShell shows them with one.
        if (code !== undefined && code !== null) {
          return { exit_code: code < 0 ? code + 2 ** 32 : code, signal: null };
        }
      }
    } catch (error) {
      await end();
      throw error;
    } finally {
      left.abort();
    }
  }

  async writeFile(
    path: string,
    feed: ByteFeed,
    { overwrite, token }: WriteOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const action = `write "${path}"`;
    const words = [overwrite ? "yes" : "no", passingName(path, token)];
    const key = await this.#open("open_write", path, words, action, signal);
    const digest = await startSha256();
    try {
      for (let bytes = await feed(); bytes !== null; bytes = await feed()) {
        digest.update(bytes);
        for (let at = 0; at < bytes.length; at += PART_BYTES) {
          const part = bytes.subarray(at, at + PART_BYTES);
          refuseFailure(await this.#call("write_bytes", [key, part.toBase64()], signal), action, { path });
        }
      }
      refuseFailure(await this.#call("close_file", [key, "yes", digest.end()], signal), action, { path });
    } catch (error) {
      await this.#giveUp(key);
      throw error;
    }
  }

  async readFile(path: string, sink: ByteSink, signal: AbortSignal): Promise<void> {
    const action = `read "${path}"`;
    const key = await this.#open("open_read", path, [], action, signal);
    try {
      for (;;) {
        const answer = await this.#call("read_bytes", [key, String(PART_BYTES)], signal);
        refuseFailure(answer, action, { path });
        if (!answer.bytes) return;
        await sink(Uint8Array.fromBase64(answer.bytes));
      }
    } finally {
      await this.#giveUp(key);
    }
  }

  async removeFile(path: string, signal: AbortSignal): Promise<void> {
    refuseFailure(await this.#call("remove_file", [path], signal), `remove "${path}"`, { path });
  }

  async temporaryFolder(signal: AbortSignal): Promise<string> {
    const { folder } = await this.#call("temporary_folder", [], signal);
    if (folder !== undefined) return folder;
    throw new HvError("hv.internal", "The guest names no folder for passing files", {
      context: { vm: this.#vm },
    });
  }

  /** Windows starts a program as somebody else only with that user's password, and then in a session of its own. */
  async as(user: string): Promise<PowerShellDirect> {
    const login = await readStoredLogin(this.#place, user);
    if (login !== undefined) return new PowerShellDirect(this.#hyperv, this.#place, login);
    throw new HvError(
      "hv.unsupported",
      `PowerShell Direct runs a program as "${user}" only with that user's password, and none is stored for this VM`,
      {
        hint:
          `Store it with \`hvlab guest credential ${this.#vm}\`, or log in as that user with --user and --password-from-env`,
        context: { channel: "psdirect", field: "run_as", user },
      },
    );
  }

  /** The session belongs to the sidecar and ends with it. */
  close(): void {}

  /** Sends a program what it reads, until it has all or reads no more. */
  async #feed(key: string, stdin: ByteFeed | undefined, signal: AbortSignal): Promise<void> {
    for (let bytes = await (stdin?.() ?? null); bytes !== null; bytes = await (stdin?.() ?? null)) {
      for (let at = 0; at < bytes.length; at += PART_BYTES) {
        if (!await this.#send(key, bytes.subarray(at, at + PART_BYTES), signal)) return;
      }
    }
    if (stdin !== undefined) await this.#call("close_input", [key], signal);
  }

  /** Answers whether the program has taken the bytes; false when it never will. */
  async #send(key: string, bytes: Uint8Array, signal: AbortSignal): Promise<boolean> {
    let answer = await this.#call("send_input", [key, bytes.toBase64(), String(TAKE_MS)], signal);
    while (answer.taken === false) {
      answer = await this.#call("send_input", [key, "", String(TAKE_MS)], signal);
    }
    return answer.closed !== true;
  }

  /** Opens a file and answers the key that it is called by. */
  async #open(
    call: "open_write" | "open_read",
    path: string,
    words: readonly string[],
    action: string,
    signal: AbortSignal,
  ): Promise<string> {
    const key = crypto.randomUUID();
    try {
      refuseFailure(await this.#call(call, [key, path, ...words], signal), action, { path });
      return key;
    } catch (error) {
      // It may be open although nobody has heard so.
      if (signal.aborted) await this.#giveUp(key);
      throw error;
    }
  }

  /** Closes a file, and takes away what was written into one that is not whole. */
  async #giveUp(key: string): Promise<void> {
    await this.#call("close_file", [key, "no", ""], AbortSignal.timeout(END_LIMIT_MS)).catch(() => {});
  }

  async #call(call: string, words: readonly string[], signal: AbortSignal): Promise<Answer> {
    const login = this.#login;
    if (login === undefined) {
      throw new HvError("hv.guest_auth", "Nobody is named to log in as in the guest", {
        hint: "Set HVLAB_GUEST_USER and HVLAB_GUEST_PASSWORD to an account of the guest",
        context: { vm: this.#vm },
      });
    }
    const { user, password: place } = login;
    const isStored = place?.kind === "stored";
    const variable = place?.kind === "variable" ? place.name : USUAL_VARIABLE;
    const request = { user, password_variable: isStored ? "" : variable, password: null, call, words };
    const ask = async (password: string | null): Promise<Answer> =>
      Answer.parse(
        JSON.parse(await this.#hyperv.askGuest(this.#vm, { ...request, password }, { signal })),
      );
    try {
      return await ask(null);
    } catch (error) {
      const isWanted = isStored && error instanceof HvError && error.context.wanted === "password";
      if (!isWanted) throw error;
      return await ask(await readSecret(this.#place, login) ?? null);
    }
  }
}
