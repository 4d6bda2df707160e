/** The network cards that a VM's record names, and what QEMU is told of them. */

import { HvError } from "../../../base/errors.ts";
import { DEFAULT_SWITCH } from "../../../contract/network.ts";
import type { NicPlan } from "./netdevs.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecord } from "../records.ts";
import { linkOf, tapOf } from "./segments.ts";

/** A network card as a VM's record keeps it. */
export type RecordedNic = NonNullable<VmRecord["nics"]>[number];

/** The cards of a VM from its next start on. */
export function recordedNics({ nics, network }: VmRecord): RecordedNic[] {
  return nics ?? (network === false ? [] : [{ number: 0, switch: DEFAULT_SWITCH }]);
}

/** The same as QEMU is told of them. */
export function nicPlans(record: VmRecord): NicPlan[] {
  return recordedNics(record).map(planOf);
}

/** Throws `hv.policy_denied` for a card on a tap device that the policy does not name, or no longer. */
export function refuseUnnamedTaps({ config }: QemuContext, record: VmRecord): void {
  const { policy, file } = config;
  const taps = recordedNics(record).flatMap((nic) => tapOf(nic.switch ?? "") ?? []);
  const unnamed = taps.find((name) => !policy.taps.includes(name));
  if (unnamed === undefined) return;
  throw new HvError("hv.policy_denied", `The policy does not name the tap device "${unnamed}"`, {
    hint: `Name it under policy.taps in ${
      file ?? "hvlab.yaml"
    }, or take the card off: hvlab nic set ${record.id}`,
    context: { vm: record.id, tap: unnamed, allowed: [...policy.taps] },
  });
}

/** One card as QEMU is told of it. */
export function planOf({ number, mac, slot, switch: id }: RecordedNic): NicPlan {
  return {
    number,
    ...(mac === undefined ? {} : { mac }),
    ...(slot === undefined ? {} : { slot }),
    ...(id === undefined ? {} : { link: linkOf(id) }),
  };
}

/** Throws `hv.conflict` for a VM without a card on the network behind the host, which forwards go through. */
export function needUserNetwork(record: VmRecord): void {
  if (recordedNics(record).some((nic) => nic.switch === DEFAULT_SWITCH)) return;
  const { id, name } = record;
  throw new HvError("hv.conflict", `No port leads to "${name}": it has no network card behind the host`, {
    hint: `Give it one: hvlab nic add ${id}`,
    context: { vm: id, wanted: `a network card on the switch "${DEFAULT_SWITCH}"`, found: "none" },
  });
}
