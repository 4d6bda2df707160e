import assert from "node:assert/strict";
import { uuidOf } from "../../../../../src/base/ids.ts";
import { isPlainObject, parseJson } from "../../../../../src/base/json.ts";
import type { Journal } from "../../../../../src/drivers/background_abilities.ts";
import type { CrashKeeping, SeenCrash } from "../../../../../src/drivers/crash_abilities.ts";
import { watchMachine, type WatchParts } from "../../../../../src/drivers/qemu/watch/machine_watch.ts";
import { RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";
import type { NewVmEvent } from "../../../../../src/state/events.ts";
import { failureOf } from "../../../../support/failures.ts";
import { OTHER_ID, type QemuBench, VM_ID, withQemu } from "../../../../support/qemu_context.ts";

/** A journal that keeps everything, and what it knew before. */
class ListJournal implements Journal {
  constructor(readonly events: NewVmEvent[] = []) {}

  add(event: NewVmEvent): void {
    this.events.push(event);
    this.#tell();
  }

  #tell = (): void => {};

  /** Resolves when it holds so many. */
  untilAdded(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#tell = () => {
        if (this.events.length >= count) resolve();
      };
    });
  }

  newest(vm: string, kind?: NewVmEvent["event"]): Promise<NewVmEvent | undefined> {
    const fits = (event: NewVmEvent): boolean =>
      event.vm === vm && (kind === undefined || kind === event.event);
    return Promise.resolve(this.events.findLast(fits));
  }

  get told(): string[] {
    return this.events.map(({ event, details }) => `${event} ${JSON.stringify(details)}`);
  }
}

/** Whoever keeps crashes must be named where there are some to keep. */
function partsOf(
  { context }: QemuBench,
  journal: Journal,
  keep: CrashKeeping = () => Promise.reject(new Error("nobody asked for that")),
): WatchParts {
  return { context, journal, keep, tell: () => Promise.reject(new Error("nobody asked for that")) };
}

/** A monitor whose events the test sends. */
async function listen(
  { host }: QemuBench,
  { id = VM_ID, status = "running", more = {} }: {
    id?: string;
    status?: string;
    more?: Record<string, unknown>;
  } = {},
): Promise<{ say: (name: string, data?: object) => void; hangUp: () => void }> {
  const runtime = RuntimeFolder.of(host, VM_ID);
  await Deno.mkdir(runtime.path, { recursive: true });
  let answerTo = (_: string): void => {};
  let hangUp = (): void => {};
  const answers: Record<string, unknown> = {
    "qmp_capabilities": {},
    "query-uuid": { UUID: uuidOf(id) },
    "query-status": { status },
    "query-chardev": [],
    ...more,
  };
  await host.sockets.listen(runtime.monitor("keeper"), (line, answer, end) => {
    const request = parseJson(line);
    if (!isPlainObject(request) || typeof request.execute !== "string") return;
    answerTo = answer;
    hangUp = end;
    answer(JSON.stringify({ return: answers[request.execute], id: request.id }));
  }, JSON.stringify({ QMP: { version: {}, capabilities: [] } }));
  return {
    say: (event, data = {}) =>
      answerTo(JSON.stringify({ event, data, timestamp: { seconds: 1_796_000_000, microseconds: 0 } })),
    hangUp: () => hangUp(),
  };
}

const STARTED = 'started {"name":"name of 0123","pid":77,"accelerator":"tcg","qemu":"7.2.22"}';

Deno.test("a machine's start, what it tells and its death without a word are written down in their order", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    const monitor = await listen(bench);
    const journal = new ListJournal();
    const watch = await watchMachine(partsOf(bench, journal), record, bench.scope.signal);
    assert.ok(watch !== undefined);
    monitor.say("STOP");
    monitor.say("RTC_CHANGE");
    monitor.hangUp();
    await watch.ended;
    assert.deepEqual(journal.told, [STARTED, "paused {}", "died {}"]);
    assert.deepEqual(journal.events.map(({ at }) => at).slice(0, 2), [
      "2026-11-29T11:30:00.000Z",
      new Date(1_796_000_000_000).toISOString(),
    ]);
  }));

Deno.test("what a call is doing with the machine explains its end, and a saving call makes it a save", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    const monitor = await listen(bench);
    const journal = new ListJournal();
    const watch = await watchMachine(partsOf(bench, journal), record, bench.scope.signal);
    await Deno.mkdir(bench.context.state.locks, { recursive: true });
    await Deno.writeTextFile(`${bench.context.state.locks}/${VM_ID}.lock`, "saving");
    monitor.say("SHUTDOWN", { guest: false, reason: "host-qmp-quit" });
    monitor.hangUp();
    await watch?.ended;
    assert.deepEqual(journal.told.slice(1), [
      'saved {"guest":false,"reason":"host-qmp-quit","during":"saving"}',
    ]);
  }));

Deno.test("a start that is known is not told again, but what was missed meanwhile is, marked late", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    await listen(bench, { status: "guest-panicked" });
    const known = { at: record.last_start?.at ?? "", vm: VM_ID, details: {} };
    const journal = new ListJournal([{ ...known, event: "started" }, { ...known, event: "reset" }]);
    const watch = await watchMachine(partsOf(bench, journal), record, bench.scope.signal);
    assert.deepEqual(journal.told.slice(2), ['crashed {"late":true}']);
    await watch?.close();
    assert.equal(journal.events.length, 3, "closing our side is not the machine's death");
  }));

