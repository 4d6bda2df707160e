/** The record of every call that changes something. */

import { HvError } from "../base/errors.ts";
import { canonicalJson, type JsonValue, sha256Hex } from "../base/json.ts";
import type { Operation, OperationState, Progress } from "../contract/operation.ts";
import type { Host } from "../host/host.ts";
import { boundedJson } from "./bounded_json.ts";
import type { StoreReader, StoreWriter } from "./database.ts";
import { COLUMNS, type OperationRow, readOperationRow, toOperation } from "./operation_rows.ts";
import { describeOwner, type Owner, OwnerWatch } from "./owner.ts";
import type { Sql } from "./sql.ts";

/** How many operations are kept; those that still run stay beyond that. */
export const KEPT_OPERATIONS = 2000;

/** A call that is about to change something. */
export interface NewOperation {
  op: string;
  tool: string;
  target: string | null;
  /** Through which door it came: `cli`, `mcp`. */
  door: string;
  /** The caller's key, with {@link digestOfCall} of what it stands for. */
  idempotency?: { key: string; digest: string };
  /** When it began, as ISO 8601. */
  at: string;
}

/** Either a new record, or the operation that the same key began earlier. */
export type Begun = { created: true } | { created: false; operation: Operation };

/** How a call ended. A result or an error over 256 KiB is stored cut, with a mark. */
export type Outcome =
  | { state: "succeeded"; result?: JsonValue }
  | { state: "failed" | "cancelled" | "unknown"; error?: Operation["error"] };

/** Reads operations. */
export class OperationReader {
  protected readonly host: Host;
  readonly #reader: StoreReader;

  constructor(host: Host, reader: StoreReader) {
    this.host = host;
    this.#reader = reader;
  }

  /** One operation; `undefined` when there is none. Running under a process that is gone reads as `unknown`. */
  async get(op: string): Promise<Operation | undefined> {
    const row = await this.#reader.read(`read the operation "${op}"`, (sql) => findRow(sql, op));
    return row === undefined ? undefined : await toOperation(row, new OwnerWatch(this.host));
  }

  /** Operations, the newest first. */
  async list({ limit, state }: { limit: number; state?: OperationState }): Promise<Operation[]> {
    const stored = state === undefined ? "" : "WHERE state IN (?, ?)";
    // What is stored as running may read as unknown, so both are fetched for either.
    const states = state === "unknown" ? ["unknown", "running"] : [state, state];
    const cap = state === "unknown" || state === "running" ? -1 : limit;
    const rows = await this.#reader.read("list operations", (sql) =>
      sql.all(
        `SELECT ${COLUMNS} FROM operations ${stored} ORDER BY rowid DESC LIMIT ?`,
        ...states.filter((one) => one !== undefined),
        cap,
      ).map(readOperationRow));
    const watch = new OwnerWatch(this.host);
    const found: Operation[] = [];
    for (const row of rows) {
      if (found.length >= limit) break;
      const operation = await toOperation(row, watch);
      if (state === undefined || operation.state === state) found.push(operation);
    }
    return found;
  }

  /** Whether somebody asked to cancel it. Throws `hv.not_found`. */
  isCancelRequested(op: string): Promise<boolean> {
    return this.#reader.read(`read the operation "${op}"`, (sql) => rowOf(sql, op).cancel_requested === 1);
  }
}

/** Reads and writes operations. */
export class Operations extends OperationReader {
  readonly #writer: StoreWriter;
  #owner: Promise<Owner> | undefined;

  constructor(host: Host, writer: StoreWriter) {
    super(host, writer);
    this.#writer = writer;
  }

