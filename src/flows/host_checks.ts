/** Checks of the host that hold for every driver. */

import { toHvError } from "../base/errors.ts";
import { folderOf } from "../base/paths.ts";
import type { Config } from "../config/config.ts";
import type { Finding } from "../contract/finding.ts";
import type { Driver } from "../drivers/driver.ts";
import type { Host } from "../host/host.ts";
import type { StateFolder } from "../state/layout.ts";
import { openStoreReadOnly } from "../state/store.ts";

/** Whether the state folder is there, or could be made. Nothing is written to find out. */
export async function inspectStateFolder({ files }: Host, { root }: StateFolder): Promise<Finding> {
  const check = "state folder";
  try {
    const facts = await files.stat(root, { follow: true });
    if (facts === undefined) {
      const parent = await nearestFolder(files, folderOf(root));
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

/** Whether the store can be read, if there is one. A damaged one stays where it is. */
export async function inspectStore(host: Host, state: StateFolder): Promise<Finding> {
  const check = "store";
  try {
    using store = await openStoreReadOnly(host, state);
    if (store === undefined) {
      return { check, status: "ok", finding: `"${state.database}" will be made by the first change` };
    }
    await store.check();
    return { check, status: "ok", finding: `"${state.database}" is sound` };
  } catch (error) {
    const { message, hint, retryable } = toHvError(error);
    return {
      check,
      status: retryable ? "warning" : "broken",
      finding: message,
      fix: hint ?? `Look at "${state.database}", or name another state folder with --state or HVLAB_STATE`,
    };
  }
}

/**
 * Whether this process may write its state and start the programs that the configuration names. The state folder is
 * judged by its owner and mode, since only writing would prove more.
 */
export async function inspectPermissions(
  host: Host,
  { root }: StateFolder,
  config: Config,
): Promise<Finding> {
  const check = "permissions";
  const refused = [...config.programs].filter(([, path]) => !host.permissions.canRun(path));
  if (refused.length > 0) {
    const names = refused.map(([name, path]) => `"${name}" (${path})`).join(", ");
    return {
      check,
      status: "warning",
      finding: `hvlab may not start ${names}`,
      fix:
        "Use hvlab's launcher, which reads the configuration, or put the program on PATH under its usual name",
    };
  }
  const user = host.machine.userId();
  const folder = await nearestFolder(host.files, root);
  const facts = await host.files.stat(folder, { follow: true });
  if (user === null || user === 0 || facts === undefined || facts.mode === null) {
    return { check, status: "ok", finding: "nothing that hvlab needs is refused" };
  }
  const mayWrite = facts.owner === user
    ? (facts.mode & OWNER_WRITES) !== 0
    : (facts.mode & OTHERS_WRITE) !== 0;
  return mayWrite ? { check, status: "ok", finding: `user ${user} may write "${folder}"` } : {
    check,
    status: "broken",
    finding: `user ${user} may not write "${folder}", which belongs to user ${facts.owner}`,
    fix: "Give the folder to this user, or name another one with --state or HVLAB_STATE",
  };
}

const OWNER_WRITES = 0o200;
const OTHERS_WRITE = 0o022;

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

/** The path itself when it is there, else the nearest folder above it that is. */
async function nearestFolder(files: Host["files"], path: string): Promise<string> {
  if (await files.stat(path, { follow: true }) !== undefined) return path;
  const parent = folderOf(path);
  return parent === path ? path : await nearestFolder(files, parent);
}
