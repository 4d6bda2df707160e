/**
 * Cores of real ARM64 guests and what those guests printed themselves, made by `tools/image/arm64_core.sh`. What they
 * printed is read here on its own, to judge what is read out of the cores.
 */

import assert from "node:assert/strict";

const FOLDER = new URL("../samples/arm64/", import.meta.url);

/** Bytes of a core. */
export async function readArmCore(name: string): Promise<Uint8Array<ArrayBuffer>> {
  const packed = Deno.readFileSync(new URL(`${name}.elf.gz`, FOLDER));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

/** The console beside a core, or one of those that stand alone. */
export function readArmConsole(name: string): string {
  return Deno.readTextFileSync(new URL(name, FOLDER));
}

/** What the kernel and the first program printed of the guest that crashed. */
export interface PrintedGuest {
  /** `ps`: number and name. */
  readonly tasks: readonly (readonly [pid: number, comm: string])[];
  /** `/proc/modules`: name, size, address. */
  readonly modules: readonly (readonly [name: string, size: number, base: bigint])[];
  readonly offset: bigint;
  readonly cpu: number;
  readonly pid: number;
  readonly release: string;
  /** pc, sp and x0 to x29 as the report has them. */
  readonly registers: Readonly<Record<string, bigint>>;
  /** `function+0x10 [module]`, innermost first. */
  readonly trace: readonly string[];
  /** Where the link register led. */
  readonly link: string;
}

/** Reads the text of a guest that died of an oops. */
export function readPrinted(text: string): PrintedGuest {
  const lines = text.split("\n").map((line) => line.replace(/^\[ *\d+\.\d+\] /, ""));
  const first = (pattern: RegExp): readonly string[] => {
    const match = lines.map((line) => pattern.exec(line)).find((each) => each !== null);
    assert(match !== undefined && match !== null, `nothing like ${pattern} was printed`);
    return match;
  };
  const all = (pattern: RegExp): readonly (readonly string[])[] =>
    lines.flatMap((line) => [...line.matchAll(pattern)]);
  const [, cpu = "", pid = "", release = ""] = first(
    /^CPU: (\d+) .*?PID: (\d+) Comm: insmod .*?(\d+\.\d+\.\d\S+)/,
  );
  const start = lines.indexOf("Call trace:") + 1;
  const end = lines.findIndex((line) => line.startsWith("Code: "));
  return {
    tasks: all(/^ {1,4}(\d+) [A-Z]\S*\s+(\S.*)$/g).map(([, pid, comm = ""]) => [Number(pid), comm]),
    modules: all(/^(\w+) (\d+) \d+ - Live (0x[0-9a-f]{16})/g).map(([, name = "", size, base = "0"]) => [
      name,
      Number(size),
      BigInt(base),
    ]),
    offset: BigInt(first(/^Kernel Offset: (0x[0-9a-f]+) /)[1] ?? "0"),
    cpu: Number(cpu),
    pid: Number(pid),
    release,
    registers: Object.fromEntries(
      all(/\b(x\d+|sp) ?: ([0-9a-f]{16})/g).map(([, name, value]) => [name, BigInt(`0x${value}`)]),
    ),
    trace: lines.slice(start, end).map((line) => line.trim().replace(/\/0x[0-9a-f]+/, "")),
    link: (first(/^lr : (.*)$/)[1] ?? "").replace(/\/0x[0-9a-f]+/, ""),
  };
}
