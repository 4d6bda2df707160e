/** What a hostile guest may send in the place of a folder. */

import assert from "node:assert/strict";
import * as fc from "fast-check";
import { HvError } from "../../../src/base/errors.ts";
import type { ReadEntry } from "../../../src/base/tar_reader.ts";
import { FolderWriter, normalized } from "../../../src/guest/folders/write_folder.ts";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import { failureOf } from "../../support/failures.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

function entry(path: string, more: Partial<ReadEntry> = {}): ReadEntry {
  return {
    path,
    readable: true,
    kind: "file",
    size_bytes: 1,
    mode: 0o4755,
    modified_s: 1e9,
    target: "",
    ...more,
  };
}

async function send(writer: FolderWriter, one: ReadEntry): Promise<void> {
  await writer.begin(one);
  if (one.kind === "file") await writer.content(Uint8Array.of(0x78));
  await writer.end();
}

async function everything(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    found.push(name);
    if (isDirectory) {
      found.push(...(await everything(`${folder}/${name}`)).map((below) => `${name}/${below}`));
    }
  }
  return found.sort();
}

Deno.test("paths that lead out, and names that are taken, are refused", async () => {
  await withTemporaryFolder(async (folder) => {
    for (
      const hostile of [
        entry("/etc/passwd"),
        entry("../out"),
        entry("a/../../out"),
        entry("a\0b"),
        entry("."),
        entry("first"),
        entry("first/below"),
        entry("x", { kind: "hard_link", target: "/etc/passwd" }),
        entry("x", { kind: "hard_link", target: "never sent" }),
        entry("x", { kind: "hard_link", target: "../out" }),
        entry("first", { kind: "folder" }),
      ]
    ) {
      const root = `${folder}/${crypto.randomUUID()}/in`;
      await Deno.mkdir(root, { recursive: true });
      const writer = new FolderWriter(openDenoHost(), root);
      await send(writer, entry("./", { kind: "folder" }));
      await send(writer, entry("first"));
      await failureOf("hv.policy_denied", () => send(writer, hostile));
      writer.close();
      assert.deepEqual(await everything(`${root}/..`), ["in", "in/first"], JSON.stringify(hostile));
    }
  });
});

Deno.test("links and devices are left out and told, and never followed", async () => {
  await withTemporaryFolder(async (folder) => {
    const root = `${folder}/in`;
    await Deno.mkdir(root);
    const writer = new FolderWriter(openDenoHost(), root);
    await send(writer, entry("a", { kind: "link", target: ".." }));
    await send(writer, entry("a/out"));
    await send(writer, entry("pipe", { kind: "other" }));
    await send(writer, entry("\ufffd", { readable: false }));
    await send(writer, entry("again", { kind: "hard_link", target: "./a/out", mode: 0o600 }));
    await send(writer, entry("late/", { kind: "folder", mode: 0o500, modified_s: 5 }));
    await send(writer, entry("late/file"));
    await writer.finish();
    assert.deepEqual(await everything(folder), [
      "in",
      "in/a",
      "in/a/out",
      "in/again",
      "in/late",
      "in/late/file",
    ]);
    assert.deepEqual(writer.skipped.map(({ path }) => path), ["a", "pipe", "\ufffd"]);
    assert.deepEqual([writer.files, writer.folders], [3, 2]);
    const facts = await Deno.stat(`${root}/a/out`);
    assert.equal(facts.mtime?.getTime(), 1e12);
    if (Deno.build.os !== "windows") {
      assert.equal((facts.mode ?? 0) & 0o7777, 0o755);
      assert.equal(((await Deno.stat(`${root}/late`)).mode ?? 0) & 0o7777, 0o500);
      await Deno.chmod(`${root}/late`, 0o700);
    }
  });
});

Deno.test("whatever a guest names, nothing is written beside the folder", async () => {
  const part = fc.constantFrom("..", ".", "", "a", "b", "/", "\\", "a/..", "…");
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.tuple(
          fc.array(part, { minLength: 1, maxLength: 4 }),
          fc.constantFrom("file", "folder", "link", "hard_link"),
        ),
        {
          maxLength: 6,
        },
      ),
      async (entries) => {
        await withTemporaryFolder(async (folder) => {
          await Deno.mkdir(`${folder}/in`);
          const writer = new FolderWriter(openDenoHost(), `${folder}/in`);
          for (const [parts, kind] of entries) {
            const path = parts.join("/");
            try {
              await send(
                writer,
                entry(path, {
                  kind: kind === "file"
                    ? "file"
                    : kind === "folder"
                    ? "folder"
                    : kind === "link"
                    ? "link"
                    : "hard_link",
                  target: path,
                }),
              );
            } catch (error) {
              assert.ok(error instanceof HvError && error.code === "hv.policy_denied", String(error));
              writer.close();
            }
          }
          writer.close();
          assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["in"]);
        });
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("paths of archives are read as a POSIX guest means them", () => {
  assert.deepEqual(["./", ".", "a//b/./c", "a/", "..a", ""].map(normalized), [
    ".",
    ".",
    "a/b/c",
    "a",
    "..a",
    ".",
  ]);
  assert.deepEqual(["/", "..", "a/..", "\0"].map(normalized), [undefined, undefined, undefined, undefined]);
});
