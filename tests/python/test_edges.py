"""Edges and counts of numpy.histogram for samples of every floating-point type.

HISTO_CASES is the number of random cases, HISTO_SEED the first seed. A failure prints the seed that repeats it.
"""
import ctypes
import warnings

import numpy as np

from libhisto import BINS, DTYPES, INVALID, STORAGE, VARIABLE, EDGES_I64, EDGES_U64, Axis, Hist, axis_of, last_error, lib, run_checks

TYPES = "f16", "f32", "f64"
lib.histo_linspace.argtypes = [ctypes.c_int64, ctypes.c_double, ctypes.c_double, ctypes.c_int, ctypes.c_int,
                               ctypes.c_void_p]


def linspace(bins, lo, hi, computed, edge):
    """The edges, or None if they do not increase."""
    edges = np.empty(bins + 1)
    status = lib.histo_linspace(bins, lo, hi, DTYPES.index(computed), DTYPES.index(edge), edges.ctypes.data)
    assert status in (0, INVALID), last_error()
    return edges if status == 0 else None


def numpy_histogram(samples, bins, bounds):
    """None if NumPy refuses the bins."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.histogram(samples, bins, bounds)
        except (ValueError, OverflowError):
            return None


def random_samples(rng, dtype):
    n = int(rng.integers(2, 3000))
    kind = rng.integers(4)
    x = [rng.normal(size=n), rng.random(n).round(2), rng.lognormal(0, 2, n), rng.integers(-5, 6, n) / 10][kind]
    with np.errstate(over="ignore"):
        return (x * 10.0**rng.integers(-4, 4) if rng.random() < 0.3 else x).astype(STORAGE[dtype])


def check_linspace(rng):
    """A range of numbers of either type, or that of the samples."""
    dtype = str(rng.choice(TYPES))
    samples = random_samples(rng, dtype)
    lo, hi = np.sort(rng.choice(samples, 2))
    if not lo < hi or not np.isfinite(hi):
        return
    bins = int(rng.choice([1, 2, 7, 10, 100, 256, 1000, 4096, int(rng.integers(1, 100000))]))
    computed = dtype
    if rng.random() < 0.5:
        lo, hi, computed = float(lo) + 1e-9, float(hi), "f64"  # not a number of the samples' type
    wanted, got = numpy_histogram(samples, bins, (lo, hi)), linspace(bins, float(lo), float(hi), computed, dtype)
    assert (wanted is None) == (got is None), (dtype, computed, bins, lo, hi, last_error())
    if got is None:
        return
    counts, edges = wanted
    assert edges.dtype == STORAGE[dtype] and (edges.astype("f8") == got).all(), (dtype, computed, bins, lo, hi)
    h = Hist(axis_of(got, True))
    h.fill((samples, dtype))
    # NumPy's own guess may be off by more than the one bin that it corrects; the edges are the truth.
    wide = samples.astype("f8")
    truth = np.histogram(wide, got)[0]
    assert (h.counts(BINS) == truth).all(), (dtype, computed, bins, lo, hi)


def check_equal_and_infinite(rng):
    """Runs of equal edges, and infinite ones, as NumPy takes them."""
    dtype = str(rng.choice(DTYPES))
    n = int(rng.integers(1, 2000))
    if dtype == "bf16":
        return
    if dtype[0] == "f":
        samples = random_samples(rng, dtype)
        samples[rng.integers(0, len(samples), 3)] = [np.inf, -np.inf, np.nan]
    else:
        samples = rng.integers(-20 if dtype[0] == "i" else 0, 20, n).astype(STORAGE[dtype])
    edges = rng.choice(np.concatenate([samples.astype("f8"), rng.normal(size=5)]), int(rng.integers(2, 60)))
    edges = np.sort(edges[~np.isnan(edges)])
    if len(edges) < 2:
        return
    if rng.random() < 0.5:
        edges[0] = -np.inf
    if rng.random() < 0.5:
        edges[-1] = np.inf
    h = Hist(axis_of(edges, True))
    h.fill((samples, dtype))
    wanted = np.histogram(samples.astype("f8"), edges)[0]
    assert (h.counts(BINS) == wanted.astype("u8")).all(), (dtype, edges)


def check_integers(rng):
    """Integer edges beyond 2^53, such as those of datetime64[ns]."""
    dtype = str(rng.choice(["i64", "u64"]))
    start = int(rng.choice([2**53, 2**60 + 1, 1_700_000_000_000_000_001]))
    spread = int(rng.choice([3, 1000, 10**15]))
    samples = rng.integers(start, start + spread, int(rng.integers(1, 3000)), dtype=STORAGE[dtype])
    edges = np.sort(rng.choice(samples, int(rng.integers(2, 60))))
    edges[rng.integers(0, len(edges), 3)] += rng.integers(0, 2, 3, dtype=STORAGE[dtype])
    edges.sort()
    axis = Axis(kind=VARIABLE, closed=True, bins=len(edges) - 1)
    axis.edge_type = EDGES_I64 if dtype == "i64" else EDGES_U64
    axis.edges = edges.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    h = Hist(axis)
    h.fill((samples, dtype))
    assert (h.counts(BINS) == np.histogram(samples, edges)[0].astype("u8")).all(), (dtype, edges)


run_checks([check_linspace, check_equal_and_infinite, check_integers], 4500)
