# The journal, newest first, one JSON object a line. Ends with 3 where there is no journal.
# Arguments: seconds back or nothing, the highest priority number, source or nothing, pattern or nothing, count.
if ! command -v journalctl >/dev/null; then
  echo "it has no journalctl"
  exit 3
fi
if [ ! -d /run/log/journal ] && [ ! -d /var/log/journal ]; then
  echo "it keeps no journal"
  exit 3
fi
if [ "$(id -u)" != 0 ] && ! id -nG | grep -qwE 'adm|systemd-journal|wheel'; then
  echo "The guest shows this user its own entries only" >&2
fi
since=$1 priority=$2 source=$3 pattern=$4 count=$5
set -- --no-pager --quiet --reverse --output=json --priority="0..$priority" \
  --output-fields=MESSAGE,PRIORITY,SYSLOG_IDENTIFIER,_COMM,_PID,_SYSTEMD_UNIT
[ -z "$since" ] || set -- "$@" --since="-${since}s"
[ -z "$pattern" ] || set -- "$@" --case-sensitive=no --grep="$pattern"
if [ -n "$source" ]; then
  set -- "$@" SYSLOG_IDENTIFIER="$source" + _COMM="$source" + _SYSTEMD_UNIT="$source" + _SYSTEMD_UNIT="$source.service"
fi
# The agent notes each of our own calls, which would bury all else; they are shown to who asks for its entries.
own='"SYSLOG_IDENTIFIER":"qemu-ga"'
[ -z "$source" ] || own='no entry has this line'
{ journalctl "$@" || echo "journalctl ended with $?" >&2; } | grep -vF "$own" | head -n "$count"
exit 0
