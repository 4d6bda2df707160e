/** Running a script in a guest: as a file that is gone afterwards, never as text that a shell reads a second time. */

import { joinPath } from "../../base/paths.ts";
import type { ExecResult } from "../../contract/guest.ts";
import type { GuestChannel, GuestCommand } from "../../guest/channel.ts";
import { guessInterpreter, type Interpreter, scriptForm } from "../../guest/shells.ts";
import { passingName } from "../../guest/passing.ts";
import { isUnreachable } from "../../guest/unreachable.ts";
import { withPassingNames } from "../crashes/passing_notes.ts";
import { runInGuest, type RunOptions } from "./run_in_guest.ts";

/** A script and how it is to run. */
export interface GuestScript extends Omit<GuestCommand, "argv"> {
  /** Its bytes as they are on this host. */
  bytes: Uint8Array;
  /** The file that it came from, whose ending may name the interpreter. */
  path?: string | undefined;
  interpreter?: Interpreter | undefined;
  args: readonly string[];
}

const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);
/** Only who runs it may read it; another user must be able to. */
const OWN_MODE = 0o600;
const OTHERS_MODE = 0o644;
const REMOVE_LIMIT_MS = 15_000;

/** Runs a script to its end and removes its file, whatever happened. The exit code is the script's own. */
export async function runScriptInGuest(
  channel: GuestChannel,
  { bytes, path, interpreter, args, ...how }: GuestScript,
  options: RunOptions,
): Promise<ExecResult> {
  const text = new TextDecoder().decode(bytes.subarray(0, 1024));
  const form = scriptForm(interpreter ?? guessInterpreter(path, text, channel.family), channel.family);
  const folder = await channel.temporaryFolder(options.signal);
  const place = (token: string): string => passingName(joinPath(folder, "script"), token) + form.ending;
  const parts = [form.byteOrderMark && !hasMark(bytes) ? BYTE_ORDER_MARK : undefined, bytes];
  const feed = (): Promise<Uint8Array | null> => {
    let part: Uint8Array | undefined;
    while (part === undefined && parts.length > 0) part = parts.shift();
    return Promise.resolve(part ?? null);
  };
  const mode = how.run_as === undefined ? OWN_MODE : OTHERS_MODE;
  const guest = (token: string): string[] => [passingName(place(token), token), place(token)];
  return await withPassingNames(options.passing, { guest }, async (token, keepNote) => {
    const file = place(token);
    await channel.writeFile(file, feed, { overwrite: false, mode, token }, options.signal);
    let isOver = false;
    try {
      return await runInGuest(channel, { ...how, argv: [...form.argv(file), ...args] }, options);
    } catch (error) {
      isOver = isUnreachable(error);
      throw error;
    } finally {
      if (!isOver) await channel.removeFile(file, AbortSignal.timeout(REMOVE_LIMIT_MS)).catch(keepNote);
    }
  });
}

function hasMark(bytes: Uint8Array): boolean {
  return BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte);
}
