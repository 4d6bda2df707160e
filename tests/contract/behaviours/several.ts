import assert from "node:assert/strict";
import * as z from "zod/mini";
import { VmOutcome } from "../../../src/contract/vm.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { behaviour } from "../behaviour.ts";

/** What each VM's result says: its name as given, how it went, and the state or the code. */
function resultsOf({ results }: JsonObject): [string, boolean, string | undefined][] {
  return z.array(VmOutcome).parse(results).map(({ vm, ok, state, error }) => [vm, ok, state ?? error?.code]);
}

behaviour(
  "several names in one call each get their own result",
  { needs: ["vms"] },
  async ({ lab }) => {
    for (const name of ["a", "b"]) await lab.call("vm_create", { name, ...lab.source, memory_mb: 64 });
    const started = await lab.call("vm_start", { vm: ["a", "nothing", "b"] });
    assert.deepEqual(resultsOf(started), [
      ["a", true, "running"],
      ["nothing", false, "hv.not_found"],
      ["b", true, "running"],
    ]);
    const stopped = await lab.call("vm_stop", { vm: ["b", "a", "b"], mode: "off" });
    assert.deepEqual(resultsOf(stopped), [["b", true, "off"], ["a", true, "off"]]);
  },
);

behaviour("one name in a list is answered like a name alone", { needs: ["vms"] }, async ({ lab }) => {
  await lab.call("vm_create", { name: "a", ...lab.source, memory_mb: 64 });
  const alone = await lab.call("vm_start", { vm: "a" });
  assert.deepEqual(await lab.call("vm_start", { vm: ["a"] }), alone);
  assert.equal((await lab.failure("vm_stop", { vm: ["nothing"] })).code, "hv.not_found");
  assert.equal((await lab.failure("vm_stop", { vm: [] })).code, "hv.usage");
});

behaviour(
  "several VMs are deleted by a plan for exactly them, never by a name",
  { needs: ["vms"] },
  async ({ lab }) => {
    const ids: string[] = [];
    for (const name of ["a", "b", "c"]) {
      ids.push((await lab.vm("vm_create", { name, ...lab.source, memory_mb: 64 })).id);
    }
    const args = { vm: ["a", "b"] };
    assert.equal((await lab.failure("vm_delete", args)).code, "hv.plan_required");
    assert.equal((await lab.failure("vm_delete", args, { confirm: "a" })).code, "hv.plan_invalid");
    assert.equal(
      (await lab.failure("plan", { tool: "vm_delete", args: { vm: ["a", "x"] } })).code,
      "hv.not_found",
    );
    const { confirm, preview } = await lab.plan("vm_delete", args);
    assert.equal(preview.target, `${ids[0]} ${ids[1]}`);
    assert.match(preview.summary, /"a".*"b"/);
    const others = await lab.failure("vm_delete", { vm: ["a", "c"] }, { confirm });
    assert.equal(others.code, "hv.plan_invalid");
    await lab.call("vm_start", { vm: "b" });
    assert.equal((await lab.failure("vm_delete", args, { confirm })).code, "hv.plan_invalid");
    await lab.call("vm_stop", { vm: "b", mode: "off" });
    const { results } = await lab.call("vm_delete", args, { confirm });
    assert.deepEqual(z.array(VmOutcome).parse(results).map(({ vm, removed }) => [vm, removed]), [
      ["a", true],
      ["b", true],
    ]);
    assert.deepEqual(await lab.names(), ["c"]);
  },
);
