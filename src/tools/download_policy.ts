/** From where the owner of this host lets files be downloaded. */

import type { Config } from "../config/config.ts";
import { denied } from "./policy.ts";
import type { DoorName } from "./tool.ts";

/** Refuses to download from outside the addresses that the policy names. A server that sends on elsewhere is asked again. */
export function checkDownload({ policy, file }: Config, door: DoorName, address: string): void {
  const allowed = policy.downloads ?? (door === "cli" ? undefined : []);
  if (allowed === undefined || allowed.some((place) => isBelow(address, place))) return;
  const { origin, pathname } = new URL(address);
  throw denied(`Nothing may be downloaded from "${origin}${pathname}"`, file, { allowed: [...allowed] });
}

/** Compared as a server reads them: with `..` taken out, by whole parts of the path. */
function isBelow(address: string, place: string): boolean {
  const [asked, allowed] = [new URL(address), new URL(place)];
  const folder = allowed.pathname.endsWith("/") ? allowed.pathname : `${allowed.pathname}/`;
  return asked.origin === allowed.origin && `${asked.pathname}/`.startsWith(folder);
}
