/** Dumps in guests: how they are listed, and what becomes of their names. */

import assert from "node:assert/strict";
import { readList, WINDOWS_SCRIPT } from "../../../src/guest/dump_files.ts";
import { findShell } from "../../support/hyperv_world.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

function base64(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}

Deno.test("paths of a guest become names that no host misreads, each its own", () => {
  const posix = [
    ...[
      "10\t/proc/vmcore",
      "20\t/var/crash/202611/vmcore",
      "30\t/var/crash/202611/vmcore",
      "40\t/var/crash/a b$'\\.dmp",
    ],
    ...[
      "nothing",
      "x\t/var/crash/no",
      "50\t/var/crash/../vmcore",
      "60\t/var/crash/.hidden.dmp",
      "70\t/var/crash/202611-vmcore",
    ],
  ];
  assert.deepEqual(readList(posix.join("\n"), "posix").map(({ size_bytes, name }) => [size_bytes, name]), [
    [10, "vmcore"],
    [20, "202611-vmcore"],
    [40, "a_b_.dmp"],
    [50, "_-vmcore"],
    [60, "_hidden.dmp"],
    [70, "2-202611-vmcore"],
  ]);
  const windows = [
    ...[`1\t${base64("C:\\Windows\\MEMORY.DMP")}`, `2\t${base64("C:\\Windows\\Minidump\\112926-é-01.dmp")}`],
    ...[
      `3\t${base64("C:\\Windows\\LiveKernelReports\\WATCHDOG\\a.dmp")}`,
      `4\t${base64("D:\\dumps\\memory.dmp")}`,
    ],
    ...["5\t%%%", `6\t${base64("")}`, `7\t${base64("C:\\a\u0000b")}`],
  ];
  assert.deepEqual(readList(windows.join("\r\n"), "windows").map(({ path, name }) => [path, name]), [
    ["C:\\Windows\\MEMORY.DMP", "MEMORY.DMP"],
    ["C:\\Windows\\Minidump\\112926-é-01.dmp", "112926-_-01.dmp"],
    ["C:\\Windows\\LiveKernelReports\\WATCHDOG\\a.dmp", "WATCHDOG-a.dmp"],
    ["D:\\dumps\\memory.dmp", "dumps-memory.dmp"],
  ]);
});

const shell = findShell();

Deno.test({
  name: "PowerShell lists the configured dump, small ones and live ones",
  ignore: shell === undefined || Deno.build.os === "windows",
  async fn() {
    await withTemporaryFolder(async (folder) => {
      for (const path of ["LiveKernelReports/NDIS", "own small", "Minidump"]) {
        await Deno.mkdir(`${folder}/${path}`, { recursive: true });
      }
      const files = [
        "own é.dmp",
        "own small/1.dmp",
        "own small/2.txt",
        "LiveKernelReports/NDIS/x.dmp",
        "Minidump/3.dmp",
      ];
      for (const file of files) await Deno.writeTextFile(`${folder}/${file}`, file);
      const settings =
        "function Get-ItemProperty { [pscustomobject]@{ DumpFile = '%SystemRoot%/own é.dmp'; " +
        "MinidumpDir = '%SystemRoot%/own small' } }\n";
      const list = async (script: string): Promise<string[]> => {
        const { stdout } = await new Deno.Command(shell ?? "", {
          args: ["-NoLogo", "-NoProfile", "-NonInteractive", "-Command", script],
          env: { SystemRoot: folder },
          stdin: "null",
          stderr: "null",
        }).output();
        return readList(new TextDecoder().decode(stdout), "windows").map(({ path }) =>
          path.slice(folder.length + 1)
        );
      };
      assert.deepEqual(await list(settings + WINDOWS_SCRIPT), [
        "own é.dmp",
        "own small/1.dmp",
        "LiveKernelReports/NDIS/x.dmp",
      ]);
    });
  },
});
