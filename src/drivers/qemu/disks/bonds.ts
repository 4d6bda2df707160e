/**
 * What differencing disks lean on, as it was when they were made. A parent that changes afterwards turns its children
 * into nonsense, which no header tells: a qcow2 file names its parent and knows nothing else of it.
 */

import * as z from "zod/mini";
import { HvError } from "../../../base/errors.ts";
import { parseJson, sha256Hex } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import type { QemuContext } from "../context.ts";
import { digestFile } from "../../copy_with_digest.ts";
import { tryTakeDiskLock } from "../../disk_lock.ts";

const SCHEMA = 1;
/** Named by the digest of the disk's path. */
const BOND_FILE = /^[0-9a-f]{64}\.json$/;

/** A file as it was. */
export const Fingerprint = z.object({
  path: z.string(),
  size_bytes: z.int(),
  /** Milliseconds since 1970; `null` where the platform does not tell. */
  modified: z.nullable(z.number()),
  sha256: z.string(),
});
export type Fingerprint = z.infer<typeof Fingerprint>;

const Bond = z.object({
  schema: z.literal(SCHEMA),
  /** The differencing disk. */
  path: z.string(),
  parent: Fingerprint,
  /** Set while the disk is being merged into its parent, which therefore is about to differ. */
  merging: z.optional(z.boolean()),
  /** Set from when the guest is held for the end of a merge until it goes on. */
  holds_guest: z.optional(z.boolean()),
});
export type Bond = z.infer<typeof Bond>;

/** The bond of a disk, which hvlab has written when it made it; `undefined` for a disk from elsewhere. */
export async function readBond(context: QemuContext, path: string): Promise<Bond | undefined> {
  const file = await bondFile(context, path);
  const text = await context.host.files.readTextIfPresent(file);
  if (text === undefined) return undefined;
  const parsed = z.safeParse(Bond, readJson(text));
  if (parsed.success && parsed.data.path === path) return parsed.data;
  throw new HvError("hv.io", `The record "${file}" of the disk "${path}" is damaged`, {
    hint: "Remove the record when you know that the disk's parent has not changed",
    context: { path: file, disk: path },
  });
}

/** Writes a disk's bond whole or not at all. The caller holds the disk's lock. */
export async function writeBond(context: QemuContext, bond: Omit<Bond, "schema">): Promise<void> {
  await context.host.files.makeFolder(context.state.disks);
  const text = JSON.stringify({ schema: SCHEMA, ...bond }, undefined, 2) + "\n";
  await context.host.files.writeAtomically(await bondFile(context, bond.path), text);
}

/** Forgets what a disk leans on; one without a bond is as it was. */
export async function removeBond(context: QemuContext, path: string): Promise<void> {
  await context.host.files.remove(await bondFile(context, path));
}

/** All bonds that can be read. Those whose disk is gone say nothing any more and are left out. */
export async function listBonds(context: QemuContext): Promise<Bond[]> {
  const bonds: Bond[] = [];
  for (const bond of (await readBonds(context)).readable) {
    if (await context.host.files.stat(bond.path) !== undefined) bonds.push(bond);
  }
  return bonds;
}

/**
 * Removes the bonds of disks that are gone: of calls that were killed, and of files that somebody removed by hand. A
 * bond is written before its disk has its name, so that one whose disk is at work stays; so does a damaged one, which
 * may be that of any disk.
 */
export async function sweepBonds(context: QemuContext): Promise<void> {
  const { files } = context.host;
  for (const { path } of (await readBonds(context)).readable) {
    if (await files.stat(path) !== undefined) continue;
    await using lock = await tryTakeDiskLock(context, path);
    if (lock !== undefined && await files.stat(path) === undefined) await removeBond(context, path);
  }
}

/** The files of bonds that cannot be read, but for a disk's own. */
export async function damagedBonds(context: QemuContext, path: string): Promise<string[]> {
  const own = await bondFile(context, path);
  return (await readBonds(context)).damaged.filter((file) => file !== own);
}

async function readBonds(
  { host: { files }, state }: QemuContext,
): Promise<{ readable: Bond[]; damaged: string[] }> {
  const readable: Bond[] = [];
  const damaged: string[] = [];
  if (await files.stat(state.disks) === undefined) return { readable, damaged };
  for (const { name } of await files.list(state.disks)) {
    const path = joinPath(state.disks, name);
    const text = await files.readTextIfPresent(path);
    // Beside bonds there are those that are being written.
    if (text === undefined || !BOND_FILE.test(name)) continue;
    const parsed = z.safeParse(Bond, readJson(text));
    if (parsed.success) readable.push(parsed.data);
    else damaged.push(path);
  }
  return { readable, damaged };
}

/** A file as it is now. Reads all of it. */
export async function takeFingerprint(
  context: QemuContext,
  path: string,
  signal: AbortSignal,
): Promise<Fingerprint> {
  const facts = await context.host.files.stat(path);
  const { size_bytes, sha256 } = await digestFile(context, path, signal);
  return { path, size_bytes, modified: facts?.modified ?? null, sha256 };
}

/**
 * How a file differs from what it was, in one sentence; `undefined` when it does not. Its contents are read when its
 * time differs, or when asked to be `thorough`.
 */
export async function changeSince(
  context: QemuContext,
  was: Fingerprint,
  signal: AbortSignal,
  { thorough = false }: { thorough?: boolean } = {},
): Promise<string | undefined> {
  const facts = await context.host.files.stat(was.path, { follow: true });
  if (facts === undefined) return "it is gone";
  if (facts.size_bytes !== was.size_bytes) {
    return `it has ${facts.size_bytes} bytes and had ${was.size_bytes}`;
  }
  if (!thorough && facts.modified !== null && facts.modified === was.modified) return undefined;
  const { sha256 } = await digestFile(context, was.path, signal);
  return sha256 === was.sha256 ? undefined : "its contents have changed";
}

async function bondFile({ state }: QemuContext, path: string): Promise<string> {
  return joinPath(state.disks, `${await sha256Hex(path)}.json`);
}

function readJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
