/**
 * The few lines of shell that run in a guest. They are fixed: what a caller gives reaches them as arguments and is
 * never part of their text. A script that fails prints one word on stdout and says more on stderr.
 */

/** Where a private place for FIFOs is looked for, best first. */
export const FIFO_FOLDERS = ["/tmp", "/run", "/dev/shm"] as const;

/** The descriptors of the pipes in {@link START_PROGRAM}, as the agent finds them under `/proc/PID/fd`. */
export const PIPE_DESCRIPTORS = { out: 9, err: 8 } as const;

/**
 * Starts a program with its streams on pipes and in a session of its own, so that it can be ended with all its
 * children. Arguments: nothing or the path of FIFOs without their endings, working folder or nothing, PATH or nothing,
 * how many variables follow, the variables, the argument vector. The program is looked up first, because afterwards
 * nobody could tell its exit code 127 from ours.
 *
 * An empty here-document is a pipe in dash, busybox and bash from 5.1 on: that costs no other program, where FIFOs take
 * two (each some 7 ms in an emulated guest), and leaves no file. Elsewhere the word is `pipe`, and FIFOs serve. The
 * stream `out` is made last: whoever sees it may open all. The program begins when a line comes through `err`.
 */
export const START_PROGRAM = `
hv_fail() { echo "$1"; exit 125; }
hv_find() {
  hv_found= hv_why=program
  case $1 in
    */*) hv_path=. hv_name=\${1#/}; case $1 in /*) hv_path=/;; esac;;
    *) hv_path=$2 hv_name=$1;;
  esac
  hv_ifs=$IFS; IFS=:
  for hv_folder in $hv_path; do
    hv_file=\${hv_folder:-.}/$hv_name
    [ -f "$hv_file" ] || continue
    if [ -x "$hv_file" ]; then hv_found=$hv_file; break; fi
    hv_why=executable
  done
  IFS=$hv_ifs
  [ -n "$hv_found" ]
}
set -f
hv_base=$1 hv_cwd=$2 hv_search=\${3:-$PATH} hv_count=$4
shift 4
hv_tools=$PATH:/usr/bin:/bin:/usr/sbin:/sbin
if [ -n "$hv_base" ]; then
  hv_find mkfifo "$hv_tools" || hv_fail mkfifo; hv_mkfifo=$hv_found
  hv_find rm "$hv_tools" || hv_fail rm; hv_rm=$hv_found
fi
hv_find setsid "$hv_tools" || hv_fail setsid; hv_setsid=$hv_found
if [ -n "$hv_cwd" ]; then CDPATH= cd -- "$hv_cwd" >/dev/null || hv_fail cwd; fi
hv_seen=0
for hv_program in "$@"; do
  [ "$hv_seen" -lt "$hv_count" ] || break
  hv_seen=$((hv_seen + 1))
done
hv_find "$hv_program" "$hv_search" || hv_fail "$hv_why"
if [ -z "$hv_base" ]; then
  exec 8<<'HV' 9<<'HV'
HV
HV
  hv_own=/proc/self/fd
  [ -p $hv_own/8 ] && [ -p $hv_own/9 ] || hv_fail pipe
  exec </dev/null >$hv_own/9 2>$hv_own/8
  read hv_go <&8
  exec 8<&- 9<&-
else
  "$hv_mkfifo" -m 600 -- "$hv_base.e" "$hv_base.o" || hv_fail place
  exec </dev/null >"$hv_base.o" 2>"$hv_base.e"
  read hv_go <"$hv_base.e"
  "$hv_rm" -f -- "$hv_base.e" "$hv_base.o"
fi
while [ "$hv_count" -gt 0 ]; do export "$1"; shift; hv_count=$((hv_count - 1)); done
exec "$hv_setsid" -- "$@"
`;

/** A prefix of our own names in {@link START_PROGRAM}, which a caller's variables may not have. */
export const RESERVED_PREFIX = "hv_";

/**
 * Ends a program started by {@link START_PROGRAM}: everything in its session and everything that descends from
 * it, looked for again until nothing is left. Arguments: process id, path of its FIFOs or nothing. Succeeds when it is gone.
 */
