/** One operation by its id. */

import { HvError } from "../../base/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import type { ReadOnlyStore } from "../../state/store.ts";

/** Reads the operation; `hv.not_found` when the store does not know it. */
export async function findOperation(history: ReadOnlyStore | undefined, op: string): Promise<Operation> {
  const operation = await history?.operations.get(op);
  if (operation !== undefined) return operation;
  throw new HvError("hv.not_found", `There is no operation "${op}"`, {
    hint: "List operations with `hvlab op list`",
    context: { operation: op },
  });
}
