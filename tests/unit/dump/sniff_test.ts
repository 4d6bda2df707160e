import assert from "node:assert/strict";
import { HvError } from "../../../src/base/errors.ts";
import { ByteReader, MemorySource } from "../../../src/dump/bytes.ts";
import { type DumpFormat, sniffDump } from "../../../src/dump/sniff.ts";
import {
  DumpBytes,
  elfCore,
  flattenedKdump,
  kdumpHeader,
  kernelHeader32,
  kernelHeader64,
  minidump,
} from "../../support/dump_writer.ts";

function sniff(bytes: Uint8Array): DumpFormat {
  return sniffDump(new ByteReader(new MemorySource(bytes)));
}

function refusal(bytes: Uint8Array): HvError {
  try {
    sniff(bytes);
  } catch (thrown) {
    assert(thrown instanceof HvError);
    assert.equal(thrown.code, "hv.bad_dump");
    assert(thrown.hint !== undefined && !thrown.hint.endsWith("."));
    return thrown;
  }
  assert.fail("the file was taken for a dump");
}

function bytesOf(text: string, size = 100): Uint8Array {
  return new DumpBytes(size, "\x01").text(0, text).bytes;
}

Deno.test("every form of dump is told from its first bytes", () => {
  const forms: [DumpFormat, Uint8Array][] = [
    ["kernel64", kernelHeader64(1).bytes],
    ["kernel32", kernelHeader32(1).bytes],
    ["minidump", minidump([]).bytes],
    ["legacy_user", bytesOf("USERDUMP")],
    ["legacy_user", bytesOf("USERDU64")],
    ["firmware_raw", bytesOf("Raw_Dmp!")],
    ["firmware_encrypted", bytesOf("Enc_Dmp!")],
    ["elf_core", elfCore([]).bytes],
    ["kdump", kdumpHeader().bytes],
    ["kdump_flattened", flattenedKdump()],
  ];
  for (const [form, bytes] of forms) assert.equal(sniff(bytes), form);
});

Deno.test("files of other kinds are named", () => {
  const kinds: [what: string, bytes: Uint8Array][] = [
    ["a cabinet", bytesOf("MSCF")],
    ["a zip archive", bytesOf("PK\x03\x04")],
    ["a gzip file", bytesOf("\x1F\x8B\x08")],
    ["a 7-Zip archive", bytesOf("7z\xBC\xAF\x27\x1C")],
    ["an xz file", bytesOf("\xFD7zXZ\0")],
    ["a zstd file", bytesOf("\x28\xB5\x2F\xFD")],
    ["a tar archive", new DumpBytes(600, "a").text(257, "ustar").bytes],
    ["a hibernation file", bytesOf("HIBR")],
    ["a hibernation file", bytesOf("wake")],
    ["a hibernation file", bytesOf("RSTR")],
    ["a Git LFS pointer", bytesOf("version https://git-lfs.github.com/spec/v1\n")],
    ["an ELF file that is not a core", elfCore([]).u16(16, 2).bytes],
    ["a Windows program", bytesOf("MZ")],
    ["a qcow2 disk image", bytesOf("QFI\xFB")],
  ];
  for (const [what, bytes] of kinds) {
    const { context, message } = refusal(bytes);
    assert.equal(context["reason"], "not_a_dump");
    assert.equal(context["what"], what);
    assert(message.endsWith(what));
  }
  assert.equal(refusal(new Uint8Array(8192)).context["reason"], "not_a_dump");
});

Deno.test("files that are no dump at all are refused with a reason", () => {
  const reasons: [reason: string, bytes: Uint8Array][] = [
    ["empty", new Uint8Array(0)],
    ["too_short", bytesOf("PAGE", 4)],
    ["too_short", bytesOf("hello", 5)],
    ["too_short", kernelHeader64(1).bytes.subarray(0, 0x3F)],
    ["too_short", minidump([]).bytes.subarray(0, 0x1F)],
    ["byte_swapped", bytesOf("EGAP46UD")],
    ["being_written", bytesOf("PAGE\0\0\0\0")],
    ["being_written", bytesOf("PAGEPAGE")],
    ["bad_signature", bytesOf("PAGEWXYZ")],
    ["bad_signature", bytesOf("some text")],
    ["bad_signature", minidump([]).u16(4, 0x1234).bytes],
  ];
  for (const [reason, bytes] of reasons) assert.equal(refusal(bytes).context["reason"], reason);
});

Deno.test("0x40 bytes of a header are enough", () => {
  assert.equal(sniff(kernelHeader64(1).bytes.subarray(0, 0x40)), "kernel64");
});
