/**
 * The few lines of shell that run in a guest. They are fixed: what a caller gives reaches them as arguments and is
 * never part of their text. A script that fails prints one word on stdout and says more on stderr.
 */

import { END_TREE } from "../../../guest/posix/end_tree.ts";
import { DEFINE_FIND, FIND_PROGRAM } from "../../../guest/posix/find_program.ts";

/** Where a private place for FIFOs is looked for, best first. */
export const FIFO_FOLDERS = ["/tmp", "/run", "/dev/shm"] as const;

/** The descriptors of the pipes in {@link START_PROGRAM}, as the agent finds them under `/proc/PID/fd`. */
export const PIPE_DESCRIPTORS = { out: 9, err: 8, gate: 7 } as const;

/**
 * Starts a program with its streams on pipes and in a session of its own, so that it can be ended with all its
 * children. Arguments: a word by which {@link FIND_WAITING} finds it, nothing or the path of FIFOs without their endings,
 * working folder or nothing, PATH or nothing, how many variables follow, the variables, the argument vector. The program
 * is looked up first, because afterwards nobody could tell its exit code 127 from ours.
 *
 * An empty here-document is a pipe in dash and busybox: that costs no other program, where FIFOs take three (each some
 * 7 ms in an emulated guest), and leaves no file. Elsewhere (bash 5.2 takes /dev/null) the word is `pipe`, and FIFOs
 * serve. The stream `out` is made last, when both the kind of the streams and a reader at the gate are sure: whoever
 * sees it may open all, and what goes into the gate stays there. The program begins when a line comes through it.
 */
export const START_PROGRAM = `
hv_fail() { echo "$1"; exit 125; }
${DEFINE_FIND}set -f
hv_base=$2 hv_cwd=$3 hv_search=\${4:-$PATH} hv_count=$5
shift 5
hv_tools=$PATH:/usr/bin:/bin:/usr/sbin:/sbin
if [ -n "$hv_base" ]; then
  hv_find mkfifo "$hv_tools" || hv_fail mkfifo; hv_mkfifo=$hv_found
  hv_find rm "$hv_tools" || hv_fail rm; hv_rm=$hv_found
fi
hv_find setsid "$hv_tools" || hv_fail setsid; hv_setsid=$hv_found
if [ -n "$hv_cwd" ]; then CDPATH= cd -- "$hv_cwd" >/dev/null || hv_fail cwd; fi
${FIND_PROGRAM}if [ -z "$hv_base" ]; then
  hv_own=/proc/self/fd
  exec 7<<'HV' 8<<'HV'
HV
HV
  [ -p $hv_own/7 ] && [ -p $hv_own/8 ] || hv_fail pipe
  exec 9<<'HV'
HV
  exec </dev/null >$hv_own/9 2>$hv_own/8 7<>$hv_own/7
  read hv_go <&7
  exec 7<&- 8<&- 9<&-
else
  "$hv_mkfifo" -m 600 -- "$hv_base.i" "$hv_base.e" || hv_fail place
  exec 7<>"$hv_base.i"
  "$hv_mkfifo" -m 600 -- "$hv_base.o" || hv_fail place
  exec </dev/null >"$hv_base.o" 2>"$hv_base.e"
  read hv_go <&7
  exec 7<&-
  "$hv_rm" -f -- "$hv_base.i" "$hv_base.e" "$hv_base.o"
fi
while [ "$hv_count" -gt 0 ]; do export "$1"; shift; hv_count=$((hv_count - 1)); done
exec "$hv_setsid" -- "$@"
`;

/**
 * Prints the process id of a program that waits at the gate of {@link START_PROGRAM}, or nothing. Argument: its word. A
 * shell drops the zero bytes between the arguments as it reads them.
 */
export const FIND_WAITING = `
for hv_file in /proc/[0-9]*/cmdline; do
  hv_pid=\${hv_file#/proc/} hv_pid=\${hv_pid%/cmdline}
  [ "$hv_pid" != "$$" ] || continue
  while IFS= read -r hv_line || [ -n "$hv_line" ]; do
    case $hv_line in *"$1"*) echo "$hv_pid"; exit 0;; esac
  done <"$hv_file"
done 2>/dev/null
`;

/**
 * Prints for how many hundredths of a second the agent, which runs this, has been there: Linux counts both numbers in them
 * for programs (USER_HZ).
 */
export const AGENT_AGE = `
IFS= read -r hv_text </proc/$PPID/stat
read -r hv_uptime hv_rest </proc/uptime
set -f
set -- \${hv_text##*) }
echo $((\${hv_uptime%.*}\${hv_uptime#*.} - \${20}))
`;

/**
 * Ends a program started by {@link START_PROGRAM}: everything in its session and everything that descends from
 * it, looked for again until nothing is left. Arguments: process id, path of its FIFOs or nothing. Succeeds when it is gone.
 */
export const END_PROGRAM = `
[ -z "$2" ] || rm -f -- "$2.i" "$2.e" "$2.o"
${END_TREE}`;
