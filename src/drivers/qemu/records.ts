/** The record of one VM, `vms/<id>/vm.json`: what it is made of, never whether it runs. */

import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { parseVmId } from "../../base/ids.ts";
import { parseJson } from "../../base/json.ts";
import { folderOf, joinPath } from "../../base/paths.ts";
import { PanicCause } from "../../contract/crash_policy.ts";
import { WatchdogAction } from "../../contract/device.ts";
import { Share } from "../../contract/share.ts";
import { Firmware } from "../../contract/vm.ts";
import { MachineShape } from "./checkpoints/machine_shape.ts";
import type { QemuContext } from "./context.ts";
import { Fingerprint } from "./disks/bonds.ts";

export const RECORD_FILE = "vm.json";
/** The layout of the record; a change that old readers cannot bear raises it. */
export const SCHEMA_VERSION = 1;
/** A VM's folder gets its name when its record is written, and loses it before its files go. */
export const MAKING_PREFIX = ".making-";
export const REMOVING_PREFIX = ".removing-";

/** A file in the VM's own folder. */
export const OwnFile = z.string().check(z.regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]*$/, "a plain file name"));

/** Loose on purpose: what a newer hvlab wrote into a record stays in it through load and save. */
const VmRecord = z.looseObject({
  schema: z.int(),
  id: z.string(),
  name: z.string(),
  /** Absent on VMs that were made without one, or elsewhere. */
  image: z.optional(z.string()),
  memory_mb: z.int().check(z.positive()),
  cpus: z.int().check(z.positive()),
  created_at: z.string(),
  /** The machine type with its version, so that the guest sees the same hardware after an upgrade of QEMU. */
  machine: z.string(),
  /** Where its sockets lie while it runs. */
  runtime: z.string(),
  /** The version of hvlab that made it. */
  made_by: z.optional(z.string()),
  /** Present on what `sandbox create` and `sandbox run` made. */
  sandbox: z.optional(z.looseObject({
    expires_at: z.string(),
    /** The process whose end is the sandbox's end; absent when only the lease counts. */
    maker_pid: z.optional(z.int()),
  })),
  /** Files of its own that it boots, in place of the image's. */
  boot: z.optional(z.looseObject({
    kernel: OwnFile,
    initrd: z.optional(OwnFile),
    append: z.optional(z.string()),
  })),
  /** Set when its disk stands beside an image's kernel and is not what it boots. */
  data_disk: z.optional(z.boolean()),
  firmware: z.optional(Firmware),
  /** The disc in its drive; it belongs to somebody else. */
  iso: z.optional(z.string()),
  /** `true` on a VM whose drive stays when it is empty. */
  dvd: z.optional(z.boolean()),
  /** The unix socket on which its second serial port listens. */
  serial_socket: z.optional(z.string()),
  /** The disk of an image that its own disk leans on, as it was then. */
  base: z.optional(Fingerprint),
  /** Disks that were attached to it; they belong to somebody else. */
  disks: z.optional(z.array(z.looseObject({
    /** Names its block node and its device. */
    key: z.string().check(z.regex(/^[0-9a-f]{8}$/)),
    path: z.string(),
    read_only: z.optional(z.boolean()),
    /** Whether parents are followed that hvlab has not put below it. */
    follow_parents: z.optional(z.boolean()),
  }))),
  /** `false` on a VM without a network card. */
  network: z.optional(z.boolean()),
  /** Its network cards; what `network` says when absent. */
  nics: z.optional(z.array(z.looseObject({
    number: z.int(),
    mac: z.optional(z.string()),
    /** The root port that it is plugged into. */
    slot: z.optional(z.string()),
    /** `default`, or the id of a switch; plugged into nothing when absent. */
    switch: z.optional(z.string()),
  }))),
  /** Ports of the host that lead into its guest whenever it runs. */
  forwards: z.optional(z.array(z.looseObject({
    guest_port: z.int(),
    host_address: z.string(),
    host_port: z.int(),
    /** Whether hvlab chose the host's port. */
    auto: z.optional(z.boolean()),
  }))),
  /** Folders of the host that its guest sees. */
  shares: z.optional(z.array(Share)),
  /** `true` on a VM with a TPM, whose state is in its folder. */
  tpm: z.optional(z.boolean()),
  /** `true` on a VM whose folder holds a seed for cloud-init. */
  cloud_init: z.optional(z.boolean()),
  /** What its watchdog does; it has none when absent. */
  watchdog: z.optional(WatchdogAction),
  /** What is kept of its crashes; nothing when absent. */
  on_crash: z.optional(z.enum(["collect", "triage"])),
  /** What its kernel is told to panic at, beside what its policy wants. */
  panic_on: z.optional(z.array(PanicCause)),
  /** What `configure` changed while it ran. */
  at_next_start: z.optional(z.looseObject({
    memory_mb: z.optional(z.int().check(z.positive())),
    cpus: z.optional(z.int().check(z.positive())),
    tpm: z.optional(z.boolean()),
  })),
  /** Present on a VM that somebody else started. */
  adopted: z.optional(z.looseObject({
    /** Its monitor's socket. */
    monitor: z.string(),
    /** The socket of its guest agent's port. */
    agent: z.optional(z.string()),
    /** Its process, where it could be told. */
    pid: z.optional(z.int()),
    process_started: z.optional(z.string()),
  })),
  /** The warm template that it was cloned from; its disk, if it has one, hangs on the template's. */
  template: z.optional(z.looseObject({
    fingerprint: z.string(),
    /** Ready in a pool, and nobody's yet. */
    pooled: z.optional(z.boolean()),
  })),
  /** Memory that `vm stop --mode save` keeps on disk, and how far the save or the resume has come. */
  saved: z.optional(z.looseObject({
    phase: z.enum(["saving", "saved", "resuming"]),
    /** The tag of its snapshots. */
    tag: z.string(),
    at: z.string(),
    disks: z.array(z.string()),
    memory: MachineShape,
  })),
  /** How it was started last: a hint where to look, proved anew whenever it is used. */
  last_start: z.optional(z.looseObject({
    pid: z.int(),
    at: z.string(),
    accelerator: z.string(),
    qemu: z.string(),
  })),
});
export type VmRecord = z.infer<typeof VmRecord>;

