import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { HvError } from "../../../src/base/errors.ts";
import { newUlid } from "../../../src/base/ids.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { Operation } from "../../../src/contract/operation.ts";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import type { Host } from "../../../src/host/host.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import { digestOfCall, KEPT_OPERATIONS, type NewOperation } from "../../../src/state/operations.ts";
import { openStore, type Store } from "../../../src/state/store.ts";
import { failureOf } from "../../support/failures.ts";
import { NO_SIGHT } from "../../support/process_sight.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

const AT = "2026-11-29T12:00:00.000Z";
const LATER = "2026-11-29T12:00:05.000Z";
/** No process here has a number as high. */
const NO_PROCESS = 999_999_999;

function newOperation(more: Partial<NewOperation> = {}): NewOperation {
  return {
    op: `op-${newUlid(Date.parse(AT))}`,
    tool: "vm_start",
    target: null,
    door: "cli",
    at: AT,
    ...more,
  };
}

type Work = (store: Store, folder: string) => Promise<void>;

function test(name: string, work: Work, ignore = false): void {
  Deno.test({
    name,
    ignore,
    fn: () =>
      withTemporaryFolder(async (folder) => {
        using store = await openStore(openDenoHost(), new StateFolder(folder));
        await work(store, folder);
      }),
  });
}

/** Only `ps` tells when a process started. */
function testOfStarts(name: string, work: Work): void {
  test(name, work, Deno.build.os === "windows");
}

test("an operation is kept from its beginning to its end", async ({ operations }) => {
  const begun = newOperation({ target: "тест–’“”\u{1F9EA}\n" });
  assert.deepEqual(await operations.begin(begun), { created: true });
  const running = { op: begun.op, tool: "vm_start", target: begun.target, started_at: AT };
  assert.deepEqual(await operations.get(begun.op), { ...running, state: "running", ended_at: null });
  await operations.setTarget(begun.op, "vm-1");
  await operations.progress(begun.op, { message: "waiting for the agent", fraction: 0.5 });
  await operations.finish(begun.op, { state: "succeeded", result: { vm: "vm-1" } }, LATER);
  const ended = await operations.get(begun.op);
  assert.deepEqual(ended, {
    ...running,
    target: "vm-1",
    state: "succeeded",
    ended_at: LATER,
    progress: { message: "waiting for the agent", fraction: 0.5 },
    result: { vm: "vm-1" },
  });
  Operation.parse(ended);
});

test("a failure keeps its error whole", async ({ operations }) => {
  const begun = newOperation();
  await operations.begin(begun);
  const error = {
    code: "hv.io",
    message: "The disk is full",
    retryable: false,
    hint: "Free some space",
    context: { path: "/x", nested: { list: [1, null] } },
    correlation_id: "c-1",
  };
  await operations.finish(begun.op, { state: "failed", error }, LATER);
  const ended = await operations.get(begun.op);
  assert.equal(ended?.state, "failed");
  assert.deepEqual(ended?.error, error);
});

test("an ended operation is not changed again", async ({ operations }) => {
  const begun = newOperation();
  await operations.begin(begun);
  await operations.finish(begun.op, { state: "succeeded", result: 1 }, LATER);
  const error = await failureOf("hv.conflict", () => operations.finish(begun.op, { state: "failed" }, LATER));
  assert.deepEqual([error.context["wanted"], error.context["found"]], ["running", "succeeded"]);
  await failureOf("hv.conflict", () => operations.progress(begun.op, { message: "late" }));
  assert.equal((await operations.get(begun.op))?.result, 1);
});

test("an unknown operation is not found", async ({ operations }) => {
  assert.equal(await operations.get("op-none"), undefined);
  await failureOf("hv.not_found", () => operations.finish("op-none", { state: "succeeded" }, AT));
  await failureOf("hv.not_found", () => operations.requestCancel("op-none"));
  await failureOf("hv.not_found", () => operations.isCancelRequested("op-none"));
});

test("one idempotency key is one operation", async ({ operations }) => {
  const digest = await digestOfCall("vm_start", { b: 1, a: "x" });
  assert.equal(digest, await digestOfCall("vm_start", { a: "x", b: 1 }));
  const first = newOperation({ idempotency: { key: "k1", digest } });
  assert.deepEqual(await operations.begin(first), { created: true });
  await operations.finish(first.op, { state: "succeeded", result: "done" }, LATER);
  const again = await operations.begin(newOperation({ idempotency: { key: "k1", digest } }));
  assert.ok(!again.created);
  assert.deepEqual(again.operation, await operations.get(first.op));
  assert.equal((await operations.list({ limit: 10 })).length, 1);

  const other = await digestOfCall("vm_start", { a: "y", b: 1 });
  const error = await failureOf(
    "hv.conflict",
    () => operations.begin(newOperation({ idempotency: { key: "k1", digest: other } })),
  );
  assert.equal(error.context["op"], first.op);
});

test("keys are told apart to the last character", async ({ operations }) => {
  const digest = await digestOfCall("vm_start", {});
  const keys = ["a", "a\0", "a\0b", "a ", "A", "a".repeat(100_000)];
  for (const key of keys) {
    assert.deepEqual(await operations.begin(newOperation({ idempotency: { key, digest } })), {
      created: true,
    });
  }
  for (const key of keys) {
    assert.equal((await operations.begin(newOperation({ idempotency: { key, digest } }))).created, false);
  }
});

test("calls without a key are all different", async ({ operations }) => {
  await operations.begin(newOperation());
  await operations.begin(newOperation());
  assert.equal((await operations.list({ limit: 10 })).length, 2);
});

