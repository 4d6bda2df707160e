/** What a new machine is asked to be, where drivers differ. */

import { HvError } from "../../base/errors.ts";
import type { CrashPolicy, CrashSettings, PanicCause } from "../../contract/crash_policy.ts";
import type { Firmware } from "../../contract/vm.ts";
import type { Driver, Feature } from "../../drivers/driver.ts";

/** Hyper-V's generations of virtual hardware, by the firmware that each begins with. */
const FIRMWARE_OF: Readonly<Record<number, Firmware>> = { 1: "bios", 2: "uefi" };

/**
 * The firmware and the generation that are wanted. A driver without generations gets the firmware that the one asked for
 * begins with. Throws `hv.usage` when the two do not agree.
 */
export function readHardwareWish(
  driver: Driver,
  { firmware, generation }: { firmware?: Firmware | undefined; generation?: number | undefined },
): { firmware?: Firmware; generation?: number } {
  const implied = generation === undefined ? undefined : FIRMWARE_OF[generation];
  if (generation === undefined || implied === undefined) return firmware === undefined ? {} : { firmware };
  const agrees = firmware === undefined || (firmware === "bios") === (implied === "bios");
  if (agrees && !driver.features.has("vms.generations")) return { firmware: firmware ?? implied };
  if (agrees) return { generation, ...(firmware === undefined ? {} : { firmware }) };
  throw new HvError(
    "hv.usage",
    `Generation ${generation} begins with ${implied}, and ${firmware} was asked for`,
    {
      hint: "Leave --firmware or --generation out",
      context: { firmware, generation: generation ?? null },
    },
  );
}

/** What is to become of crashes; `undefined` when nothing was said. Throws `hv.unsupported` where nobody would see to it. */
export function readCrashWish(
  driver: Driver,
  { on_crash, panic_on }: { on_crash?: CrashPolicy | undefined; panic_on?: PanicCause[] | undefined },
): CrashSettings | undefined {
  if (on_crash === undefined && panic_on === undefined) return undefined;
  needFeature(driver, "crash_policies", "hvlab dump collect");
  return {
    ...(on_crash === undefined ? {} : { on_crash }),
    ...(panic_on === undefined ? {} : { panic_on: [...new Set(panic_on)] }),
  };
}

/** Throws `hv.unsupported` for a part of a machine that the driver does not have. */
export function needFeature(driver: Driver, feature: Feature, instead: string): void {
  if (driver.features.has(feature)) return;
  throw new HvError("hv.unsupported", `The driver "${driver.name}" has no ${feature}`, {
    hint: `Use ${instead} instead`,
    context: { driver: driver.name, feature },
  });
}
