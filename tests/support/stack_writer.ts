/**
 * Writes a driver whose functions were interrupted in the middle of calls, with the unwind data that linkers would give
 * them and the stack that running them would leave. It runs the prologs itself, so that every frame is known; it shares
 * nothing with the unwinder.
 */

import { DumpBytes } from "./dump_writer.ts";
import { dumpMachine } from "./machine_dump.ts";
import { PLACES, poolAddresses, writeMachine, writtenDrivers } from "./machine_writer.ts";

/** A frame as it was before anybody unwound it. */
export interface WrittenFrame {
  readonly address: bigint;
  readonly stackPointer: bigint;
}

const IMAGE = PLACES[64].driver;
const CODE = 0x1000;
const FUNCTION_BYTES = 0x40;
/** Where each function stands: behind its call, or where it was interrupted. */
const BODY = 0x20;
const UNWIND = 0x2000;
const TABLE = 0x2800;
const IMAGE_BYTES = 0x3000;
const STACK_TOP = PLACES[64].stack + 0x5F00n;
const RSP = 4;
const NONVOLATILE = [3, 5, 6, 7, 12, 13, 14, 15];

/** One step of a prolog: what it does, and its words in the unwind data. */
interface Step {
  readonly op: number;
  readonly info: number;
  readonly more?: readonly number[];
  run(): void;
}

/** The machine with its stack, in a dump, with the frames from the innermost on. */
export function writeStack(
  random: () => number,
): { dump: Uint8Array<ArrayBuffer>; frames: WrittenFrame[]; kinds: string[] } {
  const builder = new StackBuilder(random);
  const count = 3 + Math.floor(random() * 12);
  for (let index = 0; index < count; index++) builder.call();
  return builder.finish();
}

class StackBuilder {
  readonly #random: () => number;
  readonly #registers: bigint[] = [];
  readonly #stack = new Map<bigint, bigint>();
  readonly #image = new DumpBytes(IMAGE_BYTES);
  readonly #frames: WrittenFrame[] = [];
  readonly #kinds: string[] = [];
  readonly #entries: [begin: number, end: number, info: number][] = [];
  #unwindAt = UNWIND;
  #functions = 0;

  constructor(random: () => number) {
    this.#random = random;
    for (let number = 0; number < 16; number++) this.#registers.push(this.#value());
    this.#registers[RSP] = STACK_TOP;
    // The outermost function returns to nothing.
    this.#push(0n);
  }

