/** Finding a program in a POSIX guest before it is started: afterwards nobody could tell its exit code 127 from ours. */

/**
 * Defines `hv_find NAME PATH`: a program by its path, or by its name in the folders of PATH. It leaves the place in `hv_found`;
 * when there is none it fails, with `program` or, for a file that may not be run, `executable` in `hv_why`.
 */
export const DEFINE_FIND = `hv_find() {
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
`;

/**
 * Finds the program of an argument vector that stands behind `hv_count` variables, in the folders of `hv_search`. What is
 * wrong goes to `hv_fail`, which the script defines.
 */
export const FIND_PROGRAM = `hv_seen=0
for hv_program in "$@"; do
  [ "$hv_seen" -lt "$hv_count" ] || break
  hv_seen=$((hv_seen + 1))
done
hv_find "$hv_program" "$hv_search" || hv_fail "$hv_why"
`;
