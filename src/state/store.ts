/** The store of a state folder: operations, plan tokens, audit trail, findings, history; shared by many processes. */

import type { Host } from "../host/host.ts";
import { Audit, AuditReader } from "./audit.ts";
import { type BootMark, readBootMark } from "./boot_mark.ts";
import { Database } from "./database.ts";
import { EventReader, Events } from "./events.ts";
import type { Findings } from "./findings.ts";
import type { StateFolder } from "./layout.ts";
import { OperationReader, Operations } from "./operations.ts";
import { PlanReader, Plans } from "./plans.ts";
import { ReadOnlyDatabase } from "./read_only_database.ts";
import { FindingsReader, SqliteFindings } from "./sqlite_findings.ts";

/** An open store. Every call on it happens as a whole or not at all, and throws `hv.io` naming the database. */
export interface Store extends Disposable {
  readonly operations: Operations;
  readonly plans: Plans;
  readonly audit: Audit;
  readonly findings: Findings;
  readonly events: Events;
  /** What the user should be told; more may come while the store is open. */
  readonly warnings: readonly string[];
  close(): void;
}

/** An open store that is only read. */
export interface ReadOnlyStore extends Disposable {
  readonly operations: OperationReader;
  readonly plans: PlanReader;
  readonly audit: AuditReader;
  readonly findings: Pick<Findings, "get">;
  readonly events: EventReader;
  close(): void;
}

/** A read-only store of its own connection, which can be looked at as a whole. */
export interface CheckableStore extends ReadOnlyStore {
  /** Looks at every page and table. Throws `hv.io` for what is damaged. */
  check(): Promise<void>;
}

export interface StoreOptions {
  /** What tells this boot from others; by default the kernel's boot id. Asked when first needed. */
  bootMark?: BootMark;
}

/**
 * Opens the store, making folder (0700) and database (0600) when they are missing. A damaged database is moved
 * aside and told in `warnings`. Throws `hv.unavailable` for a database of a newer hvlab, `hv.io` for a full disk, a
 * read-only folder or a lock that stays taken, `hv.permission` when the system refuses access.
 */
export async function openStore(
  host: Host,
  state: StateFolder,
  { bootMark = () => readBootMark(host) }: StoreOptions = {},
): Promise<Store> {
  const database = await Database.open(host, state);
  const close = (): void => database.close();
  return {
    operations: new Operations(host, database),
    plans: new Plans(host, database),
    audit: new Audit(database),
    findings: new SqliteFindings(database, bootMark),
    events: new Events(database),
    warnings: database.warnings,
    close,
    [Symbol.dispose]: close,
  };
}

/**
 * Opens an existing store for reading; `undefined` when there is none yet. Makes nothing. Throws as
 * {@link openStore} does, and `hv.io` for a damaged database, which stays where it is.
 */
export async function openStoreReadOnly(
  host: Host,
  state: StateFolder,
  { bootMark = () => readBootMark(host) }: StoreOptions = {},
): Promise<CheckableStore | undefined> {
  const database = await ReadOnlyDatabase.open(host, state.database);
  if (database === undefined) return undefined;
  const close = (): void => database.close();
  return {
    operations: new OperationReader(host, database),
    plans: new PlanReader(database),
    audit: new AuditReader(database),
    findings: new FindingsReader(database, bootMark),
    events: new EventReader(database),
    check: () => database.check(),
    close,
    [Symbol.dispose]: close,
  };
}
