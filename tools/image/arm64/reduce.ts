/**
 * Makes a sample for tests out of a core that `arm64_core.sh` took: the pages that triage, log and tasks read, with the
 * kernel's tables of symbols and types emptied of what nobody asks for, so that they pack to nothing.
 *
 *     deno run -A tools/image/arm64/reduce.ts FOLDER SAMPLE
 *
 * writes SAMPLE.elf.gz, and SAMPLE.console.txt with what the guest printed since its first program told what runs.
 */

import { gzipSync } from "node:zlib";
import { answerLinuxCore } from "../../../src/debugger/linux/answer_core.ts";
import { inspectElfCore } from "../../../src/dump/linux/inspect.ts";
import { MemorySource } from "../../../src/dump/bytes.ts";
import type { LinuxCore } from "../../../src/dump/linux/containers/core.ts";
import { openElfCore } from "../../../src/dump/linux/containers/elf_core.ts";
import { readAcrossFrames } from "../../../src/dump/linux/containers/pages.ts";
import type { LinuxPlace } from "../../../src/dump/linux/kernel/code_map.ts";
import { LinuxKernel } from "../../../src/dump/linux/kernel/kernel.ts";
import { walkProcessor } from "../../../src/dump/linux/triage/crash_stack.ts";
import type { Frame } from "../../../src/dump/unwind/frame.ts";
import { type Absence, isAbsence } from "../../../src/dump/memory/absence.ts";
import type { PhysicalMemory } from "../../../src/dump/memory/physical.ts";
import { emptySymbols, type Store } from "./empty_symbols.ts";
import { emptyTypes } from "./empty_types.ts";
import { recordUses } from "./record_uses.ts";
import { writeSample } from "./write_sample.ts";

/** Pages that were asked for, as copies that may be changed. */
class CopiedPages implements PhysicalMemory {
  readonly pages = new Map<number, Uint8Array>();
  readonly #memory: PhysicalMemory;

  constructor(memory: PhysicalMemory) {
    this.#memory = memory;
  }

  get pageCount(): number {
    return this.#memory.pageCount;
  }

  page(frame: number): Uint8Array | Absence {
    const known = this.pages.get(frame);
    if (known !== undefined) return known;
    const page = this.#memory.page(frame);
    if (isAbsence(page)) return page;
    const copy = page.slice();
    this.pages.set(frame, copy);
    return copy;
  }

  fileOffsetOf(frame: number): number | null {
    return this.#memory.fileOffsetOf(frame);
  }

  read(address: bigint, length: number): Uint8Array | Absence {
    return readAcrossFrames(this, address, length);
  }
}

/** Asks all that a user can ask: the kernel, and its answers as text. */
async function askAll(
  core: LinuxCore,
  source: MemorySource,
): Promise<{ kernel: LinuxKernel; answers: string }> {
  const kernel = new LinuxKernel(core);
  const told = answerLinuxCore(kernel, await inspectElfCore(source, { path: "core" }), true);
  const stacks = kernel.tasks().map((task) => [task, kernel.walkTask(task)?.frames.map(nameOf(kernel))]);
  const processors = kernel.processors().map((each) => [
    each.task(),
    walkProcessor(kernel, each).frames.map(({ place }) => place),
  ]);
  const all = [told, stacks, processors, kernel.log(), kernel.warnings];
  return {
    kernel,
    answers: JSON.stringify(all, (_, value) => typeof value === "bigint" ? `0x${value.toString(16)}` : value),
  };
}

function nameOf(kernel: LinuxKernel): (frame: Frame) => LinuxPlace {
  return ({ address, exact }) => kernel.locate(address, exact);
}

/** Writes into copied pages by virtual address. */
function storeInto(kernel: LinuxKernel, pages: ReadonlyMap<number, Uint8Array>): Store {
  return (address, bytes) => {
    for (let done = 0; done < bytes.length;) {
      const place = kernel.memory.space.translate(address + BigInt(done));
      const physical = isAbsence(place) ? null : place.physical;
      const page = physical === null ? undefined : pages.get(Number(physical >> 12n));
      if (physical === null || page === undefined) throw new Error("a table is not in the core");
      const inside = Number(physical & 0xFFFn);
      const piece = bytes.subarray(done, done + page.length - inside);
      page.set(piece, inside);
      done += piece.length;
    }
  };
}

/** Smaller groups take longer than what they save is worth. */
const GROUP = { largest: 128, smallest: 8 } as const;

/** Leaves out every page without which the answers are the same, a group at a time. */
async function leaveOut(
  pages: Map<number, Uint8Array>,
  isSame: (pages: ReadonlyMap<number, Uint8Array>) => Promise<boolean>,
): Promise<void> {
  const groups = [[...pages.keys()].sort((a, b) => a - b)];
  for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
    const left = new Map(pages);
    for (const frame of group) left.delete(frame);
    if (group.length <= GROUP.largest && await isSame(left)) {
      for (const frame of group) pages.delete(frame);
    } else if (group.length > GROUP.smallest) {
      groups.push(group.slice(0, group.length / 2), group.slice(group.length / 2));
    }
  }
}

/** The first line of `ps`. */
const FIRST_LINE = /^ *PID +STAT/m;

const [folder, sample] = Deno.args;
if (folder === undefined || sample === undefined) {
  console.error("usage: deno run -A tools/image/arm64/reduce.ts FOLDER SAMPLE");
  Deno.exit(2);
}
const source = new MemorySource(Deno.readFileSync(`${folder}/core.elf`));
const core = openElfCore(source);
const memory = new CopiedPages(core.physical);
const uses = recordUses();
const { kernel, answers } = await askAll({ ...core, physical: memory }, source);
uses.stop();
const store = storeInto(kernel, memory.pages);
emptySymbols(kernel, uses, store);
emptyTypes(kernel, uses, store);
await leaveOut(memory.pages, async (pages) => {
  const left = new MemorySource(writeSample(source, pages));
  return (await askAll(openElfCore(left), left)).answers === answers;
});
const packed = gzipSync(writeSample(source, memory.pages), { level: 9 });
Deno.writeFileSync(`${sample}.elf.gz`, packed);
const printed = Deno.readTextFileSync(`${folder}/console.log`).replaceAll("\r\n", "\n");
Deno.writeTextFileSync(`${sample}.console.txt`, printed.slice(Math.max(0, printed.search(FIRST_LINE))));
console.log(`${sample}: ${memory.pages.size} pages, ${packed.length} bytes packed`);
