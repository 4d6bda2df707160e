/** How much memory hvlab takes at most while a program of a guest prints: it must not matter how much that is. */

import { openGuestProgram } from "../../tests/support/guest_program.ts";
import { findTinyImage } from "../../tests/support/plain_qemu.ts";
import type { Row } from "./report.ts";

const MIB = 1024 * 1024;
const LITTLE_MIB = 1;
/** From here on the collector of garbage is at work; before that memory grows with the output because nothing is collected. */
const STEADY_MIB = 64;
/** The agent hands out far less in the same time. */
const MUCH_MIB = { ssh: 1024, agent: 128 } as const;
const LOOK_MS = 20;
const TARGET = 1.15;

/** Measures once each; answers no rows where there is no image of the tiny guest. */
export async function measureOutputMemory(): Promise<Row[]> {
  if (findTinyImage() === undefined) return [];
  await using program = await openGuestProgram("web");
  const rows: Row[] = [];
  for (const channel of ["ssh", "agent"] as const) {
    const amount = MUCH_MIB[channel];
    const print = async (mib: number): Promise<number> => {
      const script = `head -c ${mib * MIB} /dev/zero`;
      const words = ["guest", "exec", "web", "--channel", channel, "--", "sh", "-c", script];
      return await peakOf(program.start(...words));
    };
    const little = await print(LITTLE_MIB);
    const steady = await print(STEADY_MIB);
    const much = await print(amount);
    rows.push(
      { what: `${LITTLE_MIB} MiB printed over ${channel}`, value: little },
      { what: `${STEADY_MIB} MiB printed over ${channel}`, value: steady, baseline: little },
      { what: `${amount} MiB, beside ${LITTLE_MIB}`, value: much, baseline: little },
      { what: `${amount} MiB, beside ${STEADY_MIB}`, value: much, baseline: steady, target: TARGET },
    );
  }
  return rows;
}

/** The peak of a process's resident memory in MiB, as the kernel last told before its end. */
async function peakOf(process: Deno.ChildProcess): Promise<number> {
  let peak = 0;
  let isOver = false;
  const ended = process.status.finally(() => isOver = true);
  while (!isOver) {
    const status = await Deno.readTextFile(`/proc/${process.pid}/status`).catch(() => "");
    peak = Math.max(peak, Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024);
    await new Promise((go) => setTimeout(go, LOOK_MS));
  }
  if (!(await ended).success) throw new Error("the program in the guest failed");
  return peak;
}
