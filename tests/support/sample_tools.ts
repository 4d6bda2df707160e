/** Small tools that stand in for the real ones where doors are tested. */

import * as z from "zod/mini";
import { HvError } from "../../src/base/errors.ts";
import type { Catalogue, Tool } from "../../src/tools/tool.ts";
import { catalogueOf } from "../../src/tools/table.ts";
import { defineTool } from "../../src/tools/define_tool.ts";

/** One tool of each shape: every field type, positional and rest arguments, each class. */
export const boxMake: Tool = defineTool({
  name: "box_make",
  family: "vm",
  class: "M",
  summary: "Make a box",
  input: {
    name: z.string(),
    memory_mb: z._default(
      z.int().check(z.minimum(16), z.maximum(65536), z.describe("Memory of the box")),
      256,
    ),
    size_bytes: z.optional(z.int()),
    ttl_s: z.optional(z.number()),
    pause_ms: z.optional(z.int()),
    count: z.optional(z.int()),
    ratio: z.optional(z.number()),
    mode: z._default(z.enum(["soft", "hard"]), "soft"),
    label: z._default(z.array(z.string()), []),
    tight: z._default(z.boolean(), true),
    extra: z.optional(z.record(z.string(), z.unknown())),
  },
  positional: ["name"],
  output: z.record(z.string(), z.unknown()),
  timed: true,
  handle: (args) => Promise.resolve({ ...args }),
});

export const boxList: Tool = defineTool({
  name: "box_list",
  family: "vm",
  class: "R",
  summary: "List the boxes",
  input: {},
  output: z.object({ boxes: z.array(z.object({ name: z.string(), size_bytes: z.int() })) }),
  handle: (_, { warn }) => {
    warn("one box\x1b[2J is damaged");
    return Promise.resolve({
      boxes: [{ name: "tiny\x07", size_bytes: 2048 }, { name: "箱", size_bytes: 10 }],
    });
  },
});

export const boxGet: Tool = defineTool({
  name: "box_get",
  family: "vm",
  class: "R",
  summary: "Show one box",
  input: { name: z.string() },
  positional: ["name"],
  output: z.object({ name: z.string() }),
  handle: ({ name }) => {
    if (name === "good") return Promise.resolve({ name });
    throw new HvError("hv.not_found", `There is no box "${name}"`, {
      hint: "List them with `hvlab box list`",
    });
  },
});

export const boxDelete: Tool = defineTool({
  name: "box_delete",
  family: "vm",
  class: "D",
  summary: "Delete a box",
  input: { name: z.string() },
  positional: ["name"],
  output: z.object({ deleted: z.string() }),
  plan: ({ name }) =>
    Promise.resolve({
      summary: `Delete the box "${name}"`,
      losses: [{ what: "lid", path: "/boxes/lid", size_bytes: 1536 }],
      fingerprint: { name },
    }),
  handle: ({ name }) => Promise.resolve({ deleted: name }),
});

/** What `box run` does: `exit N`, `kill N`, `print TEXT`, `hang`, `ignore TEXT` (prints it and goes on whatever
 * ends it), `fail CODE`. */
export const boxRun: Tool = defineTool({
  name: "box_run",
  family: "sandbox",
  class: "X",
  summary: "Run a program in a box",
  input: {
    box: z.string(),
    argv: z.array(z.string()).check(z.minLength(1)),
    bisect: z._default(z.boolean(), false),
  },
  positional: ["box"],
  rest: "argv",
  output: z.looseObject({ exit_code: z.nullable(z.int()) }),
  timed: true,
  runsProgram: true,
  async handle({ argv: [word, value = ""] }, { sinks, signal }) {
    const text = word === "print" || word === "ignore" ? value : "";
    await sinks?.stdout(new TextEncoder().encode(text));
    if (word === "fail") throw failureOf(value);
    if (word === "hang") await untilAborted(signal);
    if (word === "ignore") await new Promise(() => {});
    const exit = word === "kill"
      ? { exit_code: null, signal: Number(value) }
      : { exit_code: word === "exit" ? Number(value) : 0 };
    return { ...exit, stdout: text, stderr: "" };
  },
});

export const filePick: Tool = defineTool({
  name: "file_pick_from",
  family: "dump",
  class: "R",
  summary: "Pick files",
  input: { kind: z.enum(["red", "green"]), path: z._default(z.array(z.string()), []) },
  positional: ["kind", "path"],
  output: z.object({ kind: z.string(), path: z.array(z.string()) }),
  without: ["run", "net"],
  handle: (args) => Promise.resolve(args),
});

/** The sample tools and `plan`, as a catalogue that loads nothing else. */
export const sampleCatalogue: Catalogue = catalogueOf([
  { name: "plan", core: true, load: () => import("../../src/tools/meta/plan.ts") },
  ...[boxMake, boxList, boxGet, boxDelete, boxRun, filePick].map((tool) => ({
    name: tool.name,
    core: true,
    load: () => Promise.resolve({ default: tool }),
  })),
]);

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function failureOf(code: string): HvError {
  switch (code) {
    case "hv.guest_crashed":
      return new HvError("hv.guest_crashed", "The guest has crashed");
    case "hv.guest_not_ready":
      return new HvError("hv.guest_not_ready", "The guest does not answer");
    default:
      return new HvError("hv.internal", "Something else");
  }
}
