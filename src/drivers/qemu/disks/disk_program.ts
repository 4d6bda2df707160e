/** qemu-img at work on disks from anywhere: with a bound on its memory, and with its words made ours. */

import { HvError } from "../../../base/errors.ts";
import type { CallScope } from "../../call_scope.ts";
import { QEMU_IMG, type QemuContext } from "../context.ts";
import { findQemuImg } from "../launch/program.ts";
import { describeUsers, findHolders } from "./users.ts";

/** A hostile file makes qemu-img ask for all the memory there is; honest work stays far below this. */
const MEMORY_LIMIT_BYTES = 4 * 1024 ** 3;
const LIMITER = "prlimit";
const PERCENT = /\((\d+(?:\.\d+)?)\/100%\)/g;

/** How a run ended: its exit code and what it printed. */
export interface DiskProgramEnd {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs qemu-img to its end. With `shows` it is told to print how far it is, and the progress goes on under that name.
 * Throws only what keeps it from running.
 */
export async function askQemuImg(
  context: QemuContext,
  args: readonly string[],
  { signal, progress }: CallScope,
  shows?: string,
): Promise<DiskProgramEnd> {
  await findQemuImg(context);
  const { program, words } = await limited(context, args);
  if (shows === undefined) {
    const { code, stdout, stderr } = await context.host.processes.run(program, words, { signal });
    const text = new TextDecoder();
    return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
  }
  signal.throwIfAborted();
  const child = await context.host.processes.open(program, words);
  const stop = (): void => void child.kill();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const [stdout, stderr, { code }] = await Promise.all([
      readAll(child.stdout, (text) => {
        const [percent] = [...text.matchAll(PERCENT)].slice(-1);
        if (percent?.[1] !== undefined) progress({ message: shows, fraction: Number(percent[1]) / 100 });
      }),
      readAll(child.stderr),
      child.ended,
      child.closeInput(),
    ]);
    signal.throwIfAborted();
    return { code: code ?? 1, stdout, stderr };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Like {@link askQemuImg}, and throws what the program says when it fails. `path` is the file that it is about,
 * `written` the one that it writes where that is another.
 */
export async function tellQemuImg(
  context: QemuContext,
  args: readonly string[],
  path: string,
  scope: CallScope,
  { shows, written = path }: { shows?: string; written?: string } = {},
): Promise<void> {
  const { code, stderr } = await askQemuImg(context, args, scope, shows);
  if (code !== 0) throw await programFailure(context, stderr.trim(), path, written);
}

/** What qemu-img refuses, with the one who holds the file where that is the reason. */
export async function programFailure(
  context: QemuContext,
  words: string,
  path: string,
  written: string = path,
): Promise<HvError> {
  const said = words.replaceAll("qemu-img: ", "").split("\n").at(-1) ?? "";
  if (words.includes("No space left on device")) {
    return new HvError("hv.io", `Cannot write "${written}": the disk is full`, {
      hint: "Free some space; `hvlab vm orphans` shows what hvlab itself left behind",
      context: { path: written, reason: "disk_full", qemu: words },
    });
  }
  if (/Failed to get .* lock/.test(words)) {
    const users = await findHolders(context, path);
    return new HvError("hv.io", `Cannot work on "${path}": ${describeUsers(users)} has it open`, {
      hint: "End that program, or detach the disk first",
      context: { path, reason: "locked", holders: users.map((user) => ({ ...user })), qemu: words },
      retryable: true,
    });
  }
  return new HvError("hv.job_failed", `Cannot work on "${path}": ${said}`, {
    hint: "qemu-img's own words are in the context",
    context: { path, qemu: words },
  });
}

/** QEMU's refusal of a file that is in use, with the one who uses it; every other error as it is. */
export async function withHolder(context: QemuContext, error: unknown, file?: string): Promise<unknown> {
  const words = error instanceof HvError && typeof error.context.qemu === "string" ? error.context.qemu : "";
  const isLocked = /Failed to get [^\n]* lock/.test(words);
  // On its error stream QEMU names the file, over the monitor it does not.
  const path = isLocked ? /using the image \[([^\]\n]+)\]/.exec(words)?.[1] ?? file : undefined;
  if (path === undefined || !(error instanceof HvError)) return error;
  const holders = await findHolders(context, path);
  return new HvError("hv.io", `Cannot use "${path}": ${describeUsers(holders)} has it open`, {
    hint: "End that program, or detach the disk first",
    context: { ...error.context, path, reason: "locked", holders: holders.map((holder) => ({ ...holder })) },
    retryable: true,
    cause: error,
  });
}

async function limited(
  { host }: QemuContext,
  args: readonly string[],
): Promise<{ program: string; words: string[] }> {
  if (host.os !== "linux" || await host.processes.find(LIMITER) === undefined) {
    return { program: QEMU_IMG, words: [...args] };
  }
  const path = await host.processes.find(QEMU_IMG) ?? QEMU_IMG;
  return { program: LIMITER, words: [`--as=${MEMORY_LIMIT_BYTES}`, "--core=0", "--", path, ...args] };
}

async function readAll(stream: ReadableStream<Uint8Array>, see?: (text: string) => void): Promise<string> {
  const decoder = new TextDecoder();
  let all = "";
  for await (const bytes of stream) {
    const text = decoder.decode(bytes, { stream: true });
    see?.(text);
    all = (all + text).slice(-MESSAGE_LIMIT);
  }
  return all;
}

const MESSAGE_LIMIT = 64 * 1024;
