/** Results as files of this host. */

import { HvError } from "../base/errors.ts";
import { UndoList } from "../base/undo.ts";
import type { Host } from "../host/host.ts";

/**
 * Writes a new file; with `overwrite` it may replace one, or what a link leads to, by one with its permission bits that is
 * made beside it. A failure leaves what was there. Throws `hv.conflict` for a path that is taken otherwise, and
 * `hv.permission` where no file can be made beside it.
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
  const target = facts === undefined ? path : await files.realPath(path);
  const place = facts === undefined ? path : `${target}.${crypto.randomUUID().slice(0, 8)}.new`;
  await using undo = new UndoList();
  {
    using writer = await files.create(place, { mode: facts?.mode ?? 0o644 });
    undo.add("file", () => files.remove(place));
    await writer.write(bytes);
  }
  if (place !== target) await files.rename(place, target);
  undo.keep();
}