test("a list is newest first, limited, and by state", async ({ operations }) => {
  const made: string[] = [];
  for (let count = 0; count < 5; count++) {
    const begun = newOperation();
    made.push(begun.op);
    await operations.begin(begun);
    if (count % 2 === 0) await operations.finish(begun.op, { state: "cancelled" }, LATER);
  }
  const all = (await operations.list({ limit: 3 })).map(({ op }) => op);
  assert.deepEqual(all, made.toReversed().slice(0, 3));
  const cancelled = (await operations.list({ limit: 2, state: "cancelled" })).map(({ op }) => op);
  assert.deepEqual(cancelled, [made[4], made[2]]);
  const running = (await operations.list({ limit: 1, state: "running" })).map(({ op }) => op);
  assert.deepEqual(running, [made[3]]);
  assert.deepEqual(await operations.list({ limit: 5, state: "unknown" }), []);
});

test(
  "cancelling reaches the operation from another connection, twice and too late",
  async (store, folder) => {
    const begun = newOperation();
    await store.operations.begin(begun);
    using other = await openStore(openDenoHost(), new StateFolder(folder));
    assert.equal(await store.operations.isCancelRequested(begun.op), false);
    assert.equal(await other.operations.requestCancel(begun.op), true);
    assert.equal(await other.operations.requestCancel(begun.op), true);
    assert.equal(await store.operations.isCancelRequested(begun.op), true);
    await store.operations.finish(begun.op, { state: "cancelled" }, LATER);
    assert.equal(await other.operations.requestCancel(begun.op), false);
  },
);

test("a result that is too long is cut and says so", async ({ operations }) => {
  const begun = newOperation();
  await operations.begin(begun);
  const result: JsonValue = { text: "é".repeat(200_000) };
  await operations.finish(begun.op, { state: "succeeded", result }, LATER);
  const bytes = new TextEncoder().encode(JSON.stringify(result)).length;
  const stored = (await operations.get(begun.op))?.result;
  const head = JSON.stringify(result).slice(0, Math.floor((256 * 1024 - 9) / 2) + 9);
  const kept = new TextEncoder().encode(head).length;
  assert.deepEqual(stored, { truncated: true, dropped_bytes: bytes - kept, head });
});

testOfStarts("a running operation whose process is gone reads as unknown", async (store, folder) => {
  const begun = newOperation();
  await store.operations.begin(begun);
  setOwner(folder, { owner_pid: Deno.pid, owner_started: "Thu Jan  1 00:00:00 1970" });
  const lost = await store.operations.get(begun.op);
  assert.equal(lost?.state, "unknown");
  assert.equal(lost?.error?.code, "hv.outcome_unknown");
  assert.equal((await store.operations.list({ limit: 1, state: "unknown" })).length, 1);
  assert.equal((await store.operations.list({ limit: 1, state: "running" })).length, 0);
  assert.equal(await store.operations.requestCancel(begun.op), false);
});

testOfStarts("another living process's operation reads as running", async (store, folder) => {
  const begun = newOperation();
  await store.operations.begin(begun);
  const facts = await openDenoHost().processes.describe(Deno.pid);
  assert.ok(facts !== undefined);
  setOwner(folder, { owner_pid: Deno.pid, owner_started: facts.started });
  assert.equal((await store.operations.get(begun.op))?.state, "running");
});

test(
  `without a start its number alone tells whether a process lives${
    NO_SIGHT === undefined ? "" : ` (skipped: ${NO_SIGHT})`
  }`,
  async (store, folder) => {
    const begun = newOperation();
    await store.operations.begin(begun);
    setOwner(folder, { owner_pid: Deno.pid, owner_started: null });
    assert.equal((await store.operations.get(begun.op))?.state, "running");
    setOwner(folder, { owner_pid: NO_PROCESS, owner_started: null });
    assert.equal((await store.operations.get(begun.op))?.state, "unknown");
  },
  NO_SIGHT !== undefined,
);

Deno.test("where processes cannot be looked at, nothing is said to be gone", () =>
  withTemporaryFolder(async (folder) => {
    const real = openDenoHost();
    const blind = { value: () => Promise.reject(new HvError("hv.unavailable", 'Cannot run "ps"')) };
    const processes: Host["processes"] = Object.create(real.processes, { describe: blind, isRunning: blind });
    using store = await openStore({ ...real, processes }, new StateFolder(folder));
    const begun = newOperation();
    await store.operations.begin(begun);
    setOwner(folder, { owner_pid: 999_999, owner_started: null });
    assert.equal((await store.operations.get(begun.op))?.state, "running");
  }));

test("old operations go, running ones stay", async ({ operations }, folder) => {
  const oldRunning = newOperation();
  const oldEnded = newOperation();
  for (const begun of [oldRunning, oldEnded]) await operations.begin(begun);
  await operations.finish(oldEnded.op, { state: "succeeded" }, LATER);
  const recent = newOperation();
  await operations.begin(recent);
  await operations.finish(recent.op, { state: "succeeded" }, LATER);
  change(folder, `UPDATE operations SET rowid = rowid + ${KEPT_OPERATIONS} WHERE op = '${recent.op}'`);
  await operations.begin(newOperation());
  assert.equal((await operations.get(recent.op))?.state, "succeeded");
  assert.equal((await operations.get(oldRunning.op))?.state, "running");
  assert.equal(await operations.get(oldEnded.op), undefined);
});

function setOwner(folder: string, owner: { owner_pid: number; owner_started: string | null }): void {
  const started = owner.owner_started === null ? "NULL" : `'${owner.owner_started}'`;
  change(
    folder,
    `UPDATE operations SET owner = 'x', owner_pid = ${owner.owner_pid}, owner_started = ${started}`,
  );
}

function change(folder: string, text: string): void {
  using database = new DatabaseSync(new StateFolder(folder).database);
  database.exec(text);
}
