"""Thresholds and ranks of samples beside models in exact fractions, of every dtype; with more distinct values than fit,
too, where several passes find what one pass finds of fewer."""
import ctypes
import math
from fractions import Fraction

import numpy as np
from libhisto import OK, STORAGE, FillOptions, check, last_error, lib, run_checks, view_of

METHODS = ["otsu", "triangle", "li", "yen", "isodata", "minimum", "mean", "max-entropy"]
MOST_DISTINCT = 1 << 20

lib.histo_thresholds_destroy.restype = lib.histo_ranks_destroy.restype = None


class Number(ctypes.Union):
    _fields_ = [("u64", ctypes.c_uint64), ("i64", ctypes.c_int64), ("f64", ctypes.c_double)]


def add_pieces(add, of, x, dtype, mask, cuts):
    bounds = [0, *sorted(cuts), len(x)]
    for begin, end in zip(bounds, bounds[1:]):
        options = FillOptions()
        if mask is not None:
            options.mask = ctypes.pointer(view_of(mask[begin:end], "u8"))
        check(add(of, ctypes.byref(view_of(x[begin:end], dtype)), ctypes.byref(options)))


def thresholds(x, dtype, method="otsu", classes=2, bins=0, mask=None, cuts=()):
    """The thresholds, and how many passes they took; or what is wrong."""
    of, more, passes = ctypes.c_void_p(), ctypes.c_bool(), 0
    check(lib.histo_thresholds_create(ctypes.byref(of), list(STORAGE).index(dtype), METHODS.index(method), classes,
                                      ctypes.c_int64(bins)))
    while (status := lib.histo_thresholds_next_pass(of, ctypes.byref(more))) == OK and more:
        passes += 1
        add_pieces(lib.histo_thresholds_add, of, x, dtype, mask, cuts)
    found = (Number * (classes - 1))()
    if status == OK:
        check(lib.histo_thresholds_read(of, found))
    lib.histo_thresholds_destroy(of)
    field = "f64" if dtype.lstrip("b")[0] == "f" else "u64" if dtype[0] == "u" else "i64"
    return ([getattr(number, field) for number in found], passes) if status == OK else (last_error(), passes)


def ranks(x, dtype, cuts=()):
    of, more, size = ctypes.c_void_p(), ctypes.c_bool(), ctypes.c_int64()
    check(lib.histo_ranks_create(ctypes.byref(of), list(STORAGE).index(dtype)))
    while lib.histo_ranks_next_pass(of, ctypes.byref(more)) == OK and more:
        add_pieces(lib.histo_ranks_add, of, x, dtype, None, cuts)
    check(lib.histo_ranks_size(of, ctypes.byref(size)))
    values, upto = np.empty(size.value), np.empty(size.value, np.uint64)
    check(lib.histo_ranks_read(of, ctypes.c_void_p(values.ctypes.data), ctypes.c_void_p(upto.ctypes.data),
                               ctypes.byref(size)))
    lib.histo_ranks_destroy(of)
    return values[: size.value], upto[: size.value]


def exact(x):
    """The distinct values as numbers without an error, and their counts."""
    values, counts = np.unique(x, return_counts=True)
    return [Fraction(v.item()) for v in values], counts.tolist()


def splits(x):
    """After each distinct value but the last: (value, samples up to it, their sum), and those of all."""
    values, counts = exact(x)
    n, s, found = 0, Fraction(0), []
    for v, c in zip(values, counts):
        n, s = n + c, s + v * c
        found.append((v, n, s))
    return found[:-1], n, s


def otsu(x):
    found, n, s = splits(x)
    best = max(found, key=lambda f: ((n * f[2] - f[1] * s)**2 / (f[1] * (n - f[1])), -f[0]))
    return best[0]


