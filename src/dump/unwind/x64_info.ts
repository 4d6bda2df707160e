/** UNWIND_INFO of x64 as the public documentation of the exception data describes it, versions 1 and 2. */

import { type ImageBytes, viewOf } from "../pe/image.ts";
import { type FunctionEntry, parseEntry } from "./function_table.ts";

/** One thing that a prolog does. `amount` is bytes. */
export interface UnwindCode {
  /** Offset behind the instruction, from the function's begin. */
  readonly prolog: number;
  readonly op: "push" | "allocate" | "set_frame" | "save" | "machine_frame" | "skip";
  readonly register: number;
  readonly amount: number;
}

/** Unwind data of one function. */
export interface UnwindInfo {
  readonly prologBytes: number;
  /** 0 when there is none: rax never is a frame register. */
  readonly frameRegister: number;
  readonly frameOffset: number;
  readonly codes: readonly UnwindCode[];
  /** Where epilogs begin, by distance from the function's end, in version 2. */
  readonly epilogs: readonly number[];
  /** Bytes of each of these epilogs. */
  readonly epilogBytes: number;
  /** The entry whose unwind data goes on with this one's. */
  readonly chained: FunctionEntry | null;
}

const CHAINED = 4;

/** Reads unwind data; null when it is not there, `version` when it is of another form. */
export function readUnwindInfo(image: ImageBytes, rva: number): UnwindInfo | "version" | null {
  const head = image.read(rva, 4);
  if (head === undefined) return null;
  const [first = 0, prologBytes = 0, count = 0, frame = 0] = head;
  const version = first & 7;
  if (version !== 1 && version !== 2) return "version";
  const slots = image.read(rva + 4, count * 2);
  if (slots === undefined) return null;
  let chained: FunctionEntry | null = null;
  if (((first >> 3) & CHAINED) !== 0) {
    const raw = image.read(rva + 4 + ((count + 1) & ~1) * 2, 12);
    if (raw === undefined) return null;
    chained = parseEntry(raw);
  }
  return {
    prologBytes,
    frameRegister: frame & 0xF,
    frameOffset: (frame >> 4) * 16,
    ...parseSlots(slots, version),
    chained,
  };
}

function parseSlots(
  slots: Uint8Array,
  version: 1 | 2,
): Pick<UnwindInfo, "codes" | "epilogs" | "epilogBytes"> {
  const view = viewOf(slots);
  const codes: UnwindCode[] = [];
  const epilogs: number[] = [];
  let epilogBytes = 0;
  const short = (slot: number): number => slot * 2 + 2 <= slots.length ? view.getUint16(slot * 2, true) : 0;
  const long = (slot: number): number => short(slot) + short(slot + 1) * 0x10000;
  for (let slot = 0; slot * 2 < slots.length;) {
    const prolog = slots[slot * 2] ?? 0;
    const byte = slots[slot * 2 + 1] ?? 0;
    const register = byte >> 4;
    const add = (op: UnwindCode["op"], amount: number) => codes.push({ prolog, op, register, amount });
    switch (byte & 0xF) {
      case 0:
        add("push", 8);
        slot += 1;
        break;
      case 1:
        add("allocate", register === 0 ? short(slot + 1) * 8 : long(slot + 1));
        slot += register === 0 ? 2 : 3;
        break;
      case 2:
        add("allocate", register * 8 + 8);
        slot += 1;
        break;
      case 3:
        add("set_frame", 0);
        slot += 1;
        break;
      case 4:
        add("save", short(slot + 1) * 8);
        slot += 2;
        break;
      case 5:
        add("save", long(slot + 1));
        slot += 3;
        break;
      case 6:
        if (version === 1) slot += 2;
        else {
          if (epilogBytes === 0) {
            epilogBytes = prolog;
            if ((register & 1) !== 0) epilogs.push(prolog);
          } else if (prolog + register * 0x100 !== 0) epilogs.push(prolog + register * 0x100);
          slot += 1;
        }
        break;
      case 8:
        slot += 2;
        break;
      case 7:
      case 9:
        slot += 3;
        break;
      case 10:
        add("machine_frame", register);
        slot += 1;
        break;
      default:
        slot += 1;
    }
  }
  return { codes, epilogs, epilogBytes };
}