  get #rsp(): bigint {
    return this.#registers[RSP] ?? 0n;
  }

  /** Calls the next function, or lets it interrupt the one before, and runs its prolog. */
  call(): void {
    const begin = CODE + this.#functions * FUNCTION_BYTES;
    const steps: Step[] = [];
    const before = this.#frames[0];
    const interrupts = before !== undefined && this.#random() < 0.15;
    if (interrupts) steps.push(this.#machineFrame(before));
    else if (before !== undefined) this.#push(before.address);
    const shape = this.#upTo(6);
    for (const step of this.#prologOf(shape)) steps.push(step);
    steps.forEach((step) => step.run());
    const version = this.#random() < 0.4 ? 2 : 1;
    const frame = [3, 4].includes(shape) ? 5 | (shape << 4) : 0;
    // What was pushed first belongs to the parent of a chained entry.
    const chained = steps.length > 1 && frame === 0 && !interrupts && this.#random() < 0.3;
    const info = chained ? this.#chain(begin, steps) : this.#unwindInfo(version, frame, steps, 0, null);
    this.#entries.push([begin, begin + FUNCTION_BYTES, info]);
    // A dynamic allocation after the prolog is what frame pointers are for.
    if (frame !== 0) this.#registers[RSP] = this.#rsp - BigInt(16 * this.#upTo(8));
    this.#frames.unshift({ address: IMAGE + BigInt(begin + BODY), stackPointer: this.#rsp });
    this.#kinds.push(`${interrupts ? "interrupt " : ""}${shape}${chained ? " chained" : ""} v${version}`);
    this.#functions++;
  }

  finish(): { dump: Uint8Array<ArrayBuffer>; frames: WrittenFrame[]; kinds: string[] } {
    const memory = writeMachine("x64");
    const driver = writtenDrivers(64)[1];
    const image = this.#image.text(0, "MZ").u32(0x3C, 0x80).text(0x80, "PE").u16(0x84, 0x8664, 2)
      .u32(0x88, driver?.timeDateStamp ?? 0).u16(0x94, 0xF0, 0x2022).u16(0x98, 0x20B)
      .u64(0xB0, IMAGE).u32(0xB8, 0x1000, 0x200).u32(0xD0, IMAGE_BYTES, 0x400, driver?.checkSum ?? 0)
      .u32(0x104, 16).u32(0x108 + 3 * 8, TABLE, this.#entries.length * 12);
    [[".text", CODE, 0x6000_0020], [".pdata", UNWIND, 0x4000_0040]].forEach(([name, rva, flags], index) => {
      const at = 0x188 + index * 40;
      image.text(at, String(name)).u32(at + 8, 0x1000, Number(rva), 0x1000, Number(rva)).u32(
        at + 36,
        Number(flags),
      );
    });
    image.bytes.fill(0x90, CODE, CODE + 0x1000);
    this.#entries.forEach((entry, index) => image.u32(TABLE + index * 12, ...entry));
    memory.put(IMAGE, image.bytes);
    for (const [address, value] of this.#stack) memory.put(address, new DumpBytes(8).u64(0, value).bytes);
    const context = new DumpBytes(0x4D0).u32(0x30, 0x10001F).u32(0x44, 0x246);
    context.u16(0x38, 0x10, 0x2B, 0x2B, 0x53, 0x2B, 0x18);
    this.#registers.forEach((value, number) => context.u64(0x78 + 8 * number, value));
    context.u64(0xF8, this.#frames[0]?.address ?? 0n);
    memory.put(poolAddresses(64).contexts[1] ?? 0n, context.bytes);
    const dump = dumpMachine(memory, "sdmp");
    dump.set(context.bytes, 0x348);
    return { dump, frames: this.#frames, kinds: this.#kinds };
  }

  #prologOf(shape: number): Step[] {
    const pushes = shape === 4
      ? []
      : this.#someRegisters(shape === 3 ? 0 : this.#upTo(4)).map((number) => this.#pushed(number));
    switch (shape) {
      case 0:
        return [...pushes, this.#allocated(8 * (1 + this.#upTo(16)))];
      case 1:
        return [...pushes, this.#allocated(8 * (20 + this.#upTo(100)))];
      case 2:
        return [
          ...pushes,
          this.#allocated(0x200, true),
          ...this.#someRegisters(2).map((number, index) =>
            this.#saved(number, 0x40 + 8 * index, index === 1)
          ),
        ];
      case 3:
        return [this.#pushed(5), this.#allocated(0x70), this.#framed(3)];
      case 4:
        return [this.#pushed(5), this.#pushed(3), this.#allocated(0x80), this.#framed(4)];
      default:
        return [...pushes, this.#allocated(0x60), this.#xmm(6, 0x20)];
    }
  }

  #pushed(number: number): Step {
    return {
      op: 0,
      info: number,
      run: () => {
        this.#push(this.#registers[number] ?? 0n);
        this.#registers[number] = this.#value();
      },
    };
  }

  #allocated(size: number, widest = false): Step {
    const run = (): void => {
      this.#registers[RSP] = this.#rsp - BigInt(size);
    };
    if (widest) return { op: 1, info: 1, more: [size & 0xFFFF, size >>> 16], run };
    return size <= 128 ? { op: 2, info: size / 8 - 1, run } : { op: 1, info: 0, more: [size / 8], run };
  }

  #framed(offset: number): Step {
    return {
      op: 3,
      info: 0,
      run: () => {
        this.#registers[5] = this.#rsp + BigInt(16 * offset);
      },
    };
  }

  #saved(number: number, offset: number, far: boolean): Step {
    const run = (): void => {
      this.#stack.set(this.#rsp + BigInt(offset), this.#registers[number] ?? 0n);
      this.#registers[number] = this.#value();
    };
    return far
      ? { op: 5, info: number, more: [offset, 0], run }
      : { op: 4, info: number, more: [offset / 8], run };
  }

  #xmm(number: number, offset: number): Step {
    return { op: 8, info: number, more: [offset / 16], run: () => {} };
  }

  /** What the processor pushes when it interrupts: stack and code segment, flags, and with some faults an error code. */
  #machineFrame({ address }: WrittenFrame): Step {
    const withError = this.#random() < 0.5;
    return {
      op: 10,
      info: withError ? 1 : 0,
      run: () => {
        const interrupted = this.#rsp;
        this.#registers[RSP] = interrupted & ~0xFn;
        for (const value of [0x18n, interrupted, 0x246n, 0x10n, address]) this.#push(value);
        if (withError) this.#push(2n);
      },
    };
  }

  /** The steps after the first in an entry of their own, which leads to that of the first. */
  #chain(begin: number, steps: readonly Step[]): number {
    const parent = this.#unwindInfo(1, 0, steps.slice(0, 1), 0, null);
    return this.#unwindInfo(1, 0, steps.slice(1), 1, [begin, begin + FUNCTION_BYTES, parent]);
  }

  #unwindInfo(
    version: number,
    frame: number,
    steps: readonly Step[],
    skipped: number,
    parent: readonly number[] | null,
  ): number {
    const words: number[] = [];
    // Two epilogs: one of three bytes at the very end, one earlier.
    if (version === 2) words.push(0x1603, 0x0618);
    steps.toReversed().forEach((step, index) => {
      const place = step.op === 10 ? 0 : 3 * (steps.length - index + skipped);
      words.push(place | ((step.op | (step.info << 4)) << 8), ...step.more ?? []);
    });
    const at = this.#unwindAt;
    const even = words.length + words.length % 2;
    const last = 3 * (steps.length + skipped);
    this.#image.u8(at, version | (parent === null ? 0 : 0x20)).u8(at + 1, last).u8(at + 2, words.length).u8(
      at + 3,
      frame,
    )
      .u16(at + 4, ...words);
    if (parent !== null) this.#image.u32(at + 4 + even * 2, ...parent);
    this.#unwindAt = at + 4 + even * 2 + 12;
    return at;
  }

  #push(value: bigint): void {
    this.#registers[RSP] = this.#rsp - 8n;
    this.#stack.set(this.#rsp, value);
  }

  #someRegisters(count: number): number[] {
    const start = this.#upTo(NONVOLATILE.length);
    return Array.from(
      { length: count },
      (_, index) => NONVOLATILE[(start + index) % NONVOLATILE.length] ?? 3,
    );
  }

  #upTo(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  /** Recognisable, and in no image. */
  #value(): bigint {
    return 0x1_0000n + BigInt(this.#upTo(2 ** 20)) * 16n;
  }
}
