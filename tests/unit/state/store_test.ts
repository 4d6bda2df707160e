import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { joinPath } from "../../../src/base/paths.ts";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import type { Host } from "../../../src/host/host.ts";
import { BUSY_TIMEOUT_MS } from "../../../src/state/database.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import { SCHEMA_VERSION } from "../../../src/state/schema.ts";
import { openStore, openStoreReadOnly, type Store } from "../../../src/state/store.ts";
import { failureOf } from "../../support/failures.ts";
import { HandClock } from "../../support/hand_clock.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

const AT = "2026-11-29T12:00:00.000Z";
const isRoot = Deno.uid() === 0;

async function record(store: Store, op: string): Promise<void> {
  await store.operations.begin({ op, tool: "vm_start", target: null, door: "cli", at: AT });
}

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

function inFolder(name: string, work: (state: StateFolder, host: Host) => Promise<void>): void {
  Deno.test(name, () =>
    withTemporaryFolder(async (folder) => {
      await work(
        new StateFolder(`${folder}/a,b =c%20d${Deno.build.os === "windows" ? "" : "?"}#/state`),
        openDenoHost(),
      );
    }));
}

inFolder(
  "opening makes folder and database for this user alone, and leaves only the database",
  async (state, host) => {
    const store = await openStore(host, state);
    await record(store, "op-1");
    assert.deepEqual(namesIn(state.root), ["hvlab.db", "hvlab.db-shm", "hvlab.db-wal"]);
    if (Deno.build.os !== "windows") {
      assert.equal((Deno.statSync(state.root).mode ?? 0) & 0o777, 0o700);
      for (const name of namesIn(state.root)) {
        assert.equal((Deno.statSync(`${state.root}/${name}`).mode ?? 0) & 0o777, 0o600, name);
      }
    }
    assert.deepEqual(store.warnings, []);
    store.close();
    assert.deepEqual(namesIn(state.root), ["hvlab.db"]);
    await failureOf("hv.internal", () => store.audit.tail(1));
  },
);

inFolder("the database is in WAL mode with the current version", async (state, host) => {
  using _store = await openStore(host, state);
  using database = new DatabaseSync(state.database);
  assert.deepEqual({ ...database.prepare("PRAGMA journal_mode").get() }, { journal_mode: "wal" });
  assert.deepEqual({ ...database.prepare("PRAGMA user_version").get() }, { user_version: SCHEMA_VERSION });
  assert.ok(BUSY_TIMEOUT_MS > 0);
});

inFolder("reading makes nothing and leaves nothing", async (state, host) => {
  assert.equal(await openStoreReadOnly(host, state), undefined);
  await assert.rejects(Deno.stat(state.root), Deno.errors.NotFound);
  {
    using store = await openStore(host, state);
    await record(store, "op-1");
  }
  {
    using reader = await openStoreReadOnly(host, state);
    assert.equal((await reader?.operations.get("op-1"))?.state, "running");
    assert.deepEqual(await reader?.audit.tail(3), []);
    assert.equal(await reader?.plans.get("plan-1"), undefined);
  }
  assert.deepEqual(namesIn(state.root), ["hvlab.db"]);
});

inFolder("a reader beside a writer sees what was written last, and cannot write", async (state, host) => {
  using store = await openStore(host, state);
  using reader = await openStoreReadOnly(host, state);
  assert.ok(reader !== undefined);
  await record(store, "op-1");
  assert.equal((await reader.operations.list({ limit: 5 })).length, 1);
  assert.ok(!("begin" in reader.operations) && !("append" in reader.audit) && !("save" in reader.plans));
});

inFolder("an empty file is a new database", async (state, host) => {
  await Deno.mkdir(state.root, { recursive: true });
  await Deno.writeFile(state.database, new Uint8Array());
  assert.equal(await openStoreReadOnly(host, state), undefined);
  using store = await openStore(host, state);
  await record(store, "op-1");
  assert.deepEqual(store.warnings, []);
});

