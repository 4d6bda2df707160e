/** Programs that leave others behind: Wine's server, which the first program starts, lives on for seconds with all that it got. */

/** What came of it. */
export interface Printed {
  code: number;
  stdout: string;
  stderr: string;
}

export interface PrintedOptions {
  cwd?: string;
  /** All variables that it gets; left out it gets ours. */
  env?: Record<string, string>;
}

/** Runs a program to its own end. It prints into files: what it leaves behind would hold pipes open. */
export async function runToItsEnd(
  program: string,
  args: readonly string[],
  { cwd, env }: PrintedOptions = {},
): Promise<Printed> {
  const folder = await Deno.makeTempDir();
  try {
    const { code } = await new Deno.Command("sh", {
      args: [
        "-c",
        'folder=$1; shift; exec "$@" >"$folder/stdout" 2>"$folder/stderr"',
        "sh",
        folder,
        program,
        ...args,
      ],
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { clearEnv: true, env }),
      stdin: "null",
    }).spawn().status;
    const read = (name: string): Promise<string> => Deno.readTextFile(`${folder}/${name}`);
    return { code, stdout: await read("stdout"), stderr: await read("stderr") };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
