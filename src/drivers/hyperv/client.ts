/** The operations with their types: what goes in, and what the answer must look like. */

import * as z from "zod/mini";
import type { JsonObject } from "../../base/json.ts";
import { uuidOf } from "../../base/ids.ts";
import type { Host } from "../../host/host.ts";
import {
  CheckpointExport,
  CheckpointListing,
  DiskFacts,
  Disks,
  Export,
  Folders,
  Listing,
  type MachineDisks,
  Removal,
  Screen,
  Settings,
} from "./answers.ts";
import type { Arguments } from "./sidecar/frames.ts";
import { CheckpointFacts, MachineAnswer, type MachineFacts, readAnswer } from "./map.ts";
import type { OperationName } from "./operations.ts";
import type { Birth, MachineParts } from "./machines/parts.ts";
import type { SidecarFacts } from "./sidecar/probe.ts";
import { Sidecar, type SidecarScope } from "./sidecar.ts";

/** Hyper-V on this host through one sidecar. */
export class HyperV {
  readonly host: Host;
  readonly #sidecar: Sidecar;

  constructor(host: Host) {
    this.host = host;
    this.#sidecar = new Sidecar(host);
  }

  facts(signal: AbortSignal): Promise<SidecarFacts> {
    return this.#sidecar.facts(signal);
  }

  /** The PowerShell that the sidecar is. */
  program(signal: AbortSignal): Promise<string> {
    return this.#sidecar.program(signal);
  }

  /** Facts for a bug report, without names. */
  report(signal: AbortSignal): Promise<JsonObject> {
    return this.#ask(z.record(z.string(), z.json()), "host_report", {}, { signal });
  }

  close(): Promise<void> {
    return this.#sidecar.close();
  }

  /** Every VM; rows that cannot be read become warnings and hide no other. */
  async listMachines(signal: AbortSignal): Promise<{ machines: MachineFacts[]; warnings: string[] }> {
    const { machines: rows, warnings } = await this.#ask(Listing, "list_machines", {}, { signal });
    const machines: MachineFacts[] = [];
    for (const row of rows) {
      const machine = MachineAnswer.shape.machine.safeParse(row);
      if (machine.success) machines.push(machine.data);
      else warnings.push(`A VM could not be read: ${JSON.stringify(row.name ?? row.id ?? null)}`);
    }
    return { machines, warnings };
  }

  getMachine(id: string, signal: AbortSignal): Promise<MachineFacts> {
    return this.#machine("get_machine", { vm: uuidOf(id) }, { signal });
  }

  /** An operation on one VM that answers with the VM as it is afterwards. */
  changeMachine(
    operation: OperationName,
    id: string,
    args: Arguments,
    scope: SidecarScope,
  ): Promise<MachineFacts> {
    return this.#machine(operation, { vm: uuidOf(id), ...args }, scope);
  }

  settings(id: string, signal: AbortSignal): Promise<z.infer<typeof Settings>> {
    return this.#ask(Settings, "machine_settings", { vm: uuidOf(id) }, { signal });
  }

  /** What is `null` stays as it is. */
  writeSettings(id: string, args: Arguments, scope: SidecarScope): Promise<z.infer<typeof Settings>> {
    return this.#ask(Settings, "write_settings", { vm: uuidOf(id), ...args }, scope);
  }

  makeMachine(
    { memory_bytes, disk_bytes, ...parts }: MachineParts,
    scope: SidecarScope,
  ): Promise<MachineFacts> {
    const disk = disk_bytes === null ? null : String(disk_bytes);
    const args = { ...parts, memory_bytes: String(memory_bytes), disk_bytes: disk };
    return this.#machine("make_machine", args, scope);
  }

  /** Answers the files, and the machine as it was exported. */
  exportMachine(id: string, folder: string, scope: SidecarScope): Promise<z.infer<typeof Export>> {
    return this.#ask(Export, "export_machine", { vm: uuidOf(id), folder }, scope);
  }

  importMachine(
    args: Birth & { name: string; folder: string; keep_memory: boolean; compare: boolean },
    scope: SidecarScope,
  ): Promise<MachineFacts> {
    return this.#machine("import_machine", { ...args }, scope);
  }

  /** Makes a VM with the disks of another one. */
  copyMachine(id: string, args: Birth & { name: string }, scope: SidecarScope): Promise<MachineFacts> {
    return this.changeMachine("copy_machine", id, { ...args }, scope);
  }

