/** What the QEMU driver can do with disks. */

import type { DiskAbilities } from "../../disk_abilities.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecords } from "../records.ts";
import { attachDisk, detachDisk, listAttached } from "./attach.ts";
import { describeDisk, readChain, readDisk } from "./chain.ts";

/** Disks of the QEMU driver. What only few calls need is loaded with them: looking at a disk must cost next to nothing. */
export function openDisks(context: QemuContext, records: VmRecords): DiskAbilities {
  return {
    info: async (path) => await describeDisk(context, await readDisk(context, path)),
    async chain(path, signal) {
      const { sound: _, ...chain } = await readChain(context, path, signal);
      return chain;
    },
    check: async (path, scope) => await (await import("./check.ts")).checkDisk(context, path, scope),
    create: async (spec, scope) => await (await import("./create.ts")).createDisk(context, spec, scope),
    resize: async (path, size, scope) =>
      await (await import("./resize.ts")).resizeDisk(context, path, size, scope),
    convert: async (path, wish, scope) =>
      await (await import("./convert.ts")).convertDisk(context, path, wish, scope),
    compact: async (path, scope) => await (await import("./convert.ts")).compactDisk(context, path, scope),
    mergeLosses: async (path, follows, signal) =>
      await (await import("./merge.ts")).lossesOfMerge(context, path, follows, signal),
    merge: async (path, follows, scope) =>
      await (await import("./merge.ts")).mergeDisk(context, path, follows, scope),
    losses: async (path, signal) =>
      (await (await import("./remove.ts")).lossesOfDisk(context, path, signal)).losses,
    remove: async (path, scope) => await (await import("./remove.ts")).removeDisk(context, path, scope),
    attached: (vm, signal) => listAttached(context, records, vm, signal),
    attach: (vm, path, wish, scope) => attachDisk(context, records, vm, path, wish, scope),
    lend: async (vm, path, work, scope) =>
      await (await import("./lend.ts")).lendFile(context, records, vm, path, work, scope),
    takeBack: async (vm, scope) =>
      await (await import("./lend.ts")).takeBackLent(context, records, vm, scope),
    detach: (vm, path, scope) => detachDisk(context, records, vm, path, scope),
  };
}
