/** Checkpoints of the driver in memory: each holds a guest's files, in place of its memory. */

import { HvError } from "../../src/base/errors.ts";
import { newCheckpointId } from "../../src/base/ids.ts";
import type { Checkpoint } from "../../src/contract/checkpoint.ts";
import type { Vm } from "../../src/contract/vm.ts";
import type { CheckpointAbilities } from "../../src/drivers/checkpoint_abilities.ts";
import { MemoryGuest } from "./memory_guest.ts";

/** What of a machine a checkpoint brings back. */
export interface Restorable {
  vm: Vm;
  guest: MemoryGuest;
  checkpoints: Kept[];
  current: string | null;
}

interface Kept {
  checkpoint: Omit<Checkpoint, "current">;
  files: ReadonlyMap<string, Uint8Array>;
}

export function memoryCheckpoints(machineOf: (id: string) => Restorable): CheckpointAbilities {
  const find = (machine: Restorable, id: string): Kept => {
    const found = machine.checkpoints.find(({ checkpoint }) => checkpoint.id === id);
    if (found !== undefined) return found;
    throw new HvError("hv.not_found", `There is no checkpoint "${id}"`, { context: { checkpoint: id } });
  };
  const refuseTaken = ({ checkpoints }: Restorable, name: string): void => {
    if (!checkpoints.some(({ checkpoint }) => checkpoint.name === name)) return;
    throw new HvError("hv.conflict", `There is a checkpoint "${name}" already`, {
      hint: "Choose another name",
      context: { wanted: "free", found: "taken" },
    });
  };
  return {
    list: async (id) => {
      const { checkpoints, current } = await machineOf(id);
      return {
        checkpoints: checkpoints.map(({ checkpoint }) => ({
          ...checkpoint,
          current: checkpoint.id === current,
        })),
        warnings: [],
      };
    },
    create: async (vm, { name, memory_state }) => {
      const machine = await machineOf(vm);
      refuseTaken(machine, name);
      if (memory_state && machine.vm.state !== "running") throw wrongState("running", machine.vm.state);
      const id = newCheckpointId();
      const checkpoint: Kept["checkpoint"] = {
        id,
        vm,
        name,
        parent: machine.current,
        created_at: new Date().toISOString(),
        memory_state,
        restores_to: memory_state ? "running" : "off",
        size_bytes: null,
      };
      machine.checkpoints.push({ checkpoint, files: new Map(machine.guest.files) });
      machine.current = id;
      return id;
    },
    restore: async (vm, id) => {
      const machine = await machineOf(vm);
      const { checkpoint, files } = find(machine, id);
      machine.guest = new MemoryGuest();
      if (checkpoint.memory_state) {
        for (const [path, bytes] of files) {
          machine.guest.files.set(path, bytes);
        }
      }
      machine.vm.state = checkpoint.restores_to;
      machine.current = id;
    },
    losses: async (vm) => [{ what: `the present state of ${(await machineOf(vm)).vm.name}`, size_bytes: 1 }],
    remove: async (vm, id) => {
      const machine = await machineOf(vm);
      const { parent } = find(machine, id).checkpoint;
      machine.checkpoints = machine.checkpoints.filter(({ checkpoint }) => checkpoint.id !== id);
      for (const { checkpoint } of machine.checkpoints) {
        if (checkpoint.parent === id) checkpoint.parent = parent;
      }
      if (machine.current === id) machine.current = parent;
    },
    rename: async (vm, id, name) => {
      const machine = await machineOf(vm);
      const { checkpoint } = find(machine, id);
      if (checkpoint.name !== name) refuseTaken(machine, name);
      checkpoint.name = name;
    },
    export: async (vm, id, folder) => {
      find(await machineOf(vm), id);
      return [`${folder}/vm.json`];
    },
  };
}

/** The conflict of a machine that is in another state than an action wants. */
export function wrongState(wanted: string, found: string): HvError {
  return new HvError("hv.conflict", `wanted "${wanted}", found "${found}"`, {
    hint: "Bring it into the state that is wanted",
    context: { wanted, found },
  });
}
