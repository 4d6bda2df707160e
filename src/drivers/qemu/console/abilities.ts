/** Screen, keyboard and mouse of QEMU's machines. */

import type { JsonObject } from "../../../base/json.ts";
import type { KeyName } from "../../../contract/keys.ts";
import type { CallScope } from "../../call_scope.ts";
import type { ConsoleAbilities, MouseButton, PointerStep } from "../../console_abilities.ts";
import { type KeyStroke, qcodeOf } from "../../keyboard.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecords } from "../records.ts";
import { eventsOfStep, refuseBesideScreen, requireTablet } from "./pointer.ts";
import { askOnMachine, MACHINE_IS_ON } from "./running.ts";
import { takePicture } from "./screen.ts";

/** Strokes for which one turn at the monitor is held. */
const STROKES_OF_ONE_TURN = 32;
/** A keyboard's buffer holds some five keys, and drops what a guest that is busy has not fetched by then. */
const AFTER_STROKES_MS = 15;
/** What a call that was cancelled may still take. */
const LETTING_GO_LIMIT_MS = 2_000;

/** Opens them. Touches nothing by itself. */
export function openConsole(context: QemuContext, records: VmRecords): ConsoleAbilities {
  return {
    screen: (id, signal) =>
      askOnMachine(
        context,
        records,
        id,
        { action: "look at the screen of", states: MACHINE_IS_ON, signal },
        (session, { runtime }) => takePicture(context, runtime, session, signal),
      ),
    press: (id, strokes, scope) => press(context, records, id, strokes, scope),
    point: (id, steps, scope) => point(context, records, id, steps, scope),
  };
}

/** What a guest is not given the time for it loses, and nobody is told. */
async function press(
  context: QemuContext,
  records: VmRecords,
  id: string,
  strokes: readonly KeyStroke[],
  { signal, progress }: CallScope,
): Promise<void> {
  const held = new Set<KeyName>();
  try {
    for (let done = 0; done < strokes.length; done += STROKES_OF_ONE_TURN) {
      const part = strokes.slice(done, done + STROKES_OF_ONE_TURN);
      const question = { action: "press keys of", states: ["running"], signal } as const;
      await askOnMachine(context, records, id, question, async (session) => {
        for (const { key, down } of part) {
          if (down) held.add(key);
          await session.command("input-send-event", { events: [eventOfKey(key, down)] }, { signal });
          if (down) continue;
          held.delete(key);
          await context.host.clock.sleep(AFTER_STROKES_MS, signal);
        }
        return {};
      });
      progress({ message: "Pressing keys", fraction: Math.min(1, (done + part.length) / strokes.length) });
    }
  } catch (error) {
    await letGo(context, records, id, [...held].map((key) => eventOfKey(key, false)));
    throw error;
  }
}

function eventOfKey(key: KeyName, down: boolean): JsonObject {
  return { type: "key", data: { down, key: { type: "qcode", data: qcodeOf(key) } } };
}

async function point(
  context: QemuContext,
  records: VmRecords,
  id: string,
  steps: readonly PointerStep[],
  { signal }: CallScope,
): Promise<void> {
  const question = { action: "move the mouse of", states: ["running"], signal } as const;
  const held = new Set<MouseButton>();
  try {
    await askOnMachine(context, records, id, question, async (session, { runtime }) => {
      const places = steps.filter((step) => step.kind === "place");
      const screen = places.length === 0 ? undefined : await takePicture(context, runtime, session, signal);
      if (screen !== undefined) {
        places.forEach((place) => refuseBesideScreen(place, screen));
        await requireTablet(session);
      }
      for (const step of steps) {
        if (step.kind === "button" && step.down) held.add(step.button);
        for (const events of eventsOfStep(step, screen)) {
          await session.command("input-send-event", { events }, { signal });
          await context.host.clock.sleep(AFTER_STROKES_MS, signal);
        }
        if (step.kind === "button" && !step.down) held.delete(step.button);
      }
      return {};
    });
  } catch (error) {
    const steps = [...held].map((button) => ({ kind: "button", button, down: false }) as const);
    await letGo(context, records, id, steps.flatMap((step) => eventsOfStep(step, undefined).flat()));
    throw error;
  }
}

/** A call that ends half-way leaves no key and no button down; that it ended is the failure which counts. */
async function letGo(
  context: QemuContext,
  records: VmRecords,
  id: string,
  events: readonly JsonObject[],
): Promise<void> {
  if (events.length === 0) return;
  const signal = AbortSignal.timeout(LETTING_GO_LIMIT_MS);
  const question = { action: "let go of the keys of", states: MACHINE_IS_ON, signal };
  await askOnMachine(context, records, id, question, async (session) => {
    await session.command("input-send-event", { events: [...events] }, { signal });
    return {};
  }).catch(() => {});
}
