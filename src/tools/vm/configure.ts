import * as z from "zod/mini";
import { HvError, toHvError } from "../../base/errors.ts";
import { CrashSettings } from "../../contract/crash_policy.ts";
import { VmRef } from "../../contract/names.ts";
import { Vm } from "../../contract/vm.ts";
import { VmSettings } from "../../contract/vm_settings.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { checkMachineSize } from "../../flows/machines/machine_limits.ts";
import { notToldYet } from "../../flows/crashes/guest_panic.ts";
import { needFeature, readCrashWish } from "../../flows/machines/machine_wish.ts";
import { defineTool } from "../define_tool.ts";
import { CRASH_HELP, SETTINGS_HELP, SIZE_FIELDS } from "../machine_fields.ts";

/** Changes what a VM is given. A size that a living VM cannot take on waits for its next start; settings never wait. */
export default defineTool({
  name: "vm_configure",
  family: "vm",
  class: "M",
  summary: "Change a VM's memory, processors or settings, now or at its next start",
  input: {
    vm: VmRef,
    ...SIZE_FIELDS,
    ...CrashSettings.shape,
    ...VmSettings.shape,
  },
  positional: ["vm"],
  help: { ...CRASH_HELP, ...SETTINGS_HELP },
  unlisted: ["on_crash", "panic_on"],
  /** `now` names what holds already; the rest stands under `at_next_start`. */
  output: z.extend(Vm, { now: z.array(z.string()) }),
  uses: ["driver", "vm"],
  feature: "configure",
  async handle({ vm: _, memory_mb, cpus, on_crash, panic_on, ...given }, context) {
    const { driver, config, vm, signal } = context;
    const size = {
      ...(memory_mb === undefined ? {} : { memory_mb }),
      ...(cpus === undefined ? {} : { cpus }),
    };
    const settings = VmSettings.parse(
      Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    );
    const changesSize = Object.keys(size).length > 0;
    const changesSettings = Object.keys(settings).length > 0;
    const crashes = readCrashWish(driver, { on_crash, panic_on });
    if (!changesSize && !changesSettings && crashes === undefined) {
      throw new HvError("hv.usage", `There is nothing to change about "${vm.name}"`, {
        hint: "Give --memory, --cpus or --on-crash",
        context: { vm: vm.id },
      });
    }
    checkMachineSize(config.limits, size);
    checkMachineSize(config.limits, { memory_mb: settings.memory_max_mb });
    if (changesSettings) needFeature(driver, "settings", "--memory or --cpus");
    const now: string[] = [];
    if (changesSize) now.push(...(await abilityOf(driver, "configure").configure(vm.id, size, context)).now);
    if (crashes !== undefined) {
      const changed = await abilityOf(driver, "crashes").configure(vm.id, crashes, context);
      now.push(...changed.now);
      if (changed.problem !== undefined) context.warn(notToldYet(vm.name, changed.problem));
    }
    if (!changesSettings) return { ...await driver.vms.get(vm.id, signal), now };
    const abilities = abilityOf(driver, "settings");
    try {
      await abilities.write(vm.id, settings, context);
    } catch (error) {
      throw changesSize ? toHvError(error).withContext({ changed: Object.keys(size) }) : error;
    }
    const seen = await abilities.read(vm.id, signal);
    return {
      ...await driver.vms.get(vm.id, signal),
      settings: seen,
      now: [...now, ...Object.keys(settings)],
    };
  },
});
