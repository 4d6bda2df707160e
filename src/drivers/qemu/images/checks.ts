/** Checks of files that are to become an image. They come from anywhere, so nothing that they say is followed. */

import { HvError } from "../../../base/errors.ts";
import { isPlainObject, type JsonObject, parseJson } from "../../../base/json.ts";
import type { RandomAccessFile } from "../../../host/files.ts";
import { QEMU_IMG, type QemuContext } from "../context.ts";
import { askQemuImg } from "../disks/disk_program.ts";
import { QCOW2_MAGIC } from "../disks/headers/qcow2.ts";

/** Formats of disks that an image takes in as they are. */
export type ImageDiskFormat = "qcow2" | "raw";

const QCOW2_HEADER_BYTES = 104;
const BACKING_OFFSET = 8;
const FEATURES_OFFSET = 72;
const FEATURE_CORRUPT = 1n << 1n;
const FEATURE_DATA_FILE = 1n << 2n;
const FEATURES_KNOWN = 0x1fn;
const ELF_MAGIC = 0x7f454c46;
/** `HdrS`, the mark of a Linux boot header (Linux boot protocol, offset 0x202). */
const LINUX_MAGIC = 0x48647253;
const LINUX_MAGIC_OFFSET = 0x202;
const INFO_LIMIT_MS = 30_000;

/**
 * Reads a disk's header before any program is let near it. A qcow2 file may name other files of the host as its
 * backing or data, and a program that opens it would open those. Throws `hv.bad_image`.
 */
export function checkDiskHeader(file: RandomAccessFile, path: string): ImageDiskFormat {
  const header = file.read(0, QCOW2_HEADER_BYTES);
  if (header.length === 0) throw badImage(path, "empty", "the file is empty", 0, "a qcow2 or raw disk");
  const view = new DataView(header.buffer, header.byteOffset, header.length);
  if (header.length < 4 || view.getUint32(0) !== QCOW2_MAGIC) return "raw";
  if (header.length < 72) {
    throw badImage(path, "truncated", "its qcow2 header is cut off", header.length, "72 bytes");
  }
  const version = view.getUint32(4);
  if (version !== 2 && version !== 3) {
    throw badImage(path, "unknown_version", `its qcow2 version is ${version}`, 4, "version 2 or 3");
  }
  if (view.getBigUint64(BACKING_OFFSET) !== 0n) throw leaning(path);
  if (version === 3) checkFeatures(view, path);
  return "qcow2";
}

function checkFeatures(view: DataView, path: string): void {
  if (view.byteLength < QCOW2_HEADER_BYTES) {
    throw badImage(
      path,
      "truncated",
      "its qcow2 header is cut off",
      view.byteLength,
      `${QCOW2_HEADER_BYTES} bytes`,
    );
  }
  const features = view.getBigUint64(FEATURES_OFFSET);
  if ((features & FEATURE_DATA_FILE) !== 0n) {
    throw badImage(path, "data_file", "its data lies in another file", FEATURES_OFFSET, "a disk in one file");
  }
  if ((features & FEATURE_CORRUPT) !== 0n) {
    throw badImage(path, "marked_corrupt", "it is marked as corrupt", FEATURES_OFFSET, "a sound disk");
  }
  if ((features & ~FEATURES_KNOWN) !== 0n) {
    throw badImage(
      path,
      "unknown_feature",
      `it has unknown features (0x${features.toString(16)})`,
      FEATURES_OFFSET,
      "known features",
    );
  }
}

/** Asks qemu-img what a disk is and refuses what is not a plain qcow2 or raw file. Throws `hv.bad_image`. */
export async function checkDiskWithProgram(
  context: QemuContext,
  path: string,
  expected: ImageDiskFormat,
  signal: AbortSignal,
): Promise<void> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(INFO_LIMIT_MS)]);
  // Without -f qemu-img looks for itself, and thereby finds the formats that hvlab does not take.
  const { code, stdout, stderr } = await askQemuImg(context, ["info", "--output=json", path], {
    signal: limited,
    progress: () => {},
  });
  if (code !== 0) {
    throw badImage(path, "unreadable", `qemu-img cannot read it: ${stderr.trim()}`, 0, "a readable disk");
  }
  const info = readInfo(stdout, path);
  if (info.format !== expected) {
    throw badImage(path, "unsupported_format", `it is a "${String(info.format)}" disk`, 0, "qcow2 or raw", {
      hint: `Convert it first: ${QEMU_IMG} convert -O qcow2 FILE NEW.qcow2`,
    });
  }
  if (info["backing-filename"] !== undefined) throw leaning(path);
}

function leaning(path: string): HvError {
  const found = "it is an overlay over another file";
  return badImage(path, "backing_file", found, BACKING_OFFSET, "a disk without a backing file");
}

function readInfo(text: string, path: string): JsonObject {
  try {
    const info = parseJson(text);
    if (isPlainObject(info)) return info;
  } catch {
    // Told below like every other answer that is no object.
  }
  throw badImage(path, "unreadable", "qemu-img gives no facts about it", 0, "a readable disk");
}

/** Refuses what cannot be a kernel for `-kernel`: neither a bzImage nor an ELF file. Throws `hv.bad_image`. */
export function checkKernel(file: RandomAccessFile, path: string): void {
  if (numberAt(file, 0) === ELF_MAGIC || numberAt(file, LINUX_MAGIC_OFFSET) === LINUX_MAGIC) return;
  throw badImage(
    path,
    "not_a_kernel",
    "it is neither a bzImage nor an ELF kernel",
    LINUX_MAGIC_OFFSET,
    '"HdrS", or an ELF header',
  );
}

/** Refuses an ELF kernel that is none. Throws `hv.bad_image`. */
export function checkFastKernel(file: RandomAccessFile, path: string): void {
  if (numberAt(file, 0) === ELF_MAGIC) return;
  throw badImage(path, "not_a_kernel", "it is not an ELF kernel", 0, "an ELF header");
}

/** Refuses an empty initial file system. Throws `hv.bad_image`. */
export function checkInitrd(file: RandomAccessFile, path: string): void {
  if (file.size > 0) return;
  throw badImage(path, "empty", "the file is empty", 0, "a cpio archive");
}

function numberAt(file: RandomAccessFile, offset: number): number | undefined {
  const bytes = file.read(offset, 4);
  return bytes.length < 4 ? undefined : new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
}

function badImage(
  path: string,
  reason: string,
  found: string,
  offset: number,
  expected: string,
  { hint = "Give another file" }: { hint?: string } = {},
): HvError {
  return new HvError("hv.bad_image", `Cannot use "${path}" as part of an image: ${found}`, {
    hint,
    context: { path, reason, offset, expected },
  });
}
