import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { visibleText } from "../../base/visible_text.ts";
import { VmRef } from "../../contract/names.ts";
import { VmEvent } from "../../contract/vm.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { nameBugChecks } from "../../flows/crashes/bug_check_names.ts";
import { defineTool } from "../define_tool.ts";
import type { CallContext } from "../tool.ts";

/** How soon a new event shows. */
const LOOK_AGAIN_MS = 250;
/** The keeper may end or come back while somebody follows. */
const GAP_LOOKS_APART = 40;

/** Tells what happened to a VM, or to all, as the keeper saw it. */
export default defineTool({
  name: "vm_events",
  family: "vm",
  class: "R",
  summary: "Tell what happened to a VM: starts, stops, crashes, pauses",
  input: {
    vm: z.optional(VmRef),
    limit: z._default(z.int().check(z.minimum(1), z.maximum(1000)), 100),
    after: z.optional(z.int().check(z.minimum(0), z.describe("Only events after this seq"))),
    follow: z._default(
      z.boolean().check(z.describe("Print new ones until Ctrl-C; command line only")),
      false,
    ),
  },
  positional: ["vm"],
  output: z.object({ events: z.array(VmEvent) }),
  uses: ["driver", "vm"],
  feature: "events",
  timed: true,
  streams: "follow",
  async handle({ vm, limit, after, follow }, context) {
    const id = vm === undefined ? undefined : context.vm.id;
    const abilities = abilityOf(context.driver, "events");
    const read = async (options: { after?: number; limit: number }): Promise<VmEvent[]> =>
      await nameBugChecks(await abilities.history(id, options, context.signal));
    const first = await read({ limit, ...(after === undefined ? {} : { after }) });
    const gap = await abilities.gap(context.signal);
    if (!follow) {
      if (gap !== undefined) context.warn(gap);
      return { events: first };
    }
    const { sinks } = context;
    if (sinks === undefined) throw cannotFollow(context);
    const tell = tellOnce(sinks.stderr);
    let last = after ?? 0;
    let events = first;
    for (let looks = 0;; looks++) {
      for (const event of events) await sinks.stdout(encode(lineOf(event)));
      last = events.at(-1)?.seq ?? last;
      if (looks % GAP_LOOKS_APART === 0) await tell(await abilities.gap(context.signal));
      await context.host.clock.sleep(LOOK_AGAIN_MS, context.signal);
      events = await read({ after: last, limit });
    }
  },
  render: ({ events }) => events.length === 0 ? "No events" : events.map(lineOf).join("").trimEnd(),
});

/** One event as a line; details as `name=value`, those that are not plain as JSON. */
function lineOf({ seq, at, vm, event, details }: VmEvent): string {
  const words = Object.entries(details).map(([name, value]) => `${name}=${wordOf(value)}`);
  return `${seq}  ${at}  ${vm}  ${[event, ...words].map(visibleText).join("  ")}\n`;
}

function wordOf(value: unknown): string {
  const isPlain = typeof value === "string" && /^[^\s"=]+$/.test(value);
  return isPlain ? value : JSON.stringify(value);
}

/** Repeats a warning only after it was gone. */
function tellOnce(write: (bytes: Uint8Array) => Promise<void>): (gap: string | undefined) => Promise<void> {
  let told: string | undefined;
  return async (gap) => {
    if (gap !== undefined && gap !== told) await write(encode(`warning: ${gap}\n`));
    told = gap;
  };
}

function cannotFollow({ door }: CallContext): HvError {
  return door === "cli"
    ? new HvError("hv.usage", "--follow prints a line for each event and cannot print one JSON object", {
      hint: "Leave --json out, or ask again with --after SEQ",
    })
    : new HvError("hv.usage", "Events are followed on the command line only", {
      hint: "Call again with after set to the last seq",
    });
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
