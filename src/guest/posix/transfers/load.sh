# Copies the beginning of a disk into a file that is there. What fails is said as one word on its output.
# Arguments: the disk's serial number, bytes, the file.
hv_fail() { echo "$1"; exit 1; }
hv_tries=0
hv_disk=
while [ -z "$hv_disk" ]; do
  for hv_file in /sys/block/*/serial; do
    hv_serial=
    [ -r "$hv_file" ] && read -r hv_serial <"$hv_file"
    [ "$hv_serial" = "$1" ] || continue
    hv_folder=${hv_file%/serial}
    [ ! -b "/dev/${hv_folder##*/}" ] || hv_disk=/dev/${hv_folder##*/}
  done
  [ -n "$hv_disk" ] || sleep 0.1
  hv_tries=$((hv_tries + 1))
  [ "$hv_tries" -lt 100 ] || hv_fail disk
done
[ -r "$hv_disk" ] || hv_fail disk
dd if="$hv_disk" of="$3" bs=1048576 conv=notrunc status=none || hv_fail read
truncate -s "$2" "$3" || hv_fail size
