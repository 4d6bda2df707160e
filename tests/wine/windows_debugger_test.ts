/** A second opinion by the Windows build of the runtime, which runs the real debugger engine as its own kind of program. */

import assert from "node:assert/strict";
import { ENGINE_FOLDER, NO_ENGINE } from "../support/debugger_engine.ts";
import { dumpMachine } from "../support/machine_dump.ts";
import { writeMachine } from "../support/machine_writer.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";
import { endWine, NO_WINE, runWindowsHvlab, windowsPath } from "../support/windows_deno.ts";

const DEBUGGERS = windowsPath(`${ENGINE_FOLDER}/bin`);
const reason = NO_WINE ?? NO_ENGINE;

Deno.test({
  name: `windows runtime: cdb.exe is found, runs without a shell, and agrees with us${
    reason === undefined ? "" : ` (skipped: ${reason})`
  }`,
  ignore: reason !== undefined,
  async fn() {
    await withTemporaryFolder(async (folder) => {
      await Deno.writeFile(`${folder}/é.dmp`, dumpMachine(writeMachine("x64"), "full"));
      const ask = async (...args: string[]) => {
        const { code, stdout, stderr } = await runWindowsHvlab(
          ["dump", "analyze", "é.dmp", "--json", "--state", "state", ...args],
          {
            cwd: folder,
            env: { WINEPATH: DEBUGGERS, WINEDLLOVERRIDES: "dbgeng,dbgcore,dbgmodel,msdia140=n;dbghelp=n,b" },
          },
        );
        assert.equal(code, 0, stderr + stdout);
        return JSON.parse(stdout);
      };
      const usual = await ask();
      assert.equal(usual.debugger.program.toLowerCase(), `${DEBUGGERS}\\cdb.exe`.toLowerCase());
      assert.deepEqual([usual.complete, usual.disagreements, usual.cached], [true, [], false]);
      assert.equal(usual.second.bugcheck.code, "0x000000d1");
      assert.equal((await ask()).cached, true);
      const asked = await ask("--command", "lm; .shell dir");
      assert.match(asked.commands[0].text, /fffff800`20000000 fffff800`20003000 {3}evil/);
      assert.match(asked.commands[1].text, /disabled/);
    });
    await endWine();
  },
});
