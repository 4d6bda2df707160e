import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { SerialText } from "../../contract/console.ts";
import { VmRef } from "../../contract/names.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { readPart } from "../../flows/console/serial_text.ts";
import { defineTool } from "../define_tool.ts";

const USUAL_BYTES = 64 * 1024;
const MOST_BYTES = 1024 * 1024;

/** Reads what a guest wrote to its serial line since its last start, also of a VM that is off by now. */
export default defineTool({
  name: "serial_read",
  family: "console",
  class: "R",
  summary: "Read what a guest wrote to its serial line",
  input: {
    vm: VmRef,
    offset: z.optional(z.int().check(z.minimum(0))),
    limit_bytes: z._default(z.int().check(z.minimum(1), z.maximum(MOST_BYTES)), USUAL_BYTES),
  },
  positional: ["vm"],
  help: {
    offset: "Reads from there on; the end of the log without it",
    limit_bytes: "Reads no more than this",
  },
  output: SerialText,
  uses: ["driver", "vm"],
  feature: "serial",
  async handle({ offset, limit_bytes }, { driver, vm, warn }) {
    using log = await abilityOf(driver, "serial").log(vm.id);
    if (log === undefined) throw neverStarted(vm);
    const part = readPart(log, offset, limit_bytes);
    if (part.truncated) warn(`More follows: read on with --offset ${part.next_offset}`);
    if (part.dropped_bytes !== undefined) {
      warn(`The first ${part.dropped_bytes} bytes of what was asked for are no longer kept`);
    }
    return { vm: vm.id, ...part };
  },
  render: ({ text }) =>
    text === "" ? "Nothing was written there" : text.replaceAll("\r", "").replace(/\n$/, ""),
});

function neverStarted({ id, name }: { id: string; name: string }): HvError {
  return new HvError("hv.conflict", `"${name}" has written nothing yet: it was never started`, {
    hint: `Start it: hvlab vm start ${id}`,
    context: { vm: id, wanted: "started", found: "never started" },
  });
}
