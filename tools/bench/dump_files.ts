/** Files that the dump rows are measured on. */

import { DumpBytes } from "../../tests/support/dump_writer.ts";
import { machineHeader } from "../../tests/support/machine_dump.ts";
import { writeMachine } from "../../tests/support/machine_writer.ts";
import { writeSymbols } from "../../tests/support/symbol_writer.ts";

const GIBIBYTE = 2 ** 30;
const PAGE = 4096;

/** An active dump of 64 GiB of memory, every page in it; a few hold a machine that crashed, the others are holes. */
export async function writeHugeDump(path: string): Promise<void> {
  const memory = writeMachine("x64");
  const bits = 64 * GIBIBYTE / PAGE;
  const first = 0x2038 + bits / 8;
  const total = first + bits * PAGE;
  const header = machineHeader(memory, 5).u64(0xFA0, BigInt(total));
  const head = new DumpBytes(0x38).text(0, "FDMPDUMP").u64(0x20, BigInt(first), BigInt(bits), BigInt(bits));
  using file = await Deno.open(path, { write: true, createNew: true });
  const put = async (offset: number, bytes: Uint8Array): Promise<void> => {
    await file.seek(offset, Deno.SeekMode.Start);
    for (let done = 0; done < bytes.length;) done += await file.write(bytes.subarray(done));
  };
  await file.truncate(total);
  await put(0, header.bytes);
  await put(0x2000, head.bytes);
  await put(0x2038, new Uint8Array(bits / 8).fill(0xFF));
  for (const [frame, { bytes }] of memory.pages) await put(first + frame * PAGE, bytes);
}

const PUBLICS = 400_000;

/** A symbol file of about 20 MB; one function begins at every sixteenth byte of its only section. */
export async function writeLargeSymbols(path: string): Promise<void> {
  const publics = Array.from({ length: PUBLICS }, (_, index) => ({
    name: `function_with_a_name_${index}`,
    section: 1,
    offset: index * 16,
  }));
  const guid = Uint8Array.from({ length: 16 }, (_, index) => index);
  const sections = [{ rva: 0x1000, size: PUBLICS * 16 }];
  await Deno.writeFile(path, writeSymbols({ guid, age: 1, publics, sections, blockBytes: PAGE }));
}
