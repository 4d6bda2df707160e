/**
 * The keeper's marks in its state folder: the lock that it holds while it lives, and the note that somebody wants one. A
 * note without a held lock is what a keeper leaves behind that was killed.
 */

import * as z from "zod/mini";
import { parseJson } from "../base/json.ts";
import type { Host } from "../host/host.ts";
import type { Lock } from "../host/locks.ts";
import type { StateFolder } from "./layout.ts";

/** What a keeper writes down about itself. */
const KeeperFacts = z.object({
  pid: z.int(),
  since: z.string(),
  version: z.string(),
});
export type KeeperFacts = z.infer<typeof KeeperFacts>;

/** What was seen of a state folder's keeper. */
export interface KeeperSeen {
  alive: boolean;
  /** Whether somebody wants one; true beside `alive: false` means that it was killed or has not begun yet. */
  wanted: boolean;
  /** What the keeper, or the last one, said about itself. */
  facts?: KeeperFacts;
}

/** Looks; makes no file. */
export async function seeKeeper({ files, locks }: Host, state: StateFolder): Promise<KeeperSeen> {
  const wanted = await files.stat(state.keeperWish) !== undefined;
  if (await files.stat(state.keeperLock) === undefined) return { alive: false, wanted };
  using lock = await locks.tryTake(state.keeperLock, { onlyLooks: true });
  const facts = readFacts(await files.readTextIfPresent(state.keeperFacts));
  return { alive: lock === undefined, wanted, ...(facts === undefined ? {} : { facts }) };
}

/** Notes that a keeper is wanted, and tells one that lives to look again: each note differs from the one before. */
export async function wantKeeper({ files, clock, machine }: Host, state: StateFolder): Promise<void> {
  await files.makeFolder(state.keeper, { mode: 0o700 });
  const note = `${
    new Date(clock.now()).toISOString()
  } process ${machine.processId()} ${crypto.randomUUID()}\n`;
  await write(files, state.keeperWish, note);
}

/** The note; `undefined` when no keeper is wanted. */
export async function readKeeperWish({ files }: Host, state: StateFolder): Promise<string | undefined> {
  return await files.readTextIfPresent(state.keeperWish);
}

/** Takes back the note. */
export async function forgetKeeperWish({ files }: Host, state: StateFolder): Promise<void> {
  await files.remove(state.keeperWish);
}

/** Becomes the keeper, unless another process is; callers who look at the lock hold it for a moment. */
export async function becomeKeeper(
  host: Host,
  state: StateFolder,
  facts: KeeperFacts,
): Promise<Lock | undefined> {
  const lock = await tryLongEnough(host, state.keeperLock);
  if (lock === undefined) return undefined;
  try {
    await write(host.files, state.keeperFacts, JSON.stringify(facts) + "\n");
  } catch {
    // On a full disk nothing says who holds the lock, and it still holds.
  }
  return lock;
}

const PATIENCE_MS = 300;
const LOOK_AGAIN_MS = 10;

async function tryLongEnough({ locks, clock }: Host, path: string): Promise<Lock | undefined> {
  const end = clock.monotonic() + PATIENCE_MS;
  for (;;) {
    const lock = await locks.tryTake(path, { folderMustExist: true });
    if (lock !== undefined || clock.monotonic() >= end) return lock;
    await clock.sleep(LOOK_AGAIN_MS);
  }
}

async function write(files: Host["files"], path: string, text: string): Promise<void> {
  using writer = await files.create(path, { overwrite: true });
  await writer.write(new TextEncoder().encode(text));
}

function readFacts(text: string | undefined): KeeperFacts | undefined {
  if (text === undefined) return undefined;
  try {
    return KeeperFacts.parse(parseJson(text));
  } catch {
    return undefined;
  }
}
