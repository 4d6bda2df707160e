import { VmRef } from "../../contract/names.ts";
import { Vm } from "../../contract/vm.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Interrupts a guest in a way that it cannot mask: one that is set up for it crashes and writes its dump. */
export default defineTool({
  name: "vm_nmi",
  family: "vm",
  class: "D",
  summary: "Send a guest a non-maskable interrupt, to crash one that hangs",
  input: { vm: VmRef },
  positional: ["vm"],
  output: Vm,
  uses: ["driver", "vm"],
  feature: "nmi",
  plan: (_, { vm: { id, name, state, pid } }) =>
    Promise.resolve({
      summary: `Send the guest of "${name}" a non-maskable interrupt, on which it may crash`,
      losses: [{ what: "what the guest has not saved, if it crashes" }],
      fingerprint: { id, state, pid: pid ?? null },
    }),
  async handle(_, context) {
    const { driver, vm, signal } = context;
    await abilityOf(driver, "nmi").inject(vm.id, context);
    return await driver.vms.get(vm.id, signal);
  },
});
