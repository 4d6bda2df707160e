/** One kernel report as it is put together line by line. */

import type { ConsoleLine } from "./lines.ts";
import type { Rank } from "./rules.ts";

/** A function of a printed stack. */
export interface PrintedFrame {
  readonly name: string;
  /** Offset in it and its size. */
  readonly offset: number;
  readonly module: string | null;
  /** Marked `?`: a word on the stack, maybe no frame. */
  readonly unsure: boolean;
  /** Whether the name is that of the function behind the one that called. */
  readonly misnamed: boolean;
}

/** What is known of a report. */
export interface ConsoleReport {
  class: string;
  rank: Rank;
  headline: string;
  /** Which boot of the text it belongs to, from 1. */
  boot: number;
  line: number;
  time: number | null;
  /** Whether its first line is that of a panic. */
  isPanic: boolean;
  /** What the first line says: address, pid, file, ... */
  facts: Readonly<Record<string, string>>;
  /** The line before it that says why. */
  reason: string | null;
  cpu: number | null;
  pid: number | null;
  comm: string | null;
  release: string | null;
  taint: string | null;
  /** `[#1]` is 1. */
  oopsNumber: number | null;
  /** Address of the fault, printed last and on its own. */
  cr2: string | null;
  /** The interrupted place as it was printed. */
  place: string | null;
  placeFrame: PrintedFrame | null;
  /** Where ARM64's link register led when the place was left. */
  linkFrame: PrintedFrame | null;
  /** The first trace, as printed. */
  frames: PrintedFrame[];
  machine: "x64" | "arm64" | null;
}

const MOST_FRAMES = 128;
const FRAME_TEXT =
  "(?<name>[A-Za-z_][\\w.]*)\\+0x(?<offset>[0-9a-f]+)/0x[0-9a-f]+(?: \\[(?<module>[\\w-]+)(?: [0-9a-f]{8,})?\\])?";
const SYMBOL = new RegExp(`^${FRAME_TEXT}`);
const FRAME = new RegExp(`^\\s*(?:\\[<[0-9a-f]+>\\] )?(?<unsure>\\? )?${FRAME_TEXT}(?: \\(.*\\))?\\s*$`);
const PLACE =
  /^(?:RIP: (?<segment>[0-9a-f]{4}):(?:\[<[0-9a-f]+>\]\s+(?:\[<[0-9a-f]+>\]\s+)?)?|pc : )(?<place>.+)$/;
