import assert from "node:assert/strict";
import fc from "fast-check";
import {
  copyTag,
  putTag,
  readNext,
  readTag,
  readText,
  removeTag,
  type Tag,
  writeNext,
  writeTag,
  writeText,
} from "../../../../../src/drivers/hyperv/machines/tag.ts";

const key = "hvlab-4c805c52-e71f-4aa9-beff-b3243286b033";

Deno.test("a mark is read back among the user's own notes", () => {
  const tag = { key, created_at: "2026-11-29T21:30:48.425Z", making: true };
  assert.deepEqual(readTag(`mine\n${writeTag(tag)} and more`), tag);
  assert.deepEqual(readTag(writeTag({ key, making: false })), { key, making: false });
});

Deno.test("notes without a mark of ours are nobody's", () => {
  for (
    const notes of ["", "hvlab", "[hvlab;key=..\\..\\x;]", "[hvlab;key=;]", "[hvlab;created=2026-01-01;]"]
  ) {
    assert.equal(readTag(notes), undefined, notes);
  }
  fc.assert(fc.property(fc.string(), (notes) => assert.equal(readTag(notes), undefined)));
});

Deno.test("an unreadable time is no time, and the next field is not part of it", () => {
  assert.deepEqual(readTag(`[hvlab;key=${key};created=soon;]`), { key, making: false });
  const created_at = "2026-11-29T21:30:48.425Z";
  assert.deepEqual(
    readTag(`[hvlab;key=${key};created=${created_at};making=yes;x=y;]`)?.created_at,
    created_at,
  );
});

Deno.test("the very mark of other notes comes into notes, and none where those bear none", () => {
  const mark = writeTag({ key, making: false }).replace("]", "later=x;]");
  const old = `${writeTag({ key, making: true })} mine`;
  assert.equal(copyTag(old, `theirs ${mark}`), `${mark} mine`);
  assert.equal(copyTag("mine", mark), `${mark} mine`);
  assert.equal(copyTag(old, "theirs"), "mine");
  assert.equal(copyTag(" mine ", "theirs"), " mine ");
});

Deno.test("what waits for the next start comes and goes without touching the rest", () => {
  const notes = `mine ${writeTag({ key, making: false })}`;
  const waiting = writeNext(notes, { memory_mb: 300, cpus: 2 });
  assert.deepEqual(readNext(waiting), { memory_mb: 300, cpus: 2 });
  assert.deepEqual(readTag(waiting), readTag(notes));
  assert.deepEqual(readNext(writeNext(waiting, { cpus: 1 })), { cpus: 1 });
  assert.equal(writeNext(waiting, {}), notes);
  assert.equal(writeNext("", {}), "");
  assert.deepEqual(readNext("[hvlab-next;memory_mb=x;cpus=;]"), {});
});

Deno.test("whatever a mark says is read back", () => {
  const expires_at = "2026-11-29T22:30:48.425Z";
  const tags: Tag[] = [
    { key, making: false, adopted: true },
    { key, making: false, image: "win11", sandbox: { expires_at, tied: true } },
    { key, making: true, sandbox: { tied: false } },
  ];
  for (const tag of tags) assert.deepEqual(readTag(writeTag(tag)), tag);
  assert.deepEqual(readTag(`[hvlab;key=${key};sandbox=yes;expires=never;]`)?.sandbox, { tied: false });
});

Deno.test("the user's text and the marks live side by side", () => {
  const plain = fc.string().filter((text) => !text.includes("[hvlab"));
  fc.assert(fc.property(plain, fc.boolean(), (text, waits) => {
    const marked = putTag(text, { key, making: false });
    const notes = waits ? writeNext(marked, { cpus: 2 }) : marked;
    const changed = writeText(notes, text.trim());
    assert.equal(readText(changed), text.trim());
    assert.deepEqual(readTag(changed), { key, making: false });
    assert.deepEqual(readNext(changed), waits ? { cpus: 2 } : {});
    assert.equal(removeTag(marked), text.trim());
  }));
});