/** The state folder's records, and the folders that have none. */
export interface RecordListing {
  records: VmRecord[];
  /** Folders whose record is missing or cannot be read. */
  damaged: StrayFolder[];
  /** Folders that some call is making or removing now, or never came to an end with. */
  unfinished: StrayFolder[];
}

/** A folder under `vms/` without a readable record. */
export interface StrayFolder {
  /** The folder's name. */
  name: string;
  path: string;
  reason: string;
}

/** Reads and writes records. Writers hold the VM's lock. */
export class VmRecords {
  readonly #context: QemuContext;

  constructor(context: QemuContext) {
    this.#context = context;
  }

  /**
   * All records, each on its own: a damaged one never hides the others. No state folder means no records. Throws
   * `hv.conflict` when something else is in its place, `hv.permission` when it cannot be read.
   */
  async list(): Promise<RecordListing> {
    const { files } = this.#context.host;
    const root = this.#context.state.vms;
    if ((await files.stat(root, { follow: true }))?.kind !== "folder") {
      await this.#refuseNoFolder(root);
      return { records: [], damaged: [], unfinished: [] };
    }
    const listing: RecordListing = { records: [], damaged: [], unfinished: [] };
    const entries = await files.list(root);
    await Promise.all(entries.map(({ name }) => this.#readFolder(name, listing)));
    listing.records.sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
    return listing;
  }

  /** Throws `hv.not_found` when there is no such VM, `hv.io` when its record is damaged. */
  async get(id: string): Promise<VmRecord> {
    const record = await this.find(id);
    if (record !== undefined) return record;
    throw new HvError("hv.not_found", `There is no VM "${id}"`, {
      hint: "List them with: hvlab vm list",
      context: { vm: id },
    });
  }

  /** The record, or `undefined` when there is no such VM. Throws `hv.io` when the record is damaged. */
  async find(id: string): Promise<VmRecord | undefined> {
    if (parseVmId(id) !== id) return undefined;
    const path = this.#file(id);
    const text = await this.#context.host.files.readTextIfPresent(path);
    if (text === undefined) {
      await this.#refuseNoFolder(this.#context.state.vms);
      return undefined;
    }
    try {
      return readRecord(text, id);
    } catch (error) {
      throw new HvError("hv.io", `The record "${path}" is damaged: ${reasonOf(error)}`, {
        hint: "Repair the file, or see `hvlab vm orphans` for what can be removed",
        context: { path, vm: id },
        cause: error,
      });
    }
  }

  /** Writes the record whole or not at all. */
  async save(record: VmRecord): Promise<void> {
    await this.#context.host.files.writeAtomically(this.#file(record.id), writeRecord(record));
  }

  /** Of a path that is no folder, tells one that is missing from one in whose way something else is. */
  async #refuseNoFolder(path: string): Promise<void> {
    for (let at = path;; at = folderOf(at)) {
      const kind = (await this.#context.host.files.stat(at, { follow: true }))?.kind;
      if (kind === "folder" || (kind === undefined && folderOf(at) === at)) return;
      if (kind === undefined) continue;
      throw new HvError("hv.conflict", `Cannot look for VMs in "${path}": "${at}" is no folder`, {
        hint: "Name another state folder, or move what is in its place away",
        context: { path: at, wanted: "folder", found: kind },
      });
    }
  }

  #file(id: string): string {
    return joinPath(this.#context.state.vm(id), RECORD_FILE);
  }

  async #readFolder(name: string, listing: RecordListing): Promise<void> {
    const { files } = this.#context.host;
    const path = joinPath(this.#context.state.vms, name);
    if (name.startsWith(MAKING_PREFIX) || name.startsWith(REMOVING_PREFIX)) {
      listing.unfinished.push({ name, path, reason: "a call that made or removed it did not end" });
      return;
    }
    try {
      if (parseVmId(name) !== name) throw new Error("its name is not a VM's id");
      const text = await files.readTextIfPresent(joinPath(path, RECORD_FILE));
      if (text !== undefined) listing.records.push(readRecord(text, name));
      else if (await files.stat(path) !== undefined) throw new Error("it holds no record");
    } catch (error) {
      listing.damaged.push({ name, path, reason: reasonOf(error) });
    }
  }
}

/** Reads a record's text; throws when it is not one, or is that of another VM or of a newer layout. */
export function readRecord(text: string, id: string): VmRecord {
  const parsed = z.safeParse(VmRecord, parseJson(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${issue?.path.join(".") || "the whole"}: ${issue?.message ?? "not a record"}`);
  }
  const record = parsed.data;
  if (record.schema !== SCHEMA_VERSION) {
    throw new Error(`it has schema ${record.schema}, this hvlab reads ${SCHEMA_VERSION}`);
  }
  if (record.id !== id) throw new Error(`it is the record of "${record.id}"`);
  return record;
}

/** The record as it is once changes that wait for a start hold. */
export function afterNextStart(record: VmRecord): VmRecord {
  const { at_next_start: change, ...rest } = record;
  if (change === undefined) return record;
  const { memory_mb = rest.memory_mb, cpus = rest.cpus, tpm = rest.tpm } = change;
  const { tpm: _, ...without } = { ...rest, memory_mb, cpus };
  return tpm === undefined ? without : { ...without, tpm };
}

export function writeRecord(record: VmRecord): string {
  return JSON.stringify(record, undefined, 2) + "\n";
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
