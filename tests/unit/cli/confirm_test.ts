import assert from "node:assert/strict";
import { catalogue as allTools } from "../../../src/tools/table.ts";
import type { Catalogue } from "../../../src/tools/tool.ts";
import { type CommandLineOutcome, runCommandLine } from "../../support/command_line.ts";
import { sampleCatalogue } from "../../support/sample_tools.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

function deleteAtTerminal(typed: readonly string[], ...flags: string[]): Promise<CommandLineOutcome> {
  return withTemporaryFolder((folder) =>
    runCommandLine(["box", "delete", "web", ...flags], {
      folder,
      typed,
      terminals: ["stdin", "stdout", "stderr"],
    })
  );
}

Deno.test("at a terminal the losses are shown and the typed name confirms", async () => {
  const { code, out, err } = await deleteAtTerminal(["web"]);
  assert.equal(code, 0);
  assert.equal(out, "deleted:  web\n");
  assert.equal(
    err,
    'Delete the box "web". Lost for good:\n  lid  /boxes/lid  1.5 KiB\nType web to go on: ',
  );
});

for (const typed of [["wbe"], [""], []]) {
  Deno.test(`at a terminal ${JSON.stringify(typed)} confirms nothing`, async () => {
    const { code, out, err } = await deleteAtTerminal(typed);
    assert.equal(code, 10);
    assert.equal(out, "");
    assert.match(err, /was not confirmed \(hv\.cancelled\)/);
  });
}

Deno.test("under --json nobody is asked", async () => {
  const { code, out } = await deleteAtTerminal(["web"], "--json");
  assert.equal(code, 6);
  assert.equal(JSON.parse(out).code, "hv.plan_required");
});

Deno.test("of a call that is handed on the losses are those of the other tool, whose target is asked for", async () => {
  const catalogue: Catalogue = {
    ...sampleCatalogue,
    names: [...sampleCatalogue.names, "call"],
    load: (name) => (name === "call" ? allTools : sampleCatalogue).load(name),
  };
  const argv = ["call", "--tool", "box_delete", "--args", '{"name":"web"}'];
  await withTemporaryFolder(async (folder) => {
    const asked = { catalogue, folder, typed: ["web"], terminals: ["stdin", "stdout", "stderr"] as const };
    const { code, out, err } = await runCommandLine(argv, asked);
    assert.deepEqual([code, out], [0, "deleted:  web\n"]);
    assert.match(err, /Type web to go on: $/);
    const elsewhere = await runCommandLine(argv, { catalogue, folder });
    assert.match(
      elsewhere.err,
      /hint: Make one with hvlab plan box delete web --json .*or give --confirm web\n/,
    );
  });
});
