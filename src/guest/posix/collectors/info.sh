# Facts about this guest, in parts. Argument: the mark that begins each part.
mark=$1
part() { printf '\n%s %s\n' "$mark" "$1"; }
part clock
date '+%s %N'
part release
cat /etc/os-release 2>/dev/null || cat /usr/lib/os-release 2>/dev/null
part kernel
uname -s
uname -r
uname -m
uname -n
part boot
cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo
grep '^btime ' /proc/stat 2>/dev/null
part cpus
grep -c '^processor' /proc/cpuinfo 2>/dev/null
part memory
cat /proc/meminfo 2>/dev/null
part cards
for file in /sys/class/net/*/address; do
  [ -r "$file" ] || continue
  card=${file%/address}
  address=
  read -r address <"$file"
  printf '%s %s\n' "${card##*/}" "$address"
done
part addresses
if command -v ip >/dev/null; then ip -o addr show 2>/dev/null; else echo missing; fi
part disks
for file in /sys/block/*/size; do
  [ -r "$file" ] || continue
  folder=${file%/size}
  name=${folder##*/}
  case $name in loop* | ram* | zram* | dm-*) continue ;; esac
  sectors=0 fixed=0 model=
  read -r sectors <"$file"
  [ -r "$folder/ro" ] && read -r fixed <"$folder/ro"
  [ -r "$folder/device/model" ] && read -r model <"$folder/device/model"
  printf '%s %s %s %s\n' "$name" "$sectors" "$fixed" "$model"
done
part mounts
cat /proc/mounts 2>/dev/null
part volumes
if command -v df >/dev/null; then df -kP 2>/dev/null; else echo missing; fi
exit 0
