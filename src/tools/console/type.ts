import * as z from "zod/mini";
import { KeyboardLayout } from "../../contract/keys.ts";
import { VmRef } from "../../contract/names.ts";
import { Vm } from "../../contract/vm.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { strokesOfKeys, strokesOfText } from "../../flows/console/keyboard/strokes.ts";
import { defineTool } from "../define_tool.ts";
import { planOnConsole } from "./plan.ts";

/** Types a text on a VM's keyboard. Nothing tells whether the guest took it: look at the screen. */
export default defineTool({
  name: "console_type",
  family: "console",
  class: "X",
  summary: "Type text on a VM's keyboard",
  input: {
    vm: VmRef,
    text: z.string().check(z.minLength(1), z.maxLength(10_000)),
    enter: z._default(z.boolean(), false),
    layout: z._default(KeyboardLayout, "us"),
  },
  positional: ["vm", "text"],
  help: { enter: "Presses enter at the end", layout: "The keyboard that the guest is set to" },
  output: Vm,
  uses: ["driver", "vm"],
  feature: "console",
  timed: true,
  plan: ({ text, enter }, { vm }) =>
    planOnConsole(
      vm,
      `Type ${JSON.stringify(text)}${enter ? " and enter" : ""} on the keyboard of "${vm.name}"`,
    ),
  async handle({ text, enter, layout }, context) {
    const { driver, vm, signal } = context;
    const strokes = [...strokesOfText(text, layout), ...(enter ? strokesOfKeys("enter") : [])];
    await abilityOf(driver, "console").press(vm.id, strokes, context);
    return await driver.vms.get(vm.id, signal);
  },
});
