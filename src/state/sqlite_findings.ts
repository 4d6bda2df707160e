/** Findings about this host, kept in the store until the host boots again. */

import { type JsonValue, parseJson } from "../base/json.ts";
import type { BootMark } from "./boot_mark.ts";
import type { StoreReader, StoreWriter } from "./database.ts";
import type { Findings } from "./findings.ts";

/** Reads findings. */
export class FindingsReader implements Pick<Findings, "get"> {
  readonly #reader: StoreReader;
  readonly #readMark: BootMark;
  #mark: Promise<string | undefined> | undefined;

  constructor(reader: StoreReader, readMark: BootMark) {
    this.#reader = reader;
    this.#readMark = readMark;
  }

  /** The finding under a key, when it was made since this host booted. */
  async get(key: string): Promise<JsonValue | undefined> {
    const mark = await this.bootMark();
    if (mark === undefined) return undefined;
    const row = await this.#reader.read(
      `read the finding "${key}"`,
      (sql) => sql.get("SELECT value FROM findings WHERE key = ? AND boot = ?", key, mark),
    );
    return typeof row?.["value"] === "string" ? parseFinding(row["value"]) : undefined;
  }

  protected bootMark(): Promise<string | undefined> {
    return this.#mark ??= this.#readMark();
  }
}

/** Reads and keeps findings. On a host without a boot mark nothing is kept, since nothing tells when it goes stale. */
export class SqliteFindings extends FindingsReader implements Findings {
  readonly #writer: StoreWriter;

  constructor(writer: StoreWriter, readMark: BootMark) {
    super(writer, readMark);
    this.#writer = writer;
  }

  async put(key: string, value: JsonValue): Promise<void> {
    const mark = await this.bootMark();
    if (mark === undefined) return;
    await this.#writer.write(`keep the finding "${key}"`, (sql) => {
      sql.run("DELETE FROM findings WHERE boot <> ?", mark);
      sql.run(
        "INSERT OR REPLACE INTO findings (key, boot, value) VALUES (?, ?, ?)",
        ...[key, mark, JSON.stringify(value)],
      );
    });
  }
}

/** A finding that a damaged page has spoilt is as good as none: it is found out again. */
function parseFinding(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
