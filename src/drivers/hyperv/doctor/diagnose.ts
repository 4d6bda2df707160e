/** What `doctor` looks at on a Hyper-V host. Each check stands by itself; none throws. */

import * as z from "zod/mini";
import { toHvError } from "../../../base/errors.ts";
import type { Finding } from "../../../contract/finding.ts";
import type { HyperV } from "../client.ts";
import { CANDIDATES, type SidecarFacts } from "../sidecar/probe.ts";
import { type ShellTrial, tryShells } from "./report.ts";
import { simulatedWorld } from "../sidecar/simulation.ts";

const GROUP = "S-1-5-32-578";

const fact = <T extends z.ZodMiniType>(value: T) =>
  z.object({ value: z.optional(z.nullable(value)), failure: z.optional(z.string()) });

const HostFacts = z.object({
  system: fact(z.object({ hypervisor_present: z.boolean() })),
  windows: fact(z.object({ caption: z.string(), build: z.string() })),
  service: fact(z.string()),
  rights: fact(
    z.object({
      elevated: z.boolean(),
      administrator: z.boolean(),
      hyperv_administrator: z.boolean(),
      allowed: z.boolean(),
    }),
  ),
  host: fact(z.object({ machines_folder: z.string() })),
  default_switch: fact(z.string()),
});
type HostFacts = z.infer<typeof HostFacts>;

/** Everything that Hyper-V needs on this host, and what to do about what is missing. */
export async function diagnose(hyperv: HyperV, signal: AbortSignal): Promise<Finding[]> {
  const simulation: Finding[] = simulatedWorld(hyperv.host) === undefined ? [] : [{
    check: "host",
    status: "warning",
    finding: "this Hyper-V is simulated",
    fix: "Unset HVLAB_HYPERV_SIM to use the real one",
  }];
  const debuggerFound = await findDebugger(hyperv);
  try {
    const facts = await hyperv.facts(signal);
    const host = HostFacts.parse(await hyperv.hostFacts(signal));
    return [
      ...simulation,
      ...sidecarFindings(facts),
      ...await otherShells(hyperv, signal),
      windowsFinding(host),
      hypervisorFinding(host),
      serviceFinding(host),
      rightsFinding(host),
      answersFinding(host),
      switchFinding(host),
      debuggerFound,
    ];
  } catch (error) {
    const { message, hint } = toHvError(error);
    return [
      ...simulation,
      { check: "Hyper-V", status: "broken", finding: message, ...(hint === undefined ? {} : { fix: hint }) },
      await findShells(hyperv),
      debuggerFound,
    ];
  }
}

function sidecarFindings(facts: SidecarFacts): Finding[] {
  const { edition, version, module_version, load_ms, cure, restored, language_mode } = facts;
  const cures = {
    none: "nothing had to be put right",
    environment: `missing variables were set: ${restored.join(", ")}`,
    computer_name: "the cmdlets need -ComputerName localhost here, and get it",
  };
  return [
    {
      check: "PowerShell",
      status: language_mode === "FullLanguage" ? "ok" : "broken",
      finding: `PowerShell ${version} (${edition}) in ${language_mode}; ${cures[cure]}`,
      ...(language_mode === "FullLanguage"
        ? {}
        : { fix: "Let PowerShell run in full language mode for this program" }),
    },
    {
      check: "Hyper-V module",
      status: "ok",
      finding: `version ${module_version}, loaded in ${load_ms} ms`,
    },
  ];
}

/** The other PowerShells of this host: whether the module works in them too. */
async function otherShells(hyperv: HyperV, signal: AbortSignal): Promise<Finding[]> {
  const current = await hyperv.program(signal);
  const others = (await tryShells(hyperv, signal)).filter(({ program }) => program !== current);
  return others.map((trial) => shellFinding(trial, current));
}

/** What came of trying a PowerShell beside the one that is used. None is needed, so nothing here is broken. */
export function shellFinding({ program, facts, failure }: ShellTrial, current: string): Finding {
  const check = `PowerShell (${program})`;
  if (facts !== undefined) {
    const { version, module_version } = facts;
    return { check, status: "ok", finding: `version ${version} works too, with module ${module_version}` };
  }
  if (failure === undefined) return { check, status: "ok", finding: "not installed, and not needed" };
  return {
    check,
    status: "warning",
    finding: `${failure.message}; "${current}" is used`,
    fix: "Nothing has to be done while the other one works",
  };
}

