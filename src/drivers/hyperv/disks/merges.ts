/**
 * Merging a differencing disk into its parent. Hyper-V merges and removes the disk; only then its VM can be given the
 * parent. A record in the state folder says from before to after what is under way, so that whatever is killed in
 * between, the next changing call gives the VM its disk.
 */

import * as z from "zod/mini";
import { HvError, toHvError } from "../../../base/errors.ts";
import { parseJson, sha256Hex } from "../../../base/json.ts";
import { folderOf, joinPath } from "../../../base/paths.ts";
import type { Disk } from "../../../contract/disk.ts";
import type { Loss } from "../../../contract/plan.ts";
import type { StateFolder } from "../../../state/layout.ts";
import type { CallScope } from "../../call_scope.ts";
import { tryTakeDiskLock } from "../../disk_lock.ts";
import type { HyperV } from "../client.ts";
import { DiskFileFacts, diskOf } from "./disk_facts.ts";

const Merge = z.object({ disk: DiskFileFacts, parent: z.string(), owners: z.array(z.string()) });
const Merged = z.object({ disk: DiskFileFacts, removed: z.string() });

const SCHEMA = 1;
/** Named by the digest of the disk's path. */
const RECORD_FILE = /^[0-9a-f]{64}\.json$/;
const MergeRecord = z.object({
  schema: z.literal(SCHEMA),
  path: z.string(),
  parent: z.string(),
  /** When the parent was written last before the merge, in milliseconds since 1970. */
  parent_modified: z.nullable(z.number()),
  /** The bare ids of the VMs that have the disk. */
  owners: z.array(z.string()),
});
type MergeRecord = z.infer<typeof MergeRecord>;

/** Codes after which Hyper-V may still be merging. */
const CUT_OFF = new Set(["hv.outcome_unknown", "hv.timeout", "hv.cancelled"]);

/** What a merge would lose. Throws what stands in its way. */
export async function lossesOfMerge(
  hyperv: HyperV,
  state: StateFolder,
  path: string,
  signal: AbortSignal,
): Promise<{ parent: string; losses: Loss[] }> {
  await refuseMerged(hyperv, state, path);
  const { disk, parent } = await hyperv.ask(Merge, "merge_facts", { path }, { signal });
  return {
    parent,
    losses: [
      { what: "the differencing disk's file", path: disk.path, size_bytes: Number(disk.file_size) },
      { what: "what its parent holds now, where the disk differs", path: parent },
    ],
  };
}

/** Merges a disk of VMs that are off, or of none, and gives them the parent. */
export async function mergeDisk(
  hyperv: HyperV,
  state: StateFolder,
  path: string,
  scope: CallScope,
): Promise<{ disk: Disk; removed: string }> {
  await using lock = await tryTakeDiskLock({ host: hyperv.host, state }, path);
  if (lock === undefined) {
    throw new HvError("hv.conflict", `Another call merges "${path}"`, {
      hint: "Wait until it is done",
      context: { path, wanted: "idle", found: "busy" },
      retryable: true,
    });
  }
  const { files } = hyperv.host;
  const { parent, owners } = await hyperv.ask(Merge, "merge_facts", { path }, scope);
  const parent_modified = (await files.stat(parent))?.modified ?? null;
  const record = { schema: SCHEMA, path, parent, parent_modified, owners } as const;
  await writeRecord(hyperv, state, record);
  try {
    const { disk, removed } = await hyperv.ask(Merged, "merge_disk", { path }, scope);
    await files.remove(await recordPath(state, path));
    return { disk: diskOf(disk), removed };
  } catch (error) {
    if (!CUT_OFF.has(toHvError(error).code) && await files.stat(path) !== undefined) {
      await files.remove(await recordPath(state, path));
    }
    throw error;
  }
}

/**
 * Ends merges whose calls were killed: where Hyper-V has merged a disk, its VMs get the parent. What cannot be done now
 * is told and left to a later call.
 */
export async function completeMerges(hyperv: HyperV, state: StateFolder, scope: CallScope): Promise<void> {
  const { files } = hyperv.host;
  if (await files.stat(state.hypervMerges) === undefined) return;
  for (const { name } of await files.list(state.hypervMerges)) {
    if (!RECORD_FILE.test(name)) continue;
    try {
      const record = await readRecord(hyperv, joinPath(state.hypervMerges, name));
      if (record !== undefined) await completeMerge(hyperv, state, record, scope);
    } catch (error) {
      scope.signal.throwIfAborted();
      scope.warn?.(`A merge that was cut off is not completed: ${toHvError(error).message}`);
    }
  }
}

async function completeMerge(
  hyperv: HyperV,
  state: StateFolder,
  { path, parent, parent_modified, owners }: MergeRecord,
  scope: CallScope,
): Promise<void> {
  const { files } = hyperv.host;
  // Not merged yet; or the volume of both is away.
  const canTell = async (): Promise<boolean> =>
    await files.stat(path) === undefined && await files.stat(folderOf(parent)) !== undefined;
  if (!await canTell()) return;
  await using lock = await tryTakeDiskLock({ host: hyperv.host, state }, path);
  if (lock === undefined || !await canTell()) return;
  // A parent that is gone too, or that nobody has written to, has not got the disk's contents: somebody took it away.
  const now = await files.stat(parent);
  if (now !== undefined && (now.modified === null || now.modified !== parent_modified)) {
    await hyperv.ask(Merged, "complete_merge", { path, parent, owners }, scope);
  }
  await files.remove(await recordPath(state, path));
}

/** A disk that is merged already is named as such, and not only missing. */
async function refuseMerged(hyperv: HyperV, state: StateFolder, path: string): Promise<void> {
  const { files } = hyperv.host;
  if (await files.stat(path) !== undefined) return;
  const record = await readRecord(hyperv, await recordPath(state, path));
  if (record?.path !== path || await files.stat(record.parent) === undefined) return;
  throw new HvError("hv.not_found", `There is no disk "${path}": it was merged into "${record.parent}"`, {
    hint: "Any call that changes something, such as `hvlab vm start`, gives its VM the parent",
    context: { path, parent: record.parent },
  });
}

async function writeRecord(hyperv: HyperV, state: StateFolder, record: MergeRecord): Promise<void> {
  const { files } = hyperv.host;
  await files.makeFolder(state.hypervMerges);
  const text = JSON.stringify(record, undefined, 2) + "\n";
  await files.writeAtomically(await recordPath(state, record.path), text);
}

/** Reads a record; `undefined` when there is none. Throws `hv.io` for a damaged one. */
async function readRecord({ host }: HyperV, file: string): Promise<MergeRecord | undefined> {
  const text = await host.files.readTextIfPresent(file);
  if (text === undefined) return undefined;
  const parsed = z.safeParse(MergeRecord, readJson(text));
  if (parsed.success) return parsed.data;
  throw new HvError("hv.io", `The record "${file}" of a merge is damaged`, {
    hint: "Look which disk its VM has with `hvlab vm get`, then remove the record",
    context: { path: file },
  });
}

function readJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

async function recordPath(state: StateFolder, path: string): Promise<string> {
  return joinPath(state.hypervMerges, `${await sha256Hex(path)}.json`);
}
