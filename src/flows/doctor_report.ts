/** What `doctor --report` says: raw facts for a bug report, without names and paths of this host. */

import type { JsonObject } from "../base/json.ts";
import { VERSION } from "../base/version.ts";
import type { Finding } from "../contract/finding.ts";
import type { Driver } from "../drivers/driver.ts";
import type { Host } from "../host/host.ts";

/** The report's own version: it rises when a field changes its meaning. */
const REPORT_VERSION = 1;

/** Facts about hvlab, this machine and the provider. Of the findings only what was checked and how it came out. */
export async function makeReport(
  host: Host,
  driver: Driver,
  findings: readonly Finding[],
  signal: AbortSignal,
): Promise<JsonObject> {
  const { machine, os } = host;
  return {
    report: REPORT_VERSION,
    hvlab: VERSION,
    driver: driver.name,
    simulated: driver.simulated ?? false,
    machine: {
      os,
      os_release: machine.osRelease(),
      architecture: machine.architecture(),
      processors: machine.processors(),
      memory_mb: machine.memory().total_mb,
    },
    findings: findings.map(({ check, status }) => ({ check, status })),
    provider: await driver.report?.(signal) ?? null,
  };
}
