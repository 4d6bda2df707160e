import assert from "node:assert/strict";
import { denoFiles } from "../../../src/host/files.ts";
import { failureOf } from "../../support/failures.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

/** While the work goes on, a folder that is removed has been filled again each time, so many times. */
async function whileFilled(times: number, work: () => Promise<void>): Promise<number> {
  const { remove } = Deno;
  let turns = 0;
  try {
    Deno.remove = async (path, options) => {
      if (++turns > times) return await remove(path, options);
      await remove(path, options);
      await Deno.mkdir(path);
      await Deno.writeTextFile(`${path}/lock`, "");
      // What a system says of a folder with something in it.
      await remove(path);
    };
    await work();
  } finally {
    Deno.remove = remove;
  }
  return turns;
}

Deno.test("a folder goes away although others put files into it meanwhile", () =>
  withTemporaryFolder(async (parent) => {
    const folder = `${parent}/folder`;
    await denoFiles.makeFolder(`${folder}/inner`);
    const turns = await whileFilled(2, () => denoFiles.remove(folder));
    assert.deepEqual([turns, await denoFiles.stat(folder)], [3, undefined]);
  }));

Deno.test("a folder that does not stay empty is told in the end", () =>
  withTemporaryFolder(async (parent) => {
    const folder = `${parent}/folder`;
    await denoFiles.makeFolder(folder);
    const turns = await whileFilled(Infinity, async () => {
      const failure = await failureOf("hv.io", () => denoFiles.remove(folder));
      assert.deepEqual(failure.context, { path: folder });
    });
    assert.ok(turns > 2);
  }));

Deno.test("removing what is not there counts as done", () =>
  withTemporaryFolder(async (folder) => {
    await denoFiles.remove(`${folder}/nothing`);
    await Deno.writeTextFile(`${folder}/file`, "");
    await denoFiles.remove(`${folder}/file/below`);
    assert.equal((await denoFiles.stat(`${folder}/file`))?.kind, "file");
  }));

Deno.test("a folder is made with all above it, or only where the one above is there", () =>
  withTemporaryFolder(async (folder) => {
    await failureOf("hv.not_found", () => denoFiles.makeFolder(`${folder}/one/two`, { parents: false }));
    assert.deepEqual([...Deno.readDirSync(folder)], []);
    await denoFiles.makeFolder(`${folder}/one/two`);
    for (const parents of [true, false]) {
      await denoFiles.makeFolder(`${folder}/one/two`, { parents });
      await denoFiles.makeFolder(`${folder}/${parents}`, { parents });
      await Deno.writeTextFile(`${folder}/file`, "");
      await failureOf("hv.conflict", () => denoFiles.makeFolder(`${folder}/file`, { parents }));
    }
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
    assert.deepEqual(names, ["false", "file", "one", "true"]);
  }));
