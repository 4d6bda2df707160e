import * as z from "zod/mini";
import { type HvError, toHvError } from "../../base/errors.ts";
import { Removed } from "../../contract/vm.ts";
import { defineTool } from "../define_tool.ts";

/** Removes what `vm_orphans` lists; each is looked at again right before it goes. */
export default defineTool({
  name: "vm_cleanup",
  family: "vm",
  class: "D",
  summary: "Remove what hvlab left behind",
  input: {},
  output: z.object({ removed: z.array(Removed) }),
  uses: ["driver"],
  feature: "vms",
  frees: true,
  async plan(_, { driver, signal }) {
    const orphans = await driver.vms.orphans(signal);
    const running = orphans.filter(({ pid }) => pid !== undefined).length;
    const ends = running === 0 ? "" : `, ${running} of them with a running process, which is ended`;
    return {
      summary: `Remove ${orphans.length} leftovers of hvlab${ends}`,
      losses: orphans.map(({ kind, id, name, pid, paths: [path], size_bytes }) => ({
        what: `${kind} ${name ?? id}${pid === undefined ? "" : `, with its running process ${pid}`}`,
        ...(path === undefined ? {} : { path }),
        size_bytes,
      })),
      fingerprint: orphans.map(({ kind, id, pid = 0 }) => `${kind} ${id} ${pid}`).sort(),
    };
  },
  async handle(_, context) {
    const { driver, signal, progress } = context;
    const removed: Removed[] = [];
    const failures: HvError[] = [];
    for (const orphan of await driver.vms.orphans(signal)) {
      progress({ message: `removing ${orphan.name ?? orphan.id}` });
      try {
        removed.push(await driver.vms.removeOrphan(orphan, context));
      } catch (error) {
        signal.throwIfAborted();
        failures.push(toHvError(error));
      }
    }
    const [failure] = failures;
    if (failure === undefined) return { removed };
    throw failure.withContext({ removed: removed.map(({ id }) => id), failed: failures.length });
  },
  render: ({ removed }) => removed.length === 0 ? "Nothing was removed" : undefined,
});
