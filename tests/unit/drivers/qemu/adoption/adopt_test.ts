import assert from "node:assert/strict";
import { uuidOf } from "../../../../../src/base/ids.ts";
import { openAdoption } from "../../../../../src/drivers/qemu/adoption/adopt.ts";
import type { QemuContext } from "../../../../../src/drivers/qemu/context.ts";
import { type VmRecord, VmRecords } from "../../../../../src/drivers/qemu/records.ts";
import { prepareRuntimeFolder, RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";
import { lockPath, tryTakeVmLock } from "../../../../../src/drivers/qemu/vm_lock.ts";
import type { Files } from "../../../../../src/host/files.ts";
import { failureOf } from "../../../../support/failures.ts";
import { processOf, type QemuBench, VM_ID, withQemu } from "../../../../support/qemu_context.ts";
import { listenAsMonitor } from "../../../../support/scripted_monitor.ts";

/** Lets a machine run whose monitor is at the path. Answers what its monitor is asked. */
async function startMachine({ host, context }: QemuBench, monitor: string): Promise<string[]> {
  host.processes.table.push(processOf(context, VM_ID));
  return await listenAsMonitor(host, monitor, {
    uuid: uuidOf(VM_ID),
    answers: {
      "query-name": { name: "theirs" },
      "query-memory-size-summary": { "base-memory": 128 * 1024 * 1024 },
      "query-cpus-fast": [{}],
      "qom-get": "pc-q35-7.2-machine",
      "qom-list": [],
      "quit": null,
    },
  });
}

/** The same surroundings where the monitor's path counts as a socket, and some files behave otherwise. */
function seeing({ host, context }: QemuBench, monitor: string, changes: Partial<Files> = {}): QemuContext {
  const { files } = host;
  const stat: Files["stat"] = async (path, options) => {
    const facts = await files.stat(path, options);
    return facts === undefined || path !== monitor ? facts : { ...facts, kind: "other" };
  };
  return { ...context, host: { ...host, files: { ...files, stat, ...changes } } };
}

Deno.test("a machine in another state folder's hands is not adopted, and neither ended nor cut off", () =>
  withQemu(async (bench) => {
    const { host, context, records, scope } = bench;
    const runtime = RuntimeFolder.of(host, VM_ID);
    await prepareRuntimeFolder(host, runtime, { vm: VM_ID, state: "/another" });
    const monitor = runtime.monitor("calls");
    const asked = await startMachine(bench, monitor);
    const { adopt } = openAdoption(seeing(bench, monitor), records);
    const failure = await failureOf("hv.conflict", () => adopt({ locator: monitor }, scope));
    assert.match(failure.message, /it belongs to vm-.* of the state folder "\/another"/);
    assert.deepEqual([asked.includes("quit"), host.processes.signals], [false, []]);
    assert.deepEqual([...Deno.readDirSync(runtime.path)].map(({ name }) => name).sort(), [
      "calls.qmp",
      "owner.json",
    ]);
    assert.deepEqual([...Deno.readDirSync(context.state.vms)], []);
    assert.equal(await host.files.stat(lockPath(context, VM_ID)), undefined);
  }));

Deno.test("an adoption that fails half-way takes its runtime folder back under the VM's lock", () =>
  withQemu(async (bench) => {
    const { host, context, records, scope } = bench;
    const runtime = RuntimeFolder.of(host, VM_ID);
    const monitor = `${host.root}/theirs.qmp`;
    const asked = await startMachine(bench, monitor);
    let wasLocked: boolean | undefined;
    const seen = seeing(bench, monitor, {
      makeLink: () => Promise.reject(new Error("no links here")),
      async remove(path) {
        if (path === runtime.path) wasLocked = await tryTakeVmLock(context, VM_ID, "starting") === undefined;
        await host.files.remove(path);
      },
    });
    await assert.rejects(openAdoption(seen, records).adopt({ locator: monitor }, scope), /no links here/);
    assert.deepEqual([wasLocked, await host.files.stat(runtime.path)], [true, undefined]);
    assert.deepEqual([asked.includes("quit"), host.processes.signals], [false, []]);
    assert.deepEqual([...Deno.readDirSync(context.state.vms)], []);
  }));

Deno.test("of two calls that adopt one machine the later one is told, and takes nothing back from the first", () =>
  withQemu(async (bench) => {
    const { host, context, scope } = bench;
    const monitor = `${host.root}/theirs.qmp`;
    await startMachine(bench, monitor);
    const seen = seeing(bench, monitor);
    class LateRecords extends VmRecords {
      first: Promise<string> | undefined;
      override async find(id: string): Promise<VmRecord | undefined> {
        const found = await super.find(id);
        // The other call does all of its work between this look and what it leads to.
        await (this.first ??= openAdoption(seen, new VmRecords(context)).adopt({
          locator: monitor,
          name: "first",
        }, scope));
        return found;
      }
    }
    const records = new LateRecords(context);
    const second = () => openAdoption(seen, records).adopt({ locator: monitor, name: "second" }, scope);
    const failure = await failureOf("hv.conflict", second);
    assert.equal(failure.message, "Another call has adopted this VM in the meantime");
    assert.equal((await records.get(VM_ID)).name, "first");
    const runtime = RuntimeFolder.of(host, VM_ID);
    assert.equal((await host.files.stat(runtime.monitor("calls")))?.kind, "link");
  }));
