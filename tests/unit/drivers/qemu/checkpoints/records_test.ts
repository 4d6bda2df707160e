import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type CheckpointBook,
  type CheckpointRecord,
  findRecord,
  readBook,
  refuseTakenName,
  saveBook,
  withCheckpoint,
  withoutCheckpoint,
} from "../../../../../src/drivers/qemu/checkpoints/records.ts";
import { failureOf } from "../../../../support/failures.ts";
import { VM_ID, withQemu } from "../../../../support/qemu_context.ts";

const EMPTY: CheckpointBook = { schema: 1, current: null, checkpoints: [] };

function checkpoint(id: string, parent: string | null): CheckpointRecord {
  return { id, name: `name of ${id}`, parent, created_at: "2026-11-29T11:00:00.000Z", disks: [] };
}

Deno.test("whatever is made, restored and deleted, every parent and the current one are there", () => {
  const step = fc.record({ deed: fc.constantFrom("create", "restore", "delete"), pick: fc.nat(20) });
  fc.assert(fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
    let book = EMPTY;
    steps.forEach(({ deed, pick }, index) => {
      const chosen = book.checkpoints[pick % Math.max(1, book.checkpoints.length)];
      const before = book.checkpoints.length;
      if (deed === "create") {
        book = withCheckpoint(book, checkpoint(`c${index}`, book.current));
        assert.equal(book.current, `c${index}`);
      } else if (chosen !== undefined && deed === "restore") book = { ...book, current: chosen.id };
      else if (chosen !== undefined) {
        book = withoutCheckpoint(book, chosen);
        assert.equal(book.checkpoints.length, before - 1);
      }
    });
    const ids = new Set(book.checkpoints.map(({ id }) => id));
    for (const parent of [book.current, ...book.checkpoints.map((each) => each.parent)]) {
      assert.ok(parent === null || ids.has(parent), `${parent} is gone`);
    }
    for (const start of book.checkpoints) {
      let at: CheckpointRecord | undefined = start;
      for (let depth = 0; at !== undefined; depth++) {
        assert.ok(depth <= book.checkpoints.length, "the parents go in a circle");
        const { parent }: CheckpointRecord = at;
        at = book.checkpoints.find(({ id }) => id === parent);
      }
    }
  }));
});

Deno.test("the children of a deleted checkpoint hang on its parent, and so does the present state", () => {
  const [a, b, c] = [checkpoint("a", null), checkpoint("b", "a"), checkpoint("c", "b")];
  const book = { ...EMPTY, current: "b", restoring: "b", checkpoints: [a, b, c] };
  const left = withoutCheckpoint(book, b);
  assert.deepEqual(left.checkpoints.map(({ id, parent }) => [id, parent]), [["a", null], ["c", "a"]]);
  assert.equal(left.current, "a");
  assert.equal(left.restoring, undefined);
});

Deno.test("a name is free for the checkpoint that has it and taken for others", async () => {
  const book = withCheckpoint(EMPTY, checkpoint("a", null));
  refuseTakenName(book, VM_ID, "name of a", "a");
  refuseTakenName(book, VM_ID, "another");
  const failure = await failureOf("hv.conflict", () => refuseTakenName(book, VM_ID, "name of a"));
  assert.equal(failure.context.checkpoint, "a");
  await failureOf("hv.not_found", () => findRecord(book, VM_ID, "b"));
});

Deno.test("a book is kept whole, with what a newer hvlab wrote into it", () =>
  withQemu(async ({ context, addVm }) => {
    await addVm();
    assert.deepEqual(await readBook(context, VM_ID), EMPTY);
    const book = { ...withCheckpoint(EMPTY, { ...checkpoint("a", null), colour: "blue" }), shelf: 3 };
    await saveBook(context, VM_ID, book);
    assert.deepEqual(await readBook(context, VM_ID), book);
  }));

Deno.test("a damaged book is an error that names the file, never an empty list", () =>
  withQemu(async ({ context, addVm }) => {
    await addVm();
    const path = `${context.state.vm(VM_ID)}/checkpoints.json`;
    for (const text of ["", "[]", '{"schema":1}', '{"schema":9,"current":null,"checkpoints":[]}']) {
      await Deno.writeTextFile(path, text);
      const failure = await failureOf("hv.io", () => readBook(context, VM_ID));
      assert.equal(failure.context.path, path);
    }
  }));
