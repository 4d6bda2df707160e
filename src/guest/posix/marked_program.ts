/**
 * Starting a program in a POSIX guest so that what we say on its streams can be told from what it says. Every line of
 * ours begins with a mark that only this call knows. What a caller gives reaches the script as arguments and is never
 * part of its text.
 */

import { HvError } from "../../base/errors.ts";
import type { GuestCommand, GuestExit } from "../channel.ts";
import { END_TREE_OF_ROOT } from "./end_tree.ts";
import { DEFINE_FIND, FIND_PROGRAM } from "./find_program.ts";

/** What follows the mark on a line of ours. */
export const SIGNS = { begun: ">", ended: "<", failed: "!" } as const;

/** A mark that no program writes by chance. */
export function newMark(): string {
  return `\x1e${crypto.randomUUID()}`;
}

/**
 * Looks everything up before the program begins, since afterwards nobody could tell its exit code 127 from ours. What
 * fails is said in a line of ours on stderr. Arguments: mark, working folder or nothing, user or nothing, PATH or
 * nothing, `feed` for a program that reads what we send, how many variables follow, the variables, the argument
 * vector. Afterwards `$@` is what has to be executed.
 */
const PREPARE = `
hv_fail() { printf '%s!%s\\n' "$hv_mark" "$1" >&2; exit 125; }
${DEFINE_FIND}set -f
hv_mark=$1 hv_cwd=$2 hv_user=$3 hv_search=\${4:-$PATH} hv_feed=$5 hv_count=$6
shift 6
if [ -n "$hv_cwd" ]; then CDPATH= cd -- "$hv_cwd" >/dev/null 2>&1 || hv_fail cwd; fi
${FIND_PROGRAM}hv_as=
if [ -n "$hv_user" ]; then
  [ "$(id -u)" = 0 ] || hv_fail privilege
  id -u "$hv_user" >/dev/null 2>&1 || hv_fail user
  hv_tools=$PATH:/usr/sbin:/sbin:/usr/bin:/bin
  if hv_find runuser "$hv_tools"; then hv_as=$hv_found
  elif hv_find setuidgid "$hv_tools"; then hv_as=$hv_found
  elif hv_find su "$hv_tools"; then hv_as=$hv_found
  else hv_fail switch
  fi
  eval "HOME=~$hv_user" USER=$hv_user LOGNAME=$hv_user
  export HOME USER LOGNAME
fi
while [ "$hv_count" -gt 0 ]; do export "$1"; shift; hv_count=$((hv_count - 1)); done
case $hv_as in
  */runuser) set -- "$hv_as" -u "$hv_user" -- "$@";;
  */setuidgid) set -- "$hv_as" "$hv_user" "$@";;
  */su) set -- "$hv_as" -s /bin/sh -c 'exec "$@"' -- "$hv_user" hvlab "$@";;
esac
`;

/**
 * Runs the program as a child and says how it ended, on both streams, so that all it wrote stands before. The first
 * line of ours carries the process id under which everything that it starts is found, also what lost its parent, where
 * the guest can give it a session. The program begins with the line that answers it: who did not see ours knows that
 * nothing has begun. The last line carries the shell's own words, if it has any, and its code: dash and busybox tell a
 * program that a signal has ended only by such words.
 *
 * A program that reads nothing of ours has our stream as its life line: while it runs nothing comes there, and when it
 * ends, as with whoever holds the other end, the program is ended with all that it started.
 */
export const RUN_MARKED = `${PREPARE}
if hv_find setsid "$PATH:/usr/bin:/bin"; then set -- "$hv_found" -- "$@"; fi
printf '%s>\\n' "$hv_mark"
printf '%s>%s\\n' "$hv_mark" "$$" >&2
IFS= read -r hv_go || exit 125
hv_watcher=
if [ "$hv_feed" != feed ]; then
  exec 5<&0 </dev/null
  {
    IFS= read -r hv_rest <&5
    IFS= read -r hv_line </proc/self/stat
    hv_root=$$ hv_spared=\${hv_line%% *}
    set +f
    ${END_TREE_OF_ROOT}
  } >/dev/null 2>&1 &
  hv_watcher=$!
  exec 5<&-
fi
exec 3>&1 4>&2
hv_end=$({ (exec "$@" >&3 2>&4 3>&- 4>&-); echo "$?"; } 2>&1)
[ -z "$hv_watcher" ] || { kill -KILL "$hv_watcher"; wait "$hv_watcher"; } 2>/dev/null
hv_words=\${hv_end%"\${hv_end##*[!0-9]}"}
printf '%s<%s%s\\n' "$hv_mark" "\${hv_words:+!}" "\${hv_end##*[!0-9]}" >&2
printf '%s<\\n' "$hv_mark"
exit 0
`;

