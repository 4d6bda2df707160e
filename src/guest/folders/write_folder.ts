/** A folder of this host from a tar archive that a guest sends. Whatever the archive says, nothing is written outside of the folder. */

import { HvError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths.ts";
import { refuseWindowsName } from "../../base/windows_names.ts";
import type { ReadEntry, TarTaker } from "../../base/tar_reader.ts";
import type { Host } from "../../host/host.ts";
import type { FileWriter } from "../../host/files.ts";
import type { SkippedEntry } from "./content.ts";

const OWN_FOLDER = 0o700;
/** Of the bits of a file only those that say who may do what. */
const PERMISSIONS = 0o777;
const SKIPPED_TOLD = 100;

/** Writes entries below a folder that it makes. */
export class FolderWriter implements TarTaker {
  files = 0;
  folders = 0;
  size_bytes = 0;
  skipped_count = 0;
  readonly skipped: SkippedEntry[] = [];
  readonly #host: Host;
  readonly #root: string;
  /** What has been written, by its path in the archive. */
  readonly #written = new Map<string, "file" | "folder">([[".", "folder"]]);
  /** Folders get their times and permissions last: writing into them changes the one and may need the other. */
  readonly #foldersLater: { path: string; mode: number; modified_s: number }[] = [];
  #file: { writer: FileWriter; path: string; mode: number; modified_s: number } | undefined;

  constructor(host: Host, root: string) {
    this.#host = host;
    this.#root = root;
  }

  async begin(entry: ReadEntry): Promise<void> {
    const path = this.#place(entry);
    if (path === undefined) return;
    switch (entry.kind) {
      case "folder":
        await this.#makeFolder(path);
        this.#foldersLater.push({ path, mode: entry.mode, modified_s: entry.modified_s });
        return;
      case "file": {
        await this.#makeRoom(path);
        const writer = await this.#host.files.create(joinPath(this.#root, path));
        this.#file = { writer, path, mode: entry.mode, modified_s: entry.modified_s };
        return;
      }
      case "hard_link": {
        const target = normalized(entry.target);
        if (target === undefined || this.#written.get(target) !== "file") throw hostile(entry, "its target");
        await this.#makeRoom(path);
        await this.#host.files.copy(joinPath(this.#root, target), joinPath(this.#root, path));
        await this.#finishFile(path, entry.mode, entry.modified_s);
        return;
      }
      default:
        this.#skip(entry.path, entry.kind === "link" ? "it is a link" : "it is neither a file nor a folder");
    }
  }

  async content(bytes: Uint8Array): Promise<void> {
    this.size_bytes += this.#file === undefined ? 0 : bytes.length;
    await this.#file?.writer.write(bytes);
  }

  async end(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    file.writer.close();
    await this.#finishFile(file.path, file.mode, file.modified_s);
  }

  /** Gives the folders their times and permissions. */
  async finish(): Promise<void> {
    for (const { path, mode, modified_s } of this.#foldersLater.reverse()) {
      await this.#host.files.setFacts(joinPath(this.#root, path), {
        mode: mode & PERMISSIONS,
        modified: modified_s * 1000,
      });
    }
  }

  /** Lets go of a file that was being written. */
  close(): void {
    this.#file?.writer.close();
  }

  /** The path below the root; `undefined` for an entry that is left out. Throws for one that leads elsewhere. */
  #place(entry: ReadEntry): string | undefined {
    if (!entry.readable) {
      this.#skip(entry.path, "its name is not UTF-8");
      return undefined;
    }
    const path = normalized(entry.path);
    if (path === undefined) throw hostile(entry, "its path");
    if (this.#host.os === "windows" && path !== ".") {
      const reason = path.split("/").map(refuseWindowsName).find((one) => one !== undefined);
      if (reason !== undefined) throw hostile(entry, `its path, since ${reason}`);
    }
    if (this.#written.get(path) === "file") throw hostile(entry, "its path, which is taken");
    return path;
  }

  async #makeRoom(path: string): Promise<void> {
    if (this.#written.has(path)) throw hostile({ path }, "its path, which is taken");
    const parent = path.split("/").slice(0, -1).join("/");
    if (parent !== "") await this.#makeFolder(parent);
    this.#written.set(path, "file");
  }

  /** A folder whose own entry never comes is made as it is needed. No part of its path may be a file. */
  async #makeFolder(path: string): Promise<void> {
    if (this.#written.get(path) === "folder") return;
    const parts = path.split("/");
    for (let count = 1; count <= parts.length; count++) {
      const one = parts.slice(0, count).join("/");
      if (this.#written.get(one) === "file") throw hostile({ path }, "its path, which is taken");
      if (this.#written.has(one)) continue;
      await this.#host.files.makeFolder(joinPath(this.#root, one), { mode: OWN_FOLDER });
      this.#written.set(one, "folder");
      this.folders++;
    }
  }

  async #finishFile(path: string, mode: number, modified_s: number): Promise<void> {
    this.files++;
    await this.#host.files.setFacts(joinPath(this.#root, path), {
      mode: mode & PERMISSIONS,
      modified: modified_s * 1000,
    });
  }

  #skip(path: string, reason: string): void {
    this.skipped_count++;
    if (this.skipped.length < SKIPPED_TOLD) this.skipped.push({ path, reason });
  }
}

/** A relative path without `.` and empty parts, `.` for the root; `undefined` for one that leads out of it. */
export function normalized(path: string): string | undefined {
  if (path.startsWith("/") || path.includes("\0")) return undefined;
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) return undefined;
  return parts.length === 0 ? "." : parts.join("/");
}

function hostile({ path }: { path: string }, what: string): HvError {
  return new HvError(
    "hv.policy_denied",
    `The guest sent "${path}": ${what} may not be written on this host`,
    {
      hint:
        "What the guest's tar sends is not what a folder holds: look into the guest before copying from it",
      context: { path },
    },
  );
}
