/** Crash dumps: own work as processor time in fresh processes, and whole processes beside the real debugger engine where it is set up. */

import { ENGINE } from "../../tests/support/debugger_engine.ts";
import { kernelHeader64 } from "../../tests/support/dump_writer.ts";
import { dumpMachine } from "../../tests/support/machine_dump.ts";
import { writeMachine } from "../../tests/support/machine_writer.ts";
import { hasSample, samplePath } from "../../tests/support/shared_samples.ts";
import { writeHugeDump, writeLargeSymbols } from "./dump_files.ts";
import { bundleArguments } from "./program.ts";
import { measureSideBySide, median, type Row } from "./report.ts";

const ROUNDS = 7;
const WORK = decodeURIComponent(new URL("./dump_work.ts", import.meta.url).pathname);
const SAMPLES = ["triage_x64.dmp", "triage_arm64.dmp"].map((name) =>
  `dumps/kernel/no-licence-stated/${name}`
);

/** Measures; the files live in a temporary folder, the huge ones are sparse. */
export async function measureDumps(): Promise<Row[]> {
  const folder = await Deno.makeTempDir();
  try {
    const small = `${folder}/small.dmp`;
    await Deno.writeFile(small, kernelHeader64(1).bytes);
    const huge = `${folder}/huge.dmp`;
    await writeHugeDump(huge);
    const symbols = `${folder}/large.pdb`;
    await writeLargeSymbols(symbols);
    const warm = `${folder}/warm.dmp`;
    await Deno.writeFile(warm, dumpMachine(writeMachine("x64"), "fdmp"));
    const opened = await measureWork("pages", huge, warm);
    const triaged = await measureWork("triage", huge, warm);
    const rows: Row[] = [
      {
        what: "inspect, own work, 8 KiB file",
        value: (await measureWork("inspect", small, warm)).milliseconds,
        target: 1,
      },
      {
        what: "inspect, own work, 64 GiB file",
        value: (await measureWork("inspect", huge, warm)).milliseconds,
        target: 1,
      },
      { what: "open a 64 GiB active dump and read pages", value: opened.milliseconds, target: 10 },
      { what: "triage of that dump, own work", value: triaged.milliseconds, target: 300 },
      { what: "triage of that dump, memory of the process in MB", value: triaged.megabytes, target: 100 },
      {
        what: "one symbol of a 20 MB file",
        value: (await measureWork("symbol", symbols)).milliseconds,
        target: 30,
      },
    ];
    for (const name of SAMPLES.filter(hasSample)) {
      const { milliseconds } = await measureWork("triage", samplePath(name), warm);
      rows.push({ what: `triage of ${name.split("/").at(-1)}, own work`, value: milliseconds, target: 50 });
      rows.push(...await besideEngine(samplePath(name)));
    }
    return rows;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function besideEngine(path: string): Promise<Row[]> {
  const [engine, ...words] = ENGINE;
  const what = `triage of ${path.split("/").at(-1)}, whole process`;
  const own = (): Promise<number> =>
    timeOf(Deno.execPath(), bundleArguments(["dump", "triage", path, "--json"]));
  if (engine === undefined) return [{ what, value: (await measureSideBySide([own], ROUNDS))[0] ?? NaN }];
  const theirs = (): Promise<number> => timeOf(engine, [...words, path, ".bugcheck", "k", "lm"]);
  const [value = NaN, baseline = NaN] = await measureSideBySide([own, theirs], ROUNDS);
  return [{ what: "the debugger engine on it, whole process", value: baseline }, {
    what,
    value,
    baseline,
    target: 0.25,
  }];
}

async function measureWork(
  work: string,
  path: string,
  other?: string,
): Promise<{ milliseconds: number; megabytes: number }> {
  const times: number[] = [];
  let megabytes = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", WORK, work, path, ...(other === undefined ? [] : [other])],
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).output();
    if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
    const told: { milliseconds: number; megabytes: number } = JSON.parse(new TextDecoder().decode(stdout));
    times.push(told.milliseconds);
    megabytes = Math.max(megabytes, told.megabytes);
  }
  return { milliseconds: median(times), megabytes };
}

async function timeOf(program: string, args: string[]): Promise<number> {
  const start = performance.now();
  const { code, stderr } = await new Deno.Command(program, {
    args,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  })
    .output();
  const time = performance.now() - start;
  if (code !== 0) {
    throw new Error(`"${program}" ended with code ${code}: ${new TextDecoder().decode(stderr)}`);
  }
  return time;
}
