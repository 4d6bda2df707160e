/** The process of an adopted VM. hvlab looks at it and never signals it. */

import { uuidOf } from "../../../base/ids.ts";
import type { QemuProcess } from "../identity.ts";
import { QEMU, type QemuContext } from "../context.ts";
import type { VmRecord } from "../records.ts";

/** The pid and start time of the one QEMU whose command line names the uuid or the monitor's socket. */
export async function findForeignProcess(
  { host }: QemuContext,
  id: string,
  socket: string,
): Promise<{ pid?: number; process_started?: string }> {
  const marks = [uuidOf(id), socket];
  const candidates = (await host.processes.list(QEMU))
    .filter(({ args }) => marks.some((mark) => args.toLowerCase().includes(mark.toLowerCase())));
  const [found, ...others] = candidates;
  if (found === undefined || others.length > 0) return {};
  return { pid: found.pid, process_started: found.started };
}

/** The process that was seen at the adoption, while it is still the same; `undefined` when it ended or was never seen. */
export async function seenProcess(
  { host }: QemuContext,
  { id, adopted }: VmRecord,
): Promise<QemuProcess | undefined> {
  if (adopted?.pid === undefined) return undefined;
  const now = await host.processes.describe(adopted.pid);
  return now !== undefined && now.started === adopted.process_started ? { ...now, id } : undefined;
}
