/** Powering an adopted VM off: it is asked over its monitor, and its process is never signalled. */

import { HvError } from "../../../base/errors.ts";
import type { QemuContext } from "../context.ts";
import { askMonitor } from "../monitor/monitors.ts";
import { observe } from "../observe.ts";
import { settlesWithin } from "../patience.ts";
import type { VmRecord } from "../records.ts";
import { RuntimeFolder } from "../runtime_folder.ts";

const QUIT_LIMIT_MS = 5_000;
const LOOK_MS = 20;

/** Tells its QEMU to end and waits until it has. Throws `hv.conflict` when it is still there afterwards. */
export async function quitAdopted(
  context: QemuContext,
  record: VmRecord,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = context.host;
  await askMonitor(context.host, record.id, new RuntimeFolder(record.runtime), async (session) => {
    await session.command("quit", undefined, { signal });
    await settlesWithin(clock, session.ended, QUIT_LIMIT_MS, signal);
    return {};
  }, { signal });
  const end = clock.monotonic() + QUIT_LIMIT_MS;
  for (;;) {
    const { alive, state } = await observe(context, record, signal);
    if (!alive) return;
    if (clock.monotonic() >= end) {
      throw new HvError("hv.conflict", `"${record.name}" was told to end and is still ${state}`, {
        hint: "hvlab ends no process that it did not start; use the program that made the VM",
        context: { vm: record.id, wanted: "off", found: state },
      });
    }
    await clock.sleep(LOOK_MS, signal);
  }
}
