import assert from "node:assert/strict";
import fc from "fast-check";
import {
  checkDiskHeader,
  checkDiskWithProgram,
  checkFastKernel,
  checkInitrd,
  checkKernel,
} from "../../../../../src/drivers/qemu/images/checks.ts";
import type { RandomAccessFile } from "../../../../../src/host/files.ts";
import { HvError } from "../../../../../src/base/errors.ts";
import { failureOf } from "../../../../support/failures.ts";
import { withQemu } from "../../../../support/qemu_context.ts";

function fileOf(bytes: Uint8Array): RandomAccessFile {
  return {
    size: bytes.length,
    read: (offset, length) => bytes.slice(offset, offset + length),
    close() {},
    [Symbol.dispose]() {},
  };
}

/** A qcow2 header, big-endian as the format is. */
function qcow2(changes: { version?: number; backing?: bigint; features?: bigint } = {}): Uint8Array {
  const bytes = new Uint8Array(512);
  const view = new DataView(bytes.buffer);
  bytes.set([0x51, 0x46, 0x49, 0xfb]);
  view.setUint32(4, changes.version ?? 3);
  view.setBigUint64(8, changes.backing ?? 0n);
  view.setBigUint64(72, changes.features ?? 0n);
  return bytes;
}

function reasonOf(bytes: Uint8Array): unknown {
  try {
    return checkDiskHeader(fileOf(bytes), "/disk");
  } catch (error) {
    assert.ok(error instanceof HvError && error.code === "hv.bad_image");
    return error.context.reason;
  }
}

Deno.test("plain disks are taken, whatever their version", () => {
  assert.equal(reasonOf(qcow2()), "qcow2");
  assert.equal(reasonOf(qcow2({ version: 2 })), "qcow2");
  assert.equal(reasonOf(qcow2({ features: 1n })), "qcow2", "dirty is no damage");
  assert.equal(reasonOf(new Uint8Array(512)), "raw");
  assert.equal(reasonOf(Uint8Array.of(1, 2)), "raw");
});

Deno.test("whatever leads to another file or cannot be understood is refused", () => {
  assert.equal(reasonOf(new Uint8Array()), "empty");
  assert.equal(reasonOf(qcow2({ backing: 512n })), "backing_file");
  assert.equal(reasonOf(qcow2({ version: 2, backing: 1n })), "backing_file");
  assert.equal(reasonOf(qcow2({ features: 4n })), "data_file");
  assert.equal(reasonOf(qcow2({ features: 2n })), "marked_corrupt");
  assert.equal(reasonOf(qcow2({ features: 1n << 40n })), "unknown_feature");
  assert.equal(reasonOf(qcow2({ version: 9 })), "unknown_version");
  assert.equal(reasonOf(qcow2().slice(0, 50)), "truncated");
  assert.equal(reasonOf(qcow2().slice(0, 90)), "truncated");
});

Deno.test("no header makes the check throw anything but its own error", () => {
  const bytes = fc.uint8Array({ maxLength: 120 });
  fc.assert(fc.property(bytes, fc.boolean(), (tail, isQcow2) => {
    reasonOf(isQcow2 ? Uint8Array.of(0x51, 0x46, 0x49, 0xfb, ...tail) : tail);
  }));
});

Deno.test("kernels are told by their marks", () => {
  const elf = Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 2, 1);
  const bzImage = new Uint8Array(1024);
  bzImage.set(new TextEncoder().encode("HdrS"), 0x202);
  checkKernel(fileOf(elf), "/k");
  checkKernel(fileOf(bzImage), "/k");
  checkFastKernel(fileOf(elf), "/k");
  checkInitrd(fileOf(elf), "/i");
  for (
    const bad of [
      () => checkKernel(fileOf(new Uint8Array(1024)), "/k"),
      () => checkKernel(fileOf(new Uint8Array()), "/k"),
    ]
  ) {
    assert.throws(bad, /neither a bzImage nor an ELF kernel/);
  }
  assert.throws(() => checkFastKernel(fileOf(bzImage), "/k"), /not an ELF kernel/);
  assert.throws(() => checkInitrd(fileOf(new Uint8Array()), "/i"), /empty/);
});

Deno.test("qemu-img has the last word on a disk", () =>
  withQemu(async ({ host, context, scope }) => {
    host.processes.places.set("qemu-img", "/usr/bin/qemu-img");
    const answers: [string | undefined, string][] = [
      [undefined, JSON.stringify({ format: "qcow2", "virtual-size": 1 })],
      ["unsupported_format", JSON.stringify({ format: "vmdk" })],
      ["backing_file", JSON.stringify({ format: "qcow2", "backing-filename": "/etc/shadow" })],
      ["unreadable", "[]"],
      ["unreadable", "half a li"],
    ];
    for (const [reason, stdout] of answers) {
      host.processes.expect("qemu-img", ["info", "--output=json", "/disk"], { stdout });
      const look = (): Promise<void> => checkDiskWithProgram(context, "/disk", "qcow2", scope.signal);
      if (reason === undefined) await look();
      else assert.equal((await failureOf("hv.bad_image", look)).context.reason, reason);
    }
    host.processes.expect("qemu-img", /info/, { code: 1, stderr: "qemu-img: Could not open 'x'" });
    const failure = await failureOf("hv.bad_image", () =>
      checkDiskWithProgram(context, "/disk", "raw", scope.signal));
    assert.match(failure.message, /Could not open/);
  }));

Deno.test("qemu-img has a bound on its memory while it looks at what comes from elsewhere", () =>
  withQemu(async ({ host, context, scope }) => {
    host.processes.places.set("qemu-img", "/usr/bin/qemu-img").set("prlimit", "/usr/bin/prlimit");
    const stdout = JSON.stringify({ format: "raw" });
    host.processes.expect("prlimit", /^--as=\d+ .*qemu-img info --output=json \/disk$/, { stdout });
    await checkDiskWithProgram(context, "/disk", "raw", scope.signal);
  }));
