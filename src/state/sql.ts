/** The few things that are done with an open SQLite connection, and rows with known shapes. */

import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import * as z from "zod/mini";
import { DamagedDatabase } from "./sqlite_failures.ts";

export type SqlRow = Record<string, SQLOutputValue>;

/** Statements on one connection. All of them throw SQLite's own errors. */
export class Sql {
  readonly #connection: DatabaseSync;

  constructor(connection: DatabaseSync) {
    this.#connection = connection;
  }

  /** The first row; `undefined` when there is none. */
  get(text: string, ...values: SQLInputValue[]): SqlRow | undefined {
    return this.#connection.prepare(text).get(...values);
  }

  all(text: string, ...values: SQLInputValue[]): SqlRow[] {
    return this.#connection.prepare(text).all(...values);
  }

  /** Runs a change and answers how many rows it touched. */
  run(text: string, ...values: SQLInputValue[]): number {
    return Number(this.#connection.prepare(text).run(...values).changes);
  }

  /** All of the work or none of it, with the right to write taken first. */
  transaction<T>(work: () => T): T {
    this.run("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.run("COMMIT");
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** SQLite has rolled back by itself after some failures, a full disk among them. */
  #rollBack(): void {
    if (!this.#connection.isTransaction) return;
    try {
      this.run("ROLLBACK");
    } catch {
      // The failure that led here says more; the next use of the connection shows whether it still works.
    }
  }
}

/** One number that a pragma or a count answers with. */
export function readNumber(row: SqlRow | undefined): number {
  const [value] = Object.values(row ?? {});
  return typeof value === "number" ? value : 0;
}

/** A row in its known shape; a row of another shape means that the database is not what we wrote. */
export function decodeRow<S extends z.core.$ZodType>(schema: S, row: SqlRow): z.core.output<S> {
  const parsed = z.safeParse(schema, row);
  if (!parsed.success) throw new DamagedDatabase(`unreadable row: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** A column of JSON text, decoded with the schema of what it holds. */
export function jsonColumn<S extends z.core.$ZodType>(
  schema: S,
): z.ZodMiniPipe<z.ZodMiniPipe<z.ZodMiniString, z.ZodMiniTransform<unknown, string>>, S> {
  return z.pipe(
    z.pipe(
      z.string(),
      z.transform((text: string, context): unknown => {
        try {
          return JSON.parse(text);
        } catch {
          context.issues.push({ code: "custom", message: "not JSON", input: text });
          return z.NEVER;
        }
      }),
    ),
    schema,
  );
}
