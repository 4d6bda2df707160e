/** The interrupt that a guest cannot mask. */

import type { NmiAbilities } from "../../console_abilities.ts";
import type { QemuContext } from "../context.ts";
import type { VmRecords } from "../records.ts";
import { askOnMachine } from "./running.ts";

/** Opens it. Touches nothing by itself. */
export function openNmi(context: QemuContext, records: VmRecords): NmiAbilities {
  return {
    async inject(id, { signal }) {
      const question = { action: "interrupt", states: ["running"], signal } as const;
      await askOnMachine(context, records, id, question, async (session) => {
        await session.command("inject-nmi", undefined, { signal });
        return {};
      });
    },
  };
}
