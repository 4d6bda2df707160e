/** What a new machine is asked to be, where drivers differ. */

import { HvError } from "../base/errors.ts";
import type { Firmware } from "../contract/vm.ts";
import type { Driver, Feature } from "../drivers/driver.ts";

/** Hyper-V's generations of virtual hardware, by the firmware that each begins with. */
const FIRMWARE_OF: Readonly<Record<number, Firmware>> = { 1: "bios", 2: "uefi" };

/** The firmware that is wanted, said by itself or by its generation. Throws `hv.usage` when the two do not agree. */
export function readFirmware(
  { firmware, generation }: { firmware?: Firmware | undefined; generation?: number | undefined },
): Firmware | undefined {
  const implied = generation === undefined ? undefined : FIRMWARE_OF[generation];
  if (firmware === undefined || implied === undefined || firmware === implied) return firmware ?? implied;
  throw new HvError(
    "hv.usage",
    `Generation ${generation} begins with ${implied}, and ${firmware} was asked for`,
    {
      hint: "Leave --firmware or --generation out",
      context: { firmware, generation: generation ?? null },
    },
  );
}

/** Throws `hv.unsupported` for a part of a machine that the driver does not have. */
export function needFeature(driver: Driver, feature: Feature, instead: string): void {
  if (driver.features.has(feature)) return;
  throw new HvError("hv.unsupported", `The driver "${driver.name}" has no ${feature}`, {
    hint: `Use ${instead} instead`,
    context: { driver: driver.name, feature },
  });
}
