/** Screen, keyboard and mouse of this host's VMs, and the interrupt that a guest cannot mask. */

import { HvError } from "../../../base/errors.ts";
import type { CallScope } from "../../call_scope.ts";
import type { ConsoleAbilities, MouseButton, NmiAbilities, PointerStep } from "../../console_abilities.ts";
import { type KeyStroke, scancodesOf } from "../../keyboard.ts";
import type { HyperV } from "../client.ts";
import { readScreenImage } from "./screen_image.ts";

/** Groups that go out in one request. */
const GROUPS_OF_ONE_CALL = 64;
/** The old mouse takes signed bytes. */
const LONGEST_MOVE = 127;
/** Hyper-V counts buttons from 1. */
const BUTTON_NUMBERS: Readonly<Record<MouseButton, number>> = { left: 1, right: 2, middle: 3 };

/** Opens the console. Touches nothing by itself. */
export function openConsole(hyperv: HyperV): ConsoleAbilities {
  return {
    async screen(id, signal) {
      const { width, height, image } = await hyperv.screen(id, signal);
      return readScreenImage(width, height, Uint8Array.fromBase64(image));
    },
    press: (id, strokes, scope) => press(hyperv, id, strokes, scope),
    async point(id, steps, scope) {
      const { width, height } = steps.some(({ kind }) => kind === "place")
        ? await hyperv.screen(id, scope.signal)
        : { width: Infinity, height: Infinity };
      const words = steps.flatMap((step) => wordsOf(step, width, height));
      await hyperv.changeMachine("move_pointer", id, { steps: words }, scope);
    },
  };
}

/** Opens the interrupt. */
export function openNmi(hyperv: HyperV): NmiAbilities {
  return {
    async inject(id, scope) {
      await hyperv.changeMachine("interrupt_machine", id, {}, scope);
    },
  };
}

async function press(
  hyperv: HyperV,
  id: string,
  strokes: readonly KeyStroke[],
  scope: CallScope,
): Promise<void> {
  const groups = chordsIn(strokes).map((chord) => Uint8Array.from(scancodesOf(chord)).toBase64());
  for (let done = 0; done < groups.length; done += GROUPS_OF_ONE_CALL) {
    await hyperv.changeMachine("press_keys", id, {
      groups: groups.slice(done, done + GROUPS_OF_ONE_CALL),
    }, scope);
  }
}

/** Strokes up to the moment at which no key is down any more. */
function chordsIn(strokes: readonly KeyStroke[]): KeyStroke[][] {
  const chords: KeyStroke[][] = [];
  let chord: KeyStroke[] = [];
  const down = new Set<string>();
  for (const stroke of strokes) {
    chord.push(stroke);
    if (stroke.down) down.add(stroke.key);
    else down.delete(stroke.key);
    if (down.size > 0) continue;
    chords.push(chord);
    chord = [];
  }
  return chord.length === 0 ? chords : [...chords, chord];
}

/** A step as the operation takes it, in words. */
function wordsOf(step: PointerStep, width: number, height: number): string[] {
  switch (step.kind) {
    case "place": {
      const { x, y } = step;
      if (x >= 0 && y >= 0 && x < width && y < height) return [`place ${x} ${y}`];
      throw new HvError(
        "hv.usage",
        `The place ${x}, ${y} is not on the screen of ${width}x${height} pixels`,
        {
          hint: "Count pixels from the top left of a screenshot, or give --relative",
          context: { x, y, width, height },
        },
      );
    }
    case "move":
      return partsOfMove(step.x, step.y).map(([x, y]) => `move ${x} ${y}`);
    case "button":
      return [`button ${BUTTON_NUMBERS[step.button]} ${step.down ? 1 : 0}`];
    case "wheel":
      throw new HvError("hv.unsupported", "The wheel of a Hyper-V VM cannot be turned from here", {
        hint: "Press page_up or page_down: hvlab console keys",
      });
  }
}

function partsOfMove(x: number, y: number): [number, number][] {
  const count = Math.max(1, Math.ceil(Math.max(Math.abs(x), Math.abs(y)) / LONGEST_MOVE));
  const part = (whole: number, index: number): number =>
    Math.round(whole * (index + 1) / count) - Math.round(whole * index / count);
  return Array.from({ length: count }, (_, index) => [part(x, index), part(y, index)]);
}
