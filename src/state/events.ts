/** The history of machines: what happened to them, as the keeper saw it. */

import * as z from "zod/mini";
import { type VmEvent, VmEventKind } from "../contract/vm.ts";
import type { StoreReader, StoreWriter } from "./database.ts";
import { decodeRow, jsonColumn, readNumber, type Sql, type SqlRow } from "./sql.ts";

/** How many events are kept at least. */
export const KEPT_EVENTS = 100_000;
/** Old events are removed when this many have come since the last time. */
const PRUNE_EVERY = 500;

/** An event before it has its place in the history. */
export type NewVmEvent = Omit<VmEvent, "seq">;

/** Which events are wanted. */
export interface EventQuery {
  /** Of this VM; of all when left out. */
  vm?: string;
  /** Those that came after this one; the newest ones when left out. */
  after?: number;
  limit: number;
}

const Row = z.object({
  seq: z.int(),
  at: z.string(),
  vm: z.string(),
  event: VmEventKind,
  details: jsonColumn(z.record(z.string(), z.unknown())),
});

const COLUMNS = "seq, at, vm, event, details";

/** Reads the history. */
export class EventReader {
  readonly #reader: StoreReader;

  constructor(reader: StoreReader) {
    this.#reader = reader;
  }

  /** The wanted events, oldest first: the first ones after `after`, or without it the newest ones. */
  async list({ vm, after, limit }: EventQuery): Promise<VmEvent[]> {
    const ofVm = "(?1 IS NULL OR vm = ?1)";
    const rows = await this.#select((sql) =>
      after === undefined
        ? sql.all(
          `SELECT ${COLUMNS} FROM events WHERE ${ofVm} ORDER BY seq DESC LIMIT ?2`,
          ...[vm ?? null, limit],
        ).reverse()
        : sql.all(
          `SELECT ${COLUMNS} FROM events WHERE ${ofVm} AND seq > ?2 ORDER BY seq LIMIT ?3`,
          ...[vm ?? null, after, limit],
        )
    );
    return rows.map((row) => decodeRow(Row, row));
  }

  /** The newest event of a VM, or its newest one of a kind. */
  async newest(vm: string, kind?: VmEventKind): Promise<VmEvent | undefined> {
    const [row] = await this.#select((sql) =>
      sql.all(
        `SELECT ${COLUMNS} FROM events WHERE vm = ? AND (?2 IS NULL OR event = ?2) ORDER BY seq DESC LIMIT 1`,
        ...[vm, kind ?? null],
      )
    );
    return row === undefined ? undefined : decodeRow(Row, row);
  }

  /** A database that an older hvlab wrote, and that was opened for reading only, has no history yet. */
  #select(query: (sql: Sql) => SqlRow[]): Promise<SqlRow[]> {
    return this.#reader.read("read the history", (sql) => {
      const table = sql.get("SELECT 1 FROM sqlite_schema WHERE name = 'events'");
      return table === undefined ? [] : query(sql);
    });
  }
}

/** Reads and writes the history. */
export class Events extends EventReader {
  readonly #writer: StoreWriter;

  constructor(writer: StoreWriter) {
    super(writer);
    this.#writer = writer;
  }

  /** Adds events in their order, all or none; the oldest go when there are more than {@link KEPT_EVENTS}. */
  async append(events: readonly NewVmEvent[]): Promise<void> {
    await this.#writer.write("write the history", (sql) => {
      for (const { at, vm, event, details } of events) {
        sql.run(
          "INSERT INTO events (at, vm, event, details) VALUES (?, ?, ?, ?)",
          ...[at, vm, event, JSON.stringify(details)],
        );
        const last = readNumber(sql.get("SELECT last_insert_rowid()"));
        if (last % PRUNE_EVERY === 0) sql.run("DELETE FROM events WHERE seq <= ?", last - KEPT_EVENTS);
      }
    });
  }
}
