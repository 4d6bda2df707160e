#!/bin/sh
# Builds a small .NET program for Windows that calls methods of any assembly, for the tests in tests/wine: what the sidecar compiles at
# run time is then run against Wine's own libraries.
#
#   sh tools/wine/dotnet.sh OUTDIR
#
# Needs the .NET SDK, and fetches the runtime for Windows from NuGet. Leaves OUTDIR/dotnet/call.exe with that runtime, about 80 MB. A second
# run with the same inputs does nothing.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd -P)

fail() {
    echo "wine: $1" >&2
    [ $# -lt 2 ] || echo "hint: $2" >&2
    exit 1
}

[ $# -eq 1 ] || fail "one argument is wanted: the folder to build in"
command -v dotnet >/dev/null 2>&1 || fail "cannot find the program 'dotnet'" "install the .NET SDK 10"

inputs=$({ dotnet --version; cat "$here/dotnet.sh" "$here/dotnet/"*; } | sha256sum | cut -d ' ' -f 1)
mkdir -p "$1"
out=$(CDPATH= cd -- "$1" && pwd -P)
[ "$(cat "$out/dotnet/inputs" 2>/dev/null)" != "$inputs" ] || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/dotnet/"* "$work"
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
dotnet publish "$work/call.csproj" -c Release -o "$work/built" >"$work/log" 2>&1 || {
    tail -n 5 "$work/log" >&2
    fail "the .NET program for Windows could not be built"
}
rm -rf "$out/dotnet"
mv "$work/built" "$out/dotnet"
echo "$inputs" >"$out/dotnet/inputs"
