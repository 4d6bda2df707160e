import assert from "node:assert/strict";
import { uuidOf } from "../../../../src/base/ids.ts";
import { memoryFile } from "../../../../src/drivers/qemu/checkpoints/files.ts";
import { saveBook } from "../../../../src/drivers/qemu/checkpoints/records.ts";
import { findOrphans } from "../../../../src/drivers/qemu/orphans/find.ts";
import { removeOrphan } from "../../../../src/drivers/qemu/orphans/remove.ts";
import { RuntimeFolder } from "../../../../src/drivers/qemu/runtime_folder.ts";
import { Sandboxes } from "../../../../src/drivers/qemu/sandboxes.ts";
import { lockPath, makerLockPath } from "../../../../src/drivers/qemu/vm_lock.ts";
import { becomeKeeper, wantKeeper } from "../../../../src/state/keeper_mark.ts";
import { OTHER_ID, processOf, type QemuBench, VM_ID, withQemu } from "../../../support/qemu_context.ts";

const PAST = "2026-11-29T11:59:59.000Z";
const FUTURE = "2026-11-29T13:00:00.000Z";

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

async function addRuntimeFolder({ host }: QemuBench, id: string, state: string): Promise<string> {
  const { path, ownerFile } = RuntimeFolder.of(host, id);
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(ownerFile, JSON.stringify({ vm: id, state }));
  return path;
}

function sandboxesOf({ context, records }: QemuBench): Sandboxes {
  return new Sandboxes(context, records);
}

Deno.test("a VM and a sandbox within its lease are nobody's orphans", () =>
  withQemu(async (bench) => {
    await bench.addVm();
    await bench.addVm({ id: OTHER_ID, sandbox: { expires_at: FUTURE } });
    assert.deepEqual(await findOrphans(bench.context, bench.records, sandboxesOf(bench)), []);
    assert.deepEqual(await sandboxesOf(bench).sweep(bench.scope), []);
  }));

Deno.test("a sandbox is swept when its lease has run out, with its process and every file", () =>
  withQemu(async (bench) => {
    const { context, records, host } = bench;
    await bench.addVm({ sandbox: { expires_at: PAST } });
    const runtime = await addRuntimeFolder(bench, VM_ID, context.state.root);
    host.processes.table.push(processOf(context, VM_ID));
    const sandboxes = sandboxesOf(bench);
    const [orphan] = await findOrphans(context, records, sandboxes);
    assert.deepEqual([orphan?.kind, orphan?.pid], ["sandbox_expired", 77]);
    assert.deepEqual(orphan?.paths, [context.state.vm(VM_ID), runtime]);
    assert.ok((orphan?.size_bytes ?? 0) > 0);
    const [removed] = await sandboxes.sweep(bench.scope);
    assert.deepEqual([removed?.id, removed?.removed], [VM_ID, true]);
    assert.deepEqual(host.processes.signals, ["TERM 77"]);
    for (const path of [context.state.vm(VM_ID), runtime, lockPath(context, VM_ID)]) {
      assert.ok(!exists(path), path);
    }
  }));

Deno.test("a sandbox whose maker lives stays, and goes when the maker's lock is free", () =>
  withQemu(async (bench) => {
    const { context, records, host } = bench;
    await bench.addVm({ sandbox: { expires_at: FUTURE, maker_pid: 5 } });
    const sandboxes = sandboxesOf(bench);
    {
      using _maker = await host.locks.take(makerLockPath(context, VM_ID));
      assert.deepEqual(await findOrphans(context, records, sandboxes), []);
      assert.deepEqual(await sandboxes.sweep(bench.scope), []);
    }
    const [orphan] = await findOrphans(context, records, sandboxes);
    assert.equal(orphan?.kind, "sandbox_abandoned");
    assert.equal((await sandboxes.sweep(bench.scope)).length, 1);
  }));

Deno.test("a sandbox that a call is at work on is not swept", () =>
  withQemu(async (bench) => {
    await bench.addVm({ sandbox: { expires_at: PAST } });
    using _work = await bench.host.locks.take(lockPath(bench.context, VM_ID));
    assert.deepEqual(await sandboxesOf(bench).sweep(bench.scope), []);
    assert.ok(exists(bench.context.state.vm(VM_ID)));
  }));

Deno.test("what a killed call left half made or half removed is swept, unless its call still lives", () =>
  withQemu(async (bench) => {
    const { state } = bench.context;
    const folders = [`${state.vms}/.making-${VM_ID}`, `${state.vms}/.removing-${OTHER_ID}`];
    for (const folder of folders) await Deno.mkdir(`${folder}/deep`, { recursive: true });
    {
      using _work = await bench.host.locks.take(lockPath(bench.context, VM_ID));
      const orphans = await findOrphans(bench.context, bench.records, sandboxesOf(bench));
      assert.deepEqual(orphans.map(({ id }) => id), [`.removing-${OTHER_ID}`]);
      await sandboxesOf(bench).sweep(bench.scope);
      assert.deepEqual(folders.map(exists), [true, false]);
    }
    await sandboxesOf(bench).sweep(bench.scope);
    assert.deepEqual(folders.map(exists), [false, false]);
  }));

