import assert from "node:assert/strict";
import fc from "fast-check";
import { readSnapshots } from "../../../../../src/drivers/qemu/checkpoints/snapshot_table.ts";
import { denoFiles } from "../../../../../src/host/files.ts";
import { failureOf } from "../../../../support/failures.ts";
import { withTemporaryFolder } from "../../../../support/temporary_folder.ts";

interface Entry {
  id: string;
  name: string;
  memory: number;
  /** Bytes of extra data; 0 as QEMU wrote it long ago. */
  extra: number;
}

/** Writes a qcow2 header with a table of snapshots behind it, field by field as the format's description says. */
function qcow2(entries: readonly Entry[], tableAt = 1024): Uint8Array {
  const bytes: number[] = [];
  const put = (value: number | bigint, length: number): void => {
    for (let shift = length - 1; shift >= 0; shift--) {
      bytes.push(Number((BigInt(value) >> BigInt(8 * shift)) & 0xffn));
    }
  };
  put(0x514649fb, 4); // magic
  put(3, 4); // version
  put(0, 8); // backing file offset
  put(0, 4); // backing file size
  put(16, 4); // cluster bits
  put(65_536, 8); // size
  put(0, 4); // encryption
  put(1, 4); // L1 entries
  put(0x30000, 8); // L1 table
  put(0x10000, 8); // refcount table
  put(1, 4); // its clusters
  put(entries.length, 4);
  put(tableAt, 8);
  while (bytes.length < tableAt) bytes.push(0xaa);
  for (const { id, name, memory, extra } of entries) {
    const idBytes = new TextEncoder().encode(id);
    const nameBytes = new TextEncoder().encode(name);
    put(0x50000, 8); // its L1 table
    put(1, 4); // L1 entries
    put(idBytes.length, 2);
    put(nameBytes.length, 2);
    put(1_795_985_381, 4); // seconds
    put(375_087_000, 4); // nanoseconds
    put(5_190_804_975, 8); // the guest's clock
    put(extra >= 8 ? 0 : memory, 4);
    put(extra, 4);
    if (extra >= 8) put(memory, 8);
    for (let rest = extra >= 8 ? 8 : 0; rest < extra; rest++) bytes.push(0xbb);
    bytes.push(...idBytes, ...nameBytes);
    while (bytes.length % 8 !== 0) bytes.push(0);
  }
  return Uint8Array.from(bytes);
}

Deno.test("snapshots are read with their tags and sizes, whatever their names are", () =>
  withTemporaryFolder(async (folder) => {
    const entry = fc.record({
      id: fc.stringMatching(/^[0-9]{1,5}$/),
      name: fc.string({ unit: "grapheme", maxLength: 60 }),
      memory: fc.nat(0x7fffffff),
      extra: fc.constantFrom(0, 8, 16, 24),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 6 }), async (entries) => {
        const path = `${folder}/disk`;
        await Deno.writeFile(path, qcow2(entries));
        assert.deepEqual(
          await readSnapshots(denoFiles, path),
          entries.map(({ name, memory }) => ({ tag: name, memory_bytes: memory })),
        );
      }),
      { numRuns: 60 },
    );
  }));

Deno.test("a state of more than 4 GiB is read whole", () =>
  withTemporaryFolder(async (folder) => {
    const path = `${folder}/disk`;
    await Deno.writeFile(path, qcow2([{ id: "1", name: "big", memory: 6 * 1024 ** 3, extra: 16 }]));
    assert.deepEqual(await readSnapshots(denoFiles, path), [{ tag: "big", memory_bytes: 6 * 1024 ** 3 }]);
  }));

Deno.test("what is no qcow2, or ends inside its table, is refused with the offset, and what is absent is absent", () =>
  withTemporaryFolder(async (folder) => {
    const path = `${folder}/disk`;
    assert.equal(await readSnapshots(denoFiles, path), undefined);
    const whole = qcow2([{ id: "1", name: "one", memory: 1, extra: 16 }, {
      id: "2",
      name: "two",
      memory: 1,
      extra: 16,
    }]);
    const twoNames = new TextEncoder().encode("two");
    const end = whole.lastIndexOf(twoNames[2] ?? 0) + 1;
    for (const length of [0, 3, 71, 1024, 1030, 1064, end - 1]) {
      await Deno.writeFile(path, whole.slice(0, length));
      const failure = await failureOf("hv.bad_image", () => readSnapshots(denoFiles, path));
      assert.deepEqual([failure.context.path, failure.context.offset], [path, length]);
    }
    await Deno.writeFile(path, whole.slice(0, end));
    assert.equal((await readSnapshots(denoFiles, path))?.length, 2);
    await Deno.writeFile(path, new Uint8Array(4096));
    assert.equal((await failureOf("hv.bad_image", () => readSnapshots(denoFiles, path))).context.offset, 0);
  }));
