/** Starting the keeper: this very program once more, as a process that lives on its own. */

import { HvError } from "../base/errors.ts";
import { LogFile } from "../host/log_file.ts";
import { ownCommand } from "../host/runtime.ts";
import type { ChildProcess } from "../host/spawn.ts";
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
export async function startKeeper(target: KeeperTarget): Promise<void> {
  const child = await startOurselves(target, ["keeper"], PASSED_ON);
  child.forget();
}

/**
 * Whom a detached call logs in as. The variable of the password is one of these as well, unless the environment names
 * another one whose name our permissions know.
 */
const LOGIN = ["HVLAB_GUEST_USER", "HVLAB_GUEST_PASSWORD_ENV", "HVLAB_GUEST_PASSWORD"];

/** Starts the process that goes on with a detached operation and returns once it exists. */
export async function startFollower(target: KeeperTarget, op: string): Promise<{ ended: Promise<unknown> }> {
  const named = target.host.environment.get("HVLAB_GUEST_PASSWORD_ENV");
  const password = named?.startsWith("HVLAB_") ? [named] : [];
  const child = await startOurselves(target, ["follow", op], [...PASSED_ON, ...LOGIN, ...password]);
  child.forget();
  return { ended: child.ended };
}

async function startOurselves(
  { host, state, config, driverName }: KeeperTarget,
  words: readonly string[],
  passOn: readonly string[],
): Promise<ChildProcess> {
  const program = await ownCommand(host.processes);
  if (program === undefined) {
    throw new HvError(
      "hv.unsupported",
      `Cannot start "${words[0]}": this system does not tell how hvlab was started`,
      { hint: "Everything else works; leases end with the next call that changes something" },
    );
  }
  await new LogFile(state.keeperLog, LOG_LIMIT_BYTES).rotate();
  return await host.processes.start("setpriv", [
    "--no-new-privs",
    "--",
    ...program,
    ...words,
    `--state=${state.root}`,
    ...(config === null ? [] : [`--config=${config}`]),
    ...(driverName === undefined ? [] : [`--driver=${driverName}`]),
  ], { logFile: state.keeperLog, passOn });
}
