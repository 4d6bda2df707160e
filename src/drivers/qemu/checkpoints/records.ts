/** What hvlab records of a VM's checkpoints, `vms/<id>/checkpoints.json`: names, parents, and what belongs to each. */

import * as z from "zod/mini";
import { HvError } from "../../../base/errors.ts";
import { parseJson } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import type { QemuContext } from "../context.ts";
import { MachineShape } from "./machine_shape.ts";

/** The record's name in a VM's folder. */
export const CHECKPOINTS_FILE = "checkpoints.json";
const SCHEMA_VERSION = 1;

/** Loose on purpose, like the VM's record: what a newer hvlab wrote stays. */
const CheckpointRecord = z.looseObject({
  /** Its id, which is the tag of its snapshots too. */
  id: z.string(),
  name: z.string(),
  parent: z.nullable(z.string()),
  created_at: z.string(),
  /** The block nodes whose disks belong to it. */
  disks: z.array(z.string()),
  /** The machine whose memory it holds; absent when it holds disks alone. */
  memory: z.optional(MachineShape),
  /** The version of QEMU that wrote it. */
  qemu: z.optional(z.string()),
});
export type CheckpointRecord = z.infer<typeof CheckpointRecord>;

const CheckpointBook = z.looseObject({
  schema: z.int(),
  /** The checkpoint that the VM's present state descends from. */
  current: z.nullable(z.string()),
  /** A restore that has begun and not ended. */
  restoring: z.optional(z.string()),
  /** Oldest first. */
  checkpoints: z.array(CheckpointRecord),
});
export type CheckpointBook = z.infer<typeof CheckpointBook>;

/** The book of a VM that has no checkpoints. */
const EMPTY: CheckpointBook = { schema: SCHEMA_VERSION, current: null, checkpoints: [] };

/** Reads a VM's checkpoints. Throws `hv.io` when the file is damaged. */
export async function readBook({ host, state }: QemuContext, vm: string): Promise<CheckpointBook> {
  const path = joinPath(state.vm(vm), CHECKPOINTS_FILE);
  const text = await host.files.readTextIfPresent(path);
  if (text === undefined) return EMPTY;
  try {
    return parseBook(text);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new HvError("hv.io", `The record "${path}" is damaged: ${words}`, {
      hint: "Repair the file; the VM itself can be used without it",
      context: { path, vm },
      cause: error,
    });
  }
}

/** Writes it whole or not at all. The caller holds the VM's lock. */
export async function saveBook(
  { host, state }: QemuContext,
  vm: string,
  book: CheckpointBook,
): Promise<void> {
  const path = joinPath(state.vm(vm), CHECKPOINTS_FILE);
  await host.files.writeAtomically(path, JSON.stringify(book, undefined, 2) + "\n");
}

function parseBook(text: string): CheckpointBook {
  const parsed = z.safeParse(CheckpointBook, parseJson(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${issue?.path.join(".") || "the whole"}: ${issue?.message ?? "not a record"}`);
  }
  const { schema } = parsed.data;
  if (schema !== SCHEMA_VERSION) {
    throw new Error(`it has schema ${schema}, this hvlab reads ${SCHEMA_VERSION}`);
  }
  return parsed.data;
}

/** With one more checkpoint, on which the present state then stands. */
export function withCheckpoint(book: CheckpointBook, checkpoint: CheckpointRecord): CheckpointBook {
  return { ...book, current: checkpoint.id, checkpoints: [...book.checkpoints, checkpoint] };
}

/** Without one checkpoint: what hung on it hangs on its parent. */
export function withoutCheckpoint(book: CheckpointBook, { id, parent }: CheckpointRecord): CheckpointBook {
  const { restoring, ...rest } = book;
  return {
    ...rest,
    ...(restoring === undefined || restoring === id ? {} : { restoring }),
    current: book.current === id ? parent : book.current,
    checkpoints: book.checkpoints.filter((other) => other.id !== id)
      .map((other) => other.parent === id ? { ...other, parent } : other),
  };
}

/** A checkpoint of the book. Throws `hv.not_found`. */
export function findRecord(book: CheckpointBook, vm: string, id: string): CheckpointRecord {
  const found = book.checkpoints.find((checkpoint) => checkpoint.id === id);
  if (found !== undefined) return found;
  throw new HvError("hv.not_found", `The VM has no checkpoint "${id}"`, {
    hint: `List them with: hvlab checkpoint list ${vm}`,
    context: { vm, checkpoint: id },
  });
}

/** Refuses a name that another checkpoint of the VM has: restoring by name could then mean either. */
export function refuseTakenName(book: CheckpointBook, vm: string, name: string, except?: string): void {
  const other = book.checkpoints.find((checkpoint) => checkpoint.name === name && checkpoint.id !== except);
  if (other === undefined) return;
  throw new HvError("hv.conflict", `The VM has a checkpoint "${name}" already: ${other.id}`, {
    hint: "Choose another name, or delete that checkpoint first",
    context: { vm, name, checkpoint: other.id, wanted: "free", found: "taken" },
  });
}
