# Writes a folder as a tar archive to its output; the last lines of its errors say how that ended and, where the guest can tell, the
# archive's SHA-256. Arguments: the folder, a free name for a pipe.
hv_fail() { echo "hv-failed $1" >&2; exit 1; }
[ -e "$1" ] || hv_fail missing
[ -d "$1" ] || hv_fail file
command -v tar >/dev/null || hv_fail tar
cd -- "$1" || hv_fail enter
archive() { tar -cf - . || echo "hv-ended $?" >&2; }
if command -v sha256sum >/dev/null && command -v tee >/dev/null && mkfifo -m 600 "$2" 2>/dev/null; then
  { sum=$(sha256sum <"$2"); echo "hv-sha256 ${sum%% *}" >&2; } &
  archive | tee "$2"
  wait
  rm -f "$2"
else
  archive
fi
exit 0
