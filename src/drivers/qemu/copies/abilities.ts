/** The QEMU driver's copies of VMs. */

import type { CopyAbilities } from "../../vm_extras.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecords } from "../records.ts";
import { cloneVm } from "./clone.ts";
import { exportVm } from "./export.ts";
import { readExportRecord } from "./export_record.ts";
import { importVm } from "./import.ts";

/** Opens them. Touches nothing by itself. */
export function openCopies(context: QemuContext, records: VmRecords): CopyAbilities {
  return {
    clone: (id, name, scope) => cloneVm(context, records, id, name, scope),
    export: (id, folder, scope) => exportVm(context, records, id, folder, scope),
    look: async (folder) => {
      const { name, memory_mb, cpus } = await readExportRecord(context, folder);
      return { name, memory_mb, cpus };
    },
    import: (folder, name, scope) => importVm(context, records, folder, name, scope),
  };
}
