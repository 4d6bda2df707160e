/** The memory of real machines as files: core files that fit, and dumps that were left or refused. */

import assert from "node:assert/strict";
import { HvError } from "../../src/base/errors.ts";
import type { Progress } from "../../src/contract/operation.ts";
import type { MemoryDump, MemoryDumpOptions } from "../../src/drivers/memory_dump_abilities.ts";
import { failureOf } from "../support/failures.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";

const PLAIN: MemoryDumpOptions = { format: "elf", sparse: false, overwrite: false };
const MEMORY_MB = 128;

async function dump(
  { driver, scope }: QemuLab,
  id: string,
  file: string,
  options: Partial<MemoryDumpOptions> = {},
  signal: AbortSignal = scope.signal,
): Promise<MemoryDump> {
  assert.ok(driver.dumps !== undefined);
  return await driver.dumps.dump(id, file, { ...PLAIN, ...options }, { ...scope, signal });
}

/** The sum of the sizes of an ELF core's loadable segments, and the machine it is of. */
function readCore(bytes: Uint8Array): { machine: number; memory: bigint } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  assert.equal(view.getUint32(0), 0x7f454c46, "an ELF file");
  assert.equal(view.getUint16(16, true), 4, "a core file");
  const start = Number(view.getBigUint64(32, true));
  let memory = 0n;
  for (let index = 0; index < view.getUint16(56, true); index++) {
    const header = start + index * view.getUint16(54, true);
    if (view.getUint32(header, true) !== 1) continue;
    const size = view.getBigUint64(header + 32, true);
    const end = view.getBigUint64(header + 8, true) + size;
    assert.ok(end <= BigInt(bytes.length), "the segment lies in the file");
    memory += size;
  }
  return { machine: view.getUint16(18, true), memory };
}

qemuTest("a guest's memory is a core file, and the guest stands as it stood before", async (lab) => {
  const { driver, scope, state } = lab;
  const id = await driver.sandboxes?.create(lab.sandbox({ memory_mb: MEMORY_MB }), scope) ?? "";
  // Before its kernel runs the processor has 32 bits, and so has the core.
  const [channel] = driver.channels(await driver.vms.get(id, scope.signal));
  await channel?.ping(scope.signal);
  const file = `${state.root}/dump one.elf`;
  const fractions: number[] = [];
  const progress = ({ fraction }: Progress): void => void fractions.push(fraction ?? -1);
  const told = await driver.dumps?.dump(id, file, PLAIN, { ...scope, progress });
  const whole = Deno.readFileSync(file);
  const core = readCore(whole);
  assert.equal(core.machine, 62, "x86-64");
  assert.ok(core.memory >= BigInt(MEMORY_MB) * 1024n * 1024n);
  assert.deepEqual([told?.format, told?.size_bytes], ["elf", whole.length]);
  assert.ok(
    fractions.length >= MEMORY_MB / 16 && fractions.every((fraction) => fraction >= 0 && fraction <= 1),
  );
  assert.equal((await driver.vms.get(id, scope.signal)).state, "running", "it goes on");

  await driver.pause?.pause(id, scope);
  const sparse = `${state.root}/sparse.elf`;
  const same = `${state.root}/same.elf`;
  const { allocated_bytes: taken, size_bytes: size } = await dump(lab, id, sparse, { sparse: true });
  await dump(lab, id, same);
  assert.deepEqual(
    Deno.readFileSync(sparse),
    Deno.readFileSync(same),
    "holes read as the zeros that they are",
  );
  assert.ok(taken !== null && taken < size, `${taken} of ${size}`);
  assert.equal((await driver.vms.get(id, scope.signal)).state, "paused", "it stays paused");

  const taken_name = await failureOf("hv.conflict", () => dump(lab, id, same));
  assert.equal(taken_name.context.found, "file");
  await dump(lab, id, same, { overwrite: true });
  const windows = await failureOf(
    "hv.unsupported",
    () => dump(lab, id, `${state.root}/w.dmp`, { format: "win_dmp" }),
  );
  assert.equal(windows.context.reason, "no_dump_header");
  await failureOf("hv.not_found", () => dump(lab, id, `${state.root}/no such folder/x`));
  assert.equal((await driver.vms.get(id, scope.signal)).state, "paused");
  const small = `${state.root}/small`;
  await Deno.mkdir(small);
  if (await mountSmall(small)) {
    try {
      const early = await failureOf("hv.io", () => dump(lab, id, `${small}/x`));
      assert.ok(Number(early.context.free_bytes) < MEMORY_MB * 1024 * 1024, "too little room is seen before");
      const full = await failureOf("hv.io", () => dump(lab, id, `${small}/x`, { sparse: true }));
      assert.equal(full.context.reason, "disk_full");
      assert.deepEqual([...Deno.readDirSync(small)], []);
    } finally {
      await new Deno.Command("umount", { args: [small] }).output();
    }
  }
  assert.equal((await driver.vms.get(id, scope.signal)).state, "paused");

  const left = [...Deno.readDirSync(state.root)].map(({ name }) => name).filter((name) =>
    name.includes("part")
  );
  assert.deepEqual(left, [], "refused dumps leave nothing");
});

/** A file system of 1 MiB; only root may mount one. */
async function mountSmall(folder: string): Promise<boolean> {
  try {
    const args = ["-t", "tmpfs", "-o", "size=1m", "none", folder];
    return (await new Deno.Command("mount", { args, stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}

qemuTest("a dump that is cancelled ends at once, and the guest goes on", async (lab) => {
  const { driver, scope, state } = lab;
  const id = await driver.vms.create(lab.vm({ memory_mb: 1024 }), scope);
  await failureOf("hv.conflict", () => dump(lab, id, `${state.root}/off.elf`));
  await driver.vms.start(id, scope);
  const leave = new AbortController();
  const progress = (): void => leave.abort(new HvError("hv.cancelled", "enough"));
  const signal = AbortSignal.any([scope.signal, leave.signal]);
  const file = `${state.root}/left.elf`;
  await failureOf(
    "hv.cancelled",
    async () => await driver.dumps?.dump(id, file, PLAIN, { signal, progress }),
  );
  assert.equal((await driver.vms.get(id, scope.signal)).state, "running");
  assert.deepEqual([...Deno.readDirSync(state.root)].filter(({ name }) => name.includes("left")), []);
  // What a killed call leaves: the note, and the file that it had begun.
  const begun = `${state.root}/.elsewhere.${id}.part`;
  await Deno.writeTextFile(begun, "half");
  await Deno.writeTextFile(`${state.vm(id)}/dump.txt`, begun);
  const { size_bytes } = await dump(lab, id, file, { sparse: true });
  assert.equal(await lab.host.files.stat(begun), undefined);
  assert.ok(size_bytes > 1024 ** 3, "the next dump is whole");
});
