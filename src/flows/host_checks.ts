/** Checks of the host that hold for every driver. */

import { toHvError } from "../base/errors.ts";
import { folderOf } from "../base/paths.ts";
import type { Finding } from "../contract/finding.ts";
import type { Driver } from "../drivers/driver.ts";
import type { Host } from "../host/host.ts";
import type { StateFolder } from "../state/layout.ts";

/** Whether the state folder is there, or could be made. Nothing is written to find out. */
export async function inspectStateFolder({ files }: Host, { root }: StateFolder): Promise<Finding> {
  const check = "state folder";
  try {
    const facts = await files.stat(root, { follow: true });
    if (facts === undefined) {
      const parent = await nearestFolder(files, root);
      return { check, status: "ok", finding: `"${root}" will be made below "${parent}" by the first change` };
    }
    if (facts.kind !== "folder") {
      return {
        check,
        status: "broken",
        finding: `"${root}" is not a folder`,
        fix: "Remove it, or name another folder with --state or HVLAB_STATE",
      };
    }
    await files.list(root);
    return { check, status: "ok", finding: `"${root}" can be read` };
  } catch (error) {
    const { message, hint } = toHvError(error);
    return { check, status: "broken", finding: message, ...(hint === undefined ? {} : { fix: hint }) };
  }
}

/** Whether earlier runs left anything behind. */
export async function findLeftovers(driver: Driver, signal: AbortSignal): Promise<Finding> {
  const check = "leftovers";
  try {
    const orphans = await driver.vms.orphans(signal);
    if (orphans.length === 0) return { check, status: "ok", finding: "nothing was left behind" };
    return {
      check,
      status: "warning",
      finding: `${orphans.length} things were left behind`,
      fix:
        "See them with `hvlab vm orphans`; remove them with `hvlab plan vm cleanup` and `hvlab vm cleanup`",
    };
  } catch (error) {
    return {
      check,
      status: "warning",
      finding: `Leftovers could not be looked for: ${toHvError(error).message}`,
    };
  }
}

async function nearestFolder(files: Host["files"], path: string): Promise<string> {
  const parent = folderOf(path);
  if (parent === path || await files.stat(parent, { follow: true }) !== undefined) return parent;
  return await nearestFolder(files, parent);
}
