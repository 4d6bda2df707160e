import assert from "node:assert/strict";
import fc from "fast-check";
import { SparseWriter } from "../../../../../src/drivers/qemu/memory_dump/sparse_writer.ts";

const PAGE = 4096;

/** A file that knows which of its bytes were written and which were skipped. */
class PatchyFile {
  readonly parts: Uint8Array[] = [];
  skipped = 0;

  write(bytes: Uint8Array): Promise<void> {
    this.parts.push(bytes.slice());
    return Promise.resolve();
  }

  skip(bytes: number): Promise<void> {
    this.parts.push(new Uint8Array(bytes));
    this.skipped += bytes;
    return Promise.resolve();
  }

  get content(): Uint8Array {
    const all = new Uint8Array(this.parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of this.parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}

async function writeIn(pieces: readonly Uint8Array[], sparse: boolean): Promise<PatchyFile> {
  const file = new PatchyFile();
  const writer = new SparseWriter(file, sparse);
  for (const piece of pieces) await writer.write(piece);
  await writer.flush();
  return file;
}

/** Runs of zeros and of other bytes, in pages and in odd lengths. */
const pieces = fc.array(
  fc.tuple(fc.integer({ min: 0, max: 3 * PAGE }), fc.boolean()).map(([length, isZero]) =>
    new Uint8Array(length).fill(isZero ? 0 : 7)
  ),
  { maxLength: 12 },
);

Deno.test("a file with holes reads as the stream that came in", async () => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.boolean(), async (stream, sparse) => {
      const [whole, file] = [
        await writeIn([Uint8Array.from(stream.flatMap((piece) => [...piece]))], false),
        await writeIn(stream, sparse),
      ];
      assert.deepEqual(file.content, whole.content);
    }),
    { numRuns: 50 },
  );
});

Deno.test("whole pages of zeros become holes across blocks, and only when asked", async () => {
  const memory = new Uint8Array(3 * 1024 * 1024);
  memory[5] = 1;
  memory[memory.length - 1] = 1;
  assert.equal((await writeIn([memory], true)).skipped, memory.length - 2 * PAGE);
  assert.equal((await writeIn([memory], false)).skipped, 0);
});
