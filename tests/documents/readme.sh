#!/bin/bash
# Check the documents. The README's C example prints what the README shows; the commands of the README and of the command
# guide, run in an 80 x 24 terminal, print what is shown, except for times. With --write, put the real output into the
# documents. Usage: readme.sh BUILD_DIRECTORY [--write]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
mode=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH="$build/cli:$PATH" HOME="$work" XDG_CONFIG_HOME='' XDG_CACHE_HOME='' NO_COLOR=1 TERM=xterm LC_ALL=C.UTF-8

c_blocks() { awk '/^```c$/ {on = 1; next} /^```$/ {on = 0} on' "$1"; }

c_blocks "$root/README.md" >"$work/example.c"
cc -std=c11 -I"$root/include" "$work/example.c" -L"$build/src" -lhisto -Wl,-rpath,"$build/src" -o "$work/example"
printed=$("$work/example")
grep -qF "It prints \`${printed% }\`" "$root/README.md" || { echo "README.md: the C example prints '$printed'"; exit 1; }

# Each command of a console block, followed by its output.
in_terminal() { script -qec "stty cols 80 rows 24; $1" /dev/null </dev/null | tr -d '\r' || true; }
run_commands() {
    local block=false skip=false line
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
    done
}
without_times() {
    sed -E '/^  cuda: /d; /^cpu\/[a-z_]+, [0-9]+ thread/d; s/with [0-9]+ threads?,/with N threads,/
            s/threads=[0-9]+/threads=N/; s/predicted .*//' "$1"
}
for document in README.md docs/command.md; do
    samples=$work/$(basename "$document" .md)
    cp -r /usr/share/matplotlib/mpl-data/sample_data "$samples"
    (cd "$samples" && run_commands <"$root/$document" >"$work/written.md")
    if [ "$mode" = --write ]; then
        cp "$work/written.md" "$root/$document"
    elif ! diff <(without_times "$root/$document") <(without_times "$work/written.md"); then
        echo "$document and what its commands print differ: tests/documents/readme.sh $1 --write"
        exit 1
    fi
done
