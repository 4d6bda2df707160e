/** The layer check: it finds what the rules forbid, in data and in a real module graph. */

import assert from "node:assert/strict";
import { findCircles } from "../../tools/circles.ts";
import { findForbidden, readGraph } from "../../tools/layers.ts";

const forbidden: [from: string, to: string, reason: RegExp][] = [
  ["src/base/errors.ts", "src/contract/vm.ts", /contract is not below base/],
  ["src/host/files.ts", "src/config/config.ts", /config is not below host/],
  ["src/config/load.ts", "src/state/layout.ts", /state is not below config/],
  ["src/dump/sniff.ts", "src/host/files.ts", /dump imports only base, contract/],
  ["src/drivers/qemu/driver.ts", "src/drivers/hyperv/map.ts", /only src\/drivers\/index.ts imports/],
  ["src/flows/ready.ts", "src/drivers/qemu/monitor/qmp.ts", /only src\/drivers\/index.ts imports/],
  ["src/tools/vm/start.ts", "src/tools/sandbox/run.ts", /only src\/tools\/table.ts imports/],
  ["src/tools/vm/start.ts", "src/tools/call.ts", /pipeline is not below tool families/],
  ["src/cli/run.ts", "src/mcp/server.ts", /mcp is not below cli/],
  ["src/cli/run.ts", "src/tools/vm/list.ts", /only src\/tools\/table.ts imports/],
  ["src/mcp/sdk.ts", "src/base/errors.ts", /mcp sdk imports nothing of ours/],
  ["src/tools/call.ts", "src/cli/run.ts", /cli is not below pipeline/],
  ["src/cli/run.ts", "main.ts", /main is not below cli/],
  ["src/cli/run.ts", "tests/support/host.ts", /is in no layer/],
];

const allowed: [from: string, to: string][] = [
  ["src/contract/vm.ts", "src/base/errors.ts"],
  ["src/dump/windows/header.ts", "src/dump/bytes.ts"],
  ["src/drivers/qemu/driver.ts", "src/drivers/driver.ts"],
  ["src/drivers/index.ts", "src/drivers/qemu/driver.ts"],
  ["src/tools/table.ts", "src/tools/vm/start.ts"],
  ["src/tools/vm/start.ts", "src/tools/tool.ts"],
  ["src/tools/tool.ts", "src/drivers/driver.ts"],
  ["src/tools/call.ts", "src/tools/tool.ts"],
  ["src/cli/run.ts", "src/tools/table.ts"],
  ["src/mcp/connection.ts", "src/mcp/sdk.ts"],
  ["src/cli/run.ts", "deno.json"],
  ["main.ts", "src/cli/run.ts"],
];

Deno.test("a forbidden import is found, with the reason", () => {
  for (const [from, to, reason] of forbidden) {
    const [finding, ...others] = findForbidden([{ from, to }]);
    assert.match(finding ?? "nothing found", reason, `${from} -> ${to}`);
    assert.equal(others.length, 0);
  }
});

Deno.test("an import that the layout allows is no finding", () => {
  assert.deepEqual(findForbidden(allowed.map(([from, to]) => ({ from, to }))), []);
});

Deno.test("a circle of imports is found once, whatever hangs on it", () => {
  const edges = (words: string) => words.split(" ").map(([from = "", to = ""]) => ({ from, to }));
  assert.deepEqual(findCircles(edges("ab ac bd cd de")), []);
  assert.deepEqual(findCircles(edges("xa ab bc ca cd da cy")), [["a", "b", "c", "a"], [
    "a",
    "b",
    "c",
    "d",
    "a",
  ]]);
  assert.deepEqual(findCircles(edges("aa bc cb")), [["a", "a"], ["b", "c", "b"]]);
});

Deno.test("static, dynamic and type imports all count", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "hvlab graph " }));
  try {
    await Deno.mkdir(`${folder}/src/base`, { recursive: true });
    await Deno.mkdir(`${folder}/src/cli`);
    await Deno.writeTextFile(`${folder}/main.ts`, 'import "./src/base/a.ts";\n');
    await Deno.writeTextFile(
      `${folder}/src/base/a.ts`,
      'import type { X } from "../cli/types.ts";\nexport { y } from "../cli/again.ts";\n' +
        'export const load = (): Promise<X> => import("../cli/lazy.ts");\n',
    );
    for (const name of ["types", "again", "lazy"]) {
      await Deno.writeTextFile(
        `${folder}/src/cli/${name}.ts`,
        "export type X = unknown;\nexport const y = 1;\n",
      );
    }
    const { files, edges } = await readGraph("main.ts", folder);
    assert.equal(files.length, 5);
    assert.equal(findForbidden(edges).length, 3);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
