/** Looking into Windows guests: a fixed PowerShell script for each question, and how its answer is read. */

import * as z from "zod/mini";
import type { EventLevel, GuestEvent } from "../../contract/guest_events.ts";
import type { GuestProcess } from "../../contract/guest_processes.ts";
import type { GuestService, ServiceState } from "../../contract/guest_services.ts";
import type { ProgramRunner } from "../channel.ts";
import type { EventWish, Inspection, Listing, OwnFacts } from "../inspection.ts";
import eventsScript from "./collectors/events.ps1" with { type: "text" };
import infoScript from "./collectors/info.ps1" with { type: "text" };
import processesScript from "./collectors/processes.ps1" with { type: "text" };
import servicesScript from "./collectors/services.ps1" with { type: "text" };
import { askPowerShell } from "./script.ts";

export const WINDOWS_INSPECTION: Inspection = { info, processes, services, events };

const KIBIBYTE = 1024;

const Info = z.object({
  now: z.number(),
  os: z.string(),
  version: z.string(),
  architecture: z.string(),
  host_name: z.string(),
  boot_time: z.nullish(z.string()),
  cpus: z.int(),
  memory_kb: z.string(),
  free_kb: z.string(),
  nics: z.array(z.object({
    name: z.string(),
    mac: z.string(),
    addresses: z.array(z.object({ address: z.string(), prefix: z.string() })),
  })),
  disks: z.array(z.object({ name: z.string(), model: z.string(), size: z.string() })),
  volumes: z.array(
    z.object({ path: z.string(), file_system: z.string(), size: z.string(), free: z.string() }),
  ),
  missing: z.array(z.string()),
});

async function info(channel: ProgramRunner, signal: AbortSignal): Promise<OwnFacts> {
  const facts = Info.parse(await askPowerShell(channel, infoScript, {}, "own facts", signal));
  const { boot_time: bootTime, cpus, memory_kb, free_kb, missing } = facts;
  return {
    os: facts.os.trim(),
    os_version: facts.version,
    kernel: `Windows NT ${facts.version}`,
    architecture: facts.architecture,
    host_name: facts.host_name,
    ...(bootTime ? { boot_time: shortTime(bootTime) } : {}),
    ...(cpus > 0 ? { cpus } : {}),
    ...(memory_kb === "" ? {} : { memory_bytes: Number(memory_kb) * KIBIBYTE }),
    ...(free_kb === "" ? {} : { memory_available_bytes: Number(free_kb) * KIBIBYTE }),
    clock_ms: facts.now,
    clock_step_ms: 1,
    nics: facts.nics.map(({ name, mac, addresses }) => ({
      name,
      mac: mac.toLowerCase(),
      addresses: addresses.map(({ address, prefix }) => `${address}${prefixOf(prefix)}`),
    })),
    disks: facts.disks.map(({ name, model, size }) => ({ name, model, size_bytes: Number(size) })),
    volumes: facts.volumes.map(({ path, file_system, size, free }) => ({
      path,
      file_system,
      size_bytes: Number(size),
      free_bytes: Number(free),
    })),
    ...(missing.length === 0 ? {} : { missing }),
  };
}

/** Windows tells the prefix of IPv6 as a number, and that of IPv4 as a mask. */
function prefixOf(prefix: string): string {
  if (!prefix.includes(".")) return prefix === "" ? "" : `/${prefix}`;
  const bits = prefix.split(".").map((part) => Number(part).toString(2)).join("");
  return `/${[...bits].filter((bit) => bit === "1").length}`;
}

/** PowerShell tells ten-millionths of a second. */
function shortTime(time: string): string {
  return new Date(time).toISOString();
}

const Processes = z.object({
  processes: z.array(z.object({
    pid: z.int(),
    parent: z.int(),
    name: z.string(),
    command_line: z.string(),
    owner: z.string(),
    started: z.nullish(z.string()),
    cpu: z.string(),
    memory: z.string(),
    threads: z.int(),
  })),
});
/** Times of processes are counted in ten-millionths of a second. */
const TICKS_PER_MS = 10_000;

