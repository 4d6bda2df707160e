/** A chain of disks as text for a person. */

import { formatBytes } from "../../base/units.ts";
import type { DiskLayer } from "../../contract/disk.ts";

/** One line for each layer, the disk itself first, with what is wrong below. */
export function describeLayers(layers: readonly DiskLayer[]): string {
  return layers.map(({ path, format, type, size_bytes: size, file_bytes: file, problem }, depth) => {
    const facts = [
      format ?? "unknown format",
      ...(type === null ? [] : [type]),
      ...(size === null ? [] : [typeof size === "number" ? formatBytes(size) : `${size} bytes`]),
      ...(file === null ? [] : [`${formatBytes(file)} in its file`]),
    ];
    const line = `${depth}  ${path}  (${facts.join(", ")})`;
    return problem === undefined ? line : `${line}\n   ${problem}`;
  }).join("\n");
}
