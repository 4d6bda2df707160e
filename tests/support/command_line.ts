/** The command line inside the test's own process, on a terminal in memory and the sample tools. */

import { run } from "../../src/cli/run.ts";
import type { ServeOptions } from "../../src/cli/surroundings.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import type { Host } from "../../src/host/host.ts";
import type { PermissionKind } from "../../src/host/permissions.ts";
import type { Catalogue } from "../../src/tools/tool.ts";
import { sampleCatalogue } from "./sample_tools.ts";
import { TestTerminal, type TestTerminalOptions } from "./test_terminal.ts";

export interface CommandLineOptions extends TestTerminalOptions {
  catalogue?: Catalogue;
  env?: Record<string, string>;
  /** The platform's folders lie in it; it need not exist. */
  folder?: string;
  /** Called once the command runs. */
  during?: (terminal: TestTerminal) => void;
}

export interface CommandLineOutcome {
  code: number;
  out: string;
  err: string;
  stdoutBytes: Uint8Array;
  dropped: PermissionKind[];
  served: ServeOptions[];
  /** The tools whose modules were loaded, in order. */
  loadedTools: string[];
  terminal: TestTerminal;
}

/** Runs one command line to its end. */
export async function runCommandLine(
  argv: readonly string[],
  { catalogue = sampleCatalogue, env = {}, folder = "/nonexistent", during, ...terminalOptions }:
    CommandLineOptions = {},
): Promise<CommandLineOutcome> {
  const terminal = TestTerminal.with(terminalOptions);
  const dropped: PermissionKind[] = [];
  const served: ServeOptions[] = [];
  const loadedTools: string[] = [];
  const running = run(argv, {
    openHost: () => hostFor(terminal, env, folder, dropped),
    catalogue: {
      ...catalogue,
      load: (name) => {
        loadedTools.push(name);
        return catalogue.load(name);
      },
    },
    serveMcp: (options) => {
      served.push(options);
      return Promise.resolve(3);
    },
  });
  during?.(terminal);
  const code = await running;
  return {
    code,
    out: terminal.out,
    err: terminal.err,
    stdoutBytes: Uint8Array.from(terminal.stdoutBytes),
    dropped,
    served,
    loadedTools,
    terminal,
  };
}

/** Does something to the terminal as soon as the command listens for interrupts. */
export function whenWatched(act: (terminal: TestTerminal) => void): (terminal: TestTerminal) => void {
  return when(({ isWatched }) => isWatched, act);
}

/** Does something to the terminal as soon as the command has printed something. */
export function whenPrinted(act: (terminal: TestTerminal) => void): (terminal: TestTerminal) => void {
  return when(({ stdoutBytes }) => stdoutBytes.length > 0, act);
}

function when(
  isSo: (terminal: TestTerminal) => boolean,
  act: (terminal: TestTerminal) => void,
): (terminal: TestTerminal) => void {
  return (terminal) => {
    const timer = setInterval(() => {
      if (!isSo(terminal)) return;
      clearInterval(timer);
      act(terminal);
    }, 1);
  };
}

function hostFor(
  terminal: TestTerminal,
  env: Record<string, string>,
  folder: string,
  dropped: PermissionKind[],
): Host {
  return {
    ...openDenoHost(),
    terminal,
    environment: {
      get: (name) => env[name],
      configFolder: () => `${folder}/config`,
      stateFolder: () => `${folder}/state`,
      runtimeFolder: () => `${folder}/run`,
    },
    permissions: { drop: (kinds) => dropped.push(...kinds), canRun: () => true },
  };
}
