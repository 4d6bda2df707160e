import assert from "node:assert/strict";
import { uuidOf } from "../../../../../src/base/ids.ts";
import { stopVm } from "../../../../../src/drivers/qemu/power/stop.ts";
import { RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";
import { failureOf } from "../../../../support/failures.ts";
import { processOf, type QemuBench, VM_ID, withQemu } from "../../../../support/qemu_context.ts";
import { listenAsMonitor } from "../../../../support/scripted_monitor.ts";

const HANG_UP = null;

/** Lets a VM run; `press` is what QEMU answers to its button, and may end QEMU on the way. */
async function live(
  { host, context, addVm }: QemuBench,
  press: (end: () => void) => unknown,
): Promise<RuntimeFolder> {
  const runtime = new RuntimeFolder((await addVm()).runtime);
  await Deno.mkdir(runtime.path, { recursive: true });
  host.processes.table.push(processOf(context, VM_ID));
  const monitor = runtime.monitor("calls");
  const end = (): void => {
    host.sockets.silence(monitor);
    host.processes.end(77);
  };
  const answers = { "system_powerdown": () => press(end) };
  await listenAsMonitor(host, monitor, { uuid: uuidOf(VM_ID), answers });
  return runtime;
}

for (const mode of ["button", "shutdown"] as const) {
  Deno.test(`a QEMU that ends while its button is pressed is off all the same (${mode})`, () =>
    withQemu(async (bench) => {
      const { context, records, scope } = bench;
      const runtime = await live(bench, (end) => {
        end();
        return HANG_UP;
      });
      await stopVm(context, records, VM_ID, mode, scope);
      await assert.rejects(Deno.stat(runtime.path), Deno.errors.NotFound);
    }));
}

Deno.test("the button of a QEMU that hangs up and lives on is pressed again", () =>
  withQemu(async (bench) => {
    const { context, records, scope } = bench;
    let pressed = 0;
    await live(bench, (end) => {
      if (++pressed === 1) return HANG_UP;
      end();
      return {};
    });
    await stopVm(context, records, VM_ID, "button", scope);
    assert.equal(pressed, 2);
  }));

Deno.test("a button that QEMU refuses is a failure", () =>
  withQemu(async (bench) => {
    const { context, records, scope } = bench;
    await live(bench, () => undefined);
    const failure = await failureOf("hv.unsupported", () => stopVm(context, records, VM_ID, "button", scope));
    assert.match(failure.message, /system_powerdown/);
  }));
