import assert from "node:assert/strict";
import { uuidOf } from "../../../../../src/base/ids.ts";
import { keepCrashPicture } from "../../../../../src/drivers/qemu/console/crash_picture.ts";
import { QmpSession } from "../../../../../src/drivers/qemu/monitor/qmp.ts";
import { type QemuBench, VM_ID, withQemu } from "../../../../support/qemu_context.ts";
import { listenAsMonitor } from "../../../../support/scripted_monitor.ts";

const AT = Date.parse("2026-11-29T12:00:00Z");

/** Has a crash pictured while `meanwhile` happens to the VM. */
async function keepPicture({ host, context, addVm }: QemuBench, meanwhile: () => void): Promise<unknown> {
  const vm = await addVm();
  await Deno.mkdir(vm.runtime, { recursive: true });
  const monitor = `${vm.runtime}/keeper.qmp`;
  const screendump = ({ filename }: { filename: string }): Record<string, never> => {
    Deno.writeTextFileSync(filename, "P6\n1 1\n255\nabc");
    meanwhile();
    return {};
  };
  await listenAsMonitor(host, monitor, { uuid: uuidOf(VM_ID), answers: { screendump } });
  const connection = await host.sockets.connectUnix(monitor);
  assert.ok(connection !== undefined);
  using session = await QmpSession.open(connection, host.clock);
  return await keepCrashPicture(context, vm, session, AT);
}

Deno.test("the picture of a crash is kept in the VM's folder", () =>
  withQemu(async (bench) => {
    const kept = await keepPicture(bench, () => {});
    const path = `${bench.context.state.vm(VM_ID)}/crashes/2026-11-29T12-00-00.000Z.png`;
    assert.deepEqual(kept, { screenshot: path });
    assert.equal(new TextDecoder().decode(Deno.readFileSync(path).subarray(1, 4)), "PNG");
  }));

Deno.test("a crashed VM that is removed while its picture is taken does not come back for it", () =>
  withQemu(async (bench) => {
    const { context, records } = bench;
    const kept = await keepPicture(
      bench,
      () => Deno.removeSync(context.state.vm(VM_ID), { recursive: true }),
    );
    assert.match(JSON.stringify(kept), /^{"screenshot_problem":/);
    assert.deepEqual((await records.list()).damaged, []);
  }));
