import assert from "node:assert/strict";
import { uuidOf } from "../../../../src/base/ids.ts";
import { isPlainObject, parseJson } from "../../../../src/base/json.ts";
import type { Journal } from "../../../../src/drivers/background_abilities.ts";
import { watchMachine } from "../../../../src/drivers/qemu/machine_watch.ts";
import { RuntimeFolder } from "../../../../src/drivers/qemu/runtime_folder.ts";
import type { NewVmEvent } from "../../../../src/state/events.ts";
import { failureOf } from "../../../support/failures.ts";
import { OTHER_ID, type QemuBench, VM_ID, withQemu } from "../../../support/qemu_context.ts";

/** A journal that keeps everything, and what it knew before. */
class ListJournal implements Journal {
  constructor(readonly events: NewVmEvent[] = []) {}

  add(event: NewVmEvent): void {
    this.events.push(event);
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

/** A monitor whose events the test sends. */
async function listen(
  { host }: QemuBench,
  { id = VM_ID, status = "running" }: { id?: string; status?: string } = {},
): Promise<{ say: (name: string, data?: object) => void; hangUp: () => void }> {
  const runtime = RuntimeFolder.of(host, VM_ID);
  await Deno.mkdir(runtime.path, { recursive: true });
  let answerTo = (_: string): void => {};
  let hangUp = (): void => {};
  const answers: Record<string, unknown> = {
    "qmp_capabilities": {},
    "query-uuid": { UUID: uuidOf(id) },
    "query-status": { status },
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
    const watch = await watchMachine(bench.context, record, journal, bench.scope.signal);
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
    const watch = await watchMachine(bench.context, record, journal, bench.scope.signal);
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
    const watch = await watchMachine(bench.context, record, journal, bench.scope.signal);
    assert.deepEqual(journal.told.slice(2), ['crashed {"late":true}']);
    await watch?.close();
    assert.equal(journal.events.length, 3, "closing our side is not the machine's death");
  }));

Deno.test("nobody on the socket is no machine, and another machine on it is refused", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    const journal = new ListJournal();
    assert.equal(await watchMachine(bench.context, record, journal, bench.scope.signal), undefined);
    await listen(bench, { id: OTHER_ID });
    const { context } = await failureOf(
      "hv.conflict",
      () => watchMachine(bench.context, record, journal, bench.scope.signal),
    );
    assert.equal(context.reason, "foreign_monitor");
    assert.deepEqual(journal.events, []);
  }));
