import assert from "node:assert/strict";
import { DEFAULT_CONFIG } from "../../../../src/config/config.ts";
import { checkMachineSize } from "../../../../src/flows/machines/machine_limits.ts";
import { HvError } from "../../../../src/base/errors.ts";

const LIMITS = { ...DEFAULT_CONFIG.limits, memory_mb: 1024, cpus: 2 };

Deno.test("a machine may be as large as the limit and no larger", () => {
  checkMachineSize(LIMITS, { memory_mb: 1024, cpus: 2 });
  checkMachineSize(LIMITS, {});
  for (const [size, field] of [[{ memory_mb: 1025 }, "memory_mb"], [{ cpus: 3 }, "cpus"]] as const) {
    assert.throws(
      () => checkMachineSize(LIMITS, size),
      (error) =>
        error instanceof HvError && error.code === "hv.policy_denied" && error.context.field === field,
    );
  }
});