function windowsFinding({ windows: { value, failure } }: HostFacts): Finding {
  const check = "edition";
  if (!value) return { check, status: "warning", finding: `The edition of Windows is unknown: ${failure}` };
  return { check, status: "ok", finding: `${value.caption}, build ${value.build}` };
}

function hypervisorFinding({ system: { value, failure } }: HostFacts): Finding {
  const check = "hypervisor";
  if (!value) {
    return { check, status: "warning", finding: `Whether the hypervisor runs is unknown: ${failure}` };
  }
  if (value.hypervisor_present) return { check, status: "ok", finding: "the hypervisor runs" };
  return {
    check,
    status: "broken",
    finding: "no hypervisor runs",
    fix:
      "Turn virtualisation on in the firmware and the Windows feature Hyper-V on, then restart the computer",
  };
}

function serviceFinding({ service: { value, failure } }: HostFacts): Finding {
  const check = "service";
  if (value === "Running") return { check, status: "ok", finding: "the service vmms runs" };
  if (value === "Missing") {
    return {
      check,
      status: "broken",
      finding: "there is no service vmms",
      fix: "Turn the Windows feature Hyper-V on and restart the computer",
    };
  }
  return {
    check,
    status: "broken",
    finding: `The service vmms does not run: ${value ?? failure}`,
    fix: "Start it from an elevated console: Start-Service vmms",
  };
}

function rightsFinding({ rights: { value, failure } }: HostFacts): Finding {
  const check = "rights";
  if (!value) {
    return { check, status: "warning", finding: `The rights of this account are unknown: ${failure}` };
  }
  const elevation = value.elevated ? "elevated" : "not elevated";
  if (value.hyperv_administrator) {
    return { check, status: "ok", finding: `this account is in the group ${GROUP}, ${elevation}` };
  }
  if (value.allowed) return { check, status: "ok", finding: `this is an administrator, ${elevation}` };
  return {
    check,
    status: "broken",
    finding: `this account is not in the group ${GROUP} (Hyper-V Administrators), ${elevation}`,
    fix: "Have it added to that group, then sign out and in again; a token keeps the groups of its logon",
  };
}

function answersFinding({ host: { value, failure } }: HostFacts): Finding {
  const check = "answers";
  if (value) {
    return { check, status: "ok", finding: `Hyper-V answers; VMs lie in "${value.machines_folder}"` };
  }
  return {
    check,
    status: "broken",
    finding: `Hyper-V does not answer: ${failure}`,
    fix: "See the checks above",
  };
}

function switchFinding({ default_switch: { value } }: HostFacts): Finding {
  const check = "default switch";
  if (value) return { check, status: "ok", finding: `"${value}" gives VMs a network` };
  return {
    check,
    status: "warning",
    finding: "there is no built-in switch, so VMs have no network unless they are given one",
    fix: "Name a switch with --switch",
  };
}

async function findShells({ host }: HyperV): Promise<Finding> {
  const check = "PowerShell";
  const programs = host.os === "windows" ? CANDIDATES.windows : CANDIDATES.other;
  const found: string[] = [];
  for (const program of programs) {
    const place = await host.processes.find(program);
    if (place !== undefined) found.push(place);
  }
  if (found.length > 0) return { check, status: "ok", finding: `found ${found.join(", ")}` };
  return {
    check,
    status: "broken",
    finding: `none of ${programs.join(", ")} is on PATH`,
    fix: 'Install PowerShell, or name its place under "programs" in hvlab.yaml',
  };
}

async function findDebugger({ host }: HyperV): Promise<Finding> {
  const check = "debugger";
  const place = await host.processes.find("cdb.exe");
  if (place !== undefined) return { check, status: "ok", finding: `cdb.exe is at "${place}"` };
  return {
    check,
    status: "warning",
    finding: "cdb.exe is not on PATH; dumps are read without it, in less depth",
    fix: 'Install the Debugging Tools for Windows and name cdb.exe under "programs" in hvlab.yaml',
  };
}
