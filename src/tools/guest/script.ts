import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { EnvAssignment, readEnvironment } from "../../contract/arguments.ts";
import { ExecResult } from "../../contract/guest.ts";
import { ACCESS_FIELDS, ACCESS_HELP, GUEST_ACCESS } from "../../contract/guest_access.ts";
import { VmRef } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { openInput } from "../../flows/guest/guest_input.ts";
import { wayOfUser } from "../../flows/guest/run_as.ts";
import { runScriptInGuest } from "../../flows/guest/run_script.ts";
import { useGuest } from "../../flows/guest/use_guest.ts";
import { INTERPRETERS } from "../../guest/shells.ts";
import type { Host } from "../../host/host.ts";
import { defineTool } from "../define_tool.ts";

/** Runs a script of this host in a guest, as a file that is gone afterwards. */
export default defineTool({
  name: "guest_script",
  family: "guest",
  class: "X",
  summary: "Run a script of this host in a guest",
  input: {
    vm: VmRef,
    script: z.optional(Path),
    text: z.optional(z.string().check(z.minLength(1), z.maxLength(1024 * 1024))),
    interpreter: z.optional(z.enum(INTERPRETERS)),
    arg: z._default(z.array(z.string()).check(z.maxLength(4096)), []),
    env: z._default(z.array(EnvAssignment), []),
    cwd: z.optional(Path),
    stdin: z.optional(Path),
    run_as: z.optional(z.string().check(z.minLength(1))),
    ...GUEST_ACCESS,
  },
  positional: ["vm", "script"],
  unlisted: ["stdin", "run_as", ...ACCESS_FIELDS],
  help: {
    script: "File of this host",
    text: "The script itself, in place of a file",
    interpreter: "What reads it; from its first line or its name when left out",
    arg: "Argument of the script",
    env: "Variable of the script's environment, written NAME=VALUE",
    cwd: "Folder of the guest in which it runs",
    stdin: "File of this host that the script reads, or - for our own input",
    run_as: "The guest's user that it runs as",
    ...ACCESS_HELP,
  },
  output: ExecResult,
  uses: ["driver", "vm"],
  feature: "guest",
  timed: true,
  runsProgram: true,
  async plan({ script, text, arg }, { host, vm }) {
    const bytes = await readScript(host, script, text);
    const shown = script === undefined ? "a script" : `"${script}"`;
    return {
      summary: `Run ${shown} (${bytes.length} bytes) with ${
        JSON.stringify(arg)
      } in the guest of "${vm.name}"`,
      losses: [],
      fingerprint: { id: vm.id, state: vm.state, pid: vm.pid ?? null, script: await digestOf(bytes) },
    };
  },
  async handle({ script, text, interpreter, arg, env, cwd, stdin, run_as, ...access }, context) {
    const { host, state, door } = context;
    const bytes = await readScript(host, script, text);
    using input = stdin === undefined ? undefined : await openInput(host, stdin, door === "cli");
    const whole = context.sinks === undefined ? { host, folder: state.results } : undefined;
    return await useGuest(context, access, async (given) => {
      const { channel, ...as } = await wayOfUser(given, run_as, context.warn);
      return await runScriptInGuest(channel, {
        bytes,
        path: script,
        interpreter,
        args: arg,
        env: readEnvironment(env),
        ...(cwd === undefined ? {} : { cwd }),
        ...as,
        ...(input === undefined ? {} : { stdin: input.feed }),
      }, { ...context, whole, passing: context, clock: host.clock });
    });
  },
});

async function readScript(
  host: Host,
  path: string | undefined,
  text: string | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  if ((path === undefined) === (text === undefined)) {
    throw new HvError("hv.usage", path === undefined ? "No script was given" : "A script was given twice", {
      hint: "Name a file, or give --text",
    });
  }
  if (path === undefined) return new TextEncoder().encode(text);
  if (await host.files.stat(path, { follow: true }) === undefined) {
    throw new HvError("hv.not_found", `There is no file "${path}" on this host`, {
      hint: "Check the path",
      context: { path },
    });
  }
  using file = host.files.open(path);
  return file.read(0, file.size).slice();
}

async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
