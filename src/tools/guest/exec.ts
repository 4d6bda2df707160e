import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { Argv, EnvAssignment, readEnvironment } from "../../contract/arguments.ts";
import { ExecResult } from "../../contract/guest.ts";
import { ACCESS_FIELDS, ACCESS_HELP, GUEST_ACCESS } from "../../contract/guest_access.ts";
import { VmRef } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { attachToGuest } from "../../flows/guest/attach_to_guest.ts";
import { openInput } from "../../flows/guest/guest_input.ts";
import { wayOfUser } from "../../flows/guest/run_as.ts";
import { runInGuest } from "../../flows/guest/run_in_guest.ts";
import { useGuest } from "../../flows/guest/use_guest.ts";
import { LINE_SHELLS, lineCommand, type LineShell } from "../../guest/shells.ts";
import { defineTool } from "../define_tool.ts";

/** Runs a program in a guest: the exact argument vector, streams apart, its own exit code. */
export default defineTool({
  name: "guest_exec",
  family: "guest",
  class: "X",
  summary: "Run a program in a guest; no shell reads its arguments",
  input: {
    vm: VmRef,
    argv: Argv,
    env: z._default(z.array(EnvAssignment), []),
    cwd: z.optional(Path),
    stdin: z.optional(Path),
    run_as: z.optional(z.string().check(z.minLength(1))),
    shell: z.optional(z.enum(LINE_SHELLS)),
    tty: z._default(z.boolean(), false),
    detach: z._default(z.boolean(), false),
    ...GUEST_ACCESS,
  },
  positional: ["vm"],
  rest: "argv",
  unlisted: ["stdin", "run_as", "shell", "tty", "detach", ...ACCESS_FIELDS],
  help: {
    argv: "What to run",
    env: "Variable of the program's environment, written NAME=VALUE",
    cwd: "Folder of the guest in which the program runs",
    stdin: "File of this host that the program reads, or - for our own input",
    run_as: "The guest's user that the program runs as",
    shell: "Have this shell of the guest read the one argument as a line",
    tty: "Run on a terminal in the guest, which ours becomes",
    detach: "Answer at once with the operation; the program goes on",
    ...ACCESS_HELP,
  },
  output: ExecResult,
  uses: ["driver", "vm"],
  feature: "guest",
  timed: true,
  runsProgram: true,
  detaches: "detach",
  check({ argv, stdin, run_as: user, shell, tty, detach }) {
    if (shell !== undefined) lineOf(shell, argv);
    if (detach && stdin === "-") throw conflicting("--detach", "--stdin -");
    if (tty && detach) throw conflicting("--tty", "--detach");
    if (tty && stdin !== undefined) throw conflicting("--tty", "--stdin");
    if (tty && user !== undefined) throw conflicting("--tty", "--run-as");
  },
  plan: ({ argv, shell, run_as: user }, { vm }) =>
    Promise.resolve({
      summary: [
        `Run ${JSON.stringify(argv)} in the guest of "${vm.name}"`,
        ...(shell === undefined ? [] : [`read by ${shell}`]),
        ...(user === undefined ? [] : [`as ${user}`]),
      ].join(", "),
      losses: [],
      fingerprint: { id: vm.id, state: vm.state, pid: vm.pid ?? null },
    }),
  async handle({ argv: words, env, cwd, stdin, run_as, shell, tty, detach: _, ...access }, context) {
    const { host, state, door } = context;
    const argv = shell === undefined ? words : lineOf(shell, words);
    const command = {
      argv,
      env: readEnvironment(env),
      ...(cwd === undefined ? {} : { cwd }),
    };
    if (tty) {
      return await attachToGuest(context, access, command);
    }
    using input = stdin === undefined ? undefined : await openInput(host, stdin, door === "cli");
    const whole = context.sinks === undefined ? { host, folder: state.results } : undefined;
    const fed = { ...command, ...(input === undefined ? {} : { stdin: input.feed }) };
    return await useGuest(context, access, async (given) => {
      const { channel, ...as } = await wayOfUser(given, run_as, context.warn);
      const options = { ...context, whole, passing: context, clock: host.clock };
      return await runInGuest(channel, { ...fed, ...as }, options);
    });
  },
});

function lineOf(shell: LineShell, words: readonly string[]): string[] {
  const [line, ...more] = words;
  if (line !== undefined && more.length === 0) return lineCommand(shell, line);
  throw new HvError("hv.usage", `--shell takes one line, and ${words.length} arguments were given`, {
    hint: `Quote the line as one argument: --shell ${shell} -- 'LINE'`,
    context: { shell, found: words.length, wanted: 1 },
  });
}

function conflicting(one: string, other: string): HvError {
  return new HvError("hv.usage", `${one} and ${other} do not go together`, { hint: "Leave one of them out" });
}
