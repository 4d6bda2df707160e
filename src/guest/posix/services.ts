/** The services of a POSIX guest, as systemd has them. */

import type { GuestService, ServiceState } from "../../contract/guest_services.ts";
import type { ProgramRunner } from "../channel.ts";
import { refuseFailed, runCollector } from "../collect.ts";
import type { Listing } from "../inspection.ts";
import script from "./collectors/services.sh" with { type: "text" };
import { PLAIN_TEXTS } from "./parts.ts";

/** The states of systemd's units in our words; an active one whose program has ended is `exited`. */
const STATES: Readonly<Record<string, ServiceState>> = {
  active: "running",
  reloading: "running",
  refreshing: "running",
  activating: "starting",
  deactivating: "stopping",
  inactive: "stopped",
  failed: "failed",
  maintenance: "stopped",
};

/** Lists the units that systemd has loaded. */
export async function collectServices(
  channel: ProgramRunner,
  signal: AbortSignal,
): Promise<Listing<GuestService>> {
  const argv = ["/bin/sh", "-c", script, "hvlab"];
  const collected = await runCollector(channel, { argv, env: PLAIN_TEXTS }, "services", signal);
  refuseFailed(collected, "services");
  return { items: readServices(collected.stdout), truncated: collected.truncated };
}

/** Reads what `systemctl show` prints; units that others only mention are left out. */
export function readServices(text: string): GuestService[] {
  return text.split(/\n\n+/).flatMap((block) => {
    const fields = new Map(
      block.split("\n").map((line) => {
        const at = line.indexOf("=");
        return [line.slice(0, at), line.slice(at + 1)] as const;
      }),
    );
    const name = fields.get("Id");
    if (name === undefined || name === "" || fields.get("LoadState") === "not-found") return [];
    const active = fields.get("ActiveState") ?? "";
    const detail = fields.get("SubState") ?? "";
    const description = fields.get("Description") ?? "";
    const start = fields.get("UnitFileState") ?? "";
    const pid = Number(fields.get("MainPID") ?? 0);
    const result = fields.get("Result") ?? "";
    const hasFailed = active === "failed";
    return [{
      name: name.replace(/\.service$/, ""),
      ...(description === "" ? {} : { description }),
      state: active === "active" && detail === "exited" ? "exited" as const : STATES[active] ?? "unknown",
      detail: `${active} (${detail})`,
      ...(start === "" ? {} : { start }),
      ...(pid > 0 ? { pid } : {}),
      ...(hasFailed && fields.has("ExecMainStatus")
        ? { exit_code: Number(fields.get("ExecMainStatus")) }
        : {}),
      ...(hasFailed && result !== "" && result !== "success" ? { reason: result } : {}),
    }];
  }).sort((one, other) => one.name < other.name ? -1 : 1);
}
