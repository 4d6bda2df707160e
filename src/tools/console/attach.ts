import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { VmRef } from "../../contract/names.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { attachTerminal } from "../../flows/console/attach_terminal.ts";
import { defineTool } from "../define_tool.ts";
import { planOnConsole } from "./plan.ts";

/** Gives a person's terminal to a guest's serial line until Ctrl-]. */
export default defineTool({
  name: "console_attach",
  family: "console",
  class: "X",
  summary: "Use a guest's serial line from your terminal, until Ctrl-]",
  input: { vm: VmRef },
  positional: ["vm"],
  output: z.object({ vm: z.string(), ended: z.enum(["detached", "machine_ended", "terminal_gone"]) }),
  uses: ["driver", "vm"],
  feature: "serial",
  terminalOnly: true,
  plan: (_, { vm }) => planOnConsole(vm, `Use the serial line of "${vm.name}" from a terminal`),
  async handle(_, { driver, vm, signal, terminal: takeOver }) {
    if (takeOver === undefined) {
      throw new HvError("hv.usage", "A serial line can be used from a terminal only", {
        hint: "Use hvlab serial read and hvlab serial write elsewhere",
      });
    }
    const serial = abilityOf(driver, "serial");
    await using line = await serial.attach(vm.id, signal);
    using log = await serial.log(vm.id);
    using terminal = takeOver();
    return { vm: vm.id, ended: await attachTerminal(terminal, line, log, vm.name, signal) };
  },
  render: ({ ended }) =>
    ({
      detached: "Detached; the VM runs on",
      machine_ended: "The machine has ended",
      terminal_gone: "The terminal has gone",
    })[ended],
});
