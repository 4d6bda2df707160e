import assert from "node:assert/strict";
import { isPlainObject } from "../../../src/base/json.ts";
import { SYNONYMS } from "../../../src/tools/meta/synonyms.ts";
import { catalogue } from "../../../src/tools/table.ts";
import { Lab } from "../../contract/lab.ts";
import { MemoryDriver } from "../../support/memory_driver.ts";

function open(): Promise<Lab> {
  return Lab.open({ openDriver: () => Promise.resolve(new MemoryDriver()), image: "tiny" });
}

async function search(lab: Lab, query: string): Promise<string[]> {
  const { tools } = await lab.call("tools_search", { query });
  const names: string[] = [];
  assert.ok(Array.isArray(tools));
  for (const tool of tools) {
    assert.ok(isPlainObject(tool));
    names.push(String(tool.name));
  }
  return names;
}

Deno.test("other people's words find tools", async () => {
  await using lab = await open();
  const wanted: [query: string, tool: string][] = [
    ["snapshot", "hv_checkpoint_create"],
    ["snapshots", "hv_checkpoint_create"],
    ["execute", "hv_guest_exec"],
    ["command", "hv_guest_exec"],
    ["shutdown", "hv_vm_stop"],
    ["boot", "hv_vm_start"],
    ["upload", "hv_guest_copy_to"],
    ["bsod", "hv_dump_triage"],
    ["kill", "hv_vm_delete"],
    ["template", "hv_image_warm"],
  ];
  for (const [query, tool] of wanted) assert.ok((await search(lab, query)).includes(tool), query);
});

Deno.test("a word counts where a word begins, and the tool of that very name comes first", async () => {
  await using lab = await open();
  for (const middle of ["rphan", "eckpoint"]) assert.deepEqual(await search(lab, middle), [], middle);
  assert.equal((await search(lab, "vm_orphans"))[0], "hv_vm_orphans");
  assert.deepEqual(await search(lab, "run"), ["hv_sandbox_run", "hv_guest_exec", "hv_guest_script"]);
  assert.ok((await search(lab, "runn")).includes("hv_vm_pause"));
});

Deno.test("every synonym leads to a tool", async () => {
  const names = new Set((await catalogue.loadAll()).flatMap(({ name }) => name.split("_")));
  for (const [word, meanings] of SYNONYMS) {
    for (const meaning of meanings) assert.ok(names.has(meaning), `${word} -> ${meaning}`);
  }
});

Deno.test("a query has an end", async () => {
  await using lab = await open();
  assert.equal((await lab.failure("tools_search", { query: "a ".repeat(2_000_000) })).code, "hv.usage");
  assert.ok((await search(lab, `checkpoint ${"a ".repeat(400)}`)).length > 0);
});
