/**
 * What a tool is to the rest of hvlab, whatever its types are inside, and how calls of tools are made and answered: what
 * doors and meta tools see of the pipeline. `define_tool.ts` turns the definition in a tool's file into one.
 */

import type * as z from "zod/mini";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Config } from "../config/config.ts";
import type { Progress } from "../contract/operation.ts";
import type { Loss, Plan } from "../contract/plan.ts";
import type { ToolClass } from "../contract/tool_class.ts";
import type { Vm } from "../contract/vm.ts";
import type { Driver, Feature } from "../drivers/driver.ts";
import type { ByteSink } from "../guest/channel.ts";
import type { Host } from "../host/host.ts";
import type { RawTerminal } from "../host/raw_terminal.ts";
import type { PermissionKind } from "../host/permissions.ts";
import type { StateFolder } from "../state/layout.ts";
import type { ReadOnlyStore, Store } from "../state/store.ts";
import type { Field } from "./fields.ts";
import type { Target } from "./targets.ts";

/** Tool families; each is a folder under `tools/` and a toolset over MCP. */
export const FAMILIES = [
  "meta",
  "host",
  "vm",
  "sandbox",
  "checkpoint",
  "disk",
  "net",
  "device",
  "image",
  "console",
  "guest",
  "dump",
] as const;
export type Family = typeof FAMILIES[number];

/** Through which door a call came in. */
export type DoorName = "cli" | "mcp";

/** What a call may carry beside the tool's own arguments. */
export interface CallOptions {
  /** `PLAN_ID:DIGEST`, or on the command line the target's name. */
  readonly confirm?: string;
  /** Ends the work with `hv.timeout`. */
  readonly timeout_s?: number;
  /** Answers with the running operation after this time; the work goes on. */
  readonly wait_s?: number;
  /** The same key gives the same operation. */
  readonly key?: string;
}

/** What every handler gets. */
export interface CallContext {
  readonly host: Host;
  readonly config: Config;
  readonly state: StateFolder;
  readonly door: DoorName;
  /** Ends the work; its reason is the coded error to fail with. */
  readonly signal: AbortSignal;
  readonly progress: (progress: Progress) => void;
  /** Adds a sentence to the answer's `warnings`. */
  readonly warn: (text: string) => void;
  /** The pipeline's options, for tools that wait or hand their call on. */
  readonly options: CallOptions;
  /** The operation under which the call is recorded; left out for reads, and where nothing can be recorded. */
  readonly op?: string;
  /** Takes a person's terminal over; only where the door is one. */
  readonly terminal: (() => RawTerminal) | undefined;
  /** Where a guest program's bytes, or results that follow each other, go as they come; only where the door shows them. */
  readonly sinks: { stdout: ByteSink; stderr: ByteSink } | undefined;
}

/** What a handler may ask for by naming it in `uses`; the pipeline has it ready before the handler runs. */
export interface Provided {
  /** The driver of this call. */
  driver: Driver;
  /** The store of operations, plans and the audit trail, made when there is none yet. For tools that write into it. */
  store: Store;
  /** What the store holds, for tools that only read; `undefined` when nothing was ever recorded. */
  history: ReadOnlyStore | undefined;
  /** The VM that the argument `vm` names, as observed just now. */
  vm: Vm;
  /** The VMs that the list `vm` names, each once. With one name, or in class D, all have been found. */
  targets: readonly Target[];
  /** All tools. */
  catalogue: Catalogue;
  /** The way to call another tool through the same pipeline. */
  dispatcher: Dispatcher;
}

/** What a destructive or executing call would do. */
export interface PlannedEffect {
  /** One sentence: what would be done to what. */
  summary: string;
  losses: Loss[];
  /** The state that the plan holds for; any difference later makes the token invalid. */
  fingerprint: JsonValue;
}

/** A call whose arguments have been checked. */
export interface PreparedCall {
  /** The arguments with defaults filled in. */
  readonly args: JsonObject;
  /** Host folders that it opens to a guest. Throws `hv.usage` when they cannot be read from the arguments. */
  opens(): readonly string[];
  run(context: CallContext & Provided): Promise<JsonObject>;
  plan(context: CallContext & Provided): Promise<PlannedEffect>;
}

/** A tool as the rest of hvlab sees it, whatever its types are inside. */
export interface Tool {
  readonly name: string;
  readonly family: Family;
  readonly class: ToolClass;
  readonly summary: string;
  readonly positional: readonly string[];
  readonly rest: string | undefined;
  /** Fields that MCP's default list leaves out. */
  readonly unlisted: readonly string[];
  /** What fields mean to a person, by name; a field that is not in it may have a description in its schema. */
  readonly help: ReadonlyMap<string, string>;
  /** The columns that a person sees of its list; all fields when `undefined`. */
  readonly columns: readonly string[] | undefined;
  readonly uses: readonly (keyof Provided)[];
  readonly feature: Feature | undefined;
  readonly without: readonly PermissionKind[];
  readonly instant: boolean;
  readonly timed: boolean;
  readonly waits: boolean;
  readonly frees: boolean;
  readonly runsProgram: boolean;
  readonly detaches: string | undefined;
  readonly streams: string | undefined;
  readonly delegates: boolean;
  readonly terminalOnly: boolean;
  readonly fetches: string | undefined;
  readonly writes: string | undefined;
  /** Whether the tool can say what it would do. */
  readonly plannable: boolean;
  /** The input's fields, in the order of the definition. */
  fields(): Field[];
  /** What arguments and results look like; `json_schema.ts` turns them into JSON Schema. */
  readonly input: z.ZodMiniType;
  readonly output: z.ZodMiniType;
  /** Checks arguments strictly; throws `hv.usage` that names the field, the value, and what is known. */
  prepare(args: unknown): PreparedCall;
  exitCode(result: JsonObject): number;
  /** The tool's own text for a person; `undefined` leaves it to the default renderer. */
  render(result: JsonObject): string | undefined;
  /** What was found before a failure, as text for a person; `undefined` when there is nothing to show. */
  renderFailure(context: JsonObject): string | undefined;
}

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
