/**
 * A driver that keeps its VMs in memory. It stands in where the pipeline and the doors are tested, and passes the
 * same contract suite as the real drivers. Its guests run the few programs that the suite uses.
 */

import { HvError } from "../../src/base/errors.ts";
import { newVmId } from "../../src/base/ids.ts";
import type { Image } from "../../src/contract/image.ts";
import type { Removed, StopMode, Vm } from "../../src/contract/vm.ts";
import type { CallScope } from "../../src/drivers/call_scope.ts";
import type { Driver, Feature, SandboxSpec, VmSpec } from "../../src/drivers/driver.ts";
import { memoryCheckpoints, type Restorable, wrongState } from "./memory_checkpoints.ts";
import { memoryConsole, memoryNmi } from "./memory_console.ts";
import {
  memoryAdoption,
  memoryConfigure,
  memoryCopies,
  type MemoryMachines,
  takeOn,
} from "./memory_extras.ts";
import { MemoryGuest } from "./memory_guest.ts";

interface Machine extends Restorable {
  crash: string | undefined;
}

export interface MemoryDriverOptions {
  images?: readonly string[];
  features?: readonly Feature[];
  /** Milliseconds since 1970, for leases. */
  now?: () => number;
}

export class MemoryDriver implements Driver {
  readonly name = "memory";
  readonly features: ReadonlySet<Feature>;
  readonly machines = new Map<string, Machine>();
  readonly #images: readonly string[];
  readonly #now: () => number;

  constructor({ images = ["tiny"], features, now = Date.now }: MemoryDriverOptions = {}) {
    this.#images = images;
    this.#now = now;
    this.features = new Set(
      features ?? [
        ...["vms", "images", "sandboxes", "guest", "pause", "checkpoints", "checkpoints.memory"] as const,
        ...["configure", "copies", "adoption", "console", "nmi"] as const,
      ],
    );
  }

