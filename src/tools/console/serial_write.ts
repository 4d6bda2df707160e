import * as z from "zod/mini";
import { VmRef } from "../../contract/names.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";
import { planOnConsole } from "./plan.ts";

/** Writes to a guest's serial line as if it were typed at its other end. */
export default defineTool({
  name: "serial_write",
  family: "console",
  class: "X",
  summary: "Write text to a guest's serial line",
  input: {
    vm: VmRef,
    text: z.string().check(z.minLength(1), z.maxLength(100_000)),
    enter: z._default(z.boolean(), false),
  },
  positional: ["vm", "text"],
  help: { enter: "Sends a carriage return at the end" },
  output: z.object({ vm: z.string(), written_bytes: z.int(), offset: z.int() }),
  uses: ["driver", "vm"],
  feature: "serial",
  timed: true,
  plan: ({ text, enter }, { vm }) =>
    planOnConsole(
      vm,
      `Write ${JSON.stringify(text)}${enter ? " and enter" : ""} to the serial line of "${vm.name}"`,
    ),
  async handle({ text, enter }, { driver, vm, signal }) {
    const serial = abilityOf(driver, "serial");
    const bytes = new TextEncoder().encode(enter ? `${text}\r` : text);
    using before = await serial.log(vm.id);
    await using line = await serial.attach(vm.id, signal);
    await line.write(bytes);
    return { vm: vm.id, written_bytes: bytes.length, offset: before?.size ?? 0 };
  },
});