async function processes(channel: ProgramRunner, signal: AbortSignal): Promise<Listing<GuestProcess>> {
  const answer = await askPowerShell(channel, processesScript, {}, "processes", signal);
  const items = Processes.parse(answer).processes.map((process) => ({
    pid: process.pid,
    parent_pid: process.parent,
    name: process.name,
    ...(process.command_line === "" ? {} : { command_line: process.command_line }),
    ...(process.owner === "" ? {} : { owner: process.owner }),
    ...(process.started ? { started_at: shortTime(process.started) } : {}),
    cpu_ms: Math.round(Number(process.cpu) / TICKS_PER_MS),
    memory_bytes: Number(process.memory),
    threads: process.threads,
  }));
  return { items: items.sort((one, other) => one.pid - other.pid), truncated: false };
}

const Services = z.object({
  services: z.array(z.object({
    name: z.string(),
    description: z.string(),
    state: z.string(),
    start: z.string(),
    pid: z.int(),
    exit_code: z.int(),
    service_code: z.int(),
  })),
});
const STATES: Readonly<Record<string, ServiceState>> = {
  "Running": "running",
  "Stopped": "stopped",
  "Start Pending": "starting",
  "Stop Pending": "stopping",
  "Continue Pending": "starting",
  "Pause Pending": "stopping",
  "Paused": "paused",
};
/** Exit codes that are no failure: well ended, and never started since the boot (ERROR_SERVICE_NEVER_STARTED). */
const WELL: ReadonlySet<number> = new Set([0, 1077]);
/** The service's own code stands in another field (ERROR_SERVICE_SPECIFIC_ERROR). */
const OWN_CODE = 1066;

async function services(channel: ProgramRunner, signal: AbortSignal): Promise<Listing<GuestService>> {
  const answer = await askPowerShell(channel, servicesScript, {}, "services", signal);
  const items = Services.parse(answer).services.map((service): GuestService => {
    const { name, description, state, start, pid } = service;
    const hasFailed = state === "Stopped" && !WELL.has(service.exit_code);
    return {
      name,
      description,
      state: hasFailed ? "failed" : STATES[state] ?? "unknown",
      detail: state,
      start,
      ...(pid > 0 ? { pid } : {}),
      ...(hasFailed
        ? { exit_code: service.exit_code === OWN_CODE ? service.service_code : service.exit_code }
        : {}),
    };
  });
  return { items: items.sort((one, other) => one.name < other.name ? -1 : 1), truncated: false };
}

const Events = z.object({
  events: z.array(z.object({
    time: z.string(),
    level: z.int(),
    source: z.string(),
    message: z.string(),
    cut: z.boolean(),
    pid: z.string(),
    id: z.int(),
    log: z.string(),
  })),
  all_searched: z.boolean(),
});
/** The levels of Windows by their numbers; 0 is what is logged always. */
const LEVELS: readonly EventLevel[] = ["info", "critical", "error", "warning", "info", "debug"];
/** The numbers that a level takes in. */
const TAKEN_IN: Readonly<Record<EventLevel, number[]>> = {
  critical: [1],
  error: [1, 2],
  warning: [1, 2, 3],
  info: [0, 1, 2, 3, 4],
  debug: [0, 1, 2, 3, 4, 5],
};
/** How many events are searched for a text. */
const SEARCHED = 20_000;

async function events(
  channel: ProgramRunner,
  { since_s, level, source, text, limit }: EventWish,
  signal: AbortSignal,
): Promise<Listing<GuestEvent>> {
  const wish = {
    since_s: since_s ?? 0,
    levels: TAKEN_IN[level],
    source: source ?? "",
    text: text ?? "",
    count: limit + 1,
    searched: SEARCHED,
  };
  const answer = Events.parse(await askPowerShell(channel, eventsScript, wish, "events", signal));
  return {
    items: answer.events.map((event) => ({
      time: shortTime(event.time),
      level: LEVELS[event.level] ?? "info",
      source: event.source,
      message: event.message,
      ...(event.cut ? { message_truncated: true } : {}),
      ...(event.pid === "" ? {} : { pid: Number(event.pid) }),
      event_id: event.id,
      log: event.log,
    })),
    truncated: !answer.all_searched,
    ...(answer.all_searched ? {} : { warning: `Only the newest ${SEARCHED} events were searched` }),
  };
}
