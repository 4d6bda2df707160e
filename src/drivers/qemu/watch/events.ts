/**
 * From QEMU's events to what happened to a VM. Pure: one translator for each conversation with a monitor, which keeps in
 * mind what was said before. Names and arguments: QEMU's QMP reference, "Run state" and "Block devices".
 */

import { isPlainObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import type { VmEvent, VmEventKind } from "../../../contract/vm.ts";
import { bugCheckIn } from "../console/bug_check.ts";
import { readWatchdogAction } from "../devices/watchdog.ts";
import type { QmpEvent } from "../monitor/qmp.ts";

/** Something that happened, with the time where QEMU said one. */
export interface Happening {
  event: VmEventKind;
  details: JsonObject;
  at: number | null;
}

/** One reboot gives up to nine resets in a row (seen on QEMU 7.2 with its own firmware). */
const RESETS_OF_ONE_MS = 2_000;
/** Reboots that follow each other so closely are a loop when they are as many. */
const LOOP_MS = 120_000;
const LOOP_RESETS = 3;
/** A guest that goes on after disk errors can meet thousands of them. */
const DISK_ERRORS_OF_ONE_MS = 10_000;

/** Run states in which the processors stand still. */
const HALTED: ReadonlySet<string> = new Set([
  ...[
    "paused",
    "debug",
    "suspended",
    "guest-panicked",
    "io-error",
    "internal-error",
    "watchdog",
    "postmigrate",
  ],
  ...["save-vm", "finish-migrate"],
]);

/** Translates the events of one machine. */
export class EventTranslator {
  #halted: boolean;
  #isOver = false;
  #isPowerCut = false;
  #lastReset = -Infinity;
  #reboots: number[] = [];
  #lastDiskError = -Infinity;

  /** `status` is QEMU's run state when the conversation began. */
  constructor(status: string) {
    this.#halted = HALTED.has(status);
  }

  /** What an event means; `undefined` for one that tells nothing new. */
  translate({ name, data, at }: QmpEvent): Happening | undefined {
    const of = (event: VmEventKind, details: JsonObject = {}): Happening => ({ event, details, at });
    switch (name) {
      case "STOP":
        return this.#halt() ? of("paused") : undefined;
      case "RESUME":
        if (!this.#halted) return undefined;
        this.#halted = false;
        return of("resumed");
      case "SHUTDOWN":
        // With guests that go off by themselves a second one follows, from QEMU's own end.
        if (this.#isOver) return undefined;
        this.#isOver = true;
        return of("stopped", pick(data, ["reason", "guest"]));
      case "RESET":
        return this.#isNewReset(at)
          ? of("reset", { ...pick(data, ["reason", "guest"]), ...this.#loop(at) })
          : undefined;
      case "GUEST_PANICKED":
        if (data.action === "pause") this.#halt();
        return of("crashed", crashDetails(data));
      case "GUEST_CRASHLOADED":
        return of("crashed", { ...crashDetails(data), crash_kernel: true });
      case "BLOCK_IO_ERROR":
        return this.#isNewDiskError(data, at) ? of("io_error", diskErrorDetails(data)) : undefined;
      case "POWERDOWN":
        return of("button");
      case "WATCHDOG":
        return of("watchdog", this.#noteWatchdog(readWatchdogAction(data.action)));
      case "SUSPEND":
      case "SUSPEND_DISK":
        return of("suspended", name === "SUSPEND" ? {} : { to: "disk" });
      case "WAKEUP":
        return of("woken");
      default:
        return undefined;
    }
  }

  /** The machine is about to be halted for a crash that QEMU knows nothing of. */
  haltForCrash(): void {
    this.#halted = true;
  }

  /** What the end of the stream means: without a word before it, QEMU was killed. */
  end(): Happening | undefined {
    if (this.#isOver) return undefined;
    this.#isOver = true;
    if (this.#isPowerCut) return { event: "stopped", details: { reason: "watchdog" }, at: null };
    return { event: "died", details: {}, at: null };
  }

  /** Whether the machine ran until now; a stop that follows a crash or a disk error is part of it. */
  #halt(): boolean {
    const ran = !this.#halted;
    this.#halted = true;
    return ran;
  }

  /** The stop of a watchdog that pauses is part of it; one that cuts the power ends QEMU without a further word. */
  #noteWatchdog(action: JsonValue): JsonObject {
    if (action === "pause") this.#halt();
    this.#isPowerCut = action === "off";
    return { action };
  }

  #isNewReset(at: number | null): boolean {
    const time = at ?? 0;
    const isNew = time - this.#lastReset >= RESETS_OF_ONE_MS;
    this.#lastReset = time;
    return isNew;
  }

  /** Of a guest that reboots again and again, how often it did lately. */
  #loop(at: number | null): JsonObject {
    const time = at ?? 0;
    this.#reboots = [...this.#reboots.filter((earlier) => time - earlier < LOOP_MS), time];
    return this.#reboots.length >= LOOP_RESETS ? { loop: true, resets: this.#reboots.length } : {};
  }

  #isNewDiskError({ action }: JsonObject, at: number | null): boolean {
    if (action === "stop") return this.#halt();
    const time = at ?? 0;
    if (time - this.#lastDiskError < DISK_ERRORS_OF_ONE_MS) return false;
    this.#lastDiskError = time;
    return true;
  }
}

/**
 * What a run state that was found says about the time before it, when the last that is known is this event; `undefined`
 * when they agree.
 */
export function missedEvent(
  status: string,
  last: Pick<VmEvent, "event" | "details">,
): VmEventKind | undefined {
  const found = stateEvent(status);
  const { action = "pause" } = last.details;
  const known = last.event === "watchdog" && action !== "pause" ? "started" : STATE_AFTER[last.event];
  if (found === undefined || found === known) return undefined;
  return found === "started" ? "resumed" : found;
}

/** The event after which a run state is what it is; `undefined` for those that pass. */
function stateEvent(status: string): VmEventKind | undefined {
  switch (status) {
    case "running":
      return "started";
    case "paused":
      return "paused";
    case "guest-panicked":
    case "internal-error":
      return "crashed";
    case "io-error":
      return "io_error";
    case "suspended":
      return "suspended";
    case "watchdog":
      return "watchdog";
    default:
      return undefined;
  }
}

/** The state that an event leaves behind, named by the event that stands for it. */
const STATE_AFTER: Readonly<Record<VmEventKind, VmEventKind>> = {
  started: "started",
  resumed: "started",
  reset: "started",
  button: "started",
  woken: "started",
  expired: "started",
  stopped: "stopped",
  saved: "stopped",
  died: "stopped",
  paused: "paused",
  crashed: "crashed",
  io_error: "io_error",
  watchdog: "watchdog",
  suspended: "suspended",
};

/** Whether an event ends a machine's run. */
export function isEnd(event: VmEventKind): boolean {
  return STATE_AFTER[event] === "stopped";
}

function pick(data: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(data).filter(([name]) => names.includes(name)));
}

/** What was said of a crash; numbers may have 64 bits and are hexadecimal text. */
function crashDetails({ action, info }: JsonObject): JsonObject {
  const details: JsonObject = typeof action === "string" ? { action } : {};
  if (!isPlainObject(info)) return details;
  const said: JsonObject = {};
  for (const [name, value] of Object.entries(info)) {
    if (isJson(value)) said[name] = typeof value === "number" ? `0x${BigInt(value).toString(16)}` : value;
  }
  const bugCheck = bugCheckIn(said);
  return { ...details, info: said, ...(bugCheck === undefined ? {} : { bug_check: { ...bugCheck } }) };
}

function isJson(value: unknown): value is JsonValue {
  return value !== undefined;
}

function diskErrorDetails(data: JsonObject): JsonObject {
  const node = data["node-name"];
  return {
    ...pick(data, ["device", "operation", "action", "reason"]),
    ...(typeof node === "string" ? { node } : {}),
    ...(data.nospace === true ? { disk_full: true } : {}),
  };
}
