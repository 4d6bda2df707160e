/** What `hvlab.yaml` says, after defaults: the shape that the rest of hvlab reads. */

import type { ToolClass } from "../contract/tool_class.ts";

/** What may be done, as the person who owns this host decided. A call's arguments can never relax it. */
export interface Policy {
  /** `read-only` refuses every tool that is not of class R. */
  mode: "standard" | "read-only";
  /** Classes and tools that are refused on every door. */
  deny: { classes: readonly ToolClass[]; tools: readonly string[] };
  /** VM names or ids that may be used; `null` allows all. */
  vms: readonly string[] | null;
  /** Host folders that tools may write files into; `null` is every folder on the command line and none over MCP. */
  folders: readonly string[] | null;
  /** Addresses below which images may be downloaded; `null` is every one on the command line and none over MCP. */
  downloads: readonly string[] | null;
  /** Ways into guests that may be taken, best first; `null` allows all. */
  channels: readonly ("agent" | "ssh" | "psdirect")[] | null;
  /** VM names or ids on which class X needs no plan token over MCP. */
  exec_without_plan: readonly string[];
  /** Whether class X needs a plan token on the command line too. */
  plan_for_exec_on_command_line: boolean;
  /** Tap devices of this host that network cards of QEMU may be plugged into. */
  taps: readonly string[];
  /** First words of debugger commands that are taken over MCP as well, beside those that only read. */
  debugger_commands: readonly string[];
}

/** Upper bounds for what may exist or be asked for. */
export interface Limits {
  vms: number;
  memory_mb: number;
  cpus: number;
  sandbox_ttl_s: number;
}

/** What each QEMU may take of this host. */
export interface QemuLimits {
  /** Memory beside the guest's own. */
  memory_overhead_mb: number;
  open_files: number;
  /** How far it gives way to other programs, from 0 to 19. */
  nice: number;
}

export interface Config {
  /** The file it was read from; `null` when there is none and all is default. */
  file: string | null;
  /** The state folder; `null` leaves it to `--state`, `HVLAB_STATE` and the platform. */
  state: string | null;
  /** The driver to use; `null` takes this host's default. */
  driver: string | null;
  /** Folders that hold images; empty means `images/` in the state folder. */
  images: readonly string[];
  policy: Policy;
  limits: Limits;
  qemu: QemuLimits;
  /** What a new VM gets when the call does not say. */
  defaults: { memory_mb: number; cpus: number };
  /** Full paths of programs by their usual names. */
  programs: ReadonlyMap<string, string>;
}

/** The configuration of a host without `hvlab.yaml`. */
export const DEFAULT_CONFIG: Config = {
  file: null,
  state: null,
  driver: null,
  images: [],
  policy: {
    mode: "standard",
    deny: { classes: [], tools: [] },
    vms: null,
    folders: null,
    downloads: null,
    channels: null,
    exec_without_plan: [],
    plan_for_exec_on_command_line: false,
    taps: [],
    debugger_commands: [],
  },
  limits: { vms: 64, memory_mb: 1024 * 1024, cpus: 256, sandbox_ttl_s: 7 * 24 * 3600 },
  qemu: { memory_overhead_mb: 4096, open_files: 1024, nice: 2 },
  defaults: { memory_mb: 512, cpus: 1 },
  programs: new Map(),
};
