#!/bin/sh
# Builds the tiny Linux guest from Debian packages: no root, no loop mount, nothing is installed.
#
#   sh tools/image/build_tiny.sh [--refresh] OUTDIR
#
# Leaves in OUTDIR: vmlinuz (bzImage), vmlinux (the same kernel as ELF, for the quicker PVH start), initrd, append (the
# kernel command line) and build.json (versions, sizes, SHA-256). A second run with the same inputs does nothing.
# Packages are kept in HVLAB_CACHE, else in OUTDIR/debs, and used from there; --refresh fetches the newest ones.
set -eu
umask 022
trap 'exit 1' TERM # fail, in a subshell, ends the whole build by it

here=$(cd "$(dirname "$0")" && pwd)
. "$here/steps/debs.sh"
. "$here/steps/kernel.sh"
. "$here/steps/rootfs.sh"

say() {
    echo "tiny: $*" >&2
}

# Ends the build with a message and, as $2, what to do next. Works from a subshell too.
fail() {
    say "$1"
    [ $# -lt 2 ] || say "hint: $2"
    kill -TERM $$
    exit 1
}

need() {
    command -v "$1" >/dev/null 2>&1 || fail "cannot find the program '$1'" "apt-get install $(package_of "$1")"
}

package_of() {
    case $1 in
    apt-get | apt-cache) echo apt ;;
    dpkg-deb) echo dpkg ;;
    flock) echo util-linux ;;
    awk) echo mawk ;;
    xz) echo xz-utils ;;
    *) echo "$1" ;;
    esac
}

file_size() {
    wc -c <"$1" | tr -d ' '
}

sha256_of() {
    sha256sum "$1" | cut -d ' ' -f 1
}

# Prints one SHA-256 over everything that the result depends on.
hash_inputs() {
    {
        (cd "$here" && find build_tiny.sh ./*.txt steps guest -type f | LC_ALL=C sort | xargs sha256sum)
        list_debs | sed 's#.*/##'
    } | sha256sum | cut -d ' ' -f 1
}

# Succeeds when OUTDIR holds the result of inputs $1 in full length.
is_built() {
    grep -q "\"inputs\": \"$1\"" "$out/build.json" 2>/dev/null || return 1
    for name in $results; do
        [ -f "$out/$name" ] || return 1
        grep -q "\"$name\": { \"bytes\": $(file_size "$out/$name")," "$out/build.json" || return 1
    done
}

# Prints build.json for inputs $1 and the finished files in folder $2.
describe_build() {
    echo "{"
    echo "  \"kernel\": \"$release\","
    echo "  \"inputs\": \"$1\","
    echo "  \"files\": {"
    separator=
    for name in $results; do
        printf '%s    "%s": { "bytes": %s, "sha256": "%s" }' \
            "$separator" "$name" "$(file_size "$2/$name")" "$(sha256_of "$2/$name")"
        separator=',
'
    done
    printf '\n  },\n  "packages": {\n'
    list_debs | while read -r deb; do
        dpkg-deb -W --showformat='    "${Package}": "${Version}"\n' "$deb"
    done | sed '$!s/$/,/'
    printf '  }\n}\n'
}

build() {
    work=$out/.work.$$
    trap 'rm -rf "$work"' EXIT
    trap 'rm -rf "$work"; exit 1' HUP INT TERM
    mkdir -p "$work/result"
    busybox=$work/packages/bin/busybox
    kernel_deb=$(cached_deb "$kernel")
    list_debs | while read -r deb; do
        [ "$deb" = "$kernel_deb" ] || unpack_deb "$deb" "$work/packages" --exclude './usr/share/*' --exclude '*/gconv/*'
    done
    unpack_kernel "$kernel_deb" "$work/kernel"
    cp "$work/kernel/boot/vmlinuz-$release" "$work/result/vmlinuz"
    extract_elf "$work/result/vmlinuz" "$work/result/vmlinux"
    make_folders "$work/root"
    copy_programs "$work/packages" "$work/root"
    link_applets "$work/root"
    copy_guest_files "$work/root"
    copy_modules "$work/kernel" "$work/root"
    pack_initrd "$work/root" "$work/result/initrd"
    sed -e 's/#.*//' "$here/append.txt" | tr -s ' \n' ' ' | sed -e 's/^ //' -e 's/ $//' >"$work/result/append"
    echo >>"$work/result/append"
    describe_build "$1" "$work/result" >"$work/build.json"
    rm -f "$out/build.json"
    for name in $results; do mv -f "$work/result/$name" "$out/$name"; done
    mv "$work/build.json" "$out/build.json"
}

refresh=
if [ "${1:-}" = --refresh ]; then
    refresh=yes
    shift
fi
[ $# -eq 1 ] || fail "usage: sh tools/image/build_tiny.sh [--refresh] OUTDIR"
out=$1
results="vmlinuz vmlinux initrd append"
for program in apt-get apt-cache dpkg-deb flock tar sed awk sha256sum od; do need "$program"; done
architecture=$(dpkg --print-architecture)
[ "$architecture" = amd64 ] || fail "cannot build on '$architecture': the guest and the tools of its build are amd64"
mkdir -p "$out" || fail "cannot make folder '$out'"
out=$(cd "$out" && pwd)
cache=${HVLAB_CACHE:-$out/debs}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
exec 9>"$out/.lock"
flock 9
rm -rf "$out"/.work.*
fetch_packages
inputs=$(hash_inputs)
if is_built "$inputs"; then
    say "up to date: $out"
    exit 0
fi
say "building in $out"
build "$inputs"
say "kernel $release; initrd $(file_size "$out/initrd") bytes, vmlinux $(file_size "$out/vmlinux") bytes"
