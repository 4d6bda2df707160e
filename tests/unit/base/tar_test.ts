import assert from "node:assert/strict";
import * as fc from "fast-check";
import { HvError } from "../../../src/base/errors.ts";
import { tarEnd, type TarEntry, tarHeader, tarPadding } from "../../../src/base/tar.ts";
import { type ReadEntry, TarReader } from "../../../src/base/tar_reader.ts";

/** Reads an archive in pieces; gives its entries with their content. */
async function read(archive: Uint8Array, piece: number): Promise<(ReadEntry & { text: string })[]> {
  const entries: (ReadEntry & { text: string })[] = [];
  const reader = new TarReader({
    begin: (entry) => Promise.resolve(void entries.push({ ...entry, text: "" })),
    content(bytes) {
      const last = entries.at(-1);
      if (last !== undefined) last.text += new TextDecoder("latin1").decode(bytes);
      return Promise.resolve();
    },
    end: () => Promise.resolve(),
  });
  for (let at = 0; at < archive.length; at += piece) await reader.push(archive.subarray(at, at + piece));
  reader.finish();
  return entries;
}

function archiveOf(entries: readonly (TarEntry & { text: string })[]): Uint8Array {
  const parts = entries.flatMap(({ text, ...entry }) => [
    tarHeader(entry),
    new TextEncoder().encode(text),
    tarPadding(entry.size_bytes),
  ]);
  return Uint8Array.from([...parts, tarEnd()].flatMap((part) => [...part]));
}

function file(path: string, text: string): TarEntry & { text: string } {
  return { path, kind: "file", size_bytes: text.length, mode: 0o640, modified_s: 1_700_000_000, text };
}

Deno.test("an archive gives back what was put in, whatever the names and pieces", async () => {
  const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 150 })
    .filter((text) => !text.includes("\0") && !text.endsWith("/") && text.isWellFormed());
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(name, fc.string({ unit: "grapheme-ascii", maxLength: 1100 })), { maxLength: 5 }),
      fc.integer({ min: 1, max: 2000 }),
      async (files, piece) => {
        const entries = await read(archiveOf(files.map(([path, text]) => file(path, text))), piece);
        assert.deepEqual(
          entries.map(({ path, text, kind, mode, modified_s, readable }) => ({
            ...{ path, text, kind, mode, modified_s, readable },
          })),
          files.map(([path, text]) => ({
            ...{ path, text, kind: "file", mode: 0o640, modified_s: 1_700_000_000, readable: true },
          })),
        );
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("folders and links keep what they are", async () => {
  const long = `${"x/".repeat(80)}end`;
  const entries = await read(
    archiveOf([
      { path: ".", kind: "folder", size_bytes: 0, mode: 0o755, modified_s: 5, text: "" },
      { path: "a", kind: "link", size_bytes: 0, mode: 0o777, modified_s: 5, target: long, text: "" },
    ]),
    512,
  );
  assert.deepEqual(entries.map(({ path, kind, target }) => [path, kind, target]), [
    ["./", "folder", ""],
    ["a", "link", long],
  ]);
});

Deno.test({
  name: "tar of this machine reads our archives, and we read its own in each format",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "hvlab-tar-" });
    const tar = async (...args: string[]): Promise<Uint8Array> =>
      (await new Deno.Command("tar", { args: ["-C", folder, ...args], stderr: "inherit" }).output()).stdout;
    try {
      const long = `${"folder/".repeat(20)}é`;
      const ours = archiveOf([file("plain", "one"), file(long, "two"), file("empty", "")]);
      await Deno.writeFile(`${folder}/ours.tar`, ours);
      const listed = new TextDecoder().decode(
        await tar("--quoting-style=literal", "-tvf", `${folder}/ours.tar`, "--full-time", "--utc"),
      );
      assert.match(listed, /-rw-r----- 0\/0 +3 2023-11-14 22:13:20 plain\n/);
      assert.match(listed, new RegExp(`${long}\\n.*empty\\n$`));
      await Deno.mkdir(`${folder}/in/${"deep folder/".repeat(12)}`, { recursive: true });
      await Deno.writeTextFile(`${folder}/in/${"deep folder/".repeat(12)}file`, "deep");
      await Deno.link(`${folder}/in/${"deep folder/".repeat(12)}file`, `${folder}/in/again`);
      for (const format of ["gnu", "pax", "ustar", "oldgnu"]) {
        const entries = await read(await tar("-cf", "-", `--format=${format}`, "in"), 10_000);
        const kinds = entries.filter(({ kind }) => kind !== "folder").map(({ kind, text }) => [kind, text]);
        assert.deepEqual(kinds.sort(), [["file", "deep"], ["hard_link", ""]], format);
        const deep = entries.find(({ path }) => path.endsWith("/file"));
        const other = entries.find(({ path }) => path === "in/again");
        assert.ok(deep?.path === `in/${"deep folder/".repeat(12)}file` || other?.kind === "file", format);
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test("an archive that is cut or changed anywhere is refused, or reads as what it says", async () => {
  const whole = archiveOf([file("a", "x".repeat(600)), file("n".repeat(200), "y")]);
  for (let at = 0; at < whole.length - 1023; at += 97) {
    await assert.rejects(
      read(whole.subarray(0, at), 777),
      (error) => error instanceof HvError && error.code === "hv.bad_image",
    );
  }
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
      const broken = whole.slice();
      broken[at] = (broken[at] ?? 0) ^ flip;
      try {
        await read(broken, 1000);
      } catch (error) {
        assert.ok(error instanceof HvError && error.code === "hv.bad_image", String(error));
      }
    }),
    { numRuns: 300 },
  );
});
