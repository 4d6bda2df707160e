/** Screen, keyboard and mouse of QEMU's machines. */

import type { CallScope } from "../../call_scope.ts";
import type { ConsoleAbilities, PointerStep } from "../../console_abilities.ts";
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
  for (let done = 0; done < strokes.length; done += STROKES_OF_ONE_TURN) {
    const part = strokes.slice(done, done + STROKES_OF_ONE_TURN);
    const question = { action: "press keys of", states: ["running"], signal } as const;
    await askOnMachine(context, records, id, question, async (session) => {
      for (const { key, down } of part) {
        const data = { down, key: { type: "qcode", data: qcodeOf(key) } };
        await session.command("input-send-event", { events: [{ type: "key", data }] }, { signal });
        if (!down) await context.host.clock.sleep(AFTER_STROKES_MS, signal);
      }
      return {};
    });
    progress({ message: "Pressing keys", fraction: Math.min(1, (done + part.length) / strokes.length) });
  }
}

async function point(
  context: QemuContext,
  records: VmRecords,
  id: string,
  steps: readonly PointerStep[],
  { signal }: CallScope,
): Promise<void> {
  const question = { action: "move the mouse of", states: ["running"], signal } as const;
  await askOnMachine(context, records, id, question, async (session, { runtime }) => {
    const places = steps.filter((step) => step.kind === "place");
    const screen = places.length === 0 ? undefined : await takePicture(context, runtime, session, signal);
    if (screen !== undefined) {
      places.forEach((place) => refuseBesideScreen(place, screen));
      await requireTablet(session);
    }
    for (const step of steps) {
      for (const events of eventsOfStep(step, screen)) {
        await session.command("input-send-event", { events }, { signal });
        await context.host.clock.sleep(AFTER_STROKES_MS, signal);
      }
    }
    return {};
  });
}
