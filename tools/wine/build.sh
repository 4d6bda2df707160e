#!/bin/sh
# Sets up the Windows Deno under Wine, for the tests in tests/wine. Installs nothing on this machine.
#
#   sh tools/wine/build.sh OUTDIR
#
# Leaves in OUTDIR: bin/deno.exe (the npm package of the pinned version), bin/bcryptprimitives.dll and bin/powershell.exe (our own
# stand-ins), cache, which shares its npm packages with the Linux Deno, and prefix, Wine's world. A second run with the same
# inputs does nothing.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd -P)
root=$(CDPATH= cd -- "$here/../.." && pwd -P)
version=$(sed -n 's/.*"deno": "\([^"]*\)".*/\1/p' "$root/npm/package.json")
compiler=x86_64-w64-mingw32-gcc
wine=/usr/lib/wine/wine64

fail() {
    echo "wine: $1" >&2
    [ $# -lt 2 ] || echo "hint: $2" >&2
    exit 1
}

[ $# -eq 1 ] || fail "one argument is wanted: the folder to build in"
[ -x "$wine" ] || fail "cannot find $wine" "apt-get install wine64"
command -v "$compiler" >/dev/null 2>&1 || fail "cannot find $compiler" "apt-get install gcc-mingw-w64-x86-64-win32"
command -v npm >/dev/null 2>&1 || fail "cannot find the program 'npm'" "install Node.js 20 or later with npm"

inputs=$({ echo "$version"; cat "$here/build.sh" "$here/source/"*; } | sha256sum | cut -d ' ' -f 1)
mkdir -p "$1"
out=$(CDPATH= cd -- "$1" && pwd -P)
[ "$(cat "$out/inputs" 2>/dev/null)" != "$inputs" ] || exit 0
rm -rf "$out/inputs" "$out/bin" "$out/cache" "$out/prefix" "$out/package"
mkdir "$out/bin" "$out/cache"
ln -s "$(deno info --json | sed -n 's/.*"npmCache": "\(.*\)".*/\1/p')" "$out/cache/npm"

(cd "$out" && npm pack --silent "@deno/win32-x64@$version" >/dev/null) || fail "the Windows Deno could not be fetched"
tar -xzf "$out/deno-win32-x64-$version.tgz" -C "$out"
mv "$out/package/deno.exe" "$out/bin/deno.exe"
rm -rf "$out/package" "$out/deno-win32-x64-$version.tgz"

"$compiler" -O2 -Wall -Werror -shared -o "$out/bin/bcryptprimitives.dll" "$here/source/bcryptprimitives.c" -ladvapi32
"$compiler" -O2 -Wall -Werror -municode -o "$out/bin/powershell.exe" "$here/source/powershell.c" -lws2_32

# No 32-bit parts, no menus, no browser; as Windows 10, since Wine's own default is Windows 7.
export WINEPREFIX="$out/prefix" WINEARCH=win64 WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml,winemenubuilder.exe="
"$wine" wineboot.exe -i >/dev/null 2>&1 || fail "wineboot failed"
"$wine" winecfg.exe -v win10 >/dev/null 2>&1 || fail "winecfg failed"
"$wine" "$out/bin/deno.exe" --version 2>/dev/null | grep -q "^deno $version " || fail "deno.exe does not run under this Wine"
/usr/lib/wine/wineserver64 -k >/dev/null 2>&1 || true
echo "$inputs" >"$out/inputs"