const LINK = /^lr : (?<place>.+)$/;
/** Lines of ARM64 that say in words what the fault was. */
const ABORT = /^\s+(?:EC = 0x[0-9a-f]+: (?<what>[^,]{1,64})|FSC = 0x[0-9a-f]+: (?<how>.{1,64}))/;
/** A processor that an RCU stall names: its number and its state in letters. */
const STALLED = /^(?:rcu: )?\s*(?<cpu>\d{1,5})-[\w.!?]{3,8}: \(/;
const WHO =
  /^CPU: (?<cpu>\d+) (?:UID: \d+ )?PID: (?<pid>\d+) Comm: (?<comm>.{1,64}?) (?<taint>Not tainted|Tainted: [A-Z ()]{0,64}?)\s{1,8}(?<release>\d+\.\d+\S*)/;
const OOPS_NUMBER = /[0-9a-f]{4,16} \[#(?<number>\d+)\]/;
const CR2 = /^CR2: ([0-9a-f]{8,16})$/;
const TRACE = /^(?:\S+ )?Call (?<word>[Tt]race):/;
/** ARM64 writes the word small, of all that print functions in this form. */
const ARM64_WORD = "trace";
/** Lines that stand inside a trace and end it not: stack names, bare addresses, registers of an interrupted place. */
const IN_TRACE =
  /^\s*<\/?(?:TASK|IRQ|NMI|SOFTIRQ|EOI|EOE|#\w+|\w{0,16}STACK\w{0,16})>\s*$|^\s+(?:\? )?0x[0-9a-f]+$|^(?:Code|RSP|R[A-Z0-9]{2}|FS|CS|CR2|PKRU|DR\d)\b/;

/** Takes the lines behind a report's first one. */
export class ReportReader {
  readonly report: ConsoleReport;
  #inTrace = false;
  #traceWord = "";
  #traceCaller: string | null = null;
  #saidWho = false;

  constructor(report: ConsoleReport) {
    this.report = report;
  }

  /** Whether no detail came yet, so that another first line may still belong to this report. */
  get isFresh(): boolean {
    return this.report.frames.length === 0 && !this.#saidWho;
  }

  /** Takes one line; tells whether it said something. */
  take({ text, caller }: ConsoleLine): boolean {
    if (this.#inTrace && caller !== null && this.#traceCaller !== null && caller !== this.#traceCaller) {
      return false;
    }
    const numbered = OOPS_NUMBER.exec(text);
    if (numbered !== null) this.report.oopsNumber ??= Number(numbered.groups?.["number"]);
    if (
      this.#takeWho(text) || this.#takePlace(text) || this.#takeLink(text) || this.#takeAbort(text) ||
      this.#takeStalled(text)
    ) {
      return true;
    }
    const cr2 = CR2.exec(text)?.[1];
    if (cr2 !== undefined) this.report.cr2 = cr2;
    const trace = TRACE.exec(text);
    if (trace !== null) {
      this.#traceWord = trace.groups?.["word"] ?? "";
      // Only the first trace is the report's own.
      this.#inTrace = this.report.frames.length === 0;
      this.#traceCaller = caller;
      return true;
    }
    if (!this.#inTrace) return cr2 !== undefined || numbered !== null;
    const frame = printedFrame(FRAME.exec(text), "trace");
    if (frame !== null) {
      if (this.report.frames.length < MOST_FRAMES) this.report.frames.push(frame);
      if (this.#traceWord === ARM64_WORD) this.report.machine ??= "arm64";
    } else if (!IN_TRACE.test(text)) this.#inTrace = false;
    return this.#inTrace;
  }

  #takeWho(text: string): boolean {
    if (this.#saidWho || !text.startsWith("CPU: ")) return false;
    const who = WHO.exec(text)?.groups;
    if (who === undefined) return false;
    this.#saidWho = true;
    const taint = who["taint"] ?? "";
    this.report.cpu = Number(who["cpu"]);
    this.report.pid = Number(who["pid"]);
    this.report.comm = who["comm"] ?? null;
    this.report.release = who["release"] ?? null;
    this.report.taint = taint.startsWith("Not") ? "" : taint.slice("Tainted: ".length).replace(/[^A-Z]/g, "");
    return true;
  }

  #takeLink(text: string): boolean {
    const place = LINK.exec(text)?.groups?.["place"];
    if (place === undefined) return false;
    if (this.report.frames.length === 0) {
      this.report.linkFrame ??= printedFrame(SYMBOL.exec(place), "register");
    }
    return true;
  }

  #takeAbort(text: string): boolean {
    const abort = ABORT.exec(text)?.groups;
    if (abort === undefined || this.#saidWho) return false;
    const said = abort["what"] ?? abort["how"] ?? "";
    this.report.reason = this.report.reason === null ? said : `${this.report.reason}, ${said}`;
    return true;
  }

  /** The first processor that is stuck; the one that noticed says more of itself. */
  #takeStalled(text: string): boolean {
    const { report } = this;
    const cpu = report.class === "rcu-stall" ? STALLED.exec(text)?.groups?.["cpu"] : undefined;
    if (cpu === undefined) return false;
    if (report.facts["cpu"] === undefined) report.facts = { ...report.facts, cpu };
    report.cpu ??= Number(cpu);
    return true;
  }

  #takePlace(text: string): boolean {
    const match = PLACE.exec(text)?.groups;
    const place = match?.["place"];
    if (match === undefined || place === undefined) return false;
    this.report.machine ??= text.startsWith("pc") ? "arm64" : "x64";
    const segment = match["segment"];
    const isUser = segment !== undefined && (Number.parseInt(segment, 16) & 3) !== 0;
    if (isUser) return true;
    const frame = printedFrame(SYMBOL.exec(place), "register");
    if (this.#inTrace) {
      // Inside a trace: the place that an interrupt or fault cut off.
      if (frame !== null && this.report.frames.length < MOST_FRAMES) this.report.frames.push(frame);
    } else if (this.report.place === null && this.report.frames.length === 0) {
      this.report.place = place.trim();
      this.report.placeFrame = frame;
    }
    return true;
  }
}

function printedFrame(match: RegExpExecArray | null, from: "register" | "trace"): PrintedFrame | null {
  const groups = match?.groups;
  const name = groups?.["name"];
  if (groups === undefined || name === undefined) return null;
  const offset = Number.parseInt(groups["offset"] ?? "0", 16);
  return {
    name,
    offset,
    module: groups["module"] ?? null,
    unsure: groups["unsure"] !== undefined,
    misnamed: from === "trace" && offset === 0,
  };
}

/**
 * The report's stack, innermost first, unsure frames left out: the interrupted place, the caller that only the link
 * register tells, then the trace.
 */
export function stackOf({ placeFrame, linkFrame, frames }: ConsoleReport): PrintedFrame[] {
  const [first] = frames;
  const trace = isSame(placeFrame, first) ? frames.slice(1) : frames;
  const all = [placeFrame, leafCaller(placeFrame, linkFrame, trace[0]), ...trace];
  return all.filter((frame) => frame !== null).filter(({ unsure }) => !unsure);
}

/** The same rule as for a core: a function that calls nothing, and a jump to none, leave their caller in the register only. */
function leafCaller(
  place: PrintedFrame | null,
  link: PrintedFrame | null,
  returnsTo: PrintedFrame | undefined,
): PrintedFrame | null {
  if (link === null || isSame(link, returnsTo)) return null;
  return link.name === place?.name && link.module === place.module ? null : link;
}

/** Whether two frames were printed for one address. */
export function isSame(one: PrintedFrame | null, other: PrintedFrame | undefined): boolean {
  return one !== null && other !== undefined && one.name === other.name && one.offset === other.offset;
}
