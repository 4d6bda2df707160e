/**
 * A program of 245 bytes that waits inside a frozen guest. When a clone comes to life it is told the time and fresh
 * randomness over its standard input; it sets the clock, stirs the randomness into the kernel's generator, makes
 * the generator start anew from it, and ends. Starting anything in a clone costs some 100 ms of translation under
 * emulation; waking what already waits costs 3.
 */

/** Fresh random bytes that a clone is given: more than the kernel's generator has state. */
export const SEED_BYTES = 64;
/** `RNDADDENTROPY` takes two counts before the bytes (linux/random.h, `struct rand_pool_info`). */
const POOL_HEADER_BYTES = 8;
const TIMESPEC_BYTES = 16;
const MESSAGE_BYTES = TIMESPEC_BYTES + POOL_HEADER_BYTES + SEED_BYTES;

/** x86-64 Linux. Exit code 0 when all of it was done, else 1. */
const CODE = [
  ...[0x48, 0x83, 0xec, MESSAGE_BYTES], //             sub rsp, 88
  ...[0x31, 0xc0], //                                  xor eax, eax            ; read(
  ...[0x31, 0xff], //                                  xor edi, edi            ;   0,
  ...[0x48, 0x89, 0xe6], //                            mov rsi, rsp            ;   message,
  ...[0xba, MESSAGE_BYTES, 0, 0, 0], //                mov edx, 88             ;   88)
  ...[0x0f, 0x05], //                                  syscall
  ...[0x83, 0xf8, MESSAGE_BYTES], //                   cmp eax, 88
  ...[0xbb, 0xff, 0xff, 0xff, 0xff], //                mov ebx, -1
  ...[0x75, 0x48], //                                  jne end
  ...[0xb8, 0xe3, 0, 0, 0], //                         mov eax, 227            ; clock_settime(
  ...[0x31, 0xff], //                                  xor edi, edi            ;   CLOCK_REALTIME,
  ...[0x48, 0x89, 0xe6], //                            mov rsi, rsp            ;   message)
  ...[0x0f, 0x05], //                                  syscall
  ...[0x89, 0xc3], //                                  mov ebx, eax
  ...[0xb8, 0x02, 0, 0, 0], //                         mov eax, 2              ; open(
  ...[0x48, 0x8d, 0x3d, 0x3a, 0, 0, 0], //             lea rdi, [rip + 0x3a]   ;   "/dev/urandom",
  ...[0xbe, 0x02, 0, 0, 0], //                         mov esi, 2              ;   O_RDWR)
  ...[0x31, 0xd2], //                                  xor edx, edx
  ...[0x0f, 0x05], //                                  syscall
  ...[0x89, 0xc7], //                                  mov edi, eax
  ...[0xb8, 0x10, 0, 0, 0], //                         mov eax, 16             ; ioctl(it,
  ...[0xbe, 0x03, 0x52, 0x08, 0x40], //                mov esi, 0x40085203     ;   RNDADDENTROPY,
  ...[0x48, 0x8d, 0x54, 0x24, TIMESPEC_BYTES], //      lea rdx, [rsp + 16]     ;   message + 16)
  ...[0x0f, 0x05], //                                  syscall
  ...[0x09, 0xc3], //                                  or ebx, eax
  ...[0xb8, 0x10, 0, 0, 0], //                         mov eax, 16             ; ioctl(it,
  ...[0xbe, 0x07, 0x52, 0, 0], //                      mov esi, 0x5207         ;   RNDRESEEDCRNG,
  ...[0x31, 0xd2], //                                  xor edx, edx            ;   0)
  ...[0x0f, 0x05], //                                  syscall
  ...[0x09, 0xc3], //                                  or ebx, eax
  ...[0xb8, 0x3c, 0, 0, 0], //                    end: mov eax, 60             ; exit(
  ...[0x89, 0xdf], //                                  mov edi, ebx            ;   whether any
  ...[0xc1, 0xef, 0x1f], //                            shr edi, 31             ;   was below 0)
  ...[0x0f, 0x05], //                                  syscall
];

const LOAD_ADDRESS = 0x400000;
const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;

/** The program as an ELF file. */
export function wakerProgram(): Uint8Array<ArrayBuffer> {
  const path = new TextEncoder().encode("/dev/urandom\0");
  const entry = HEADER_BYTES + SEGMENT_BYTES;
  const file = new Uint8Array(entry + CODE.length + path.length);
  const view = new DataView(file.buffer);
  // ELF header: 64-bit, little endian, executable, x86-64 (System V ABI, "ELF Header").
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  view.setUint16(16, 2, true);
  view.setUint16(18, 62, true);
  view.setUint32(20, 1, true);
  view.setBigUint64(24, BigInt(LOAD_ADDRESS + entry), true);
  view.setBigUint64(32, BigInt(HEADER_BYTES), true);
  view.setUint16(52, HEADER_BYTES, true);
  view.setUint16(54, SEGMENT_BYTES, true);
  view.setUint16(56, 1, true);
  // One segment: the whole file, readable and executable.
  view.setUint32(HEADER_BYTES, 1, true);
  view.setUint32(HEADER_BYTES + 4, 5, true);
  view.setBigUint64(HEADER_BYTES + 16, BigInt(LOAD_ADDRESS), true);
  view.setBigUint64(HEADER_BYTES + 24, BigInt(LOAD_ADDRESS), true);
  view.setBigUint64(HEADER_BYTES + 32, BigInt(file.length), true);
  view.setBigUint64(HEADER_BYTES + 40, BigInt(file.length), true);
  view.setBigUint64(HEADER_BYTES + 48, 0x1000n, true);
  file.set(CODE, entry);
  file.set(path, entry + CODE.length);
  return file;
}

/** What the program waits for: the time in milliseconds since 1970, and {@link SEED_BYTES} random bytes. */
export function wakeMessage(time: number, seed: Uint8Array): Uint8Array<ArrayBuffer> {
  const message = new Uint8Array(MESSAGE_BYTES);
  const view = new DataView(message.buffer);
  const seconds = Math.floor(time / 1000);
  view.setBigInt64(0, BigInt(seconds), true);
  view.setBigInt64(8, BigInt(Math.floor((time - seconds * 1000) * 1e6)), true);
  view.setInt32(TIMESPEC_BYTES, seed.length * 8, true);
  view.setInt32(TIMESPEC_BYTES + 4, seed.length, true);
  message.set(seed.subarray(0, SEED_BYTES), TIMESPEC_BYTES + POOL_HEADER_BYTES);
  return message;
}
