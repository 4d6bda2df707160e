#!/bin/sh
# Crashes an ARM64 guest of Debian and keeps its core and its console, from which the samples of the tests are made.
#
#   sh tools/image/arm64_core.sh OUTDIR RELEASE KIND [CPU [PROCESSORS]]
#   deno run -A tools/image/arm64/reduce.ts OUTDIR tests/samples/arm64/NAME
#
# RELEASE is that of a cloud kernel, as in linux-image-RELEASE; KIND is what tests/support/hvcrash takes, or sysrq. CPU is
# QEMU's (default cortex-a72; max,pauth-impdef=on has signed return addresses and wide page tables). It needs
# qemu-system-aarch64, gcc-aarch64-linux-gnu, and apt with the packages of arm64 (dpkg --add-architecture arm64; apt-get
# update). Nothing is installed; packages are kept in OUTDIR/debs.
set -eu

[ $# -ge 3 ] || {
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
    exit 2
}
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1/debs"
out=$(cd "$1" && pwd)
release=$2
kind=$3
cpu=${4:-cortex-a72}
processors=${5:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for program in qemu-system-aarch64 aarch64-linux-gnu-gcc apt-get dpkg-deb make cpio gzip xz; do
    command -v "$program" >/dev/null || {
        echo "arm64: cannot find the program '$program'" >&2
        exit 1
    }
done

# 6.1.0-57-cloud-arm64 has linux-kbuild-6.1; 6.12.117+deb12-cloud-arm64 has linux-kbuild-6.12.117+deb12.
version=${release%-cloud-arm64}
case $version in
*+*) kbuild=$version ;;
*) kbuild=${version%%-*} kbuild=${kbuild%.*} ;;
esac
for package in "linux-image-$release:arm64" "linux-headers-$release:arm64" busybox-static:arm64 \
    "linux-headers-$version-common" "linux-kbuild-$kbuild"; do
    name=${package%:arm64}
    ls "$out/debs/${name}"_*.deb >/dev/null 2>&1 ||
        (cd "$out/debs" && apt-get -qq -o APT::Sandbox::User=root download "$package")
    dpkg-deb -x "$(ls "$out/debs/${name}"_*.deb | head -n 1)" "$work/root"
done

# The packages name each other by the paths under which they would be installed.
sources=$work/root/usr/src
headers=$sources/linux-headers-$release
for file in "$headers/Makefile" "$headers/.kernelvariables" "$sources/linux-headers-$version-common/Makefile"; do
    [ ! -f "$file" ] || sed -i "s#/usr/src/linux-headers-#$sources/linux-headers-#g" "$file"
done
mkdir "$work/module"
cp "$root/tests/support/hvcrash/"* "$work/module/"
make -s -C "$headers" M="$work/module" ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- \
    DEB_BUILD_ARCH=amd64 DEB_HOST_ARCH=arm64 DEB_HOST_GNU_TYPE=aarch64-linux-gnu \
    CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}

guest=$work/guest
mkdir -p "$guest/bin" "$guest/proc" "$guest/sys" "$guest/dev"
cp "$work/root/bin/busybox" "$guest/bin/"
cp "$root/tools/image/arm64/init" "$guest/init"
aarch64-linux-gnu-strip --strip-debug -o "$guest/hvcrash.ko" "$work/module/hvcrash.ko"
driver=$(find "$work/root" -name 'qemu_fw_cfg.ko*' | head -n 1)
case $driver in
*.xz) xz -dc "$driver" >"$guest/qemu_fw_cfg.ko" ;;
*) cp "$driver" "$guest/" ;;
esac
(cd "$guest" && find . | cpio -o -H newc --quiet | gzip) >"$work/initrd"

# The kernel prints its report to the end before the machine is asked for its memory.
console=$out/console.log
rm -f "$console" "$out/core.elf"
{
    waited=0
    until grep -q 'end Kernel panic' "$console" 2>/dev/null || [ "$waited" -ge 240 ]; do
        sleep 1
        waited=$((waited + 1))
    done
    echo stop
    echo "dump-guest-memory $out/core.elf"
    echo quit
} | qemu-system-aarch64 -M virt -cpu "$cpu" -smp "$processors" -m 128M -nodefaults -no-reboot -display none \
    -kernel "$work/root/boot/vmlinuz-$release" -initrd "$work/initrd" \
    -append "console=ttyAMA0 hvcrash=$kind" \
    -device vmcoreinfo -serial "file:$console" -monitor stdio >/dev/null
grep 'Kernel panic' "$console" | head -n 1
[ -s "$out/core.elf" ]
