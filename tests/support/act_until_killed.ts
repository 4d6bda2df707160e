/** A call of a process that is killed on the way. */

import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import type { Driver } from "../../src/drivers/driver.ts";
import { openQemuDriver } from "../../src/drivers/qemu/driver.ts";
import { mortalHost } from "./mortal_host.ts";
import type { QemuLab } from "./qemu_lab.ts";

/**
 * Does the work with a driver of its own, whose process is killed after `life` steps. Answers the steps that were
 * taken, and whether it came to the kill; a failure while it lives is the work's own and is thrown.
 */
export async function actUntilKilled(
  { host: real, state, findings }: Pick<QemuLab, "host" | "state" | "findings">,
  life: number,
  act: (mortal: Driver) => Promise<unknown>,
): Promise<{ steps: string[]; wasKilled: boolean }> {
  const { host, steps, isDead } = mortalHost(real, life);
  const mortal = openQemuDriver({ host, state, config: DEFAULT_CONFIG, findings });
  try {
    await act(mortal);
  } catch (error) {
    if (!isDead()) throw error;
  } finally {
    await mortal.close();
  }
  return { steps, wasKilled: isDead() };
}
