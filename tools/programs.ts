/** Running programs from the scripts of this folder. */

/** The repository's folder. */
export const ROOT: string = decodeURIComponent(new URL("..", import.meta.url).pathname)
  .replace(/^\/([A-Za-z]:)/, "$1").replace(/\/$/, "");

/** How a program ended, with its output as text without colour. */
export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
}

/** Runs a program to its end; its exit code is an answer. Deno's own backtraces are off. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd = ROOT, env = {} }: RunOptions = {},
): Promise<Outcome> {
  const output = await new Deno.Command(program, {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1", RUST_BACKTRACE: "0", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const decoder = new TextDecoder();
  return { code: output.code, stdout: decoder.decode(output.stdout), stderr: decoder.decode(output.stderr) };
}

/** Runs a program that has to succeed and returns its standard output; throws with all that it printed. */
export async function runOrThrow(
  program: string,
  args: readonly string[],
  options?: RunOptions,
): Promise<string> {
  const { code, stdout, stderr } = await runProgram(program, args, options);
  if (code === 0) return stdout;
  throw new Error(`"${program} ${args.join(" ")}" ended with code ${code}:\n${stdout}${stderr}`);
}

/** npm, which is a script with its own suffix on Windows. */
export const NPM: string = Deno.build.os === "windows" ? "npm.cmd" : "npm";
