/** How a command travels to the script that starts programs through the agent. */

import type { GuestCommand } from "../../../guest/channel.ts";

export { checkCommand } from "../../../guest/posix/check_command.ts";

/** The arguments of the script that starts programs: the word that it is found by, the path of its FIFOs, the command. */
export function startArguments(
  word: string,
  base: string,
  { argv, cwd = "", env = {} }: GuestCommand,
): string[] {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  // A shell takes "-" for the folder before.
  const folder = cwd === "-" ? "./-" : cwd;
  return [word, base, folder, env.PATH ?? "", String(variables.length), ...variables, ...argv];
}
