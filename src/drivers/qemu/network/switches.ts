/**
 * Switches on QEMU. One of ours is a multicast group on the loopback interface, which only machines with a card on it
 * join: no program serves it, no right is needed, and no packet reaches a network of the host. The record is all that
 * there is of a switch while no machine runs on it.
 */

import * as z from "zod/mini";
import { HvError } from "../../../base/errors.ts";
import { parseJson } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import { DEFAULT_SWITCH, type Switch } from "../../../contract/network.ts";
import type { CallScope } from "../../call_scope.ts";
import type { SwitchAbilities } from "../../network_abilities.ts";
import type { QemuContext } from "../context.ts";
import { refuseDamagedVms } from "../damaged_vms.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { recordedNics } from "./nic_records.ts";
import { tapId } from "./segments.ts";

const SwitchRecord = z.looseObject({
  schema: z.literal(1),
  id: z.uuid(),
  name: z.string(),
  type: z.enum(["internal", "private"]),
  created_at: z.string(),
});
type SwitchRecord = z.infer<typeof SwitchRecord>;

/** Switches of the QEMU driver. */
export function openSwitches(context: QemuContext, records: VmRecords): SwitchAbilities {
  return {
    list: async () => await listSwitches(context, records),
    create: (wish, scope) => createSwitch(context, wish, scope),
    remove: (id, scope) => removeSwitch(context, records, id, scope),
  };
}

/** The names of switches by their ids, with the one that is always there and the tap devices that the policy names. */
export async function switchNames(context: QemuContext): Promise<Map<string, string>> {
  const all = await readSwitches(context);
  const { taps } = context.config.policy;
  return new Map([
    [DEFAULT_SWITCH, DEFAULT_SWITCH],
    ...all.map(({ id, name }) => [id, name] as const),
    ...taps.map((name) => [tapId(name), name] as const),
  ]);
}

/** Throws `hv.not_found` when there is no switch of this id. */
export async function needSwitch(context: QemuContext, id: string): Promise<void> {
  const names = await switchNames(context);
  if (names.has(id)) return;
  throw new HvError("hv.not_found", `There is no switch "${id}"`, {
    hint: "List them with: hvlab switch list",
    context: { switch: id, known: [...names.values()] },
  });
}

/** Held by whoever makes or removes a switch, or puts a card on one. */
export function takeSwitches({ host, state }: QemuContext, signal: AbortSignal): Promise<Disposable> {
  return host.locks.take(joinPath(state.locks, "switches.lock"), signal);
}

async function listSwitches(context: QemuContext, records: VmRecords): Promise<Switch[]> {
  const { records: vms } = await records.list();
  const common = { id: DEFAULT_SWITCH, name: DEFAULT_SWITCH, type: "nat" as const };
  const all = await readSwitches(context);
  return [
    { ...common, builtin: true, managed: false, host: true, vms: usersOf(vms, DEFAULT_SWITCH) },
    ...all.map(({ id, name, type }) => {
      const vmsOn = usersOf(vms, id);
      return { id, name, type, builtin: false, managed: true, host: false, vms: vmsOn };
    }),
    ...context.config.policy.taps.map((name) => {
      const id = tapId(name);
      const vmsOn = usersOf(vms, id);
      return { id, name, type: "external" as const, builtin: false, managed: false, host: true, vms: vmsOn };
    }),
  ];
}

function usersOf(vms: readonly VmRecord[], id: string): string[] {
  return vms.filter((vm) => recordedNics(vm).some((nic) => nic.switch === id)).map((vm) => vm.id);
}

async function createSwitch(
  context: QemuContext,
  { name, type }: { name: string; type: "internal" | "private" | "external" },
  { signal }: CallScope,
): Promise<string> {
  if (type === "external") throw refuseExternal(name);
  using _switches = await takeSwitches(context, signal);
  const taken = [...await switchNames(context)].find(([, other]) => other === name);
  if (taken !== undefined) {
    throw new HvError("hv.conflict", `There is a switch "${name}" already`, {
      hint: "Choose another name, or delete that one with: hvlab switch delete",
      context: { switch: name, id: taken[0], wanted: "free", found: "taken" },
    });
  }
  const { host } = context;
  const id = crypto.randomUUID();
  const created_at = new Date(host.clock.now()).toISOString();
  const record: SwitchRecord = { schema: 1, id, name, type, created_at };
  await host.files.makeFolder(folderOf(context));
  await host.files.writeAtomically(fileOf(context, id), JSON.stringify(record, undefined, 2) + "\n");
  return id;
}

async function removeSwitch(
  context: QemuContext,
  records: VmRecords,
  id: string,
  { signal }: CallScope,
): Promise<void> {
  using _switches = await takeSwitches(context, signal);
  await needSwitch(context, id);
  const { records: vms } = await records.list();
  const users = vms.filter((vm) => recordedNics(vm).some((nic) => nic.switch === id));
  if (users.length > 0) {
    const names = users.map((vm) => `"${vm.name}"`).join(", ");
    throw new HvError("hv.conflict", `Cannot remove the switch: network cards of ${names} are on it`, {
      hint: "Take them off with: hvlab nic remove, or hvlab nic set",
      context: { switch: id, vms: users.map((vm) => vm.id), wanted: "unused", found: "in use" },
    });
  }
  await refuseDamagedVms(context, "remove the switch", "have a network card on it", { switch: id });
  await context.host.files.remove(fileOf(context, id));
}

function refuseExternal(name: string): HvError {
  return new HvError("hv.policy_denied", `Refused to make the switch "${name}" external`, {
    hint: "hvlab never touches a network adapter of the host; take --type internal or private",
    context: { switch: name, type: "external" },
  });
}

async function readSwitches(context: QemuContext): Promise<SwitchRecord[]> {
  const { files } = context.host;
  const folder = folderOf(context);
  if (await files.stat(folder) === undefined) return [];
  const entries = (await files.list(folder)).filter(({ name }) => name.endsWith(".json"));
  const all = await Promise.all(entries.map(({ name }) => readSwitch(context, joinPath(folder, name))));
  return all.flatMap((record) => record ?? []).sort((a, b) => a.created_at < b.created_at ? -1 : 1);
}

/** One that was removed since the folder was listed is none; one that cannot be read is told, never passed over. */
async function readSwitch({ host }: QemuContext, path: string): Promise<SwitchRecord | undefined> {
  const text = await host.files.readTextIfPresent(path);
  if (text === undefined) return undefined;
  try {
    const parsed = z.safeParse(SwitchRecord, parseJson(text));
    if (parsed.success) return parsed.data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new HvError("hv.io", `The record of a switch is damaged: "${path}"`, {
    hint: "Repair the file, or remove it when no VM is on that switch",
    context: { path },
  });
}

function folderOf({ state }: QemuContext): string {
  return joinPath(state.root, "switches");
}

function fileOf(context: QemuContext, id: string): string {
  return joinPath(folderOf(context), `${id}.json`);
}
