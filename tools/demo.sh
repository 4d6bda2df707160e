#!/bin/sh
# Installs what is missing, builds the small guest image, imports it as `tiny`, and runs hvlab's main job on it.
#
#   sh tools/demo.sh
#
# Everything that hvlab keeps goes into its state folder (HVLAB_STATE, else the platform's); `tiny` stays imported there.
set -eu

root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
sh "$root/tools/setup.sh"
PATH=$root/dist/deno/node_modules/deno:$PATH
hvlab=$root/tools/hvlab
tiny=$root/dist/tiny

title() {
    printf '\n# %s\n' "$1"
}

# Shows a command as it would be typed ($1), runs the rest, and ends the demo unless it exits with one of the codes in $expected.
expected=0
show() {
    printf '$ %s\n' "$1"
    shift
    code=0
    "$@" || code=$?
    [ "$code" -eq 0 ] || echo "(exit code $code)"
    case " $expected " in
    *" $code "*) expected=0 ;;
    *)
        echo "demo: exit code $code was not expected here (expected: $expected)" >&2
        exit 1
        ;;
    esac
}

title "What this host can do"
show "hvlab --version" "$hvlab" --version
show "hvlab doctor" "$hvlab" doctor

title "The image: a kernel with its initrd, imported once"
if "$hvlab" image list --json | grep -q '"name": *"tiny"'; then
    echo "tiny is imported already"
else
    show "hvlab image import tiny --kernel vmlinuz --fast-kernel vmlinux --initrd initrd --append ..." \
        "$hvlab" image import tiny --kernel "$tiny/vmlinuz" --fast-kernel "$tiny/vmlinux" --initrd "$tiny/initrd" \
        --append "$(cat "$tiny/append")"
fi
show "hvlab image list" "$hvlab" image list

title "A real guest, one command in it, everything gone afterwards (the exit code is the program's own)"
expected=7
show "hvlab sandbox run tiny -- sh -c 'echo out; echo err >&2; exit 7'" \
    "$hvlab" sandbox run tiny -- sh -c 'echo out; echo err >&2; exit 7'
show "hvlab sandbox run tiny -- uname -a" "$hvlab" sandbox run tiny -- uname -a
show "hvlab vm orphans --json" "$hvlab" vm orphans --json

title "A crash dump (made here: the header of a Windows kernel that stopped)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
deno run --quiet --no-prompt --config="$root/deno.json" --allow-write="$folder" "$root/tools/demo_dump.ts" "$folder/MEMORY.DMP"
show "hvlab dump inspect MEMORY.DMP" "$hvlab" dump inspect "$folder/MEMORY.DMP"

title "To go on"
cat <<END
tools/hvlab --help
tools/hvlab vm create web --image tiny --memory 256M
tools/hvlab vm start web --until heartbeat
tools/hvlab guest exec web -- cat /proc/uptime
tools/hvlab vm delete web --confirm web
END
