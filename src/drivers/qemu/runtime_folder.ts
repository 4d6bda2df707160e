/**
 * A running VM's short-lived things: sockets, pid file, locks of single requests. They lie in a folder named by the
 * first twelve digits of the uuid, since a unix socket's path may have 107 bytes and a state folder may be deep.
 */

import { HvError } from "../../base/errors.ts";
import { uuidOf } from "../../base/ids.ts";
import { isPlainObject, parseJson } from "../../base/json.ts";
import { folderOf, joinPath, nameOf } from "../../base/paths.ts";
import type { Host } from "../../host/host.ts";
import { isQueueFull } from "../../host/sockets.ts";

/** Who may use which monitor: the background keeper, ordinary calls, and a call that must pass a blocked main loop. */
export type MonitorRole = "keeper" | "calls" | "rescue";

/** The longest path that fits a unix socket's address. */
export const SOCKET_PATH_LIMIT = 107;
const PRIVATE = 0o700;
const LETTING_GO_MS = 500;
const LOOK_AGAIN_MS = 20;
/** Made first and removed last, so that a folder says whose it is. */
const OWNER_FILE = "owner.json";

/** The paths inside one VM's runtime folder. Nothing is made by asking. */
export class RuntimeFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Where a VM's folder goes on this host now; a running VM's record says where it went. */
  static of(host: Host, id: string): RuntimeFolder {
    const name = uuidOf(id).replaceAll("-", "").slice(0, 12);
    return new RuntimeFolder(joinPath(host.environment.runtimeFolder(), name));
  }

  monitor(role: MonitorRole): string {
    return joinPath(this.path, `${role}.qmp`);
  }

  /** Held for one request, never for a command's length. */
  monitorLock(role: MonitorRole): string {
    return joinPath(this.path, `${role}.lock`);
  }

  get agent(): string {
    return joinPath(this.path, "agent");
  }

  get agentLock(): string {
    return joinPath(this.path, "agent.lock");
  }

  get data(): string {
    return joinPath(this.path, "data");
  }

  /** Where the program listens that serves the VM's shared folder of this number. */
  share(index: number): string {
    return joinPath(this.path, `share-${index}`);
  }

  /** Where the program listens that is the VM's TPM. */
  get tpm(): string {
    return joinPath(this.path, "tpm");
  }

  /** QEMU keeps a lock on it while it lives. */
  get pidFile(): string {
    return joinPath(this.path, "pid");
  }

  /** Where the first serial line is. */
  get serial(): string {
    return joinPath(this.path, "serial");
  }

  /** Where the second serial line is of a machine whose record leads it nowhere. */
  get secondSerial(): string {
    return joinPath(this.path, "serial-2");
  }

  /** Held by who has the serial line. */
  get serialLock(): string {
    return joinPath(this.path, "serial.lock");
  }

  get ownerFile(): string {
    return joinPath(this.path, OWNER_FILE);
  }

  get sockets(): string[] {
    const monitors = (["keeper", "calls", "rescue"] as const).map((role) => this.monitor(role));
    return [...monitors, this.agent, this.data, this.serial, this.secondSerial];
  }
}

/** Whose runtime folder it is. */
export interface RuntimeOwner {
  vm: string;
  /** The state folder of the VM's record. */
  state: string;
}

