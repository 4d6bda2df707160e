/** What a function of ARM64 has done to the stack at one of its instructions, from its image's unwind data. */

import { viewOf } from "../pe/image.ts";
import { type ArmOperation, packedOperations, parseArmCodes } from "./arm64_codes.ts";
import type { UnwindImage, WalkEnd } from "./frame.ts";
import { findFunction } from "./function_table.ts";

/** Bytes of an instruction. */
export const INSTRUCTION = 4;

/**
 * What is left to undo at an address of the image, in the order in which it is undone; `"leaf"` in code that has no
 * unwind data because it leaves the stack alone. An address that is not `exact` lies behind a call: in no prolog and no
 * epilog.
 */
export function operationsAt(
  image: UnwindImage,
  rva: number,
  exact: boolean,
): readonly ArmOperation[] | "leaf" | WalkEnd {
  const found = findFunction(image, "arm64", rva);
  if (found === "unknown") return "no_unwind_data";
  if (found === "leaf") return "leaf";
  const offset = exact ? rva - found.begin : null;
  switch (found.second & 3) {
    case 0:
      return leftInRecord(image, found.second, offset);
    case 3:
      return "unwind_version";
    default:
      return leftInPacked(found.second, offset);
  }
}

/** Packed data: what is left to undo at `offset`; null stands for somewhere in the body. */
function leftInPacked(word: number, offset: number | null): readonly ArmOperation[] | "leaf" {
  const length = ((word >>> 2) & 0x7FF) * INSTRUCTION;
  const operations = packedOperations(word);
  if (offset === null) return operations;
  if (offset >= length) return "leaf";
  // Flag 2 is a piece of a function that has no prolog.
  const done = offset / INSTRUCTION;
  if ((word & 3) === 1 && done < operations.length) return operations.slice(operations.length - done);
  // The epilog mirrors the prolog without setting the frame and the homed arguments, and ends in a return.
  const mirrored = operations.filter(({ op }) => op !== "set_frame");
  const left = (length - offset) / INSTRUCTION - 1;
  return left < mirrored.length ? mirrored.slice(mirrored.length - left) : operations;
}

/** A function's record of its own. */
interface FunctionRecord {
  readonly length: number;
  readonly prolog: readonly ArmOperation[];
  /** Instructions of the prolog. */
  readonly instructions: number;
  readonly epilogs: readonly { readonly start: number; readonly operations: readonly ArmOperation[] }[];
}

function leftInRecord(
  image: UnwindImage,
  rva: number,
  offset: number | null,
): readonly ArmOperation[] | "leaf" | WalkEnd {
  const record = readRecord(image, rva);
  if (typeof record === "string") return record;
  const { length, prolog, instructions, epilogs } = record;
  if (offset === null) return prolog;
  if (offset >= length) return "leaf";
  const done = offset / INSTRUCTION;
  // Behind the codes of the instructions come those that tell how the function was entered.
  if (done < instructions) return prolog.slice(instructions - done);
  for (const { start, operations } of epilogs) {
    const inside = (offset - start) / INSTRUCTION;
    if (inside >= 0 && inside <= operations.length) return operations.slice(inside);
  }
  return prolog;
}

function readRecord(image: UnwindImage, rva: number): FunctionRecord | WalkEnd {
  const header = image.bytes.read(rva, 4);
  if (header === undefined) return "no_unwind_data";
  const word = viewOf(header).getUint32(0, true);
  if (((word >>> 18) & 3) !== 0) return "unwind_version";
  const length = (word & 0x3FFFF) * INSTRUCTION;
  const single = ((word >>> 21) & 1) === 1;
  let epilogs = (word >>> 22) & 0x1F;
  let codeWords = (word >>> 27) & 0x1F;
  let at = rva + 4;
  if (epilogs === 0 && codeWords === 0 && !single) {
    const extension = image.bytes.read(at, 4);
    if (extension === undefined) return "no_unwind_data";
    epilogs = viewOf(extension).getUint16(0, true);
    codeWords = extension[2] ?? 0;
    at += 4;
  }
  const scopes = single ? new Uint8Array(0) : image.bytes.read(at, epilogs * 4);
  if (scopes === undefined) return "no_unwind_data";
  const codes = image.bytes.read(at + scopes.length, codeWords * 4);
  if (codes === undefined) return "no_unwind_data";
  const placed = parseArmCodes(codes);
  const upToEnd = (start: number) => {
    const tail = placed.filter((each) => each.at >= start);
    const end = tail.findIndex(({ operation }) => operation.op === "end");
    return end < 0 ? tail : tail.slice(0, end);
  };
  const operationsFrom = (index: number) => upToEnd(index).map(({ operation }) => operation);
  const view = viewOf(scopes);
  const places = single
    ? [{ start: length - (upToEnd(epilogs).length + 1) * INSTRUCTION, index: epilogs }]
    : Array.from({ length: epilogs }, (_, scope) => {
      const packed = view.getUint32(scope * 4, true);
      return { start: (packed & 0x3FFFF) * INSTRUCTION, index: packed >>> 22 };
    });
  return {
    length,
    prolog: operationsFrom(0),
    instructions: upToEnd(0).filter(({ silent }) => !silent).length,
    epilogs: places.map(({ start, index }) => ({ start, operations: operationsFrom(index) })),
  };
}
