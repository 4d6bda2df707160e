/** Completion scripts: static text made from the tools, which asks nothing back while a person types. */

import { HvError } from "../base/errors.ts";
import { suggest } from "../base/suggest.ts";
import type { Tool } from "../tools/tool.ts";
import { bashScript } from "./completions/bash.ts";
import { fishScript } from "./completions/fish.ts";
import { type CompletionModel, completionModel, type Shell, SHELLS } from "./completions/model.ts";
import { powershellScript } from "./completions/powershell.ts";
import { zshScript } from "./completions/zsh.ts";

const SCRIPT_OF: Record<Shell, (model: CompletionModel) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
};

/** The script for a shell. */
export function completionScript(shell: Shell, tools: readonly Tool[]): string {
  return SCRIPT_OF[shell](completionModel(tools));
}

/** The shell that a word names; throws `hv.usage` that lists them. */
export function readShell(word: string | undefined): Shell {
  const shell = SHELLS.find((known) => known === word);
  if (shell !== undefined) return shell;
  const near = word === undefined ? undefined : suggest(word === "pwsh" ? "powershell" : word, SHELLS);
  throw new HvError(
    "hv.usage",
    word === undefined
      ? `"completions" needs the name of a shell`
      : `There is no completion for the shell "${word}"`,
    {
      hint: `${near === undefined ? "" : `Did you mean "${near}"? `}Shells are ${SHELLS.join(", ")}`,
      context: { known: [...SHELLS], ...(near === undefined ? {} : { suggestion: near }) },
    },
  );
}
