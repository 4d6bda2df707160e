#!/bin/sh
# Builds the guest `debian` from Debian packages and imports it into hvlab's state folder (HVLAB_STATE, else the platform's):
# systemd, OpenSSH, the guest agent, cloud-init. No loop device, no mount and no guest is needed.
#
#   sh tools/image-debian.sh [--only-build]
#
# Root is used for packages and by mmdebstrap, which otherwise takes a user namespace. About a minute and 500 MB the first time;
# afterwards dist/debian/debian.qcow2 is used as it is while nothing that it is made of changes here.
set -eu

root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
here=$root/tools/image/debian
out=$root/dist/debian
suite=bookworm
size_mib=2048
boot_mib=96
packages=linux-image-cloud-amd64,systemd-sysv,udev,dbus,qemu-guest-agent,openssh-server,openssh-sftp-server,iproute2,procps
packages=$packages,initramfs-tools,busybox,zstd,kmod,cloud-init,cloud-guest-utils,netplan.io,ca-certificates,python3-minimal

say() {
    echo "debian: $*" >&2
}

fail() {
    say "$1"
    [ $# -lt 2 ] || say "hint: $2"
    exit 1
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo "$@"
    else
        fail "root is needed to run: $*" "run that line as root, then this script again"
    fi
}

install_programs() {
    PATH=$PATH:/usr/sbin:/sbin
    missing=
    for pair in mmdebstrap:mmdebstrap mkfs.fat:dosfstools mcopy:mtools syslinux:syslinux sfdisk:fdisk mke2fs:e2fsprogs \
        qemu-img:qemu-utils; do
        command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
    done
    [ -f /usr/lib/syslinux/mbr/mbr.bin ] || missing="$missing syslinux-common"
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null 2>&1 || fail "these Debian packages are missing:$missing"
    say "as root: apt-get install$missing"
    # shellcheck disable=SC2086 # a list of names
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install $missing >&2 ||
        fail "apt-get install failed" "apt-get update, then this script again"
}

# Where this machine's own packages come from; a mirror that it can reach.
package_source() {
    for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
        [ ! -s "$file" ] || { echo "$file"; return; }
    done
    echo "deb http://deb.debian.org/debian $suite main"
}

build_tree() {
    say "building the file system from packages"
    mmdebstrap --quiet --variant=minbase --components=main --include="$packages" \
        --aptopt='Apt::Install-Recommends "false"' --customize-hook="sh '$here/customize.sh' \"\$1\"" \
        "$suite" "$work/root.tar" "$(package_source)" >"$work/log" 2>&1 || {
        tail -n 20 "$work/log" >&2
        fail "mmdebstrap failed"
    }
    mkdir "$work/root"
    tar -xf "$work/root.tar" -C "$work/root" --numeric-owner
    rm "$work/root.tar"
}

# One gap of 1 MiB, a FAT partition that syslinux starts from, and ext4 over the rest; all written straight into the file.
build_disk() {
    say "writing the disk"
    disk=$work/disk.raw
    truncate -s "${size_mib}M" "$disk"
    sfdisk --quiet "$disk" <<END
label: dos
start=1MiB, size=${boot_mib}MiB, type=c, bootable
start=$((boot_mib + 1))MiB, type=83
END
    dd if=/usr/lib/syslinux/mbr/mbr.bin of="$disk" bs=440 count=1 conv=notrunc status=none
    # It warns that the disk is larger than the partition.
    mkfs.fat -F 16 -n HVBOOT --offset 2048 "$disk" $((boot_mib * 1024)) >"$work/log" 2>&1 || fail "$(cat "$work/log")"
    syslinux --install --offset $((1024 * 1024)) "$disk"
    cat >"$work/syslinux.cfg" <<'END'
DEFAULT debian
PROMPT 0
TIMEOUT 0
LABEL debian
 KERNEL /vmlinuz
 INITRD /initrd.img
 APPEND root=LABEL=hvroot ro console=tty0 console=ttyS0 quiet net.ifnames=0
END
    mcopy -i "$disk@@1M" "$work/syslinux.cfg" ::/syslinux.cfg
    mcopy -i "$disk@@1M" "$work"/root/boot/vmlinuz-* ::/vmlinuz
    mcopy -i "$disk@@1M" "$work"/root/boot/initrd.img-* ::/initrd.img
    mke2fs -q -F -t ext4 -L hvroot -m 0 -O ^has_journal,^metadata_csum \
        -E "offset=$(((boot_mib + 1) * 1024 * 1024)),lazy_itable_init=1,nodiscard" \
        -d "$work/root" "$disk" "$((size_mib - boot_mib - 2))M"
    qemu-img convert -q -f raw -O qcow2 "$disk" "$work/debian.qcow2"
}

inputs=$(cat "$root/tools/image-debian.sh" "$here/customize.sh" | sha256sum | cut -d ' ' -f 1)
if [ "$(cat "$out/inputs" 2>/dev/null)" != "$inputs" ] || [ ! -f "$out/debian.qcow2" ]; then
    install_programs
    mkdir -p "$out"
    rm -f "$out/inputs"
    work=$(mktemp -d "$out/work.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' INT TERM
    build_tree
    build_disk
    mv "$work/debian.qcow2" "$out/debian.qcow2"
    echo "$inputs" >"$out/inputs"
fi
[ "${1:-}" != --only-build ] || exit 0

PATH=$root/dist/deno/node_modules/deno:$PATH
if "$root/tools/hvlab" image list --json | grep -q '"name": *"debian"'; then
    say "debian is imported already"
else
    "$root/tools/hvlab" image import debian --disk "$out/debian.qcow2"
fi
