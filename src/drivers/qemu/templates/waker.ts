/**
 * A program of some 450 bytes that waits inside a frozen guest. When a clone comes to life it is told the time and
 * fresh randomness over its standard input; it sets the clock, stirs the randomness into the kernel's generator and
 * makes the generator start anew from it. Then it ends, or becomes the first program that the clone is to run.
 * Starting something in a clone costs some 100 ms of translation under emulation; waking what waits costs a few.
 */

/** Fresh random bytes that a clone is given: more than the kernel's generator has state. */
export const SEED_BYTES = 64;
/** `RNDADDENTROPY` takes two counts before the bytes (linux/random.h, `struct rand_pool_info`). */
const POOL_HEADER_BYTES = 8;
const TIMESPEC_BYTES = 16;
const RUN_OFFSET = TIMESPEC_BYTES + POOL_HEADER_BYTES + SEED_BYTES;
const MESSAGE_BYTES = RUN_OFFSET + 16;

/** Where what is to be run is read to: pointers to paths, pointers to arguments, the texts. */
const RUN_ADDRESS = 0x600000;
/** A pipe takes this much at once, together with the message before it. */
export const RUN_LIMIT_BYTES = 32 * 1024;

/** The exit code when something went wrong; what was started can have it too, so a byte on descriptor 3 tells. */
export const NOTHING_STARTED = 125;

/** x86-64 Linux: the bytes, and what they mean. Descriptor 3 leads back through the input. */
const CODE = `
4c 8b 24 24                   mov r12, [rsp]                  ; the count of arguments
4e 8d 64 e4 10                lea r12, [rsp+r12*8+0x10]       ; behind them: the environment
48 83 ec 68                   sub rsp, 0x68
31 c0                         xor eax, eax
31 ff                         xor edi, edi
48 89 e6                      mov rsi, rsp
ba 68 00 00 00                mov edx, 0x68                   ; read(0, message, 104)
0f 05                         syscall
83 f8 68                      cmp eax, 0x68
0f 85 e3 00 00 00             jne fail
b8 e3 00 00 00                mov eax, 0xe3                   ; clock_settime(CLOCK_REALTIME, message)
31 ff                         xor edi, edi
48 89 e6                      mov rsi, rsp
0f 05                         syscall
89 c3                         mov ebx, eax
b8 02 00 00 00                mov eax, 0x2
48 8d 3d f1 00 00 00          lea rdi, [random]               ; open("/dev/urandom", O_RDWR)
be 02 00 00 00                mov esi, 0x2
0f 05                         syscall
89 c5                         mov ebp, eax
89 ef                         mov edi, ebp
b8 10 00 00 00                mov eax, 0x10
be 03 52 08 40                mov esi, 0x40085203             ; ioctl(it, RNDADDENTROPY, message + 16)
48 8d 54 24 10                lea rdx, [rsp+0x10]
0f 05                         syscall
09 c3                         or ebx, eax
89 ef                         mov edi, ebp
b8 10 00 00 00                mov eax, 0x10
be 07 52 00 00                mov esi, 0x5207                 ; ioctl(it, RNDRESEEDCRNG)
31 d2                         xor edx, edx
0f 05                         syscall
09 c3                         or ebx, eax
0f 88 93 00 00 00             js fail
89 ef                         mov edi, ebp
b8 03 00 00 00                mov eax, 0x3
0f 05                         syscall
4c 8b 6c 24 58                mov r13, [rsp+0x58]             ; bytes that follow; none means that this was all
4d 85 ed                      test r13, r13
0f 84 9b 00 00 00             je done
41 be 00 00 60 00             mov r14d, 0x600000
31 c0                   more: xor eax, eax
31 ff                         xor edi, edi
4c 89 f6                      mov rsi, r14
4c 89 ea                      mov rdx, r13
0f 05                         syscall
85 c0                         test eax, eax
7e 66                         jle fail
49 01 c6                      add r14, rax
49 29 c5                      sub r13, rax
75 e8                         jne more
b8 70 00 00 00                mov eax, 0x70                   ; setsid()
0f 05                         syscall
b8 03 00 00 00                mov eax, 0x3
31 ff                         xor edi, edi
0f 05                         syscall
b8 02 00 00 00                mov eax, 0x2
48 8d 3d 77 00 00 00          lea rdi, [nothing]              ; open("/dev/null", O_RDONLY), which is 0 again
31 f6                         xor esi, esi
0f 05                         syscall
b8 48 00 00 00                mov eax, 0x48                   ; fcntl(3, F_SETFD, FD_CLOEXEC)
bf 03 00 00 00                mov edi, 0x3
be 02 00 00 00                mov esi, 0x2
ba 01 00 00 00                mov edx, 0x1
0f 05                         syscall
41 be 00 00 60 00             mov r14d, 0x600000
49 8b 3e                next: mov rdi, [r14]
48 85 ff                      test rdi, rdi
74 1a                         je fail
48 8b 74 24 60                mov rsi, [rsp+0x60]
4c 89 e2                      mov rdx, r12
b8 3b 00 00 00                mov eax, 0x3b                   ; execve(candidate, argv, environment)
0f 05                         syscall
83 f8 f8                      cmp eax, 0xfffffff8             ; ENOEXEC: a shell must decide
74 06                         je fail
49 83 c6 08                   add r14, 0x8
eb de                         jmp next
b8 01 00 00 00          fail: mov eax, 0x1
bf 03 00 00 00                mov edi, 0x3
48 8d 35 24 00 00 00          lea rsi, [nothing]              ; write(3, one byte): nothing was started
ba 01 00 00 00                mov edx, 0x1
0f 05                         syscall
bf 7d 00 00 00                mov edi, 0x7d                   ; exit(125)
eb 02                         jmp end
31 ff                   done: xor edi, edi
b8 3c 00 00 00          end:  mov eax, 0x3c
0f 05                         syscall
`;
const PATHS = "/dev/urandom\0/dev/null\0";

