/** Linux cores and console text: whole processes in milliseconds, and what they read. */

import { readDumpLog } from "../../src/debugger/linux/read_log.ts";
import { triageDumpFile } from "../../src/debugger/triage/triage_file.ts";
import { denoFiles } from "../../src/host/files.ts";
import type { DumpFiles } from "../../src/debugger/inspect_file.ts";
import { hasLinuxSamples, readLinuxSample } from "../../tests/support/linux_samples.ts";
import { StepClock } from "../../tests/support/step_clock.ts";
import { measureBesideCrash } from "./beside_crash.ts";
import { bundleArguments } from "./program.ts";
import { measureSideBySide, type Row } from "./report.ts";

const ROUNDS = 9;
const CORE = "oops-null-6.1.elf.gz";
const TEXT = "serial/soft-lockup.txt";
const MEMORY_BYTES = 4 * 2 ** 30;
const TEXT_BYTES = 10 * 2 ** 20;
const MIB = 2 ** 20;

/** Measures triage and log of a sparse 4 GiB core and triage of 10 MiB of text, and a triage beside `crash`. */
export async function measureLinuxDumps(): Promise<Row[]> {
  return [...await measureSamples(), ...await measureBesideCrash()];
}

/** Nothing where there are no samples. */
async function measureSamples(): Promise<Row[]> {
  if (!hasLinuxSamples) return [];
  const folder = await Deno.makeTempDir();
  try {
    const core = `${folder}/core.elf`;
    const text = `${folder}/console.log`;
    await writeSparseCore(core, await readLinuxSample(CORE));
    await writeLongText(text, new TextDecoder().decode(await readLinuxSample(TEXT)));
    const [version = NaN, triage = NaN, log = NaN, console = NaN] = await measureSideBySide(
      [["--version"], ["dump", "triage", core], ["dump", "log", core], ["dump", "triage", text]].map(
        (words) => () => timeOf(bundleArguments(words)),
      ),
      ROUNDS,
    );
    return [
      { what: "hvlab --version", value: version },
      { what: "dump triage, sparse 4 GiB core", value: triage, target: 1000 },
      { what: "dump log, the same, without the start", value: log - version, target: 100 },
      {
        what: "dump triage, 10 MiB of console text, without the start",
        value: console - version,
        target: 200,
      },
      { what: "MiB read by the triage", value: await readBy((files) => triageOf(files, core)), target: 32 },
      { what: "MiB read for the log", value: await readBy((files) => logOf(files, core)) },
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function triageOf(files: DumpFiles, path: string): Promise<void> {
  await triageDumpFile(files, new StepClock(), { path, full: false });
}

async function logOf(files: DumpFiles, path: string): Promise<void> {
  await readDumpLog(files, new StepClock(), { path });
}

/** Counts what is read of files while `work` runs, in MiB. */
async function readBy(work: (files: DumpFiles) => Promise<void>): Promise<number> {
  let bytes = 0;
  await work({
    stat: (path, options) => denoFiles.stat(path, options),
    list: (folder) => denoFiles.list(folder),
    realPath: (path) => denoFiles.realPath(path),
    open(path) {
      const file = denoFiles.open(path);
      return {
        size: file.size,
        read(offset, length) {
          const read = file.read(offset, length);
          bytes += read.length;
          return read;
        },
        close: () => file.close(),
        [Symbol.dispose]: () => file[Symbol.dispose](),
      };
    },
  });
  return bytes / MIB;
}

/** The sample's pages where they were in a machine of 4 GiB, as one segment with holes between them. */
async function writeSparseCore(path: string, sample: Uint8Array<ArrayBuffer>): Promise<void> {
  const view = new DataView(sample.buffer);
  const first = Number(view.getBigUint64(32, true));
  const count = view.getUint16(56, true);
  const headers = Array.from({ length: count }, (_, index) => {
    const at = first + 56 * index;
    const number = (offset: number) => Number(view.getBigUint64(at + offset, true));
    return {
      isNote: view.getUint32(at, true) === 4,
      offset: number(8),
      physical: number(24),
      size: number(32),
    };
  });
  const notes = headers.find(({ isNote }) => isNote) ?? { offset: 0, size: 0 };
  const data = 2 ** 16;
  const head = new DataView(new ArrayBuffer(data));
  const bytes = new Uint8Array(head.buffer);
  bytes.set(sample.subarray(0, 64));
  head.setBigUint64(32, 64n, true);
  head.setUint16(56, 2, true);
  const header = (at: number, type: number, offset: number, size: number) => {
    head.setUint32(at, type, true);
    head.setBigUint64(at + 8, BigInt(offset), true);
    head.setBigUint64(at + 32, BigInt(size), true);
  };
  header(64, 4, 4096, notes.size);
  header(120, 1, data, MEMORY_BYTES);
  bytes.set(sample.subarray(notes.offset, notes.offset + notes.size), 4096);
  using file = await Deno.open(path, { write: true, create: true });
  await file.truncate(data + MEMORY_BYTES);
  const write = async (offset: number, piece: Uint8Array) => {
    await file.seek(offset, Deno.SeekMode.Start);
    for (let done = 0; done < piece.length;) done += await file.write(piece.subarray(done));
  };
  await write(0, bytes);
  for (const { isNote, offset, physical, size } of headers) {
    if (!isNote) await write(data + physical, sample.subarray(offset, offset + size));
  }
}

/** A crash at the end of much that is none. */
async function writeLongText(path: string, crash: string): Promise<void> {
  const line = (number: number) =>
    `[${
      (number / 100).toFixed(6).padStart(12)
    }] systemd[1]: Started session ${number} of a user, as happens all day\n`;
  let text = "";
  for (let number = 0; text.length < TEXT_BYTES; number++) text += line(number);
  await Deno.writeTextFile(path, text + crash);
}

async function timeOf(args: string[]): Promise<number> {
  const start = performance.now();
  const { code } = await new Deno.Command(Deno.execPath(), {
    args,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  })
    .output();
  if (code !== 0) throw new Error(`"${args.join(" ")}" ended with code ${code}`);
  return performance.now() - start;
}
