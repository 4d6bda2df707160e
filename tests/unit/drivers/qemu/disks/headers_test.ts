import assert from "node:assert/strict";
import fc from "fast-check";
import { HvError } from "../../../../../src/base/errors.ts";
import type { DiskHeader } from "../../../../../src/drivers/qemu/disks/headers/header.ts";
import { readDiskHeader } from "../../../../../src/drivers/qemu/disks/headers/read.ts";
import type { RandomAccessFile } from "../../../../../src/host/files.ts";
import { qcow2File, type Qcow2Wish, vhdFile, vhdxFile, vmdkFile } from "../../../../support/disk_writer.ts";

const ID = "01234567-89ab-cdef-0123-456789abcdef";
const OTHER = "fedcba98-7654-3210-fedc-ba9876543210";

/** Bytes in the place of a file, as far as a size that may be larger. */
function fileOf(bytes: Uint8Array, size = bytes.length): RandomAccessFile {
  const close = (): void => {};
  return {
    size,
    read: (offset, length) => bytes.slice(offset, offset + length),
    close,
    [Symbol.dispose]: close,
  };
}

function read(bytes: Uint8Array, size?: number): DiskHeader {
  return readDiskHeader(fileOf(bytes, size), "disk");
}

function reasonOf(bytes: Uint8Array): unknown {
  try {
    read(bytes);
  } catch (error) {
    assert.ok(error instanceof HvError, String(error));
    assert.equal(error.code, "hv.bad_image");
    return error.context.reason;
  }
  return "sound";
}

Deno.test("a qcow2 header tells size, parent, its format and snapshots", () => {
  const wish = { size: 5n << 20n, backing: "base,1.qcow2", backingFormat: "raw", snapshots: 2 };
  for (const version of [2, 3]) {
    assert.deepEqual(read(qcow2File({ version, ...wish })), {
      format: "qcow2",
      type: "differencing",
      size: 5n << 20n,
      parent: { names: ["base,1.qcow2"], format: "raw" },
      snapshots: 2,
    });
  }
  assert.deepEqual(read(qcow2File()), { format: "qcow2", type: "dynamic", size: 1n << 20n });
  assert.equal(read(qcow2File({ backing: "b" })).parent?.format, undefined);
  assert.equal(read(qcow2File({ incompatible: 4n, dataFile: "data.raw" })).dataFile, "data.raw");
  assert.equal(read(qcow2File({ incompatible: 2n })).markedCorrupt, true);
});

Deno.test("a qcow2 header that lies is refused", () => {
  const lies: [Qcow2Wish, string][] = [
    [{ version: 4 }, "unknown_version"],
    [{ incompatible: 1n << 40n }, "unknown_feature"],
    [{ size: (1n << 63n) - 1n }, "impossible_size"],
    [{ size: 8n << 60n, l1: 0xffffffff }, "impossible_size"],
    [{ size: 1n << 40n, l1: 1 }, "impossible_size"],
    [{ clusterBits: 40 }, "bad_cluster_size"],
    [{ backing: "x".repeat(2000) }, "bad_backing_name"],
  ];
  for (const [wish, reason] of lies) assert.equal(reasonOf(qcow2File(wish)), reason, reason);
});

Deno.test("VHD, VHDX and VMDK tell their ids and their parents'", () => {
  const parent = { id: OTHER, relative: ".\\base.vhd" };
  assert.deepEqual(read(vhdFile({ id: ID })), { format: "vhd", type: "dynamic", size: 1n << 20n, id: ID });
  assert.deepEqual(read(vhdFile({ id: ID, parent })).parent, {
    names: [".\\base.vhd"],
    format: "vhd",
    id: OTHER,
  });
  assert.deepEqual(read(vhdxFile({ id: ID })), { format: "vhdx", type: "dynamic", size: 1n << 20n, id: ID });
  assert.deepEqual(read(vhdxFile({ id: ID, parent })).parent, {
    names: [".\\base.vhd"],
    format: "vhdx",
    id: OTHER,
  });
  assert.deepEqual(read(vmdkFile({ id: "12ab34cd", parent: { id: "00000001", name: "base.vmdk" } })), {
    format: "vmdk",
    type: "differencing",
    size: 1n << 20n,
    id: "12ab34cd",
    parent: { names: ["base.vmdk"], format: "vmdk", id: "00000001" },
  });
  const flipped = vhdFile({ id: ID });
  flipped[3584 + 100] = 1;
  assert.equal(reasonOf(flipped), "bad_checksum");
  assert.equal(reasonOf(vhdxFile({ id: ID, size: 1n << 60n })), "impossible_size");
});

Deno.test("what is no disk is named", () => {
  const starting = (text: string, length = 1024): Uint8Array => {
    const bytes = new Uint8Array(length);
    bytes.set(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
    return bytes;
  };
  assert.equal(reasonOf(new Uint8Array(0)), "empty");
  assert.equal(reasonOf(starting("0123456789", 10)), "not_a_disk");
  assert.equal(reasonOf(starting("QED\0")), "foreign_format");
  assert.equal(reasonOf(starting(`${"\0".repeat(64)}\x7f\x10\xda\xbe`)), "foreign_format");
  assert.equal(reasonOf(starting("# Disk DescriptorFile\n")), "foreign_format");
  assert.equal(reasonOf(starting("\x1f\x8b\x08")), "packed");
  assert.deepEqual(read(starting("boot")), { format: "raw", type: "fixed", size: 1024n });
});

Deno.test("a header cut off anywhere is refused as such, and never read beyond its end", () => {
  const parent = { id: OTHER, relative: "base" };
  for (
    const whole of [
      qcow2File({ backing: "base", backingFormat: "raw" }),
      vhdxFile({ id: ID, parent }),
      vmdkFile({ id: "1", parent: { id: "2", name: "base" } }),
    ]
  ) {
    const lengths = [...Array(200).keys()].map((step) => 16 + step * 8)
      .concat([65536, 131072, 196608, 262144, 524288, 590000].filter((length) => length < whole.length));
    for (const length of lengths) assert.doesNotThrow(() => reasonOf(whole.slice(0, length)), `${length}`);
  }
});

Deno.test("no bytes make the readers fail in any other way", () => {
  const parent = { id: OTHER, relative: "base" };
  const seeds = [
    qcow2File({ backing: "base", backingFormat: "raw" }),
    vhdFile({ id: ID, parent }),
    vhdxFile({ id: ID, parent }),
    vmdkFile({ id: "1" }),
  ];
  const change = fc.tuple(fc.nat(4096), fc.uint8Array({ minLength: 1, maxLength: 16 }));
  fc.assert(
    fc.property(
      fc.constantFrom(...seeds),
      fc.array(change, { maxLength: 8 }),
      fc.boolean(),
      (seed, changes, far) => {
        const bytes = seed.slice();
        for (const [at, patch] of changes) {
          const place = far ? 524288 + at : at;
          if (place + patch.length <= bytes.length) bytes.set(patch, place);
        }
        reasonOf(bytes);
      },
    ),
    { numRuns: 400 },
  );
});