const LOAD_ADDRESS = 0x400000;
const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;

/** The program as an ELF file. */
export function wakerProgram(): Uint8Array<ArrayBuffer> {
  const code = CODE.trim().split("\n").flatMap((line) =>
    Array.from(Uint8Array.fromHex(line.slice(0, 23).replaceAll(" ", "")))
  );
  const paths = new TextEncoder().encode(PATHS);
  const entry = HEADER_BYTES + 2 * SEGMENT_BYTES;
  const file = new Uint8Array(entry + code.length + paths.length);
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
  view.setUint16(56, 2, true);
  const putSegment = (at: number, flags: number, address: number, inFile: number, inMemory: number): void => {
    view.setUint32(at, 1, true);
    view.setUint32(at + 4, flags, true);
    view.setBigUint64(at + 16, BigInt(address), true);
    view.setBigUint64(at + 24, BigInt(address), true);
    view.setBigUint64(at + 32, BigInt(inFile), true);
    view.setBigUint64(at + 40, BigInt(inMemory), true);
    view.setBigUint64(at + 48, 0x1000n, true);
  };
  // The whole file to be read and run, and room for what is to be run.
  putSegment(HEADER_BYTES, 5, LOAD_ADDRESS, file.length, file.length);
  putSegment(HEADER_BYTES + SEGMENT_BYTES, 6, RUN_ADDRESS, 0, RUN_LIMIT_BYTES);
  file.set(code, entry);
  file.set(paths, entry + code.length);
  return file;
}

/** What the waker is to become: the first of `paths` that can be executed, with these arguments. */
export interface FirstRun {
  paths: readonly string[];
  argv: readonly string[];
}

/**
 * What the waker waits for: the time in milliseconds since 1970, {@link SEED_BYTES} random bytes, and what to run
 * then. Answers `undefined` when that is longer than {@link RUN_LIMIT_BYTES}.
 */
export function wakeMessage(
  time: number,
  seed: Uint8Array,
  run?: FirstRun,
): Uint8Array<ArrayBuffer> | undefined {
  const block = run === undefined ? { bytes: new Uint8Array(0), argv: 0 } : runBlock(run);
  if (block.bytes.length > RUN_LIMIT_BYTES) return undefined;
  const message = new Uint8Array(MESSAGE_BYTES + block.bytes.length);
  const view = new DataView(message.buffer);
  const seconds = Math.floor(time / 1000);
  view.setBigInt64(0, BigInt(seconds), true);
  view.setBigInt64(8, BigInt(Math.floor((time - seconds * 1000) * 1e6)), true);
  view.setInt32(TIMESPEC_BYTES, SEED_BYTES * 8, true);
  view.setInt32(TIMESPEC_BYTES + 4, SEED_BYTES, true);
  message.set(seed.subarray(0, SEED_BYTES), TIMESPEC_BYTES + POOL_HEADER_BYTES);
  view.setBigUint64(RUN_OFFSET, BigInt(block.bytes.length), true);
  view.setBigUint64(RUN_OFFSET + 8, BigInt(block.argv), true);
  message.set(block.bytes, MESSAGE_BYTES);
  return message;
}

/** Both lists of pointers end with a zero; the texts follow. */
function runBlock({ paths, argv }: FirstRun): { bytes: Uint8Array; argv: number } {
  const texts = [...paths, ...argv].map((text) => new TextEncoder().encode(`${text}\0`));
  const pointers = texts.length + 2;
  const size = texts.reduce((sum, text) => sum + text.length, pointers * 8);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  let at = pointers * 8;
  texts.forEach((text, index) => {
    const slot = index < paths.length ? index : index + 1;
    view.setBigUint64(slot * 8, BigInt(RUN_ADDRESS + at), true);
    bytes.set(text, at);
    at += text.length;
  });
  return { bytes, argv: RUN_ADDRESS + (paths.length + 1) * 8 };
}
