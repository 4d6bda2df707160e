import assert from "node:assert/strict";
import { type VmEvent, VmEventKind } from "../../../../../src/contract/vm.ts";
import { EventTranslator, isEnd, missedEvent } from "../../../../../src/drivers/qemu/watch/events.ts";
import type { QmpEvent } from "../../../../../src/drivers/qemu/monitor/qmp.ts";

function said(name: string, data: QmpEvent["data"] = {}, at: number | null = 5_000): QmpEvent {
  return { name, data, at };
}

/** What a machine in a run state is said to have lived through. */
function lived(status: string, ...events: QmpEvent[]): (string | undefined)[] {
  const translator = new EventTranslator(status);
  return events.map((event) => translator.translate(event)?.event);
}

Deno.test("a pause and what ends it are told once", () => {
  assert.deepEqual(lived("running", said("STOP"), said("STOP"), said("RESUME"), said("RESUME")), [
    ...["paused", undefined, "resumed", undefined],
  ]);
  assert.deepEqual(lived("paused", said("STOP"), said("RESUME")), [undefined, "resumed"]);
});

Deno.test("a clone that is fed its state starts and is not resumed", () => {
  assert.deepEqual(lived("inmigrate", said("RESUME")), [undefined]);
});

Deno.test("the stop that a crash or a full disk brings is part of it, and a resume is told", () => {
  const panic = said("GUEST_PANICKED", { action: "pause" });
  assert.deepEqual(lived("running", panic, said("STOP"), said("RESUME")), ["crashed", undefined, "resumed"]);
  const full = said("BLOCK_IO_ERROR", { action: "stop", nospace: true, operation: "write" });
  assert.deepEqual(lived("running", full, full, said("STOP"), said("RESUME")), [
    ...["io_error", undefined, undefined, "resumed"],
  ]);
});

Deno.test("an orderly end carries its reason and is told once; an end without a word is a death", () => {
  const orderly = new EventTranslator("running");
  const end = orderly.translate(said("SHUTDOWN", { guest: true, reason: "guest-shutdown", other: 1 }));
  assert.deepEqual(end, { event: "stopped", details: { guest: true, reason: "guest-shutdown" }, at: 5_000 });
  assert.equal(orderly.translate(said("SHUTDOWN", { guest: false, reason: "host-signal" })), undefined);
  assert.equal(orderly.end(), undefined);
  const killed = new EventTranslator("running");
  assert.deepEqual(killed.end(), { event: "died", details: {}, at: null });
  assert.equal(killed.end(), undefined);
});

Deno.test("the resets of one reboot are one, those of the next are another", () => {
  const resets = [0, 100, 1_900, 3_000, 9_000].map((at) => said("RESET", { guest: true, reason: "x" }, at));
  assert.deepEqual(lived("running", ...resets), ["reset", undefined, undefined, undefined, "reset"]);
});

Deno.test("a guest that goes on after disk errors does not fill the history", () => {
  const errors = [0, 5_000, 10_001].map((at) =>
    said("BLOCK_IO_ERROR", { action: "report", device: "", "node-name": "disk-0", operation: "read" }, at)
  );
  assert.deepEqual(lived("running", ...errors), ["io_error", undefined, "io_error"]);
});

Deno.test("guests that reboot again and again are in a loop", () => {
  const translator = new EventTranslator("running");
  const told = [0, 30_000, 60_000, 61_000, 90_000, 300_000].map((at) =>
    translator.translate(said("RESET", { guest: true, reason: "guest-reset" }, at))?.details
  );
  const plain = { guest: true, reason: "guest-reset" };
  assert.deepEqual(told, [
    plain,
    plain,
    { ...plain, loop: true, resets: 3 },
    undefined,
    { ...plain, loop: true, resets: 4 },
    plain,
  ]);
});

