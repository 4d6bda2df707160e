/** A simulated Hyper-V host for one test: a world of its own, and a door to this machine that points there. */

import { openDenoHost } from "../../src/host/deno_host.ts";
import type { Host } from "../../src/host/host.ts";

/** Real PowerShell, where this machine has it: the folder to put on PATH is `undefined` when PATH has it already. */
const shell = findShell();

/** Why tests on the simulated host are skipped; `undefined` when they run. */
export const NO_SIMULATION = shell === undefined ? "pwsh is not installed" : undefined;

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

  /** How often each cmdlet changed something, over all targets. */
  async effects(): Promise<Record<string, number>> {
    const text = await Deno.readTextFile(`${this.folder}/effects.json`).catch(() => "{}");
    const effects: Record<string, Record<string, number>> = JSON.parse(text);
    const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((a, b) => a + b, 0);
    return Object.fromEntries(Object.entries(effects).map(([name, counts]) => [name, sum(counts)]));
  }

  /** The processes that have called cmdlets here, the ended ones too. */
  async sidecars(): Promise<number[]> {
    const pids: number[] = [];
    for await (const { name } of Deno.readDir(`${this.folder}/calls`)) pids.push(Number(name.split(".")[0]));
    return pids;
  }

  /** Takes the storage of a VM's configuration away until disposed: meanwhile the host has only an error for it. */
  async loseStorage(vm: string): Promise<AsyncDisposable> {
    const name = `machines/${vm.slice("vm-".length)}.json`;
    const machine: object = JSON.parse(await Deno.readTextFile(`${this.folder}/${name}`));
    const replace = async (content: object): Promise<void> => {
      await this.#write(name, content);
      await Deno.remove(`${this.folder}/index.txt`);
    };
    await replace({ ...machine, Lost: true });
    return { [Symbol.asyncDispose]: () => replace(machine) };
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