export const END_PROGRAM = `
hv_root=$1 hv_pass=0
[ -z "$2" ] || rm -f -- "$2.e" "$2.o"
while [ "$hv_pass" -lt 100 ]; do
  hv_pass=$((hv_pass + 1)) hv_tree=" $hv_root " hv_left= hv_grown=1
  while [ -n "$hv_grown" ]; do
    hv_grown=
    for hv_stat in /proc/[0-9]*/stat; do
      hv_text=
      while read -r hv_line; do hv_text="$hv_text $hv_line"; done 2>/dev/null <"$hv_stat"
      hv_pid=\${hv_stat#/proc/} hv_pid=\${hv_pid%/stat}
      case $hv_tree in *" +$hv_pid "*) continue;; esac
      set -- \${hv_text##*) }
      case \${1:-Z} in [ZXx]) continue;; esac
      case $hv_tree in
        *" $hv_pid "*|*" $2 "*|*" +$2 "*) ;;
        *) [ "$4" = "$hv_root" ] || continue;;
      esac
      hv_tree="$hv_tree+$hv_pid " hv_left="$hv_left $hv_pid" hv_grown=1
    done 2>/dev/null
  done
  [ -n "$hv_left" ] || exit 0
  kill -KILL $hv_left 2>/dev/null
done
echo "$hv_left"
exit 1
`;

/**
 * Makes room for a file: its folder, and an empty file under a temporary name. Arguments: destination, temporary
 * name, `yes` to replace.
 */
export const PREPARE_FILE = `
hv_fail() { echo "$1"; exit 1; }
[ -d "$1" ] && hv_fail folder
if [ "$3" != yes ] && { [ -e "$1" ] || [ -L "$1" ]; }; then hv_fail exists; fi
hv_parent=\${1%/*}
if [ -n "$hv_parent" ]; then mkdir -p -- "$hv_parent" || hv_fail parent; fi
umask 077
set -C
true >"$2" || hv_fail create
`;

/**
 * Checks a file that has arrived and gives it its name. Arguments: destination, temporary name, `yes` to replace,
 * mode, size, SHA-256.
 */
export const COMMIT_FILE = `
hv_fail() { rm -f -- "$hv_new"; echo "$1"; exit 1; }
hv_new=$2
hv_size=$(wc -c <"$2") || hv_fail size
[ "$hv_size" -eq "$5" ] || { echo "size $hv_size" >&2; hv_fail size; }
if command -v sha256sum >/dev/null; then
  hv_sum=$(sha256sum <"$2") || hv_fail digest
  [ "\${hv_sum%% *}" = "$6" ] || { echo "digest \${hv_sum%% *}" >&2; hv_fail digest; }
fi
chmod "$4" "$2" || hv_fail mode
[ -d "$1" ] && hv_fail folder
if [ "$3" = yes ]; then
  mv -f -- "$2" "$1" || hv_fail move
elif ln -- "$2" "$1" 2>/dev/null; then
  rm -f -- "$2"
else
  if [ -e "$1" ] || [ -L "$1" ]; then hv_fail exists; fi
  mv -- "$2" "$1" || hv_fail move
fi
`;

/** Takes away what a broken copy left. Argument: temporary name. */
export const DROP_FILE = `rm -f -- "$1"`;

/** Looks at a file that is to be read, and prints its size. Argument: path. */
export const INSPECT_FILE = `
hv_fail() { echo "$1"; exit 1; }
if [ ! -e "$1" ]; then
  [ -L "$1" ] && hv_fail link
  hv_fail missing
fi
[ -d "$1" ] && hv_fail folder
[ -f "$1" ] || hv_fail kind
[ -r "$1" ] || hv_fail unreadable
stat -L -c %s -- "$1" 2>/dev/null || wc -c <"$1"
`;

/** Prints the SHA-256 of a file's beginning, or nothing where the guest cannot. Arguments: path, bytes. */
export const DIGEST_FILE = `
command -v sha256sum >/dev/null || exit 0
head -c "$2" <"$1" | sha256sum
`;
