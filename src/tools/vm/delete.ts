import * as z from "zod/mini";
import { VmRefs } from "../../contract/names.ts";
import { Removed, type Vm, VmOutcomes } from "../../contract/vm.ts";
import { defineTool } from "../tool.ts";
import { exitCodeOfAll, forOneOrEach, renderAll } from "./each_target.ts";

/** Removes VMs with everything that belongs to them; running ones are powered off first. */
export default defineTool({
  name: "vm_delete",
  family: "vm",
  class: "D",
  summary: "Delete VMs and their files; running ones are powered off first",
  input: { vm: VmRefs },
  positional: ["vm"],
  /** What was removed when one VM was named, `results` when several were. */
  output: z.extend(z.partial(Removed), VmOutcomes),
  uses: ["driver", "targets"],
  feature: "vms",
  async plan(_, { driver, targets, signal }) {
    const vms = targets.flatMap(({ vm }) => vm ?? []);
    const losses = await Promise.all(vms.map(({ id }) => driver.vms.losses(id, signal)));
    return {
      summary: vms.map(describe).join("; "),
      losses: losses.flat(),
      fingerprint: vms.map(({ id, name, state, pid }) => ({ id, name, state, pid: pid ?? null })),
    };
  },
  handle: (_, context) =>
    forOneOrEach(
      context.targets,
      context,
      ({ id }, scope) => context.driver.vms.remove(id, scope),
      ({ removed, warnings }) => ({ removed, ...(warnings === undefined ? {} : { warnings }) }),
    ),
  exitCode: exitCodeOfAll,
  render: renderAll,
});

function describe({ name, state, adopted }: Vm): string {
  if (adopted) return `Forget the adopted VM "${name}", whose process and disks stay`;
  const power = state === "off" ? "" : `, which is ${state} and is powered off first`;
  return `Delete the VM "${name}"${power}`;
}
