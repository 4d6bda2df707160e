/** Results as files of this host. */

import { HvError } from "../base/errors.ts";
import { UndoList } from "../base/undo.ts";
import type { Host } from "../host/host.ts";

/**
 * Writes a new file; with `overwrite` it may replace one. A failure leaves none. Throws `hv.conflict` for a path that is
 * taken otherwise.
 */
export async function writeNewFile(
  { files }: Pick<Host, "files">,
  path: string,
  bytes: Uint8Array,
  overwrite: boolean,
): Promise<void> {
  const facts = await files.stat(path, { follow: true });
  if (facts !== undefined && (facts.kind !== "file" || !overwrite)) {
    throw new HvError("hv.conflict", `Cannot write "${path}": it exists already (a ${facts.kind})`, {
      hint: facts.kind === "file" ? "Name another file, or give --overwrite" : "Name a file in it",
      context: { path, wanted: "absent", found: facts.kind },
    });
  }
  await using undo = new UndoList();
  using writer = await files.create(path, { overwrite, mode: 0o644 });
  undo.add("file", () => files.remove(path));
  await writer.write(bytes);
  undo.keep();
}
