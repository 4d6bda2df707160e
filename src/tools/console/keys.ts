import * as z from "zod/mini";
import { KeyChord } from "../../contract/keys.ts";
import { VmRef } from "../../contract/names.ts";
import { Vm } from "../../contract/vm.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { strokesOfKeys } from "../../flows/console/keyboard/strokes.ts";
import { defineTool } from "../define_tool.ts";
import { planOnConsole } from "./plan.ts";

/** Presses keys on a VM's keyboard, one chord after the other. */
export default defineTool({
  name: "console_keys",
  family: "console",
  class: "X",
  summary: "Press keys on a VM's keyboard, such as ctrl-alt-delete",
  input: { vm: VmRef, key: z.array(KeyChord).check(z.minLength(1), z.maxLength(200)) },
  positional: ["vm", "key"],
  output: Vm,
  uses: ["driver", "vm"],
  feature: "console",
  timed: true,
  plan: ({ key }, { vm }) => planOnConsole(vm, `Press ${key.join(", ")} on the keyboard of "${vm.name}"`),
  async handle({ key }, context) {
    const { driver, vm, signal } = context;
    await abilityOf(driver, "console").press(vm.id, key.flatMap(strokesOfKeys), context);
    return await driver.vms.get(vm.id, signal);
  },
});
