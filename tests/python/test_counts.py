"""Counts against exact rational arithmetic on hard cases, and against NumPy and math.fsum on random ones.

HISTO_CASES is the number of random cases (default 3000), HISTO_SEED the first seed. A failure prints the seed that repeats
it.
"""
import bisect
import math
import os
from fractions import Fraction

import numpy as np

from libhisto import (FAST, INTEGER, REGULAR, REPRODUCIBLE, STORAGE, VARIABLE, Hist, axis_of)

CASES = int(os.environ.get("HISTO_CASES", 3000))
SEED = int(os.environ.get("HISTO_SEED", 1))


def exact_slots(values, edges, closed):
    """Slots by comparison of rationals."""
    edges = [Fraction(float(e)) for e in edges]
    n = len(edges) - 1
    counts = np.zeros(n + 3, dtype=np.uint64)
    for x in values:
        if isinstance(x, float) and math.isnan(x):
            slot = n + 2
        elif isinstance(x, float) and math.isinf(x):
            slot = n + 1 if x > 0 else 0
        elif closed and Fraction(x) == edges[-1]:
            slot = n
        else:
            slot = bisect.bisect_right(edges, Fraction(x))
        counts[slot] += 1
    return counts


def linspace(n, lo, hi):
    """The rule of the edges: lo + i * step in two roundings, and hi."""
    step = (hi - lo) / n
    return [lo + i * step for i in range(n)] + [hi]


def around(x):
    return [np.nextafter(x, -math.inf), x, np.nextafter(x, math.inf)]


def hard_cases():
    tenths = [i / 10 for i in range(11)] + [0.1 + 0.2, 0.3, 3 * 0.1, 0.7, 7 * 0.1]
    yield "f64", [float(y) for x in tenths for y in around(x)], REGULAR, linspace(10, 0.0, 1.0)
    yield "f64", [float(y) for e in linspace(7, -0.3, 0.4) for y in around(e)], REGULAR, linspace(7, -0.3, 0.4)
    near = [2**53 + d for d in range(-3, 4)] + [2**63 - 1, 2**62 + 1, 0, 1]
    wide = [2.0**53 - 2, 2.0**53, 2.0**53 + 2, 2.0**63, 2.0**64]
    yield "i64", near + [-x for x in near], VARIABLE, [-2.0**63, -2.0**53 - 2, -2.0**53] + wide
    yield "u64", near + [2**64 - 1, 2**63, 2**63 + 1], VARIABLE, wide
    yield "u64", near + [2**64 - 1, 2**63], REGULAR, linspace(3, 0.0, 2.0**64)
    yield "i64", near + [-2**63], REGULAR, linspace(5, -2.0**63, 2.0**63)
    yield "i64", near, REGULAR, linspace(4, 2.0**53 - 4, 2.0**53 + 4)
    yield "u64", [0, 1, 2], VARIABLE, [-1.5, 0.5, 1.5]
    yield "i64", [-2, -1, 0, 1, 2], VARIABLE, [-1.5, -0.5, 0.5, 1.5]
    yield "f64", [5e-324, 0.0, -0.0, -5e-324, 1e-323], VARIABLE, [-5e-324, 0.0, 5e-324, 1e-323]
    yield "f64", [math.nan, math.inf, -math.inf, 1.7e308, -1.7e308], REGULAR, linspace(4, -8e307, 8e307)
    yield "f32", [float(np.float32(x)) for x in (0.1, 0.2, 0.3, 0.7, 1.0)], REGULAR, linspace(10, 0.0, 1.0)
    yield "f16", [float(np.float16(x)) for x in (0.1, 0.3, 65504, 6e-8)], REGULAR, linspace(10, 0.0, 1.0)
    yield "i32", [-2**31, 2**31 - 1, 0], INTEGER, [float(x) for x in range(-1, 3)]


def check_hard_cases():
    cases = 0
    for dtype, values, kind, edges in hard_cases():
        array = np.array(values, dtype=STORAGE[dtype])
        for closed in (False, True):
            h = Hist(axis_of(edges, closed, kind))
            h.fill((array, dtype))
            wanted = exact_slots(values, edges, closed)
            assert (h.counts() == wanted).all(), (dtype, values, edges, closed, h.counts(), wanted)
            cases += 1
    return cases


