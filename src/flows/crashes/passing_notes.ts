/**
 * What a call has under passing names, in the guest and on this host. A note beside the guest's other files says so before
 * anything is there, under a kernel lock that ends with the call. A call that is killed, or whose guest went away, leaves
 * the note; the next call that changes something in that guest finds it free and takes away what it names.
 */

import { HvError } from "../../base/errors.ts";
import { isPlainObject, parseJson } from "../../base/json.ts";
import { joinPath, resolvePath } from "../../base/paths.ts";
import type { Vm } from "../../contract/vm.ts";
import type { Driver } from "../../drivers/driver.ts";
import type { GuestChannel } from "../../guest/channel.ts";
import { guestFilesFor } from "../../guest/folders/guest_files.ts";
import { isPassing, passingToken } from "../../guest/passing.ts";
import { isUnreachable } from "../../guest/unreachable.ts";
import type { Host } from "../../host/host.ts";

/** Where something will have a passing name, by its token. */
export interface PassingPlaces {
  guest?: (token: string) => readonly string[];
  host?: (token: string) => readonly string[];
}

interface PassingNote {
  guest: readonly string[];
  host: readonly string[];
}

export interface PassingScope {
  host: Host;
  driver: Driver;
  vm: Vm;
}

const FOLDER = "passing";
/** For one answer; the first of a session with Windows takes seconds. A slower guest has its call wait no longer for this. */
const ANSWER_LIMIT_MS = 20_000;

/** Failures after which nothing with a passing name is there: nothing was begun, or the guest answered to the end. */
const DEFINITE: ReadonlySet<string> = new Set([
  ...["hv.usage", "hv.not_found", "hv.conflict", "hv.policy_denied", "hv.unsupported"],
  ...["hv.guest_auth", "hv.guest_denied", "hv.guest_identity", "hv.job_failed"],
]);

/** Failures of tidying up that are those of the work as well. An unknown outcome is not: the work has not begun. */
const HOPELESS: ReadonlySet<string> = new Set(["hv.guest_not_ready", "hv.guest_crashed"]);

/**
 * Does `work` with a token for passing names in these places, which are noted meanwhile, unless nobody could come back to
 * them; it calls `keepNote` when something stays there, however it ends. Throws `hv.not_found`, with nothing begun, when
 * the VM has been removed.
 */
export async function withPassingNames<T>(
  scope: PassingScope | undefined,
  { guest = () => [], host: here = () => [] }: PassingPlaces,
  work: (token: string, keepNote: () => void) => Promise<T>,
): Promise<T> {
  const token = passingToken();
  const folder = scope?.driver.guestFolder?.(scope.vm.id);
  if (scope === undefined || folder === undefined) return await work(token, () => {});
  const { host } = scope;
  const notes = joinPath(folder.path, FOLDER);
  await folder.make();
  await host.files.makeFolder(notes, { parents: false });
  const path = joinPath(notes, token);
  // Who tidies up may look at it before it is locked, and takes it away.
  using lock = await host.locks.take(path, undefined, { folderMustExist: true });
  const working = await host.files.realPath(".");
  const note: PassingNote = {
    guest: guest(token),
    host: here(token).map((place) => resolvePath(working, place)),
  };
  lock.writeText(JSON.stringify(note));
  let isOver = true;
  try {
    return await work(token, () => isOver = false);
  } catch (error) {
    isOver &&= error instanceof HvError && DEFINITE.has(error.code);
    throw error;
  } finally {
    if (isOver) await host.files.remove(path);
  }
}

/**
 * Takes away what calls left that have ended. What cannot be taken away now stays noted, and is told in one sentence.
 * Rejects when `signal` aborts, with its reason, and when the guest is not ready or has crashed: any work in it would
 * fail so as well, after as long a wait.
 */
export async function tidyPassing(
  scope: PassingScope,
  channel: GuestChannel,
  signal: AbortSignal,
): Promise<string | undefined> {
  const folder = scope.driver.guestFolder?.(scope.vm.id);
  if (folder === undefined) return undefined;
  try {
    await followNotes(scope, channel, joinPath(folder.path, FOLDER), signal);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof HvError || error instanceof DOMException)) throw error;
    if (error instanceof HvError && HOPELESS.has(error.code)) throw error;
    const why = error instanceof HvError ? error.message : "the guest did not answer in time";
    return `What an earlier call left in "${scope.vm.name}" is not removed yet: ${why}`;
  }
}

/** Goes on when a note cannot be followed, unless the guest does not answer, and throws the first failure in the end. */
async function followNotes(
  scope: PassingScope,
  channel: GuestChannel,
  notes: string,
  signal: AbortSignal,
): Promise<void> {
  const { host } = scope;
  if (await host.files.stat(notes) === undefined) return;
  const failures: HvError[] = [];
  for (const { name } of await host.files.list(notes)) {
    const path = joinPath(notes, name);
    using lock = await host.locks.tryTake(path, { folderMustExist: true });
    if (lock === undefined) continue;
    const note = readNote(lock.readText());
    try {
      if (note !== undefined) await takeAway(scope, channel, note, signal);
      await host.files.remove(path);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof HvError) || isUnreachable(error)) throw error;
      failures.push(error);
    }
  }
  const [first] = failures;
  if (first !== undefined) throw first;
}

async function takeAway(
  { host, driver, vm }: PassingScope,
  channel: GuestChannel,
  note: PassingNote,
  outer: AbortSignal,
): Promise<void> {
  for (const path of note.host) await host.files.remove(path);
  const limited = (): AbortSignal => AbortSignal.any([outer, AbortSignal.timeout(ANSWER_LIMIT_MS)]);
  const { remove } = await guestFilesFor(channel);
  for (const path of note.guest) await remove(channel, path, limited());
  await driver.disks?.takeBack?.(vm.id, { signal: limited(), progress: () => {} });
}

/** `undefined` for a note of a call that was killed before it had anything; paths that are not ours are passed over. */
function readNote(text: string): PassingNote | undefined {
  try {
    const value = parseJson(text);
    if (!isPlainObject(value)) return undefined;
    return { guest: passingIn(value.guest), host: passingIn(value.host) };
  } catch {
    return undefined;
  }
}

function passingIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((path) => typeof path === "string" && isPassing(path)) : [];
}
