/** What a host sees first: discovery, the handshake and the tool list of the program as it is released. */

import assert from "node:assert/strict";
import { McpProcess } from "../support/mcp_process.ts";
import { productServer } from "../support/mcp_programs.ts";
import { resultOf } from "../support/mcp_wire.ts";
import { matchSnapshot } from "../support/snapshot.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

for (const era of ["2025-11-25", "2026-07-28"]) {
  Deno.test(`the list over the wire is as the snapshot and the same every time: ${era}`, () =>
    withTemporaryFolder(async (folder) => {
      await using server = new McpProcess(await productServer(`${folder}/state`));
      if (era === "2025-11-25") await server.initialize();
      const params = era === "2025-11-25" ? {} : { _meta: ENVELOPE };
      const first = resultOf(await server.request(1, "tools/list", params));
      const second = resultOf(await server.request(2, "tools/list", params));
      assert.equal(JSON.stringify(second), JSON.stringify(first));
      const { _meta, ...kept } = first;
      await matchSnapshot(import.meta.url, `tools_list_${era}.json`, `${JSON.stringify(kept, null, 2)}\n`);
      assert.deepEqual([...Deno.readDirSync(folder)], [], "nothing is made before the first call");
    }));
}

Deno.test("server/discover and the old handshake work on one connection", () =>
  withTemporaryFolder(async (folder) => {
    await using server = new McpProcess(await productServer(`${folder}/state`));
    const discovered = resultOf(await server.request(1, "server/discover", { _meta: ENVELOPE }));
    assert.ok(
      Array.isArray(discovered.supportedVersions) && discovered.supportedVersions.includes("2026-07-28"),
    );
    const initialized = resultOf(await server.initialize());
    assert.equal(initialized.protocolVersion, "2025-11-25");
    assert.deepEqual(initialized.capabilities, { tools: {} });
  }));

Deno.test("twenty probes that only ask and leave find a server each and leave nothing", () =>
  withTemporaryFolder(async (folder) => {
    for (let round = 0; round < 20; round++) {
      await using server = new McpProcess(await productServer(`${folder}/state`));
      resultOf(await server.request(1, "server/discover", { _meta: ENVELOPE }));
      await server.closeInput();
      assert.deepEqual(await server.ended, { code: 0, signal: null });
    }
    assert.deepEqual([...Deno.readDirSync(folder)], []);
  }));
