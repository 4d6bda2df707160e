/** A machine's mouse: steps as QEMU's input events. */

import { HvError } from "../../../base/errors.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { PointerStep } from "../../console_abilities.ts";
import { objectsIn } from "../monitor/answers.ts";
import type { QmpSession } from "../monitor/qmp.ts";

/** An axis of an absolute device goes from 0 to this, whatever the screen's size. */
const AXIS_END = 0x7fff;

/** How large the screen is. */
interface Size {
  width: number;
  height: number;
}

/** The events of a step; those of one step belong into one request, so that a place is reached at once. */
export function eventsOfStep(step: PointerStep, screen: Size | undefined): JsonObject[][] {
  switch (step.kind) {
    case "place":
      return [axes("abs", scale(step.x, screen?.width), scale(step.y, screen?.height))];
    case "move":
      return [axes("rel", step.x, step.y)];
    case "button":
      return [[button(step.button, step.down)]];
    case "wheel": {
      const name = step.up ? "wheel-up" : "wheel-down";
      return [[button(name, true)], [button(name, false)]];
    }
  }
}

function axes(type: "abs" | "rel", x: number, y: number): JsonObject[] {
  return [{ type, data: { axis: "x", value: x } }, { type, data: { axis: "y", value: y } }];
}

function button(name: string, down: boolean): JsonObject {
  return { type: "btn", data: { button: name, down } };
}

function scale(pixel: number, pixels = 1): number {
  return pixels < 2 ? 0 : Math.round(pixel * AXIS_END / (pixels - 1));
}

/** Throws `hv.usage` for a place that is not on the screen. */
export function refuseBesideScreen({ x, y }: { x: number; y: number }, { width, height }: Size): void {
  if (x >= 0 && y >= 0 && x < width && y < height) return;
  throw new HvError("hv.usage", `The place ${x}, ${y} is not on the screen of ${width}x${height} pixels`, {
    hint: "Count pixels from the top left of a screenshot, or give --relative",
    context: { x, y, width, height },
  });
}

/** Throws `hv.unsupported` when the guest uses no device that can be put in a place. */
export async function requireTablet(session: QmpSession): Promise<void> {
  const mice = objectsIn(await session.command("query-mice"));
  if (mice.some(({ absolute, current }) => absolute === true && current === true)) return;
  throw new HvError("hv.unsupported", "The guest does not use its tablet, so no place can be pointed at", {
    hint: "Give --relative; guests use the tablet once their virtio-input driver is loaded",
    context: { mice: mice.map(({ name, absolute }) => `${name}${absolute === true ? " (absolute)" : ""}`) },
  });
}
