import assert from "node:assert/strict";
import { HvError } from "../../../src/base/errors.ts";
import { writeNewFile } from "../../../src/flows/write_new_file.ts";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import { failureOf } from "../../support/failures.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

const BYTES = Uint8Array.of(1, 2, 3);

Deno.test("a file is there whole, and replaced only when that was asked for", () =>
  withTemporaryFolder(async (folder) => {
    const host = openDenoHost();
    const path = `${folder}/screen.png`;
    await writeNewFile(host, path, BYTES, false);
    assert.deepEqual(await Deno.readFile(path), BYTES);
    await failureOf("hv.conflict", () => writeNewFile(host, path, BYTES, false));
    await writeNewFile(host, path, Uint8Array.of(9), true);
    assert.deepEqual(await Deno.readFile(path), Uint8Array.of(9));
    await failureOf("hv.conflict", () => writeNewFile(host, folder, BYTES, true));
  }));

Deno.test(
  "a file that nobody else may read is replaced by one that nobody else may read",
  { ignore: Deno.build.os === "windows" },
  () =>
    withTemporaryFolder(async (folder) => {
      const path = `${folder}/screen.png`;
      await Deno.writeFile(path, BYTES, { mode: 0o600 });
      await writeNewFile(openDenoHost(), path, Uint8Array.of(9), true);
      const { mode } = await Deno.stat(path);
      assert.equal((mode ?? 0) & 0o777, 0o600);
    }),
);

/** Wine follows no link when it resolves a path, and Windows gives the right to make one to administrators only. */
const hasNoLinks = Deno.build.os === "windows";

Deno.test(
  "a file that a link leads to is replaced, and the link stays",
  { ignore: hasNoLinks },
  () =>
    withTemporaryFolder(async (folder) => {
      const [path, link] = [`${folder}/screen.png`, `${folder}/last.png`];
      await Deno.writeFile(path, BYTES);
      await Deno.symlink("screen.png", link);
      await writeNewFile(openDenoHost(), link, Uint8Array.of(9), true);
      assert.deepEqual(await Deno.readFile(path), Uint8Array.of(9));
      assert.equal(await Deno.readLink(link), "screen.png");
    }),
);

Deno.test("a file that could not be written to its end is gone, and one that was there stays", () =>
  withTemporaryFolder(async (folder) => {
    const { files } = openDenoHost();
    const full: typeof files = {
      ...files,
      async create(path, options) {
        const writer = await files.create(path, options);
        await writer.write(Uint8Array.of(1));
        return { ...writer, write: () => Promise.reject(new HvError("hv.io", "the disk is full")) };
      },
    };
    const path = `${folder}/screen.png`;
    await failureOf("hv.io", () => writeNewFile({ files: full }, path, BYTES, false));
    assert.deepEqual([...Deno.readDirSync(folder)], []);
    await Deno.writeFile(path, BYTES);
    await failureOf("hv.io", () => writeNewFile({ files: full }, path, Uint8Array.of(9), true));
    assert.deepEqual(await Deno.readFile(path), BYTES);
    assert.equal([...Deno.readDirSync(folder)].length, 1);
  }));
