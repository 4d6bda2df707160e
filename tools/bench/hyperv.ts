/** A list of VMs through the sidecar, beside the same cmdlet call in a PowerShell of its own; on the simulated host. */

import { HyperV } from "../../src/drivers/hyperv/client.ts";
import { findShell, HyperVWorld, NO_SIMULATION, runShell } from "../../tests/support/hyperv_world.ts";
import { ROOT, runOrThrow } from "../programs.ts";
import { measureSideBySide, type Row } from "./report.ts";

const ROUNDS = 15;
/** .NET compiles anew what was called often: both PowerShells are warm after some hundred calls. */
const WARM_UPS = 400;
const WARM_ROUNDS = 100;
const FEW = 10;
const MANY = 200;
const LIMIT_MS = 600_000;

/** The cmdlet call that the operation makes, with the same facts of each VM. */
const LIST =
  "ConvertTo-Json -InputObject @(Get-VM -Name '*' | ForEach-Object { ConvertTo-MachineFacts $_ }) -Depth 10 -Compress";

/** Reads lines and lists the VMs for each, so that nothing is measured but the call. */
const LOOP = `while ($null -ne [Console]::In.ReadLine()) { [Console]::Out.WriteLine((${LIST})) }`;

/** Measures with 10 VMs beside plain PowerShell, and with 200 alone. Nothing where PowerShell is not installed. */
export async function measureHyperV(): Promise<Row[]> {
  if (NO_SIMULATION !== undefined) {
    console.error(`bench: hyperv is left out: ${NO_SIMULATION}`);
    return [];
  }
  await using world = await HyperVWorld.open();
  const client = new HyperV(world.host);
  const signal = AbortSignal.timeout(LIMIT_MS);
  try {
    await makeMachines(world, 1, FEW);
    await using plain = new PlainShell(world);
    const [anew = NaN] = await measureSideBySide([
      () => timed(() => runOrThrow(findShell() ?? "", shellArguments(LIST), { env: environmentOf(world) })),
    ], ROUNDS);
    const [inOne = NaN, ours = NaN] = await measureSideBySide(
      [() => timed(() => plain.list()), () => timed(() => client.listMachines(signal))],
      WARM_ROUNDS,
      WARM_UPS,
    );
    await makeMachines(world, FEW + 1, MANY);
    const before = await cmdletCalls(world);
    await client.listMachines(signal);
    const calls = await cmdletCalls(world) - before;
    const [many = NaN] = await measureSideBySide([() => timed(() => client.listMachines(signal))], ROUNDS);
    return [
      { what: `Get-VM of ${FEW} VMs in one PowerShell`, value: inOne },
      { what: "vm list through the warm sidecar, beside that", value: ours, baseline: inOne, target: 1.3 },
      { what: "the same, beside starting PowerShell for it", value: ours, baseline: anew, target: 0.1 },
      { what: `vm list of ${MANY} VMs through the sidecar`, value: many, target: 2000 },
      { what: `cmdlets that a list of ${MANY} VMs calls`, value: calls, target: 1 },
    ];
  } finally {
    await client.close();
  }
}

/** One PowerShell that stays open. */
class PlainShell implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<string>;
  #rest = "";

  constructor(world: HyperVWorld) {
    this.#process = new Deno.Command(findShell() ?? "", {
      args: shellArguments(LOOP),
      env: environmentOf(world),
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#writer = this.#process.stdin.getWriter();
    this.#reader = this.#process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  async list(): Promise<unknown> {
    await this.#writer.write(new TextEncoder().encode("\n"));
    for (;;) {
      const end = this.#rest.indexOf("\n");
      if (end >= 0) {
        const line = this.#rest.slice(0, end);
        this.#rest = this.#rest.slice(end + 1);
        return JSON.parse(line);
      }
      const { value, done } = await this.#reader.read();
      if (done) throw new Error("PowerShell has ended");
      this.#rest += value;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close();
    await this.#reader.cancel();
    await this.#process.status;
  }
}

function shellArguments(script: string): string[] {
  const parts = ["library", "machines"].map((part) => `. '${ROOT}/src/drivers/hyperv/ps/${part}.ps1'`);
  return ["-NoProfile", "-NonInteractive", "-Command", `${parts.join("; ")}; ${script}`];
}

function environmentOf(world: HyperVWorld): Record<string, string> {
  return { HVLAB_HYPERV_SIM: world.folder, PSModulePath: `${ROOT}/tests/hyperv_sim/modules` };
}

async function makeMachines(world: HyperVWorld, first: number, last: number): Promise<void> {
  await runShell(world, `${first}..${last} | ForEach-Object { New-VM "vm $_" -Generation 2 -NoVHD > $null }`);
}

/** How many cmdlet calls all processes of the world have made. */
async function cmdletCalls(world: HyperVWorld): Promise<number> {
  let calls = 0;
  for await (const { name } of Deno.readDir(`${world.folder}/calls`)) {
    calls += (await Deno.readTextFile(`${world.folder}/calls/${name}`)).split("\n").length - 1;
  }
  return calls;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
