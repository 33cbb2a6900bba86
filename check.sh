#!/bin/bash
# CPU of the GPU's host (Emerald Rapids, AVX-512 VBMI2): one thread, no peers but the naive loop. About 35 s.
export HISTO_BENCH_PYTHON=
for t in strategies cpu_counts; do [ -x ./test_$t ] && HISTO_TEST_EVERY=40 timeout 20 ./test_$t 2>&1 | grep -E "PASSED|FAILED" | head -2; done
timeout 38 ./histo bench map --device cpu --threads 1 --samples 32MiB --repeat 3 --cells u8/uniform,u8/runs,u16/65536/uniform,u32/256/uniform,u32/8192/uniform,f32/256/uniform,f32/256/on-edges,f32/1024/uniform,f32/4096/uniform,f32/65536/uniform,f64/256/uniform,f64/256/on-edges,f32/quantiles/256/uniform,u32/2097152/uniform 2>&1 | cut -c1-130 | tail -40
timeout 6 ./histo bench map --device cpu --threads 2 --samples 64MiB --repeat 3 --cells u8/uniform 2>&1 | cut -c1-130 | sed -n 5p