  readonly vms = {
    list: () =>
      Promise.resolve({ vms: [...this.machines.values()].map(({ vm }) => ({ ...vm })), warnings: [] }),
    get: (id: string) => Promise.resolve({ ...this.#machine(id).vm }),
    create: (spec: VmSpec) => Promise.resolve(this.#add(spec, false, undefined)),
    start: (id: string) => {
      const machine = this.#machine(id);
      if (machine.vm.state === "off" && machine.vm.adopted) return Promise.reject(foreign(machine.vm));
      if (machine.vm.state === "off") machine.guest = new MemoryGuest();
      machine.vm.state = "running";
      machine.vm.pid = 4711;
      return Promise.resolve();
    },
    stop: (id: string, mode: StopMode) => {
      const { vm } = this.#machine(id);
      const isAtRest = vm.state === "off" || vm.state === "saved";
      if (mode === "save") vm.state = isAtRest ? vm.state : "saved";
      else if (mode !== "off" && (vm.state === "paused" || vm.state === "saved")) {
        return Promise.reject(wrongState("running", vm.state));
      } else vm.state = "off";
      if (vm.state === "off") takeOn(vm);
      delete vm.pid;
      return Promise.resolve();
    },
    losses: (id: string) => Promise.resolve([{ what: `the VM ${this.#machine(id).vm.name}`, size_bytes: 1 }]),
    remove: (id: string) => Promise.resolve(this.#remove(id)),
    orphans: () =>
      Promise.resolve(
        this.#expired().map(({ id, name }) => ({
          kind: "sandbox_expired" as const,
          id,
          name,
          paths: [],
          size_bytes: 0,
          reason: "its lease has run out",
        })),
      ),
    removeOrphan: ({ id }: { id: string }) => Promise.resolve(this.#remove(id)),
  };

  readonly sandboxes = {
    create: (spec: SandboxSpec) => {
      const id = this.#add(spec, true, new Date(this.#now() + spec.ttl_s * 1000).toISOString());
      this.#machine(id).vm.state = "running";
      return Promise.resolve(id);
    },
    sweep: (_: CallScope) => Promise.resolve(this.#expired().map(({ id }) => this.#remove(id))),
  };

  readonly images = {
    list: () => Promise.resolve({ images: this.#images.map(imageNamed), warnings: [] }),
    get: (name: string) => Promise.resolve(imageNamed(this.#knownImage(name))),
    import: ({ name }: { name: string }) => Promise.resolve(imageNamed(name)),
  };

  readonly pause = {
    pause: async (id: string) => {
      const { vm } = await this.#machine(id);
      if (vm.state !== "running" && vm.state !== "paused") throw wrongState("running", vm.state);
      vm.state = "paused";
    },
    resume: async (id: string) => {
      const { vm } = await this.#machine(id);
      if (!["running", "paused", "saved"].includes(vm.state)) throw wrongState("paused", vm.state);
      vm.state = "running";
    },
  };

  readonly #extras: MemoryMachines = {
    vm: (id) => this.#machine(id).vm,
    refuseTaken: (name, except) => this.#refuseTaken(name, except),
    add: (vm) => this.#keep(vm),
    remove: (id) => this.#remove(id),
  };
  readonly configure = memoryConfigure(this.#extras);
  readonly copies = memoryCopies(this.#extras);
  readonly adoption = memoryAdoption(this.#extras, this.name);

  readonly console = memoryConsole((id) => this.#machine(id));
  readonly nmi = memoryNmi((id) => this.#machine(id));

  readonly checkpoints = memoryCheckpoints((id) => this.#machine(id));

  channels({ id }: Vm): MemoryGuest[] {
    return [this.#machine(id).guest];
  }

  crash(id: string): Promise<{ reason: string } | undefined> {
    const { crash } = this.#machine(id);
    return Promise.resolve(crash === undefined ? undefined : { reason: crash });
  }

  diagnose(): Promise<[]> {
    return Promise.resolve([]);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Makes the guest of a VM crash. */
  crashGuest(id: string, reason: string): void {
    const machine = this.#machine(id);
    machine.crash = reason;
    machine.vm.state = "crashed";
  }

  #machine(id: string): Machine {
    const machine = this.machines.get(id);
    if (machine !== undefined) return machine;
    throw new HvError("hv.not_found", `There is no VM "${id}"`, {
      hint: "List the VMs",
      context: { vm: id },
    });
  }

  #knownImage(name: string): string {
    if (this.#images.includes(name)) return name;
    throw new HvError("hv.not_found", `There is no image "${name}"`, {
      hint: "List the images",
      context: { image: name },
    });
  }

  #add(spec: VmSpec, sandbox: boolean, expiresAt: string | undefined): string {
    if (spec.image !== undefined) this.#knownImage(spec.image);
    this.#refuseTaken(spec.name);
    const id = newVmId();
    const { name, image, memory_mb, cpus } = spec;
    const vm: Vm = {
      id,
      name,
      state: "off",
      driver: this.name,
      sandbox,
      managed: true,
      ...(image === undefined ? {} : { image }),
      memory_mb,
      cpus,
      ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    };
    this.#keep(vm);
    return id;
  }

  #keep(vm: Vm): void {
    this.machines.set(vm.id, {
      vm,
      guest: new MemoryGuest(),
      crash: undefined,
      checkpoints: [],
      current: null,
    });
  }

  #refuseTaken(name: string, except?: string): void {
    if (![...this.machines.values()].some(({ vm }) => vm.name === name && vm.id !== except)) return;
    throw new HvError("hv.conflict", `There is a VM "${name}" already`, {
      hint: "Choose another name",
      context: { wanted: "absent", found: "present" },
    });
  }

  #remove(id: string): Removed {
    const { vm } = this.#machine(id);
    this.machines.delete(id);
    return { id, name: vm.name, removed: true, files: [] };
  }

  #expired(): Vm[] {
    return [...this.machines.values()].map(({ vm }) => vm)
      .filter(({ expires_at }) => expires_at !== undefined && Date.parse(expires_at) <= this.#now());
  }
}

function foreign({ id, name }: Vm): HvError {
  return new HvError("hv.unsupported", `"${name}" is somebody else's`, { context: { vm: id } });
}

function imageNamed(name: string): Image {
  return {
    name,
    kind: "kernel",
    files: [],
    folder: `/images/${name}`,
    size_bytes: 0,
    created_at: "2026-01-01T00:00:00.000Z",
  };
}
