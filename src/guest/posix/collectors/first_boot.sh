# How cloud-init came out at this boot, in parts. Argument: the mark that begins each part.
mark=$1
part() { printf '\n%s %s\n' "$mark" "$1"; }
part state
if ! command -v cloud-init >/dev/null; then
  echo absent
elif [ -e /run/cloud-init/disabled ]; then
  echo disabled
elif [ -s /run/cloud-init/result.json ]; then
  echo done
else
  echo running
fi
part result
cat /run/cloud-init/result.json 2>/dev/null
part log
# Of this boot: the log goes on over several.
awk "/running 'init-local'/ { n = 0 } /\[(WARNING|ERROR|CRITICAL)\]/ { lines[n++] = \$0 }
  END { for (i = 0; i < n && i < 50; i++) print substr(lines[i], 1, 1000) }" /var/log/cloud-init.log 2>/dev/null
part output
tail -c 4000 /var/log/cloud-init-output.log 2>/dev/null
exit 0
