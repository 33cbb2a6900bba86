#!/bin/bash
# The README tells the truth: its C example compiles against the library and prints what it says, and its commands, run in a
# terminal of 80 x 24, give the output shown (but for times). With --write, put the real output into the README.
# Usage: readme.sh BUILD_DIRECTORY [--write]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r /usr/share/matplotlib/mpl-data/sample_data/. "$work"
export PATH="$build/cli:$PATH" HOME="$work" XDG_CONFIG_HOME= NO_COLOR=1 TERM=xterm LC_ALL=C.UTF-8
cd "$work"

awk '/^```c$/ {on = 1; next} /^```$/ {on = 0} on' "$root/README.md" >example.c
cc -std=c11 -Wall -Wextra -Werror -I"$root/include" example.c -L"$build/src" -lhisto -Wl,-rpath,"$build/src" -o example
printed=$(./example)
grep -qF "It prints \`${printed% }\`" "$root/README.md" || { echo "the C example prints '$printed', not what the README says"; exit 1; }

# Each command of a console block, followed by what it prints.
in_terminal() { script -qec "stty cols 80 rows 24; $1" /dev/null </dev/null | tr -d '\r' || true; }
block=false skip=false
while IFS= read -r line; do
    case $line in
    '```console') block=true ;;
    '```') block=false skip=false ;;
    esac
    if $block && [[ $line == '$ '* ]]; then
        printf '%s\n' "$line"
        in_terminal "${line#'$ '}" | sed 's/[[:space:]]*$//'
        skip=true
    elif ! $skip; then
        printf '%s\n' "$line"
    fi
done <"$root/README.md" >written.md

if [ "${2:-}" = --write ]; then
    cp written.md "$root/README.md"
    exit 0
fi
without_times() { sed -E '/^  cuda: /d; /^cpu\/[a-z_]+, [0-9]+ thread/d; s/with [0-9]+ threads?,/with N threads,/; s/threads=[0-9]+/threads=N/; s/predicted .*//' "$1"; }
diff <(without_times "$root/README.md") <(without_times written.md) || { echo "README.md and what its commands print differ: tests/readme.sh $1 --write"; exit 1; }
