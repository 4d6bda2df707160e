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
  /** Interrupts the program after this time (Deno's test runner then names the tests that did not end). */
  limitMs?: number;
}

/** How long an interrupted program may take to end before it is killed. */
const GRACE_MS = 10_000;

/** Runs a program to its end; its exit code is an answer. Deno's own backtraces are off. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd = ROOT, env = {}, limitMs }: RunOptions = {},
): Promise<Outcome> {
  const child = new Deno.Command(program, {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1", RUST_BACKTRACE: "0", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const timers = limitMs === undefined ? [] : [
    setTimeout(() => endQuietly(child, "SIGINT"), limitMs),
    setTimeout(() => endQuietly(child, "SIGKILL"), limitMs + GRACE_MS),
  ];
  const output = await child.output();
  timers.forEach(clearTimeout);
  const decoder = new TextDecoder();
  return { code: output.code, stdout: decoder.decode(output.stdout), stderr: decoder.decode(output.stderr) };
}

function endQuietly(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch {
    // It has ended by itself.
  }
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
