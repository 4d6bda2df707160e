/** The tables of the store and their versions. */

import type { DatabaseSync } from "node:sqlite";
import { HvError } from "../base/errors.ts";
import { readNumber, Sql } from "./sql.ts";
import { DamagedDatabase } from "./sqlite_failures.ts";

/** What leads from one version to the next, the first from an empty database. Entries are only ever added. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE operations (
    op TEXT PRIMARY KEY,
    tool TEXT NOT NULL,
    target TEXT,
    door TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'succeeded', 'failed', 'cancelled', 'unknown')),
    started_at TEXT NOT NULL,
    ended_at TEXT,
    progress TEXT,
    result TEXT,
    error TEXT,
    key TEXT UNIQUE,
    digest TEXT,
    owner TEXT NOT NULL,
    owner_pid INTEGER NOT NULL,
    owner_started TEXT,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    CHECK ((state = 'running') = (ended_at IS NULL))
  ) STRICT;
  CREATE TABLE plans (
    plan_id TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    subject TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    process TEXT NOT NULL,
    process_expires_ms REAL NOT NULL,
    used_ms INTEGER
  ) STRICT;
  CREATE TABLE audit (
    line INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    op TEXT NOT NULL,
    tool TEXT NOT NULL,
    class TEXT NOT NULL,
    door TEXT NOT NULL,
    target TEXT,
    outcome TEXT NOT NULL
  ) STRICT;
  CREATE TABLE findings (
    key TEXT PRIMARY KEY,
    boot TEXT NOT NULL,
    value TEXT NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    vm TEXT NOT NULL,
    event TEXT NOT NULL,
    details TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_of_vm ON events (vm, seq);
  `,
];

/** The version that this hvlab writes, kept in the database's `user_version`. */
export const SCHEMA_VERSION = MIGRATIONS.length;

const TABLES = ["operations", "plans", "audit", "findings", "events"];

/** The version of a database; 0 for an empty one. Throws `hv.unavailable` for one that a newer hvlab wrote. */
export function readVersion(connection: DatabaseSync, path: string): number {
  const sql = new Sql(connection);
  const version = readNumber(sql.get("PRAGMA user_version"));
  if (version > SCHEMA_VERSION) {
    throw new HvError(
      "hv.unavailable",
      `Cannot use "${path}": its version is ${version}, this hvlab knows version ${SCHEMA_VERSION}`,
      {
        hint: "Update hvlab, or choose another state folder with --state",
        context: { path, wanted: SCHEMA_VERSION, found: version },
        retryable: false,
      },
    );
  }
  if (version === 0 && readNumber(sql.get("SELECT count(*) FROM sqlite_schema")) > 0) {
    throw new DamagedDatabase("it holds tables of something else");
  }
  return version;
}

/** Brings a database to the current version, in one transaction. */
export function migrate(connection: DatabaseSync, path: string): void {
  if (readVersion(connection, path) === SCHEMA_VERSION) return;
  new Sql(connection).transaction(() => {
    for (const step of MIGRATIONS.slice(readVersion(connection, path))) connection.exec(step);
    connection.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  });
}

/** Throws {@link DamagedDatabase} or SQLite's own error when pages are broken or tables are missing. */
export function checkSoundness(connection: DatabaseSync): void {
  const sql = new Sql(connection);
  const [verdict] = Object.values(sql.get("PRAGMA quick_check(1)") ?? {});
  if (verdict !== "ok") throw new DamagedDatabase(String(verdict));
  for (const table of TABLES) sql.get(`SELECT 1 FROM ${table} LIMIT 1`);
}
