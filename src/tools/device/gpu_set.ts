import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { Device, GpuMemoryMb, Presence } from "../../contract/device.ts";
import { VmRef } from "../../contract/names.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { findDevice } from "../../flows/finding/find_device.ts";
import { defineTool } from "../define_tool.ts";

/** Gives a VM a part of the host's graphics card, or takes it away. */
export default defineTool({
  name: "gpu_set",
  family: "device",
  class: "M",
  summary: "Give a VM that is off a part of the host's graphics card, or take it away",
  input: {
    vm: VmRef,
    presence: Presence,
    memory_min_mb: z.optional(GpuMemoryMb),
    memory_max_mb: z.optional(GpuMemoryMb),
  },
  positional: ["vm", "presence"],
  help: {
    presence: "Whether the VM has a part",
    memory_min_mb: "Least memory of the card that it gets",
    memory_max_mb: "Most memory of the card that it gets",
  },
  output: Device,
  uses: ["driver", "vm"],
  feature: "gpus",
  async handle({ presence, memory_min_mb, memory_max_mb }, context) {
    const { driver, vm, signal } = context;
    if (memory_min_mb !== undefined && memory_max_mb !== undefined && memory_min_mb > memory_max_mb) {
      throw new HvError(
        "hv.usage",
        `The least memory (${memory_min_mb} MiB) is over the most (${memory_max_mb} MiB)`,
        {
          hint: "Change --memory-min or --memory-max",
          context: { vm: vm.id, memory_min_mb, memory_max_mb },
        },
      );
    }
    const share = {
      ...(memory_min_mb === undefined ? {} : { memory_min_mb }),
      ...(memory_max_mb === undefined ? {} : { memory_max_mb }),
    };
    await abilityOf(driver, "gpus").set(vm.id, presence === "on" ? share : null, context);
    return findDevice(vm, await abilityOf(driver, "devices").list(vm.id, signal), "gpu");
  },
});