inFolder(
  "a database of a newer hvlab is refused with both versions and left as it is",
  async (state, host) => {
    (await openStore(host, state)).close();
    {
      using database = new DatabaseSync(state.database);
      database.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 5}`);
    }
    for (const open of [openStore, openStoreReadOnly]) {
      const error = await failureOf("hv.unavailable", () => open(host, state));
      assert.deepEqual([error.context["wanted"], error.context["found"]], [
        SCHEMA_VERSION,
        SCHEMA_VERSION + 5,
      ]);
      assert.ok(error.message.includes(state.database));
      assert.equal(error.retryable, false);
    }
    assert.deepEqual(namesIn(state.root), ["hvlab.db"]);
  },
);

const DAMAGES: Record<string, (path: string) => void> = {
  "a text file": (path) => Deno.writeTextFileSync(path, "this is no database\n".repeat(500)),
  "only its first bytes left": (path) => Deno.truncateSync(path, 50),
  "a broken header": (path) => overwrite(path, 20, 100),
  "a broken first page": (path) => overwrite(path, 100, 1000),
  "broken later pages": (path) => overwrite(path, 4096, 100_000),
  "the second half missing": (path) => Deno.truncateSync(path, Deno.statSync(path).size / 2),
  "another program's tables": (path) => {
    Deno.removeSync(path);
    using database = new DatabaseSync(path);
    database.exec("CREATE TABLE theirs (x)");
  },
  "a missing table": (path) => {
    using database = new DatabaseSync(path);
    database.exec("DROP TABLE operations");
  },
};

for (const [name, damage] of Object.entries(DAMAGES)) {
  inFolder(`damaged by ${name}, the database is moved aside and work goes on`, async (state, host) => {
    {
      using store = await openStore(host, state);
      for (let count = 0; count < 60; count++) await record(store, `op-${count}`);
    }
    damage(state.database);
    const damaged = await Deno.readFile(state.database);
    using store = await openStore(host, state);
    await record(store, "op-new");
    const line = { at: AT, op: "op-new", tool: "t", class: "M", door: "cli", target: null, outcome: "x" };
    await store.audit.append(line);
    assert.deepEqual(await store.audit.tail(5), [line]);
    assert.equal((await store.operations.list({ limit: 100 })).length, 1);
    const aside = namesIn(state.root).filter((file) => file.includes(".damaged-"));
    assert.equal(aside.length, 1);
    assert.deepEqual(await Deno.readFile(`${state.root}/${aside[0]}`), damaged);
    assert.equal(store.warnings.length, 1);
    assert.ok(store.warnings[0]?.includes(joinPath(state.root, aside[0] ?? "")), store.warnings[0]);
  });
}

inFolder("a reader leaves a damaged database where it is and says so", async (state, host) => {
  await Deno.mkdir(state.root, { recursive: true });
  await Deno.writeTextFile(state.database, "this is no database\n".repeat(500));
  const error = await failureOf("hv.io", () => openStoreReadOnly(host, state));
  assert.equal(error.context["reason"], "damaged");
  assert.deepEqual(namesIn(state.root), ["hvlab.db"]);
});

inFolder("a folder in place of the database is hv.io with its path", async (state, host) => {
  await Deno.mkdir(state.database, { recursive: true });
  const error = await failureOf("hv.io", () => openStore(host, state));
  assert.equal(error.context["path"], state.database);
});

inFolder("a lock that stays taken ends in hv.io, one that goes is waited for", async (state, real) => {
  const clock = new HandClock();
  using store = await openStore({ ...real, clock }, state);
  using other = new DatabaseSync(state.database);
  other.exec("BEGIN IMMEDIATE");
  clock.sleep = (milliseconds) => {
    clock.advance(milliseconds * 500);
    return Promise.resolve();
  };
  const error = await failureOf("hv.io", () => record(store, "op-1"));
  assert.deepEqual([error.context["reason"], error.retryable], ["busy", true]);
  clock.sleep = () => {
    if (other.isTransaction) other.exec("ROLLBACK");
    return Promise.resolve();
  };
  await record(store, "op-1");
  assert.equal((await store.operations.list({ limit: 5 })).length, 1);
});

inFolder("a change that fails in its middle leaves nothing", async (state, host) => {
  using store = await openStore(host, state);
  {
    using database = new DatabaseSync(state.database);
    database.exec(
      "CREATE TRIGGER refuse AFTER INSERT ON operations BEGIN SELECT raise(ABORT, 'refused by a test'); END",
    );
  }
  const error = await failureOf("hv.io", () => record(store, "op-1"));
  assert.match(error.message, /refused by a test/);
  assert.deepEqual(await store.operations.list({ limit: 5 }), []);
});

Deno.test({
  name: "a folder that cannot be written is refused with its path",
  ignore: isRoot || Deno.build.os === "windows",
  fn: () =>
    withTemporaryFolder(async (folder) => {
      await Deno.chmod(folder, 0o500);
      try {
        await failureOf("hv.permission", () => openStore(openDenoHost(), new StateFolder(`${folder}/state`)));
      } finally {
        await Deno.chmod(folder, 0o700);
      }
    }),
});

/** Mounting needs root, and not every root may. */
const canMount = isRoot && Deno.build.os === "linux" && await withTemporaryFolder(async (folder) => {
  return await run("mount", "-t", "tmpfs", "tmpfs", folder) && await run("umount", folder);
});

async function withSmallDisk(size: string, work: (folder: string) => Promise<void>): Promise<void> {
  await withTemporaryFolder(async (folder) => {
    assert.ok(await run("mount", "-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder));
    try {
      await work(folder);
    } finally {
      assert.ok(await run("umount", folder));
    }
  });
}

async function run(program: string, ...args: string[]): Promise<boolean> {
  return (await new Deno.Command(program, { args, stdout: "null", stderr: "null" }).output()).success;
}

Deno.test({
  name: "on a disk that becomes read-only the store is hv.io with its path",
  ignore: !canMount,
  fn: () =>
    withSmallDisk("4m", async (folder) => {
      const [host, state] = [openDenoHost(), new StateFolder(`${folder}/state`)];
      {
        using store = await openStore(host, state);
        await record(store, "op-1");
      }
      assert.ok(await run("mount", "-o", "remount,ro", folder));
      for (const open of [openStore, openStoreReadOnly]) {
        const error = await failureOf("hv.io", () => open(host, state));
        assert.equal(error.context["path"], state.database);
        assert.match(error.hint ?? "", /access to the folder/);
      }
    }),
});

Deno.test({
  name: "on a full disk a change fails whole with hv.io, and works again when there is space",
  ignore: !canMount,
  fn: () =>
    withSmallDisk("1m", async (folder) => {
      const [host, state] = [openDenoHost(), new StateFolder(`${folder}/state`)];
      using store = await openStore(host, state);
      await record(store, "op-1");
      await Deno.writeFile(`${folder}/filler`, new Uint8Array(700 * 1024));
      const result = "x".repeat(200_000);
      const error = await failureOf("hv.io", async () => {
        for (let count = 2; count < 20; count++) {
          await record(store, `op-${count}`);
          await store.operations.finish(`op-${count}`, { state: "succeeded", result }, AT);
        }
      });
      assert.equal(error.context["reason"], "disk_full");
      assert.equal(error.context["path"], state.database);
      for (const operation of await store.operations.list({ limit: 50 })) {
        assert.equal(operation.state === "succeeded", operation.result === result);
        assert.equal(operation.state === "succeeded", operation.ended_at !== null);
      }
      await Deno.remove(`${folder}/filler`);
      await store.operations.finish("op-1", { state: "succeeded", result: "kept" }, AT);
      assert.equal((await store.operations.get("op-1"))?.result, "kept");
      assert.deepEqual(store.warnings, []);
    }),
});

function overwrite(path: string, from: number, length: number): void {
  const bytes = Deno.readFileSync(path);
  bytes.fill(0xa5, from, from + length);
  Deno.writeFileSync(path, bytes);
}
