#!/bin/sh
# Installs what hvlab's tests and its demo need, and builds the small guest image:
#
#   sh tools/setup.sh [suites]
#
# Root is used for Debian packages and for a global npm package, for nothing else. What is there already stays as it is.
# With `suites` the test suites of others (tools/suites), the Windows Deno under Wine (dist/wine), the Windows debugger engine
# beside it (dist/engine) and the image `debian` (dist/debian) are made too. Results: dist/tiny (the image) and, where npm's
# global folder is not ours, dist/deno (Deno). The log of the installers is dist/setup.log.
set -eu

root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
log=$root/dist/setup.log
powershell_version=7.6.9
deno_version=$(sed -n 's/.*"deno": "\([^"]*\)".*/\1/p' "$root/npm/package.json")
mkdir -p "$root/dist"
: >"$log"

say() {
    echo "setup: $*"
}

fail() {
    say "$1" >&2
    [ ! -s "$log" ] || tail -n 20 "$log" >&2
    [ $# -lt 2 ] || echo "hint: $2" >&2
    exit 1
}

# Runs a command quietly; its output goes to the log.
quietly() {
    echo "+ $*" >>"$log"
    "$@" >>"$log" 2>&1 </dev/null
}

# Runs a command as root, for packages only.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        quietly "$@"
    elif command -v sudo >/dev/null 2>&1; then
        echo "+ sudo $*" >>"$log"
        sudo "$@" >>"$log" 2>&1
    else
        fail "root is needed to run: $*" "run that line as root, then this script again"
    fi
}

# Prints the Debian packages of the programs that are missing.
missing_packages() {
    while read -r program package; do
        command -v "$program" >/dev/null 2>&1 || echo "$package"
    done <<PROGRAMS | sort -u | tr '\n' ' '
qemu-system-x86_64 qemu-system-x86
qemu-img qemu-utils
ps procps
ss iproute2
prlimit util-linux
setpriv util-linux
lz4 lz4
xz xz-utils
zstd zstd
sha256sum coreutils
PROGRAMS
}

update_package_lists() {
    say "as root: apt-get update"
    as_root apt-get -qq update || fail "apt-get update failed"
}

# Installs Debian packages.
apt_install() {
    say "as root: apt-get install $*"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@"
}

install_packages() {
    packages=$(missing_packages)
    [ -n "$packages" ] || return 0
    command -v apt-get >/dev/null 2>&1 || fail "these Debian packages are missing: $packages" \
        "install the same programs with this system's own package manager"
    # shellcheck disable=SC2086 # a list of names
    apt_install $packages && return 0
    update_package_lists
    # shellcheck disable=SC2086
    apt_install $packages || fail "apt-get install $packages failed"
}

# Succeeds when program $1 is Deno in the pinned version.
is_our_deno() {
    [ "$("$1" --version 2>/dev/null | sed -n '1s/^deno \([^ ]*\).*/\1/p')" = "$deno_version" ]
}

install_deno() {
    is_our_deno deno && return
    own=$root/dist/deno/node_modules/deno/deno
    is_our_deno "$own" && return
    command -v npm >/dev/null 2>&1 || fail "cannot find the program 'npm'" "install Node.js 20 or later with npm"
    if ! command -v deno >/dev/null 2>&1 && [ -w "$(npm prefix --global)/lib" ]; then
        say "npm install --global deno@$deno_version"
        quietly npm install --global --no-audit --no-fund "deno@$deno_version" || fail "npm install of Deno failed"
        is_our_deno deno && return
    fi
    say "npm install deno@$deno_version into dist/deno"
    quietly npm install --prefix "$root/dist/deno" --no-audit --no-fund "deno@$deno_version" ||
        fail "npm install of Deno failed"
    is_our_deno "$own" || fail "the Deno in dist/deno does not run"
}

# Installs the suites of others from their lock file, once for each version of it. `npm ci` refuses that file, since an
# optional Windows package that one of them names cannot be had; `npm install` keeps to the file and leaves it out.
install_suites() {
    stamp=$root/tools/suites/node_modules/.installed
    cmp -s "$root/tools/suites/package-lock.json" "$stamp" && return
    say "npm install in tools/suites"
    if quietly npm install --prefix "$root/tools/suites" --no-save --ignore-scripts --no-audit --no-fund; then
        cp "$root/tools/suites/package-lock.json" "$stamp"
    else
        say "the suites in tools/suites could not be installed; their tests are skipped (dist/setup.log says why)"
    fi
}

