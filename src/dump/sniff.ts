/** Tells the form of a dump from its first bytes: one read of 8 KiB. */

import { type ByteReader, WINDOW_BYTES } from "./bytes.ts";
import { recogniseForeign } from "./foreign.ts";
import { badDump } from "./reasons.ts";
import { visibleText } from "../base/visible_text.ts";

/** The form of a file, which decides who reads it. */
export type DumpFormat =
  | "kernel64"
  | "kernel32"
  | "minidump"
  | "legacy_user"
  | "firmware_raw"
  | "firmware_encrypted"
  | "elf_core"
  | "kdump"
  | "kdump_flattened";

/** Bytes that must be there before anything of a kernel dump is told: the bug check code lies before them. */
export const SHORTEST_KERNEL_HEADER = 0x40;
const SHORTEST_MINIDUMP = 0x20;
const SHORTEST_SIGNATURE = 8;
const MINIDUMP_VERSION = 0xA793;
const ELF_TYPE_CORE = 4;

/**
 * The form of the file behind `reader`. Fails with `hv.bad_dump`, reason `empty`, `too_short`, `bad_signature`,
 * `not_a_dump` (with `what`), `byte_swapped` or `being_written`.
 */
export function sniffDump(reader: ByteReader): DumpFormat {
  if (reader.size === 0) throw badDump("empty", "Cannot read the dump: the file has 0 bytes", { found: 0 });
  if (reader.size < SHORTEST_SIGNATURE) throw tooShort(reader.size, SHORTEST_SIGNATURE);
  const head = reader.bytes(0, Math.min(WINDOW_BYTES, reader.size), "first bytes");
  const first = tag(head, 0, 4);
  const second = tag(head, 4, 8);
  const both = first + second;
  if (first === "PAGE") return sniffKernel(reader.size, second);
  if (first === "MDMP") return sniffMinidump(reader);
  if (both === "USERDUMP" || both === "USERDU64") return "legacy_user";
  if (both === "Raw_Dmp!") return "firmware_raw";
  if (both === "Enc_Dmp!") return "firmware_encrypted";
  if (both === "KDUMP   " || both === "DISKDUMP") return "kdump";
  if (both === "makedump") return "kdump_flattened";
  if (isElfCore(head)) return "elf_core";
  if (first === "EGAP") {
    throw badDump(
      "byte_swapped",
      `Cannot read the dump: its signature "${visibleText(both)}" is byte-swapped`,
      {
        found: visibleText(both),
        expected: "PAGEDU64",
        offset: 0,
      },
      "No Windows writes such dumps; copy the file again without byte conversion",
    );
  }
  const foreign = recogniseForeign(head);
  if (foreign !== null) {
    throw badDump(
      "not_a_dump",
      `Cannot read the dump: the file is ${foreign.what}`,
      { what: foreign.what, offset: 0 },
      foreign.hint,
    );
  }
  throw badSignature(both);
}

function sniffKernel(size: number, second: string): DumpFormat {
  if (second === "\0\0\0\0" || second === "PAGE") {
    throw badDump(
      "being_written",
      "Cannot read the dump: its second word is not set, so it is still being written or was never finished",
      { offset: 4, expected: "DU64 or DUMP", found: visibleText(second) },
      "Wait until Windows has finished the dump; after a failed write only a new crash gives one",
    );
  }
  if (second !== "DU64" && second !== "DUMP") throw badSignature(`PAGE${second}`);
  if (size < SHORTEST_KERNEL_HEADER) throw tooShort(size, second === "DU64" ? 0x2000 : 0x1000);
  return second === "DU64" ? "kernel64" : "kernel32";
}

function sniffMinidump(reader: ByteReader): DumpFormat {
  if (reader.size < SHORTEST_MINIDUMP) throw tooShort(reader.size, SHORTEST_MINIDUMP);
  const version = reader.u16(4, "Version");
  if (version !== MINIDUMP_VERSION) {
    throw badDump(
      "bad_signature",
      `Cannot read the minidump: its version is 0x${version.toString(16)}, not 0xa793`,
      {
        offset: 4,
        expected: MINIDUMP_VERSION,
        found: version,
      },
    );
  }
  return "minidump";
}

function isElfCore(head: Uint8Array): boolean {
  if (tag(head, 0, 4) !== "\x7FELF" || head.length < 18) return false;
  const [low, high] = head[5] === 2 ? [head[17], head[16]] : [head[16], head[17]];
  return low === ELF_TYPE_CORE && high === 0;
}

function tag(head: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...head.subarray(start, end));
}

function tooShort(found: number, expected: number): Error {
  return badDump(
    "too_short",
    `Cannot read the dump: the header needs ${expected} bytes, the file has ${found}`,
    {
      expected,
      found,
    },
  );
}

function badSignature(found: string): Error {
  return badDump("bad_signature", `Cannot read the dump: "${visibleText(found)}" begins no known dump`, {
    offset: 0,
    found: visibleText(found),
    expected: "PAGEDU64, PAGEDUMP, MDMP, an ELF core or a kdump",
  });
}
