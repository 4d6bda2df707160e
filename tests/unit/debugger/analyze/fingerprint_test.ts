/** Telling dumps apart. */

import assert from "node:assert/strict";
import { fingerprintOf } from "../../../../src/debugger/analyze/fingerprint.ts";
import { denoFiles } from "../../../../src/host/files.ts";
import { withTemporaryFolder } from "../../../support/temporary_folder.ts";

Deno.test("a dump is told from another by any byte, a huge one by its ends and its pages here and there", async () => {
  await withTemporaryFolder(async (folder) => {
    const path = `${folder}/x`;
    const of = async (size: number, changed?: number): Promise<string> => {
      using file = await Deno.open(path, { create: true, write: true, truncate: true });
      await file.truncate(size);
      if (changed !== undefined) {
        await file.seek(changed, Deno.SeekMode.Start);
        await file.write(new Uint8Array([1]));
      }
      await Deno.utime(path, 1000, 1000);
      return await fingerprintOf(denoFiles, path);
    };
    const small = 300_000;
    const large = 64 * 2 ** 30;
    const found = [
      ...[
        await of(small),
        await of(small + 1),
        await of(small, 150_000),
        await of(small, 0),
        await of(small, small - 1),
      ],
      ...[await of(large), await of(large, 5), await of(large, large - 1), await of(large, 32 * 2 ** 30)],
    ];
    assert.equal(new Set(found).size, found.length);
    assert.equal(await of(small), found[0]);
    await Deno.utime(path, 2000, 2000);
    assert.notEqual(await fingerprintOf(denoFiles, path), found[0]);
  });
});
