/** The console of machines in memory: a screen on which every press leaves a dot, and an interrupt that crashes. */

import { HvError } from "../../src/base/errors.ts";
import type { Vm } from "../../src/contract/vm.ts";
import type { ConsoleAbilities, NmiAbilities } from "../../src/drivers/console_abilities.ts";
import { wrongState } from "./memory_checkpoints.ts";

const WIDTH = 64;
const HEIGHT = 48;

/** What these abilities need of the driver. */
interface ConsoleMachine {
  vm: Vm;
  crash: string | undefined;
}

export function memoryConsole(machine: (id: string) => ConsoleMachine): ConsoleAbilities {
  const pressed = new Map<string, number>();
  const on = (id: string, states: readonly string[]): void => {
    const { state } = machine(id).vm;
    if (!states.includes(state)) throw wrongState(states.join(" or "), state);
  };
  return {
    screen: async (id) => {
      await on(id, ["running", "paused", "crashed"]);
      const rgb = new Uint8Array(WIDTH * HEIGHT * 3);
      rgb.fill(255, 0, (pressed.get(id) ?? 0) * 3);
      return { width: WIDTH, height: HEIGHT, rgb };
    },
    press: async (id, strokes) => {
      await on(id, ["running"]);
      pressed.set(id, (pressed.get(id) ?? 0) + strokes.filter(({ down }) => down).length);
    },
    point: async (id, steps) => {
      await on(id, ["running"]);
      for (const step of steps) {
        if (step.kind === "place" && (step.x >= WIDTH || step.y >= HEIGHT)) {
          throw new HvError("hv.usage", `The place ${step.x}, ${step.y} is not on the screen`);
        }
      }
    },
  };
}

export function memoryNmi(machine: (id: string) => ConsoleMachine): NmiAbilities {
  return {
    inject: async (id) => {
      const found = await machine(id);
      if (found.vm.state !== "running") throw wrongState("running", found.vm.state);
      found.vm.state = "crashed";
      found.crash = "it was interrupted";
    },
  };
}
