import assert from "node:assert/strict";
import { HvError } from "../../../../../src/base/errors.ts";
import {
  readBond,
  sweepBonds,
  takeFingerprint,
  writeBond,
} from "../../../../../src/drivers/qemu/disks/bonds.ts";
import { describeDisk, readChain, readDisk } from "../../../../../src/drivers/qemu/disks/chain.ts";
import { takeDiskLock } from "../../../../../src/drivers/disk_lock.ts";
import { mergeDisk } from "../../../../../src/drivers/qemu/disks/merge.ts";
import { isNetworkName, isSystemFile } from "../../../../../src/drivers/qemu/disks/places.ts";
import { refuseStrangers } from "../../../../../src/drivers/qemu/disks/trust.ts";
import { failureOf } from "../../../../support/failures.ts";
import { type QemuBench, withQemu } from "../../../../support/qemu_context.ts";
import { qcow2File, vhdFile, vhdxFile, vmdkFile } from "../../../../support/disk_writer.ts";

const ID = "01234567-89ab-cdef-0123-456789abcdef";
const OTHER = "fedcba98-7654-3210-fedc-ba9876543210";

interface Bench extends QemuBench {
  write(name: string, bytes: Uint8Array): Promise<string>;
  /** The fault of a chain and the depth where it is. */
  fault(name: string): Promise<[string | undefined, number | undefined]>;
}

function diskTest(promise: string, work: (bench: Bench) => Promise<void>): void {
  Deno.test(promise, () =>
    withQemu(async (bench) => {
      const root = await Deno.realPath(bench.host.root);
      await work({
        ...bench,
        async write(name, bytes) {
          await Deno.writeFile(`${root}/${name}`, bytes);
          return `${root}/${name}`;
        },
        async fault(name) {
          const { broken } = await readChain(bench.context, `${root}/${name}`, bench.scope.signal);
          return [broken?.fault, broken?.layer];
        },
      });
    }));
}

diskTest("a chain of 60 layers is followed to its end", async ({ write, context, scope }) => {
  const last = 60;
  await write(`0.img`, new Uint8Array(1024));
  for (let depth = 1; depth <= last; depth++) {
    const backing = `${depth - 1}.img`;
    await write(`${depth}.img`, qcow2File({ backing, backingFormat: depth === 1 ? "raw" : "qcow2" }));
  }
  const path = await write("top.img", qcow2File({ backing: "60.img", backingFormat: "qcow2" }));
  const { layers, broken } = await readChain(context, path, scope.signal);
  assert.deepEqual([layers.length, broken, layers.at(-1)?.format], [62, undefined, "raw"]);
});

diskTest(
  "each odd parent is named, and none of them opened that should not be",
  async ({ write, fault, host }) => {
    await write("raw.img", new Uint8Array(512));
    await write("ten.img", new Uint8Array(10));
    await write("empty.img", new Uint8Array(0));
    await Deno.mkdir(`${host.root}/folder`);
    await Deno.symlink("/etc/passwd", `${host.root}/link`);
    const cases: [string, string | undefined, string][] = [
      ["gone.qcow2", "qcow2", "missing"],
      ["self.img", "qcow2", "looped"],
      ["raw.img", undefined, "untyped"],
      ["raw.img", "vmdk", "foreign_format"],
      ["ten.img", "raw", "foreign_format"],
      ["empty.img", "raw", "foreign_format"],
      ["folder", "raw", "not_a_file"],
      ["/dev/null", "raw", "system_file"],
      ["/etc/passwd", "raw", "system_file"],
      ["link", "raw", "system_file"],
      ["../../../../../../../../etc/passwd", "raw", "system_file"],
      ['json:{"driver":"file","filename":"/etc/passwd"}', "raw", "network"],
      ["nbd://127.0.0.1/disk", "raw", "network"],
      ["https://example.org/disk.qcow2", "qcow2", "network"],
      ["file:/etc/passwd", "raw", "network"],
    ];
    for (const [backing, format, wanted] of cases) {
      const stated = format === undefined ? {} : { backingFormat: format };
      await write("self.img", qcow2File({ backing, ...stated }));
      const [found, layer] = await fault("self.img");
      const isWrong = backing === "raw.img" && format === "vmdk";
      assert.deepEqual([found, layer], [isWrong ? "wrong_format" : wanted, 1], backing);
    }
    await write("self.img", qcow2File({ backing: "raw.img", backingFormat: "raw" }));
    assert.deepEqual(await fault("self.img"), [undefined, undefined]);
    await write("split.img", qcow2File({ incompatible: 4n, dataFile: "/etc/passwd" }));
    assert.deepEqual(await fault("split.img"), ["foreign_format", 0]);
  },
);

diskTest(
  "what a child calls raw is raw, whatever its guest has written into it",
  async ({ write, context, scope }) => {
    await write("guest.img", qcow2File({ backing: "/etc/passwd", backingFormat: "raw" }));
    const path = await write("child.img", qcow2File({ backing: "guest.img", backingFormat: "raw" }));
    const { layers, broken } = await readChain(context, path, scope.signal);
    assert.deepEqual([layers.map(({ format }) => format), broken], [["qcow2", "raw"], undefined]);
  },
);

