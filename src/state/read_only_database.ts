/** The store's SQLite file for calls that only read: nothing is made, nothing is left behind. */

import type { DatabaseSync } from "node:sqlite";
import type { Host } from "../host/host.ts";
import { BUSY_TIMEOUT_MS, type StoreReader } from "./database.ts";
import { checkSoundness, readVersion } from "./schema.ts";
import { Sql } from "./sql.ts";
import { storeFailure, troubleOf } from "./sqlite_failures.ts";

const TRIES = 20;
const LOOK_AGAIN_MS = 25;

/** An open database that is only read. */
export class ReadOnlyDatabase implements StoreReader {
  readonly #host: Host;
  readonly #path: string;
  readonly #connection: DatabaseSync;

  private constructor(host: Host, path: string, connection: DatabaseSync) {
    this.#host = host;
    this.#path = path;
    this.#connection = connection;
  }

  /** Opens an existing database; `undefined` when there is none or it is still empty. Throws `hv.io`. */
  static async open(host: Host, path: string): Promise<ReadOnlyDatabase | undefined> {
    const facts = await host.files.stat(path, { follow: true });
    if (facts === undefined) return undefined;
    const action = "read the store";
    try {
      const connection = await connect(host, path);
      const database = new ReadOnlyDatabase(host, path, connection);
      try {
        if (await database.read(action, () => readVersion(connection, path)) > 0) return database;
      } catch (error) {
        database.close();
        throw error;
      }
      database.close();
      return undefined;
    } catch (error) {
      throw storeFailure(error, action, path);
    }
  }

  async read<T>(action: string, work: (sql: Sql) => T): Promise<T> {
    for (let tries = 1;; tries++) {
      try {
        return work(new Sql(this.#connection));
      } catch (error) {
        if (troubleOf(error) !== "busy" || tries >= TRIES) throw storeFailure(error, action, this.#path);
        await this.#host.clock.sleep(LOOK_AGAIN_MS);
      }
    }
  }

  /** Looks at every page and table. Throws `hv.io` for what is damaged. */
  async check(): Promise<void> {
    await this.read("check the store", () => checkSoundness(this.#connection));
  }

  close(): void {
    this.#connection.close();
  }
}

/**
 * A read-only connection to a database in WAL mode makes the two companion files when they are missing and leaves
 * them behind (measured on Deno 2.9.6). A writable one that refuses changes takes them away again when it closes, so
 * that one serves where no other process has the database open.
 */
async function connect(host: Host, path: string): Promise<DatabaseSync> {
  const { DatabaseSync } = await import("node:sqlite");
  const options = { timeout: BUSY_TIMEOUT_MS };
  if (await host.files.stat(`${path}-wal`) === undefined) {
    try {
      const connection = new DatabaseSync(path, options);
      connection.exec("PRAGMA query_only = 1");
      return connection;
    } catch (error) {
      if (!["read_only", "unopened", "refused"].includes(troubleOf(error))) throw error;
    }
  }
  return new DatabaseSync(path, { ...options, readOnly: true });
}
