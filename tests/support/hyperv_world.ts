/** A simulated Hyper-V host for one test: a world of its own, and a door to this machine that points there. */

import * as z from "zod/mini";
import { openDenoHost } from "../../src/host/deno_host.ts";
import type { Host } from "../../src/host/host.ts";

/** Real PowerShell, where this machine has it: the folder to put on PATH is `undefined` when PATH has it already. */
const shell = findShell();

/** Why tests on the simulated host are skipped; `undefined` when they run. */
export const NO_SIMULATION = shell === undefined ? "pwsh is not installed" : undefined;

/** `ps` tells when a process started to the second, and may be off by one more. */
const CLOCK_SLACK_MS = 2_000;

const Counts = z.record(z.string(), z.number());

function sumOf(counts: z.infer<typeof Counts>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

const Work = z.object({
  StateSince: z.number(),
  Pending: z.optional(z.looseObject({ At: z.number() })),
  Activity: z.optional(z.looseObject({ Started: z.number(), Until: z.number() })),
});

/** A world in a new folder. */
export class HyperVWorld implements AsyncDisposable {
  readonly folder: string;
  /** This machine, with the world in the place of its Hyper-V. */
  readonly host: Host;
  /** Variables that stand before this process's own. */
  readonly variables = new Map<string, string>();

  private constructor(folder: string) {
    this.folder = folder;
    this.variables.set("HVLAB_HYPERV_SIM", folder);
    this.variables.set("HVLAB_GUEST_USER", "lab").set("HVLAB_GUEST_PASSWORD", "lab");
    const real = openDenoHost(
      new Map([...(shell === undefined ? [] : [["pwsh", shell] as const]), ...hidden()]),
    );
    const { environment } = real;
    this.host = {
      ...real,
      environment: {
        get: (name) => this.variables.get(name) ?? environment.get(name),
        configFolder: () => environment.configFolder(),
        stateFolder: () => environment.stateFolder(),
        runtimeFolder: () => environment.runtimeFolder(),
      },
    };
  }

  static async open(settings: { host?: object; faults?: object } = {}): Promise<HyperVWorld> {
    const world = new HyperVWorld(await Deno.makeTempDir({ prefix: "hvlab-world-" }));
    if (settings.host !== undefined) await world.#write("host.json", settings.host);
    if (settings.faults !== undefined) await world.setFaults(settings.faults);
    return world;
  }

  /** What goes wrong from now on; `tests/hyperv_sim/README.md` says what can. */
  setFaults(faults: object): Promise<void> {
    return this.#write("faults.json", faults);
  }

  /** Ends what the host does with a VM in the background: a state that it passes through, a merge. */
  async endWork(vm: string): Promise<void> {
    await this.#changeMachine(vm, (machine) => {
      const { Pending, Activity, StateSince } = Work.parse(machine);
      if (Pending !== undefined) Pending.At = StateSince;
      if (Activity !== undefined) Activity.Until = Activity.Started;
      return { ...machine, ...(Pending && { Pending }), ...(Activity && { Activity }) };
    });
  }

  /** How many faults with a count have begun since the world was made. */
  async faultsBegun(): Promise<number> {
    return sumOf(Counts.parse(await this.#read("faults_used.json")));
  }

  /** How often each cmdlet changed something, over all targets. */
  async effects(): Promise<Record<string, number>> {
    const effects = z.record(z.string(), Counts).parse(await this.#read("effects.json"));
    return Object.fromEntries(Object.entries(effects).map(([name, counts]) => [name, sumOf(counts)]));
  }

  /** The processes that have called cmdlets here, the ended ones too. */
  async sidecars(): Promise<number[]> {
    const pids: number[] = [];
    for await (const { name } of Deno.readDir(`${this.folder}/calls`)) pids.push(Number(name.split(".")[0]));
    return pids;
  }

  /** Those of them that run still. A number that another process has got meanwhile is none. */
  async livingSidecars(): Promise<number[]> {
    const living: number[] = [];
    for (const pid of await this.sidecars()) {
      const facts = await this.host.processes.describe(pid);
      if (facts === undefined) continue;
      const { mtime } = await Deno.stat(`${this.folder}/calls/${pid}.jsonl`);
      if (Date.parse(facts.started) < (mtime?.getTime() ?? 0) + CLOCK_SLACK_MS) living.push(pid);
    }
    return living;
  }

  /** Takes the storage of a VM's configuration away until disposed: meanwhile the host has only an error for it. */
  async loseStorage(vm: string): Promise<AsyncDisposable> {
    const before = await this.#changeMachine(vm, (machine) => ({ ...machine, Lost: true }));
    return {
      [Symbol.asyncDispose]: async () => {
        await this.#changeMachine(vm, () => before);
      },
    };
  }

  /** Changes a machine's document and answers the one before. */
  async #changeMachine(vm: string, change: (machine: object) => object): Promise<object> {
    const name = `machines/${vm.slice("vm-".length)}.json`;
    const machine: object = JSON.parse(await Deno.readTextFile(`${this.folder}/${name}`));
    await this.#write(name, change(machine));
    await Deno.remove(`${this.folder}/index.txt`);
    return machine;
  }

  /** A document; an empty one when nothing was written yet. */
  async #read(name: string): Promise<unknown> {
    return JSON.parse(await Deno.readTextFile(`${this.folder}/${name}`).catch(() => "{}"));
  }

  async #write(name: string, content: object): Promise<void> {
    const path = `${this.folder}/${name}`;
    await Deno.writeTextFile(`${path}.new`, JSON.stringify(content));
    await Deno.rename(`${path}.new`, path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** With HVLAB_TEST_SHELL only the PowerShell of that name is found: the others lead nowhere. */
function hidden(): [string, string][] {
  const only = Deno.env.get("HVLAB_TEST_SHELL");
  if (only === undefined) return [];
  return ["powershell.exe", "pwsh"].filter((name) => name !== only).map((name) => [name, "/nowhere"]);
}

/** Where PowerShell 7 is on this machine. */
export function findShell(): string | undefined {
  const folders = (Deno.env.get("PATH") ?? "").split(Deno.build.os === "windows" ? ";" : ":");
  const home = Deno.env.get("HOME");
  if (home !== undefined) folders.push(`${home}/.dotnet/tools`);
  const name = Deno.build.os === "windows" ? "pwsh.exe" : "pwsh";
  return folders.filter((folder) => folder !== "").map((folder) => `${folder}/${name}`).find(isFile);
}

/** Runs a script in real PowerShell on a world, as somebody else on that host would. */
export async function runShell(world: HyperVWorld, script: string): Promise<string> {
  const modules = new URL("../hyperv_sim/modules", import.meta.url).pathname;
  const { code, stdout, stderr } = await new Deno.Command(shell ?? "", {
    args: ["-NoProfile", "-NonInteractive", "-Command", `$ErrorActionPreference = 'Stop'; ${script}`],
    env: { HVLAB_HYPERV_SIM: world.folder, PSModulePath: modules },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const text = new TextDecoder();
  if (code !== 0) throw new Error(`PowerShell ended with ${code}: ${text.decode(stderr)}`);
  return text.decode(stdout);
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
