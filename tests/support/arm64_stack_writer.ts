/** As `stack_writer.ts`, for ARM64: prologs that are run, and the codes with which linkers describe them. */

import { allocation, anyRegister, twoBytes } from "./arm64_code_writer.ts";
import { emulatedContext } from "./emulated_context_writer.ts";
import { DumpBytes } from "./dump_writer.ts";
import { dumpMachine } from "./machine_dump.ts";
import { PLACES, poolAddresses, writeMachine, writtenDrivers } from "./machine_writer.ts";
import type { WrittenFrame } from "./stack_writer.ts";

const IMAGE = PLACES[64].driver;
const CODE = 0x1000;
const FUNCTION_BYTES = 0x80;
const BODY = 0x60;
const UNWIND = 0x2000;
const TABLE = 0x2800;
const IMAGE_BYTES = 0x3000;
const STACK_TOP = PLACES[64].stack + 0x5F00n;
const FP = 29;
const LR = 30;
/** Bits of an authentication code in an address of the kernel. */
const SIGNATURE = 0x005A_0000_0000_0000n;

/** A step of a prolog: the bytes of its code, and what it does. */
interface Step {
  readonly code: readonly number[];
  run(): void;
}

/** The shapes that a function's prolog has here. */
export const ARM64_SHAPES = [
  "chain",
  "allocate",
  "pairs",
  "single",
  "large",
  "offset",
  "next",
  "signed",
  "any",
  "vectors",
] as const;
/** Functions that are entered without a call: by what an exception saves, or by a jump with a return address. */
export const ARM64_ENTRIES = ["trap", "machine", "context", "emulated", "jumped"] as const;
export type Arm64Shape =
  | typeof ARM64_SHAPES[number]
  | typeof ARM64_ENTRIES[number]
  /** Has no unwind data; only a trap or context may follow. */
  | "leaf"
  /** A trap's handler before its first instruction; nothing may follow. */
  | "fresh";

const INTERRUPTING: ReadonlySet<Arm64Shape> = new Set(["trap", "machine", "context", "emulated", "fresh"]);

/** A machine in the middle of calls between functions of the given shapes, outermost first. */
export function writeArm64Stack(
  shapes: readonly Arm64Shape[],
  random: () => number,
): { dump: Uint8Array<ArrayBuffer>; frames: WrittenFrame[] } {
  const builder = new Arm64StackBuilder(random);
  for (const shape of shapes) builder.call(shape);
  return builder.finish();
}

class Arm64StackBuilder {
  readonly #random: () => number;
  readonly #registers: bigint[];
  #sp = STACK_TOP;
  readonly #stack = new Map<bigint, bigint>();
  readonly #blocks: [address: bigint, bytes: Uint8Array][] = [];
  readonly #image = new DumpBytes(IMAGE_BYTES);
  readonly #frames: WrittenFrame[] = [];
  readonly #entries: [begin: number, info: number][] = [];
  #unwindAt = UNWIND;

  constructor(random: () => number) {
    this.#random = random;
    this.#registers = Array.from({ length: 31 }, () => this.#value());
    this.#registers[FP] = 0n;
  }

  call(shape: Arm64Shape): void {
    const begin = CODE + this.#frames.length * FUNCTION_BYTES;
    if (!INTERRUPTING.has(shape)) this.#registers[LR] = this.#interrupted;
    const steps = this.#prologOf(shape);
    for (const step of shape === "fresh" ? steps.slice(0, 1) : steps) step.run();
    if (shape !== "leaf") this.#describe(begin, steps);
    const address = IMAGE + BigInt(shape === "fresh" ? begin : begin + BODY);
    this.#frames.unshift({ address, stackPointer: this.#sp });
    // Whoever is called may use what it need not save.
    if (shape !== "leaf") this.#registers[LR] = this.#value();
  }

  #describe(begin: number, steps: readonly Step[]): void {
    const codes = steps.toReversed().flatMap(({ code }) => [...code]).concat(0xE4);
    while (codes.length % 4 !== 0) codes.push(0xE3);
    this.#image.u32(this.#unwindAt, (FUNCTION_BYTES / 4) | ((codes.length / 4) << 27));
    codes.forEach((code, index) => this.#image.u8(this.#unwindAt + 4 + index, code));
    this.#entries.push([begin, this.#unwindAt]);
    this.#unwindAt += 4 + codes.length;
  }

