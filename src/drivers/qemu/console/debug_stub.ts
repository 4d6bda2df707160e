/**
 * QEMU's own debugger stub, opened while the machine runs. It is given a socket that has been made before by its name
 * alone: the command that opens it exists only as text of QEMU's other monitor, and no path may be part of that.
 */

import { HvError } from "../../../base/errors.ts";
import type { JsonObject } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import type { DebugStubAbilities } from "../../console_abilities.ts";
import { objectsIn } from "../monitor/answers.ts";
import type { QemuContext } from "../context.ts";
import type { QmpSession } from "../monitor/qmp.ts";
import type { VmRecords } from "../records.ts";
import { askOnMachine, MACHINE_IS_ON } from "./running.ts";

const SOCKET = "gdb";
const LINK = "hvlab-debug-stub";
const OPEN = `gdbserver chardev:${LINK}`;
const CLOSE = "gdbserver none";

/** Opens it. Touches nothing by itself. */
export function openDebugStub(context: QemuContext, records: VmRecords): DebugStubAbilities {
  const { files } = context.host;
  return {
    open: (id, { signal }) =>
      askOnMachine(
        context,
        records,
        id,
        { action: "debug", states: MACHINE_IS_ON, signal },
        async (session, { runtime, name }) => {
          const path = joinPath(runtime, SOCKET);
          if (await isOpen(session)) return { socket: path };
          await files.remove(path);
          await session.command("chardev-add", { id: LINK, backend: listener(path) }, { signal });
          try {
            await tell(session, name, OPEN);
          } catch (error) {
            await session.command("chardev-remove", { id: LINK }).catch(() => {});
            throw error;
          }
          return { socket: path };
        },
      ),

    async close(id, { signal }) {
      const question = { action: "end the debugging of", states: MACHINE_IS_ON, signal };
      const { wasOpen } = await askOnMachine(
        context,
        records,
        id,
        question,
        async (session, { runtime, name }) => {
          const wasOpen = await isOpen(session);
          if (wasOpen) await tell(session, name, CLOSE);
          await files.remove(joinPath(runtime, SOCKET));
          return { wasOpen };
        },
      );
      return wasOpen;
    },
  };
}

function listener(path: string): JsonObject {
  const addr = { type: "unix", data: { path } };
  return { type: "socket", data: { addr, server: true, wait: false } };
}

async function isOpen(session: QmpSession): Promise<boolean> {
  return objectsIn(await session.command("query-chardev")).some(({ label }) => label === LINK);
}

/** The other monitor answers with text; on success it mostly says nothing. */
async function tell(session: QmpSession, vm: string, command: typeof OPEN | typeof CLOSE): Promise<void> {
  const answer = await session.command("human-monitor-command", { "command-line": command });
  const words = typeof answer === "string" ? answer.trim() : "";
  if (!/could not|error|invalid|unknown/i.test(words)) return;
  throw new HvError("hv.job_failed", `QEMU did not change the debugger stub of "${vm}": ${words}`, {
    hint: "QEMU's own words are in the message",
    context: { qemu: words },
  });
}
