/** Unwind codes of ARM64 as the public documentation of the exception data describes them. */

/** What one instruction of a prolog did, to be undone. `up` is what the stack pointer rises by afterwards. */
export type ArmOperation =
  | {
    readonly op: "save";
    readonly registers: readonly number[];
    readonly offset: number;
    readonly up: number;
  }
  /** A float register that the walk does not need; only the stack pointer changes. */
  | { readonly op: "allocate"; readonly up: number }
  | { readonly op: "set_frame" | "end" | "strip" | "next" | "unknown" }
  /** What an exception or interrupt saved below this function, or that it was entered without a call. */
  | { readonly op: ArmEntry }
  | { readonly op: "add_frame"; readonly offset: number };

/** How a function was entered other than by a call. */
export type ArmEntry = "trap_frame" | "machine_frame" | "context" | "emulated_context" | "not_called";

const ENTRIES: ReadonlyMap<number, ArmEntry> = new Map([
  [0xE8, "trap_frame"],
  [0xE9, "machine_frame"],
  [0xEA, "context"],
  [0xEB, "emulated_context"],
  [0xEC, "not_called"],
]);

/** An operation and where its code begins, since epilogs are named by that. */
export interface PlacedOperation {
  readonly at: number;
  readonly operation: ArmOperation;
  /** Codes that stand for no instruction of the prolog. */
  readonly silent: boolean;
}

const FP = 29;
const LR = 30;

/** Reads the codes up to the end; an unknown one is `unknown`, and nothing behind it is read. */
export function parseArmCodes(codes: Uint8Array): PlacedOperation[] {
  const placed: PlacedOperation[] = [];
  for (let at = 0; at < codes.length;) {
    const { operation, bytes } = parseCode(codes, at);
    placed.push({ at, operation, silent: operation.op === "end" || ENTRIES.has(codes[at] ?? 0) });
    if (operation.op === "unknown") break;
    at += bytes;
  }
  return resolveNext(placed);
}

function parseCode(codes: Uint8Array, at: number): { operation: ArmOperation; bytes: number } {
  const first = codes[at] ?? 0;
  const second = codes[at + 1] ?? 0;
  const word = (first << 8) | second;
  const one = (operation: ArmOperation) => ({ operation, bytes: 1 });
  const two = (operation: ArmOperation) => ({ operation, bytes: 2 });
  const pair = (register: number, other: number, offset: number, up: number): ArmOperation => ({
    op: "save",
    registers: [register, other],
    offset,
    up,
  });
  if (first < 0x20) return one({ op: "allocate", up: first * 16 });
  if (first < 0x40) return one(pair(19, 20, 0, (first & 0x1F) * 8));
  if (first < 0x80) return one(pair(FP, LR, (first & 0x3F) * 8, 0));
  if (first < 0xC0) return one(pair(FP, LR, 0, ((first & 0x3F) + 1) * 8));
  if (first < 0xC8) return two({ op: "allocate", up: (word & 0x7FF) * 16 });
  const register = 19 + ((word >> 6) & 0xF);
  const scaled = (second & 0x3F) * 8;
  if (first < 0xCC) return two(pair(register, register + 1, scaled, 0));
  if (first < 0xD0) return two(pair(register, register + 1, 0, scaled + 8));
  if (first < 0xD4) return two({ op: "save", registers: [register], offset: scaled, up: 0 });
  if (first < 0xD6) {
    const single = 19 + ((word >> 5) & 0xF);
    return two({ op: "save", registers: [single], offset: 0, up: (second & 0x1F) * 8 + 8 });
  }
  if (first < 0xD8) return two(pair(19 + 2 * ((word >> 6) & 7), LR, scaled, 0));
  if (first < 0xDA) return two({ op: "allocate", up: 0 });
  if (first < 0xDC) return two({ op: "allocate", up: scaled + 8 });
  if (first < 0xDE) return two({ op: "allocate", up: 0 });
  if (first === 0xDE) return two({ op: "allocate", up: (second & 0x1F) * 8 + 8 });
  switch (first) {
    case 0xE0: {
      const amount = (second << 16) | ((codes[at + 2] ?? 0) << 8) | (codes[at + 3] ?? 0);
      return { operation: { op: "allocate", up: amount * 16 }, bytes: 4 };
    }
    case 0xE1:
      return one({ op: "set_frame" });
    case 0xE2:
      return two({ op: "add_frame", offset: second * 8 });
    case 0xE3:
      return one({ op: "allocate", up: 0 });
    case 0xE4:
    case 0xE5:
      return one({ op: "end" });
    case 0xE6:
      return one({ op: "next" });
    case 0xE7:
      return { operation: parseSaveAny(second, codes[at + 2] ?? 0), bytes: 3 };
    case 0xFC:
      return one({ op: "strip" });
    default:
      return one({ op: ENTRIES.get(first) ?? "unknown" });
  }
}

