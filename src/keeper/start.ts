/** Starting the keeper: this very program once more, as a process that lives on its own. */

import { HvError } from "../base/errors.ts";
import { LogFile } from "../host/log_file.ts";
import { ownCommand } from "../host/runtime.ts";
import type { KeeperTarget } from "../tools/keeper_caller.ts";
import { LOG_LIMIT_BYTES } from "./log.ts";

/**
 * Where sockets, caches and the configuration lie. No credentials: the keeper never logs in to a guest. PATH, HOME and
 * TMPDIR are passed on to every lasting program.
 */
const PASSED_ON = ["XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "DENO_DIR"];

/**
 * Starts a keeper and returns once its process exists. It begins with `setpriv`, which is in the run list anyway and
 * takes away every later gain of privileges. Of several that are started at once all but one end by themselves.
 * Throws `hv.unsupported` where the program cannot start itself.
 */
export async function startKeeper({ host, state, config, driverName }: KeeperTarget): Promise<void> {
  const program = await ownCommand(host.processes);
  if (program === undefined) {
    throw new HvError(
      "hv.unsupported",
      "Cannot start a keeper: this system does not tell how hvlab was started",
      {
        hint: "Everything else works; leases end with the next call that changes something",
      },
    );
  }
  await new LogFile(state.keeperLog, LOG_LIMIT_BYTES).rotate();
  const child = await host.processes.start("setpriv", [
    "--no-new-privs",
    "--",
    ...program,
    "keeper",
    `--state=${state.root}`,
    ...(config === null ? [] : [`--config=${config}`]),
    ...(driverName === undefined ? [] : [`--driver=${driverName}`]),
  ], { logFile: state.keeperLog, passOn: PASSED_ON });
  child.forget();
}
