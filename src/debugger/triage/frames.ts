/** Frames and words of a stack as an answer shows them. */

import { visibleText } from "../../base/visible_text.ts";
import type { TriageFrame } from "../../contract/dump_triage.ts";
import { hex, hexPointer } from "../../dump/numbers.ts";
import type { Frame } from "../../dump/unwind/frame.ts";
import type { Located } from "../symbols/located.ts";
import type { StackWord } from "./stack.ts";

/** How places are named, and how much is told of each. */
export interface FrameWords {
  readonly bits: 32 | 64;
  readonly locate: (address: bigint, exact: boolean) => Promise<Located>;
  /** Tells stack pointers as well. */
  readonly full: boolean;
}

/** Each frame, with those that the compiler put into it before it. */
export async function describeFrames(words: FrameWords, walked: readonly Frame[]): Promise<TriageFrame[]> {
  const frames: TriageFrame[] = [];
  for (const { address, stackPointer, how, exact } of walked) {
    const located = await words.locate(address, exact);
    for (const inlined of located.inlined) {
      frames.push({ ...frameOf({ ...located, symbol: inlined }, words.bits), how: "inline" });
    }
    frames.push({ ...frameOf(located, words.bits), ...stackPointerOf(words, stackPointer), how });
  }
  return frames;
}

/** Words that may be return addresses. */
export async function describeWords(
  words: FrameWords,
  scanned: readonly StackWord[],
): Promise<TriageFrame[]> {
  const frames: TriageFrame[] = [];
  for (const { address, stackPointer, dispatched } of scanned) {
    frames.push({
      ...frameOf(await words.locate(address, false), words.bits),
      ...stackPointerOf(words, stackPointer),
      how: dispatched ? "dispatch" : "scan",
    });
  }
  return frames;
}

function stackPointerOf({ bits, full }: FrameWords, stackPointer: bigint): Pick<TriageFrame, "sp"> {
  return full ? { sp: hexPointer(stackPointer, bits) } : {};
}

function frameOf(located: Located, bits: 32 | 64): Omit<TriageFrame, "how"> {
  const { address, module, unloaded, offset, symbol } = located;
  return {
    address: hexPointer(address, bits),
    module: module !== null ? module.name : unloaded !== null ? unloadedName(unloaded.name) : null,
    ...(offset === null ? {} : { offset: hex(offset) }),
    ...(symbol === null ? {} : {
      symbol: visibleText(symbol.name),
      ...(symbol.displacement === 0 ? {} : { displacement: hex(symbol.displacement) }),
      ...(symbol.source === null
        ? {}
        : { source: `${visibleText(symbol.source.file)}:${symbol.source.line}` }),
    }),
  };
}

function unloadedName(name: string): string {
  return `<unloaded ${name}>`;
}
