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
 * children. Arguments: nothing or the path of FIFOs without their endings, working folder or nothing, PATH or nothing,
 * how many variables follow, the variables, the argument vector. The program is looked up first, because afterwards
 * nobody could tell its exit code 127 from ours.
 *
 * An empty here-document is a pipe in dash, busybox and bash from 5.1 on: that costs no other program, where FIFOs take
 * two (each some 7 ms in an emulated guest), and leaves no file. Elsewhere the word is `pipe`, and FIFOs serve. The
 * stream `out` is made last: whoever sees it may open all. The program begins when a line comes through the gate.
 */
export const START_PROGRAM = `
hv_fail() { echo "$1"; exit 125; }
${DEFINE_FIND}set -f
hv_base=$1 hv_cwd=$2 hv_search=\${3:-$PATH} hv_count=$4
shift 4
hv_tools=$PATH:/usr/bin:/bin:/usr/sbin:/sbin
if [ -n "$hv_base" ]; then
  hv_find mkfifo "$hv_tools" || hv_fail mkfifo; hv_mkfifo=$hv_found
  hv_find rm "$hv_tools" || hv_fail rm; hv_rm=$hv_found
fi
hv_find setsid "$hv_tools" || hv_fail setsid; hv_setsid=$hv_found
if [ -n "$hv_cwd" ]; then CDPATH= cd -- "$hv_cwd" >/dev/null || hv_fail cwd; fi
${FIND_PROGRAM}if [ -z "$hv_base" ]; then
  exec 7<<'HV' 8<<'HV' 9<<'HV'
HV
HV
HV
  hv_own=/proc/self/fd
  [ -p $hv_own/7 ] && [ -p $hv_own/8 ] && [ -p $hv_own/9 ] || hv_fail pipe
  exec </dev/null >$hv_own/9 2>$hv_own/8 7<>$hv_own/7
  read hv_go <&7
  exec 7<&- 8<&- 9<&-
else
  "$hv_mkfifo" -m 600 -- "$hv_base.i" "$hv_base.e" "$hv_base.o" || hv_fail place
  exec </dev/null 7<>"$hv_base.i" >"$hv_base.o" 2>"$hv_base.e"
  read hv_go <&7
  exec 7<&-
  "$hv_rm" -f -- "$hv_base.i" "$hv_base.e" "$hv_base.o"
fi
while [ "$hv_count" -gt 0 ]; do export "$1"; shift; hv_count=$((hv_count - 1)); done
exec "$hv_setsid" -- "$@"
`;

/**
 * Ends a program started by {@link START_PROGRAM}: everything in its session and everything that descends from
 * it, looked for again until nothing is left. Arguments: process id, path of its FIFOs or nothing. Succeeds when it is gone.
 */
export const END_PROGRAM = `
[ -z "$2" ] || rm -f -- "$2.i" "$2.e" "$2.o"
${END_TREE}`;
