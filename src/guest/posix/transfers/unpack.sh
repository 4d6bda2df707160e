# Looks whether a folder may be made, or unpacks an archive into it. What fails is said as one word on its output.
# Arguments: check or unpack, the folder, yes to go into one that is there; then the archive and a free name for a new folder.
hv_fail() { [ "$hv_do" = check ] || rm -rf -- "$hv_new"; echo "$1"; exit 1; }
hv_do=$1 hv_to=$2 hv_into=$3 hv_archive=$4 hv_new=$5
if [ -e "$hv_to" ] || [ -L "$hv_to" ]; then
  [ -d "$hv_to" ] || hv_fail file
  [ "$hv_into" = yes ] || hv_fail exists
fi
command -v tar >/dev/null || hv_fail tar
[ "$hv_do" = unpack ] || exit 0
mkdir -- "$hv_new" || hv_fail make
tar -xpof "$hv_archive" -C "$hv_new" || hv_fail unpack
if [ -d "$hv_to" ]; then
  cp -fpPR -- "$hv_new/." "$hv_to/" || hv_fail move
  rm -rf -- "$hv_new"
else
  mv -- "$hv_new" "$hv_to" || hv_fail move
fi
