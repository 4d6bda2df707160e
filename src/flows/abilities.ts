/** Abilities that not every driver has. */

import { HvError } from "../base/errors.ts";
import type { CheckpointAbilities } from "../drivers/checkpoint_abilities.ts";
import type { CrashAbilities } from "../drivers/crash_abilities.ts";
import type { DiskAbilities } from "../drivers/disk_abilities.ts";
import type {
  ConsoleAbilities,
  DebugStubAbilities,
  NmiAbilities,
  SerialAbilities,
} from "../drivers/console_abilities.ts";
import type { MemoryDumpAbilities } from "../drivers/memory_dump_abilities.ts";
import type { Driver, ImageAbilities, SandboxAbilities } from "../drivers/driver.ts";
import type { DeviceAbilities, GpuAbilities, SerialPortAbilities } from "../drivers/device_abilities.ts";
import type { ForwardAbilities, NicAbilities, SwitchAbilities } from "../drivers/network_abilities.ts";
import type { ImageStoreAbilities } from "../drivers/image_store_abilities.ts";
import type { TemplateAbilities } from "../drivers/template_abilities.ts";
import type {
  AdoptionAbilities,
  ConfigureAbilities,
  CopyAbilities,
  EventAbilities,
  PauseAbilities,
  SettingsAbilities,
} from "../drivers/vm_extras.ts";

interface OptionalAbilities {
  images: ImageAbilities;
  imageStore: ImageStoreAbilities;
  sandboxes: SandboxAbilities;
  templates: TemplateAbilities;
  checkpoints: CheckpointAbilities;
  disks: DiskAbilities;
  forwards: ForwardAbilities;
  devices: DeviceAbilities;
  serial_ports: SerialPortAbilities;
  gpus: GpuAbilities;
  switches: SwitchAbilities;
  nics: NicAbilities;
  pause: PauseAbilities;
  configure: ConfigureAbilities;
  crashes: CrashAbilities;
  settings: SettingsAbilities;
  copies: CopyAbilities;
  adoption: AdoptionAbilities;
  events: EventAbilities;
  dumps: MemoryDumpAbilities;
  console: ConsoleAbilities;
  serial: SerialAbilities;
  nmi: NmiAbilities;
  debug_stub: DebugStubAbilities;
}

/** A driver's ability; `hv.unsupported` when it has none. */
export function abilityOf<K extends keyof OptionalAbilities>(
  driver: Driver,
  ability: K,
): OptionalAbilities[K] {
  const found: Partial<OptionalAbilities> = driver;
  const present = found[ability];
  if (present !== undefined) return present;
  throw new HvError("hv.unsupported", `The driver "${driver.name}" has no ${ability}`, {
    hint: `It has ${[...driver.features].join(", ")}`,
    context: { driver: driver.name, feature: ability },
  });
}
