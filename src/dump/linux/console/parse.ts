/** What a Linux console or kernel log says about a crash. Lines in, one answer out; no core is needed. */

import { bucketByMeaning, bucketOfFrames } from "./bucket.ts";
import { headOf, whoOf } from "./heads.ts";
import { cleanLine, type ConsoleLine, splitGlued } from "./lines.ts";
import { type ConsoleReport, isSame, type PrintedFrame, ReportReader, stackOf } from "./report.ts";
import {
  ANY_KEYWORD,
  BOOT,
  BOOT_FAILURE,
  CONTINUATIONS,
  HALTED,
  PANIC_TRIGGERS,
  REASON,
  REBOOTED,
} from "./rules.ts";

/** A report with what follows from it. */
export interface FoundReport {
  readonly report: ConsoleReport;
  readonly stack: readonly PrintedFrame[];
  readonly bucket: string;
  /** Whether the text ends before the report does. */
  readonly cut: boolean;
}

/** The text, understood. */
export interface ConsoleFindings {
  /** The report that counts; null when there is none. */
  readonly main: FoundReport | null;
  /** Message of the first panic. */
  readonly panic: string | null;
  readonly reports: readonly FoundReport[];
  /** Later reports of lost tasks or machines, the panic that ends the same boot left out. */
  readonly later: number;
  readonly boots: number;
  /** Release of the kernel that started last, as it said at its start. */
  readonly release: string | null;
  readonly modules: readonly string[];
  /** Lines of a boot that failed without any kernel report. */
  readonly bootFailures: readonly string[];
  /** Whether the kernel said that it stands still. */
  readonly halted: boolean;
  readonly rebooted: boolean;
}

const MOST_REPORTS = 1000;
const MOST_BOOT_FAILURES = 3;
const LONGEST_FAILURE = 160;
const MOST_MODULES = 512;
/** A report takes no lines further behind the last one that said something. */
const REPORT_REACH = 300;
/** A second first line of a fault follows the first within this. */
const CONTINUATION_REACH = 24;
/** A panic that comes before a report's own trace has that trace. */
const PANIC_REACH = 40;
const CUT_REACH = 3;

/** Reads the lines of a text of any size; the time that it takes grows with the lines that say something. */
export function parseConsole(lines: readonly string[]): ConsoleFindings {
  return new ConsoleParser().parse(lines);
}

class ConsoleParser {
  readonly #readers: ReportReader[] = [];
  readonly #failures: string[] = [];
  #modules: string[] = [];
  #current: ReportReader | null = null;
  #lastSaid = 0;
  #reason: string | null = null;
  #boots = 0;
  #release: string | null = null;
  #halted = false;
  #rebooted = false;

  parse(lines: readonly string[]): ConsoleFindings {
    for (let number = 0; number < lines.length; number++) {
      const raw = lines[number] ?? "";
      const open = this.#current !== null && number - this.#lastSaid < REPORT_REACH;
      if (!open && !ANY_KEYWORD.test(raw)) continue;
      for (const piece of splitGlued(raw)) this.#take(cleanLine(piece), number);
    }
    return this.#finish(lines.length);
  }

  #take(line: ConsoleLine, number: number): void {
    if (line.text === "") return;
    const isHead = this.#takeKeyword(line, number);
    if (this.#current === null) return;
    if (line.text.startsWith("Modules linked in:") && this.#modules.length === 0) {
      this.#modules = linkedModules(line.text);
    }
    if (this.#current.take(line) || isHead) this.#lastSaid = number;
  }

  /** Lines that begin something; tells whether one began or went on with a report. */
  #takeKeyword(line: ConsoleLine, number: number): boolean {
    const { text } = line;
    if (!ANY_KEYWORD.test(text)) return false;
    const release = BOOT.exec(text)?.groups?.["release"];
    if (release !== undefined) {
      this.#boots++;
      this.#release = release;
      this.#current = null;
      this.#reason = null;
    }
    if (BOOT_FAILURE.test(text) && this.#failures.length < MOST_BOOT_FAILURES) {
      this.#failures.push(text.trim().slice(0, LONGEST_FAILURE));
    }
    if (HALTED.test(text)) this.#halted = true;
    if (this.#readers.length > 0 && REBOOTED.test(text)) this.#rebooted = true;
    if (REASON.test(text)) this.#reason = text;
    const head = headOf(text);
    if (head === null || this.#readers.length >= MOST_REPORTS) return false;
    const last = this.#current;
    const goesOn = last !== null && last.isFresh && CONTINUATIONS.has(head.class) &&
      number - last.report.line < CONTINUATION_REACH;
    if (goesOn) return true;
    this.#current = new ReportReader({
      ...head,
      boot: Math.max(this.#boots, 1),
      line: number,
      time: line.time,
      reason: this.#reason,
      release: null,
      taint: null,
      oopsNumber: null,
      cr2: null,
      place: null,
      placeFrame: null,
      linkFrame: null,
      frames: [],
      machine: null,
      ...whoOf(head.facts),
    });
    this.#reason = null;
    this.#readers.push(this.#current);
    return true;
  }

  #finish(lineCount: number): ConsoleFindings {
    const reports = this.#readers.map(({ report }) => report);
    const found = reports.map((report) => finishReport(report, reports, lineCount));
    const main = chooseMain(found);
    return {
      main,
      panic: reports.find(({ isPanic }) => isPanic)?.facts["message"] ?? null,
      reports: found,
      later: countLater(found, main),
      boots: this.#boots,
      release: this.#release,
      modules: this.#modules,
      bootFailures: this.#failures,
      halted: this.#halted,
      rebooted: this.#rebooted || (main !== null && this.#boots > main.report.boot),
    };
  }
}

