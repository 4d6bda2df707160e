/** Calls that go on in a process of their own, so that they outlive whoever made them. */

import * as z from "zod/mini";
import { HvError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { joinPath } from "../base/paths.ts";
import type { ByteSink } from "../guest/channel.ts";
import type { Progress } from "../contract/operation.ts";
import type { FileWriter } from "../host/files.ts";
import type { Host } from "../host/host.ts";
import type { StateFolder } from "../state/layout.ts";
import type { DetachedFiles } from "./tool.ts";
import type { KeeperTarget } from "./keeper_caller.ts";

/** Starts the process that takes an operation over, and returns once it exists. */
export type StartFollower = (target: KeeperTarget, op: string) => Promise<{ ended: Promise<unknown> }>;

/** What the new process is told, in a file of this user alone: arguments may hold secrets. */
const Handover = z.object({
  tool: z.string(),
  args: z.record(z.string(), z.json()),
  timeout_s: z.optional(z.number()),
});
export type Handover = z.infer<typeof Handover>;

const TAKE_OVER_LIMIT_MS = 30_000;
const LOOK_MS = 20;
/** Between two reports of how far the program has come. */
const REPORT_MS = 500;
const LINE_LIMIT = 200;
const LOOKED_AT_BYTES = 4096;

/** Where a detached operation's streams go. */
export function detachedFiles(state: StateFolder, op: string): DetachedFiles {
  const name = op.replace(/^op-/, "");
  return {
    stdout_file: joinPath(state.results, `${name}.stdout`),
    stderr_file: joinPath(state.results, `${name}.stderr`),
  };
}

/** Hands an operation over and returns once the new process has taken it. Throws `hv.unavailable` when none does. */
export async function handOver(
  target: KeeperTarget,
  start: StartFollower,
  op: string,
  handover: Handover,
): Promise<void> {
  const { host: { files, clock }, state } = target;
  const path = handoverPath(state, op);
  await files.makeFolder(state.detached);
  await files.writeAtomically(path, JSON.stringify(handover));
  try {
    const follower = await start(target, op);
    let ended = false;
    follower.ended.then(() => ended = true, () => ended = true);
    const end = clock.monotonic() + TAKE_OVER_LIMIT_MS;
    while (await files.stat(path) !== undefined) {
      if (ended || clock.monotonic() >= end) throw notTaken(op, state);
      await clock.sleep(LOOK_MS);
    }
  } catch (error) {
    await files.remove(path);
    throw error;
  }
}

/** Reads what an operation is to do. Throws `hv.not_found` when nobody waits for it to be taken over. */
export async function readHandover({ files }: Host, state: StateFolder, op: string): Promise<Handover> {
  const text = await files.readTextIfPresent(handoverPath(state, op));
  if (text !== undefined) return Handover.parse(JSON.parse(text));
  throw new HvError("hv.not_found", `The operation "${op}" is not waiting to be taken over`, {
    hint: "hvlab starts this command by itself",
    context: { op },
  });
}

/** Says that the operation has been taken over. */
export async function takeHandover({ files }: Host, state: StateFolder, op: string): Promise<void> {
  await files.remove(handoverPath(state, op));
}

/** A detached program's streams on their way into files; each second its progress tells of the last line. */
export class DetachedOutput implements Disposable {
  readonly sinks: { stdout: ByteSink; stderr: ByteSink };
  readonly #writers: FileWriter[];
  readonly #host: Host;
  readonly #report: (progress: Progress) => void;
  #bytes = 0;
  #last = "";
  #unfinished = "";
  #reportedAt = -Infinity;

  private constructor(
    host: Host,
    writers: { stdout: FileWriter; stderr: FileWriter },
    report: (progress: Progress) => void,
  ) {
    this.#host = host;
    this.#report = report;
    this.#writers = [writers.stdout, writers.stderr];
    const sinkInto = (writer: FileWriter): ByteSink => async (bytes) => {
      await writer.write(bytes);
      this.#tell(bytes);
    };
    this.sinks = { stdout: sinkInto(writers.stdout), stderr: sinkInto(writers.stderr) };
  }

  static async open(
    host: Host,
    state: StateFolder,
    op: string,
    report: (progress: Progress) => void,
  ): Promise<DetachedOutput> {
    await host.files.makeFolder(state.results, { mode: 0o700 });
    const { stdout_file, stderr_file } = detachedFiles(state, op);
    const stdout = await host.files.create(stdout_file, { overwrite: true });
    return new DetachedOutput(host, {
      stdout,
      stderr: await host.files.create(stderr_file, { overwrite: true }),
    }, report);
  }

  [Symbol.dispose](): void {
    for (const writer of this.#writers) writer.close();
  }

  #tell(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    const lines = (this.#unfinished + new TextDecoder().decode(bytes.subarray(-LOOKED_AT_BYTES))).split(
      /\r?\n/,
    );
    this.#unfinished = lines.pop()?.slice(-LINE_LIMIT) ?? "";
    this.#last = lines.findLast((line) => line !== "")?.slice(0, LINE_LIMIT) ?? this.#last;
    const now = this.#host.clock.monotonic();
    if (now - this.#reportedAt < REPORT_MS) return;
    this.#reportedAt = now;
    this.#report({ message: `${this.#bytes} bytes of output, last: ${this.#last}` });
  }
}

/** The result of a detached run, with the files beside it. */
export function withFiles(result: JsonObject, files: DetachedFiles): JsonObject {
  return { ...result, ...files };
}

function handoverPath(state: StateFolder, op: string): string {
  return joinPath(state.detached, `${op}.json`);
}

function notTaken(op: string, state: StateFolder): HvError {
  return new HvError("hv.unavailable", "The process that was to go on with the call did not begin", {
    hint: `Look into "${state.keeperLog}", or call without --detach`,
    context: { op },
  });
}
