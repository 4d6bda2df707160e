/** A state folder on a disk that has become read-only, and on one that is slow. */

import assert from "node:assert/strict";
import { HvError } from "../../src/base/errors.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { openQemuDriver } from "../../src/drivers/qemu/driver.ts";
import type { Host } from "../../src/host/host.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";

async function mount(...args: string[]): Promise<void> {
  const { code, stderr } = await new Deno.Command("mount", { args, stderr: "piped" }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
}

/** Makes a folder read-only until the answer is disposed of. */
async function freeze(folder: string): Promise<AsyncDisposable> {
  await mount("--bind", folder, folder);
  await mount("-o", "remount,bind,ro", folder);
  return {
    async [Symbol.asyncDispose]() {
      const { code, stderr } = await new Deno.Command("umount", { args: [folder], stderr: "piped" }).output();
      assert.equal(code, 0, new TextDecoder().decode(stderr));
    },
  };
}

/** Mounting needs root, and not every container lets even root. */
function canMount(): boolean {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return false;
  const folder = Deno.makeTempDirSync();
  const run = (program: string, ...args: string[]): boolean =>
    new Deno.Command(program, { args, stderr: "null" }).outputSync().success;
  const can = run("mount", "--bind", folder, folder) && run("umount", folder);
  Deno.removeSync(folder);
  return can;
}

async function makeBlank({ driver, state, scope }: QemuLab): Promise<void> {
  await Deno.writeFile(`${state.root}/blank.img`, new Uint8Array(1024 * 1024));
  await driver.images?.import({ name: "blank", disk: `${state.root}/blank.img` }, scope);
}

const SPEC = { image: "blank", memory_mb: 16, network: false };

qemuTest(
  "on a disk that became read-only VMs are seen and can be stopped, changes are refused, and nothing is left",
  async (lab) => {
    const { driver, scope, state } = lab;
    await makeBlank(lab);
    const running = await driver.vms.create(lab.vm({ ...SPEC, name: "running" }), scope);
    const off = await driver.vms.create(lab.vm({ ...SPEC, name: "off" }), scope);
    await driver.vms.start(running, scope);
    const states = async (): Promise<string[]> =>
      (await driver.vms.list(scope.signal)).vms.map(({ name, state }) => `${name} ${state}`).sort();
    {
      await using _frozen = await freeze(state.root);
      assert.deepEqual(await states(), ["off off", "running running"]);
      const refused = async (work: () => Promise<unknown> | undefined): Promise<void> => {
        const error = await Promise.resolve(work()).then(() => undefined, (reason: unknown) => reason);
        assert.ok(error instanceof HvError, String(error));
        assert.match(error.code, /^hv\.(io|permission)$/);
        assert.match(error.message, /read-only/i);
      };
      await refused(() => driver.vms.create(lab.vm({ ...SPEC, name: "new" }), scope));
      await refused(() => driver.vms.start(off, scope));
      await refused(() => driver.checkpoints?.create(running, { name: "c", memory_state: true }, scope));
      await refused(() => driver.copies?.clone(off, "twin", scope));
      await driver.vms.stop(running, "off", scope);
      assert.deepEqual(await states(), ["off off", "running off"]);
    }
    assert.deepEqual(await driver.vms.orphans(scope.signal), []);
    assert.equal([...Deno.readDirSync(state.vms)].length, 2);
    await driver.vms.start(off, scope);
    for (const id of [running, off]) await driver.vms.remove(id, scope);
  },
  canMount(),
);

/** Every change of a file takes its time. */
function slowHost(real: Host, milliseconds: number): Host {
  const late =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) => async (...args: A): Promise<R> => {
      await real.clock.sleep(milliseconds);
      return await work(...args);
    };
  const { files } = real;
  return {
    ...real,
    files: {
      ...files,
      create: late(files.create),
      writeAtomically: late(files.writeAtomically),
      copy: late(files.copy),
      rename: late(files.rename),
      makeFolder: late(files.makeFolder),
      remove: late(files.remove),
    },
  };
}

qemuTest(
  "on a slow disk two hvlabs start, save, resume and delete the same VM, and nothing is left",
  async (lab) => {
    const { scope, state, findings } = lab;
    await makeBlank(lab);
    const host = slowHost(lab.host, 40);
    const open = () => openQemuDriver({ host, state, config: DEFAULT_CONFIG, findings });
    const both = [open(), open()] as const;
    const [first] = both;
    const id = await first.vms.create(lab.vm(SPEC), scope);
    /** One does it; the other finds it done or at work. */
    const together = async (work: (driver: typeof first) => Promise<unknown>): Promise<void> => {
      const results = await Promise.allSettled(both.map(work));
      const failed = results.filter((result) => result.status === "rejected");
      assert.ok(failed.length < both.length, String(failed[0]?.reason));
      for (const { reason } of failed) {
        assert.ok(
          reason instanceof HvError && /^hv\.(conflict|not_found)$/.test(reason.code),
          String(reason),
        );
      }
    };
    await together((driver) => driver.vms.start(id, scope));
    assert.equal((await first.vms.get(id, scope.signal)).state, "running");
    await together((driver) => driver.vms.stop(id, "save", scope));
    assert.equal((await first.vms.get(id, scope.signal)).state, "saved");
    await together((driver) => driver.vms.start(id, scope));
    assert.equal((await first.vms.get(id, scope.signal)).state, "running");
    await together((driver) => driver.vms.remove(id, scope));
    assert.deepEqual((await first.vms.list(scope.signal)).vms, []);
    assert.deepEqual(await first.vms.orphans(scope.signal), []);
    for (const driver of both) await driver.close();
  },
);
