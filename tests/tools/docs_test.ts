/** The generated reference: what a tool's definition says stands on its page, and staleness is noticed. */

import assert from "node:assert/strict";
import * as z from "zod/mini";
import { catalogueOf } from "../../src/tools/table.ts";
import { defineTool } from "../../src/tools/define_tool.ts";
import { findStale, writeReference } from "../../tools/docs.ts";
import { renderReference } from "../../tools/docs/pages.ts";

const exampleTool = defineTool({
  name: "vm_example_thing",
  family: "vm",
  class: "D",
  summary: "Show what a page holds",
  input: {
    vm: z.string().check(z.describe("A | bar")),
    size_mb: z._default(z.int().check(z.gte(1), z.lte(8)), 2),
    mode: z.optional(z.enum(["fast", "slow"])),
    arg: z._default(z.array(z.string()), []),
    force: z._default(z.boolean(), false),
  },
  positional: ["vm"],
  output: z.object({
    name: z.nullable(z.string()),
    parts: z.optional(z.array(z.object({ path: z.string().check(z.describe("Where it lies")) }))),
  }),
  handle: () => Promise.resolve({ name: null }),
});

const catalogue = catalogueOf([{
  name: exampleTool.name,
  core: true,
  load: () => Promise.resolve({ default: exampleTool }),
}]);

Deno.test("a tool's page holds its command, its arguments and its answer", async () => {
  const page = (await renderReference(catalogue)).get("vm.md") ?? "";
  const lines = page.split("\n");
  assert.ok(lines.includes("## vm example-thing"), page);
  assert.ok(lines.includes("Show what a page holds."));
  assert.ok(lines.includes("- Over MCP: `hv_vm_example_thing`, listed by default"));
  assert.ok(lines.includes("| `vm` | `VM`, `--vm VM` | string | required | A \\| bar |"), page);
  assert.ok(
    lines.includes("| `size_mb` | `--size SIZE`, `--size-mb SIZE` | integer, MiB, 1 to 8 | `2` |  |"),
    page,
  );
  assert.ok(page.includes("| `mode` | `--mode fast\\|slow` | `fast`, `slow` |  |  |"), page);
  assert.ok(page.includes("| `force` | `--force`, `--no-force` | boolean | `false` |  |"), page);
  assert.ok(page.includes("`--confirm PLAN_ID:DIGEST\\|NAME`"), page);
  assert.ok(lines.includes("| `name` | string or null |  |"), page);
  assert.ok(lines.includes("| `parts[].path` | string | Where it lies |"), page);
});

Deno.test("the index links every tool, and the error page lists every code", async () => {
  const pages = await renderReference(catalogue);
  assert.match(
    pages.get("README.md") ?? "",
    /\[vm example-thing\]\(vm\.md#vm-example-thing\) \| D \| yes \|/,
  );
  assert.match(pages.get("errors.md") ?? "", /\| `hv\.bad_dump` \| 14 \|/);
});

Deno.test("a changed, a missing and a foreign page are stale; writing cures all three", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const pages = await renderReference(catalogue);
    assert.deepEqual(await findStale(pages, `${folder}/none`), [...pages.keys()].sort());
    await writeReference(pages, folder);
    assert.deepEqual(await findStale(pages, folder), []);
    await Deno.writeTextFile(`${folder}/vm.md`, "changed");
    await Deno.writeTextFile(`${folder}/old.md`, "of a family that is gone");
    await Deno.remove(`${folder}/host.md`);
    assert.deepEqual(await findStale(pages, folder), ["host.md", "old.md", "vm.md"]);
    await writeReference(pages, folder);
    assert.deepEqual(await findStale(pages, folder), []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
