import assert from "node:assert/strict";
import { ConsoleWatch } from "../../../../../src/drivers/qemu/crashes/console_watch.ts";
import { type QemuBench, VM_ID, withQemu } from "../../../../support/qemu_context.ts";

const PANIC = "[    4.848990] Kernel panic - not syncing: sysrq triggered crash\n";

/** A watch whose looks the test makes: each `look` is the end of one pause. */
function watchOf({ context }: QemuBench, at?: number): {
  watch: ConsoleWatch;
  heard: () => number;
  busy: (is: boolean) => void;
  print: (text: string) => void;
  look: () => Promise<void>;
} {
  let heard = 0;
  let isBusy = false;
  let wake = (): void => {};
  let asleep = (): void => {};
  let sleeping = new Promise<void>((resolve) => asleep = resolve);
  const sleep = (_: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      wake = resolve;
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      asleep();
    });
  const { host } = context;
  const slow = {
    ...context,
    host: { ...host, files: host.files, clock: { now: () => 0, monotonic: () => 0, sleep } },
  };
  const log = `${context.state.vm(VM_ID)}/serial.log`;
  const watch = new ConsoleWatch(slow, VM_ID, {
    onPanic: () => Promise.resolve(void heard++),
    isBusy: () => isBusy,
  }, at);
  return {
    watch,
    heard: () => heard,
    busy: (is) => void (isBusy = is),
    print: (text) => Deno.writeTextFileSync(log, text, { append: true }),
    async look() {
      await sleeping;
      sleeping = new Promise((resolve) => asleep = resolve);
      wake();
      await sleeping;
    },
  };
}

Deno.test("a panic is heard once, whole or cut in two by a look, and only while somebody listens", () =>
  withQemu(async (bench) => {
    await bench.addVm();
    const { watch, heard, print, look } = watchOf(bench, 0);
    print("[    0.100000] Linux version 6.1.0\n");
    watch.watch(true);
    watch.watch(true);
    await look();
    assert.equal(heard(), 0);
    print(PANIC.slice(0, 20));
    await look();
    print(PANIC.slice(20));
    await look();
    await look();
    assert.equal(heard(), 1);
    for (let turn = 0; turn < 3; turn++) await look();
    assert.equal(heard(), 1);
    watch.watch(false);
    print(PANIC);
    watch.watch(true);
    for (let turn = 0; turn < 3; turn++) await look();
    assert.equal(heard(), 1, "what was printed before is over");
    watch.watch(false);
  }));

Deno.test("what stood there before, what a reset has made old and what belongs to a crash that is kept is no news", () =>
  withQemu(async (bench) => {
    await bench.addVm();
    const { watch, heard, busy, print, look } = watchOf(bench);
    print(PANIC);
    watch.watch(true);
    await look();
    print(PANIC.slice(0, 30));
    await look();
    watch.skip();
    print(PANIC.slice(30));
    for (let turn = 0; turn < 3; turn++) await look();
    busy(true);
    print(PANIC);
    await look();
    busy(false);
    for (let turn = 0; turn < 3; turn++) await look();
    assert.equal(heard(), 0);
    print(`somebody writes about a ${PANIC.slice(15, 40)}\n`);
    await look();
    assert.equal(heard(), 0);
    print(PANIC);
    for (let turn = 0; turn < 3; turn++) await look();
    assert.equal(heard(), 1);
    watch.watch(false);
  }));
