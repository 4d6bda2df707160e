/** How calls are made and answered: what doors and meta tools see of the pipeline. */

import type { JsonObject } from "../base/json.ts";
import type { Progress } from "../contract/operation.ts";
import type { Plan } from "../contract/plan.ts";
import type { ByteSink } from "../guest/channel.ts";
import type { RawTerminal } from "../host/raw_terminal.ts";
import type { CallOptions, Tool } from "./tool.ts";

/** One call as a door hands it in. The options beside `args` belong to the pipeline, not to the tool. */
export interface CallRequest extends CallOptions {
  tool: string;
  args: unknown;
}

/** What surrounds a call at its door. */
export interface CallSurroundings {
  signal: AbortSignal;
  progress: (progress: Progress) => void;
  sinks?: { stdout: ByteSink; stderr: ByteSink };
  /** Takes a person's terminal over. */
  terminal?: () => RawTerminal;
}

/** The files of this host in which a detached program's streams can be read while it runs. */
export interface DetachedFiles {
  stdout_file: string;
  stderr_file: string;
}

/** A finished call with the tool's own data, or one that goes on as an operation. */
export type CallAnswer =
  | { kind: "done"; tool: Tool; result: JsonObject; warnings: string[] }
  | {
    kind: "running";
    tool: Tool;
    op: string;
    progress: Progress | undefined;
    /** Set when it goes on in a process of its own: where its streams can be read. */
    detached?: DetachedFiles;
  };

/** What stands in the place of a result while the work goes on. */
export function describeRunning(
  { op, progress, detached }: { op: string; progress: Progress | undefined; detached?: DetachedFiles },
): JsonObject {
  return {
    op,
    state: "running",
    ...detached,
    ...(progress === undefined ? {} : { progress: withoutGaps(progress) }),
    next: `Call hv_op_wait with op "${op}"`,
  };
}

function withoutGaps({ message, fraction }: Progress): JsonObject {
  return { message, ...(fraction === undefined ? {} : { fraction }) };
}

/** The one way in for every call. */
export interface Dispatcher {
  /** Runs a call to its end or to its `wait_s`; every failure is a coded error. */
  call(request: CallRequest, surroundings: CallSurroundings): Promise<CallAnswer>;
  /** Says what a call of class D or X would do, and gives the token for it. */
  plan(tool: string, args: unknown, signal: AbortSignal): Promise<Plan>;
}

/** All tools by name; a tool's module is loaded when it is asked for. */
export interface Catalogue {
  /** Names in listing order. */
  readonly names: readonly string[];
  /** Names of the tools that MCP lists unless told otherwise. */
  readonly defaultProfile: ReadonlySet<string>;
  /** Loads a tool; `hv.not_found` with the nearest names when there is none. Takes `vm_list` and `hv_vm_list`. */
  load(name: string): Promise<Tool>;
  loadAll(): Promise<Tool[]>;
}
