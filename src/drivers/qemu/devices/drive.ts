/** The disc in a VM's drive. */

import { HvError } from "../../../base/errors.ts";
import { UndoList } from "../../../base/undo.ts";
import type { CallScope } from "../../call_scope.ts";
import { DISC_NODE, discNode, DRIVE } from "../launch/block_words.ts";
import { objectsIn } from "../monitor/answers.ts";
import { VmMonitor } from "../monitor/vm_monitor.ts";
import type { QemuContext } from "../context.ts";
import { findIso } from "../creation.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { changeDevices } from "./change.ts";

/** Puts a disc in or takes it out, now where the machine has a drive. A VM without one gets it at its next start. */
export async function setDisc(
  context: QemuContext,
  records: VmRecords,
  id: string,
  disc: string | null,
  { force }: { force: boolean },
  scope: CallScope,
): Promise<void> {
  const path = disc === null ? undefined : await findIso(context, disc);
  await changeDevices(context, records, id, scope, async (record, isAlive) => {
    const { iso: _, ...rest } = record;
    const monitor = new VmMonitor(context, record);
    const hasDrive = isAlive && await isPlugged(monitor);
    await using undo = new UndoList();
    undo.add("record", () => records.save(record));
    await records.save({ ...rest, dvd: true, ...(path === undefined ? {} : { iso: path }) });
    if (hasDrive) await changeMedium(monitor, path, force);
    undo.keep();
  });
}

async function isPlugged(monitor: VmMonitor): Promise<boolean> {
  const devices = objectsIn(await monitor.tell("qom-list", { path: "/machine/peripheral" }));
  return devices.some(({ name }) => name === DRIVE);
}

/** A guest that holds its disc keeps the tray shut until it lets go. */
async function changeMedium(monitor: VmMonitor, path: string | undefined, force: boolean): Promise<void> {
  await monitor.ask(async (session) => {
    await session.command("blockdev-open-tray", { id: DRIVE, force });
    const blocks = objectsIn(await session.command("query-block"));
    const drive = blocks.find(({ qdev }) => qdev === DRIVE || String(qdev).includes(`/${DRIVE}/`));
    if (drive?.tray_open !== true) throw held(monitor.vm);
    await session.command("blockdev-remove-medium", { id: DRIVE });
    const nodes = objectsIn(await session.command("query-named-block-nodes", { flat: true }));
    if (nodes.some((node) => node["node-name"] === DISC_NODE)) {
      await session.command("blockdev-del", { "node-name": DISC_NODE });
    }
    if (path !== undefined) {
      await session.command("blockdev-add", discNode(path));
      await session.command("blockdev-insert-medium", { id: DRIVE, "node-name": DISC_NODE });
    }
    await session.command("blockdev-close-tray", { id: DRIVE });
    return {};
  });
}

function held({ id, name }: Pick<VmRecord, "id" | "name">): HvError {
  return new HvError("hv.conflict", `The guest of "${name}" holds the disc in its drive`, {
    hint: "Unmount it in the guest and try again, or give --force",
    context: { vm: id, wanted: "an open tray", found: "a locked one" },
  });
}
