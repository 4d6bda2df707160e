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

/**
 * Registers every behaviour as a test of one driver. `shared` is for a driver that keeps something open between them; whoever
 * shares it shows at the end that it goes.
 */
export function runContract(
  driver: string,
  options: LabOptions,
  { ignore = false, shared = false } = {},
): void {
  for (const { promise, needs, show } of behaviours) {
    Deno.test({
      name: `${driver}: ${promise}`,
      ignore,
      sanitizeOps: !shared,
      sanitizeResources: !shared,
      async fn() {
        await using lab = await Lab.open(options);
        const features = await lab.features();
        if (needs.every((feature) => features.has(feature))) await show({ lab });
      },
    });
  }
}
