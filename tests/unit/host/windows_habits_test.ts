import assert from "node:assert/strict";
import { denoFiles } from "../../../src/host/files.ts";
import { isReadOnlyDisk } from "../../../src/host/failures.ts";
import { openPiped } from "../../../src/host/piped.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

Deno.test("a file that is being deleted is no read-only disk", () => {
  assert.equal(isReadOnlyDisk(new Error("The file is being deleted (os error 303)")), false);
  const number = Deno.build.os === "windows" ? 19 : 30;
  assert.equal(isReadOnlyDisk(new Error(`It is read-only (os error ${number})`)), true);
});

Deno.test("a file has permission bits only where the platform has them", () =>
  withTemporaryFolder(async (folder) => {
    const facts = await denoFiles.stat(folder);
    assert.equal(facts?.mode === null, Deno.build.os === "windows");
  }));

Deno.test(
  "on Windows nobody is killed by the number of a program that has ended",
  { ignore: Deno.build.os === "windows" },
  () =>
    withTemporaryFolder(async (folder) => {
      const told = `${folder}/told`;
      await Deno.writeTextFile(`${folder}/taskkill.exe`, `#!/bin/sh\necho "$@" >> "$(dirname "$0")/told"\n`, {
        mode: 0o755,
      });
      const path = Deno.env.get("PATH") ?? "";
      Deno.env.set("PATH", `${folder}:${path}`);
      try {
        const program = openPiped("windows", "sh", ["-c", "cat >/dev/null"], {});
        await program.closeInput();
        await program.ended;
        await program.kill();
        await assert.rejects(() => Deno.stat(told), Deno.errors.NotFound);
        for (const stream of [program.stdout, program.stderr]) await stream.cancel();
      } finally {
        Deno.env.set("PATH", path);
      }
    }),
);

Deno.test(
  "on Windows a file that a scanner has open for a moment is renamed all the same",
  { ignore: Deno.build.os !== "windows" },
  () =>
    withTemporaryFolder(async (folder) => {
      const { rename } = Deno;
      let tries = 0;
      try {
        Deno.rename = async (from, to) => {
          if (++tries < 3) throw new Error("The process cannot access the file (os error 32)");
          await rename(from, to);
        };
        await denoFiles.writeAtomically(`${folder}/a`, "text");
        assert.deepEqual([tries, await Deno.readTextFile(`${folder}/a`)], [3, "text"]);
      } finally {
        Deno.rename = rename;
      }
    }),
);