/** A panic right behind a report is its end and no crash of its own. */
function countLater(found: readonly FoundReport[], main: FoundReport | null): number {
  if (main === null) return 0;
  return found.filter(({ report }) =>
    report.rank === "lost" && report.line > main.report.line &&
    !(report.isPanic && report.boot === main.report.boot)
  ).length;
}

function linkedModules(text: string): string[] {
  const [list = ""] = text.slice("Modules linked in:".length).split("[last");
  return list.replaceAll(/\(.*?\)/g, "").split(/\s+/).filter((name) => name !== "").slice(0, MOST_MODULES);
}

function finishReport(report: ConsoleReport, all: readonly ConsoleReport[], lineCount: number): FoundReport {
  const stack = stackOf(report);
  const own = { report, stack, bucket: keyOf(report, stack), cut: report.line > lineCount - CUT_REACH };
  const isWhole = report.frames.length > 0 || report.placeFrame === null;
  if (stack.length > 0 && isWhole) return own;
  const panic = all.find((other) =>
    other.isPanic && other.boot === report.boot && other.line > report.line &&
    other.line - report.line < PANIC_REACH && other.frames.length > 0
  );
  if (panic === undefined) return { ...own, cut: stack.length === 0 || own.cut };
  report.machine ??= panic.machine;
  report.taint ??= panic.taint;
  report.release ??= panic.release;
  // A trace that was printed with the panic only, and has the report's place in it, goes on from there.
  const inTrace = panic.frames.findIndex((frame) => isSame(report.placeFrame, frame));
  if (stack.length > 0 && inTrace < 0 || !isOfSameProcessor(report, panic)) return own;
  report.cpu ??= panic.cpu;
  report.pid ??= panic.pid;
  report.comm ??= panic.comm;
  const borrowed = inTrace < 0 ? stackOf(panic) : stackOf({ ...report, frames: panic.frames.slice(inTrace) });
  return { ...own, stack: borrowed, bucket: keyOf(report, borrowed) };
}

/** The panic at a stall of another processor has the trace of the one that noticed, which is no witness. */
function isOfSameProcessor({ class: kind, facts }: ConsoleReport, panic: ConsoleReport): boolean {
  return kind !== "rcu-stall" || facts["cpu"] === undefined || Number(facts["cpu"]) === panic.cpu;
}

function keyOf(report: ConsoleReport, stack: readonly PrintedFrame[]): string {
  const { class: kind, facts, headline } = report;
  return bucketByMeaning(kind, meaningFacts(report)) ??
    bucketOfFrames(kind, stack, facts["message"] ?? headline);
}

/** What keys by meaning are made of. */
export function meaningFacts({ class: kind, comm, facts }: ConsoleReport): {
  comm: string;
  exit: string;
  device: string;
} {
  return {
    comm: (kind === "oom-kill" ? facts["comm"] : comm) ?? "",
    exit: facts["exit"] ?? "",
    device: facts["device"] ?? "",
  };
}

/** The first that lost a task or the machine; a panic that only names its trigger yields to that. */
function chooseMain(found: readonly FoundReport[]): FoundReport | null {
  const first = found.find(({ report }) => report.rank === "lost");
  if (first === undefined) return found.find(({ report }) => report.rank !== "note") ?? null;
  if (!first.report.isPanic) return first;
  const before = found.filter(({ report }) =>
    report.boot === first.report.boot && report.rank === "trouble" && report.line < first.report.line
  );
  const message = first.report.facts["message"] ?? "";
  for (const [pattern, trigger] of PANIC_TRIGGERS) {
    if (!pattern.test(message)) continue;
    const cause = trigger === null ? before.at(-1) : before.find(({ report }) => report.class === trigger);
    if (cause !== undefined) return cause;
  }
  return first;
}