def fixed_point(x, method):
    """As scikit-image: Li's from the mean, isodata's from below."""
    found, n, s = splits(x)
    values = [f[0] for f in found]
    least = values[0]
    now = s / n - least if method == "li" else Fraction(0)
    for _ in range(10000):
        i = max(k for k in range(len(values)) if values[k] - least <= now)
        low = found[i][2] / found[i][1] - least
        high = (s - found[i][2]) / (n - found[i][1]) - least
        if method == "li" and low == 0:
            return now + least, i
        then = (low + high) / 2 if method == "isodata" else Fraction((float(low) - float(high)) / (math.log(low) - math.log(high)))
        if i == max(k for k in range(len(values)) if values[k] - least <= then):
            return then + least, i
        now = then
    raise AssertionError("no fixed point")


def random_samples(rng, dtype, n):
    scale = rng.choice([1, 10, 1000]) if dtype in ("u8", "i8", "f16") else rng.choice([1, 50, 1e4, 1e9, 1e-9])
    x = rng.normal(0, scale, n)
    x[: n // 3] += rng.choice([0, 3, 8]) * scale
    if rng.random() < 0.4:
        x = rng.choice(x[:6], n)
    if rng.random() < 0.3:
        x[0] = rng.choice([-1, 1]) * scale * 100
    kind = STORAGE[dtype]
    if kind[0] == "f":
        with np.errstate(over="ignore"):
            x = x.astype(kind)
        x[~np.isfinite(x)] = 0
        return x
    limits = np.iinfo(kind)
    if dtype in ("u64", "i64") and rng.random() < 0.5:
        x = x / np.abs(x).max() * 2.0**62
    return np.clip(np.rint(x), float(limits.min), float(limits.max) * (1 - 2**-20)).astype(kind)


def check_exact(rng):
    dtype = str(rng.choice([d for d in STORAGE if d != "bf16"]))
    x = random_samples(rng, dtype, int(rng.choice([2, 3, 10, 300])))
    cuts = rng.integers(0, len(x) + 1, int(rng.integers(0, 3)))
    mask = (rng.random(len(x)) < 0.8).astype("u1") if rng.random() < 0.3 else None
    of = x if mask is None else x[mask != 0]
    dirty = x
    if STORAGE[dtype][0] == "f" and rng.random() < 0.3:
        dirty = np.concatenate([x, np.array([np.nan, np.inf, -np.inf, -np.nan], x.dtype)])
        mask = mask if mask is None else np.concatenate([mask, np.ones(4, "u1")])
    if not len(of):
        assert "no sample" in thresholds(dirty, dtype, mask=mask, cuts=cuts)[0]
        return
    values = np.unique(of)
    for method in ("otsu", "li", "isodata", "mean"):
        (got,), passes = thresholds(dirty, dtype, method, mask=mask, cuts=cuts)
        assert passes == 1
        if len(values) == 1:
            assert got == values[0], (method, got, values)
            continue
        if method == "otsu":
            assert Fraction(got) == otsu(of), (dtype, got, float(otsu(of)))
            continue
        wanted, below = (sum(splits(of)[0][-1][2:], Fraction(of.max().item()) * int((of == of.max()).sum())) / len(of), None) if method == "mean" else fixed_point(of, method)
        assert Fraction(got) <= wanted or math.isclose(got, wanted, rel_tol=1e-9), (dtype, method, got, float(wanted))
        scale = max(abs(float(values[0])), abs(float(values[-1])))
        step = 1 if STORAGE[dtype][0] != "f" else float(np.spacing(x.dtype.type(abs(got) + scale * 1e-6)))
        assert float(wanted) - got <= step + 1e-9 * scale, (dtype, method, got, float(wanted))
        if below is not None:
            assert (of > x.dtype.type(got)).sum() == (of > values[below]).sum(), (dtype, method, got, float(wanted))


def check_classes(rng):
    """More classes, beside all splits of a few values."""
    x = rng.normal(0, 1, 40).astype("f4")
    (a, b), _ = thresholds(x, "f32", classes=3)
    values = np.unique(x.astype(float))
    def within(lo, hi):
        part = x[(x > lo) & (x <= hi)].astype(float)
        return part.size * part.var() if part.size else 0
    best = min(within(-np.inf, p) + within(p, q) + within(q, np.inf) for i, p in enumerate(values) for q in values[i + 1 : -1])
    assert math.isclose(within(-np.inf, a) + within(a, b) + within(b, np.inf), best, rel_tol=1e-9)


def many(rng, dtype, n):
    x = rng.normal(0, 1, n)
    x[: n // 3] += 4
    x[rng.integers(0, n, n // 5)] = 0.25  # a common value
    if rng.random() < 0.5:
        x[7] = rng.choice([-1, 1]) * 3000
    if rng.random() < 0.3:
        x = np.exp(x)
    if dtype in ("u32", "i32"):
        x = np.clip(np.rint(x * 1e8), 0, 2**32 - 1) if dtype == "u32" else np.clip(np.rint(x * 1e8), -2**31, 2**31 - 1)
    elif dtype in ("u64", "i64"):
        x = np.rint((x + (4000 if dtype == "u64" else 0)) * 1e15)
    return x.astype(STORAGE[dtype])


def check_many(rng):
    """More distinct values than fit, beside sums of sorted samples in long doubles."""
    dtype = str(rng.choice(["f32", "f64", "u32", "i32", "u64", "i64"]))
    n = int(rng.integers(3, 5)) * MOST_DISTINCT
    x = many(rng, dtype, n)
    values, counts = np.unique(x, return_counts=True)
    assert len(values) > MOST_DISTINCT
    v = values.astype(np.longdouble)
    v -= v[0]
    upto, sums = np.cumsum(counts), np.cumsum(v * counts)
    cuts = rng.integers(0, n, 2)
    below, rest = upto[:-1].astype(np.longdouble), (n - upto[:-1]).astype(np.longdouble)
    distance = sums[:-1] - below * (sums[-1] / n)
    criterion = distance**2 / (below * rest)
    (got,), passes = thresholds(x, dtype, "otsu", cuts=cuts)
    at = np.searchsorted(values, x.dtype.type(got))
    assert values[at] == x.dtype.type(got) and passes <= 3, (dtype, got, passes)
    assert criterion[at] >= criterion.max() * (1 - 1e-15), (dtype, got, values[criterion.argmax()])
    for method in ("li", "isodata"):
        (got,), passes = thresholds(x, dtype, method, cuts=cuts)
        assert passes <= 3, (method, passes)
        at = np.searchsorted(values, x.dtype.type(got), "right") - 1
        low, high = sums[at] / upto[at], (sums[-1] - sums[at]) / (n - upto[at])
        step = (low + high) / 2 if method == "isodata" else (low - high) / (np.log(low) - np.log(high))
        assert v[at] <= step * (1 + 1e-12) and step < v[at + 1] * (1 + 1e-12), (dtype, method, got)
    got, given = ranks(x, dtype, cuts)
    found = np.searchsorted(values.astype(float), got, "right") - 1
    assert np.array_equal(given, upto[found]) and given[-1] == n, dtype
    common = values[counts > n / 8000].astype(float)
    assert np.isin(got[np.diff(given, prepend=0) > n / 8000], common).all() and np.isin(common, got).all(), dtype


def check_ranks(rng):
    dtype = str(rng.choice([d for d in STORAGE if d != "bf16"]))
    x = random_samples(rng, dtype, int(rng.choice([1, 5, 5000])))
    values, counts = np.unique(x.astype(float), return_counts=True)
    got, upto = ranks(x, dtype, rng.integers(0, len(x) + 1, 2))
    assert np.array_equal(got, values) and np.array_equal(upto, np.cumsum(counts)), dtype


def check_outlier(rng):
    """Methods that need bins: one sample that becomes a million moves no threshold by more than a few bins."""
    n = int(rng.choice([1000, 100000]))
    x = np.concatenate([rng.normal(100, 1, n), rng.normal(110, 1, n // 2)]).astype("f4")
    for method in ("triangle", "yen", "minimum", "max-entropy"):
        (clean,), passes = thresholds(x, "f32", method)
        hot = x.copy()
        hot[rng.integers(len(x))] = rng.choice([-1e6, 1e6])
        (got,), _ = thresholds(hot, "f32", method)
        assert passes <= 4 and abs(got - clean) <= (2 if method == "minimum" else 0.5), (method, clean, got)


check_many(np.random.default_rng(0))
run_checks([check_exact] * 10 + [check_classes, check_ranks, check_outlier], 390)
