/** Plan tokens in the store: made by one call, used once by another, perhaps in another process. */

import * as z from "zod/mini";
import { HvError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Host } from "../host/host.ts";
import type { StoreReader, StoreWriter } from "./database.ts";
import { PROCESS_TOKEN } from "./owner.ts";
import { decodeRow, jsonColumn, type Sql } from "./sql.ts";

/** What a plan token stands for. */
export interface SavedPlan {
  plan_id: string;
  digest: string;
  /** What the digest was taken over, so that a refusal can say what differs. */
  subject: JsonObject;
  /** ISO 8601. */
  expires_at: string;
}

/**
 * What a token was worth when it was used: `valid` once, then `used`; `expired` by the wall clock or, within the
 * process that made it, by the monotonic one; `clock_moved` when the wall clock stands before the token's making.
 */
export type PlanUse =
  | { status: "valid" | "used" | "expired" | "clock_moved"; plan: SavedPlan }
  | { status: "missing" };

/** Clocks are adjusted in small steps all the time; less than this is no sign of a clock set back. */
const CLOCK_STEP_MS = 1000;
/** How long a token is remembered after its time, so that it reads as expired or used, not as unknown. */
const REMEMBERED_MS = 24 * 3600 * 1000;
const KEPT_PLANS = 5000;

const Row = z.object({
  plan_id: z.string(),
  digest: z.string(),
  subject: jsonColumn(z.record(z.string(), z.json())),
  expires_at: z.string(),
  created_ms: z.number(),
  expires_ms: z.number(),
  process: z.string(),
  process_expires_ms: z.number(),
  used_ms: z.nullable(z.number()),
});
type Row = z.infer<typeof Row>;

/** Reads plans. */
export class PlanReader {
  readonly #reader: StoreReader;

  constructor(reader: StoreReader) {
    this.#reader = reader;
  }

  /** What a token stands for, whether it can still be used or not; using it is {@link Plans.consume}. */
  get(planId: string): Promise<SavedPlan | undefined> {
    return this.#reader.read("read the plan", (sql) => {
      const row = findRow(sql, planId);
      return row === undefined ? undefined : planOf(row);
    });
  }
}

/** Makes and uses plans. */
export class Plans extends PlanReader {
  readonly #host: Host;
  readonly #writer: StoreWriter;

  constructor(host: Host, writer: StoreWriter) {
    super(writer);
    this.#host = host;
    this.#writer = writer;
  }

  /** Keeps a new token. */
  async save({ plan_id, digest, subject, expires_at }: SavedPlan): Promise<void> {
    const now = this.#host.clock.now();
    const expires = Date.parse(expires_at);
    if (Number.isNaN(expires)) {
      throw new HvError("hv.internal", `The plan's expires_at "${expires_at}" is not a time`);
    }
    const processExpires = this.#host.clock.monotonic() + (expires - now);
    await this.#writer.write("save the plan", (sql) => {
      sql.run(
        `INSERT INTO plans (plan_id, digest, subject, expires_at, created_ms, expires_ms, process, process_expires_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[plan_id, digest, JSON.stringify(subject), expires_at],
        ...[Math.floor(now), expires, PROCESS_TOKEN, processExpires],
      );
      sql.run("DELETE FROM plans WHERE expires_ms < ?", Math.floor(now) - REMEMBERED_MS);
      sql.run(`DELETE FROM plans WHERE rowid <= (SELECT max(rowid) FROM plans) - ${KEPT_PLANS}`);
    });
  }

  /** Uses a token up and tells what it was worth. Of all callers in all processes one alone gets `valid`. */
  async consume(planId: string): Promise<PlanUse> {
    return await this.#writer.write("use the plan", (sql): PlanUse => {
      const row = findRow(sql, planId);
      if (row === undefined) return { status: "missing" };
      const plan = planOf(row);
      if (row.used_ms !== null) return { status: "used", plan };
      const now = Math.floor(this.#host.clock.now());
      sql.run("UPDATE plans SET used_ms = ? WHERE plan_id = ?", now, planId);
      return { status: this.#worth(row, now), plan };
    });
  }

  #worth(row: Row, now: number): "valid" | "expired" | "clock_moved" {
    if (now >= row.expires_ms) return "expired";
    if (row.created_ms > now + CLOCK_STEP_MS) return "clock_moved";
    const ours = row.process === PROCESS_TOKEN;
    return ours && this.#host.clock.monotonic() >= row.process_expires_ms ? "expired" : "valid";
  }
}

function findRow(sql: Sql, planId: string): Row | undefined {
  const row = sql.get("SELECT * FROM plans WHERE plan_id = ?", planId);
  return row === undefined ? undefined : decodeRow(Row, row);
}

function planOf({ plan_id, digest, subject, expires_at }: Row): SavedPlan {
  return { plan_id, digest, subject, expires_at };
}
