/** Whole processes: an empty program, `hvlab --version`, and `hvlab dump inspect` of a small and of a huge file. */

import { kernelHeader64 } from "../../tests/support/dump_writer.ts";
import { bundleArguments, fileArguments } from "./program.ts";
import { measureSideBySide, type Row } from "./report.ts";

const ROUNDS = 20;
const HUGE_BYTES = 64 * 2 ** 30;
const FULL_DUMP = 1;

/** Measures the starts; the files live in a temporary folder, the huge one is sparse. */
export async function measureStart(): Promise<Row[]> {
  const folder = await Deno.makeTempDir();
  try {
    const empty = `${folder}/empty.js`;
    await Deno.writeTextFile(empty, "");
    const header = kernelHeader64(FULL_DUMP).bytes;
    const small = `${folder}/small.dmp`;
    await Deno.writeFile(small, header);
    const huge = `${folder}/huge.dmp`;
    await Deno.writeFile(huge, header);
    await Deno.truncate(huge, HUGE_BYTES);
    const [none = NaN, permitted = NaN, version = NaN, inspectSmall = NaN, inspectHuge = NaN] =
      await measureSideBySide(
        [
          () => timeOf(["run", "--no-config", "--no-lock", empty]),
          () => timeOf(fileArguments(empty)),
          () => timeOf(bundleArguments(["--version"])),
          () => timeOf(bundleArguments(["dump", "inspect", small, "--json"])),
          () => timeOf(bundleArguments(["dump", "inspect", huge, "--json"])),
        ],
        ROUNDS,
      );
    return [
      { what: "empty program", value: none },
      { what: "empty program with the release's permission flags", value: permitted, baseline: none },
      { what: "hvlab --version", value: version, baseline: none, target: 1.5 },
      { what: "hvlab dump inspect, 8 KiB file", value: inspectSmall, baseline: none, target: 1.5 },
      { what: "hvlab dump inspect, sparse 64 GiB file", value: inspectHuge, baseline: none, target: 1.5 },
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function timeOf(args: string[]): Promise<number> {
  const start = performance.now();
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  const time = performance.now() - start;
  if (code !== 0) {
    throw new Error(`"${args.join(" ")}" ended with code ${code}: ${new TextDecoder().decode(stderr)}`);
  }
  return time;
}
