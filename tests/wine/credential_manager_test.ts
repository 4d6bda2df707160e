/** The sidecar's own way to Windows Credential Manager, as its PowerShell compiles it, against the functions of Wine's advapi32. */

import assert from "node:assert/strict";
import { ROOT } from "../../tools/programs.ts";
import { findShell } from "../support/hyperv_world.ts";
import { endWine, NO_WINE, NO_WINE_DOTNET, runWindowsDotnet, windowsPath } from "../support/windows_deno.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";

const shell = findShell();
const reason = NO_WINE ?? NO_WINE_DOTNET ?? (shell === undefined ? "pwsh is not installed" : undefined);

/** Compiles what the script holds, as C# 5, which is what Windows PowerShell 5.1 knows. */
const COMPILE = `
. $env:SCRIPT
$options = @{ CompilerOptions = '/langversion:5'; OutputAssembly = $env:ASSEMBLY }
Add-Type -TypeDefinition $CredentialSource @options -ErrorAction Stop
`;

/** What breaks when texts are cut, quoted or taken for the old code page. */
const SECRET = `p"w' \\ é 😀 %PATH% \t.`;
const NOT_FOUND = null;

Deno.test({
  name: `windows runtime: passwords are kept by Credential Manager${
    reason === undefined ? "" : ` (skipped: ${reason})`
  }`,
  ignore: reason !== undefined,
  fn: () =>
    withTemporaryFolder(async (folder) => {
      const assembly = `${folder}/credentials.dll`;
      const { code, stderr } = await new Deno.Command(shell ?? "", {
        args: ["-NoProfile", "-NonInteractive", "-Command", COMPILE],
        env: { SCRIPT: `${ROOT}/src/drivers/hyperv/ps/credentials.ps1`, ASSEMBLY: assembly },
        stdin: "null",
      }).output();
      assert.equal(code, 0, new TextDecoder().decode(stderr));
      const target = `hvlab:vm-${crypto.randomUUID()}/é`;
      const longest = "x".repeat(1280);
      const calls: [string[], unknown][] = [
        [["Read", target], NOT_FOUND],
        [["Delete", target], false],
        [["Write", target, "lab", SECRET], null],
        [["Read", target], SECRET],
        [["Write", target, "lab", longest], null],
        [["Read", target], longest],
        [["Read", `${target}x`], NOT_FOUND],
        [["Delete", target], true],
        [["Read", target], NOT_FOUND],
      ];
      const asked = [...calls.map(([call]) => call), ["Write", target, "lab", `${longest}x`]];
      // What one process keeps the next one finds.
      const ask = (some: string[][]): Promise<unknown[]> =>
        runWindowsDotnet(windowsPath(assembly), "HvlabCredentials", some);
      const answers = [...await ask(asked.slice(0, 3)), ...await ask(asked.slice(3))];
      assert.deepEqual(answers.slice(0, -1), calls.map(([, result]) => ({ result })));
      assert.deepEqual(answers.at(-1), {
        error: "The password is longer than 1280 characters",
        number: 0,
      });
      await endWine();
    }),
});