Deno.test("a crash keeps what the guest said, numbers as hexadecimal text, and a bug check by its own names", () => {
  // As QEMU 7.2 told it of a guest that wrote its crash registers under KVM, but for the numbers.
  const info = { type: "hyper-v", arg1: 0x1e, arg2: "0xffffffffc0000005", arg3: 0, arg4: 1, arg5: 255 };
  const happening = new EventTranslator("running").translate(
    said("GUEST_PANICKED", { action: "pause", info }),
  );
  assert.deepEqual(happening?.details, {
    action: "pause",
    info: {
      type: "hyper-v",
      arg1: "0x1e",
      arg2: "0xffffffffc0000005",
      arg3: "0x0",
      arg4: "0x1",
      arg5: "0xff",
    },
    bug_check: { code: "0x0000001e", parameters: ["0xffffffffc0000005", "0x0", "0x1", "0xff"] },
  });
  const other = new EventTranslator("running").translate(
    said("GUEST_PANICKED", { action: "pause", info: { type: "s390", core: 0 } }),
  );
  assert.deepEqual(other?.details, { action: "pause", info: { type: "s390", core: "0x0" } });
  const loaded = new EventTranslator("running").translate(said("GUEST_CRASHLOADED", { action: "run" }));
  assert.deepEqual(loaded?.details, { action: "run", crash_kernel: true });
});

Deno.test("other events are told plainly, and those of devices not at all", () => {
  assert.deepEqual(
    lived(
      "running",
      said("POWERDOWN"),
      said("WATCHDOG", { action: "reset" }),
      said("SUSPEND"),
      said("WAKEUP"),
    ),
    ["button", "watchdog", "suspended", "woken"],
  );
  assert.deepEqual(
    lived("running", said("VSERPORT_CHANGE"), said("DEVICE_DELETED"), said("JOB_STATUS_CHANGE")),
    [
      ...[undefined, undefined, undefined],
    ],
  );
});

Deno.test("a watchdog says what it does in our words, and what that brings is part of it", () => {
  const ran = (action: string): QmpEvent => said("WATCHDOG", { action });
  const told = ["reset", "pause", "poweroff", "inject-nmi", "debug"].map((action) =>
    new EventTranslator("running").translate(ran(action))?.details
  );
  assert.deepEqual(told.map((details) => details?.action), ["reset", "pause", "off", "nmi", "debug"]);
  assert.deepEqual(lived("running", ran("pause"), said("STOP"), said("RESUME"), said("STOP")), [
    ...["watchdog", undefined, "resumed", "paused"],
  ]);
  assert.deepEqual(lived("running", ran("inject-nmi"), said("STOP")), ["watchdog", "paused"]);
});

Deno.test("a watchdog that cuts the power ends QEMU without a word, which is no death; others do not explain one", () => {
  const off = new EventTranslator("running");
  off.translate(said("WATCHDOG", { action: "poweroff" }));
  assert.deepEqual(off.end(), { event: "stopped", details: { reason: "watchdog" }, at: null });
  assert.equal(off.end(), undefined);
  const reset = new EventTranslator("running");
  reset.translate(said("WATCHDOG", { action: "reset" }));
  assert.equal(reset.end()?.event, "died");
});

Deno.test("a state that does not follow from the last known event tells what was missed", () => {
  const missed = (status: string, event: VmEvent["event"], details: VmEvent["details"] = {}): unknown =>
    missedEvent(status, { event, details });
  assert.equal(missed("running", "started"), undefined);
  assert.equal(missed("running", "resumed"), undefined);
  assert.equal(missed("running", "paused"), "resumed");
  assert.equal(missed("running", "crashed"), "resumed");
  assert.equal(missed("paused", "started"), "paused");
  assert.equal(missed("paused", "paused"), undefined);
  assert.equal(missed("guest-panicked", "started"), "crashed");
  assert.equal(missed("io-error", "resumed"), "io_error");
  assert.equal(missed("inmigrate", "started"), undefined);
  assert.equal(missed("watchdog", "started"), "watchdog");
  assert.equal(missed("watchdog", "watchdog", { action: "pause" }), undefined);
  assert.equal(missed("running", "watchdog", { action: "pause" }), "resumed");
  assert.equal(missed("running", "watchdog", { late: true }), "resumed");
  assert.equal(missed("running", "watchdog", { action: "nmi" }), undefined);
  assert.equal(missed("paused", "watchdog", { action: "reset" }), "paused");
});

Deno.test("exactly the events after which nothing runs are ends", () => {
  assert.deepEqual(VmEventKind.options.filter(isEnd), ["stopped", "saved", "died"]);
});