Deno.test("a folder with a damaged record is an orphan with its living process, and both can be removed", () =>
  withQemu(async (bench) => {
    const { context, records, host, scope } = bench;
    await bench.addVm();
    await Deno.writeTextFile(`${context.state.vm(VM_ID)}/vm.json`, "garbage");
    host.processes.table.push(processOf(context, VM_ID));
    const sandboxes = sandboxesOf(bench);
    const [orphan] = await findOrphans(context, records, sandboxes);
    assert.ok(orphan !== undefined);
    assert.deepEqual([orphan.kind, orphan.id, orphan.pid], ["folder_without_record", VM_ID, 77]);
    assert.match(orphan.reason, /; its machine runs as process 77$/);
    const removed = await removeOrphan(context, records, sandboxes, orphan, scope);
    assert.equal(removed.removed, true);
    assert.deepEqual(host.processes.signals, ["TERM 77"]);
    assert.ok(!exists(context.state.vm(VM_ID)));
  }));

Deno.test("processes and runtime folders count only when they name this state folder", () =>
  withQemu(async (bench) => {
    const { context, records, host } = bench;
    const elsewhere = processOf(context, OTHER_ID, { pid: 88 });
    elsewhere.args = elsewhere.args.replace(context.state.root, "/another/state");
    host.processes.table.push(processOf(context, VM_ID), elsewhere);
    await addRuntimeFolder(bench, OTHER_ID, "/another/state");
    const third = "vm-aaaaaaaa-7654-4210-8fed-cba987654321";
    await addRuntimeFolder(bench, third, context.state.root);
    await Deno.mkdir(`${host.root}/run/nobody`);
    const orphans = await findOrphans(context, records, sandboxesOf(bench));
    assert.deepEqual(orphans.map(({ kind, id }) => [kind, id]), [["process", VM_ID], [
      "runtime_folder",
      third,
    ]]);
  }));

Deno.test("what has come to life between the look and the removal stays", () =>
  withQemu(async (bench) => {
    const { context, records, scope } = bench;
    const record = await bench.addVm({ sandbox: { expires_at: PAST } });
    const sandboxes = sandboxesOf(bench);
    const [orphan] = await findOrphans(context, records, sandboxes);
    assert.ok(orphan !== undefined);
    await records.save({ ...record, sandbox: { expires_at: FUTURE } });
    const removed = await removeOrphan(context, records, sandboxes, orphan, scope);
    assert.equal(removed.removed, false);
    assert.match(removed.warnings?.[0] ?? "", /in use/);
    assert.ok(exists(context.state.vm(VM_ID)));
  }));

Deno.test("a stray file among the VMs' folders is removed like a folder", () =>
  withQemu(async (bench) => {
    const { context, records, scope } = bench;
    await Deno.mkdir(context.state.vms, { recursive: true });
    const path = `${context.state.vms}/notes.txt`;
    await Deno.writeTextFile(path, "mine");
    const sandboxes = sandboxesOf(bench);
    const [orphan] = await findOrphans(context, records, sandboxes);
    assert.deepEqual([orphan?.id, orphan?.paths, (orphan?.size_bytes ?? 0) > 0], ["notes.txt", [path], true]);
    assert.ok(orphan !== undefined);
    const { removed, files } = await removeOrphan(context, records, sandboxes, orphan, scope);
    assert.deepEqual([removed, files, exists(path)], [true, [path], false]);
  }));

Deno.test("a stray entry that leads out of the state folder is never followed", () =>
  withQemu(async (bench) => {
    const { context, records, host, scope } = bench;
    await Deno.mkdir(`${host.root}/precious`);
    await Deno.writeTextFile(`${host.root}/precious/file`, "keep me");
    await Deno.mkdir(context.state.vms, { recursive: true });
    await Deno.symlink(`${host.root}/precious`, `${context.state.vms}/stray`);
    const sandboxes = sandboxesOf(bench);
    const [orphan] = await findOrphans(context, records, sandboxes);
    assert.ok(orphan !== undefined);
    await assert.rejects(
      removeOrphan(context, records, sandboxes, orphan, scope),
      /leads out of the state folder/,
    );
    assert.equal(await Deno.readTextFile(`${host.root}/precious/file`), "keep me");
  }));

