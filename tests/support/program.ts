/** hvlab as a child process with the permissions of the release: the bundle when it is current, else the source. */

import { readPermissionFlags } from "../../tools/permissions.ts";
import { ROOT } from "../../tools/programs.ts";
import { currentEntry } from "./current_entry.ts";

const ENTRY = currentEntry();

export interface ProgramOptions {
  /** Variables beside those that keep the user's own folders out of reach. */
  env?: Record<string, string>;
  stdin?: string;
  cwd?: string;
  /** The folder that stands for the user's home; it need not exist. */
  home?: string;
}

export interface ProgramOutcome {
  code: number;
  stdout: string;
  stderr: string;
  stdoutBytes: Uint8Array;
}

/** The program and the arguments that start hvlab with these. */
export function hvlabCommand(args: readonly string[]): { program: string; args: string[] } {
  return {
    program: Deno.execPath(),
    args: ["run", ...readPermissionFlags(), `--config=${ROOT}/deno.json`, ENTRY, ...args],
  };
}

/** Variables of a child that must not see the user's own configuration and state. */
export function hvlabEnvironment(
  { env = {}, home = "/nonexistent" }: ProgramOptions,
): Record<string, string> {
  const inherited = ["DENO_DIR", "PATH", "SYSTEMROOT", "TEMP", "TMP"].flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  const folders = { HOME: home, XDG_CONFIG_HOME: `${home}/config`, XDG_STATE_HOME: `${home}/state` };
  const cache = Deno.env.get("DENO_DIR") ?? defaultCache();
  return { ...Object.fromEntries(inherited), ...folders, DENO_DIR: cache, RUST_BACKTRACE: "0", ...env };
}

/** Runs hvlab to its end. */
export async function runHvlab(
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<ProgramOutcome> {
  const command = hvlabCommand(args);
  await using child = new Deno.Command(command.program, {
    args: command.args,
    clearEnv: true,
    env: hvlabEnvironment(options),
    stdin: options.stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  }).spawn();
  if (options.stdin !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(options.stdin));
    await writer.close();
  }
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr), stdoutBytes: stdout };
}

function defaultCache(): string {
  const home = Deno.env.get("HOME") ?? "";
  return Deno.env.get("XDG_CACHE_HOME") === undefined
    ? `${home}/.cache/deno`
    : `${Deno.env.get("XDG_CACHE_HOME")}/deno`;
}
