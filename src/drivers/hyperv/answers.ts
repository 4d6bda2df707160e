/** What the operations answer with, as far as no file of a family of tools of its own states it. */

import * as z from "zod/mini";
import { BootDevice } from "../../contract/vm_settings.ts";
import { CheckpointFacts, MachineAnswer } from "./map.ts";

/** Every VM; a row that cannot be read must not hide the others. */
export const Listing = z.object({
  machines: z.array(z.record(z.string(), z.unknown())),
  warnings: z.array(z.string()),
});

/** A VM's disks, and who needs them. */
export const Disks = z.object({
  /** `own` ones lie in the VM's own folder and go with it. */
  disks: z.array(z.object({ path: z.string(), size_bytes: z.nullable(z.string()), own: z.boolean() })),
  /** Other VMs whose disks lie in that folder or hang on one that does. */
  dependants: z.array(z.object({ vm: z.string(), name: z.string(), path: z.string() })),
  /** Disks of other VMs of which that cannot be told. */
  unread: z.array(z.string()),
  machine: MachineAnswer.shape.machine,
});
export type MachineDisks = z.infer<typeof Disks>;

/** What `Get-ImageDisk` says of a disk. */
export const DiskFacts = z.object({
  format: z.string(),
  type: z.string(),
  parent: z.nullable(z.string()),
});

/** A picture of the screen in RGB565, base64. */
export const Screen = z.object({
  width: z.int().check(z.minimum(1), z.maximum(16_384)),
  height: z.int().check(z.minimum(1), z.maximum(16_384)),
  image: z.base64(),
});

/** What a removal took away, and what it kept. */
export const Removal = z.object({
  name: z.string(),
  files: z.array(z.string()),
  kept: z.array(z.string()),
  warnings: z.array(z.string()),
});

/** The folders that hvlab made for VMs. Sizes come as text. */
export const Folders = z.object({
  folders: z.array(
    z.object({ name: z.string(), path: z.string(), size_bytes: z.string(), created: z.nullable(z.string()) }),
  ),
});

/** As `Get-MachineSettings` gives them. Bytes come as text; what a generation does not have is `null`. */
export const SettingsFacts = z.object({
  dynamic_memory: z.boolean(),
  memory_min: z.string(),
  memory_max: z.string(),
  boot: z.array(BootDevice),
  nested: z.boolean(),
  start_action: z.string(),
  start_delay: z.int(),
  stop_action: z.string(),
  secure_boot: z.nullable(z.boolean()),
  template: z.nullable(z.string()),
  tpm: z.nullable(z.boolean()),
});
export type SettingsFacts = z.infer<typeof SettingsFacts>;

/** The settings, and the VM that they are of. */
export const Settings = z.object({ settings: SettingsFacts, machine: MachineAnswer.shape.machine });

/** The files of an export, and the VM as it was exported. */
export const Export = z.object({ files: z.array(z.string()), machine: MachineAnswer.shape.machine });

/** What Hyper-V says of an exported VM. */
export const ExportedMachine = z.object({ name: z.string(), memory_startup: z.string(), cpus: z.int() });

/** The files of an exported checkpoint; the size is the checkpoint's own. */
export const CheckpointExport = z.object({
  files: z.array(z.string()),
  checkpoint: CheckpointFacts,
  memory_startup: z.string(),
  cpus: z.int(),
});

/** The checkpoints of a VM. */
export const CheckpointListing = z.object({
  checkpoints: z.array(CheckpointFacts),
  machine: MachineAnswer.shape.machine,
});
