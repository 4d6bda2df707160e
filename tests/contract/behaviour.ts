/** The contract suite: behaviours that every driver must show, written once. */

import type { Feature } from "../../src/drivers/driver.ts";
import { Lab, type LabOptions } from "./lab.ts";

interface Behaviour {
  promise: string;
  needs: readonly Feature[];
  show: (context: { lab: Lab }) => Promise<void>;
}

const behaviours: Behaviour[] = [];

/** States one promise and how to see it kept. `needs` names the features without which it says nothing. */
export function behaviour(
  promise: string,
  { needs }: { needs: readonly Feature[] },
  show: (context: { lab: Lab }) => Promise<void>,
): void {
  behaviours.push({ promise, needs, show });
}

/** Registers every behaviour as a test of one driver. */
export function runContract(driver: string, options: LabOptions, { ignore = false } = {}): void {
  for (const { promise, needs, show } of behaviours) {
    Deno.test({
      name: `${driver}: ${promise}`,
      ignore,
      async fn() {
        await using lab = await Lab.open(options);
        const features = await lab.features();
        if (needs.every((feature) => features.has(feature))) await show({ lab });
      },
    });
  }
}
