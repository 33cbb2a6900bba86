#!/bin/sh
# Build the library for arm64 and run an example on it under emulation. Usage: arm64.sh BUILD_DIRECTORY
set -eu
build=$1
cmake -S . -B "$build" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DHISTO_COMMAND=OFF -DHISTO_TESTS=OFF -DHISTO_CUDA=OFF >/dev/null
cmake --build "$build" | tail -n 1
aarch64-linux-gnu-gcc -static -Iinclude tests/install/consumer.c "$build/src/libhisto.a" -lm -pthread -o "$build/consumer"
qemu-aarch64-static "$build/consumer"
