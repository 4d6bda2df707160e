# The kernel: bzImage as shipped, the ELF image inside it, and the modules. Sourced by build_tiny.sh.

# Unpacks kernel package $1 into folder $2 and sets $release (as `uname -r` prints it).
unpack_kernel() {
    unpack_deb "$1" "$2" --exclude './usr/*' --exclude './boot/System.map-*' --exclude '*/drivers/net/ethernet/*' \
        --exclude '*/drivers/infiniband/*' --exclude '*/net/netfilter/*' --exclude '*/fs/xfs/*' --exclude '*/fs/btrfs/*'
    release=$(ls "$2/lib/modules")
    [ -f "$2/boot/vmlinuz-$release" ] || fail "cannot find the kernel image in '$1'"
}

# Reads the little-endian unsigned number of $3 bytes at offset $2 of file $1.
read_number() {
    od -An -v -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# Writes the ELF image packed in bzImage $1 to $2: QEMU starts it through its PVH entry, without the unpacking in the guest.
# The offsets are those of the x86 boot protocol: setup_sects 0x1f1, payload_offset 0x248, payload_length 0x24c.
# The payload's last four bytes are the unpacked size.
extract_elf() {
    start=$(( ($(read_number "$1" 497 1) + 1) * 512 + $(read_number "$1" 584 4) ))
    length=$(( $(read_number "$1" 588 4) - 4 ))
    size=$(read_number "$1" $((start + length)) 4)
    magic=$(od -An -v -t x1 -j "$start" -N 4 "$1" | tr -d ' ')
    case $magic in
    02214c18) unpack='lz4 -dc' ;;
    28b52ffd) unpack='zstd -dc' ;;
    fd377a58) unpack='xz -dc' ;;
    1f8b*) unpack='gzip -dc' ;;
    *) fail "cannot unpack the kernel: unknown compression, magic '$magic' at offset $start" ;;
    esac
    need "${unpack%% *}"
    tail -c +$((start + 1)) "$1" | head -c "$length" | $unpack >"$2" || fail "cannot unpack the kernel with '$unpack'"
    [ "$(file_size "$2")" = "$size" ] || fail "cannot unpack the kernel: found $(file_size "$2") bytes, wanted $size"
    [ "$(od -An -v -t x1 -N 4 "$2" | tr -d ' ')" = 7f454c46 ] || fail "cannot unpack the kernel: no ELF image inside"
}

# Copies the modules of modules.txt and what they need from the kernel in folder $1 to the guest in folder $2.
copy_modules() {
    from=$1/lib/modules/$release
    to=$2/usr/lib/modules/$release
    mkdir -p "$to"
    cp "$from/modules.builtin" "$from/modules.order" "$to/"
    "$busybox" depmod -b "$1" "$release"
    list_modules 'boot|late|demand' | while read -r module; do
        files=$(module_files "$from" "$module")
        if [ -z "$files" ]; then
            grep -q "/$(module_pattern "$module")\.ko" "$from/modules.builtin" && continue
            fail "cannot find module '$module' in kernel $release" "correct tools/image/modules.txt"
        fi
        for file in $files; do
            mkdir -p "$to/${file%/*}"
            cp "$from/$file" "$to/$file"
        done
    done
    "$busybox" depmod -b "$2" "$release"
}

# Prints the modules of modules.txt that are of kind $1 (a regular expression).
list_modules() {
    sed -e 's/#.*//' "$here/modules.txt" | awk -v kind="^($1)\$" 'NF && $1 ~ kind { print $2 }'
}

# Module names treat - and _ alike.
module_pattern() {
    echo "$1" | sed 's/[-_]/[-_]/g'
}

# Prints module $2 and all that it depends on, as paths below module folder $1.
module_files() {
    sed -n "s#^\(.*/$(module_pattern "$2")\.ko\):#\1#p" "$1/modules.dep"
}
