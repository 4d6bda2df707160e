/**
 * The bound of a serial log. QEMU appends to the file for as long as the guest pours, so that its beginning is given
 * back to the disk as a hole: offsets stay what they are, and nobody has to tell QEMU.
 */

import { isPlainObject, parseJson } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import type { QemuContext } from "../context.ts";
import { SERIAL_LOG } from "../power/instance.ts";
import type { VmRecord } from "../records.ts";

const PUNCH = "fallocate";
const NOTE = "serial.json";
/** What stays of a log that has grown over its bound. */
export const KEPT_BYTES = 16 * 1024 * 1024;
/** How much a log takes on the disk before its beginning goes. */
export const BOUND_BYTES = 2 * KEPT_BYTES;
/** Holes are made of whole blocks. */
const BLOCK_BYTES = 4096;

/** The offset before which a VM's log has been given back. */
export async function readKeptFrom({ host, state }: QemuContext, record: VmRecord): Promise<number> {
  const text = await host.files.readTextIfPresent(joinPath(state.vm(record.id), NOTE));
  try {
    const note = text === undefined ? undefined : parseJson(text);
    // Each start begins the log anew.
    if (!isPlainObject(note) || note.start !== (record.last_start?.at ?? null)) return 0;
    return typeof note.kept_from === "number" ? note.kept_from : 0;
  } catch {
    return 0;
  }
}

/** Gives the beginning of a log back that has grown over its bound; answers whether it did. */
export async function boundSerialLog(context: QemuContext, record: VmRecord): Promise<boolean> {
  const { host, state } = context;
  const path = joinPath(state.vm(record.id), SERIAL_LOG);
  const facts = await host.files.stat(path);
  if (facts === undefined || (facts.allocated_bytes ?? 0) <= BOUND_BYTES) return false;
  const end = Math.floor((facts.size_bytes - KEPT_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;
  if (end <= 0) return false;
  const note = { start: record.last_start?.at ?? null, kept_from: end };
  // The note comes first: a reader must never take the hole for what the guest wrote.
  await host.files.writeAtomically(joinPath(state.vm(record.id), NOTE), JSON.stringify(note));
  const range = ["--punch-hole", "--offset", "0", "--length", String(end)];
  const { code } = await host.processes.run(PUNCH, [...range, "--", path]);
  return code === 0;
}
