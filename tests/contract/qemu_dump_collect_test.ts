/** Dumps fetched from real machines: files of a guest, memory as a core file, memory in the Windows format. */

import assert from "node:assert/strict";
import type { DumpCollection } from "../../src/contract/dump_collect.ts";
import { triageDumpFile } from "../../src/debugger/triage/triage_file.ts";
import { collectDumps } from "../../src/flows/crashes/collect_dumps.ts";
import { openChannel } from "../../src/flows/guest/open_channel.ts";
import { dumpMachine } from "../support/machine_dump.ts";
import { writeMachine } from "../support/machine_writer.ts";
import { failureOf } from "../support/failures.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";
import { windowsGuestDisk } from "../support/windows_guest.ts";

const ALL = { guest: true, memory: true, sparse: false, overwrite: false };

async function collect(
  { host, driver, scope }: QemuLab,
  id: string,
  output: string,
  options: Partial<typeof ALL> = {},
): Promise<DumpCollection> {
  const vm = await driver.vms.get(id, scope.signal);
  return await collectDumps(host, driver, vm, { output, ...ALL, ...options }, scope);
}

qemuTest("a Linux guest's dumps and its memory are fetched, and each is named", async (lab) => {
  const { driver, scope, state } = lab;
  const id = await driver.sandboxes?.create(lab.sandbox(), scope) ?? "";
  const channel = openChannel(driver, await driver.vms.get(id, scope.signal));
  await channel.ping(scope.signal);
  const written = dumpMachine(writeMachine("x64"), "fdmp");
  const put = async (path: string, bytes: Uint8Array): Promise<void> => {
    const parts = [bytes];
    await channel.writeFile(
      path,
      () => Promise.resolve(parts.shift() ?? null),
      { overwrite: false },
      scope.signal,
    );
  };
  await put("/var/crash/127.0.0.1-2026/vmcore", written);
  await put("/var/crash/127.0.0.1-2026/vmcore-dmesg.txt", new TextEncoder().encode("words"));
  await put("/var/crash/it's a $dump.dmp", new TextEncoder().encode("no dump at all"));
  const output = `${state.root}/new folder/dumps`;
  const { files, skipped } = await collect(lab, id, output);
  assert.deepEqual(skipped, []);
  assert.deepEqual(files.map(({ source, guest_path, dump_kind }) => [source, guest_path, dump_kind]), [
    ["guest", "/var/crash/it's a $dump.dmp", null],
    ["guest", "/var/crash/127.0.0.1-2026/vmcore", "bitmap_full"],
    ["memory", undefined, "elf_core"],
  ]);
  assert.deepEqual(Deno.readFileSync(`${output}/box-127.0.0.1-2026-vmcore`), written);
  assert.match(files[0]?.failure ?? "", /Cannot read the dump/);
  assert.match(files[2]?.os_version ?? "", /^\d+\.\d+\./, "the guest's kernel says who it is");
  const sparse = await collect(lab, id, output, { guest: false, sparse: true, overwrite: true });
  const [core] = sparse.files;
  assert.equal(core?.memory?.reduced, true, core?.memory?.reason);
  assert.equal(core?.size_bytes, (await Deno.stat(core?.path ?? "")).size);
  assert.ok(core.size_bytes < (files[2]?.size_bytes ?? 0) / 2, `${core.size_bytes} bytes are left`);
  const again = await failureOf("hv.conflict", () => collect(lab, id, output, { guest: false }));
  assert.equal(again.context.found, "file");
  assert.equal((await collect(lab, id, output, { memory: false, overwrite: true })).files.length, 2);
});

qemuTest("a guest that publishes its header gives the Windows format, written by QEMU", async (lab) => {
  const { driver, host, scope, state } = lab;
  const memory = writeMachine("x64");
  const disk = `${state.root}/guest.raw`;
  await Deno.writeFile(disk, windowsGuestDisk(memory));
  await driver.images?.import({ name: "win", disk }, scope);
  const id = await driver.vms.create(lab.vm({ name: "win", image: "win", memory_mb: 64, cpus: 2 }), scope);
  await failureOf("hv.conflict", () => collect(lab, id, state.root));
  await driver.vms.start(id, scope);
  const path = `${state.root}/dumps/win-memory.dmp`;
  for (;;) {
    // The header is there once its boot sector has run.
    const { files } = await collect(lab, id, `${state.root}/dumps`, { guest: false, overwrite: true });
    if (files[0]?.path === path) {
      assert.deepEqual([files[0].dump_kind, files[0].bugcheck_code, files[0].processors], [
        "full",
        "0x000000d1",
        2,
      ]);
      break;
    }
  }
  const bytes = Deno.readFileSync(path);
  const body = memory.body();
  assert.equal(bytes.length, 0x2000 + body.length);
  const triage = await triageDumpFile(host.files, host.clock, { path, full: false });
  assert.equal(triage.culprit?.module, "evil.sys");
  assert.equal(triage.module_count, 2);
  await driver.pause?.pause(id, scope);
  assert.equal((await collect(lab, id, `${state.root}/paused`)).skipped[0]?.source, "guest");
});
