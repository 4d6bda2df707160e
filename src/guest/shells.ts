/** The shells and interpreters of guests, as argument vectors. */

import { HvError } from "../base/errors.ts";
import type { GuestFamily } from "./channel.ts";
import { encodedCommand } from "./windows/encoded_command.ts";

/** The shells that a line or a script can be written for. */
export const INTERPRETERS = ["sh", "bash", "powershell", "pwsh", "cmd", "python"] as const;
export type Interpreter = typeof INTERPRETERS[number];

/** The shells that take a line; a line for `cmd` would be read twice, by Windows and by itself, so it comes as a script. */
export const LINE_SHELLS = ["sh", "bash", "powershell", "pwsh"] as const;
export type LineShell = typeof LINE_SHELLS[number];

const QUIET = ["-NoProfile", "-NonInteractive"] as const;

/** The argument vector with which a shell runs one line. PowerShell gets it encoded, since it would split words anew. */
export function lineCommand(shell: LineShell, line: string): string[] {
  switch (shell) {
    case "sh":
      return ["/bin/sh", "-c", line];
    case "bash":
      return ["bash", "-c", line];
    case "powershell":
      return encodedCommand("powershell.exe", line);
    case "pwsh":
      return encodedCommand("pwsh", line);
  }
}

/** How a guest runs a script file, and how that file has to be. */
export interface ScriptForm {
  argv: (file: string) => string[];
  ending: string;
  /** Windows PowerShell 5.1 takes a file without this mark for one of the old code page. */
  byteOrderMark: boolean;
}

/** Throws `hv.unsupported` for an interpreter that guests of this family do not have. */
export function scriptForm(interpreter: Interpreter, family: GuestFamily): ScriptForm {
  const plain = (ending: string, ...words: string[]): ScriptForm => ({
    argv: (file) => [...words, file],
    ending,
    byteOrderMark: false,
  });
  const windows = family === "windows";
  switch (interpreter) {
    case "sh":
      if (!windows) return plain(".sh", "/bin/sh");
      break;
    case "bash":
      return plain(".sh", "bash");
    case "python":
      return plain(".py", windows ? "python" : "python3");
    case "pwsh":
      return plain(".ps1", "pwsh", ...QUIET, "-File");
    case "powershell":
      if (!windows) break;
      return {
        ...plain(".ps1", "powershell.exe", ...QUIET, "-ExecutionPolicy", "Bypass", "-File"),
        byteOrderMark: true,
      };
    case "cmd":
      if (windows) return plain(".cmd", "cmd.exe", "/d", "/c");
  }
  const known = INTERPRETERS.filter((other) =>
    windows ? other !== "sh" : other !== "cmd" && other !== "powershell"
  );
  throw new HvError("hv.unsupported", `A ${windows ? "Windows" : "Linux"} guest has no "${interpreter}"`, {
    hint: `It has ${known.join(", ")}`,
    context: { interpreter, family },
  });
}

const ENDINGS: Readonly<Record<string, Interpreter>> = {
  sh: "sh",
  bash: "bash",
  ps1: "powershell",
  cmd: "cmd",
  bat: "cmd",
  py: "python",
};

/** The interpreter that a script names by its first line, else by its file's ending, else the usual one of the guest. */
export function guessInterpreter(path: string | undefined, text: string, family: GuestFamily): Interpreter {
  const [, program] = /^#!\s*(?:\S*\/env\s+(?:-\S+\s+)*)?(?:\S*\/)?([A-Za-z]+)/.exec(text) ?? [];
  const named = INTERPRETERS.find((known) => known === program);
  if (named !== undefined) return named;
  const ending = /\.([A-Za-z0-9]+)$/.exec(path ?? "")?.[1]?.toLowerCase() ?? "";
  const guessed = ENDINGS[ending];
  if (guessed === "powershell") return family === "windows" ? "powershell" : "pwsh";
  return guessed ?? (family === "windows" ? "powershell" : "sh");
}
