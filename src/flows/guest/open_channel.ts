/** The way into a VM's guest. */

import { HvError } from "../../base/errors.ts";
import type { Vm } from "../../contract/vm.ts";
import type { Driver } from "../../drivers/driver.ts";
import { wayAfterCrash, wayToRun } from "../../drivers/way_on.ts";
import type { GuestChannel } from "../../guest/channel.ts";
import { allowsChannel, notAllowed } from "../../guest/choose.ts";

/**
 * Opens the best channel into a running VM, of those that the policy allows for programs; any other state is refused
 * before the guest is asked. Throws `hv.policy_denied` when it allows none.
 */
export function openChannel(driver: Driver, vm: Vm, allowed?: readonly string[] | null): GuestChannel {
  refuseUnusable(vm);
  const ways = driver.channels(vm);
  const channel = ways.find(({ name }) => allowsChannel(allowed, name));
  if (channel !== undefined) return channel;
  if (ways.length > 0) throw notAllowed(ways, allowed);
  throw new HvError("hv.unsupported", `There is no way into the guest of "${vm.name}"`, {
    hint: "Install the guest agent in the image",
    context: { vm: vm.id, driver: driver.name },
  });
}

/** Throws `hv.guest_crashed` or `hv.conflict` for a VM whose guest cannot be used in its present state. */
export function refuseUnusable(vm: Vm): void {
  if (vm.state === "crashed") throw guestCrashed(vm);
  if (vm.state !== "running") {
    throw new HvError(
      "hv.conflict",
      `The VM "${vm.name}" is ${vm.state}, and its guest can only be used while it is running`,
      {
        hint: wayToRun(vm) ?? `Wait for it with \`hvlab vm wait ${vm.id}\``,
        context: { vm: vm.id, wanted: "running", found: vm.state },
      },
    );
  }
}

/** The failure of a call that needs the guest of a VM which has crashed. */
export function guestCrashed(vm: Vm): HvError {
  return new HvError("hv.guest_crashed", `The guest of "${vm.name}" has crashed`, {
    hint: wayAfterCrash(vm),
    context: { vm: vm.id, ...(vm.state_reason === undefined ? {} : { reason: vm.state_reason }) },
  });
}
