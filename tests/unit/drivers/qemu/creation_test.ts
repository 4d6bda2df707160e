import assert from "node:assert/strict";
import { bringIntoBeing } from "../../../../src/drivers/qemu/creation.ts";
import { removeRuntimeFolder, RuntimeFolder } from "../../../../src/drivers/qemu/runtime_folder.ts";
import { lockPath, takeVmLock, tryTakeVmLock } from "../../../../src/drivers/qemu/vm_lock.ts";
import type { VmRecord } from "../../../../src/drivers/qemu/records.ts";
import type { Host } from "../../../../src/host/host.ts";
import { failureOf } from "../../../support/failures.ts";
import { processOf, type QemuBench, recordOf, VM_ID, withQemu } from "../../../support/qemu_context.ts";

/** The VM of which the tests speak, while its machine runs. */
function runningVm({ host, context }: QemuBench): VmRecord {
  host.processes.table.push(processOf(context, VM_ID));
  return { ...recordOf(), runtime: RuntimeFolder.of(host, VM_ID).path };
}

const failing = (): Promise<never> => Promise.reject(new Error("not this time"));

Deno.test("who finds a VM's lock taken leaves it to its holder, file and all", () =>
  withQemu(async ({ context, records, scope }) => {
    await using _held = await takeVmLock(context, VM_ID, "starting", "absent");
    const { ino } = await Deno.stat(lockPath(context, VM_ID));
    const making = () => bringIntoBeing(context, records, VM_ID, () => assert.fail("it was begun"), scope);
    const failure = await failureOf("hv.conflict", making);
    assert.equal(failure.context.found, "starting");
    assert.equal((await Deno.stat(lockPath(context, VM_ID))).ino, ino);
    assert.equal(await tryTakeVmLock(context, VM_ID, "stopping"), undefined);
  }));

Deno.test("a VM that does not come into being is taken back under its lock, which goes last", () =>
  withQemu(async (bench) => {
    const { host, context, records, scope } = bench;
    const record = runningVm(bench);
    const steps: [string, boolean][] = [];
    const note = async (what: string): Promise<void> => {
      steps.push([what, await tryTakeVmLock(context, VM_ID, "starting") === undefined]);
    };
    const watched: Host = {
      ...host,
      files: {
        ...host.files,
        async rename(from, to) {
          await note(`rename ${to.startsWith(`${context.state.vms}/.`) ? "back" : "forth"}`);
          await host.files.rename(from, to);
        },
        async remove(path) {
          if (path.startsWith(context.state.vms)) await note("remove");
          await host.files.remove(path);
        },
      },
    };
    host.processes.onSignal = (pid) => host.processes.end(pid);
    const { kill } = host.processes;
    host.processes.kill = async (pid, signal) => {
      await note(signal);
      return await kill.call(host.processes, pid, signal);
    };
    const next = async () => {
      await Deno.mkdir(record.runtime, { recursive: true });
      return await failing();
    };
    const made = bringIntoBeing(
      { ...context, host: watched },
      records,
      VM_ID,
      () => Promise.resolve(record),
      scope,
      next,
    );
    await assert.rejects(made, /not this time/);
    assert.deepEqual(steps, [["rename forth", true], ["TERM", true], ["rename back", true], [
      "remove",
      true,
    ]]);
    assert.deepEqual([...Deno.readDirSync(context.state.vms)], []);
    assert.equal(await host.files.stat(record.runtime), undefined);
    assert.equal(await host.files.stat(lockPath(context, VM_ID)), undefined);
  }));

Deno.test("what is still written into a VM by its name does not bring it back", () =>
  withQemu(async (bench) => {
    const { host, context, records, scope } = bench;
    const record = { ...recordOf(), runtime: RuntimeFolder.of(host, VM_ID).path };
    let late: Promise<unknown> = Promise.resolve();
    const watched: Host = {
      ...host,
      files: {
        ...host.files,
        async remove(path) {
          if (path.startsWith(context.state.vms)) {
            late = failureOf("hv.not_found", () => records.save(record));
            await late;
          }
          await host.files.remove(path);
        },
      },
    };
    const fill = () => Promise.resolve(record);
    await assert.rejects(bringIntoBeing({ ...context, host: watched }, records, VM_ID, fill, scope, failing));
    await late;
    assert.deepEqual([...Deno.readDirSync(context.state.vms)], []);
  }));

Deno.test("the machine of an adopted VM that stays unknown goes on, with its runtime folder", () =>
  withQemu(async (bench) => {
    const { host, context, records, scope } = bench;
    const record = { ...runningVm(bench), adopted: { monitor: "/theirs.qmp" } };
    await Deno.mkdir(record.runtime, { recursive: true });
    const fill = () => Promise.resolve(record);
    await assert.rejects(bringIntoBeing(context, records, VM_ID, fill, scope, failing), /not this time/);
    assert.deepEqual(host.processes.signals, []);
    assert.ok(await removeRuntimeFolder(host, new RuntimeFolder(record.runtime)));
    assert.equal(await records.find(VM_ID), undefined);
  }));

Deno.test("a VM that is there stays as it is when one with its id is made", () =>
  withQemu(async ({ context, records, scope, addVm }) => {
    const known = await addVm();
    const fill = () => Promise.resolve({ ...known, name: "another" });
    await failureOf("hv.io", () => bringIntoBeing(context, records, VM_ID, fill, scope));
    assert.deepEqual(await records.get(VM_ID), known);
    assert.deepEqual([...Deno.readDirSync(context.state.vms)].map(({ name }) => name), [VM_ID]);
  }));
