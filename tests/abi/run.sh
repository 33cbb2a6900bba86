#!/bin/sh
# A program built with the headers of the last release, which abi/ keeps, runs with today's library and prints what it
# printed then. Today's program calls every function, so that the next release has all. Usage: run.sh BUILD_DIRECTORY
set -eu
library=$(cd "$1/src" && pwd)
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # SOURCE INCLUDES PROGRAM
    cc -std=c11 -I"$2" "$1" -L"$library" -lhisto -lm -Wl,-rpath,"$library" -o "$3"
}

build tests/abi/program.c include "$work/today"
nm -u "$work/today" | awk '{print $2}' | sort >"$work/called"
missing=$(nm -D --defined-only "$library/libhisto.so" | awk '{print $3}' | sort | comm -23 - "$work/called")
if [ -n "$missing" ]; then
    echo "tests/abi/program.c must call every function, but does not call:" "$missing" >&2
    exit 1
fi

tar -C "$work" -xf abi/histo-*.tar.xz
old=$(echo "$work"/histo-*)
soname=$(objdump -p "$library/libhisto.so" | awk '$1 == "SONAME" {print $2}')
if [ "$soname" != "$(cat "$old/soname")" ]; then
    echo "The soname is $soname, that of the last release $(cat "$old/soname"): its programs run with the old library."
    exit
fi
runs() {
    build "$old/program.c" "$old/include" "$work/program" && "$work/program" "$work/scratch" >"$work/printed" &&
        diff "$old/expected.txt" "$work/printed"
}
if ! runs; then
    tests/abi/advice.sh >&2
    exit 1
fi