def random_column(rng, n):
    """Samples that double holds exactly, and their dtype."""
    dtype = rng.choice("u8 i8 u16 i16 u32 i32 f16 f32 f64".split())
    if dtype[0] != "f":
        info = np.iinfo(STORAGE[dtype])
        return rng.integers(info.min, info.max, n, endpoint=True, dtype=STORAGE[dtype]), dtype
    kind = rng.integers(4)
    x = [rng.normal(size=n), rng.random(n).round(2), rng.lognormal(0, 2, n), rng.integers(-5, 6, n) / 10][kind]
    return x.astype(STORAGE[dtype]), dtype


def random_edges(rng, values):
    lo, hi = float(values.min()), float(values.max())
    if lo == hi:
        lo, hi = lo - 0.5, hi + 0.5
    if rng.random() < 0.3:
        lo, hi = lo + (hi - lo) * 0.2, hi - (hi - lo) * 0.1
    n = int(rng.integers(1, 400))
    if rng.random() < 0.5:
        return np.linspace(lo, hi, n + 1), REGULAR
    return np.unique(rng.choice(np.concatenate([values, rng.uniform(lo, hi, 50)]), n + 1)), VARIABLE


def in_some_order(rng, x):
    """The same samples, in either byte order."""
    return x.astype(x.dtype.newbyteorder()) if rng.random() < 0.3 else x


def some_bitmap(rng, n):
    """Bits for n samples behind a few others, as Arrow has them, and which samples they keep."""
    offset = int(rng.integers(0, 20))
    bits = rng.random(offset + n) < 0.7
    return (np.packbits(bits, bitorder="little"), offset), bits[offset:]


def check_random_case(rng):
    columns = [random_column(rng, n) for n in [int(rng.integers(1, 3000))] for _ in range(int(rng.integers(1, 4)))]
    doubles = [x.astype(np.float64) for x, _ in columns]
    axes = [random_edges(rng, x) for x in doubles]
    if any(len(edges) < 2 for edges, _ in axes) or np.prod([len(edges) for edges, _ in axes]) > 2e6:
        return 0
    h = Hist(*[axis_of(edges, True, kind) for edges, kind in axes])
    columns = [(in_some_order(rng, x), dtype) for x, dtype in columns]
    bitmap, kept = some_bitmap(rng, len(doubles[0])) if rng.random() < 0.3 else (None, slice(None))
    h.fill(*columns, bitmap=bitmap)
    doubles = [x[kept] for x in doubles]
    edges = [edges for edges, _ in axes]
    if len(columns) == 1:
        # A number and a range makes NumPy take its own path for equal bins.
        kind = axes[0][1]
        bins = dict(bins=len(edges[0]) - 1, range=(edges[0][0], edges[0][-1])) if kind == REGULAR else dict(bins=edges[0])
        wanted, _ = np.histogram(doubles[0], **bins)
    else:
        wanted, _ = np.histogramdd(doubles, bins=edges)
    inner = (slice(1, -2),) * len(columns)
    assert (h.counts()[inner] == wanted.astype(np.uint64)).all(), (columns, edges)
    assert int(h.counts().sum()) == len(doubles[0])
    return 1


def check_weights(rng):
    n = int(rng.integers(1, 2000))
    x, w = rng.random(n), rng.normal(size=n) * 10.0 ** rng.integers(-12, 12, n)
    edges = np.linspace(0.1, 0.9, int(rng.integers(2, 20)))
    for weighting in (REPRODUCIBLE, FAST):
        h = Hist(axis_of(edges, False), weighting=weighting)
        h.fill((in_some_order(rng, x), "f64"), weights=(in_some_order(rng, w), "f64"))
        which = np.searchsorted(edges, x, side="right")
        for slot in range(len(edges) + 1):
            mine = w[which == slot]
            got = h.weights()[:, slot]
            wanted = math.fsum(mine), math.fsum(mine * mine)
            if weighting == REPRODUCIBLE:
                assert got[0] == wanted[0] and got[1] == wanted[1], (slot, got, wanted)
            else:
                assert abs(got[0] - wanted[0]) <= n * 2.0**-53 * math.fsum(abs(mine)), (slot, got, wanted)
    return 1


def main():
    hard = check_hard_cases()
    compared = weighted = 0
    for case in range(CASES):
        seed = SEED + case
        try:
            compared += check_random_case(np.random.default_rng(seed))
            if case % 20 == 0:
                weighted += check_weights(np.random.default_rng(seed))
        except AssertionError:
            print(f"failed with HISTO_SEED={seed} HISTO_CASES=1")
            raise
    assert compared > CASES / 2
    print(f"{hard} hard cases, {compared} random ones against NumPy, {weighted} of weights against fsum: all equal")


main()
