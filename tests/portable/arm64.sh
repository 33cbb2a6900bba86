#!/bin/sh
# Build the library for arm64, and run its kernels' tests and an example on it under emulation. The tests need cmocka
# for arm64, whose packages are only unpacked. Usage: arm64.sh BUILD_DIRECTORY
set -eu
mkdir -p "$1"
build=$(cd "$1" && pwd)

apt_get() {
    apt-get -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User= -o Dir::State="$build/apt" \
        -o Dir::State::status=/dev/null -o Dir::Cache="$build/apt" -qq "$@"
}
root=$build/cmocka
if [ ! -d "$root" ]; then
    mkdir -p "$build/apt/lists/partial" "$build/apt/archives/partial"
    apt_get update
    (cd "$build/apt" && apt_get download libcmocka-dev libcmocka0)
    for package in "$build"/apt/*.deb; do
        dpkg -x "$package" "$root.part"
    done
    mv "$root.part" "$root"
fi

tests="test_kernels test_encoded test_exact test_maps test_strategies"
cmake -S . -B "$build" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DHISTO_COMMAND=OFF -DHISTO_BENCH=OFF -DHISTO_TESTS=ON -DHISTO_CUDA=OFF \
    -DCMOCKA_INCLUDE_DIR="$root/usr/include" -DCMOCKA_LIBRARY="$root/usr/lib/aarch64-linux-gnu/libcmocka.so" >/dev/null
# shellcheck disable=SC2086
cmake --build "$build" --target histo_shared histo_static $tests | tail -n 1
for test in $tests; do
    HISTO_TEST_EVERY=40 qemu-aarch64-static -L /usr/aarch64-linux-gnu "$build/tests/$test"
done
aarch64-linux-gnu-gcc -static -Iinclude tests/install/consumer.c "$build/src/libhisto.a" -lm -pthread -o "$build/consumer"
qemu-aarch64-static "$build/consumer"
