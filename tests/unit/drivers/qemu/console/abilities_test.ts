import assert from "node:assert/strict";
import { HvError } from "../../../../../src/base/errors.ts";
import { uuidOf } from "../../../../../src/base/ids.ts";
import type { ConsoleAbilities } from "../../../../../src/drivers/console_abilities.ts";
import { openConsole } from "../../../../../src/drivers/qemu/console/abilities.ts";
import { RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";
import { strokesOfKeys } from "../../../../../src/flows/console/keyboard/strokes.ts";
import { failureOf } from "../../../../support/failures.ts";
import { VM_ID, withQemu } from "../../../../support/qemu_context.ts";
import { listenAsMonitor } from "../../../../support/scripted_monitor.ts";

interface Event {
  type: string;
  data: { down: boolean; key?: { data: string }; button?: string };
}

/** What the machine gets of a call that is cancelled when so many requests have come. */
async function eventsUntil(
  cancelledAt: number,
  call: (console: ConsoleAbilities, signal: AbortSignal) => Promise<void>,
): Promise<string[]> {
  const seen: string[] = [];
  await withQemu(async ({ host, context, records, addVm }) => {
    const { runtime } = await addVm();
    await Deno.mkdir(runtime, { recursive: true });
    const controller = new AbortController();
    await listenAsMonitor(host, new RuntimeFolder(runtime).monitor("calls"), {
      uuid: uuidOf(VM_ID),
      answers: {
        "input-send-event": ({ events }: { events: Event[] }) => {
          for (const { data } of events) {
            seen.push(`${data.key?.data ?? data.button} ${data.down ? "down" : "up"}`);
          }
          if (seen.length === cancelledAt) controller.abort(new HvError("hv.cancelled", "enough"));
          return {};
        },
      },
    });
    await failureOf("hv.cancelled", () => call(openConsole(context, records), controller.signal));
  });
  return seen;
}

Deno.test("keys of a chord that is cancelled half-way come up again", async () => {
  const seen = await eventsUntil(
    2,
    (console, signal) =>
      console.press(VM_ID, strokesOfKeys("ctrl-alt-delete"), { signal, progress: () => {} }),
  );
  assert.deepEqual(seen.slice(0, 2), ["ctrl down", "alt down"]);
  const ups = seen.slice(2).filter((event) => event.endsWith(" up"));
  assert.deepEqual(ups.toSorted(), ["alt up", "ctrl up"]);
});

Deno.test("a mouse button that a cancelled call has pressed comes up again", async () => {
  const seen = await eventsUntil(1, (console, signal) =>
    console.point(VM_ID, [
      { kind: "button", button: "left", down: true },
      { kind: "button", button: "left", down: false },
    ], { signal, progress: () => {} }));
  assert.deepEqual(seen, ["left down", "left up"]);
});

Deno.test("a key at which the guest's kernel panics leads to a crashed VM, not to QEMU's refusal of the next", () =>
  withQemu(async ({ host, context, records, addVm }) => {
    const { runtime } = await addVm();
    await Deno.mkdir(runtime, { recursive: true });
    let status = "running";
    await listenAsMonitor(host, new RuntimeFolder(runtime).monitor("calls"), {
      uuid: uuidOf(VM_ID),
      answers: {
        "query-status": () => ({ status, running: status === "running" }),
        "input-send-event": () => {
          if (status !== "running") return undefined;
          status = "guest-panicked";
          return {};
        },
      },
    });
    const { signal } = new AbortController();
    const error = await failureOf(
      "hv.conflict",
      () => openConsole(context, records).press(VM_ID, strokesOfKeys("c"), { signal, progress: () => {} }),
    );
    assert.equal(error.context.found, "crashed");
    assert.match(error.message, /^Cannot press keys of ".+": wanted "running", found "crashed"/);
  }));
