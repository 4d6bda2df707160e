/** What a debugger gets to see: a folder of its own, in which nothing has a name that it could misread. */

import { joinPath, resolvePath } from "../../base/paths.ts";
import type { Host } from "../../host/host.ts";
import type { SymbolPath } from "../symbols/symbol_path.ts";

/** Names and words for the debugger's command line. */
export interface DebuggerFiles {
  readonly logFile: string;
  readonly args: readonly string[];
}

const DUMP = "dump.dmp";
const SCRIPT = "commands.txt";
const LOG = "log.txt";

/**
 * Lays the script into `folder`, and beside it the dump and each local store as links, except on Windows, where every
 * path is one that its own debugger reads. All names on the command line are then plain, and relative to the folder:
 * a wrapper that runs a Windows program under Wine needs no translation. Servers, and no other places on
 * other machines, are named only when downloads were asked for.
 */
export async function layOut(
  { os, files }: Pick<Host, "os" | "files">,
  folder: string,
  dumpPath: string,
  { roots, servers }: SymbolPath,
  script: string,
  download: boolean,
): Promise<DebuggerFiles> {
  const linked = os !== "windows";
  await files.writeAtomically(joinPath(folder, SCRIPT), script);
  const real = await files.realPath(dumpPath);
  if (linked) await files.makeLink(joinPath(folder, DUMP), real);
  const stores: string[] = [];
  for (const [index, root] of roots.entries()) {
    const name = `symbols${index}`;
    if (linked) await files.makeLink(joinPath(folder, name), resolvePath(await files.realPath("."), root));
    stores.push(linked ? name : root);
  }
  const places = stores.flatMap((store) => [store, `srv*${store}`]);
  if (download) places.push(...servers.map((place) => `srv*${place}`));
  const dump = linked ? DUMP : real;
  const symbols = places.join(";");
  return {
    logFile: joinPath(folder, LOG),
    args: [
      "-noshell",
      "-sins",
      ...(download ? [] : ["-netsyms:no"]),
      ...(symbols === "" ? [] : ["-y", symbols]),
      ...["-logou", LOG, "-cf", SCRIPT, "-z", dump],
    ],
  };
}
