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
const WHO =
  /^CPU: (?<cpu>\d+) (?:UID: \d+ )?PID: (?<pid>\d+) Comm: (?<comm>.{1,64}?) (?<taint>Not tainted|Tainted: [A-Z ()]{0,64}?)\s{1,8}(?<release>\d+\.\d+\S*)/;
const OOPS_NUMBER = /[0-9a-f]{4,16} \[#(?<number>\d+)\]/;
const CR2 = /^CR2: ([0-9a-f]{8,16})$/;
const TRACE = /^(?:\S+ )?Call [Tt]race:/;
/** Lines that stand inside a trace and end it not: stack names, bare addresses, registers of an interrupted place. */
const IN_TRACE =
  /^\s*<\/?(?:TASK|IRQ|NMI|SOFTIRQ|EOI|EOE|#\w+|\w{0,16}STACK\w{0,16})>\s*$|^\s+(?:\? )?0x[0-9a-f]+$|^(?:Code|RSP|R[A-Z0-9]{2}|FS|CS|CR2|PKRU|DR\d)\b/;

/** Takes the lines behind a report's first one. */
export class ReportReader {
  readonly report: ConsoleReport;
  #inTrace = false;
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
    if (this.#takeWho(text) || this.#takePlace(text)) return true;
    const cr2 = CR2.exec(text)?.[1];
    if (cr2 !== undefined) this.report.cr2 = cr2;
    if (TRACE.test(text)) {
      // Only the first trace is the report's own.
      this.#inTrace = this.report.frames.length === 0;
      this.#traceCaller = caller;
      return true;
    }
    if (!this.#inTrace) return cr2 !== undefined || numbered !== null;
    const frame = printedFrame(FRAME.exec(text));
    if (frame !== null) {
      if (this.report.frames.length < MOST_FRAMES) this.report.frames.push(frame);
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

  #takePlace(text: string): boolean {
    const match = PLACE.exec(text)?.groups;
    const place = match?.["place"];
    if (match === undefined || place === undefined) return false;
    this.report.machine ??= text.startsWith("pc") ? "arm64" : "x64";
    const segment = match["segment"];
    const isUser = segment !== undefined && (Number.parseInt(segment, 16) & 3) !== 0;
    if (isUser) return true;
    const frame = printedFrame(SYMBOL.exec(place));
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

function printedFrame(match: RegExpExecArray | null): PrintedFrame | null {
  const groups = match?.groups;
  const name = groups?.["name"];
  if (groups === undefined || name === undefined) return null;
  return {
    name,
    offset: Number.parseInt(groups["offset"] ?? "0", 16),
    module: groups["module"] ?? null,
    unsure: groups["unsure"] !== undefined,
  };
}

/** The report's stack, innermost first, unsure frames left out: the interrupted place, then the trace. */
export function stackOf({ placeFrame, frames }: ConsoleReport): PrintedFrame[] {
  const [first] = frames;
  const repeated = placeFrame !== null && first !== undefined && first.name === placeFrame.name &&
    first.offset === placeFrame.offset;
  const all = placeFrame === null || repeated ? frames : [placeFrame, ...frames];
  return all.filter(({ unsure }) => !unsure);
}