diskTest("another parent than the child was made for is a mismatch", async ({ write, fault }) => {
  for (const [ending, writer] of [["vhd", vhdFile], ["vhdx", vhdxFile]] as const) {
    await write(`base.${ending}`, writer({ id: OTHER }));
    await write(`child.${ending}`, writer({ id: ID, parent: { id: OTHER, relative: `.\\base.${ending}` } }));
    assert.deepEqual(await fault(`child.${ending}`), [undefined, undefined]);
    await write(`base.${ending}`, writer({ id: ID }));
    assert.deepEqual(await fault(`child.${ending}`), ["mismatched", 1]);
    await Deno.remove(await write(`base.${ending}`, new Uint8Array(0)));
    assert.deepEqual(await fault(`child.${ending}`), ["missing", 1]);
  }
  await write("base.vmdk", vmdkFile({ id: "00000001" }));
  await write("child.vmdk", vmdkFile({ id: "2", parent: { id: "00000001", name: "base.vmdk" } }));
  assert.deepEqual(await fault("child.vmdk"), [undefined, undefined]);
  await write("base.vmdk", vmdkFile({ id: "00000003" }));
  assert.deepEqual(await fault("child.vmdk"), ["mismatched", 1]);
});

diskTest("a recorded parent may get another time, and nothing else", async (bench) => {
  const { write, fault, context, scope } = bench;
  const parent = await write("base.img", new Uint8Array(4096));
  const path = await write("child.img", qcow2File({ backing: "base.img", backingFormat: "raw" }));
  const chain = async () => await readChain(context, path, scope.signal);
  await assert.rejects(async () => await refuseStrangers(context, await chain(), false), (error) => {
    return error instanceof HvError && error.code === "hv.policy_denied";
  });
  await refuseStrangers(context, await chain(), true);
  await writeBond(context, { path, parent: await takeFingerprint(context, parent, scope.signal) });
  await refuseStrangers(context, await chain(), false);
  await Deno.utime(parent, 1, 1);
  assert.deepEqual(await fault("child.img"), [undefined, undefined]);
  const other = new Uint8Array(4096).fill(1);
  await write("base.img", other);
  assert.deepEqual(await fault("child.img"), ["changed", 1]);
  // The same size and the same time, which only a thorough look sees through.
  const { modified } = (await readBond(context, path))?.parent ?? {};
  await Deno.utime(parent, (modified ?? 0) / 1000, (modified ?? 0) / 1000);
  assert.deepEqual(await fault("child.img"), [undefined, undefined]);
  const { broken } = await readChain(context, path, scope.signal, { thorough: true });
  assert.equal(broken?.fault, "changed");
  await write("base.img", new Uint8Array(4608));
  assert.deepEqual(await fault("child.img"), ["changed", 1]);
  await Deno.remove(path);
  await sweepBonds(context);
  assert.equal(await readBond(context, path), undefined);
});

diskTest("a bond stays while its disk is being made, and one that cannot be read stays", async (bench) => {
  const { write, context, scope, host } = bench;
  const parent = await takeFingerprint(context, await write("base.img", new Uint8Array(512)), scope.signal);
  const path = `${await Deno.realPath(host.root)}/child.qcow2`;
  await writeBond(context, { path, parent });
  const damaged = `${context.state.disks}/${"0".repeat(64)}.json`;
  await Deno.writeTextFile(damaged, "{");
  {
    await using _making = await takeDiskLock(context, path);
    await sweepBonds(context);
    assert.equal((await readBond(context, path))?.parent.path, parent.path);
  }
  await sweepBonds(context);
  assert.equal(await readBond(context, path), undefined);
  assert.equal(await Deno.readTextFile(damaged), "{");
});

diskTest("a merge is refused when the parent gets another child while the locks are taken", async (bench) => {
  const { write, context, scope, host } = bench;
  const base = await write("base.img", new Uint8Array(4096));
  const parent = await takeFingerprint(context, base, scope.signal);
  const path = await write("child.img", qcow2File({ backing: "base.img", backingFormat: "raw" }));
  await writeBond(context, { path, parent });
  const { tryTake } = host.locks;
  host.locks.tryTake = async (...taken) => {
    const sibling = await write("sibling.img", qcow2File({ backing: "base.img", backingFormat: "raw" }));
    await writeBond(context, { path: sibling, parent });
    return await tryTake.apply(host.locks, taken);
  };
  const failure = await failureOf("hv.conflict", () => mergeDisk(context, path, false, scope));
  assert.match(failure.message, /sibling\.img" leans on the same parent$/);
  assert.equal((await readBond(context, path))?.merging, undefined);
});

diskTest("a size that no number holds comes as text", async ({ write, context }) => {
  const path = await write("big.img", qcow2File({ size: 1n << 56n, clusterBits: 21, l1: 4 * 1024 * 1024 }));
  const { size_bytes: size } = await describeDisk(context, await readDisk(context, path));
  assert.equal(size, "0x100000000000000");
});

Deno.test("a drive of Windows is no protocol, and a system's folder is told by its whole name", () => {
  assert.deepEqual(["C:\\x.vhd", "a/b:c", "./nbd:x", "nbd:x"].map(isNetworkName), [
    false,
    false,
    false,
    true,
  ]);
  assert.deepEqual(["/etc/x", "/etcetera/x", "/srv/etc/x"].map(isSystemFile), [true, false, false]);
});
