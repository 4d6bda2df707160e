/** The ways in which QEMU can run a guest's instructions, as data: one row for each. */

import type { OperatingSystem } from "../../../host/operating_system.ts";

interface Row {
  /** QEMU's word for it. */
  readonly name: string;
  /** What people call it. */
  readonly label: string;
  /** Where it exists; emulation exists everywhere. */
  readonly system: OperatingSystem | "any";
  /**
   * The processor that guests get. Under KVM it has Hyper-V's crash registers, into which Windows writes its bug check;
   * Linux prefers KVM's own ways. WHPX has no model `host` and no `max` of its own (QEMU's documentation starts without).
   */
  readonly cpu: "host" | "host,hv-crash" | "max" | "qemu64";
  /** How long a boot sector may take under it; a KVM that interprets needed 1.5 s where emulation takes 0.2 s. */
  readonly bootLimitMs: number;
  /** QEMU's words when it fails in the accelerator itself. */
  readonly failure: RegExp | null;
  /** Whether hvlab's tests have run guests under it. */
  readonly tested: boolean;
  /** How a host gets it that has none. */
  readonly fix: string;
}

const NESTED =
  "Use a host whose processor offers virtualisation, or switch on nested virtualisation for this one";

/** The accelerators; a host takes the one of its own system when a guest runs under it, else the last. */
export const ACCELERATORS = [
  {
    name: "kvm",
    label: "KVM",
    system: "linux",
    cpu: "host,hv-crash",
    bootLimitMs: 700,
    failure: /kvm/i,
    tested: true,
    fix: NESTED,
  },
  {
    name: "hvf",
    label: "macOS's hypervisor (HVF)",
    system: "darwin",
    cpu: "host",
    bootLimitMs: 3_000,
    failure: /hvf|HV_(ERROR|BUSY|DENIED|UNSUPPORTED)/,
    tested: false,
    fix: "Use a Mac with an Intel processor: an ARM one emulates x86 guests",
  },
  {
    name: "whpx",
    label: "the Windows Hypervisor Platform (WHPX)",
    system: "windows",
    cpu: "qemu64",
    bootLimitMs: 3_000,
    failure: /whpx/i,
    tested: false,
    fix: "Switch on the Windows feature HypervisorPlatform, or use the Hyper-V driver",
  },
  {
    name: "tcg",
    label: "emulation (TCG)",
    system: "any",
    cpu: "max",
    bootLimitMs: 0,
    failure: null,
    tested: true,
    fix: NESTED,
  },
] as const satisfies readonly Row[];

/** How instructions run: `tcg` emulates and works everywhere. */
export type Accelerator = (typeof ACCELERATORS)[number]["name"];

/** The names of all accelerators. */
export const ACCELERATOR_NAMES: readonly Accelerator[] = ACCELERATORS.map(({ name }) => name);

/** The row of an accelerator. */
export function accelerator(name: Accelerator): Row {
  return ACCELERATORS.find((row) => row.name === name) ?? EMULATION;
}

/** Emulation, which needs nothing of the host. */
export const EMULATION = ACCELERATORS[3];

/** The accelerator that a system has beside emulation. */
export function hardwareOf(system: OperatingSystem): (typeof ACCELERATORS)[number] {
  return ACCELERATORS.find((row) => row.system === system) ?? EMULATION;
}

/** Reads a name that was written down. */
export function isAccelerator(name: unknown): name is Accelerator {
  return ACCELERATORS.some((row) => row.name === name);
}

/** An accelerator as a VM's facts show it: its name, and whether hvlab has never been tried with it. */
export function showAccelerator(name: string): string {
  return ACCELERATORS.some((row) => row.name === name && !row.tested) ? `${name} (untested)` : name;
}
