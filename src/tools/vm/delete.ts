import * as z from "zod/mini";
import { VmRefs } from "../../contract/names.ts";
import { Removed, type Vm, VmOutcomes } from "../../contract/vm.ts";
import type { Driver, RemovalOptions } from "../../drivers/driver.ts";
import { needFeature } from "../../flows/machines/machine_wish.ts";
import { defineTool } from "../define_tool.ts";
import { exitCodeOfAll, forOneOrEach, renderAll } from "./each_target.ts";

/** Removes VMs with everything that belongs to them; running ones are powered off first. */
export default defineTool({
  name: "vm_delete",
  family: "vm",
  class: "D",
  summary: "Delete VMs and their files; running ones are powered off first",
  input: { vm: VmRefs, keep_disks: z._default(z.boolean(), false) },
  positional: ["vm"],
  help: { keep_disks: "Leave the disk files where they are (Hyper-V only)" },
  /** What was removed when one VM was named, `results` when several were. */
  output: z.extend(z.partial(Removed), VmOutcomes),
  uses: ["driver", "targets"],
  feature: "vms",
  async plan(args, { driver, targets, signal }) {
    const options = optionsOf(args, driver);
    const vms = targets.flatMap(({ vm }) => vm ?? []);
    const losses = await Promise.all(vms.map(({ id }) => driver.vms.losses(id, signal, options)));
    return {
      summary: vms.map(describe).join("; "),
      losses: losses.flat(),
      fingerprint: vms.map(({ id, name, state, pid }) => ({ id, name, state, pid: pid ?? null })),
    };
  },
  handle: (args, context) => {
    const options = optionsOf(args, context.driver);
    return forOneOrEach(
      context.targets,
      context,
      ({ id }, scope) => context.driver.vms.remove(id, scope, options),
      ({ removed, warnings }) => ({ removed, ...(warnings === undefined ? {} : { warnings }) }),
    );
  },
  exitCode: exitCodeOfAll,
  render: renderAll,
});

function optionsOf({ keep_disks }: { keep_disks: boolean }, driver: Driver): RemovalOptions {
  if (keep_disks) needFeature(driver, "vms.disks", "hvlab vm export");
  return { keep_disks };
}

function describe({ name, state, adopted }: Vm): string {
  if (adopted) return `Forget the adopted VM "${name}", whose process and disks stay`;
  const power = state === "off" ? "" : `, which is ${state} and is powered off first`;
  return `Delete the VM "${name}"${power}`;
}
