/** Ending a program in a POSIX guest with all that it started. */

/**
 * Ends everything that descends from the process `$hv_root`, and everything in the sessions that it and they lead, looked
 * for again until nothing is left. The process `$hv_spared` is left alone, if it is not empty. Succeeds when the rest is gone.
 */
export const END_TREE_OF_ROOT = `
hv_pass=0
while [ "$hv_pass" -lt 100 ]; do
  hv_pass=$((hv_pass + 1)) hv_tree=" $hv_root \${hv_spared:++$hv_spared }" hv_left= hv_grown=1
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
        *" $hv_pid "*|*" $2 "*|*" +$2 "*|*" $4 "*|*" +$4 "*) ;;
        *) continue;;
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

/** The same as a script. Argument: process id. */
export const END_TREE = `
hv_root=$1 hv_spared=
${END_TREE_OF_ROOT}`;
