/** What the driver in memory does with whole machines: changes, copies, and machines of somebody else. */

import { HvError } from "../../src/base/errors.ts";
import { newVmId } from "../../src/base/ids.ts";
import type { Vm } from "../../src/contract/vm.ts";
import type { AdoptionAbilities, ConfigureAbilities, CopyAbilities } from "../../src/drivers/vm_extras.ts";

/** What these abilities need of the driver. */
export interface MemoryMachines {
  /** One VM, to be changed in place. */
  vm(id: string): Vm;
  /** Refuses a name that a VM other than `except` has. */
  refuseTaken(name: string, except?: string): void;
  add(vm: Vm): void;
  remove(id: string): void;
}

/** Brings a machine that is off to the size that was put off until its next start. */
export function takeOn(vm: Vm): void {
  Object.assign(vm, vm.at_next_start);
  delete vm.at_next_start;
}

export function memoryConfigure(machines: MemoryMachines): ConfigureAbilities {
  return {
    configure: async (id, change) => {
      const vm = await machines.vm(id);
      refuseForeign(vm);
      const later = { ...vm.at_next_start };
      const now: string[] = [];
      for (const field of ["memory_mb", "cpus"] as const) {
        const wanted = change[field];
        if (wanted === undefined) continue;
        if (vm.state === "off") vm[field] = wanted;
        if (vm[field] === wanted) {
          delete later[field];
          now.push(field);
        } else later[field] = wanted;
      }
      if (Object.keys(later).length === 0) delete vm.at_next_start;
      else vm.at_next_start = later;
      return { now, at_next_start: Object.keys(later) };
    },
    rename: async (id, name) => {
      const vm = await machines.vm(id);
      machines.refuseTaken(name, id);
      vm.name = name;
    },
  };
}

/** Exported machines lie in a map, as if it were a disk. */
export function memoryCopies(machines: MemoryMachines): CopyAbilities {
  const exported = new Map<string, Vm>();
  const find = (folder: string): Vm => {
    const found = exported.get(folder);
    if (found !== undefined) return found;
    throw new HvError("hv.bad_image", `"${folder}" is no exported VM`, { context: { path: folder } });
  };
  const make = ({ memory_mb, cpus, driver, image }: Vm, name: string): string => {
    machines.refuseTaken(name);
    const id = newVmId();
    const own = { id, name, state: "off" as const, sandbox: false, managed: true };
    machines.add({ ...own, driver, memory_mb, cpus, ...(image === undefined ? {} : { image }) });
    return id;
  };
  return {
    clone: async (id, name) => {
      const vm = await machines.vm(id);
      refuseForeign(vm);
      return { id: make(vm, name) };
    },
    export: async (id, folder) => {
      const vm = await machines.vm(id);
      refuseForeign(vm);
      if (exported.has(folder)) {
        throw new HvError("hv.conflict", `"${folder}" exists`, {
          context: { wanted: "absent", found: "present" },
        });
      }
      exported.set(folder, { ...vm });
      return { files: [`${folder}/vm.json`] };
    },
    look: async (folder) => await find(folder),
    import: async (folder, name) => {
      const vm = await find(folder);
      return make(vm, name ?? vm.name);
    },
  };
}

/** Every locator is a foreign machine named after it, always the same one. */
export function memoryAdoption(machines: MemoryMachines, driver: string): AdoptionAbilities {
  const ids = new Map<string, string>();
  return {
    adopt: async ({ locator, name: wanted, allow }) => {
      const known = ids.get(locator);
      const id = known ?? newVmId();
      const present = known === undefined ? locator : (await machines.vm(known)).name;
      allow?.({ id, name: present });
      const name = wanted ?? present;
      if (known === undefined || name !== present) await machines.refuseTaken(name);
      ids.set(locator, id);
      const own = { state: "running" as const, sandbox: false, managed: true, adopted: true };
      machines.add({ id, name, ...own, driver, memory_mb: 256, cpus: 1 });
      return id;
    },
    forget: async (id) => {
      const vm = await machines.vm(id);
      if (vm.adopted) return machines.remove(id);
      throw new HvError("hv.unsupported", `"${vm.name}" is our own`, { context: { vm: id } });
    },
  };
}

function refuseForeign({ id, adopted }: Vm): void {
  if (adopted) throw new HvError("hv.unsupported", "An adopted VM is not ours", { context: { vm: id } });
}