  finish(): { dump: Uint8Array<ArrayBuffer>; frames: WrittenFrame[] } {
    const memory = writeMachine("arm64");
    const driver = writtenDrivers(64)[1];
    const image = this.#image.text(0, "MZ").u32(0x3C, 0x80).text(0x80, "PE").u16(0x84, 0xAA64, 2)
      .u32(0x88, driver?.timeDateStamp ?? 0).u16(0x94, 0xF0, 0x2022).u16(0x98, 0x20B)
      .u64(0xB0, IMAGE).u32(0xB8, 0x1000, 0x200).u32(0xD0, IMAGE_BYTES, 0x400, driver?.checkSum ?? 0)
      .u32(0x104, 16).u32(0x108 + 3 * 8, TABLE, this.#entries.length * 8);
    [[".text", CODE, 0x6000_0020], [".pdata", UNWIND, 0x4000_0040]].forEach(([name, rva, flags], index) => {
      const at = 0x188 + index * 40;
      image.text(at, String(name)).u32(at + 8, 0x1000, Number(rva), 0x1000, Number(rva)).u32(
        at + 36,
        Number(flags),
      );
    });
    for (let at = CODE; at < UNWIND; at += 4) image.u32(at, 0xD503201F);
    this.#entries.forEach((entry, index) => image.u32(TABLE + index * 8, ...entry));
    memory.put(IMAGE, image.bytes);
    for (const [address, bytes] of this.#blocks) memory.put(address, bytes);
    for (const [address, value] of this.#stack) memory.put(address, new DumpBytes(8).u64(0, value).bytes);
    const context = this.#context();
    memory.put(poolAddresses(64).contexts[1] ?? 0n, context.bytes);
    const dump = dumpMachine(memory, "full");
    dump.set(context.bytes, 0x348);
    return { dump, frames: this.#frames };
  }

  #prologOf(shape: Arm64Shape): Step[] {
    switch (shape) {
      case "chain":
        return [
          this.#savedBelow(0x30, [FP, LR], [0x80 | (0x30 / 8 - 1)]),
          this.#framed(0),
          this.#allocated(0x40),
        ];
      case "allocate":
        return [this.#allocated(0x50), this.#saved(0x10, [FP, LR], [0x40 | 2])];
      case "pairs":
        return [
          this.#savedBelow(0x40, [19, 20], [0x20 | 8]),
          this.#saved(0x10, [21, 22], twoBytes(0xC8, 2, 2)),
          this.#saved(0x20, [FP, LR], [0x40 | 4]),
          this.#allocated(0x820),
        ];
      case "single":
        return [
          this.#savedBelow(0x20, [23], [0xD4, (4 << 5) | 3]),
          this.#saved(8, [LR], twoBytes(0xD0, 11, 1)),
        ];
      case "large":
        return [this.#savedBelow(0x10, [FP, LR], [0x80 | 1]), this.#framed(0), this.#wide(0x1010)];
      case "offset":
        return [this.#allocated(0x60), this.#saved(0x20, [FP, LR], [0x40 | 4]), this.#framed(0x20)];
      case "next":
        return [
          this.#savedBelow(0x50, [19, 20], [0x20 | 10]),
          this.#saved(0x10, [21, 22], [0xE6]),
          this.#saved(0x20, [23, LR], [0xD6, (2 << 6) | 4]),
        ];
      case "leaf":
        return [];
      case "trap":
      case "fresh":
        return [this.#entered(0xE8, this.#trapFrame(), 19), ...this.#prologOf("chain")];
      case "machine":
        return [
          this.#entered(0xE9, new DumpBytes(0x10).u64(0, this.#sp, this.#interrupted), 0),
          ...this.#prologOf("pairs"),
        ];
      case "context":
        return [this.#entered(0xEA, this.#context(), 29), this.#allocated(0x40)];
      case "emulated":
        return [this.#entered(0xEB, this.#emulatedContext(), 29), this.#allocated(0x40)];
      case "jumped":
        return [{ code: [0xEC], run: () => {} }, ...this.#prologOf("chain")];
      case "any":
        return [
          this.#savedBelow(0x50, [27, 28], anyRegister(27, { pair: true, below: true }, "x", 4)),
          this.#saved(0x10, [9], anyRegister(9, {}, "x", 2)),
          this.#saved(0x20, [FP, LR], anyRegister(FP, { pair: true }, "x", 2)),
          this.#savedBelow(0x20, [19], anyRegister(19, { below: true }, "x", 1)),
        ];
      case "vectors":
        return [
          this.#allocated(0xB0, anyRegister(6, { pair: true, below: true }, "q", 10)),
          this.#allocated(0, [0xE6]),
          this.#allocated(0, anyRegister(12, {}, "q", 4)),
          this.#allocated(0, anyRegister(13, { pair: true }, "d", 5)),
          this.#saved(0xA0, [FP, LR], [0x40 | 0x14]),
          this.#allocated(0x10, anyRegister(15, { below: true }, "d", 0)),
          this.#allocated(0, anyRegister(16, {}, "d", 1)),
        ];
      case "signed":
        return [
          { code: [0xFC], run: () => void (this.#registers[LR] = (this.#registers[LR] ?? 0n) ^ SIGNATURE) },
          this.#savedBelow(0x20, [FP, LR], [0x80 | 3]),
          this.#framed(0),
        ];
    }
  }

  /** What an exception leaves below the function that it interrupts, and where the stack goes on. */
  #entered(code: number, bytes: DumpBytes, changed: number): Step {
    return {
      code: [code],
      run: () => {
        this.#sp -= BigInt(bytes.bytes.length);
        this.#blocks.push([this.#sp, bytes.bytes]);
        for (let number = 0; number < changed; number++) this.#registers[number] = this.#value();
      },
    };
  }

  #trapFrame(): DumpBytes {
    const frame = new DumpBytes(0x150).u64(0x98, this.#sp);
    for (let number = 0; number < 19; number++) frame.u64(0xA0 + 8 * number, this.#registers[number] ?? 0n);
    return frame.u64(0x138, this.#registers[LR] ?? 0n, this.#registers[FP] ?? 0n, this.#interrupted);
  }

  #context(): DumpBytes {
    const context = new DumpBytes(0x390).u32(0, 0x400007, 0x80000000);
    this.#registers.forEach((value, number) => context.u64(8 + 8 * number, value));
    return context.u64(0x100, this.#sp, this.#interrupted);
  }

  #emulatedContext(): DumpBytes {
    return emulatedContext(this.#registers, this.#sp, this.#interrupted);
  }

  get #interrupted(): bigint {
    return this.#frames[0]?.address ?? 0n;
  }

  #allocated(size: number, code: readonly number[] = allocation(size)): Step {
    return { code, run: () => void (this.#sp -= BigInt(size)) };
  }

  #wide(size: number): Step {
    return {
      code: [0xE0, 0, (size / 16) >> 8, (size / 16) & 0xFF],
      run: () => void (this.#sp -= BigInt(size)),
    };
  }

  #framed(offset: number): Step {
    return {
      code: offset === 0 ? [0xE1] : [0xE2, offset / 8],
      run: () => void (this.#registers[FP] = this.#sp + BigInt(offset)),
    };
  }

  #savedBelow(size: number, numbers: readonly number[], code: readonly number[]): Step {
    const saved = this.#saved(0, numbers, code);
    return {
      code,
      run: () => {
        this.#sp -= BigInt(size);
        saved.run();
      },
    };
  }

  #saved(offset: number, numbers: readonly number[], code: readonly number[]): Step {
    return {
      code,
      run: () => {
        numbers.forEach((number, index) => {
          this.#stack.set(this.#sp + BigInt(offset + 8 * index), this.#registers[number] ?? 0n);
          if (number !== LR) this.#registers[number] = this.#value();
        });
      },
    };
  }

  /** Recognisable, and in no image. */
  #value(): bigint {
    return 0x1_0000n + BigInt(Math.floor(this.#random() * 2 ** 20)) * 16n;
  }
}
