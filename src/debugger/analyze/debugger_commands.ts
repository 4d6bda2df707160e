/** Debugger commands as callers give them: taken apart, checked, and put into a script. */

import { HvError } from "../../base/errors.ts";

const LONGEST_COMMAND = 1024;
const MOST_COMMANDS = 64;
/** What a command file can hold on every system: its encoding is the debugger's own. */
const PRINTABLE = /^[ -~]+$/;

/**
 * Splits `lm; k` at semicolons that stand outside quotes and braces. Throws `hv.usage` for nothing, for control
 * characters and line breaks, for letters beyond ASCII, and for commands that end the debugger.
 */
export function splitCommands(text: string): string[] {
  if (!PRINTABLE.test(text)) {
    throw refused(`Debugger commands are one line of plain ASCII`, "Separate commands by semicolons", text);
  }
  const commands: string[] = [];
  let start = 0;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    if (character === '"') quoted = !quoted;
    else if (!quoted && character === "{") depth++;
    else if (!quoted && character === "}") depth--;
    else if (character === undefined || (character === ";" && !quoted && depth <= 0)) {
      const command = text.slice(start, at).trim();
      if (command !== "") commands.push(command);
      start = at + 1;
    }
  }
  if (commands.length === 0) throw refused("There is no debugger command", "For example: lm; k", text);
  if (commands.length > MOST_COMMANDS || commands.some((command) => command.length > LONGEST_COMMAND)) {
    throw refused(
      `At most ${MOST_COMMANDS} commands of ${LONGEST_COMMAND} characters are taken`,
      "Ask for less at once",
      text,
    );
  }
  const ending = commands.find((command) => ENDING.test(command));
  if (ending !== undefined) {
    throw refused(`"${ending}" would end the debugger`, "Leave it out: it ends by itself", text);
  }
  return commands;
}

const ENDING = /^(?:q|qq|qd|qqd|\.detach|\.kill|\.restart)$/i;

/** Arguments without quotes, braces, assignments and aliases: nothing in them is read twice. */
const PLAIN_ARGUMENT = String.raw`[\w!@+\-*?.,:()&<>/\\\x60 ]*`;
const REGISTER_ARGUMENT = String.raw`[\w@:, ]*`;

/**
 * What may be asked through a door that no person types at: commands that read and nothing else. `dx` is not among
 * the `d` commands, since its language writes files, and `!analyze` takes only flags that name no file.
 */
const READING: readonly RegExp[] = [
  new RegExp(`^lm[a-zA-Z0-9]*(?: ${PLAIN_ARGUMENT})?$`),
  new RegExp(`^k[bcdpPvnfL]*(?: ${PLAIN_ARGUMENT})?$`),
  new RegExp(`^r(?:F|X|Y|M[0-9a-fA-F]* ?)?(?: ${REGISTER_ARGUMENT})?$`),
  new RegExp(
    `^d(?:[aAbBcCdDfFpPqQuUwW]|yb|yd|d[aps]|q[aps]|p[aps]|da|du|qa|qu|pa|pu|l|s|S|t|v|g)?(?: ${PLAIN_ARGUMENT})?$`,
  ),
  new RegExp(`^u[bfpur]?(?: ${PLAIN_ARGUMENT})?$`),
  new RegExp(`^x(?: ${PLAIN_ARGUMENT})?$`),
  /^!analyze(?: -(?:v+|v[0-9]{1,2}|f|hang|D))*$/,
];

/**
 * Refuses every command that does more than read. `named` are the first words of commands that the owner of this
 * host allows as well. Throws `hv.policy_denied`.
 */
export function checkReadingOnly(commands: readonly string[], named: readonly string[]): void {
  for (const command of commands) {
    const [word = ""] = command.split(/\s/, 1);
    // What a command makes of quotes and braces is its own affair: behind a semicolon in them another one may begin.
    const isNamed = named.includes(word) && !command.includes(";");
    if (isNamed || READING.some((form) => form.test(command))) continue;
    throw new HvError("hv.policy_denied", `The debugger command "${command}" is not allowed here`, {
      hint:
        "lm, k, r, d, u, x and !analyze are; the owner of this host names others under policy.debugger_commands",
      context: { command },
    });
  }
}

/** The line that the debugger prints before command `index`; one more stands after the last. Nobody can guess it. */
export function markerOf(run: string, index: number): string {
  return `hvlab-${run}-${index}`;
}

/**
 * The command file: each command on its own line between markers, then the end. Its first command takes the shell away
 * for good: a wrapper may have lost the option that does.
 */
export function scriptOf(commands: readonly string[], run: string): string {
  const lines = commands.flatMap((command, index) => [`.echo ${markerOf(run, index)}`, command]);
  return [".noshell", ".lines -e", ...lines, `.echo ${markerOf(run, commands.length)}`, "q", ""].join("\r\n");
}

/** A command with what the debugger printed for it. */
export interface CommandText {
  readonly command: string;
  readonly text: string;
  /** Whether the marker after it came. */
  readonly complete: boolean;
}

/**
 * Cuts a debugger's text at its markers. `banner` is what came before the first command; commands whose first marker
 * never came are left out. A prompt with the echo of a command is no part of its text.
 */
export function cutAtMarkers(
  text: string,
  commands: readonly string[],
  run: string,
): { banner: string; commands: CommandText[] } {
  const lines = text.split(/\r?\n/);
  const places: number[] = [];
  for (let at = 0; at < lines.length && places.length <= commands.length; at++) {
    if (lines[at] === markerOf(run, places.length)) places.push(at);
  }
  const found = places.slice(0, commands.length).map((place, index) => {
    const next = places[index + 1];
    return {
      command: commands[index] ?? "",
      text: withoutEchoes(lines.slice(place + 1, next ?? lines.length), commands[index] ?? "").join("\n"),
      complete: next !== undefined,
    };
  });
  return { banner: lines.slice(0, places[0] ?? lines.length).join("\n"), commands: found };
}

const PROMPT = /^(?:\d+: )?(?:kd|\d+:\d{3}(?::\w+)?)> ?/;

function withoutEchoes(lines: readonly string[], command: string): string[] {
  return lines.filter((line) => {
    const prompt = PROMPT.exec(line);
    if (prompt === null) return true;
    const rest = line.slice(prompt[0].length).trim();
    return rest !== command && rest !== "" && !rest.startsWith(".echo hvlab-");
  });
}

function refused(message: string, hint: string, command: string): HvError {
  return new HvError("hv.usage", message, { hint, context: { command } });
}
