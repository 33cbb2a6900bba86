#!/bin/sh
# Install into an empty folder; build a program against it by pkg-config and by the CMake package, and the examples; see that
# only the API is exported. Usage: run.sh BUILD_DIRECTORY
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cmake --install "$build" --prefix "$root/usr" >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$root/usr" -name histo.pc)")
export PKG_CONFIG_PATH
library=$(pkg-config --variable=libdir histo)

# shellcheck disable=SC2046
cc -std=c11 -Wall -Wextra -Werror -pedantic "$here/consumer.c" $(pkg-config --cflags --libs histo) -Wl,-rpath,"$library" -o "$root/a"
"$root/a"
cmake -S "$here" -B "$root/build" -DCMAKE_PREFIX_PATH="$root/usr" >/dev/null
cmake --build "$root/build" >/dev/null
"$root/build/with_shared"
"$root/build/with_static"
cmake -S "$here/../../examples" -B "$root/examples" -DCMAKE_PREFIX_PATH="$root/usr" >/dev/null
cmake --build "$root/examples" >/dev/null
ctest --test-dir "$root/examples" --no-tests=error --output-on-failure -Q

exported=$(nm -D --defined-only "$library/libhisto.so" | awk '{print $3}' | grep -v '^histo_' || true)
[ -z "$exported" ] || { echo "exported besides the API: $exported"; exit 1; }
for symbol in $(nm -D --defined-only "$library/libhisto.so" | awk '{print $3}'); do
    grep -q "\b$symbol(" "$root"/usr/include/histo/*.h || { echo "exported, but in no header: $symbol"; exit 1; }
done
# Without a build, nothing is installed, and one sentence says so.
cmake -S "$here/../.." -B "$root/none" -DHISTO_COMMAND=OFF -DHISTO_TESTS=OFF -DHISTO_BENCH=OFF -DHISTO_CUDA=OFF >/dev/null
! cmake --install "$root/none" --prefix "$root/nothing" >/dev/null 2>"$root/said" || { echo "installed without a build"; exit 1; }
tr -s ' \n' ' ' <"$root/said" | grep -q 'is not built yet: cmake --build'
[ ! -e "$root/nothing" ] || { echo "half of it is installed"; exit 1; }

# The static library gives programs the same names.
nm -D --defined-only "$library/libhisto.so" | awk '{print $3}' | sort >"$root/shared"
nm -g --defined-only "$library/libhisto.a" | awk 'NF == 3 {print $3}' | sort >"$root/static"
diff "$root/shared" "$root/static" || { echo "libhisto.a does not define what libhisto.so exports"; exit 1; }
[ ! -e "$build/manual" ] || test -s "$root/usr/share/man/man3/histo_hist_fill.3"
if [ -x "$root/usr/bin/histo" ]; then
    "$root/usr/bin/histo" --version
    echo 1 | "$root/usr/bin/histo" -o "$root/picture.svg" # by a module
    test -s "$root/usr/share/man/man1/histo.1"
    arrow=$(find "$root/usr" -name arrow.so)
    [ -z "$arrow" ] || "$root/usr/bin/histo" -q --column 0 "$here/../fuzz/corpus/parquet/one" >"$root/counts"
    # It needs none of the build's files.
    for file in "$root"/usr/bin/* $(find "$root/usr" -name '*.so*' -type f); do
        ! readelf -d "$file" | grep -E 'R(UN)?PATH' | grep -q "$build" || { echo "$file looks into the build"; exit 1; }
    done
fi
if [ -x "$root/usr/bin/histo-bench" ]; then
    "$root/usr/bin/histo-bench" conflicts >/dev/null
    [ ! -x "$root/usr/bin/histo" ] || grep -q several "$root/usr/share/man/man1/histo-bench.1"
    [ ! -x "$root/usr/bin/histo" ] || "$root/usr/bin/histo" bench conflicts >/dev/null
fi
