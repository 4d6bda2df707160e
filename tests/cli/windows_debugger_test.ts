/**
 * A second opinion by the Windows build of Deno. `HVLAB_WINDOWS_DENO` is a command that runs it on this machine (under
 * Wine, say), `HVLAB_WINDOWS_CDB` the Windows path of a cdb.exe that it can start, and files of this machine lie on its
 * drive Z. Ignored where one of them is not set, and without a bundle.
 */

import assert from "node:assert/strict";
import { BUNDLE_FOLDER } from "../../tools/bundle.ts";
import { dumpMachine } from "../support/machine_dump.ts";
import { writeMachine } from "../support/machine_writer.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";

const [deno, ...words] = Deno.env.get("HVLAB_WINDOWS_DENO")?.split(" ").filter((word) => word !== "") ?? [];
const debuggerPath = Deno.env.get("HVLAB_WINDOWS_CDB");

/** The bundle needs no packages, which the Windows build would look for in a cache of its own. */
const BUNDLE = `${BUNDLE_FOLDER}/main.js`;

/** A path of this machine as programs of Windows see it here. */
function onDriveZ(path: string): string {
  return `Z:${path.replaceAll("/", "\\")}`;
}

Deno.test({
  name: "the Windows build runs cdb.exe as its own kind, without a shell, and agrees with it",
  ignore: deno === undefined || debuggerPath === undefined || !isThere(BUNDLE),
  async fn() {
    await withTemporaryFolder(async (folder) => {
      await Deno.writeFile(`${folder}/é.dmp`, dumpMachine(writeMachine("x64"), "full"));
      await Deno.writeTextFile(`${folder}/hvlab.yaml`, `programs:\n  cdb.exe: '${debuggerPath}'\n`);
      const ask = async (...args: string[]) => {
        const { code, stdout, stderr } = await new Deno.Command(deno ?? "", {
          args: [
            ...words,
            ...[
              "run",
              "-A",
              "--no-config",
              "--no-lock",
              onDriveZ(BUNDLE),
              "dump",
              "analyze",
              "é.dmp",
              "--json",
            ],
            ...["--config", "hvlab.yaml", "--state", "state", ...args],
          ],
          cwd: folder,
          stdin: "null",
          stdout: "piped",
          stderr: "piped",
        }).output();
        assert.equal(code, 0, new TextDecoder().decode(stderr) + new TextDecoder().decode(stdout));
        return JSON.parse(new TextDecoder().decode(stdout));
      };
      const usual = await ask();
      assert.equal(usual.debugger.program.toLowerCase(), debuggerPath?.toLowerCase());
      assert.deepEqual([usual.complete, usual.disagreements, usual.cached], [true, [], false]);
      assert.equal(usual.second.bugcheck.code, "0x000000d1");
      assert.equal((await ask()).cached, true);
      const asked = await ask("--command", "lm; .shell dir");
      assert.match(asked.commands[0].text, /fffff800`20000000 fffff800`20003000 {3}evil/);
      assert.match(asked.commands[1].text, /disabled/);
    });
  },
});

function isThere(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
