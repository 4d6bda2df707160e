import assert from "node:assert/strict";
import type { Clock } from "../../../../../src/base/clock.ts";
import { uuidOf } from "../../../../../src/base/ids.ts";
import type { CallScope } from "../../../../../src/drivers/call_scope.ts";
import type { QemuContext } from "../../../../../src/drivers/qemu/context.ts";
import { lendFile, takeBackLent } from "../../../../../src/drivers/qemu/disks/lend.ts";
import { type VmRecord, VmRecords } from "../../../../../src/drivers/qemu/records.ts";
import { RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";
import { guestFolder } from "../../../../../src/drivers/qemu/ssh.ts";
import { lockPath, takeVmLock, type VmLock } from "../../../../../src/drivers/qemu/vm_lock.ts";
import { systemClock } from "../../../../../src/host/clock.ts";
import type { Locks } from "../../../../../src/host/locks.ts";
import { failureOf } from "../../../../support/failures.ts";
import { type QemuBench, VM_ID, withQemu } from "../../../../support/qemu_context.ts";
import { listenAsMonitor } from "../../../../support/scripted_monitor.ts";

const LONG_LOOK_MS = 1_000;

/** The disks of a machine whose guest lets go of one when it is asked, unless it is stubborn: then a look takes long. */
class Machine {
  readonly devices = new Set<string>();
  isStubborn = false;
  /** Real time, since files and locks are real, beside what the looks at a stubborn guest have taken. */
  readonly clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + this.#lookedMs };
  #lookedMs = 0;
  readonly #nodes = new Set<string>();

  async listen({ host }: QemuBench, record: VmRecord): Promise<void> {
    await Deno.mkdir(record.runtime, { recursive: true });
    await listenAsMonitor(host, new RuntimeFolder(record.runtime).monitor("calls"), {
      uuid: uuidOf(VM_ID),
      answers: {
        "query-named-block-nodes": () => [...this.#nodes].map((name) => ({ "node-name": name })),
        "query-block": () => {
          if (this.isStubborn) this.#lookedMs += LONG_LOOK_MS;
          return [...this.devices].map(blockOf);
        },
        "qom-list": [{ name: "disk-port-0" }],
        "blockdev-add": (args: { "node-name": string }) => answerAfter(this.#nodes.add(args["node-name"])),
        "blockdev-del": (args: { "node-name": string }) => answerAfter(this.#nodes.delete(args["node-name"])),
        "device_add": ({ serial }: { serial: string }) => answerAfter(this.devices.add(serial)),
        "device_del": ({ id }: { id: string }) => {
          if (!this.isStubborn) this.devices.delete(id.slice("attached-".length));
          return {};
        },
      },
    });
  }
}

/** QEMU's answer to a command that it has carried out. */
function answerAfter(_done: unknown): object {
  return {};
}

function blockOf(key: string): object {
  return {
    qdev: `/machine/peripheral/attached-${key}/virtio-backend`,
    inserted: { "node-name": `hvdisk-${key}`, "file": "/a/file", "drv": "raw", "ro": true },
  };
}

interface Scene {
  bench: QemuBench;
  context: QemuContext;
  machine: Machine;
  /** The file that is lent. */
  file: string;
  warnings: string[];
  scope: CallScope;
}

async function withMachine(work: (scene: Scene) => Promise<void>): Promise<void> {
  await withQemu(async (bench) => {
    const machine = new Machine();
    await machine.listen(bench, await bench.addVm());
    const file = `${bench.host.root}/file`;
    await Deno.writeTextFile(file, "much");
    const warnings: string[] = [];
    const scope = { ...bench.scope, warn: (text: string) => void warnings.push(text) };
    const context = { ...bench.context, host: { ...bench.context.host, clock: machine.clock } };
    await work({ bench, context, machine, file, warnings, scope });
  });
}

/** The surroundings with some locks taken in another way. */
function withLocks(context: QemuContext, changes: Partial<Locks>): QemuContext {
  const { locks } = context.host;
  const all: Locks = {
    tryTake: (path, options) => locks.tryTake(path, options),
    take: (path, signal, options) => locks.take(path, signal, options),
    share: (path, signal) => locks.share(path, signal),
    ...changes,
  };
  return { ...context, host: { ...context.host, locks: all } };
}

function marksOf({ context }: QemuBench): string[] {
  return [...Deno.readDirSync(`${guestFolder(context, VM_ID)}/lent`)].map(({ name }) => name);
}

Deno.test("a disk is given back after other work on the VM, and what came of the lending stands", () =>
  withMachine(async ({ bench, context, machine, file, warnings, scope }) => {
    let other: VmLock | undefined;
    const { locks } = context.host;
    const shared = withLocks(context, {
      async take(path, signal, options) {
        const taking = locks.take(path, signal, options);
        if (path === lockPath(context, VM_ID)) await other?.[Symbol.asyncDispose]();
        return await taking;
      },
    });
    const result = await lendFile(shared, bench.records, VM_ID, file, async (key) => {
      assert.deepEqual([...machine.devices], [key]);
      other = await takeVmLock(context, VM_ID, "dumping", "idle");
      return "copied";
    }, scope);
    assert.deepEqual([result, [...machine.devices], marksOf(bench), warnings], ["copied", [], [], []]);
  }));

Deno.test("a lender whose mark is looked at by another call has it while the disk is lent", () =>
  withMachine(async ({ bench, context, file, scope }) => {
    const { locks } = context.host;
    const isMark = (path: string): boolean => path.includes("/lent/");
    const shared = withLocks(context, {
      async tryTake(path, options) {
        using _other = isMark(path) ? await locks.tryTake(path) : undefined;
        return await locks.tryTake(path, options);
      },
      async take(path, signal, options) {
        const other = isMark(path) ? await locks.tryTake(path) : undefined;
        const taking = locks.take(path, signal, options);
        if (other !== undefined) await Deno.remove(path);
        other?.release();
        return await taking;
      },
    });
    await lendFile(shared, bench.records, VM_ID, file, async (key) => {
      assert.deepEqual(marksOf(bench), [key]);
      using free = await locks.tryTake(`${guestFolder(context, VM_ID)}/lent/${key}`);
      assert.equal(free, undefined);
    }, scope);
  }));

Deno.test("a disk that the guest holds on to costs a warning, and the next call takes it out", () =>
  withMachine(async ({ bench, context, machine, file, warnings, scope }) => {
    machine.isStubborn = true;
    const { records } = bench;
    const work = (): Promise<string> => Promise.resolve("copied");
    assert.equal(await lendFile(context, records, VM_ID, file, work, scope), "copied");
    assert.match(warnings.join(), /could not be taken out again: .* did not let go/);
    assert.deepEqual(marksOf(bench), [...machine.devices]);
    const failing = lendFile(
      context,
      records,
      VM_ID,
      file,
      () => Promise.reject(new Error("no copy")),
      scope,
    );
    await assert.rejects(failing, { message: "no copy" });
    machine.isStubborn = false;
    await takeBackLent(context, records, VM_ID, scope);
    assert.deepEqual([[...machine.devices], marksOf(bench)], [[], []]);
  }));

Deno.test("a VM that is removed as a disk is to be lent does not come back", () =>
  withMachine(async ({ context, file, scope }) => {
    class RemovedMeanwhile extends VmRecords {
      override async get(id: string): Promise<VmRecord> {
        const record = await super.get(id);
        await Deno.remove(context.state.vm(id), { recursive: true });
        return record;
      }
    }
    const records = new RemovedMeanwhile(context);
    const work = (): never => assert.fail("the disk was lent");
    await failureOf("hv.not_found", () => lendFile(context, records, VM_ID, file, work, scope));
    assert.deepEqual([...Deno.readDirSync(context.state.vms)], []);
  }));
