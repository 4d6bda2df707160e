/** Settings of a VM beside its size: memory that grows, boot order, Secure Boot, TPM, nested virtualisation, notes. */

import { HvError } from "../../../base/errors.ts";
import type { SecureBoot, VmSettings } from "../../../contract/vm_settings.ts";
import type { StateFolder } from "../../../state/layout.ts";
import type { CallScope } from "../../call_scope.ts";
import type { SettingsAbilities } from "../../vm_extras.ts";
import type { SettingsFacts } from "../answers.ts";
import type { HyperV } from "../client.ts";
import { changeWithNotes } from "./notes.ts";
import { looksLikeMark, readText, writeText } from "./tag.ts";

const BYTES_PER_MIB = 1024 * 1024;
const START_ACTIONS = { nothing: "Nothing", if_it_ran: "StartIfRunning", start: "Start" } as const;
const STOP_ACTIONS = { save: "Save", shutdown: "ShutDown", off: "TurnOff" } as const;
const TEMPLATES: Readonly<Record<string, SecureBoot>> = {
  MicrosoftWindows: "windows",
  MicrosoftUEFICertificateAuthority: "linux",
};

/** Reading and writing the settings of this host's VMs. */
export function openSettings(hyperv: HyperV, state: StateFolder): SettingsAbilities {
  return {
    async read(id, signal) {
      const { settings, machine } = await hyperv.settings(id, signal);
      return settingsOf(settings, machine.notes);
    },
    async write(id, settings, scope) {
      if (settings.notes === undefined) return await writeSettings(hyperv, id, settings, scope);
      await changeWithNotes(hyperv, state, id, () => writeSettings(hyperv, id, settings, scope), scope);
    },
  };
}

/** The settings as the tools show them; Hyper-V's own words that we have none for leave a field out. */
function settingsOf(facts: SettingsFacts, notes: string): VmSettings {
  const start = keyOf(START_ACTIONS, facts.start_action);
  const stop = keyOf(STOP_ACTIONS, facts.stop_action);
  const secure_boot = facts.secure_boot === false ? "off" : TEMPLATES[facts.template ?? ""];
  return {
    dynamic_memory: facts.dynamic_memory,
    memory_min_mb: Math.round(Number(facts.memory_min) / BYTES_PER_MIB),
    memory_max_mb: Math.round(Number(facts.memory_max) / BYTES_PER_MIB),
    boot: facts.boot,
    ...(secure_boot === undefined ? {} : { secure_boot }),
    ...(facts.tpm === null ? {} : { tpm: facts.tpm }),
    nested: facts.nested,
    ...(start === undefined ? {} : { on_host_start: start }),
    start_delay_s: facts.start_delay,
    ...(stop === undefined ? {} : { on_host_stop: stop }),
    notes: readText(notes),
  };
}

async function writeSettings(
  hyperv: HyperV,
  id: string,
  wanted: VmSettings,
  scope: CallScope,
): Promise<void> {
  const { settings: facts, machine } = await hyperv.settings(id, scope.signal);
  const startup_mb = Number(machine.memory_startup) / BYTES_PER_MIB;
  const { min, max } = boundsOf(wanted, settingsOf(facts, ""), startup_mb, id);
  if (wanted.notes !== undefined && looksLikeMark(wanted.notes)) {
    throw new HvError("hv.usage", "The notes hold text that hvlab would take for its own mark", {
      hint: "Leave [hvlab; and its like out of --notes",
      context: { vm: id },
    });
  }
  const bytes = (mb: number | undefined): string | null =>
    mb === undefined ? null : String(mb * BYTES_PER_MIB);
  await hyperv.writeSettings(id, {
    dynamic_memory: wanted.dynamic_memory ?? null,
    memory_min: bytes(min),
    memory_max: bytes(max),
    boot: wanted.boot ?? null,
    secure_boot: wanted.secure_boot ?? null,
    tpm: wanted.tpm ?? null,
    nested: wanted.nested ?? null,
    start_action: wanted.on_host_start === undefined ? null : START_ACTIONS[wanted.on_host_start],
    start_delay: wanted.start_delay_s ?? null,
    stop_action: wanted.on_host_stop === undefined ? null : STOP_ACTIONS[wanted.on_host_stop],
    notes: wanted.notes === undefined ? null : writeText(machine.notes, wanted.notes),
    was: wanted.notes === undefined ? null : machine.notes,
  }, scope);
}

/**
 * The bounds that go with a change. A VM that gets dynamic memory keeps its startup memory between them, since Hyper-V
 * refuses anything else and its own defaults need not fit.
 */
function boundsOf(
  { dynamic_memory, memory_min_mb, memory_max_mb }: VmSettings,
  now: VmSettings,
  startup_mb: number,
  id: string,
): { min: number | undefined; max: number | undefined } {
  if ((dynamic_memory ?? now.dynamic_memory) !== true) {
    if (memory_min_mb === undefined && memory_max_mb === undefined) return { min: undefined, max: undefined };
    throw new HvError("hv.usage", "Memory has bounds only when it is dynamic", {
      hint: "Give --dynamic-memory as well",
      context: { vm: id },
    });
  }
  const min = memory_min_mb ??
    (dynamic_memory ? Math.min(now.memory_min_mb ?? startup_mb, startup_mb) : undefined);
  const max = memory_max_mb ??
    (dynamic_memory ? Math.max(now.memory_max_mb ?? startup_mb, startup_mb) : undefined);
  const [least, most] = [min ?? now.memory_min_mb ?? 0, max ?? now.memory_max_mb ?? Infinity];
  const isEven = [min, max].every((mb) => mb === undefined || mb % 2 === 0);
  if (least <= startup_mb && startup_mb <= most && isEven) return { min, max };
  throw new HvError(
    "hv.usage",
    `Startup memory of ${startup_mb} MiB does not lie between ${least} and ${most} MiB, in steps of 2`,
    {
      hint: "Change --memory, --memory-min or --memory-max",
      context: { vm: id, startup_mb, memory_min_mb: least, memory_max_mb: most },
    },
  );
}

function keyOf<K extends string>(table: Readonly<Record<K, string>>, word: string): K | undefined {
  for (const key in table) if (table[key] === word) return key;
  return undefined;
}
