/** The audit trail: one line for every call that changes something. */

import { AuditLine } from "../contract/operation.ts";
import type { StoreReader, StoreWriter } from "./database.ts";
import { decodeRow, readNumber } from "./sql.ts";

/** How many lines are kept at least. */
export const KEPT_LINES = 100_000;
/** Old lines are removed when this many have come since the last time. */
const PRUNE_EVERY = 500;

/** Reads the trail. */
export class AuditReader {
  readonly #reader: StoreReader;

  constructor(reader: StoreReader) {
    this.#reader = reader;
  }

  /** The last lines, the oldest of them first. */
  tail(limit: number): Promise<AuditLine[]> {
    return this.#reader.read(
      "read the audit trail",
      (sql) =>
        sql.all(
          "SELECT at, op, tool, class, door, target, outcome FROM audit ORDER BY line DESC LIMIT ?",
          limit,
        )
          .map((row) => decodeRow(AuditLine, row)).reverse(),
    );
  }
}

/** Reads and writes the trail. */
export class Audit extends AuditReader {
  readonly #writer: StoreWriter;

  constructor(writer: StoreWriter) {
    super(writer);
    this.#writer = writer;
  }

  /** Adds a line; the oldest go when there are more than {@link KEPT_LINES}. */
  async append(line: AuditLine): Promise<void> {
    await this.#writer.write("write the audit trail", (sql) => {
      sql.run(
        "INSERT INTO audit (at, op, tool, class, door, target, outcome) VALUES (?, ?, ?, ?, ?, ?, ?)",
        ...[line.at, line.op, line.tool, line.class, line.door, line.target, line.outcome],
      );
      const last = readNumber(sql.get("SELECT last_insert_rowid()"));
      if (last % PRUNE_EVERY === 0) sql.run("DELETE FROM audit WHERE line <= ?", last - KEPT_LINES);
    });
  }
}
