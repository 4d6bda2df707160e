/** Starting programs that outlive a call, or whose life is tied to ours. */

import { type ChildProcess as NodeChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { fileFailure, programFailure } from "./failures.ts";

export interface SpawnOptions {
  /** Where its stdout and stderr go: a file that is appended to. */
  logFile: string;
  /** Ends the program with ours, even when ours is killed: it is started under `setpriv --pdeathsig KILL`. */
  tiedToUs?: boolean;
  /** Variables that it gets beside PATH, HOME and TMPDIR, where they are set. */
  passOn?: readonly string[];
  /** The folder that it starts in; ours when left out. */
  cwd?: string;
  /** What it may take of this host; Linux only. */
  limits?: ProcessLimits;
}

/** Limits that the kernel keeps a process and its children to. */
export interface ProcessLimits {
  /** Memory of its own in bytes, whether it lies in RAM or not: `RLIMIT_DATA`. */
  data_bytes: number;
  open_files: number;
  /** How far it gives way to other programs, from 0 to 19. */
  nice: number;
}

/** A started program. */
export interface ChildProcess {
  readonly pid: number;
  /** Resolves when it has ended; never rejects. */
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  /** Stops waiting for it, so that our own end does not wait for its end. */
  forget(): void;
}

/**
 * Starts a program detached, with its output in a file. Node's spawn serves here because Deno's own types
 * refuse a file descriptor for stdout.
 */
export function spawnLasting(
  program: string,
  args: readonly string[],
  { logFile, tiedToUs = false, passOn = [], cwd, limits }: SpawnOptions,
): Promise<ChildProcess> {
  const [file = program, ...argv] = [
    ...(tiedToUs ? ["setpriv", "--pdeathsig", "KILL", "--"] : []),
    ...(limits === undefined ? [] : limiting(limits)),
    program,
    ...args,
  ];
  const log = openLog(logFile);
  let child: NodeChildProcess;
  try {
    child = spawn(file, argv, {
      detached: true,
      stdio: ["ignore", log, log],
      env: passedOn(passOn),
      ...(cwd === undefined ? {} : { cwd }),
    });
  } catch (error) {
    return Promise.reject(programFailure(error, program));
  } finally {
    closeSync(log);
  }
  return new Promise((resolve, reject) => {
    const ended = new Promise<{ code: number | null; signal: string | null }>((settle) => {
      child.once("exit", (code, signal) => settle({ code, signal }));
      child.once("error", () => settle({ code: null, signal: null }));
    });
    child.once("error", (error) => reject(programFailure(asDenoError(error), program)));
    child.once("spawn", () => {
      const { pid } = child;
      if (pid === undefined) return reject(programFailure(new Error("it has no process id"), program));
      resolve({ pid, ended, forget: () => child.unref() });
    });
  });
}

/** Each of these programs becomes the next one, so that the process id stays the same. */
function limiting({ data_bytes, open_files, nice }: ProcessLimits): string[] {
  const limits = [`--data=${data_bytes}:${data_bytes}`, `--nofile=${open_files}:${open_files}`];
  return ["prlimit", ...limits, "--", ...(nice === 0 ? [] : ["nice", "-n", String(nice), "--"])];
}

/**
 * The variables that a lasting program gets. Named one by one: handing on the whole environment would need the
 * permission to read all of it, and would carry a caller's secrets into a process that outlives the call.
 */
function passedOn(more: readonly string[]): Record<string, string> {
  const variables = [...PASSED_ON, ...more].map((name) => [name, Deno.env.get(name)] as const);
  return Object.fromEntries(variables.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

const PASSED_ON = ["PATH", "HOME", "TMPDIR"];

function openLog(path: string): number {
  try {
    return openSync(path, "a", 0o600);
  } catch (error) {
    throw fileFailure(error instanceof Error ? asDenoError(error) : error, "write", path);
  }
}

function asDenoError(error: Error): Error {
  const code = "code" in error ? error.code : undefined;
  if (code === "ENOENT") return new Deno.errors.NotFound(error.message);
  if (code === "EACCES" || code === "EPERM") return new Deno.errors.PermissionDenied(error.message);
  return error;
}
