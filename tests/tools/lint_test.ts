/** The project's lint rules: each finds what it forbids and leaves alone what it allows. */

import assert from "node:assert/strict";
import plugin from "../../tools/lint/plugin.ts";

function findings(place: string, source: string): string[] {
  const found = Deno.lint.runPlugin(plugin, `/${place}`, source).map(({ id }) => id.replace("hvlab/", ""));
  return [...new Set(found)];
}

const cases: {
  rule: string;
  bad: [place: string, source: string][];
  good: [place: string, source: string][];
}[] = [
  {
    rule: "deno-in-host-only",
    bad: [
      ["src/tools/vm/list.ts", "Deno.readTextFileSync('x');"],
      ["src/dump/sniff.ts", "const { size } = Deno.statSync('x');"],
      ["src/cli/run.ts", "Deno.stdout.writeSync(bytes);"],
      ["main.ts", "Deno.env.get('HOME');"],
    ],
    good: [
      ["src/host/files.ts", "Deno.readTextFileSync('x');"],
      ["main.ts", "Deno.exit(await run(Deno.args));"],
      ["tests/unit/a_test.ts", "Deno.test('x', () => {});"],
      ["tools/docs.ts", "Deno.readTextFileSync('x');"],
    ],
  },
  {
    rule: "node-in-host-only",
    bad: [
      ["src/drivers/qemu/driver.ts", "import { spawn as start } from 'node:child_process';"],
      ["src/tools/call.ts", "import { DatabaseSync } from 'node:sqlite';"],
      ["src/host/files.ts", "import { join } from 'node:path';"],
      ["src/cli/run.ts", "const os = await import('node:os');"],
      ["src/base/text.ts", "export { inspect } from 'node:util';"],
      ["src/base/text.ts", "export * from 'node:util';"],
    ],
    good: [
      ["src/host/spawn.ts", "import { closeSync } from 'node:fs';"],
      ["src/state/store.ts", "import { DatabaseSync } from 'node:sqlite';"],
      ["tests/unit/a_test.ts", "import assert from 'node:assert/strict';"],
    ],
  },
  {
    rule: "clock-in-host-only",
    bad: [
      ["src/base/deadline.ts", "const start = Date.now();"],
      ["src/state/store.ts", "const start = performance.now();"],
      ["src/flows/ready.ts", "const start = new Date();"],
    ],
    good: [
      ["src/host/clock.ts", "const start = Date.now();"],
      ["src/dump/time.ts", "const at = new Date(0);"],
      ["src/flows/ready.ts", "const start = clock.now();"],
    ],
  },
  {
    rule: "print-in-cli-only",
    bad: [
      ["src/tools/vm/list.ts", "console.log('x');"],
      ["src/mcp/server.ts", "console.error('x');"],
      ["main.ts", "console.error('x');"],
    ],
    good: [["src/cli/output.ts", "console.log('x');"], ["src/host/terminal.ts", "console.log = show;"], [
      "tools/docs.ts",
      "console.log('x');",
    ]],
  },
  {
    rule: "exit-in-main-only",
    bad: [
      ["src/host/terminal.ts", "Deno.exit(1);"],
      ["src/host/terminal.ts", "Deno.exitCode = 1;"],
      ["src/host/terminal.ts", "process.exit(1);"],
    ],
    good: [["main.ts", "Deno.exit(0);"], ["tools/stages.ts", "Deno.exit(1);"]],
  },
  {
    rule: "package-behind-its-door",
    bad: [
      ["src/tools/call.ts", "import { load } from 'js-yaml';"],
      ["src/mcp/server.ts", "import { McpServer } from '@modelcontextprotocol/server';"],
      ["src/mcp/server.ts", "const sdk = await import('@modelcontextprotocol/server/stdio');"],
      ["src/contract/vm.ts", "import { z } from 'zod';"],
      ["src/contract/vm.ts", "import { object } from 'zod/mini';"],
      ["src/state/sql.ts", "const text = z.core.prettifyError(error);"],
    ],
    good: [
      ["src/config/load.ts", "import { load } from 'js-yaml';"],
      ["src/mcp/sdk.ts", "export { McpServer } from '@modelcontextprotocol/server';"],
      ["src/contract/vm.ts", "import * as z from 'zod/mini';"],
      ["src/state/sql.ts", "type Schema = z.core.$ZodType; const text = z.prettifyError(error);"],
      ["src/tools/validate.ts", "import type * as z from 'zod/mini';"],
      ["tests/mcp/client.ts", "import { Client } from '@modelcontextprotocol/client';"],
    ],
  },
  {
    rule: "no-cast",
    bad: [["src/base/a.ts", "const a = b as string;"], ["tests/a_test.ts", "const a = <string>b;"]],
    good: [["src/base/a.ts", "const a = [1, 2] as const;"], [
      "src/base/a.ts",
      "import { a as b } from './b.ts';",
    ]],
  },
  {
    rule: "spawn-states-stdio",
    bad: [
      ["src/host/processes.ts", "new Deno.Command('ps').output();"],
      ["src/host/processes.ts", "new Deno.Command('ps', { stdout: 'piped', stderr: 'piped' });"],
      ["src/host/spawn.ts", "spawn('ps', [], { detached: true });"],
    ],
    good: [
      [
        "src/host/processes.ts",
        "new Deno.Command('ps', { stdin: 'null', stdout: 'piped', stderr: 'piped' });",
      ],
      ["src/host/spawn.ts", "spawn('ps', [], { detached: true, stdio: 'ignore' });"],
      ["tests/a_test.ts", "new Deno.Command('ps').output();"],
    ],
  },
];

for (const { rule, bad, good } of cases) {
  Deno.test(`${rule} finds what it forbids and nothing else`, () => {
    for (const [place, source] of bad) {
      assert.ok(findings(place, source).includes(rule), `${place}: ${source}`);
    }
    for (const [place, source] of good) {
      assert.ok(!findings(place, source).includes(rule), `${place}: ${source}`);
    }
  });
}

Deno.test("every rule of the plugin has its cases", () => {
  assert.deepEqual(cases.map(({ rule }) => rule).sort(), Object.keys(plugin.rules).sort());
});
