#!/bin/bash
# The headers, the examples and the C of the documents compile as C11, C23 and C++17, by GCC and by Clang, without a
# warning; the headers also as C++11 to C++20, and with short enumerations. Usage: languages.sh [CUDA_INCLUDES]
#
# tests/mpi/run compiles what includes mpi.h.
set -euo pipefail
cd "$(dirname "$0")/../.."
cuda=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# compiles LANGUAGE FILE [FLAG…]: c11, c2x, c++17 …
compiles() {
    local language=$1 file=$2 compiler
    shift 2
    case $language in
    c++*) set -- -x c++ "$@" ;;
    *) set -- -x c "$@" ;;
    esac
    for compiler in gcc clang; do
        "$compiler" "-std=$language" -Wall -Wextra -pedantic -Werror -Iinclude -fsyntax-only "$@" "$file" || {
            echo "$file does not compile as $language by $compiler" >&2
            exit 1
        }
    done
}

# Each block of C in a document is the body of a function with these parameters, but whole programs are files, and
# blocks that begin with a static declaration are outside of functions.
blocks() { # DOCUMENT TO
    awk -v document="$1" -v to="$2" '
        BEGIN {
            bodies = to "/bodies.c"
            parameters = "(const float *data, const float *weights_of, const unsigned char *mask_of, int64_t n,\n" \
                "const unsigned char *image, int64_t width, int64_t height, int64_t pitch, histo_hist *h, void *stream,\n" \
                "uint32_t *there)"
        }
        /^```c$/ { on = 1; text = sprintf("#line %d \"%s\"\n", NR + 1, document); next }
        /^```$/ && on {
            on = 0
            if (!block++) {
                print "#include <histo/histo.h>" >bodies
                print "#include <math.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>" >bodies
            }
            if (text ~ /int main\(/)
                print text >(to "/" block ".c")
            else if (text ~ /^[^\n]*\nstatic /)
                print text >bodies
            else
                printf "void block_%d%s;\nvoid block_%d%s\n{\n%s}\n", block, parameters, block, parameters, text >bodies
        }
        on { text = text $0 "\n" }
        END { print block + 0 }' "$1"
}

found=0
for document in README.md docs/*.md docs/internals/*.md examples/*.md; do
    mkdir -p "$work/$document"
    found=$((found + $(blocks "$document" "$work/$document")))
    for file in "$work/$document"/*.c; do
        [ -e "$file" ] || continue
        for language in c11 c2x c++17; do
            compiles $language "$file" -Wno-unused -Wno-unused-parameter
        done
    done
done
[ "$found" -ge 25 ] || { echo "only $found blocks of C were found in the documents" >&2; exit 1; }

for example in examples/*.c examples/*.cpp; do
    includes=()
    if grep -q '#include <cuda' "$example"; then
        [ -n "$cuda" ] || { echo "$example: not compiled, as there is no CUDA toolkit"; continue; }
        includes=(-isystem "$cuda")
    elif grep -q '#include <histo/mpi.h>' "$example"; then
        continue
    fi
    case $example in
    *.c) for language in c11 c2x c++17; do compiles $language "$example" "${includes[@]}"; done ;;
    *) for language in c++17 c++20; do compiles $language "$example" "${includes[@]}"; done ;;
    esac
done

for header in include/histo/*.h; do
    [ "$header" != include/histo/mpi.h ] || continue
    echo "#include <histo/$(basename "$header")>" >"$work/alone"
    for language in c11 c17 c2x c++11 c++14 c++17 c++20; do
        compiles $language "$work/alone"
        compiles $language "$work/alone" -fshort-enums
    done
done
for language in c++17 c++20; do
    echo '#include <histo/histo.hpp>' >"$work/alone"
    compiles $language "$work/alone"
    compiles $language "$work/alone" -fshort-enums
done
