/** The note that a keeper leaves which was killed. */

import type { Orphan, Removed } from "../../../contract/vm.ts";
import { forgetKeeperWish, seeKeeper } from "../../../state/keeper_mark.ts";
import type { QemuContext } from "../context.ts";
import { belongings } from "./belongings.ts";

/** The note of a keeper that was killed; what it kept is found by itself. */
export async function deadKeeper(context: QemuContext): Promise<Orphan[]> {
  const { alive, wanted, facts } = await seeKeeper(context.host, context.state);
  if (alive || !wanted) return [];
  return [{
    kind: "keeper",
    id: "keeper",
    ...await belongings(context, [context.state.keeperWish]),
    reason: facts === undefined
      ? "A keeper was asked for and never began"
      : `The keeper, process ${facts.pid}, was killed; the next change starts another one if it is needed`,
  }];
}

/** Removes the note, unless a keeper has come back. */
export async function removeKeeperNote(context: QemuContext, { id, paths }: Orphan): Promise<Removed> {
  const [found] = await deadKeeper(context);
  if (found === undefined) return { id, removed: false, files: [], warnings: ["A keeper has come back"] };
  await forgetKeeperWish(context.host, context.state);
  return { id, removed: true, files: paths };
}
