/** Checks that a dump is refused for one reason. */

import assert from "node:assert/strict";
import { HvError } from "../../src/base/errors.ts";

/** Fails unless `open` fails with `hv.bad_dump` and the reason. */
export async function assertDumpRefused(reason: string, open: () => unknown): Promise<void> {
  await assert.rejects(
    async () => await open(),
    (thrown) =>
      thrown instanceof HvError && thrown.code === "hv.bad_dump" && thrown.context["reason"] === reason,
  );
}
