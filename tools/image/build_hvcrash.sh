#!/bin/sh
# Builds the module that crashes test guests, for the kernel of the tiny guest, into dist/hvcrash.
#
#   sh tools/image/build_hvcrash.sh
#
# The kernel's headers are fetched with apt-get and not installed. Where they cannot be had, or there is no compiler, it
# says so and ends with 3: the tests that need the module are skipped then. A second run with the same inputs does nothing.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
source=$root/tests/support/hvcrash
module=$root/dist/hvcrash/hvcrash.ko

skip() {
    echo "hvcrash: $1; the tests that crash guests are skipped" >&2
    exit 3
}

release=$(sed -n 's/^ *"kernel": "\(.*\)",$/\1/p' "$root/dist/tiny/build.json" 2>/dev/null) || true
[ -n "$release" ] || skip "the tiny guest is not built"
for program in make gcc ld strip apt-get dpkg-deb; do
    command -v "$program" >/dev/null || skip "there is no $program"
done

if [ -f "$module" ] && [ "$module" -nt "$source/hvcrash.c" ] && [ "$module" -nt "$source/Makefile" ] &&
    grep -aq "vermagic=$release " "$module"; then
    echo "hvcrash: $module is up to date"
    exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=${release%%-*}
common=linux-headers-${release%-cloud-amd64}-common
kbuild=linux-kbuild-${version%.*}
(cd "$work" && apt-get download "linux-headers-$release" "$common" "$kbuild" >/dev/null 2>&1) ||
    skip "the headers of $release cannot be fetched"
for package in "$work"/*.deb; do dpkg-deb -x "$package" "$work/headers"; done

# The packages name each other by the paths under which they would be installed.
headers=$work/headers/usr/src/linux-headers-$release
for file in "$headers/Makefile" "$headers/.kernelvariables" "$work/headers/usr/src/$common/Makefile"; do
    [ ! -f "$file" ] || sed -i "s#/usr/src/linux-headers-#$work/headers&#g" "$file"
done

mkdir -p "$work/module" "$root/dist/hvcrash"
cp "$source/hvcrash.c" "$source/Makefile" "$work/module/"
make -s -C "$headers" M="$work/module" modules >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}
strip --strip-debug "$work/module/hvcrash.ko"
mv "$work/module/hvcrash.ko" "$module"
echo "hvcrash: built $module for $release"
