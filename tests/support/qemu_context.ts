/** The QEMU driver's surroundings in unit tests: a scripted host, an empty state folder, findings in memory. */

import type { JsonValue } from "../../src/base/json.ts";
import { uuidOf } from "../../src/base/ids.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import type { CallScope } from "../../src/drivers/call_scope.ts";
import type { MachineShape } from "../../src/drivers/qemu/checkpoints/machine_shape.ts";
import type { QemuContext } from "../../src/drivers/qemu/context.ts";
import { SCHEMA_VERSION, type VmRecord, VmRecords, writeRecord } from "../../src/drivers/qemu/records.ts";
import { RuntimeFolder } from "../../src/drivers/qemu/runtime_folder.ts";
import type { ProcessFacts } from "../../src/host/process_table.ts";
import type { Findings } from "../../src/state/findings.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { ScriptedHost } from "./scripted_host.ts";

export const VM_ID = "vm-0123abcd-4567-4890-abcd-ef0123456789";
export const OTHER_ID = "vm-fedcba98-7654-4210-8fed-cba987654321";

/** Findings that last as long as the test. */
export class MemoryFindings implements Findings {
  readonly values = new Map<string, JsonValue>();

  get(key: string): Promise<JsonValue | undefined> {
    return Promise.resolve(this.values.get(key));
  }

  put(key: string, value: JsonValue): Promise<void> {
    this.values.set(key, value);
    return Promise.resolve();
  }
}

export interface QemuBench {
  host: ScriptedHost;
  context: QemuContext & { findings: MemoryFindings };
  records: VmRecords;
  scope: CallScope;
  /** Writes a VM's folder with its record, and some of the fields changed. */
  addVm(changes?: Partial<VmRecord>): Promise<VmRecord>;
}

/** Runs a test with new surroundings and takes them away afterwards. */
export async function withQemu(work: (bench: QemuBench) => Promise<void>): Promise<void> {
  await using host = await ScriptedHost.open();
  const state = new StateFolder(`${host.root}/state`);
  const context = { host, state, config: DEFAULT_CONFIG, findings: new MemoryFindings() };
  const controller = new AbortController();
  await work({
    host,
    context,
    records: new VmRecords(context),
    scope: { signal: controller.signal, progress: () => {} },
    async addVm(changes = {}) {
      const id = changes.id ?? VM_ID;
      const record = { ...recordOf(id), runtime: RuntimeFolder.of(host, id).path, ...changes };
      await Deno.mkdir(state.vm(record.id), { recursive: true });
      await Deno.writeTextFile(`${state.vm(record.id)}/vm.json`, writeRecord(record));
      return record;
    },
  });
}

/** What the memory of a plain VM was saved of. */
export const PLAIN_SHAPE: MachineShape = {
  machine: "pc-q35-7.2",
  memory_mb: 256,
  cpus: 1,
  accelerator: "tcg",
  memory_parts: ["ram"],
  devices: [],
};

/** A plain record. */
export function recordOf(id: string = VM_ID): VmRecord {
  return {
    schema: SCHEMA_VERSION,
    id,
    name: `name of ${id.slice(3, 7)}`,
    image: "tiny",
    memory_mb: 256,
    cpus: 1,
    created_at: "2026-11-29T11:00:00.000Z",
    machine: "pc-q35-7.2",
    runtime: "/run/hvlab/0123abcd4567",
    last_start: { pid: 77, at: "2026-11-29T11:30:00.000Z", accelerator: "tcg", qemu: "7.2.22" },
  };
}

/** A process as hvlab starts it for a VM of this state folder. */
export function processOf(context: QemuContext, id: string, facts: Partial<ProcessFacts> = {}): ProcessFacts {
  const log = `${context.state.vm(id)}/serial.log`.replaceAll(",", ",,");
  return {
    pid: 77,
    started: "Sun Nov 29 11:30:00 2026",
    args: `qemu-system-x86_64 -uuid ${uuidOf(id)} -name guest=x -chardev file,id=serial-0,path=${log}`,
    ...facts,
  };
}
