/**
 * Which process is which VM. Over the monitor the uuid decides; where no monitor answers, the process table does,
 * by the words that stand first on every QEMU of ours. A pid alone, from a file or a record, proves nothing.
 */

import { nameOf } from "../../base/paths.ts";
import type { ProcessFacts } from "../../host/process_table.ts";
import { QEMU, type QemuContext } from "./context.ts";

/** A living QEMU process that carries a uuid the way hvlab gives it. */
export interface QemuProcess extends ProcessFacts {
  /** The VM's id, `vm-<uuid>`. */
  id: string;
}

/** The uuid stands before the name and every other text that a user could choose. */
const IDENTITY = /^.*? -uuid ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) -name guest=/;

/** Reads whose QEMU a command line is; `undefined` when hvlab did not start it. */
export function readIdentity(args: string): string | undefined {
  const uuid = IDENTITY.exec(args)?.[1];
  return uuid === undefined ? undefined : `vm-${uuid}`;
}

/** One look at the process table, made when first asked for and shared by all who ask. */
export class ProcessView {
  readonly #context: QemuContext;
  #table: Promise<QemuProcess[]> | undefined;

  constructor(context: QemuContext) {
    this.#context = context;
  }

  /** Every QEMU that some hvlab of this machine started. */
  all(): Promise<QemuProcess[]> {
    return this.#table ??= readQemuProcesses(this.#context);
  }

  async find(id: string): Promise<QemuProcess | undefined> {
    return (await this.all()).find((process) => process.id === id);
  }
}

/** Whether a process seen earlier is still the same VM's: a pid can have gone to another program meanwhile. */
export async function isStillThere(context: QemuContext, process: QemuProcess): Promise<boolean> {
  const now = await context.host.processes.describe(process.pid);
  return now !== undefined && now.started === process.started && readIdentity(now.args) === process.id;
}

/** Whether the process works for a VM of this state folder: another folder's VMs are none of our business. */
export function isOfState(context: QemuContext, process: QemuProcess): boolean {
  // The serial log's path stands on the command line with doubled commas.
  return process.args.includes(context.state.vm(process.id).replaceAll(",", ",,"));
}

/** Reads what `ps` prints as a start time, in milliseconds since 1970; `null` when it is not one. */
export function startTime(process: ProcessFacts): number | null {
  const time = Date.parse(process.started);
  return Number.isNaN(time) ? null : time;
}

async function readQemuProcesses({ host }: QemuContext): Promise<QemuProcess[]> {
  const path = await host.processes.find(QEMU);
  const table = await host.processes.list(path === undefined ? QEMU : nameOf(path));
  const found: QemuProcess[] = [];
  for (const facts of table) {
    const id = readIdentity(facts.args);
    if (id !== undefined) found.push({ ...facts, id });
  }
  return found;
}
