/** Devices of the QEMU driver. */

import { HvError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths.ts";
import type { CallScope } from "../../call_scope.ts";
import type { DeviceAbilities, SerialPortAbilities } from "../../device_abilities.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecord, VmRecords } from "../records.ts";
import { SOCKET_PATH_LIMIT } from "../runtime_folder.ts";
import { findTpmProgram, TPM_FOLDER } from "../launch/tpm.ts";
import { changeDevices } from "./change.ts";
import { setDisc } from "./drive.ts";
import { listDevices } from "./list.ts";
import { refuseTakenSocket, SECOND_SERIAL } from "./serial_socket.ts";

/** What is plugged into VMs. */
export function openDevices(context: QemuContext, records: VmRecords): DeviceAbilities {
  return {
    list: async (id, signal) => await listDevices(context, await records.get(id), signal),
    setDvd: (id, disc, options, scope) => setDisc(context, records, id, disc, options, scope),
    setTpm: (id, present, scope) => setTpm(context, records, id, present, scope),
  };
}

/** The second serial port; the first one is hvlab's own, whose text it keeps. */
export function openSerialPorts(context: QemuContext, records: VmRecords): SerialPortAbilities {
  return {
    async set(id, port, { path }, scope) {
      if (port !== 2) {
        throw new HvError("hv.unsupported", "The first serial port is the line that hvlab reads and writes", {
          hint: "Take port 2; see the first one with: hvlab serial read",
          context: { vm: id, port },
        });
      }
      if (path === undefined) return;
      if (path !== null) refuseUnfit(path);
      await changeDevices(context, records, id, scope, async (record) => {
        if (path !== null) await refuseForeignSocket(context, record, path, scope.signal);
        const { serial_socket: _, ...rest } = record;
        await records.save(path === null ? rest : { ...rest, serial_socket: path });
      });
    },
  };
}

/** A machine keeps the TPM that it was started with; what the TPM has kept stays in the VM's folder. */
async function setTpm(
  context: QemuContext,
  records: VmRecords,
  id: string,
  present: boolean,
  scope: CallScope,
): Promise<void> {
  if (present) await findTpmProgram(context);
  await changeDevices(context, records, id, scope, async (record, isAlive) => {
    if (present) await context.host.files.makeFolder(joinPath(context.state.vm(id), TPM_FOLDER));
    const { tpm, at_next_start: { tpm: _, ...pending } = {}, ...rest } = record;
    const now = isAlive ? tpm === true : present;
    const later = { ...pending, ...(now === present ? {} : { tpm: present }) };
    await records.save({
      ...rest,
      ...(now ? { tpm: true } : {}),
      ...(Object.keys(later).length === 0 ? {} : { at_next_start: later }),
    });
  });
}

function refuseUnfit(path: string): void {
  const bytes = new TextEncoder().encode(path).length;
  if (!path.startsWith("/") || bytes > SOCKET_PATH_LIMIT) {
    throw new HvError(
      "hv.usage",
      `"${path}" cannot be a socket: wanted a full path of at most ${SOCKET_PATH_LIMIT} bytes`,
      {
        hint: "Choose a short path that begins with /",
        context: { path, bytes },
      },
    );
  }
}

/** The machine itself may listen there: what waits for its next start can be taken back. */
async function refuseForeignSocket(
  context: QemuContext,
  record: VmRecord,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const devices = await listDevices(context, record, signal);
  if (devices.some(({ id, now, holds }) => id === SECOND_SERIAL && now && holds === path)) return;
  await refuseTakenSocket(context.host, path);
}
