# The guest's root folder: programs, the libraries that they need, our own files. Sourced by build_tiny.sh.

libraries=usr/lib/x86_64-linux-gnu

# Lays out root folder $1. As in Debian's merged layout /bin and /lib lie under /usr; here all program folders are one.
make_folders() {
    mkdir -p "$1/usr/bin" "$1/$libraries" "$1/usr/lib64" "$1/usr/local/bin" "$1/usr/local/sbin" "$1/root/.ssh"
    for folder in dev proc sys run tmp mnt srv home etc/dropbear var/log var/tmp var/lib var/empty; do
        mkdir -p "$1/$folder"
    done
    ln -s bin "$1/usr/sbin"
    for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$1/$folder"; done
    ln -s /run "$1/var/run"
    ln -s /proc/self/mounts "$1/etc/mtab"
    chmod 1777 "$1/tmp" "$1/var/tmp"
    chmod 700 "$1/root" "$1/root/.ssh"
}

# Copies the programs of packages.txt from the unpacked packages in $1 to the guest in $2, with their libraries.
copy_programs() {
    list_programs | while read -r program; do
        [ -x "$1$program" ] || fail "cannot find '$program' in the packages" "correct tools/image/packages.txt"
        case $program in
        /usr/lib/*) mkdir -p "$2${program%/*}" && cp "$1$program" "$2$program" ;;
        *) cp "$1$program" "$2/usr/bin/" ;;
        esac
        copy_libraries "$1" "$2" "$program"
    done
    cp "$1/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" "$2/usr/lib64/"
    cp "$1/etc/mke2fs.conf" "$2/etc/"
    ln -s openssh/sftp-server "$2/usr/lib/sftp-server"
}

# Copies what the loader of the packages in $1 finds that program $3 needs. A library that it finds elsewhere is this
# machine's own and must not get in.
copy_libraries() {
    head -c 1024 "$1$3" | grep -q ld-linux-x86-64 || return 0 # statically linked: the loader would crash on it
    loader=$1/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2
    "$loader" --inhibit-cache --library-path "$1/lib/x86_64-linux-gnu:$1/$libraries" --list "$1$3" 2>/dev/null |
        sed -n 's/^[[:space:]]*\([^ ]*\) => \(.*\) (0x[0-9a-f]*)$/\1 \2/p' | while read -r name file; do
        case $file in
        "$1"/*/ld-linux-*) ;;
        "$1"/*) [ -e "$2/$libraries/$name" ] || cp -L "$file" "$2/$libraries/$name" ;;
        *)
            fail "cannot find library '$name' of '$3' in the packages: found '$file'" \
                "add its package to tools/image/packages.txt"
            ;;
        esac
    done
}

# Makes a link for every busybox applet that no program of its own stands for.
link_applets() {
    "$busybox" --list | while read -r applet; do
        [ -e "$1/usr/bin/$applet" ] || ln -s busybox "$1/usr/bin/$applet"
    done
    for kind in ext2 ext3 ext4; do
        ln -s mke2fs "$1/usr/bin/mkfs.$kind"
        ln -s e2fsck "$1/usr/bin/fsck.$kind"
    done
    ln -s mkfs.fat "$1/usr/bin/mkfs.vfat"
    ln -s fsck.fat "$1/usr/bin/fsck.vfat"
}

# Copies our own files over the guest in $1 and says in them what the build knows.
copy_guest_files() {
    cp -R "$here/guest/." "$1/"
    find "$1/etc" -type f -exec chmod 644 {} +
    chmod 755 "$1/init" "$1/usr/bin/shutdown" "$1/usr/lib/tiny/"* "$1/etc/acpi/PWRF/"*
    chmod 600 "$1/etc/shadow"
    for kind in boot late; do list_modules $kind | tr '\n' ' ' >"$1/usr/lib/tiny/modules.$kind"; done
    echo "VERSION_ID=\"$release\"" >>"$1/etc/os-release"
}

# Packs root folder $1 into the compressed archive $2. Owner, times and inode numbers do not depend on this machine. The
# folder itself is an entry too: without it the kernel leaves / writable for everybody.
pack_initrd() {
    find "$1" -exec touch -h -d @0 {} +
    (cd "$1" && find . | LC_ALL=C sort |
        "$busybox" cpio -o -H newc -R 0:0 --renumber-inodes --ignore-devno 2>/dev/null) >"$2.cpio" ||
        fail "cannot pack the initial file system"
    compress_initrd "$2.cpio" "$2"
    rm "$2.cpio"
}

compress_initrd() {
    lz4 -q -f -l -9 "$1" "$2" || fail "cannot compress the initial file system"
}
