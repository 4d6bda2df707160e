import assert from "node:assert/strict";
import { MemorySource } from "../../../src/dump/bytes.ts";
import { inspectDump } from "../../../src/dump/inspect.ts";
import { renderInspection } from "../../../src/dump/render.ts";
import { fullDump64 } from "../../support/dump_writer.ts";

async function render(path: string): Promise<string[]> {
  const bytes = fullDump64([[1n, 3n], [0x10n, 4n]], 3);
  return renderInspection(await inspectDump(new MemorySource(bytes), { path })).split("\n");
}

function valueOf(lines: string[], name: string): string | undefined {
  return lines.find((line) => line.startsWith(`${name} `))?.slice(24);
}

Deno.test("one aligned line for each field, in the contract's order", async () => {
  const lines = await render("MEMORY.DMP");
  assert.deepEqual(lines.slice(0, 4), [
    "path                    MEMORY.DMP",
    "os_version              10.0.19041",
    "dump_kind               full",
    "bugcheck_code           0x000000d1",
  ]);
  assert.match(lines[7] ?? "", /^arg1 {20}0xffffa00000deadb0 {2}\S/);
  assert.equal(valueOf(lines, "attributes"), "not recorded");
  assert.equal(valueOf(lines, "suite"), "terminal, single_user_terminal");
  assert.equal(valueOf(lines, "runs"), "1+3, 16+4");
  assert.equal(
    lines.at(-1),
    "warning                 truncated: The file has 20480 bytes, a complete one has 36864",
  );
});

Deno.test("a name cannot draw on the terminal or fake a line", async () => {
  const lines = await render("a\nbugcheck_code  0x0\u001b[2J");
  assert.equal(lines[0], "path                    a\\x0abugcheck_code  0x0\\x1b[2J");
  assert.equal(lines.filter((line) => line.startsWith("bugcheck_code")).length, 1);
});
