/** From the Windows runtime through a powershell.exe to real PowerShell and the simulated Hyper-V host. */

import assert from "node:assert/strict";
import { ROOT } from "../../tools/programs.ts";
import { findShell, HyperVWorld, NO_SIMULATION } from "../support/hyperv_world.ts";
import { endWine, NO_WINE, runWindowsHvlab, windowsPath } from "../support/windows_deno.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";

const reason = NO_WINE ?? NO_SIMULATION;

Deno.test({
  name: `windows runtime: a VM's life on the simulated host${
    reason === undefined ? "" : ` (skipped: ${reason})`
  }`,
  ignore: reason !== undefined,
  async fn() {
    await using world = await HyperVWorld.open();
    await withTemporaryFolder(async (folder) => {
      const env = {
        ...Object.fromEntries(world.variables),
        HVLAB_HYPERV_SIM_MODULES: `${ROOT}/tests/hyperv_sim/modules`,
        HVLAB_STATE: windowsPath(`${folder}/state`),
        // The Windows side's cache has a name that is none on the Linux side.
        HVLAB_WINE_BRIDGE:
          `"Z:/usr/bin/env" -u DENO_DIR "${Deno.execPath()}" run --quiet --no-config -A "${ROOT}/tools/wine/bridge.ts"`,
        HVLAB_WINE_POWERSHELL: findShell() ?? "",
      };
      const run = async (...args: string[]): Promise<[number, Record<string, unknown>]> => {
        const { code, stdout, stderr } = await runWindowsHvlab(["--json", ...args], { env });
        assert.equal(stdout.trim().split("\n").length, 1, `${args.join(" ")}: ${stdout}${stderr}`);
        return [code, JSON.parse(stdout)];
      };
      const expect = async (line: string, wanted: Record<string, unknown>): Promise<void> => {
        const [code, answer] = await run(...line.split(" "));
        assert.equal(code, 0, `${line}: ${JSON.stringify(answer)}`);
        for (const [name, value] of Object.entries({ ...wanted, simulated: true })) {
          assert.deepEqual(answer[name], value, `${line}: ${name}`);
        }
      };
      await expect("vm list", { vms: [] });
      await expect("vm create web --generation 2 --memory 2G --cpus 2 --disk-size 40G", { state: "off" });
      await expect("vm start web --until heartbeat", { state: "running" });
      await expect("checkpoint create web clean --memory-state", { name: "clean" });
      const [code, answer] = await run(
        "guest",
        "exec",
        "web",
        "--",
        "pwsh",
        "-NoProfile",
        "-Command",
        "exit 7",
      );
      assert.deepEqual([code, answer["exit_code"]], [7, 7]);
      await expect("vm delete web --confirm web", { removed: true });
      // The end of a Windows program and that of what it was a bridge to are two.
      const limit = AbortSignal.timeout(300_000);
      while ((await world.livingSidecars()).length > 0) await world.host.clock.sleep(100, limit);
    });
    await endWine();
  },
});
