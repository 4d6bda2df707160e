/** `vm list` of a hundred VMs, beside the same of one: what hvlab itself does for each. Linux only. */

import { RECORD_FILE } from "../../src/drivers/qemu/records.ts";
import { runOrThrow } from "../programs.ts";
import { bundleArguments } from "./program.ts";
import { measureSideBySide, type Row } from "./report.ts";

const ROUNDS = 11;
const VMS = 100;

/** Measures whole processes on two state folders of its own. */
export async function measureList(): Promise<Row[]> {
  const root = await Deno.makeTempDir({ prefix: "hv-" });
  const hvlab = (state: string, ...args: string[]): Promise<string> =>
    runOrThrow(Deno.execPath(), bundleArguments([...args, "--state", `${root}/${state}`, "--json"]));
  try {
    for (const state of ["one", "many"]) {
      await hvlab(state, "vm", "create", "first", "--disk-size", "64M", "--memory", "64M");
    }
    await multiply(`${root}/many/vms`);
    const count: unknown[] = JSON.parse(await hvlab("many", "vm", "list")).vms;
    if (count.length !== VMS) throw new Error(`there are ${count.length} VMs, not ${VMS}`);
    const [one = NaN, many = NaN] = await measureSideBySide(
      ["one", "many"].map((state) => async () => {
        const start = performance.now();
        await hvlab(state, "vm", "list");
        return performance.now() - start;
      }),
      ROUNDS,
    );
    return [
      { what: "vm list of one VM, the whole process", value: one },
      { what: `vm list of ${VMS} VMs`, value: many, baseline: one },
      { what: "difference", value: many - one, target: 150 },
    ];
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

/** Gives the one VM's folder as many twins as are wanted, each with an id and a name of its own. */
async function multiply(vms: string): Promise<void> {
  const [first] = [...Deno.readDirSync(vms)].filter(({ name }) => name.startsWith("vm-"));
  if (first === undefined) throw new Error("no VM was made");
  const record = JSON.parse(await Deno.readTextFile(`${vms}/${first.name}/${RECORD_FILE}`));
  for (let number = 2; number <= VMS; number++) {
    const id = `vm-${crypto.randomUUID()}`;
    await Deno.mkdir(`${vms}/${id}`);
    const runtime = String(record.runtime).replace(/[^/]+$/, id.slice(3, 15));
    const twin = { ...record, id, name: `twin-${number}`, runtime };
    await Deno.writeTextFile(`${vms}/${id}/${RECORD_FILE}`, JSON.stringify(twin));
  }
}