Deno.test("a bug check that nobody heard is told by the processor that keeps it", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    const more = {
      "query-cpus-fast": [{ "qom-path": "/machine/unattached/device[0]" }],
      "qom-get": { type: "hyper-v", arg1: 0x7e, arg2: "0xffffffffc0000005", arg3: 0, arg4: 1, arg5: 2 },
    };
    await listen(bench, { status: "guest-panicked", more });
    const journal = new ListJournal();
    const watch = await watchMachine(partsOf(bench, journal), record, bench.scope.signal);
    await watch?.close();
    assert.deepEqual(journal.events[1]?.details, {
      late: true,
      bug_check: { code: "0x0000007e", parameters: ["0xffffffffc0000005", "0x0", "0x1", "0x2"] },
    });
  }));

Deno.test("nobody on the socket is no machine, and another machine on it is refused", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    const journal = new ListJournal();
    assert.equal(await watchMachine(partsOf(bench, journal), record, bench.scope.signal), undefined);
    await listen(bench, { id: OTHER_ID });
    const { context } = await failureOf(
      "hv.conflict",
      () => watchMachine(partsOf(bench, journal), record, bench.scope.signal),
    );
    assert.equal(context.reason, "foreign_monitor");
    assert.deepEqual(journal.events, []);
  }));

const PANICKED = { action: "pause" };

Deno.test("a crash is written with what was kept of it, without what keeping it does to the machine", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm({ on_crash: "collect" });
    const monitor = await listen(bench);
    const journal = new ListJournal();
    const asked: SeenCrash[] = [];
    let begun = (): void => {};
    const isBegun = new Promise<void>((resolve) => begun = resolve);
    // Who has been asked for the end's reason has heard all that was said before it.
    const { files } = bench.host;
    const read = files.readTextIfPresent.bind(files);
    const isHeard = new Promise<void>((resolve) => {
      files.readTextIfPresent = (path) => {
        if (path.endsWith(".lock")) resolve();
        return read(path);
      };
    });
    const watch = await watchMachine(
      partsOf(bench, journal, async (crash) => {
        asked.push(crash);
        begun();
        await isHeard;
        return { folder: "/kept" };
      }),
      record,
      bench.scope.signal,
    );
    monitor.say("GUEST_PANICKED", PANICKED);
    await isBegun;
    ["RESUME", "RESET", "STOP", "SHUTDOWN"].forEach((event) => monitor.say(event));
    await isHeard;
    monitor.hangUp();
    await watch?.ended;
    const at = new Date(1_796_000_000_000).toISOString();
    const run = record.last_start?.at;
    assert.deepEqual(asked, [{ vm: VM_ID, name: record.name, at, run, policy: "collect", late: false }]);
    assert.equal(journal.events.length, 3);
    assert.match(journal.told[1] ?? "", /^crashed .*"crash":\{"folder":"\/kept"\}/);
    assert.equal(journal.told[2], "stopped {}");
  }));

Deno.test("a crash whose keeping is broken off is not written, so that the next keeper finds it", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm({ on_crash: "triage" });
    const monitor = await listen(bench);
    const journal = new ListJournal();
    let begun = (): void => {};
    const isBegun = new Promise<void>((resolve) => begun = resolve);
    const parts = partsOf(bench, journal, (_, signal) => {
      begun();
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
    const watch = await watchMachine(parts, record, bench.scope.signal);
    monitor.say("GUEST_PANICKED", PANICKED);
    await isBegun;
    await watch?.close();
    assert.deepEqual(journal.told, [STARTED]);
  }));

Deno.test("a panic of the time without a keeper is written down; a machine that has gone on since is left alone", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm({ on_crash: "collect" });
    await listen(bench);
    const home = bench.context.state.vm(VM_ID);
    const run = record.last_start?.at ?? "";
    await Deno.writeTextFile(
      `${home}/serial.log`,
      "heard\n[    4.848990] Kernel panic - not syncing: sysrq triggered crash\n" +
        "[    4.848990] ---[ end Kernel panic - not syncing: sysrq triggered crash ]---\nlogin: ",
    );
    await Deno.writeTextFile(`${home}/console.json`, JSON.stringify({ run, at: 6 }));
    const journal = new ListJournal([{ at: run, vm: VM_ID, details: {}, event: "started" }]);
    const isTold = journal.untilAdded(3);
    const watch = await watchMachine(partsOf(bench, journal), record, bench.scope.signal);
    await isTold;
    await watch?.close();
    const [, crashed, reset] = journal.events;
    assert.deepEqual([crashed?.event, crashed?.details], ["crashed", {
      seen: "console",
      late: true,
      passed: true,
      panic: "sysrq triggered crash",
      crash_problem: "Its guest has gone on since, so that the memory of the crash is lost",
    }]);
    assert.deepEqual([reset?.event, reset?.details], ["reset", { late: true }]);
    assert.equal(await bench.host.files.stat(`${home}/crashed.json`), undefined);
  }));

Deno.test("a failure to keep stands in the event, and a late crash says what is known already", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm({ on_crash: "triage" });
    await listen(bench, { status: "paused" });
    await Deno.writeTextFile(
      `${bench.context.state.vm(VM_ID)}/crashed.json`,
      JSON.stringify({ run: record.last_start?.at }),
    );
    const known = { vm: VM_ID, details: {} };
    const started = record.last_start?.at ?? "";
    const journal = new ListJournal([
      { ...known, at: "2026-11-29T11:00:00.000Z", event: "crashed" },
      { ...known, at: started, event: "started" },
    ]);
    let after: string | undefined;
    const isTold = journal.untilAdded(3);
    const parts = partsOf(bench, journal, (crash) => {
      after = crash.after;
      return Promise.reject(new Error("the disk is full"));
    });
    const watch = await watchMachine(parts, record, bench.scope.signal);
    await isTold;
    await watch?.close();
    assert.equal(after, "2026-11-29T11:00:00.000Z");
    assert.deepEqual(journal.told.slice(2), ['crashed {"late":true,"crash_problem":"the disk is full"}']);
  }));
