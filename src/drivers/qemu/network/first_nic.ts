/** The network card that a new VM gets when it asks for a switch. */

import { HvError } from "../../../base/errors.ts";
import type { VmSpec } from "../../driver.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecords } from "../records.ts";
import { newMac } from "./mac_addresses.ts";
import type { RecordedNic } from "./nic_records.ts";
import { switchNames } from "./switches.ts";

/** `undefined` for a VM whose `network` says all. Throws `hv.not_found` for a switch that is not there. */
export async function firstNic(
  context: QemuContext,
  records: VmRecords,
  { name, switch: wanted, network }: VmSpec,
): Promise<RecordedNic[] | undefined> {
  if (wanted === undefined) return undefined;
  if (network === false) {
    throw new HvError("hv.usage", "A VM without a network is on no switch", {
      hint: "Leave --switch or --no-network out",
      context: { name, switch: wanted },
    });
  }
  const known = await switchNames(context);
  const [id] = [...known].find(([candidate, called]) => called === wanted || candidate === wanted) ?? [];
  if (id !== undefined) return [{ number: 0, mac: await newMac(records), switch: id }];
  throw new HvError("hv.not_found", `There is no switch "${wanted}"`, {
    hint: `Switches are: ${[...known.values()].join(", ")}`,
    context: { switch: wanted, known: [...known.values()] },
  });
}
