import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { VmRef } from "../../contract/names.ts";
import { Vm } from "../../contract/vm.ts";
import type { MouseButton, PointerStep } from "../../drivers/console_abilities.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { defineTool } from "../define_tool.ts";
import { planOnConsole } from "./plan.ts";

const Coordinate = z.int().check(z.minimum(-16_384), z.maximum(16_384));
const NOTCHES = 20;

/** Moves a VM's mouse, presses its buttons, turns its wheel. */
export default defineTool({
  name: "console_mouse",
  family: "console",
  class: "X",
  summary: "Move a VM's mouse, click, or turn its wheel",
  input: {
    vm: VmRef,
    x: z.optional(Coordinate),
    y: z.optional(Coordinate),
    relative: z._default(z.boolean(), false),
    button: z.optional(z.enum(["left", "middle", "right"])),
    action: z._default(z.enum(["click", "double", "down", "up"]), "click"),
    wheel: z._default(z.int().check(z.minimum(-NOTCHES), z.maximum(NOTCHES)), 0),
  },
  positional: ["vm", "x", "y"],
  help: {
    x: "Pixels from the left of a screenshot; with --relative from where it is",
    y: "Pixels from the top",
    relative: "Moves it by x and y",
    button: "Which button the action is for; none is pressed without it",
    wheel: "Notches up, or down when negative",
  },
  output: Vm,
  uses: ["driver", "vm"],
  feature: "console",
  plan: (args, { vm }) =>
    planOnConsole(vm, `Use the mouse of "${vm.name}": ${JSON.stringify({ ...args, vm: undefined })}`),
  async handle({ x, y, relative, button, action, wheel }, context) {
    const { driver, vm, signal } = context;
    const steps: PointerStep[] = [
      ...motion(x, y, relative),
      ...(button === undefined ? [] : presses(button, action)),
      ...Array.from({ length: Math.abs(wheel) }, () => ({ kind: "wheel", up: wheel > 0 }) as const),
    ];
    if (steps.length === 0) {
      throw new HvError("hv.usage", "The mouse has nothing to do", {
        hint: "Give x and y, a --button, or notches for its --wheel",
      });
    }
    await abilityOf(driver, "console").point(vm.id, steps, context);
    return await driver.vms.get(vm.id, signal);
  },
});

function motion(x: number | undefined, y: number | undefined, relative: boolean): PointerStep[] {
  if (x === undefined && y === undefined) return [];
  if (x !== undefined && y !== undefined) return [{ kind: relative ? "move" : "place", x, y }];
  throw new HvError(
    "hv.usage",
    `A mouse needs both coordinates: "${x === undefined ? "x" : "y"}" is missing`,
    {
      hint: "Give x and y",
    },
  );
}

function presses(button: MouseButton, action: "click" | "double" | "down" | "up"): PointerStep[] {
  const down = { kind: "button", button, down: true } as const;
  const up = { kind: "button", button, down: false } as const;
  return { click: [down, up], double: [down, up, down, up], down: [down], up: [up] }[action];
}