Deno.test("lock files of VMs that never came to be are swept when they are old and nobody holds them", () =>
  withQemu(async (bench) => {
    const { context, host } = bench;
    await bench.addVm();
    const ids = [
      "vm-aaaaaaaa-0000-4000-8000-000000000001",
      "vm-aaaaaaaa-0000-4000-8000-000000000002",
      OTHER_ID,
      VM_ID,
    ];
    await Deno.mkdir(context.state.locks, { recursive: true });
    const old = new Date(host.clock.now() - 120_000);
    const paths = ids.map((id) => lockPath(context, id));
    for (const path of paths) {
      await Deno.writeTextFile(path, "making");
      await Deno.utime(path, old, old);
    }
    const [, young = ""] = paths;
    await Deno.utime(young, old, new Date(host.clock.now() - 1000));
    using _held = await host.locks.take(lockPath(context, OTHER_ID));
    await sandboxesOf(bench).sweep(bench.scope);
    assert.deepEqual(paths.map(exists), [false, true, true, true]);
  }));

Deno.test("a killed keeper's note is an orphan until it is removed; a living keeper's is none", () =>
  withQemu(async (bench) => {
    const { context, records, host } = bench;
    const sandboxes = sandboxesOf(bench);
    await wantKeeper(host, context.state);
    const facts = { pid: 4711, since: PAST, version: "0.0.0" };
    const lock = await becomeKeeper(host, context.state, facts);
    assert.deepEqual(await findOrphans(context, records, sandboxes), []);
    lock?.release();
    const [orphan] = await findOrphans(context, records, sandboxes);
    assert.ok(orphan !== undefined);
    assert.deepEqual([orphan.kind, orphan.paths], ["keeper", [context.state.keeperWish]]);
    assert.match(orphan.reason, /process 4711, was killed/);
    {
      using _again = await becomeKeeper(host, context.state, facts);
      assert.equal((await removeOrphan(context, records, sandboxes, orphan, bench.scope)).removed, false);
    }
    assert.equal((await removeOrphan(context, records, sandboxes, orphan, bench.scope)).removed, true);
    assert.deepEqual(await findOrphans(context, records, sandboxes), []);
  }));

async function addMemory({ context }: QemuBench, tag: string): Promise<string> {
  const path = memoryFile(context, VM_ID, tag);
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(path, "memory");
  return path;
}

Deno.test("memory that no checkpoint names goes under its VM's lock, and the VM stays", () =>
  withQemu(async (bench) => {
    const { context, records, scope } = bench;
    const sandboxes = sandboxesOf(bench);
    const record = await bench.addVm();
    const kept = `ckpt-${uuidOf(OTHER_ID)}`;
    const stray = await addMemory(bench, `ckpt-${uuidOf(VM_ID)}`);
    const files = [await addMemory(bench, kept), await addMemory(bench, "of-somebody-else")];
    const checkpoint = { id: kept, name: "kept", parent: null, created_at: PAST, disks: [] };
    await saveBook(context, VM_ID, { schema: 1, current: kept, checkpoints: [checkpoint] });
    {
      using _making = await bench.host.locks.take(lockPath(context, VM_ID));
      assert.deepEqual(await findOrphans(context, records, sandboxes), []);
    }
    const [orphan, ...others] = await findOrphans(context, records, sandboxes);
    assert.ok(orphan !== undefined);
    assert.deepEqual(others, []);
    assert.deepEqual([orphan.kind, orphan.name, orphan.paths], ["folder_without_record", record.name, [
      stray,
    ]]);
    const removed = await removeOrphan(context, records, sandboxes, orphan, scope);
    assert.deepEqual([removed.removed, removed.files], [true, [stray]]);
    assert.deepEqual([exists(stray), ...files.map(exists)], [false, true, true]);
    assert.deepEqual(await records.get(VM_ID), record);
    assert.equal((await removeOrphan(context, records, sandboxes, orphan, scope)).removed, false);
    assert.deepEqual(await findOrphans(context, records, sandboxes), []);
  }));

Deno.test("memory that a checkpoint names meanwhile is no leftover any more", () =>
  withQemu(async (bench) => {
    const { context, records, scope } = bench;
    await bench.addVm();
    const id = `ckpt-${uuidOf(VM_ID)}`;
    const path = await addMemory(bench, id);
    const [orphan] = await findOrphans(context, records, sandboxesOf(bench));
    assert.ok(orphan !== undefined);
    const checkpoint = { id, name: "kept", parent: null, created_at: PAST, disks: [] };
    await saveBook(context, VM_ID, { schema: 1, current: id, checkpoints: [checkpoint] });
    const removed = await removeOrphan(context, records, sandboxesOf(bench), orphan, scope);
    assert.deepEqual([removed.removed, exists(path)], [false, true]);
  }));