# Installs PowerShell for the tests of the Hyper-V driver, where .NET's SDK is; without it those tests are skipped.
install_powershell() {
    command -v pwsh >/dev/null 2>&1 && return
    [ ! -x "$HOME/.dotnet/tools/pwsh" ] || return 0
    if ! command -v dotnet >/dev/null 2>&1; then
        say "no .NET SDK, so no PowerShell: the tests of the Hyper-V driver are skipped"
        return
    fi
    say "dotnet tool install --global PowerShell --version $powershell_version"
    quietly dotnet tool install --global PowerShell --version "$powershell_version" ||
        say "PowerShell could not be installed; the tests of the Hyper-V driver are skipped (dist/setup.log says why)"
}

# Sets up the Windows build of Deno under Wine in dist/wine, where Debian's Wine 8 can be had; about 1 GB.
install_wine() {
    if ! command -v apt-get >/dev/null 2>&1 || [ "$(dpkg --print-architecture)" != amd64 ]; then
        say "no Debian packages for x86-64 here, so no Wine: the tests on the Windows Deno are skipped"
        return
    fi
    if [ ! -x /usr/lib/wine/wine64 ] || ! command -v x86_64-w64-mingw32-gcc >/dev/null 2>&1; then
        apt_install wine64 wine gcc-mingw-w64-x86-64-win32 || say "Wine could not be installed"
    fi
    say "setting up the Windows Deno under Wine in dist/wine (half a minute the first time)"
    quietly sh "$root/tools/wine/build.sh" "$root/dist/wine" ||
        say "it cannot be set up; the tests on the Windows Deno are skipped (dist/setup.log says why)"
    if command -v dotnet >/dev/null 2>&1; then
        quietly sh "$root/tools/wine/dotnet.sh" "$root/dist/wine" ||
            say "no .NET for Windows: its test with Wine's Credential Manager is skipped (dist/setup.log says why)"
    fi
}

# Sets up the Windows debugger engine in dist/engine, in the Wine of dist/wine, by the recipe beside the samples that tests share.
install_engine() {
    recipe=${HVLAB_SHARED:-$root/../shared}/recipes/dbgeng/setup.sh
    without="the tests that ask the debugger engine are skipped"
    if [ ! -f "$recipe" ]; then
        say "no recipe for it among the shared samples: $without"
    elif [ ! -f "$root/dist/wine/inputs" ] || ! command -v dotnet >/dev/null 2>&1; then
        say "no Wine, or no .NET SDK that fetches it: $without"
    else
        command -v x86_64-w64-mingw32-g++ >/dev/null 2>&1 || apt_install g++-mingw-w64-x86-64-win32 ||
            say "its compiler could not be installed"
        say "setting up the debugger engine in dist/engine (a few seconds the first time)"
        mkdir -p "$root/dist/engine"
        ln -sfn ../wine/prefix "$root/dist/engine/prefix"
        quietly bash "$recipe" "$root/dist/engine" || say "it cannot be set up; $without (dist/setup.log says why)"
    fi
}

# A module that crashes the kernel of `tiny`, for the tests of Linux crashes; needs that kernel's headers.
build_crash_module() {
    quietly sh "$root/tools/image/build_hvcrash.sh" ||
        say "the crashing module could not be built; the tests with real crashes are skipped (dist/setup.log says why)"
}

# The guest `debian`, for the tests that want systemd, OpenSSH and cloud-init.
build_debian() {
    say "building the image 'debian' in dist/debian (about a minute and 500 MB the first time)"
    quietly sh "$root/tools/image-debian.sh" --only-build ||
        say "it could not be built; the tests on it are skipped (dist/setup.log says why)"
}

fetch_modules() {
    (cd "$root" && quietly deno install --frozen) || fail "the npm packages in deno.lock could not be fetched"
}

build_tiny() {
    quietly sh "$root/tools/image/build_tiny.sh" "$root/dist/tiny" && return
    update_package_lists
    quietly sh "$root/tools/image/build_tiny.sh" "$root/dist/tiny" || fail "the image 'tiny' could not be built"
}

# The Deno in dist/deno wins: it is there only when the one on PATH is missing or has another version.
PATH=$root/dist/deno/node_modules/deno:$PATH
unset RUST_BACKTRACE

say "installs what is missing: packages of QEMU and small programs (as root), Deno $deno_version and npm packages"
install_packages
install_deno
install_powershell
fetch_modules
if [ "${1:-}" = suites ]; then
    install_suites
    install_wine
    install_engine
fi
say "building the image 'tiny' in dist/tiny (about half a minute the first time)"
build_tiny
if [ "${1:-}" = suites ]; then
    build_crash_module
    build_debian
fi
say "done"
