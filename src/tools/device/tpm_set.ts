import { Device, Presence } from "../../contract/device.ts";
import { VmRef } from "../../contract/names.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { findDevice } from "../../flows/finding/find_device.ts";
import { defineTool } from "../define_tool.ts";

/** Gives a VM a TPM 2.0 or takes it away. What it has kept comes back with it. */
export default defineTool({
  name: "tpm_set",
  family: "device",
  class: "M",
  summary: "Give a VM a TPM 2.0 or take it away, at its next start",
  input: { vm: VmRef, presence: Presence },
  positional: ["vm", "presence"],
  help: { presence: "Whether the VM has one" },
  output: Device,
  uses: ["driver", "vm"],
  feature: "devices",
  async handle({ presence }, context) {
    const { driver, vm, signal } = context;
    const devices = abilityOf(driver, "devices");
    await devices.setTpm(vm.id, presence === "on", context);
    return findDevice(vm, await devices.list(vm.id, signal), "tpm");
  },
});
