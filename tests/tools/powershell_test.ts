/** The sidecar's scripts run in Windows PowerShell 5.1 and call only cmdlets that every claimed Windows Server has. */

import assert from "node:assert/strict";
import { OPERATIONS } from "../../src/drivers/hyperv/operations.ts";
import { GENERATIONS, readCmdletTable } from "../../tools/powershell/cmdlet_table.ts";
import {
  complaintsAbout,
  hyperVCalls,
  optionalCmdlets,
  optionalParameters,
} from "../../tools/powershell/rules.ts";
import { readScripts, type Script } from "../../tools/powershell/scripts.ts";
import { ROOT } from "../../tools/programs.ts";
import { findShell } from "../support/hyperv_world.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";

const FOLDERS = ["src/drivers/hyperv/ps", "src/guest/windows/transfers"];
const shell = findShell();
const ignore = shell === undefined;
const skipped = ignore ? " (skipped: pwsh is not installed)" : "";

let read: Promise<Script[]> | undefined;

function scripts(): Promise<Script[]> {
  read ??= readScripts(
    shell ?? "",
    FOLDERS.map((folder) => `${ROOT}/${folder}`).flatMap((folder) =>
      [...Deno.readDirSync(folder)].map(({ name }) => `${folder}/${name}`).filter((path) =>
        path.endsWith(".ps1")
      ).sort()
    ),
  );
  return read;
}

Deno.test({
  name: `the sidecar's scripts keep to Windows PowerShell 5.1${skipped}`,
  ignore,
  async fn() {
    assert.deepEqual(complaintsAbout(await scripts()), []);
  },
});

Deno.test({
  name: `whatever only a newer PowerShell has is refused${skipped}`,
  ignore,
  async fn() {
    const snippets: [string, RegExp][] = [
      ["$a = $true ? 1 : 2", /ternary/],
      ["$a = $null ?? 1", /\?\?/],
      ["$a ??= 1", /\?\?=/],
      ["Get-Service -Name a && Get-Service -Name b", /pipeline chain/],
      ["$a = ${b}?.Length", /\?\./],
      ["$a = ${b}?[0]", /\?\[\]/],
      ["Get-Service -Name a &", /background/],
      ["ConvertFrom-Json -InputObject $a -AsHashtable", /-AsHashtable/],
      ["ConvertTo-Json -InputObject $a -EnumsAsStrings", /-EnumsAsStrings/],
      ["$b = @{ AsArray = $true }; ConvertTo-Json @b", /-AsArray/],
      ["$a | ForEach-Object -Parallel { $_ }", /-Parallel/],
      ["if ($IsWindows) { }", /\$IsWindows/],
      ["[Convert]::ToHexString($a)", /ToHexString/],
      ["[Environment]::ProcessPath", /ProcessPath/],
      ["Get-Uptime", /Get-Uptime/],
      ["$input | ForEach-Object { $_ }", /standard input/],
      ["if (", /./],
    ];
    await withTemporaryFolder(async (folder) => {
      const paths: string[] = [];
      for (const [at, [text]] of snippets.entries()) {
        paths.push(`${folder}/${at}.ps1`);
        await Deno.writeTextFile(`${folder}/${at}.ps1`, text);
      }
      const parsed = await readScripts(shell ?? "", paths);
      for (const [at, [text, complaint]] of snippets.entries()) {
        const found = complaintsAbout(parsed.filter(({ path }) => path === paths[at]));
        assert.ok(found.some((line) => complaint.test(line)), `"${text}" gave ${JSON.stringify(found)}`);
      }
    });
  },
});

Deno.test({
  name: `every cmdlet and parameter of the scripts is in Windows Server 2016 to 2025${skipped}`,
  ignore,
  async fn() {
    const all = await scripts();
    const calls = hyperVCalls(all);
    assert.ok(calls.length > 30);
    const text = await Deno.readTextFile(`${ROOT}/tests/hyperv_sim/data/cmdlets.txt`);
    const optional = optionalParameters(all);
    assert.deepEqual([...optional], ["Set-VM -AutomaticCheckpointsEnabled"]);
    const newer = optionalCmdlets(all);
    assert.deepEqual([...newer].sort(), ["Add-VMGpuPartitionAdapter", "Get-VMHostPartitionableGpu"]);
    const missing: string[] = [];
    for (const generation of GENERATIONS) {
      const table = readCmdletTable(text, generation);
      for (const { cmdlet, parameters, place } of calls) {
        const known = table.get(cmdlet.toLowerCase());
        // Its fellows came with the cmdlet that is looked for.
        if (known === undefined && /Gpu/.test(cmdlet) && newer.size > 0) continue;
        if (known === undefined) missing.push(`${generation} has no ${cmdlet} (${place})`);
        for (const parameter of parameters) {
          if (known?.has(parameter.toLowerCase()) || optional.has(`${cmdlet} -${parameter}`)) continue;
          missing.push(`${generation} has no ${cmdlet} -${parameter} (${place})`);
        }
      }
    }
    assert.deepEqual(missing, []);
  },
});

Deno.test({
  name: `each operation names a function of the scripts${skipped}`,
  ignore,
  async fn() {
    const functions = new Set((await scripts()).flatMap((script) => script.functions));
    for (const operation of Object.values(OPERATIONS)) {
      assert.ok(functions.has(operation.function), operation.function);
    }
  },
});

Deno.test("a table of cmdlets knows what came when", () => {
  const text =
    "# head\nGet-A | default X\n  Name | string | * | alias Title\n  New | switch | * | since 2022\nGet-B | since 2025\n  X | y | *\n";
  const old = readCmdletTable(text, 2016);
  assert.deepEqual([...old.keys()], ["get-a"]);
  assert.deepEqual([...old.get("get-a") ?? []], ["name", "title"]);
  assert.deepEqual([...readCmdletTable(text, 2025).get("get-b") ?? []], ["x"]);
  assert.ok(readCmdletTable(text, 2022).get("get-a")?.has("new"));
});