  async imageDisk(path: string, signal: AbortSignal): Promise<z.infer<typeof DiskFacts>> {
    return (await this.#ask(z.object({ disk: DiskFacts }), "image_disk", { path }, { signal })).disk;
  }

  /** From now on the VM is removed when this process ends, however it ends. */
  tieMachine(id: string, folder: string, scope: SidecarScope): Promise<unknown> {
    return this.#ask(z.unknown(), "tie_machine", { vm: uuidOf(id), folder }, scope);
  }

  /** Takes back what a making has made. Answers what is left all the same. */
  async takeBack(passing: string, scope: SidecarScope): Promise<string[]> {
    const answer = z.object({ left: z.array(z.string()) });
    return (await this.#ask(answer, "take_back_machine", { passing }, scope)).left;
  }

  async askShutdown(id: string, scope: SidecarScope): Promise<boolean> {
    const answer = z.object({ asked: z.boolean() });
    return (await this.#ask(answer, "ask_shutdown", { vm: uuidOf(id) }, scope)).asked;
  }

  /** The VM's disks, and who needs those in the folder that the mark names. */
  disks(id: string, folder: string | undefined, signal: AbortSignal): Promise<MachineDisks> {
    return this.#ask(Disks, "machine_disks", { vm: uuidOf(id), folder: folder ?? null }, { signal });
  }

  /**
   * Removes a VM; when it lies in the folder of ours that the mark names, what is in that too. `alone` says that no
   * other VM can need it, which saves a look at all disks.
   */
  removeMachine(
    id: string,
    { folder, keep_disks = false, alone = false }: { folder?: string; keep_disks?: boolean; alone?: boolean },
    scope: SidecarScope,
  ): Promise<z.infer<typeof Removal>> {
    const args = { vm: uuidOf(id), folder: folder ?? null, keep_disks, alone };
    return this.#ask(Removal, "remove_machine", args, scope);
  }

  async ownFolders(signal: AbortSignal): Promise<z.infer<typeof Folders>["folders"]> {
    return (await this.#ask(Folders, "own_folders", {}, { signal })).folders;
  }

  removeStrayFolder(
    folder: string,
    scope: SidecarScope,
  ): Promise<{ files: string[]; removed: boolean; warnings?: string[] | undefined }> {
    const answer = z.object({
      files: z.array(z.string()),
      removed: z.boolean(),
      warnings: z.optional(z.array(z.string())),
    });
    return this.#ask(answer, "remove_stray_folder", { folder }, scope);
  }

  screen(id: string, signal: AbortSignal): Promise<z.infer<typeof Screen>> {
    return this.#ask(Screen, "machine_screen", { vm: uuidOf(id) }, { signal });
  }

  checkpoints(id: string, signal: AbortSignal): Promise<z.infer<typeof CheckpointListing>> {
    return this.#ask(CheckpointListing, "list_checkpoints", { vm: uuidOf(id) }, { signal });
  }

  /** An operation that answers with one checkpoint. */
  async changeCheckpoint(
    operation: OperationName,
    id: string,
    args: Arguments,
    scope: SidecarScope,
  ): Promise<CheckpointFacts> {
    const answer = z.object({ checkpoint: CheckpointFacts });
    return (await this.#ask(answer, operation, { vm: uuidOf(id), ...args }, scope)).checkpoint;
  }

  exportCheckpoint(
    id: string,
    checkpoint: string,
    folder: string,
    scope: SidecarScope,
  ): Promise<z.infer<typeof CheckpointExport>> {
    const args = { vm: uuidOf(id), checkpoint: uuidOf(checkpoint), folder };
    return this.#ask(CheckpointExport, "export_checkpoint", args, scope);
  }

  /** Runs one of the guest's functions and gives its answer, a text of JSON. */
  async askGuest(
    id: string,
    { words, ...args }: {
      user: string;
      password_variable: string;
      password: string | null;
      call: string;
      words: readonly string[];
    },
    scope: SidecarScope,
  ): Promise<string> {
    const answer = z.object({ answer: z.string() });
    return (await this.#ask(answer, "ask_guest", { vm: uuidOf(id), ...args, words }, scope)).answer;
  }

  /** Facts of the host; each says by itself that it could not be had. */
  hostFacts(signal: AbortSignal): Promise<Record<string, unknown>> {
    return this.#ask(z.record(z.string(), z.unknown()), "host_facts", {}, { signal });
  }

  /** Any operation with the shape of its answer, for families of tools that have files of their own. */
  ask<T extends z.ZodMiniType>(
    schema: T,
    operation: OperationName,
    args: Arguments,
    scope: SidecarScope,
  ): Promise<z.output<T>> {
    return this.#ask(schema, operation, args, scope);
  }

  async #machine(operation: OperationName, args: Arguments, scope: SidecarScope): Promise<MachineFacts> {
    return (await this.#ask(MachineAnswer, operation, args, scope)).machine;
  }

  async #ask<T extends z.ZodMiniType>(
    schema: T,
    operation: OperationName,
    args: Arguments,
    scope: SidecarScope,
  ): Promise<z.output<T>> {
    return readAnswer(schema, await this.#sidecar.call(operation, args, scope), operation);
  }
}
