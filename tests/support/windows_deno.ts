/** The Windows build of the runtime under Wine, as `tools/wine/build.sh` sets it up in `dist/wine`. */

import { readPermissionFlags } from "../../tools/permissions.ts";
import { ROOT } from "../../tools/programs.ts";
import { type Printed, runToItsEnd } from "./lasting_programs.ts";

const FOLDER = `${ROOT}/dist/wine`;
const WINE = "/usr/lib/wine/wine64";

/** Why tests on the Windows runtime are skipped; `undefined` where they run. */
export const NO_WINE: string | undefined = isFile(`${FOLDER}/inputs`) && isFile(WINE)
  ? undefined
  : "Wine and the Windows Deno are not set up; dist/setup.log says why";

/** Why tests that run .NET under Wine are skipped; `undefined` where they run. */
export const NO_WINE_DOTNET: string | undefined = isFile(`${FOLDER}/dotnet/inputs`)
  ? undefined
  : "the .NET program for Wine is not built; dist/setup.log says why";

export interface WindowsOptions {
  /** Variables beside those that Wine and the runtime need. */
  env?: Record<string, string>;
  cwd?: string;
}

/** The path of a Linux file as Windows programs name it. */
export function windowsPath(path: string): string {
  return `Z:${path.replaceAll("/", "\\")}`;
}

/** Runs `deno.exe` with these arguments, and with none of this process's variables. */
export async function runWindowsDeno(
  args: readonly string[],
  { env = {}, cwd = ROOT }: WindowsOptions = {},
): Promise<Printed> {
  return await runToItsEnd(WINE, [`${FOLDER}/bin/deno.exe`, ...args], {
    cwd,
    env: { ...wineEnvironment(), ...env },
  });
}

/** Runs the bundle with the permissions of the release. */
export async function runWindowsHvlab(
  args: readonly string[],
  options: WindowsOptions = {},
): Promise<Printed> {
  const program = windowsPath(`${ROOT}/dist/bundle/main.js`);
  return await runWindowsDeno(
    ["run", ...readPermissionFlags("windows"), "--no-config", "--no-lock", program, ...args],
    options,
  );
}

/** Calls static methods of a .NET class, one after the other in one process: each a name and its texts. */
export async function runWindowsDotnet(
  assembly: string,
  type: string,
  calls: readonly string[][],
): Promise<unknown[]> {
  await using child = new Deno.Command(WINE, {
    args: [`${FOLDER}/dotnet/call.exe`, assembly, type],
    cwd: ROOT,
    clearEnv: true,
    env: wineEnvironment(),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(calls.map((call) => `${JSON.stringify(call)}\n`).join("")));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  if (code !== 0) throw new Error(`The .NET program ended with ${code}: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout).split(/\r?\n/).filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** Ends what Wine keeps running for its programs. */
export async function endWine(): Promise<void> {
  await new Deno.Command("/usr/lib/wine/wineserver64", {
    args: ["-k"],
    clearEnv: true,
    env: wineEnvironment(),
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
}

function wineEnvironment(): Record<string, string> {
  return {
    PATH: Deno.env.get("PATH") ?? "",
    HOME: Deno.env.get("HOME") ?? "",
    // Wine translates names and arguments by the locale.
    LC_ALL: "C.UTF-8",
    WINEPREFIX: `${FOLDER}/prefix`,
    WINEDEBUG: "-all",
    // Where powershell.exe, our stand-in, is found.
    WINEPATH: windowsPath(`${FOLDER}/bin`),
    DENO_DIR: windowsPath(`${FOLDER}/cache`),
    NO_COLOR: "1",
    RUST_BACKTRACE: "0",
  };
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