/** Kinds of registers in the code that saves any; the fourth is not given out. */
const GENERAL = 0;
const QUADS = 2;
const RESERVED = 3;

/** Saves a register of any number and kind, or two: since Windows 11, for functions that emulated code calls. */
function parseSaveAny(second: number, third: number): ArmOperation {
  const register = second & 0x1F;
  const below = (second & 0x20) !== 0;
  const paired = (second & 0x40) !== 0;
  const kind = third >> 6;
  const numbers = paired ? [register, register + 1] : [register];
  const isKnown = second < 0x80 && kind !== RESERVED && (kind !== GENERAL || Math.max(...numbers) <= LR);
  if (!isKnown) return { op: "unknown" };
  const amount = (third & 0x3F) * (paired || below || kind === QUADS ? 16 : 8);
  const up = below ? amount + 16 : 0;
  return kind === GENERAL
    ? { op: "save", registers: numbers, offset: below ? 0 : amount, up }
    : { op: "allocate", up };
}

/** `next` saves the pair behind the one that the following code saves: each gets its registers and place. */
function resolveNext(placed: readonly PlacedOperation[]): PlacedOperation[] {
  const resolved = [...placed];
  for (let index = resolved.length - 2; index >= 0; index--) {
    const here = resolved[index];
    const behind = resolved[index + 1]?.operation;
    if (here?.operation.op !== "next" || behind === undefined) continue;
    const [low, high] = behind.op === "save" ? behind.registers : [];
    const operation: ArmOperation =
      behind.op === "save" && low !== undefined && high !== undefined && low < 28
        ? { op: "save", registers: [low + 2, high + 2], offset: behind.offset + 16, up: 0 }
        : { op: "allocate", up: 0 };
    resolved[index] = { ...here, operation };
  }
  return resolved;
}

/** Codes for a packed entry, in the order in which they are undone. */
export function packedOperations(word: number): ArmOperation[] {
  const floats = (word >>> 13) & 7;
  const integers = (word >>> 16) & 0xF;
  const homed = (word >>> 20) & 1;
  const chain = (word >>> 21) & 3;
  const frame = ((word >>> 23) & 0x1FF) * 16;
  const integerBytes = integers * 8 + (chain === 1 ? 8 : 0);
  const floatBytes = floats === 0 ? 0 : floats * 8 + 8;
  const saved = (integerBytes + floatBytes + homed * 64 + 15) & ~15;
  const local = Math.max(0, frame - saved);
  const prolog: ArmOperation[] = [];
  const rise = (): number => prolog.length === 0 ? saved : 0;
  for (let index = 0; index + 1 < integers; index += 2) {
    prolog.push({ op: "save", registers: [19 + index, 20 + index], offset: index * 8, up: rise() });
  }
  const odd = integers % 2 === 1 ? [19 + integers - 1] : [];
  const last = chain === 1 ? [...odd, LR] : odd;
  if (last.length > 0) {
    prolog.push({ op: "save", registers: last, offset: (integers - odd.length) * 8, up: rise() });
  }
  for (let index = 0; floats > 0 && index <= floats; index += 2) prolog.push({ op: "allocate", up: rise() });
  for (let index = 0; index < homed * 4; index++) prolog.push({ op: "allocate", up: rise() });
  if (chain === 2) prolog.unshift({ op: "strip" });
  if (chain >= 2) {
    if (local <= 512) prolog.push({ op: "save", registers: [FP, LR], offset: 0, up: local });
    else {
      if (local > 4080) prolog.push({ op: "allocate", up: 4080 });
      prolog.push({ op: "allocate", up: local > 4080 ? local - 4080 : local });
      prolog.push({ op: "save", registers: [FP, LR], offset: 0, up: 0 });
    }
    prolog.push({ op: "set_frame" });
  } else if (local > 4080) {
    prolog.push({ op: "allocate", up: 4080 }, { op: "allocate", up: local - 4080 });
  } else if (local > 0) prolog.push({ op: "allocate", up: local });
  return prolog.reverse();
}
