/** Folders of a Windows guest, as tar archives that fixed PowerShell 5.1 scripts pack and unpack there. */

import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { refuseWindowsName } from "../../base/windows_names.ts";
import type { ByteSink, GuestChannel, GuestFiles } from "../channel.ts";
import { runCollector } from "../collect.ts";
import type { FolderContent, GuestEntry, Packed } from "../folders/content.ts";
import { receiveArchive } from "../folders/receive_archive.ts";
import { passingName } from "../passing.ts";
import { refuseFailure, type WindowsFailure } from "./failures.ts";
import { powerShellCommand } from "./script.ts";
import begin from "./transfers/begin.ps1" with { type: "text" };
import packScript from "./transfers/pack.ps1" with { type: "text" };
import unpackScript from "./transfers/unpack.ps1" with { type: "text" };

/** What a session in the guest answers about files at once. */
export type FileQuestion = "look_at" | "set_time" | "check_folder" | "remove_passing";

export interface FileAnswer extends WindowsFailure {
  kind?: "missing" | "file" | "folder" | undefined;
  size_bytes?: number | undefined;
  modified_ms?: number | undefined;
}

/** Asks the guest one of the questions; the words are the path and what goes with it. */
export type AskAboutFiles = (
  question: FileQuestion,
  words: readonly string[],
  signal: AbortSignal,
) => Promise<FileAnswer>;

const Unpacked = z.object({ failure: z.optional(z.string()), message: z.optional(z.string()) });
const TIDY_LIMIT_MS = 15_000;

/** The way with files of Windows guests that are asked like this; a program packs and unpacks, so that it can be ended. */
export function windowsFiles(ask: AskAboutFiles): GuestFiles {
  return {
    accept,
    pack,
    async look(_, path, signal): Promise<GuestEntry | undefined> {
      const { kind, size_bytes, modified_ms, ...failure } = await ask("look_at", [path], signal);
      refuseFailure(failure, `look at "${path}"`, { path });
      if (kind === undefined || kind === "missing") return undefined;
      return {
        kind,
        ...(size_bytes === undefined ? {} : { size_bytes }),
        ...(modified_ms === undefined ? {} : { modified_ms }),
      };
    },
    async setTime(_, path, modified_ms, signal) {
      const answer = await ask("set_time", [path, String(Math.floor(modified_ms))], signal);
      refuseFailure(answer, `set the time of "${path}"`, { path });
    },
    async check(_, path, overwrite, signal) {
      const answer = await ask("check_folder", [path, overwrite ? "yes" : "no"], signal);
      refuseFailure(answer, `make the folder "${path}"`, { path });
    },
    async unpack(channel, path, feed, { token }, signal) {
      const passing = passingName(path, token);
      const archive = `${passing}.tar`;
      try {
        await channel.writeFile(archive, feed, { overwrite: false, token }, signal);
        await unpack(channel, { folder: path, archive, passing }, signal);
      } finally {
        const tidying = AbortSignal.timeout(TIDY_LIMIT_MS);
        await ask("remove_passing", [passing], tidying).catch(() => {});
        await ask("remove_passing", [archive], tidying).catch(() => {});
      }
    },
    passingPlaces(path, token) {
      if (path === undefined) return [];
      const folder = passingName(path, token);
      const archive = `${folder}.tar`;
      return [passingName(archive, token), archive, folder];
    },
    async remove(_, path, signal) {
      refuseFailure(await ask("remove_passing", [path], signal), `remove "${path}"`, { path });
    },
  };
}

/** Links are left out: Windows lets only few accounts make them. */
function accept({ entries, skipped, ...content }: FolderContent): FolderContent {
  const seen = new Map<string, string>();
  for (const { path, kind } of entries) {
    if (path === "." || kind === "link") continue;
    const reason = refuseWindowsName(path.slice(path.lastIndexOf("/") + 1));
    if (reason !== undefined) throw impossible(path, reason);
    const twin = seen.get(path.toLowerCase());
    if (twin !== undefined) throw impossible(path, `only the case of letters tells it from "${twin}"`);
    seen.set(path.toLowerCase(), path);
  }
  const links = entries.filter(({ kind }) => kind === "link");
  return {
    ...content,
    entries: entries.filter(({ kind }) => kind !== "link"),
    skipped: [...skipped, ...links.map(({ path }) => ({ path, reason: "it is a link" }))],
  };
}

async function pack(
  channel: GuestChannel,
  path: string,
  sink: ByteSink,
  _: { token: string },
  signal: AbortSignal,
): Promise<Packed> {
  const command = powerShellCommand([begin, packScript], { folder: path });
  const { sha256, exit_code, failed, warning } = await receiveArchive(channel, command, path, sink, signal);
  const action = `read the folder "${path}"`;
  refuseFailure({ failure: failed, message: warning }, action, { path });
  if (exit_code !== 0) {
    refuseFailure({ failure: `exit code ${exit_code}`, message: warning }, action, { path });
  }
  return { sha256, ...(warning === undefined ? {} : { warning }) };
}

async function unpack(
  channel: GuestChannel,
  wish: { folder: string; archive: string; passing: string },
  signal: AbortSignal,
): Promise<void> {
  const { folder: path } = wish;
  const action = `unpack "${path}"`;
  const command = powerShellCommand([begin, unpackScript], wish);
  const { code, stdout, stderr } = await runCollector(channel, command, "files", signal);
  if (code !== 0) refuseFailure({ failure: `exit code ${code}`, message: stderr }, action, { path });
  const answer = Unpacked.parse(JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(stdout.trim()))));
  if (answer.failure === "name") throw impossible(answer.message ?? "", "the guest refuses it");
  refuseFailure(answer, action, { path });
}

function impossible(path: string, reason: string): HvError {
  return new HvError("hv.unsupported", `A Windows guest cannot have "${path}": ${reason}`, {
    hint: "Rename it, or pack the folder into one file and copy that",
    context: { path },
  });
}
