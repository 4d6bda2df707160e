import assert from "node:assert/strict";
import { readHeard } from "../../../../../src/drivers/qemu/crashes/console_note.ts";
import { findPastPanic } from "../../../../../src/drivers/qemu/crashes/console_past.ts";
import { ConsoleWatch, type HeardPanic } from "../../../../../src/drivers/qemu/crashes/console_watch.ts";
import type { VmRecord } from "../../../../../src/drivers/qemu/records.ts";
import { type QemuBench, VM_ID, withQemu } from "../../../../support/qemu_context.ts";

const PANIC = "[    4.848990] Kernel panic - not syncing: sysrq triggered crash\n";

/** A watch whose looks the test makes: each `look` is the end of one pause. */
function watchOf({ context }: QemuBench, record: VmRecord, at?: number): {
  watch: ConsoleWatch;
  heard: () => number;
  panics: HeardPanic[];
  busy: (is: boolean) => void;
  print: (text: string) => void;
  look: () => Promise<void>;
} {
  const panics: HeardPanic[] = [];
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
  const watch = new ConsoleWatch(slow, record, {
    onPanic: (panic) => Promise.resolve(void panics.push(panic)),
    isBusy: () => isBusy,
  }, at);
  return {
    watch,
    heard: () => panics.length,
    panics,
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
    const record = await bench.addVm();
    const { watch, heard, print, look } = watchOf(bench, record, 0);
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
    await watch.close();
  }));

Deno.test("what stood there before, what a reset has made old and what belongs to a crash that is kept is no news", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    const { watch, heard, busy, print, look } = watchOf(bench, record);
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
    await watch.close();
  }));

const END = "[    4.850000] ---[ end Kernel panic - not syncing: sysrq triggered crash ]---\n";
const MESSAGE = "sysrq triggered crash";

Deno.test("whoever comes next reads from where the last one stopped, and forgets with the policy", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    const first = watchOf(bench, record);
    first.print("printed before anybody listened: " + PANIC);
    first.watch.watch(true);
    await first.look();
    assert.equal(first.heard(), 0);
    await first.watch.close();
    const heard = await readHeard(bench.context, record);
    assert.equal(heard, Deno.statSync(`${bench.context.state.vm(VM_ID)}/serial.log`).size);

    first.print(`a program's words\n${PANIC}${END}`);
    const second = watchOf(bench, record, heard);
    second.watch.watch(true);
    await second.look();
    await second.look();
    assert.deepEqual(second.panics, [{ message: MESSAGE, late: true, isLast: true }]);
    await second.look();
    await second.watch.close();

    const third = watchOf(bench, record, await readHeard(bench.context, record));
    third.watch.watch(true);
    for (let turn = 0; turn < 3; turn++) await third.look();
    assert.equal(third.heard(), 0, "what was acted on is over");
    third.watch.watch(false);
    await third.watch.close();
    assert.equal(await readHeard(bench.context, record), undefined);
  }));

Deno.test("an offset counts for its run only, and a damaged one not at all", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    const path = `${bench.context.state.vm(VM_ID)}/console.json`;
    await Deno.writeTextFile(path, JSON.stringify({ run: record.last_start?.at, at: 7 }));
    assert.equal(await readHeard(bench.context, record), 7);
    const start = { pid: 78, at: "2026-11-29T12:00:00.000Z", accelerator: "tcg", qemu: "7" };
    assert.equal(await readHeard(bench.context, { ...record, last_start: start }), undefined);
    await Deno.writeTextFile(path, "{");
    assert.equal(await readHeard(bench.context, record), undefined);
  }));

/** The last panic of a text, searched from an offset on. */
function past(text: string, from = 0): ReturnType<typeof findPastPanic> {
  const bytes = new TextEncoder().encode(text);
  return findPastPanic({ read: (at, length) => bytes.slice(at, at + length) }, from, bytes.length);
}

Deno.test("the last panic of a past is found however far back, and whether the machine has gone on since", () => {
  const last = { message: MESSAGE, isLast: true };
  const passed = { message: MESSAGE, isLast: false };
  const much = `${"x".repeat(99)}\n`.repeat(30_000);
  assert.equal(past("nothing at all"), null);
  assert.equal(past(`a program prints ${PANIC.slice(15)}`), null);
  assert.deepEqual(past(`${much}${PANIC}`), last);
  assert.deepEqual(past(`${much}${PANIC}${END}\n`), last);
  assert.equal(past(`${PANIC}${END}`, PANIC.length), null);
  assert.deepEqual(past(`${PANIC}${END}login: `), passed);
  assert.deepEqual(past(`${PANIC}[    0.000000] Linux version 6.1.0\n`), passed);
  assert.deepEqual(past(`${PANIC}${much}`), passed);
  const other = PANIC.replace(MESSAGE, "another one");
  assert.deepEqual(past(`${other}${END}Linux version 6.1.0\n${PANIC}${END}`), last);
  for (const shift of [0, 1, 12, 13, 25, 26, 40]) {
    const filler = "y".repeat(2 ** 20 - PANIC.length - shift);
    assert.deepEqual(past(`${PANIC}${filler}`), passed, `a line over the edge of a piece by ${shift}`);
  }
});
