import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import type { AuditLine } from "../../../src/contract/operation.ts";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import { KEPT_LINES } from "../../../src/state/audit.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import { openStore } from "../../../src/state/store.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

function lineOf(op: string, target: string | null = null): AuditLine {
  const at = "2026-11-29T12:00:00.000Z";
  return { at, op, tool: "vm_delete", class: "D", door: "mcp", target, outcome: "succeeded" };
}

Deno.test("the last lines come back in the order they were written", () =>
  withTemporaryFolder(async (folder) => {
    using store = await openStore(openDenoHost(), new StateFolder(folder));
    assert.deepEqual(await store.audit.tail(5), []);
    for (const op of ["op-1", "op-2", "op-3"]) await store.audit.append(lineOf(op, `vm ${op}`));
    assert.deepEqual(await store.audit.tail(2), [lineOf("op-2", "vm op-2"), lineOf("op-3", "vm op-3")]);
    assert.equal((await store.audit.tail(100)).length, 3);
  }));

Deno.test("the trail is bounded", () =>
  withTemporaryFolder(async (folder) => {
    const state = new StateFolder(folder);
    using store = await openStore(openDenoHost(), state);
    using database = new DatabaseSync(state.database);
    await store.audit.append(lineOf("op-old"));
    await store.audit.append(lineOf("op-new"));
    database.exec(`UPDATE audit SET line = 499 WHERE op = 'op-old'`);
    database.exec(`UPDATE audit SET line = ${KEPT_LINES + 499} WHERE op = 'op-new'`);
    database.exec(`UPDATE sqlite_sequence SET seq = ${KEPT_LINES + 499} WHERE name = 'audit'`);
    await store.audit.append(lineOf("op-last"));
    assert.deepEqual((await store.audit.tail(10)).map(({ op }) => op), ["op-new", "op-last"]);
  }));
