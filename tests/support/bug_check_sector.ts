/**
 * A guest that stops as Windows does: a boot sector that waits for an interrupt that cannot be masked, writes a bug
 * check into Hyper-V's crash registers and says that it is complete. Numbers: the Hypervisor Top-Level Functional
 * Specification, "Synthetic MSRs" and "Guest Crash Enlightenment".
 */

const GUEST_OS_ID = 0x40000000;
/** The first of five: the code and its parameters. */
const CRASH_PARAMETERS = 0x40000100;
const CRASH_CONTROL = 0x40000105;
/** Set in the control register when the five are there. */
const CRASH_NOTIFY = 1n << 63n;
/** A guest says first what it is: vendor 1, system 4, version 10.0.19045. */
const WINDOWS = 0x0001_040a_0000_4a65n;

/** What it writes to its first serial line before it waits. */
export const READY = "interrupt me";
const COM1 = 0x3f8;

/** Where the BIOS loads a boot sector. */
const LOADED_AT = 0x7c00;
/** Where a processor in real mode finds its handler of the interrupt: second of the vectors, of four bytes each. */
const NMI_VECTOR = 8;

const SECTOR_BYTES = 512;
/** A disk smaller than that has no geometry that SeaBIOS would boot from. */
const DISK_BYTES = 1024 * 1024;

/** A bug check: its code and its four parameters, numbers of 64 bits. */
export type BugCheck = readonly [bigint, bigint, bigint, bigint, bigint];

/** A disk whose first sector waits for the interrupt, reports the bug check and halts. */
export function bugCheckDisk(bugCheck: BugCheck): Uint8Array<ArrayBuffer> {
  const halt = [0xf4, 0xeb, 0xfd]; // hlt; jmp to the hlt
  const wait = [...[...READY].flatMap(writeSerial), ...halt];
  const report = [
    ...writeRegister(GUEST_OS_ID, WINDOWS),
    ...bugCheck.flatMap((value, index) => writeRegister(CRASH_PARAMETERS + index, value)),
    ...writeRegister(CRASH_CONTROL, CRASH_NOTIFY),
    ...halt,
  ];
  const start = (handler: number): number[] => [
    0xfa, // cli
    ...[0x31, 0xc0, 0x8e, 0xd8], // xor ax, ax; mov ds, ax
    ...[0xc7, 0x06, NMI_VECTOR, 0, ...word(handler)], // mov word [NMI_VECTOR], handler
    ...[0xc7, 0x06, NMI_VECTOR + 2, 0, ...word(0)], // mov word [NMI_VECTOR + 2], 0
  ];
  const code = [...start(LOADED_AT + start(0).length + wait.length), ...wait, ...report];
  const disk = new Uint8Array(DISK_BYTES);
  disk.set(code);
  disk.set([0x55, 0xaa], SECTOR_BYTES - 2);
  return disk;
}

function word(value: number): number[] {
  return [value & 0xff, value >> 8];
}

function writeSerial(character: string): number[] {
  return [0xb0, character.charCodeAt(0), 0xba, ...word(COM1), 0xee]; // mov al, character; mov dx, port; out dx, al
}

/** In 16-bit code each of these takes the prefix for an operand of 32 bits. */
function writeRegister(register: number, value: bigint): number[] {
  return [
    ...[0x66, 0xb9, ...littleEndian(BigInt(register))], // mov ecx, register
    ...[0x66, 0xb8, ...littleEndian(value & 0xffff_ffffn)], // mov eax, the lower half
    ...[0x66, 0xba, ...littleEndian(value >> 32n)], // mov edx, the upper half
    ...[0x0f, 0x30], // wrmsr
  ];
}

function littleEndian(value: bigint): number[] {
  return [0n, 8n, 16n, 24n].map((shift) => Number((value >> shift) & 0xffn));
}
