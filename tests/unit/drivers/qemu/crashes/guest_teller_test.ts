/** Kernels that are told what to panic at once they run. */

import assert from "node:assert/strict";
import { HvError } from "../../../../../src/base/errors.ts";
import type { JsonValue } from "../../../../../src/base/json.ts";
import type { PanicCause } from "../../../../../src/contract/crash_policy.ts";
import { GuestTeller } from "../../../../../src/drivers/qemu/crashes/guest_teller.ts";
import { awaitTold, readTold, toldFacts } from "../../../../../src/drivers/qemu/crashes/told.ts";
import type { VmRecord } from "../../../../../src/drivers/qemu/records.ts";
import { becomeKeeper, wantKeeper } from "../../../../../src/state/keeper_mark.ts";
import { type QemuBench, VM_ID, withQemu } from "../../../../support/qemu_context.ts";

const WITH_AGENT = [{ label: "serial-0", "frontend-open": true }, { label: "agent", "frontend-open": true }];
const WITHOUT = [{ label: "serial-0", "frontend-open": true }, { label: "agent", "frontend-open": false }];

/** A guest of which the test says whether its agent is there and how it answers. */
class Guest {
  ports: JsonValue = WITH_AGENT;
  answers: (string | HvError | undefined)[] = [];
  looks = 0;
  readonly asked: string[] = [];
  readonly teller: GuestTeller;
  readonly #bench: QemuBench;

  constructor(bench: QemuBench, record: VmRecord) {
    this.#bench = bench;
    const clock = {
      now: () => 0,
      monotonic: () => 0,
      async sleep(_: number, signal?: AbortSignal) {
        await new Promise((resolve) => setTimeout(resolve, 0));
        signal?.throwIfAborted();
      },
    };
    const { host } = bench.context;
    this.teller = new GuestTeller({
      context: { ...bench.context, host: { ...host, files: host.files, clock } },
      session: {
        command: (name) => {
          assert.equal(name, "query-chardev");
          this.looks++;
          return Promise.resolve(this.ports);
        },
      },
      tell: (vm, causes) => {
        assert.equal(vm, VM_ID);
        this.asked.push(causes.join(" "));
        const answer = this.answers.shift();
        return answer instanceof HvError ? Promise.reject(answer) : Promise.resolve(answer);
      },
    }, record);
    this.teller.update(record);
  }

  /** Waits until the note says so. */
  async says(record: VmRecord, told: boolean, problem?: string): Promise<void> {
    for (;;) {
      const note = await readTold(this.#bench.context, record);
      if (note?.told === told && note.problem === problem) return;
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  }

  async hasLooked(times: number): Promise<void> {
    const wanted = this.looks + times;
    while (this.looks < wanted) await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

const UNANSWERED = "Its guest agent has not answered yet";

Deno.test("a guest is told when its agent is there, in each boot, and anew when it is to panic at something else", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm({ on_crash: "collect" });
    const guest = new Guest(bench, record);
    await guest.says(record, true);
    guest.teller.update({ ...record, name: "another" });
    guest.ports = WITHOUT;
    guest.teller.again();
    await guest.says(record, false, UNANSWERED);
    await guest.hasLooked(3);
    assert.deepEqual(guest.asked, ["oops"], "nobody is there who could be asked");
    guest.ports = WITH_AGENT;
    await guest.says(record, true);
    const more: VmRecord = { ...record, panic_on: ["warn", "oops"] satisfies PanicCause[] };
    guest.teller.update(more);
    await guest.says(more, true);
    assert.deepEqual(guest.asked, ["oops", "oops", "oops warn"]);
    await guest.teller.close();
  }));

Deno.test("what the guest refuses is said and left; one that does not answer is asked again", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm({ panic_on: ["hung_task"] });
    const guest = new Guest(bench, record);
    guest.answers = [
      new HvError("hv.guest_not_ready", "It is silent"),
      "It does not know kernel/hung_task_panic",
    ];
    await guest.says(record, false, "It does not know kernel/hung_task_panic");
    assert.deepEqual(guest.asked, ["hung_task", "hung_task"]);
    guest.answers = [new HvError("hv.guest_denied", "The agent forbids guest-exec")];
    guest.teller.again();
    await guest.says(record, false, "The agent forbids guest-exec");
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
    assert.equal(guest.asked.length, 3);
    await guest.teller.close();
  }));

Deno.test("a guest that is to panic at nothing is left alone", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    const guest = new Guest(bench, record);
    guest.teller.again();
    assert.deepEqual([guest.looks, await toldFacts(bench.context, record)], [0, {}]);
    assert.equal(await awaitTold(bench.context, record, bench.scope.signal), undefined);
  }));

Deno.test("a note counts for its run and for what is wanted now; without one nothing is claimed", () =>
  withQemu(async (bench) => {
    const { context, scope } = bench;
    const record = await bench.addVm({ on_crash: "triage" });
    const nobody = { panic_told: false, panic_problem: "The keeper has not come to it yet" };
    assert.deepEqual(await toldFacts(context, record), nobody);
    const guest = new Guest(bench, record);
    await guest.says(record, true);
    const unsure = { panic_told: false, panic_problem: "No keeper watches whether it has booted anew" };
    assert.deepEqual(await toldFacts(context, record), unsure);
    const keeper = { pid: 1, since: "1969-12-31T23:59:59.000Z", version: "1" };
    await wantKeeper(context.host, context.state);
    using _lock = await becomeKeeper(context.host, context.state, keeper);
    assert.deepEqual(await toldFacts(context, record), { panic_told: true });
    assert.deepEqual(await awaitTold(context, record, scope.signal), { told: true });
    assert.deepEqual(await toldFacts(context, { ...record, panic_on: ["warn"] }), nobody);
    const start = { pid: 78, at: "2026-11-29T12:00:00.000Z", accelerator: "tcg", qemu: "7" };
    assert.deepEqual(await toldFacts(context, { ...record, last_start: start }), nobody);
    await Deno.writeTextFile(
      context.state.keeperFacts,
      JSON.stringify({ ...keeper, since: "1970-01-01T00:00:01.000Z" }),
    );
    assert.deepEqual(await toldFacts(context, record), unsure, "that keeper came later");
    await Deno.writeTextFile(`${context.state.vm(VM_ID)}/told.json`, "{");
    assert.deepEqual(await toldFacts(context, record), nobody);
    await guest.teller.close();
  }));
