/** Defining a tool: one file defines one tool; every door, the docs and the tests follow from the definition. */

import * as z from "zod/mini";
import { HvError } from "../base/errors.ts";
import { copyThroughJson, isPlainObject, type JsonObject } from "../base/json.ts";
import type { ToolClass } from "../contract/tool_class.ts";
import type { Feature } from "../drivers/driver.ts";
import type { PermissionKind } from "../host/permissions.ts";
import { fieldsOf } from "./fields.ts";
import type { CallContext, Family, PlannedEffect, Provided, Tool } from "./tool.ts";
import { describeIssues } from "./validate.ts";

type Shape = Record<string, z.ZodMiniType>;
type Args<S extends Shape> = z.output<z.ZodMiniObject<S, z.core.$strict>>;

/** A tool as its file states it. */
export interface ToolDefinition<S extends Shape, O extends z.ZodMiniType, U extends keyof Provided> {
  name: string;
  family: Family;
  class: ToolClass;
  /** One line, without a full stop. */
  summary: string;
  input: S;
  /** Fields that are given by position, in order. */
  positional?: readonly (keyof S & string)[];
  /** The field that takes everything after `--`. */
  rest?: keyof S & string;
  /** Fields that MCP's default list leaves out to stay short; `tools_search` shows them, and every call takes them. */
  unlisted?: readonly (keyof S & string)[];
  /** What fields mean, for help and the reference; in the schema it would cost every MCP host's model tokens. */
  help?: Partial<Readonly<Record<keyof S & string, string>>>;
  /** The columns that a person sees of its list, in order; all fields when left out. `--json` gives all. */
  columns?: readonly string[];
  output: O;
  uses?: readonly U[];
  feature?: Feature;
  /** Kinds of permission that a process which runs only this tool gives up first. */
  without?: readonly PermissionKind[];
  /** Over in a moment and leaves nothing behind: signals end its process as they end any other. */
  instant?: boolean;
  /** Takes `timeout_s`: work that may run long. */
  timed?: boolean;
  /** Answers early over MCP: takes `wait_s` although it is class R. */
  waits?: boolean;
  /** Frees something, so it runs although the store cannot be written. */
  frees?: boolean;
  /** The switch with which a call goes on in a process of its own and answers as a running operation. */
  detaches?: keyof S & string;
  /** Runs a guest program: its exit code is the command's, and its bytes pass through. */
  runsProgram?: boolean;
  /** The switch with which it writes its results as they come, until the caller has enough of them. */
  streams?: keyof S & string;
  /** Hands its call to another tool, whose own class and gates count. */
  delegates?: boolean;
  /** Works on a person's terminal only, so that MCP does not list it. */
  terminalOnly?: boolean;
  /** The switch with which a reading tool fetches something that it then keeps: such a call is one of class M. */
  fetches?: keyof S & string;
  /** The field that names a host file or folder which the tool writes. With it a call of class R is one of class M. */
  writes?: keyof S & string;
  /**
   * Host folders that a call opens to a guest, which may write into them, and files that it changes where they are: the
   * policy's folders count as for writing. What a link leads to counts, not where the link lies.
   */
  opens?: (args: Args<S>) => readonly string[];
  /** The exit code that the command line gives for a success; 0 when left out. */
  exitCode?: (result: z.output<O>) => number;
  /** Throws `hv.usage` for arguments that are right one by one and do not go together. */
  check?: (args: Args<S>) => void;
  /** Class D and X: what the call would do. */
  plan?: (args: Args<S>, context: CallContext & Pick<Provided, U>) => Promise<PlannedEffect>;
  handle: (args: Args<S>, context: CallContext & Pick<Provided, U>) => Promise<z.output<O>>;
  /** Text for a person; the default renderer serves when left out, or when it answers `undefined`. */
  render?: (result: z.output<O>) => string | undefined;
  /** What a person sees on stdout of what was found before the call failed, from the failure's context. */
  renderFailure?: (context: JsonObject) => string | undefined;
}

/** Turns a definition into a {@link Tool}. */
export function defineTool<
  const S extends Shape,
  O extends z.ZodMiniType,
  const U extends keyof Provided = never,
>(definition: ToolDefinition<S, O, U>): Tool {
  const input = z.strictObject(definition.input);
  const { output, plan, render, exitCode } = definition;
  /** Results of this process by their JSON form: what has its type already need not be checked again. */
  const typed = new WeakMap<JsonObject, z.output<O>>();
  const resultOf = (data: JsonObject): z.output<O> => typed.get(data) ?? output.parse(data);
  return {
    name: definition.name,
    family: definition.family,
    class: definition.class,
    summary: definition.summary,
    positional: definition.positional ?? [],
    rest: definition.rest,
    unlisted: definition.unlisted ?? [],
    help: new Map(
      Object.entries<string | undefined>(definition.help ?? {}).flatMap(([name, text]) =>
        text === undefined ? [] : [[name, text] as const]
      ),
    ),
    columns: definition.columns,
    uses: definition.uses ?? [],
    feature: definition.feature,
    without: definition.without ?? [],
    instant: definition.instant ?? false,
    timed: definition.timed ?? false,
    waits: definition.waits ?? false,
    frees: definition.frees ?? false,
    runsProgram: definition.runsProgram ?? false,
    detaches: definition.detaches,
    streams: definition.streams,
    delegates: definition.delegates ?? false,
    terminalOnly: definition.terminalOnly ?? false,
    fetches: definition.fetches,
    writes: definition.writes,
    plannable: plan !== undefined,
    fields: () => fieldsOf(definition.input),
    input,
    output,
    prepare(raw) {
      const given = definition.uses?.some((use) => use === "targets") ? withVmList(raw) : raw;
      const parsed = input.safeParse(given ?? {});
      if (!parsed.success) {
        throw describeIssues(definition.name, Object.keys(definition.input), parsed.error.issues, given);
      }
      definition.check?.(parsed.data);
      return {
        args: asJsonObject(parsed.data, definition.name),
        opens: () => definition.opens?.(parsed.data) ?? [],
        async run(context) {
          const result = await definition.handle(parsed.data, context);
          const data = asJsonObject(result, definition.name);
          typed.set(data, result);
          return data;
        },
        async plan(context) {
          if (plan !== undefined) return await plan(parsed.data, context);
          throw new HvError("hv.usage", `The tool "${definition.name}" needs no plan`, {
            hint: "Call it directly",
          });
        },
      };
    },
    exitCode: (result) => exitCode === undefined ? 0 : exitCode(resultOf(result)),
    render: (result) => render?.(resultOf(result)),
    renderFailure: (context) => definition.renderFailure?.(context),
  };
}

/** One VM's name stands for a list of it. */
function withVmList(raw: unknown): unknown {
  return isPlainObject(raw) && typeof raw.vm === "string" ? { ...raw, vm: [raw.vm] } : raw;
}

/** What a handler gave as it goes out: nothing but JSON is inside. */
function asJsonObject(value: unknown, name: string): JsonObject {
  const copy = copyThroughJson(value);
  if (copy !== undefined) return copy;
  throw new HvError("hv.internal", `The tool "${name}" gave something other than an object`);
}
