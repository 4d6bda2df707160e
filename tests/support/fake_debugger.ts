/** A program named cdb that behaves, or misbehaves, as a test asks. It is a shell script: no system but Windows lacks one. */

/** Lines of shell that run after the fake has read its command line; `$script` is the command file, `$log` the log. */
export interface FakeDebugger {
  readonly folder: string;
  readonly program: string;
  /** Where it writes its arguments, one per line. */
  readonly argumentsFile: string;
}

const HEAD = `#!/bin/sh
here=$(dirname "$0")
printf '%s\\n' "$@" >"$here/arguments"
echo run >>"$here/runs"
while [ $# -gt 0 ]; do
    case $1 in
    -cf) script=$2; shift ;;
    -logou) log=$2; shift ;;
    -z) dump=$2; shift ;;
    esac
    shift
done
echo "Microsoft (R) Windows Debugger Version 10.0.1.2 AMD64"
# Runs the command file as a debugger would: echoes, and the text of answer() for all else.
run_script() {
    tr -d '\\r' <"$script" | while IFS= read -r line; do
        echo "0: kd> $line"
        case $line in
        .echo*) echo "\${line#.echo }" ;;
        q) echo quit: ;;
        *) answer "$line" ;;
        esac
    done
}
answer() { echo "text of $1"; }
`;

/** Writes the fake into a folder. */
export async function writeFakeDebugger(folder: string, body: string): Promise<FakeDebugger> {
  const program = `${folder}/cdb`;
  await Deno.writeTextFile(program, `${HEAD}${body}\n`, { mode: 0o755 });
  return { folder, program, argumentsFile: `${folder}/arguments` };
}
