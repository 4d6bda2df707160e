/** hvlab as a program on a simulated Hyper-V host, with the permissions of the release. */

import assert from "node:assert/strict";
import { folderOf } from "../../src/base/paths.ts";
import { Vm } from "../../src/contract/vm.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import { findShell, HyperVWorld, NO_SIMULATION } from "../support/hyperv_world.ts";
import { hvlabCommand, hvlabEnvironment, runHvlab } from "../support/program.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";

const skipped = NO_SIMULATION === undefined ? "" : ` (skipped: ${NO_SIMULATION})`;

/** What has not ended by itself by then never does. */
const GONE_LIMIT_MS = 300_000;

interface Command {
  world: HyperVWorld;
  env: Record<string, string>;
  home: string;
  /** Runs `hvlab --driver hyperv ...` and gives the object that it prints. */
  run(...args: string[]): Promise<{ code: number; answer: Record<string, unknown> }>;
}

function commandTest(promise: string, work: (command: Command) => Promise<void>): void {
  Deno.test({
    name: `hvlab on Hyper-V: ${promise}${skipped}`,
    ignore: NO_SIMULATION !== undefined,
    async fn() {
      await using world = await HyperVWorld.open();
      await withTemporaryFolder(async (home) => {
        const path = `${Deno.env.get("PATH") ?? ""}:${folderOf(findShell() ?? "")}`;
        const env = { PATH: path, HVLAB_HYPERV_SIM: world.folder, HVLAB_STATE: `${home}/it's here` };
        await work({
          world,
          env,
          home,
          async run(...args) {
            const { code, stdout, stderr } = await runHvlab(["--driver", "hyperv", "--json", ...args], {
              env,
              home,
            });
            assert.equal(stdout.trim().split("\n").length, 1, `${args.join(" ")}: ${stdout}${stderr}`);
            return { code, answer: JSON.parse(stdout) };
          },
        });
      });
    },
  });
}

commandTest("a VM's life, from the command line", async ({ run }) => {
  const lines: [string, Record<string, unknown>][] = [
    ["doctor", { healthy: true }],
    ["vm list", { vms: [] }],
    ["host info", { driver: "hyperv" }],
    ["vm create web --generation 2 --memory 2G --cpus 2 --disk-size 40G --switch default", {
      state: "off",
      memory_mb: 2048,
    }],
    ["vm start web --until heartbeat", { state: "running", cpus: 2, generation: 2 }],
    ["checkpoint create web clean --memory-state", { name: "clean", restores_to: "running" }],
    ["checkpoint restore web clean --confirm web", { state: "running" }],
    ["vm delete web --confirm web", { removed: true }],
  ];
  for (const [line, expected] of lines) {
    const { code, answer } = await run(...line.split(" "));
    assert.equal(code, 0, `${line}: ${JSON.stringify(answer)}`);
    assert.equal(answer.simulated, true, line);
    for (const [field, value] of Object.entries(expected)) {
      assert.deepEqual(answer[field], value, `${line}: ${field}`);
    }
  }
  const refused = await run("vm", "create", "a", "--image", "tiny");
  assert.deepEqual([refused.code, refused.answer.code], [3, "hv.not_found"]);
});

commandTest("PowerShell gets objects", async ({ run, env, home }) => {
  await run("vm", "create", 'it\'s "web"', "--disk-size", "1G");
  const { program, args } = hvlabCommand(["--driver", "hyperv", "vm", "list", "--json"]);
  const script =
    "$words = @(ConvertFrom-Json $env:HVLAB_WORDS); (& $words[0] $words[1..($words.Count - 1)] | ConvertFrom-Json).vms | " +
    "ForEach-Object { '{0}|{1}|{2}|{3}' -f $_.name, $_.state, $_.memory_mb.GetType().Name, ($_.PSObject.Properties.Name -join ' ') }";
  const words = JSON.stringify([program, ...args]);
  const { stdout, stderr } = await new Deno.Command(findShell() ?? "", {
    args: ["-NoProfile", "-NonInteractive", "-Command", script],
    clearEnv: true,
    env: { ...hvlabEnvironment({ env, home }), HVLAB_WORDS: words },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const text = new TextDecoder();
  const [name, state, type, properties = ""] = text.decode(stdout).trim().split("|");
  assert.deepEqual([name, state, type], ['it\'s "web"', "off", "Int64"], text.decode(stderr));
  const found = properties.split(" ");
  const documented = Object.entries(Vm.shape);
  for (const property of found) assert.ok(documented.some(([known]) => known === property), property);
  for (const [known, schema] of documented) {
    if (!schema.safeParse(undefined).success) assert.ok(found.includes(known), known);
  }
});

commandTest("the sidecar goes when hvlab is killed", async ({ run, env, home, world }) => {
  await run("vm", "create", "web", "--disk-size", "1G");
  await run("vm", "start", "web");
  const before = new Set(await world.sidecars());
  const { program, args } = hvlabCommand(["--driver", "hyperv", "vm", "wait", "web", "--until", "off"]);
  await using child = new Deno.Command(program, {
    args,
    clearEnv: true,
    env: hvlabEnvironment({ env, home }),
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const { clock } = openDenoHost();
  const fresh = async (): Promise<number | undefined> =>
    (await world.sidecars()).find((pid) => !before.has(pid));
  let pid = await fresh();
  for (; pid === undefined; pid = await fresh()) await clock.sleep(100);
  assert.ok((await world.livingSidecars()).includes(pid));
  child.kill("SIGKILL");
  await child.status;
  const limit = AbortSignal.timeout(GONE_LIMIT_MS);
  while ((await world.livingSidecars()).includes(pid)) await clock.sleep(100, limit);
});
