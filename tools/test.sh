#!/bin/sh
# Installs what is missing, then runs all checks and all tests. The last line is `N passed, N failed`.
#
#   sh tools/test.sh
set -eu

root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
if ! sh "$root/tools/setup.sh" suites; then
    echo "0 passed, 1 failed"
    exit 1
fi
PATH=$root/dist/deno/node_modules/deno:$PATH
unset RUST_BACKTRACE
cd "$root"
exec deno run --quiet -A tools/stages.ts
