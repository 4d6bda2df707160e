/**
 * Port forwards of a running QEMU. Only its human monitor changes them (QEMU 7.2), whose answers are words; what goes
 * into its commands is checked to be an address and numbers.
 */

import { HvError } from "../../../base/errors.ts";
import type { QmpSession } from "../monitor/qmp.ts";

/** A port of the host with the guest's port that it leads to. */
export interface HostForward {
  host_address: string;
  host_port: number;
  guest_port: number;
}

/** The address that stands for all of the host's. */
export const ANY_ADDRESS = "0.0.0.0";

/** `TCP[HOST_FORWARD]  12  127.0.0.1 35117  10.0.2.15 22  0 0`; a star stands for all addresses. */
const LINE = /^\s*TCP\[HOST_FORWARD\]\s+\d+\s+(\S+)\s+(\d+)\s+\S+\s+(\d+)\s/;

/** Opens a port of the host. Answers whether it could be had. */
export async function openHostForward(
  session: QmpSession,
  forward: HostForward,
): Promise<boolean> {
  const words = await tell(session, `hostfwd_add ${placeOf(forward)}-:${forward.guest_port}`);
  if (words === "") return true;
  if (/could not set up host forwarding rule/i.test(words)) return false;
  if (/user mode network/i.test(words)) throw noNetwork(forward);
  throw refused("open", forward, words);
}

/** Closes a port of the host; connections through it go on. Answers whether it was open. */
export async function closeHostForward(
  session: QmpSession,
  forward: HostForward,
): Promise<boolean> {
  const words = await tell(session, `hostfwd_remove ${placeOf(forward)}`);
  if (/ removed$/.test(words)) return true;
  if (/ not found$/.test(words) || /user mode network/i.test(words)) return false;
  throw refused("close", forward, words);
}

/** The forwards that a running QEMU has. */
export async function readHostForwards(session: QmpSession): Promise<HostForward[]> {
  const text = await tell(session, "info usernet");
  return text.split("\n").flatMap((line) => {
    const [, address, host, guest] = LINE.exec(line) ?? [];
    if (address === undefined) return [];
    const host_address = address === "*" ? ANY_ADDRESS : address;
    return [{ host_address, host_port: Number(host), guest_port: Number(guest) }];
  });
}

/** Whether two forwards are from the same place of the host. */
export function isSamePlace(one: HostForward, other: HostForward): boolean {
  return one.host_port === other.host_port && one.host_address === other.host_address;
}

function placeOf({ host_address, host_port }: HostForward): string {
  return `tcp:${host_address}:${host_port}`;
}

async function tell(session: QmpSession, line: string): Promise<string> {
  return String(await session.command("human-monitor-command", { "command-line": line })).trim();
}

/** A card that was given to the VM for its next start is not there yet. */
function noNetwork({ host_port, guest_port }: HostForward): HvError {
  return new HvError("hv.conflict", "The running machine has no network card behind the host", {
    hint: "Restart the VM, or give it one: hvlab nic add",
    context: { host_port, guest_port, wanted: "a network card on the switch default", found: "none" },
  });
}

function refused(deed: string, { host_address, host_port, guest_port }: HostForward, words: string): HvError {
  return new HvError("hv.job_failed", `QEMU did not ${deed} the port ${host_port}: ${words}`, {
    hint: "QEMU's own words are in the context",
    context: { host_address, host_port, guest_port, qemu: words },
  });
}
