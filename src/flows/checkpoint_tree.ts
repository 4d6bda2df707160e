/** Checkpoints as a tree for people. */

import { formatBytes } from "../base/units.ts";
import { visibleText } from "../base/visible_text.ts";
import type { Checkpoint } from "../contract/checkpoint.ts";

/** One line for each, children under their parents; `*` marks the one that the present state descends from. */
export function renderTree(checkpoints: readonly Checkpoint[]): string {
  if (checkpoints.length === 0) return "No checkpoints";
  const known = new Set(checkpoints.map(({ id }) => id));
  const roots = checkpoints.filter(({ parent }) => parent === null || !known.has(parent));
  return roots.flatMap((root) => branch(root, checkpoints, "")).join("\n");
}

function branch(checkpoint: Checkpoint, all: readonly Checkpoint[], indent: string): string[] {
  const children = all.filter(({ parent }) => parent === checkpoint.id);
  return [
    `${indent}${line(checkpoint)}`,
    ...children.flatMap((child) => branch(child, all, `${indent}  `)),
  ];
}

function line({ id, name, created_at, memory_state, current, size_bytes }: Checkpoint): string {
  const kind = memory_state ? "with memory" : "disks only";
  const size = size_bytes === null ? "" : `, ${formatBytes(size_bytes)}`;
  return `${current ? "*" : "-"} ${visibleText(name)}  ${created_at}  ${kind}${size}  ${id}`;
}