/** Reads whose folder it is; `undefined` when it does not say. */
export async function readRuntimeOwner(host: Host, folder: RuntimeFolder): Promise<RuntimeOwner | undefined> {
  const text = await host.files.readTextIfPresent(folder.ownerFile);
  if (text === undefined) return undefined;
  try {
    const value = parseJson(text);
    if (!isPlainObject(value)) return undefined;
    const { vm, state } = value;
    return typeof vm === "string" && typeof state === "string" ? { vm, state } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes the folder ready for a start: private to this user, ours, and without what a dead QEMU left. Throws
 * `hv.conflict` when something stands in the way that may not be removed: another user's folder, another VM's,
 * a socket on which somebody listens, a folder with content.
 */
export async function prepareRuntimeFolder(
  host: Host,
  folder: RuntimeFolder,
  owner: RuntimeOwner,
): Promise<void> {
  refuseLongPath(folder);
  await ensurePrivateFolder(host, folderOf(folder.path));
  if (await ensurePrivateFolder(host, folder.path)) {
    return await host.files.writeAtomically(folder.ownerFile, JSON.stringify(owner));
  }
  const found = await readRuntimeOwner(host, folder);
  if (found !== undefined && (found.vm !== owner.vm || found.state !== owner.state)) {
    throw inTheWay(folder.path, `it belongs to ${found.vm} of the state folder "${found.state}"`, "absent");
  }
  for (const path of [...folder.sockets, folder.pidFile]) await clearPlace(host, path);
  if (found === undefined) await host.files.writeAtomically(folder.ownerFile, JSON.stringify(owner));
}

/**
 * Removes the folder with all that is in it. Only for a VM that has been seen to be dead. Answers whether there
 * was anything.
 */
export async function removeRuntimeFolder(host: Host, folder: RuntimeFolder): Promise<boolean> {
  const facts = await host.files.stat(folder.path);
  if (facts === undefined) return false;
  if (facts.kind !== "folder") throw inTheWay(folder.path, `it is a ${facts.kind}`, "folder");
  refuseForeign(host, folder.path, facts.owner);
  await host.files.remove(folder.path);
  return true;
}

/** Answers whether the folder is new. */
async function ensurePrivateFolder(host: Host, path: string): Promise<boolean> {
  const before = await host.files.stat(path);
  if (before === undefined) await host.files.makeFolder(path, { mode: PRIVATE });
  const facts = await host.files.stat(path);
  if (facts === undefined || facts.kind !== "folder") {
    throw inTheWay(path, `it is a ${facts?.kind ?? "name that vanishes"}`, "folder");
  }
  refuseForeign(host, path, facts.owner);
  if (facts.mode !== null && (facts.mode & 0o077) !== 0) {
    throw new HvError(
      "hv.permission",
      `Cannot use the runtime folder "${path}": other users may enter it (mode ${facts.mode.toString(8)})`,
      { hint: `Run: chmod 700 "${path}"`, context: { path, wanted: "700", found: facts.mode.toString(8) } },
    );
  }
  return before === undefined;
}

function refuseForeign(host: Host, path: string, owner: number | null): void {
  const us = host.machine.userId();
  if (owner === null || us === null || owner === us) return;
  throw new HvError("hv.permission", `Cannot use the runtime folder "${path}": it belongs to user ${owner}`, {
    hint: "Set XDG_RUNTIME_DIR to a folder of your own",
    context: { path, wanted: us, found: owner },
  });
}

function refuseLongPath(folder: RuntimeFolder): void {
  const longest = folder.monitor("keeper");
  const bytes = new TextEncoder().encode(longest).length;
  if (bytes <= SOCKET_PATH_LIMIT) return;
  throw new HvError(
    "hv.conflict",
    `Cannot use the runtime folder "${folder.path}": its sockets would have ${bytes} bytes, at most ${SOCKET_PATH_LIMIT} fit`,
    {
      hint: "Set XDG_RUNTIME_DIR to a shorter path",
      context: { path: longest, wanted: SOCKET_PATH_LIMIT, found: bytes },
    },
  );
}

/** Takes away what a dead QEMU left at one place; whatever could be somebody's stays. */
async function clearPlace(host: Host, path: string): Promise<void> {
  const facts = await host.files.stat(path);
  if (facts === undefined) return;
  if (facts.kind === "folder" && (await host.files.list(path)).length > 0) {
    throw inTheWay(path, "it is a folder with files in it", "absent");
  }
  if (facts.kind === "other") {
    if (await isListenedTo(host, path)) throw inTheWay(path, "a program listens on this socket", "absent");
  }
  await host.files.remove(path);
}

/** A QEMU that was killed is a zombie before its last thread has let go of its sockets, so one look is not enough. */
async function isListenedTo(host: Host, path: string): Promise<boolean> {
  const end = host.clock.monotonic() + LETTING_GO_MS;
  for (;;) {
    if (!await hasListener(host, path)) return false;
    if (host.clock.monotonic() >= end) return true;
    await host.clock.sleep(LOOK_AGAIN_MS);
  }
}

/** Nobody takes our looks off a dying QEMU's queue, which holds two of them. */
async function hasListener(host: Host, path: string): Promise<boolean> {
  try {
    using listener = await host.sockets.connectUnix(path);
    return listener !== undefined;
  } catch (error) {
    if (isQueueFull(error)) return true;
    throw error;
  }
}

function inTheWay(path: string, found: string, wanted: string): HvError {
  return new HvError("hv.conflict", `Cannot use "${path}": ${found}`, {
    hint: `Look what "${nameOf(path)}" is, and move it away when nobody needs it`,
    context: { path, wanted, found },
  });
}
