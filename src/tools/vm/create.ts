import * as z from "zod/mini";
import { DiskSizeMb } from "../../contract/arguments.ts";
import { CrashSettings } from "../../contract/crash_policy.ts";
import { WatchdogAction } from "../../contract/device.ts";
import { HostName, ImageName, VmName } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { Firmware, Vm } from "../../contract/vm.ts";
import { readCloudInit } from "../../flows/machines/cloud_init_wish.ts";
import { readKernelWish } from "../../flows/machines/kernel_wish.ts";
import { checkMachineLimits } from "../../flows/machines/machine_limits.ts";
import { needFeature, readCrashWish, readHardwareWish } from "../../flows/machines/machine_wish.ts";
import { readShare, readShares } from "../../flows/machines/shares.ts";
import { defineTool } from "../define_tool.ts";
import { checkGivenName } from "../given_names.ts";
import {
  CRASH_HELP,
  KERNEL_FIELDS,
  KERNEL_HELP,
  SHARE_FIELDS,
  SHARE_HELP,
  SIZE_FIELDS,
  SIZE_HELP,
} from "../machine_fields.ts";

/** Makes a lasting VM from an image, a blank disk with a disc, or a kernel; it is off until it is started. */
export default defineTool({
  name: "vm_create",
  family: "vm",
  class: "M",
  summary: "Create a lasting VM from an image, or a blank disk and an ISO; it stays off",
  input: {
    name: VmName,
    image: z.optional(ImageName),
    ...SIZE_FIELDS,
    full_copy: z.optional(z.boolean()),
    disk_size_mb: z.optional(DiskSizeMb),
    iso: z.optional(Path),
    disk: z.optional(Path),
    parent_disk: z.optional(Path),
    switch: z.optional(z.string().check(z.minLength(1), z.maxLength(255))),
    firmware: z.optional(Firmware),
    generation: z.optional(z.int().check(z.minimum(1), z.maximum(2))),
    network: z._default(z.boolean(), true),
    ...KERNEL_FIELDS,
    ...SHARE_FIELDS,
    tpm: z._default(z.boolean(), false),
    user_data: z.optional(Path),
    ssh_key: z._default(z.array(Path), []),
    host_name: z.optional(HostName),
    watchdog: z.optional(WatchdogAction),
    ...CrashSettings.shape,
  },
  positional: ["name"],
  unlisted: [
    "full_copy",
    "disk",
    "parent_disk",
    "switch",
    "generation",
    "kernel",
    "initrd",
    "append",
    "modules",
    "share",
    "tpm",
    "user_data",
    "ssh_key",
    "host_name",
    "watchdog",
    "on_crash",
    "panic_on",
  ],
  help: {
    name: "Name of the new VM",
    image: "Image that its disk starts from; see hvlab image list",
    full_copy: "Copy the whole image, so that the VM does not need it later",
    disk_size_mb: "Give it a new blank disk of this size",
    iso: "Disc that is in its drive, an ISO file of the host",
    disk: "Disk file of the host that it uses as it is (Hyper-V only)",
    parent_disk: "Make a disk that keeps only what differs from this disk file (Hyper-V only)",
    switch: "Virtual switch that its network card is plugged into",
    firmware: "What it boots with",
    generation: "Generation of Hyper-V's virtual hardware: 1 boots by BIOS, 2 by UEFI",
    network: "Give it a network card",
    tpm: "Give it a TPM 2.0",
    user_data: "File for cloud-init in the guest",
    ssh_key: "Public key that lets its owner in, by cloud-init",
    host_name: "Name of the guest, by cloud-init; the VM's when left out",
    watchdog: "Give it a watchdog; what happens when its guest stops feeding it (QEMU only)",
    ...SIZE_HELP,
    ...KERNEL_HELP,
    ...SHARE_HELP,
    ...CRASH_HELP,
  },
  output: Vm,
  uses: ["driver"],
  opens: ({ share, disk }) => [
    ...share.map((word) => readShare(word).host),
    ...(disk === undefined ? [] : [disk]),
  ],
  feature: "vms",
  timed: true,
  async handle(
    {
      memory_mb,
      cpus,
      network,
      kernel,
      initrd,
      append,
      modules,
      share,
      tpm,
      user_data,
      ssh_key,
      host_name,
      on_crash,
      panic_on,
      name,
      ...given
    },
    context,
  ) {
    const { driver, config, host, door, signal } = context;
    const size = { memory_mb: memory_mb ?? config.defaults.memory_mb, cpus: cpus ?? config.defaults.cpus };
    await checkMachineLimits(driver, config.limits, size, signal);
    const { image, full_copy, disk_size_mb, iso, disk, parent_disk, switch: network_switch, watchdog } =
      given;
    if (disk !== undefined || parent_disk !== undefined) {
      checkGivenName(config, door, name);
      needFeature(driver, "vms.disks", "--disk-size");
    }
    if (network_switch !== undefined) needFeature(driver, "vms.switches", "--network");
    const cloudInit = await readCloudInit(host, { user_data, ssh_key, host_name });
    if (cloudInit !== undefined) needFeature(driver, "cloud_init", "a VM without a seed");
    if (tpm) needFeature(driver, "tpm", "a VM without one");
    if (watchdog !== undefined) needFeature(driver, "watchdog", "a VM without one");
    const crashes = readCrashWish(driver, { on_crash, panic_on });
    const spec = {
      name,
      ...size,
      ...(image === undefined ? {} : { image }),
      ...(full_copy === undefined ? {} : { full_copy }),
      ...(disk_size_mb === undefined ? {} : { disk_size_mb }),
      ...(iso === undefined ? {} : { iso }),
      ...(disk === undefined ? {} : { disk }),
      ...(parent_disk === undefined ? {} : { parent_disk }),
      ...(network_switch === undefined ? {} : { switch: network_switch }),
      ...readHardwareWish(driver, given),
      ...(network ? {} : { network }),
      ...readKernelWish({ kernel, initrd, append, modules }),
      ...await readShares(driver, host, share),
      ...(tpm ? { tpm } : {}),
      ...(cloudInit === undefined ? {} : { cloud_init: cloudInit }),
      ...(watchdog === undefined ? {} : { watchdog }),
      ...(crashes === undefined ? {} : { crashes }),
    };
    return await driver.vms.get(await driver.vms.create(spec, context), signal);
  },
});
