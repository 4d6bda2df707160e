/** What drivers do with devices of VMs. */

import type { Device } from "../contract/device.ts";
import type { CallScope } from "./call_scope.ts";

/** Feature `devices`. What a living machine cannot take on waits for the VM's next start. */
export interface DeviceAbilities {
  /** Everything that is plugged in, now or from the next start on. */
  list(id: string, signal: AbortSignal): Promise<Device[]>;
  /**
   * Puts a disc into the VM's drive, or takes it out when `disc` is `null`. A disc that the guest holds is
   * `hv.conflict` unless `force` is set.
   */
  setDvd(id: string, disc: string | null, options: { force: boolean }, scope: CallScope): Promise<void>;
  /** Gives the VM a TPM or takes it away; what the TPM has kept stays for when it comes back. */
  setTpm(id: string, present: boolean, scope: CallScope): Promise<void>;
}

/** What changes about a serial port; a field that is left out stays. */
export interface SerialPortChange {
  /** Where its other end is on this host: a unix socket, on Windows a named pipe; `null` for nowhere. */
  path?: string | null;
  /** Feature `serial_ports.debugger`: whether the guest's kernel debugger may use it. */
  debugger?: boolean;
}

/** Feature `serial_ports`. */
export interface SerialPortAbilities {
  set(id: string, port: number, change: SerialPortChange, scope: CallScope): Promise<void>;
}

/** Bounds of a part of a graphics card, in MiB of its memory; the provider's own when left out. */
export interface GpuShare {
  memory_min_mb?: number;
  memory_max_mb?: number;
}

/** Feature `gpus`: parts of the host's graphics cards. */
export interface GpuAbilities {
  /** Gives the VM a part or changes its bounds; `null` takes it away. */
  set(id: string, share: GpuShare | null, scope: CallScope): Promise<void>;
}
