/**
 * The few lines of shell that look after files in a POSIX guest. They are fixed: what a caller gives reaches them as
 * arguments. A script that fails prints one word on stdout and says more on stderr.
 */

/**
 * Makes room for a file: its folder, and an empty file under a temporary name. Arguments: destination, temporary
 * name, `yes` to replace.
 */
export const PREPARE_FILE = `
hv_fail() { echo "$1"; exit 1; }
case $1 in */) hv_fail folder;; esac
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
hv_size=$(stat -c %s -- "$2" 2>/dev/null) || hv_size=$(wc -c <"$2") || hv_fail size
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