/** Above this a shell's code means a signal, when it says so in words. */
const SIGNAL_BASE = 128;

/** Reads what the last line carries. */
export function readEnd(word: string): GuestExit {
  const code = Number(word.replace("!", ""));
  return word.startsWith("!") && code > SIGNAL_BASE
    ? { exit_code: null, signal: code - SIGNAL_BASE }
    : { exit_code: code, signal: null };
}

/** Becomes the program, whose input is a file that is gone by then. Arguments: that file or nothing, then those of PREPARE. */
export const BECOME_MARKED = `
hv_input=$1
shift
${PREPARE}
if [ -n "$hv_input" ]; then
  exec <"$hv_input" || hv_fail input
  rm -f -- "$hv_input"
fi
printf '%s>\\n' "$hv_mark" >&2
exec "$@"
`;

/** The arguments of the scripts above for one command. */
export function markedArguments(
  mark: string,
  { argv, cwd = "", env = {}, run_as = "", stdin }: GuestCommand,
): string[] {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  // A shell takes "-" for the folder before.
  const folder = cwd === "-" ? "./-" : cwd;
  const feed = stdin === undefined ? "" : "feed";
  return [mark, folder, run_as, env.PATH ?? "", feed, String(variables.length), ...variables, ...argv];
}

/** The word that a script said before the program began, in the codes of hvlab. */
export function setupFailure(word: string, { argv, cwd = "", run_as: user = "" }: GuestCommand): HvError {
  const [program = ""] = argv;
  switch (word) {
    case "cwd":
      return new HvError("hv.not_found", `There is no folder "${cwd}" in the guest to start in`, {
        hint: "Make it first, or name another --cwd",
        context: { program, path: cwd },
      });
    case "program":
      return new HvError("hv.not_found", `There is no program "${program}" in the guest`, {
        hint: "Check its name and the PATH of the guest; built-in words of a shell need `--shell sh`",
        context: { program },
      });
    case "executable":
      return new HvError("hv.not_found", `"${program}" in the guest is not executable`, {
        hint: "Make it executable, or name its interpreter as the program",
        context: { program },
      });
    case "user":
      return new HvError("hv.not_found", `There is no user "${user}" in the guest`, {
        hint: "Look at the guest's /etc/passwd",
        context: { program, user },
      });
    case "privilege":
      return new HvError(
        "hv.unsupported",
        `Cannot run as "${user}": the channel has no privilege in the guest`,
        {
          hint: "Log in as root, or use the guest agent",
          context: { program, user },
        },
      );
    case "switch":
      return new HvError(
        "hv.unsupported",
        `Cannot run as "${user}": the guest has no runuser, setuidgid or su`,
        {
          hint: "Install util-linux or busybox in the guest, or log in as that user",
          context: { program, user },
        },
      );
    default:
      return new HvError("hv.io", `The guest's shell could not start "${program}": ${word}`, {
        hint: "Look whether its disk is full",
        context: { program, reason: word },
      });
  }
}

/**
 * A text as one line that any POSIX shell evaluates to that very text: a line end stands as `"$hv_n"`, which must
 * hold one.
 */
export function quoteInLine(text: string): string {
  return `'${text.replaceAll("'", `'\\''`).replaceAll("\n", `'"$hv_n"'`)}'`;
}

/** One line that runs a script with arguments when a POSIX shell evaluates it. */
export function scriptInLine(script: string, args: readonly string[]): string {
  const words = args.map(quoteInLine).join(" ");
  // A new shell's IFS is a space, a tab and a line end (POSIX), which saves a process in the guest.
  return `hv_n=\${IFS#??}; set -- ${words}; eval ${quoteInLine(script)}\n`;
}
