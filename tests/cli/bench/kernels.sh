# Compiled kernels: where they are kept, and that nothing depends on it.
. "$(dirname "$0")/../support/check.sh"

# no_cache: none was made.
no_cache() {
    checks=$((checks + 1))
    [ ! -e "$HOME/.cache" ] && [ ! -e cache ] || fail "a kernel cache was made: $(find "$HOME/.cache" cache)"
}

head -c 65536 /dev/zero >few
prints 'lo\thi\tcount\n0\t128\t65536\n128\t256\t0\n' --compile --device cpu --bytes -b 2 -r 0:256 few
shows '^chosen: cpu/' explain --compile --device cpu --bytes -b 2 -r 0:256 few
! grep -q 'kernel:' "$out" || fail "a CPU has a compiled kernel: $(cat "$out")"
prints 'lo\thi\tcount\n0\t128\t65536\n128\t256\t0\n' --compile --bytes -b 2 -r 0:256 few
no_cache
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME
prints 'lo\thi\tcount\n0\t128\t65536\n128\t256\t0\n' --compile --device cpu --bytes -b 2 -r 0:256 few
no_cache

# On a GPU: an f64 filter is worth a kernel.
filtered='--device cuda --dtype f64 -b 2 -r 0:2 --where 0:1'
if nvidia-smi -L >/dev/null 2>&1; then
    head -c 67108864 /dev/zero >many
    # shellcheck disable=SC2086
    shows '^  kernel: compiled' explain --compile $filtered many
    checks=$((checks + 1))
    [ "$(stat -c %a cache/histo/kernels)" = 700 ] || fail "others may use the kernel cache: $(ls -la cache/histo)"
    # shellcheck disable=SC2086
    shows '^  kernel: compiled .*, read from the kernel cache ' explain $filtered many
    XDG_CACHE_HOME=/dev/null # no cache is no error
    # shellcheck disable=SC2086
    prints 'lo\thi\tcount\n0\t1\t8388608\n1\t2\t0\n' --compile $filtered many
else
    # shellcheck disable=SC2086
    refuses 1 'take --device cpu' explain --compile $filtered few
    no_cache
fi

finish
