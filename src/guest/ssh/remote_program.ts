/** A program in a guest behind one ssh process: told from what ssh, a login shell and a banner say. */

import { HvError } from "../../base/errors.ts";
import type { PipedProcess } from "../../host/piped.ts";
import type { ByteSink, GuestCommand, GuestExit } from "../channel.ts";
import {
  markedArguments,
  newMark,
  readEnd,
  RUN_MARKED,
  scriptInLine,
  setupFailure,
} from "../posix/marked_program.ts";
import { MarkedStream } from "../posix/marked_stream.ts";
import { SSH_FAILURE } from "./client.ts";

/** The line that lets a program begin. */
const GO = new TextEncoder().encode("\n");

/** One program in the guest behind one ssh process. */
export class RemoteProgram {
  /** How ssh itself ended. */
  code: number | null = null;
  readonly #ssh: PipedProcess;
  readonly #command: GuestCommand;
  readonly #out: MarkedStream;
  readonly #err: MarkedStream;
  readonly #mark = newMark();
  readonly #begun = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #readers: ReadableStreamDefaultReader<Uint8Array>[];

  constructor(
    ssh: PipedProcess,
    command: GuestCommand,
    sinks: { stdout: ByteSink; stderr: ByteSink },
    onBegun: () => void,
  ) {
    this.#ssh = ssh;
    this.#command = command;
    const changed = (): void => {
      if (this.#err.begun !== undefined || this.#err.failed !== undefined) onBegun();
      if (this.#err.begun !== undefined) this.#begun.resolve();
      if (this.#out.ended !== undefined && this.#err.ended !== undefined) this.#ended.resolve();
    };
    this.#out = new MarkedStream(this.#mark, sinks.stdout, changed);
    this.#err = new MarkedStream(this.#mark, sinks.stderr, changed);
    this.#readers = [ssh.stdout.getReader(), ssh.stderr.getReader()];
  }

  /** The process id in the guest, once the program has begun. */
  get pid(): number | undefined {
    return this.#err.begun === undefined ? undefined : Number(this.#err.begun);
  }

  /** What ssh, or the guest's own banner, said before the program began. */
  get words(): string {
    return this.#err.prelude;
  }

  /** The program's end; `undefined` when the guest's shell never began, or not before `late` was over. */
  async follow(signal: AbortSignal, late?: Promise<void>): Promise<GuestExit | undefined> {
    signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => aborted.reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    aborted.promise.catch(() => {});
    const [out, err] = this.#readers;
    const reading = Promise.all([pump(out, this.#out), pump(err, this.#err)]);
    const feeding = this.#feed();
    feeding.catch(() => {});
    const givenUp = Promise.withResolvers<void>();
    late?.then(async () => {
      if (!this.#isSilent()) return;
      this.code = SSH_FAILURE;
      // Whoever is dead cannot let the program begin. Its streams stay open: the shared connection has them.
      await this.#ssh.kill();
      givenUp.resolve();
    }).catch(() => {});
    try {
      const ends = [this.#ended.promise, reading, aborted.promise, feeding.then(() => reading)];
      await Promise.race([...ends, givenUp.promise]);
      if (this.#out.ended === undefined || this.#err.ended === undefined) {
        const { code } = await Promise.race([this.#ssh.ended, aborted.promise]);
        this.code ??= code;
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      reading.catch(() => {});
    }
    const { failed, ended, begun } = this.#err;
    if (failed !== undefined) throw setupFailure(failed, this.#command);
    if (ended !== undefined && this.#out.ended !== undefined) return readEnd(ended);
    // Ctrl-C at a terminal reaches ssh as well as us.
    signal.throwIfAborted();
    if (begun === undefined) return undefined;
    throw new HvError("hv.outcome_unknown", "The connection to the guest broke while the program ran", {
      hint: "The guest may have gone on or not: look at its state before trying again",
      context: { guest_pid: this.pid ?? null, exit_code: this.code, ssh_failed: this.code === SSH_FAILURE },
    });
  }

  #isSilent(): boolean {
    return this.#err.begun === undefined && this.#err.failed === undefined;
  }

  /** Lets go of ssh, whatever it still waits for. */
  async leave(patience: Promise<void>): Promise<void> {
    await this.#ssh.closeInput();
    if (this.#out.ended !== undefined) await Promise.race([this.#ssh.ended, patience]);
    await this.#ssh.kill();
    for (const reader of this.#readers) await reader.cancel().catch(() => {});
    await this.#ssh.ended;
  }

  /**
   * The script and its arguments are the first line; the go and what the program reads follow once it says that it is
   * ready. Without anything to read the stream stays open, since its end would end the program.
   */
  async #feed(): Promise<void> {
    const line = scriptInLine(RUN_MARKED, markedArguments(this.#mark, this.#command));
    const { stdin } = this.#command;
    try {
      await this.#ssh.write(new TextEncoder().encode(line));
    } catch {
      return;
    }
    await Promise.race([this.#begun.promise, this.#ssh.ended]);
    if (this.pid === undefined) return;
    let bytes: Uint8Array | null = GO;
    while (bytes !== null) {
      try {
        await this.#ssh.write(bytes);
      } catch {
        // The program has ended without reading all of it.
        return;
      }
      if (stdin === undefined) return;
      bytes = await stdin();
    }
    await this.#ssh.closeInput();
  }
}

async function pump(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  stream: MarkedStream,
): Promise<void> {
  for (;;) {
    const { done, value } = await (reader?.read() ?? Promise.resolve({ done: true, value: undefined }));
    if (value !== undefined) await stream.take(value);
    if (done) return await stream.end();
  }
}
