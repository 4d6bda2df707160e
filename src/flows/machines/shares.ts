/** Shared folders, as tools take them: `HOST_DIR:GUEST_DIR[:ro]`. */

import { HvError } from "../../base/errors.ts";
import type { Share } from "../../contract/share.ts";
import type { Driver } from "../../drivers/driver.ts";
import type { Host } from "../../host/host.ts";

const READ_ONLY = ":ro";

/**
 * Splits a word at the first colon that is not a drive letter's. Throws `hv.usage` when a side is missing, or when the
 * guest's side is no full path or holds another colon: a mistyped `:ro` must not become part of a name.
 */
export function readShare(word: string): Share {
  const drive = /^[A-Za-z]:[\\/]/.test(word) ? 2 : 0;
  const colon = word.indexOf(":", drive);
  const host = word.slice(0, Math.max(colon, 0));
  const rest = colon < 0 ? "" : word.slice(colon + 1);
  const read_only = rest.endsWith(READ_ONLY);
  const guest = read_only ? rest.slice(0, -READ_ONLY.length) : rest;
  if (host === "" || guest === "") throw badShare(word, "a side is missing");
  if (!guest.startsWith("/")) throw badShare(word, `"${guest}" is no full path in the guest`);
  if (guest.includes(":")) throw badShare(word, `"${guest}" holds a colon`);
  return { host, guest, read_only };
}

/**
 * The shares of a machine's specification; empty when nothing was given. Throws `hv.unsupported` on a driver without
 * them, `hv.not_found` or `hv.usage` when a host's side is no folder.
 */
export async function readShares(
  driver: Driver,
  host: Host,
  words: readonly string[],
): Promise<{ shares?: Share[] }> {
  if (words.length === 0) return {};
  if (!driver.features.has("shares")) {
    throw new HvError("hv.unsupported", `The driver "${driver.name}" shares no folders`, {
      hint: "Copy what the guest needs with --copy or `hvlab guest copy-to`",
      context: { driver: driver.name, feature: "shares" },
    });
  }
  const shares: Share[] = [];
  for (const word of words) {
    const share = readShare(word);
    if (shares.some(({ guest }) => guest === share.guest)) {
      throw badShare(word, `"${share.guest}" is given twice`);
    }
    const facts = await host.files.stat(share.host, { follow: true });
    if (facts === undefined) {
      throw new HvError("hv.not_found", `Cannot share "${share.host}": there is no such folder`, {
        hint: "Name a folder of this host that exists",
        context: { path: share.host },
      });
    }
    if (facts.kind !== "folder") throw badShare(word, `"${share.host}" is a ${facts.kind}, not a folder`);
    shares.push({ ...share, host: await host.files.realPath(share.host) });
  }
  return { shares };
}

function badShare(word: string, why: string): HvError {
  return new HvError("hv.usage", `Cannot read "${word}" as a folder to share: ${why}`, {
    hint: "Write it as HOST_DIR:GUEST_DIR, for example ./src:/mnt/src, with :ro behind it for reading only",
    context: { share: word },
  });
}
