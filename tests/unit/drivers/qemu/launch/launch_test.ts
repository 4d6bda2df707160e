import assert from "node:assert/strict";
import { HvError } from "../../../../../src/base/errors.ts";
import { uuidOf } from "../../../../../src/base/ids.ts";
import { launch, type LaunchOptions } from "../../../../../src/drivers/qemu/launch/launch.ts";
import { RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";
import { type QemuBench, VM_ID, withQemu } from "../../../../support/qemu_context.ts";

function optionsOf({ host, scope }: QemuBench): Omit<LaunchOptions, "onSpawned"> {
  const runtime = RuntimeFolder.of(host, VM_ID);
  return {
    id: VM_ID,
    plan: {
      uuid: uuidOf(VM_ID),
      name: "web",
      machine: "pc-q35-7.2",
      accelerator: "tcg",
      memory_mb: 256,
      cpus: 1,
      boot: { kind: "nothing" },
      runtime,
      serialLog: `${host.root}/serial.log`,
      confined: true,
    },
    runtime,
    log: `${host.root}/qemu.log`,
    tiedToUs: false,
    signal: scope.signal,
  };
}

Deno.test("a start that fails is over when its record has been written", () =>
  withQemu(async (bench) => {
    const { host, context } = bench;
    const options = optionsOf(bench);
    const order: string[] = [];
    const written = Promise.withResolvers<void>();
    const forgotten = Promise.withResolvers<void>();
    host.processes.onStart = () =>
      Promise.resolve({
        pid: 77,
        ended: Promise.resolve({ code: 1, signal: null }),
        forget: () => forgotten.resolve(),
      });
    const launching = launch(context, { ...options, onSpawned: () => written.promise }).then(
      () => assert.fail("a QEMU that has ended was started"),
      (error) => {
        assert.ok(error instanceof HvError);
        order.push("failed");
      },
    );
    await forgotten.promise;
    // Given back when nobody waits for the monitor any more: only the record's write is left.
    using _turn = await host.locks.take(options.runtime.monitorLock("calls"));
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
    order.push("written");
    written.resolve();
    await launching;
    assert.deepEqual(order, ["written", "failed"]);
  }));

Deno.test("a record that cannot be written ends the start and the machine", () =>
  withQemu(async (bench) => {
    const { host, context } = bench;
    const ended = Promise.withResolvers<{ code: number | null; signal: string | null }>();
    host.processes.table.push({ pid: 77, started: "Sun Nov 29 12:00:00 2026", args: "qemu-system-x86_64" });
    host.processes.onSignal = (_, signal) => ended.resolve({ code: null, signal });
    host.processes.onStart = () => Promise.resolve({ pid: 77, ended: ended.promise, forget: () => {} });
    const full = new HvError("hv.io", "The disk is full");
    const onSpawned = () => Promise.reject(full);
    await assert.rejects(launch(context, { ...optionsOf(bench), onSpawned }), full);
    assert.deepEqual(host.processes.signals, ["KILL 77"]);
  }));
