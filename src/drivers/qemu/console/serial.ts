/** A machine's first serial line: its log in the VM's folder, and its socket. */

import { HvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import type { SerialAbilities, SerialLine, SerialLog } from "../../console_abilities.ts";
import type { QemuContext } from "../context.ts";
import { SERIAL_LOG } from "../power/instance.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { RuntimeFolder } from "../runtime_folder.ts";
import { readKeptFrom } from "./serial_bound.ts";

/** Who holds the line lets go of it within moments when it only writes. */
const TURN_LIMIT_MS = 2_000;
const LOOK_AGAIN_MS = 20;

/** Opens it. Touches nothing by itself. */
export function openSerial(context: QemuContext, records: VmRecords): SerialAbilities {
  return {
    async log(id) {
      const record = await records.get(id);
      refuseAdopted(record);
      return await openLog(context, record);
    },
    async attach(id, signal) {
      const record = await records.get(id);
      refuseAdopted(record);
      return await attach(context, record, signal);
    },
  };
}

async function openLog(context: QemuContext, record: VmRecord): Promise<SerialLog | undefined> {
  const { files } = context.host;
  const path = joinPath(context.state.vm(record.id), SERIAL_LOG);
  if (await files.stat(path) === undefined) return undefined;
  const keptFrom = await readKeptFrom(context, record);
  const file = files.open(path);
  return {
    size: file.size,
    kept_from: Math.min(keptFrom, file.size),
    read: (offset, length) => file.read(offset, Math.max(0, Math.min(length, file.size - offset))),
    [Symbol.dispose]: () => file.close(),
  };
}

/** QEMU serves one client and lets others wait without a word, so that a lock says whose turn it is. */
async function attach({ host }: QemuContext, record: VmRecord, signal: AbortSignal): Promise<SerialLine> {
  const runtime = new RuntimeFolder(record.runtime);
  if (await host.files.stat(runtime.serial) === undefined) throw isOff(record);
  const end = host.clock.monotonic() + TURN_LIMIT_MS;
  let lock = await host.locks.tryTake(runtime.serialLock, { folderMustExist: true });
  while (lock === undefined) {
    if (host.clock.monotonic() >= end) throw isHeld(record);
    await host.clock.sleep(LOOK_AGAIN_MS, signal);
    lock = await host.locks.tryTake(runtime.serialLock, { folderMustExist: true });
  }
  const connection = await host.sockets.connectUnix(runtime.serial);
  if (connection === undefined) {
    lock.release();
    throw isOff(record);
  }
  const held = lock;
  return {
    read: () => connection.read(),
    write: (bytes) => connection.write(bytes),
    [Symbol.asyncDispose]() {
      connection.close();
      held.release();
      return Promise.resolve();
    },
  };
}

function refuseAdopted({ id, name, adopted }: VmRecord): void {
  if (adopted === undefined) return;
  throw new HvError("hv.unsupported", `The serial line of "${name}" belongs to whoever started it`, {
    hint: "hvlab reads the serial lines of VMs that it started",
    context: { vm: id, reason: "adopted" },
  });
}

function isOff({ id, name }: VmRecord): HvError {
  return new HvError("hv.conflict", `Nobody listens on the serial line of "${name}": the VM is off`, {
    hint: `Start it: hvlab vm start ${id}`,
    context: { vm: id, wanted: "running", found: "off" },
  });
}

function isHeld({ id, name }: VmRecord): HvError {
  return new HvError("hv.conflict", `The serial line of "${name}" is held by another hvlab`, {
    hint: "End the other one: its terminal is left with Ctrl-]",
    context: { vm: id, reason: "line_held", wanted: "idle", found: "held" },
    retryable: true,
  });
}
