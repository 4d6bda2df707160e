/** Damage for dumps and their symbols, and what must not happen with it. Tests take some of it, the fuzzer all. */

import type { Clock } from "../../src/base/clock.ts";
import { HvError } from "../../src/base/errors.ts";
import { triageDumpFile } from "../../src/debugger/triage/triage_file.ts";
import { MAXIMUM_READ_BYTES } from "../../src/dump/bytes.ts";
import type { RandomAccessFile } from "../../src/host/files.ts";
import { dumpMachine, PAGE_CONTAINERS, smallDump } from "./machine_dump.ts";
import { writeMachine } from "./machine_writer.ts";
import { MemoryFiles } from "./memory_files.ts";
import { hasSample, readSample, samplePath } from "./shared_samples.ts";
import { writeWow64 } from "./wow64_writer.ts";

/** A dump to damage, or a file of a symbol store; `dump` is what the store is for then. */
export interface Seed {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly dump?: Uint8Array;
  /** Its path below the store. */
  readonly place?: string;
}

/** Every container and structure that our own writer makes. */
export function writtenSeeds(): Seed[] {
  const machine = writeMachine("x64");
  const other = ["x64-5level", "x86-pae", "x86", "arm64"] as const;
  return [
    ...PAGE_CONTAINERS.map((container) => ({ name: container, bytes: dumpMachine(machine, container) })),
    ...other.map((paging) => ({ name: paging, bytes: dumpMachine(writeMachine(paging), "full") })),
    { name: "small", bytes: smallDump(machine).bytes },
    { name: "small-arm64", bytes: smallDump(writeMachine("arm64")).bytes },
    { name: "wow64", bytes: writeWow64(["called", "inside", "lost"]) },
  ];
}

const FOLDERS = [
  "synthetic",
  "hostile",
  "kernel/no-licence-stated",
  "user/bsd-3-clause",
  "user/mit",
  "made/user",
];
const STORE = "dumps/made/symbols";
const LARGEST_SEED = 4 * 1024 * 1024;

/** The shared samples, and the files of the shared store with the dump that needs them; none where they are missing. */
export function sampleSeeds(): Seed[] {
  const seeds: Seed[] = [];
  for (const folder of FOLDERS.filter((each) => hasSample(`dumps/${each}`))) {
    for (const { name, isFile } of Deno.readDirSync(samplePath(`dumps/${folder}`))) {
      if (!isFile || !name.endsWith(".dmp")) continue;
      const bytes = readSample(`dumps/${folder}/${name}`);
      if (bytes.length <= LARGEST_SEED) seeds.push({ name, bytes });
    }
  }
  return [...seeds, ...storeSeeds()];
}

/** Images and symbol files of the shared store, plain and packed. */
export function storeSeeds(): Seed[] {
  const dump = "dumps/synthetic/triage64.dmp";
  if (!hasSample(STORE) || !hasSample(dump)) return [];
  const seeds: Seed[] = [];
  for (const store of [STORE, "dumps/made/symbols-packed"].filter(hasSample)) {
    for (const name of ["evil.pdb", "evil.sys", "ntkrnlmp.pdb", "ntoskrnl.exe"]) {
      if (!hasSample(`${store}/${name}`)) continue;
      for (const { name: key } of Deno.readDirSync(samplePath(`${store}/${name}`))) {
        for (const file of Deno.readDirSync(samplePath(`${store}/${name}/${key}`))) {
          const place = `${name}/${key}/${file.name}`;
          seeds.push({ name: place, place, bytes: readSample(`${store}/${place}`), dump: readSample(dump) });
        }
      }
    }
  }
  return seeds;
}

/** Numbers from 0 up to below 1, the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

const WORDS = [
  0n,
  1n,
  0x7Fn,
  0xFFn,
  0x7FFFn,
  0xFFFFn,
  0x7FFF_FFFFn,
  0xFFFF_FFFFn,
  2n ** 63n - 1n,
  2n ** 64n - 1n,
];

/** One to eight pieces of damage: changed words, copied and emptied stretches, a cut. */
export function damage(whole: Uint8Array, random: () => number): Uint8Array {
  let bytes = whole.slice();
  const upTo = (limit: number): number => Math.floor(random() * limit);
  for (let count = 1 + upTo(8); count > 0 && bytes.length > 16; count--) {
    // Heads and tables lie in front: half of the damage is done there.
    const at = random() < 0.5 ? upTo(Math.min(bytes.length, 0x2200)) : upTo(bytes.length);
    const kind = upTo(10);
    if (kind < 6) {
      const size = [1, 2, 4, 8][upTo(4)] ?? 1;
      const value = random() < 0.6 ? WORDS[upTo(WORDS.length)] ?? 0n : BigInt(upTo(2 ** 48));
      for (let byte = 0; byte < size && at + byte < bytes.length; byte++) {
        bytes[at + byte] = Number((value >> BigInt(8 * byte)) & 0xFFn);
      }
    } else if (kind < 7) bytes.fill(0, at, at + upTo(512));
    else if (kind < 9) bytes.copyWithin(at, upTo(bytes.length), upTo(bytes.length));
    else if (random() < 0.5) bytes = bytes.subarray(0, at);
  }
  return bytes;
}

/** Nobody writes these files on: a second look need not be waited for. */
const CLOCK: Clock = { now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() };

/** What was found wrong: something that no caller may see. */
export class Finding extends Error {}

/** No answer may take longer; a busy machine is given room. */
export const LIMIT_MS = 5_000;

/**
 * Triages a damaged file, all of it. Coded failures are answers; anything else is thrown as a {@link Finding}: another
 * error, a read outside the file or of too much at once, too long a time.
 */
export async function judge(seed: Seed, bytes: Uint8Array): Promise<void> {
  const dump = "/d/x.dmp";
  const files = new WatchedFiles(
    seed.place === undefined
      ? { [dump]: { bytes } }
      : { [dump]: { bytes: seed.dump ?? new Uint8Array(0) }, [`/s/${seed.place}`]: { bytes } },
  );
  const start = performance.now();
  try {
    const symbols = seed.place === undefined ? {} : { symbols: "/s" };
    const answer = await triageDumpFile(files, CLOCK, { path: dump, full: true, ...symbols });
    JSON.stringify(answer);
  } catch (thrown) {
    if (thrown instanceof Finding) throw thrown;
    if (!(thrown instanceof HvError) || thrown.code === "hv.internal") {
      throw new Finding(`it threw ${thrown instanceof Error ? thrown.stack : thrown}`);
    }
  }
  const time = performance.now() - start;
  if (time > LIMIT_MS) throw new Finding(`it took ${Math.round(time)} ms`);
}

/** Files that take offence at reads which no reader should make. */
class WatchedFiles extends MemoryFiles {
  override open(path: string): RandomAccessFile {
    const file = super.open(path);
    return {
      ...file,
      read(offset, length) {
        const fits = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 &&
          length >= 0;
        if (!fits || offset > file.size) {
          throw new Finding(`it read ${length} bytes at ${offset} of ${file.size}`);
        }
        if (length > MAXIMUM_READ_BYTES) throw new Finding(`it read ${length} bytes at once`);
        return file.read(offset, length);
      },
    };
  }
}
