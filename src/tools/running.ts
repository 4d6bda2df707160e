/** What a call answers whose work goes on. */

import type { JsonObject } from "../base/json.ts";
import type { Progress } from "../contract/operation.ts";
import type { DetachedFiles } from "./tool.ts";

/** What stands in the place of a result while the work goes on. */
export function describeRunning(
  { op, progress, detached }: { op: string; progress: Progress | undefined; detached?: DetachedFiles },
): JsonObject {
  return {
    op,
    state: "running",
    ...detached,
    ...(progress === undefined ? {} : { progress: withoutGaps(progress) }),
    next: `Call hv_op_wait with op "${op}"`,
  };
}

function withoutGaps({ message, fraction }: Progress): JsonObject {
  return { message, ...(fraction === undefined ? {} : { fraction }) };
}
