/** The scripts that look after a guest's files, run by this machine's own shell. */

import assert from "node:assert/strict";
import { PREPARE_FILE } from "../../../src/guest/posix/file_scripts.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

Deno.test({
  name: "a destination that can only be a folder is refused before anything is made",
  ignore: Deno.build.os === "windows",
  fn: () =>
    withTemporaryFolder(async (folder) => {
      const args = ["-c", PREPARE_FILE, "hvlab", `${folder}/new/`, `${folder}/new.hvlab-0a1b2c3d`, "no"];
      const { code, stdout } = await new Deno.Command("/bin/sh", { args }).output();
      assert.deepEqual([code, new TextDecoder().decode(stdout)], [1, "folder\n"]);
      assert.deepEqual([...Deno.readDirSync(folder)], []);
    }),
});
