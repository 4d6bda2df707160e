/** Commands that are not tools: `tools`, `completions`, `version`, `mcp`. None of them touches a VM. */

import { HvError } from "../base/errors.ts";
import { suggest } from "../base/suggest.ts";
import { VERSION } from "../base/version.ts";
import { PROTOCOL_REVISIONS } from "../contract/protocol_revisions.ts";
import { DRIVER_NAMES } from "../drivers/index.ts";
import type { Host } from "../host/host.ts";
import { runtimeVersions } from "../host/runtime.ts";
import type { Catalogue } from "../tools/tool.ts";
import { inColumns } from "./columns.ts";
import { commandOf, type OwnCommand } from "./commands.ts";
import { givenTwice, GLOBAL_FLAGS, type GlobalOptions, takesNoValue, valueOf } from "./globals.ts";
import { renderObject } from "./render.ts";
import type { Screen } from "./screen.ts";
import { findStateFolder, loadSettings, type Surroundings } from "./surroundings.ts";
import type { Token } from "./tokens.ts";

const SERVE_FLAGS = ["--toolsets", "--read-only"];

/** What a command of our own works with. */
export interface OwnCall {
  surroundings: Surroundings;
  host: Host;
  catalogue: Catalogue;
  options: GlobalOptions;
  screen: Screen;
  tokens: readonly Token[];
  rest: readonly string[] | undefined;
}

/** Runs one of them and answers the exit code; failures are thrown. */
export async function runOwnCommand(command: Exclude<OwnCommand, "help">, call: OwnCall): Promise<number> {
  if (call.rest !== undefined) throw unwanted(command, "--");
  switch (command) {
    case "tools":
      return await listTools(call);
    case "completions":
      return await printCompletions(call);
    case "version":
      return await showVersion(call);
    case "mcp":
      return await serve(call);
  }
}

async function listTools({ catalogue, screen, tokens }: OwnCall): Promise<number> {
  refuseAll("tools", tokens);
  const tools = (await catalogue.loadAll()).map(({ name, class: toolClass, family, summary }) => ({
    name: `hv_${name}`,
    command: commandOf(name),
    class: toolClass,
    family,
    summary,
  }));
  await screen.answer(
    { tools },
    () => inColumns(tools.map((tool) => [tool.command, tool.class, tool.summary])),
  );
  return 0;
}

async function printCompletions({ catalogue, screen, tokens }: OwnCall): Promise<number> {
  const { completionScript, readShell } = await import("./completions.ts");
  const [first, second] = tokens;
  if (first?.kind === "flag") throw unwanted("completions", first.text);
  const shell = readShell(first?.text);
  if (second !== undefined) throw unwanted("completions", second.text);
  const script = completionScript(shell, await catalogue.loadAll());
  await screen.answer({ shell, script }, () => script);
  return 0;
}

async function showVersion(call: OwnCall): Promise<number> {
  const { surroundings, catalogue, options, screen, tokens } = call;
  refuseAll("version", tokens);
  const settings = await loadSettings(surroundings, call.host, options, catalogue);
  const { host, config } = settings;
  const state = await findStateFolder(settings, options);
  const { deno, v8 } = runtimeVersions();
  const facts = {
    version: VERSION,
    deno,
    v8,
    os: host.os,
    arch: host.machine.architecture(),
    protocol_revisions: [...PROTOCOL_REVISIONS],
    driver: options.driver ?? config.driver ?? DRIVER_NAMES[0] ?? null,
    drivers: [...DRIVER_NAMES],
    state: state.root,
    config: config.file,
  };
  await screen.answer(facts, () => renderObject(facts));
  return 0;
}

async function serve({ surroundings, host, catalogue, options, tokens }: OwnCall): Promise<number> {
  if (options.json) throw unwanted("mcp", "--json", SERVE_FLAGS);
  const flags = readServeFlags(tokens);
  const settings = await loadSettings(surroundings, host, options, catalogue);
  return await surroundings.serveMcp({
    ...settings,
    ...flags,
    state: await findStateFolder(settings, options),
    version: VERSION,
    ...(options.driver === undefined ? {} : { driverName: options.driver }),
    ...(surroundings.startKeeper === undefined ? {} : { startKeeper: surroundings.startKeeper }),
    ...(surroundings.startFollower === undefined ? {} : { startFollower: surroundings.startFollower }),
  });
}

/** `--toolsets vm,guest` (also repeated) and `--read-only`; the server itself knows which toolsets there are. */
function readServeFlags(tokens: readonly Token[]): { toolsets: string[]; readOnly: boolean } {
  const toolsets: string[] = [];
  let readOnly = false;
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined) continue;
    if (token.kind === "flag" && token.name === "toolsets") {
      toolsets.push(...valueOf(token, tokens[index + 1]).split(",").map((word) => word.trim()));
      if (token.value === undefined) index++;
    } else if (token.kind === "flag" && token.name === "read-only") {
      if (token.value !== undefined) throw takesNoValue(token.text, "Write --read-only alone");
      if (readOnly) throw givenTwice(token.text);
      readOnly = true;
    } else throw unwanted("mcp", token.text, SERVE_FLAGS);
  }
  return { toolsets, readOnly };
}

function refuseAll(command: OwnCommand, tokens: readonly Token[]): void {
  const [first] = tokens;
  if (first !== undefined) throw unwanted(command, first.text);
}

function unwanted(command: OwnCommand, text: string, own: readonly string[] = []): HvError {
  const known = [...own, ...GLOBAL_FLAGS.map(({ name }) => `--${name}`)];
  const near = text.startsWith("--") ? suggest(text, known) : undefined;
  const takes = own.length === 0 ? "It takes only the global flags" : `It takes ${own.join(", ")}`;
  return new HvError("hv.usage", `"${command}" does not take "${text}"`, {
    hint: near === undefined || near === text ? takes : `Did you mean "${near}"? ${takes}`,
    context: { command, argument: text, known },
  });
}
