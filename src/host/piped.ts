/** Programs that we talk to over their standard streams for as long as we live. */

import { HvError } from "../base/errors.ts";
import { programFailure } from "./failures.ts";
import type { OperatingSystem } from "./operating_system.ts";

export interface PipeOptions {
  /** Variables beside those that it inherits. */
  env?: Record<string, string>;
  /** The folder that it starts in; ours when left out. */
  cwd?: string;
  /** Puts it at the head of a process group of its own, so that `kill` ends what it has started as well. */
  ownGroup?: boolean;
}

/** A running program whose three streams are ours. It ends by itself when its input is closed, if it is well made. */
export interface PipedProcess {
  readonly pid: number;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  /** Resolves when it has ended; never rejects. */
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  /** Writes to its input, whole and in the order of the calls. Rejects with `hv.unavailable` when it has gone. */
  write(bytes: Uint8Array): Promise<void>;
  /** Closes its input; never rejects. */
  closeInput(): Promise<void>;
  /** Ends it at once; on Windows, and with a group of its own elsewhere, with all that it started. Never rejects. */
  kill(): Promise<void>;
}

/** Starts a program with all three streams piped. Throws `hv.unavailable` when it cannot be started. */
export function openPiped(
  os: OperatingSystem,
  program: string,
  args: readonly string[],
  options: PipeOptions,
): PipedProcess {
  const child = begin(program, args, options);
  const writer = child.stdin.getWriter();
  let hasEnded = false;
  const ended = child.status.then(
    ({ code, signal }) => ({ code, signal }),
    () => ({ code: null, signal: null }),
  ).finally(() => hasEnded = true);
  return {
    pid: child.pid,
    stdout: child.stdout,
    stderr: child.stderr,
    ended,
    async write(bytes) {
      try {
        await writer.write(bytes);
      } catch (error) {
        throw new HvError("hv.unavailable", `The program "${program}" takes no more input`, {
          hint: "It has ended; try again",
          context: { program, pid: child.pid },
          cause: error,
        });
      }
    },
    closeInput: () => writer.close().catch(() => writer.abort()).catch(() => {}),
    async kill() {
      // Windows gives the number of an ended process to another one.
      if (os === "windows" && hasEnded) return;
      if (os === "windows") await runQuietly("taskkill.exe", ["/PID", String(child.pid), "/T", "/F"]);
      else if (options.ownGroup === true) await runQuietly("kill", ["-KILL", "--", `-${child.pid}`]);
      try {
        child.kill("SIGKILL");
      } catch {
        // It has ended already.
      }
    },
  };
}

function begin(
  program: string,
  args: readonly string[],
  { env = {}, cwd, ownGroup = false }: PipeOptions,
): Deno.ChildProcess {
  try {
    const place = cwd === undefined ? {} : { cwd };
    return new Deno.Command(program, {
      args: [...args],
      env,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      detached: ownGroup,
      ...place,
    }).spawn();
  } catch (error) {
    throw programFailure(error, program);
  }
}

async function runQuietly(program: string, args: readonly string[]): Promise<void> {
  try {
    await new Deno.Command(program, { args: [...args], stdin: "null", stdout: "null", stderr: "null" })
      .output();
  } catch {
    // Without it the process itself is still ended.
  }
}
