import assert from "node:assert/strict";
import { HvError } from "../../../../../src/base/errors.ts";
import { uuidOf } from "../../../../../src/base/ids.ts";
import { memoryFile, memoryTags } from "../../../../../src/drivers/qemu/checkpoints/files.ts";
import { readBook, saveBook } from "../../../../../src/drivers/qemu/checkpoints/records.ts";
import { restoreCheckpoint } from "../../../../../src/drivers/qemu/checkpoints/restore.ts";
import type { QemuContext } from "../../../../../src/drivers/qemu/context.ts";
import type { VmRecord } from "../../../../../src/drivers/qemu/records.ts";
import { RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";
import { denoFiles } from "../../../../../src/host/files.ts";
import { qcow2File } from "../../../../support/disk_writer.ts";
import { PLAIN_SHAPE, processOf, type QemuBench, VM_ID, withQemu } from "../../../../support/qemu_context.ts";
import { listenAsMonitor } from "../../../../support/scripted_monitor.ts";

const CHECKPOINT = "ckpt-0123abcd-4567-4890-abcd-ef0123456789";
const OLD = "save-0123abcd-4567-4890-abcd-ef0123456789";

/** A qcow2 file with one snapshot, whose entry has nothing but its tag. */
function fileWithSnapshot(tag: string): Uint8Array {
  const tableAt = 4096;
  const bytes = qcow2File({ snapshots: 1 });
  const view = new DataView(bytes.buffer);
  view.setBigUint64(64, BigInt(tableAt));
  view.setUint16(tableAt + 14, tag.length);
  bytes.set(new TextEncoder().encode(tag), tableAt + 40);
  return bytes;
}

/** A VM that went on from its saved memory, which nobody has removed, and has a checkpoint with memory. */
async function addResumed({ context, addVm }: QemuBench): Promise<VmRecord> {
  const at = "2026-11-29T11:40:00.000Z";
  const record = await addVm({ saved: { phase: "resuming", tag: OLD, at, disks: [], memory: PLAIN_SHAPE } });
  await Deno.mkdir(`${context.state.vm(VM_ID)}/memory`);
  for (const tag of [OLD, CHECKPOINT]) {
    await Deno.writeFile(memoryFile(context, VM_ID, tag), fileWithSnapshot(tag));
  }
  const checkpoint = {
    id: CHECKPOINT,
    name: "one",
    parent: null,
    created_at: at,
    disks: [],
    memory: PLAIN_SHAPE,
  };
  await saveBook(context, VM_ID, { schema: 1, current: null, checkpoints: [checkpoint] });
  return record;
}

async function live({ host, context }: QemuBench, record: VmRecord): Promise<void> {
  await Deno.mkdir(record.runtime, { recursive: true });
  host.processes.table.push(processOf(context, VM_ID));
  await listenAsMonitor(host, new RuntimeFolder(record.runtime).monitor("calls"), {
    uuid: uuidOf(VM_ID),
    answers: {
      "qom-get": "pc-q35-7.2-machine",
      "qom-list": [],
      "human-monitor-command": "",
      "query-memory-size-summary": { "base-memory": 256 * 1024 * 1024 },
      "query-cpus-fast": [{ "cpu-index": 0 }],
      "query-memdev": [{ id: "ram" }],
      "query-chardev": [],
      "query-jobs": [],
      "query-named-block-nodes": [],
      "migrate-set-capabilities": {},
      "blockdev-add": {},
      "snapshot-load": {},
      "cont": {},
    },
  });
}

/** The surroundings in which one file cannot be removed. */
function withFixedFile(context: QemuContext, fixed: string): QemuContext {
  const files: typeof denoFiles = {
    ...denoFiles,
    remove: (path) =>
      path === fixed ? Promise.reject(new HvError("hv.io", "the file stays")) : denoFiles.remove(path),
  };
  return { ...context, host: { ...context.host, files } };
}

Deno.test("a restore has succeeded when what was saved before cannot be removed, and the next one does that", () =>
  withQemu(async (bench) => {
    const { context, records } = bench;
    await live(bench, await addResumed(bench));
    const warnings: string[] = [];
    const scope = { ...bench.scope, warn: (text: string) => void warnings.push(text) };
    const fixed = withFixedFile(context, memoryFile(context, VM_ID, OLD));
    await restoreCheckpoint(fixed, records, VM_ID, CHECKPOINT, scope);
    assert.match(warnings.join("\n"), /^The memory that was saved .* could not be removed: the file stays$/);
    const { current, restoring } = await readBook(context, VM_ID);
    assert.deepEqual([current, restoring, (await records.get(VM_ID)).saved], [
      CHECKPOINT,
      undefined,
      undefined,
    ]);
    await restoreCheckpoint(context, records, VM_ID, CHECKPOINT, scope);
    assert.deepEqual([await memoryTags(context, VM_ID), warnings.length], [[CHECKPOINT], 1]);
  }));
