import * as z from "zod/mini";
import { VmRef } from "../../contract/names.ts";
import { Nic } from "../../contract/network.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";

/** Lists a VM's network cards, those that it has now and those that it gets at its next start. */
export default defineTool({
  name: "nic_list",
  family: "net",
  class: "R",
  summary: "List a VM's network cards with their switches and addresses",
  input: { vm: VmRef },
  positional: ["vm"],
  output: z.object({ nics: z.array(Nic) }),
  uses: ["driver", "vm"],
  feature: "nics",
  async handle(_, { driver, vm, signal, warn }) {
    const { nics, warnings } = await abilityOf(driver, "nics").list(vm.id, signal);
    warnings.forEach(warn);
    return { nics };
  },
  render: renderNics,
});

/** One line for each card and one below it for each of its addresses. */
function renderNics({ nics }: { nics: Nic[] }): string {
  if (nics.length === 0) return "No network cards";
  return nics.flatMap((nic) => [
    [nic.id, nic.mac ?? "no MAC address yet", `on ${nic.switch ?? "no switch"}`, ...notesOf(nic)].join("  "),
    ...nic.addresses.map(({ address, prefix, source, age_s }) =>
      `    ${address}${prefix === undefined ? "" : `/${prefix}`}  from the ${
        source.replaceAll("_", " ")
      }, ${age_s} s ago`
    ),
  ]).join("\n");
}

function notesOf({ id, name, now, next_start, switch_at_next_start: later, vlan }: Nic): string[] {
  return [
    ...(name === id ? [] : [`"${name}"`]),
    ...(vlan === undefined ? [] : [`VLAN ${vlan}`]),
    ...(later === undefined ? [] : [`on ${later ?? "no switch"} at the next start`]),
    ...(now || !next_start ? [] : ["comes with the next start"]),
    ...(now && !next_start ? ["goes with the next start"] : []),
  ];
}
