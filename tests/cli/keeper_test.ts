/** The keeper as a process of its own: hvlab starts itself under the permissions of the release. */

import assert from "node:assert/strict";
import { openDenoHost } from "../../src/host/deno_host.ts";
import { seeKeeper } from "../../src/state/keeper_mark.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { hvlabCommand, hvlabEnvironment, runHvlab } from "../support/program.ts";
import { canRunGuests, findTinyImage } from "../support/tiny_image.ts";

const host = openDenoHost();
const LIMIT_MS = 300_000;

interface Bench {
  state: StateFolder;
  env: Record<string, string>;
  /** Runs hvlab to its end, which must be good, and gives its data. */
  call: (...args: string[]) => Promise<Record<string, unknown>>;
}

/** A state folder with the tiny image; whatever runs for it afterwards is ended. */
async function withState(work: (bench: Bench) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "hv-" });
  const state = new StateFolder(`${root}/it's here, é`);
  await Deno.mkdir(`${root}/run`, { mode: 0o700 });
  const env = { HVLAB_STATE: state.root, XDG_RUNTIME_DIR: `${root}/run` };
  const call = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await runHvlab([...args, "--json"], { env });
    assert.equal(code, 0, stdout + stderr);
    return JSON.parse(stdout);
  };
  const source = findTinyImage();
  assert.ok(source?.kernel !== undefined && source.fast_kernel !== undefined && source.initrd !== undefined);
  try {
    await call(
      ...["image", "import", "tiny", `--kernel=${source.kernel}`, `--fast-kernel=${source.fast_kernel}`],
      ...[`--initrd=${source.initrd}`, `--append=${source.append ?? ""}`],
    );
    await work({ state, env, call });
  } finally {
    for (const pid of await processesOf(root)) await host.processes.kill(pid, "KILL");
    while ((await processesOf(root)).length > 0) await host.clock.sleep(20);
    await Deno.remove(root, { recursive: true });
  }
}

/** Everything that was started for the test's folder. */
async function processesOf(root: string): Promise<number[]> {
  const { stdout } = await host.processes.run("ps", ["-e", "-ww", "-o", "pid=,args="]);
  return new TextDecoder().decode(stdout).split("\n")
    .filter((line) => line.includes(`${root}/`) && !line.includes("ps -e"))
    .map((line) => Number.parseInt(line, 10));
}

async function keepersOf({ root }: StateFolder): Promise<number[]> {
  const { stdout } = await host.processes.run("ps", ["-e", "-ww", "-o", "pid=,args="]);
  return new TextDecoder().decode(stdout).split("\n")
    .filter((line) => line.includes(`keeper --state=${root}`))
    .map((line) => Number.parseInt(line, 10));
}

async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const end = host.clock.monotonic() + LIMIT_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (host.clock.monotonic() > end) throw new Error(`not within ${LIMIT_MS / 1000} s: ${what}`);
    await host.clock.sleep(50);
  }
}

/** The pid of the one keeper that lives. */
async function keeperOf(state: StateFolder, other?: number): Promise<number> {
  return await until("a keeper lives", async () => {
    const { alive, facts } = await seeKeeper(host, state);
    return alive && facts !== undefined && facts.pid !== other ? facts.pid : undefined;
  });
}

const options = { ignore: !canRunGuests() || Deno.build.os !== "linux" };

Deno.test(
  "machines started at once get one keeper, a killed one is replaced by the next change, and it ends by itself",
  options,
  () =>
    withState(async ({ state, call }) => {
      for (const name of ["a", "b"]) await call("vm", "create", name, "--image=tiny", "--memory=128M");
      await Promise.all([call("vm", "start", "a"), call("vm", "start", "b")]);
      const first = await keeperOf(state);
      await until("one keeper", async () => (await keepersOf(state)).length === 1);
      await until("both starts are known", async () => {
        const { events } = await call("vm", "events");
        return Array.isArray(events) && events.length === 2;
      });

      await host.processes.kill(first, "KILL");
      await until("it is dead", async () => !(await seeKeeper(host, state)).alive);
      const { warnings } = await call("vm", "events", "a");
      assert.match(String(warnings), /No keeper runs/);
      const { orphans } = await call("vm", "orphans");
      assert.match(JSON.stringify(orphans), /"kind":"keeper"/);
      await call("vm", "pause", "a");
      await keeperOf(state, first);
      await until("the pause is known", async () => {
        const { events } = await call("vm", "events", "a");
        return JSON.stringify(events).includes('"paused"');
      });
      assert.deepEqual((await call("vm", "orphans")).orphans, []);

      for (const name of ["a", "b"]) await call("vm", "stop", name, "--mode=off");
      await until("it has ended", async () => (await keepersOf(state)).length === 0);
      assert.equal((await seeKeeper(host, state)).wanted, false);
      const { events } = await call("vm", "events");
      assert.match(JSON.stringify(events), /host-qmp-quit/);
    }),
);

Deno.test(
  "a sandbox that ends with its command starts no keeper, and reading starts none either",
  options,
  () =>
    withState(async ({ state, env, call }) => {
      const { code, stdout } = await runHvlab(["sandbox", "run", "tiny", "--", "echo", "hello"], { env });
      assert.deepEqual([code, stdout], [0, "hello\n"]);
      await call("vm", "list");
      await call("vm", "events");
      assert.deepEqual(await keepersOf(state), []);
      assert.equal(await host.files.stat(state.keeper), undefined);
    }),
);

Deno.test(
  "whoever follows sees new events line by line, and ends that with Ctrl-C in peace",
  options,
  () =>
    withState(async ({ env, call }) => {
      await call("vm", "create", "web", "--image=tiny", "--memory=128M");
      const { program, args } = hvlabCommand(["vm", "events", "web", "--follow"]);
      await using follower = new Deno.Command(program, {
        args,
        clearEnv: true,
        env: hvlabEnvironment({ env }),
        stdin: "null",
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
      const lines = follower.stdout.pipeThrough(new TextDecoderStream()).getReader();
      let seen = "";
      const read = async (pattern: RegExp): Promise<void> => {
        while (!pattern.test(seen)) {
          const { value, done } = await lines.read();
          if (done) throw new Error(`ended after: ${seen}`);
          seen += value;
        }
      };
      await call("vm", "start", "web");
      await read(/^1 .* started {2}name=web .*\n/);
      await call("vm", "stop", "web", "--mode=off");
      await read(/\n2 .* stopped {2}.*reason=host-(?:qmp-quit|signal).*\n/);
      follower.kill("SIGINT");
      assert.equal((await follower.status).code, 0);
      await lines.cancel();
      const refused = await runHvlab(["vm", "events", "web", "--follow", "--json"], { env });
      assert.deepEqual([refused.code, JSON.parse(refused.stdout).code], [2, "hv.usage"]);
    }),
);
