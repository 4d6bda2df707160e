/** The name that a file has while it is being made. */

import { HvError } from "../../../base/errors.ts";
import { folderOf, joinPath, nameOf } from "../../../base/paths.ts";
import { UndoList } from "../../../base/undo.ts";
import type { QemuContext } from "../context.ts";

/**
 * Makes a file whole or not at all: `fill` writes it under a passing name beside its place. What a killed call left
 * under that name goes first; the caller holds the disk's lock.
 */
export async function makeWhole(
  { host }: QemuContext,
  path: string,
  overwrite: boolean,
  fill: (passing: string) => Promise<void>,
): Promise<void> {
  const { files } = host;
  const refuseTaken = async (): Promise<void> => {
    const facts = await files.stat(path);
    if (facts === undefined || (overwrite && facts.kind === "file")) return;
    throw new HvError("hv.conflict", `"${path}" is there already`, {
      hint: overwrite ? "It is no file that could be replaced" : "Name another file, or give --overwrite",
      context: { path, wanted: "absent", found: facts.kind },
    });
  };
  await refuseTaken();
  const passing = joinPath(folderOf(path), `.hvlab-new-${nameOf(path)}`);
  await files.remove(passing);
  await using undo = new UndoList();
  undo.add("passing file", () => files.remove(passing));
  await fill(passing);
  await files.sync(passing);
  await refuseTaken();
  await files.rename(passing, path);
  undo.keep();
}
