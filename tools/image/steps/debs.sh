# Getting the Debian packages. Sourced by build_tiny.sh, which sets $here, $cache and $refresh.

# Prints the wanted package names, one a line, without the kernel.
list_packages() {
    sed -e 's/#.*//' "$here/packages.txt" | awk 'NF && $1 !~ /^kernel:/ { print $1 }'
}

# Prints the programs (absolute paths inside the packages) that the guest takes.
list_programs() {
    sed -e 's/#.*//' "$here/packages.txt" | awk '{ for (i = 2; i <= NF; i++) print $i }'
}

# Prints the newest cached file of package $1, or nothing. $1 may be a pattern.
cached_deb() {
    # shellcheck disable=SC2086 # the pattern has to be expanded
    ls "$cache"/$1_*_amd64.deb 2>/dev/null | sort -V | tail -n 1
}

# Prints the name of the kernel package: the one in the cache, else the one that Debian names now.
kernel_package() {
    file=$(cached_deb 'linux-image-[0-9]*-cloud-amd64')
    if [ -n "$file" ] && [ -z "$refresh" ]; then
        file=${file##*/}
        echo "${file%%_*}"
        return
    fi
    meta=$(sed -n 's/^kernel://p' "$here/packages.txt")
    apt-cache depends "$meta" 2>/dev/null | awk '/Depends: linux-image-[0-9]/ { print $2; exit }'
}

# Downloads into $cache whatever is not there yet (with $refresh: the newest of everything).
fetch_packages() {
    mkdir -p "$cache"
    kernel=$(kernel_package)
    [ -n "$kernel" ] || fail "cannot find the kernel package: apt knows no linux-image-cloud-amd64" \
        "run 'apt-get update' (as root) and try again"
    missing=
    for package in "$kernel" $(list_packages); do
        if [ -n "$refresh" ] || [ -z "$(cached_deb "$package")" ]; then missing="$missing $package"; fi
    done
    [ -z "$missing" ] && return
    say "downloading$missing"
    # shellcheck disable=SC2086 # a list of names
    (cd "$cache" && apt-get -qq -o APT::Sandbox::User=root download $missing >&2) ||
        fail "cannot download the packages$missing" "run 'apt-get update' (as root) and check the network"
}

# Prints the files of all wanted packages, kernel first, one path a line.
list_debs() {
    for package in "$kernel" $(list_packages); do
        file=$(cached_deb "$package")
        [ -n "$file" ] || fail "cannot find package '$package' in '$cache'" "empty that folder and try again"
        echo "$file"
    done
}

# Unpacks package file $1 into folder $2; further arguments go to tar.
unpack_deb() {
    deb=$1
    folder=$2
    shift 2
    mkdir -p "$folder"
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$folder" "$@" || fail "cannot unpack '$deb'" "remove the file and try again"
}