  /**
   * Records a call before it changes anything. The same idempotency key with the same call answers the operation
   * that it began, whatever has become of it; with another call it throws `hv.conflict`.
   */
  async begin({ op, tool, target, door, idempotency, at }: NewOperation): Promise<Begun> {
    const owner = await (this.#owner ??= describeOwner(this.host));
    const key = idempotency === undefined ? null : await keptKey(idempotency.key);
    const digest = idempotency?.digest ?? null;
    const earlier = await this.#writer.write(`record the operation "${op}"`, (sql) => {
      const row = key === null ? undefined : findByKey(sql, key);
      if (row !== undefined) return row;
      sql.run(
        `INSERT INTO operations (op, tool, target, door, state, started_at, key, digest, owner, owner_pid, owner_started)
         VALUES (?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?)`,
        ...[op, tool, target, door, at, key, digest, owner.token, owner.pid, owner.started],
      );
      forgetOld(sql);
      return undefined;
    });
    if (earlier === undefined) return { created: true };
    if (earlier.digest !== digest) throw keyConflict(earlier, tool);
    return { created: false, operation: await toOperation(earlier, new OwnerWatch(this.host)) };
  }

  /** The operation that the key began earlier; throws `hv.conflict` when that was another call. */
  async findByKey(
    { key, digest }: NonNullable<NewOperation["idempotency"]>,
    tool: string,
  ): Promise<Operation | undefined> {
    const kept = await keptKey(key);
    const row = await this.#writer.read("look for the idempotency key", (sql) => findByKey(sql, kept));
    if (row === undefined) return undefined;
    if (row.digest !== digest) throw keyConflict(row, tool);
    return await toOperation(row, new OwnerWatch(this.host));
  }

  /** Makes this process the owner of an operation that another one began. Throws `hv.conflict` when it has ended. */
  async takeOver(op: string): Promise<void> {
    const owner = await (this.#owner ??= describeOwner(this.host));
    const values = [owner.token, String(owner.pid), owner.started];
    await this.#change(op, "owner = ?, owner_pid = CAST(? AS INTEGER), owner_started = ?", ...values);
  }

  /** Records which object the call turned out to work on. */
  async setTarget(op: string, target: string): Promise<void> {
    await this.#change(op, "target = ?", target);
  }

  /** Records how far the call has come. */
  async progress(op: string, progress: Progress): Promise<void> {
    const { message, fraction } = progress;
    const value = { message: message.slice(0, 500), ...(fraction === undefined ? {} : { fraction }) };
    await this.#change(op, "progress = ?", JSON.stringify(value));
  }

  /** Records how the call ended. Throws `hv.conflict` when that is recorded already, `hv.not_found` for no such one. */
  async finish(op: string, outcome: Outcome, at: string): Promise<void> {
    const result = outcome.state === "succeeded" ? outcome.result : undefined;
    const error = outcome.state === "succeeded" ? undefined : outcome.error;
    await this.#change(
      op,
      "state = ?, ended_at = ?, result = ?, error = ?",
      outcome.state,
      at,
      result === undefined ? null : boundedJson(result),
      error === undefined ? null : errorText(error),
    );
  }

  /**
   * Asks whoever runs the operation to end it. Answers whether it was still running; asking twice is fine.
   * Throws `hv.not_found`.
   */
  async requestCancel(op: string): Promise<boolean> {
    const row = await this.#writer.write(`cancel the operation "${op}"`, (sql) => {
      sql.run("UPDATE operations SET cancel_requested = 1 WHERE op = ? AND state = 'running'", op);
      return rowOf(sql, op);
    });
    return (await toOperation(row, new OwnerWatch(this.host))).state === "running";
  }

  async #change(op: string, assignments: string, ...values: (string | null)[]): Promise<void> {
    await this.#writer.write(`record the operation "${op}"`, (sql) => {
      const text = `UPDATE operations SET ${assignments} WHERE op = ? AND state = 'running'`;
      if (sql.run(text, ...values, op) === 1) return;
      const { state } = rowOf(sql, op);
      throw new HvError("hv.conflict", `Cannot change the operation "${op}": it has ended as ${state}`, {
        hint: "Begin a new operation",
        context: { op, wanted: "running", found: state },
      });
    });
  }
}

/** What an idempotency key stands for: SHA-256 over the tool and its exact arguments. */
export async function digestOfCall(tool: string, args: unknown): Promise<string> {
  return await sha256Hex(canonicalJson({ tool, args }));
}

function findRow(sql: Sql, op: string): OperationRow | undefined {
  const row = sql.get(`SELECT ${COLUMNS} FROM operations WHERE op = ?`, op);
  return row === undefined ? undefined : readOperationRow(row);
}

/** Keys are kept as digests: SQLite's texts end at a NUL character here, and a key may have any length. */
function keptKey(key: string): Promise<string> {
  return sha256Hex(key);
}

function findByKey(sql: Sql, key: string): OperationRow | undefined {
  const row = sql.get(`SELECT ${COLUMNS} FROM operations WHERE key = ?`, key);
  return row === undefined ? undefined : readOperationRow(row);
}

function rowOf(sql: Sql, op: string): OperationRow {
  const row = findRow(sql, op);
  if (row !== undefined) return row;
  throw new HvError("hv.not_found", `There is no operation "${op}"`, {
    hint: "List the operations with `hvlab op list`",
    context: { op },
  });
}

function forgetOld(sql: Sql): void {
  sql.run(
    `DELETE FROM operations WHERE state <> 'running'
       AND rowid <= (SELECT max(rowid) FROM operations) - ${KEPT_OPERATIONS}`,
  );
}

function errorText(error: NonNullable<Operation["error"]>): string {
  const { context, ...rest } = error;
  const shortened = { ...rest, message: rest.message.slice(0, 10_000) };
  return JSON.stringify({
    ...shortened,
    context: JSON.parse(boundedJson(JSON.parse(JSON.stringify(context)))),
  });
}

function keyConflict(earlier: OperationRow, tool: string): HvError {
  return new HvError(
    "hv.conflict",
    `Cannot run "${tool}" under this idempotency key: "${earlier.op}" used it for "${earlier.tool}" with other arguments`,
    {
      hint: "Use a new key for every different call",
      context: { op: earlier.op, wanted: "an unused key", found: "used by another call" },
    },
  );
}
