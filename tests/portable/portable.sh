#!/bin/sh
# Compile the library for systems other than Linux with glibc, by zig's clang, and run an example with musl. Usage:
# portable.sh BUILD_DIRECTORY
set -eu
build=$1
. script/packages
make_venv build/zig-venv /usr/bin/python3 tests/portable/zig-requirements.txt
zig=$(build/zig-venv/bin/python -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__) + "/zig")')
for target in x86_64-linux-musl aarch64-macos x86_64-windows-gnu; do
    cmake -S . -B "$build/$target" -G Ninja --toolchain cmake/zig.cmake -DHISTO_ZIG="$zig" -DHISTO_TARGET=$target \
        -DHISTO_COMMAND=OFF -DHISTO_BENCH=OFF -DHISTO_TESTS=OFF -DHISTO_CUDA=OFF >/dev/null
    cmake --build "$build/$target" -- --quiet
    echo "compiled for $target"
done
musl=$build/x86_64-linux-musl
"$zig" cc -target x86_64-linux-musl -Iinclude tests/install/consumer.c "$musl/src/libhisto.a" -lm -o "$musl/consumer"
"$musl/consumer"
