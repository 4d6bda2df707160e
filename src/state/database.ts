/** The store's SQLite file: opened by many processes at once, replaced when it is damaged. */

import type { DatabaseSync } from "node:sqlite";
import { HvError } from "../base/errors.ts";
import { joinPath, nameOf } from "../base/paths.ts";
import type { Host } from "../host/host.ts";
import type { StateFolder } from "./layout.ts";
import { checkSoundness, migrate, readVersion } from "./schema.ts";
import { Sql } from "./sql.ts";
import { storeFailure, troubleOf } from "./sqlite_failures.ts";

/** Something that work on the store's tables can be read from. */
export interface StoreReader {
  /** `action` completes "Cannot ...", such as "list operations". */
  read<T>(action: string, work: (sql: Sql) => T): Promise<T>;
}

/** Something that the store's tables can be changed through. */
export interface StoreWriter extends StoreReader {
  /** Runs the work in one transaction: all of it happens, or none. */
  write<T>(action: string, work: (sql: Sql) => T): Promise<T>;
}

/** How long SQLite itself waits for a lock. It blocks this whole process meanwhile, so it is short. */
export const BUSY_TIMEOUT_MS = 50;
/** How long a call goes on trying altogether. */
const PATIENCE_MS = 15_000;
const LOOK_AGAIN_MS = 10;

/** An open database that can be written. */
export class Database implements StoreWriter {
  /** What the user should be told: that a damaged database was moved aside, and where. */
  readonly warnings: string[] = [];
  readonly #host: Host;
  readonly #state: StateFolder;
  readonly #path: string;
  #connection: DatabaseSync | undefined;
  #replacement: Promise<void> | undefined;
  #closed = false;

  private constructor(host: Host, state: StateFolder) {
    this.#host = host;
    this.#state = state;
    this.#path = state.database;
  }

  /** Opens the database, making the folder and the file when they are missing. Throws `hv.io` or `hv.permission`. */
  static async open(host: Host, state: StateFolder): Promise<Database> {
    await host.files.makeFolder(state.root, { mode: 0o700 });
    const database = new Database(host, state);
    await database.#ensureFile();
    await database.#attempt("open the store", () => {});
    return database;
  }

  read<T>(action: string, work: (sql: Sql) => T): Promise<T> {
    return this.#attempt(action, work);
  }

  write<T>(action: string, work: (sql: Sql) => T): Promise<T> {
    return this.#attempt(action, (sql) => sql.transaction(() => work(sql)));
  }

  close(): void {
    this.#closed = true;
    this.#disconnect();
  }

  /** Tries until it works, waits while others hold the lock, and replaces a damaged database once. */
  async #attempt<T>(action: string, work: (sql: Sql) => T): Promise<T> {
    const started = this.#host.clock.monotonic();
    let replaced = false;
    for (;;) {
      if (this.#closed) throw new HvError("hv.internal", `Cannot ${action}: the store is closed`);
      try {
        return work(new Sql(this.#connection ?? await this.#connect()));
      } catch (error) {
        if (error instanceof HvError) throw error;
        const trouble = troubleOf(error);
        const waited = this.#host.clock.monotonic() - started;
        if (trouble === "busy" && waited < PATIENCE_MS) {
          await this.#host.clock.sleep(LOOK_AGAIN_MS);
        } else if (trouble === "damaged" && !replaced) {
          replaced = true;
          await (this.#replacement ??= this.#replace(error).finally(() => this.#replacement = undefined));
        } else {
          throw storeFailure(error, action, this.#path);
        }
      }
    }
  }

  /** Connects; of two calls that do so at once the first one's connection is kept. */
  async #connect(): Promise<DatabaseSync> {
    const fresh = await connect(this.#path);
    if (this.#connection === undefined && !this.#closed) return this.#connection = fresh;
    fresh.close();
    if (this.#connection === undefined) {
      throw new HvError("hv.internal", "The store was closed during a call");
    }
    return this.#connection;
  }

  /** Moves a damaged database aside, unless another process has done so already. */
  async #replace(reason: unknown): Promise<void> {
    this.#disconnect();
    using _lock = await this.#host.locks.take(joinPath(this.#state.locks, "database.lock"));
    if (await this.#isSound()) return;
    const aside = await this.#moveAside();
    await this.#ensureFile();
    const why = reason instanceof Error ? reason.message : String(reason);
    this.warnings.push(
      `The database "${this.#path}" was damaged (${why}) and was moved to "${aside}"; a new one was started, without the operations, plans and audit lines of the old one`,
    );
  }

  async #isSound(): Promise<boolean> {
    const started = this.#host.clock.monotonic();
    for (;;) {
      try {
        using connection = await connect(this.#path);
        checkSoundness(connection);
        return true;
      } catch (error) {
        if (error instanceof HvError) throw error;
        const trouble = troubleOf(error);
        if (trouble === "damaged") return false;
        const waited = this.#host.clock.monotonic() - started;
        if (trouble !== "busy" || waited >= PATIENCE_MS) {
          throw storeFailure(error, "check the store", this.#path);
        }
        await this.#host.clock.sleep(LOOK_AGAIN_MS);
      }
    }
  }

  async #moveAside(): Promise<string> {
    const { files, clock } = this.#host;
    const stamp = new Date(clock.now()).toISOString().replace(/[-:.]/g, "");
    const suffix = crypto.randomUUID().slice(0, 4);
    const aside = joinPath(this.#state.root, `${nameOf(this.#path)}.damaged-${stamp}-${suffix}`);
    for (const part of ["", "-wal"]) {
      if (await files.stat(this.#path + part) !== undefined) {
        await files.rename(this.#path + part, aside + part);
      }
    }
    await files.remove(`${this.#path}-shm`);
    return aside;
  }

  /** Makes the file before SQLite does, so that nobody else may read it; its companions take over its mode. */
  async #ensureFile(): Promise<void> {
    if (await this.#host.files.stat(this.#path) !== undefined) return;
    try {
      (await this.#host.files.create(this.#path, { mode: 0o600 })).close();
    } catch (error) {
      if (!(error instanceof HvError && error.code === "hv.conflict")) throw error;
    }
  }

  #disconnect(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }
}

async function connect(path: string): Promise<DatabaseSync> {
  const { DatabaseSync } = await import("node:sqlite");
  const connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    readVersion(connection, path); // before the first change, which the mode of the journal is
    connection.prepare("PRAGMA journal_mode = WAL").get();
    migrate(connection, path);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}
