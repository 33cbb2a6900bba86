"""Axes from data against NumPy: every rule, dtype and kind of range, on random samples in random pieces.

HISTO_CASES is the number of random cases (default 4000), HISTO_SEED the first seed. A failure prints the seed that
repeats it.
"""
import ctypes
import math
import os
import sys
import warnings

import numpy as np

from libhisto import DTYPES, INTEGER, INVALID, OK, REGULAR, STORAGE, Axis, FillOptions, View, last_error, lib, view_of

RULES = "none auto fd scott stone sturges doane rice sqrt".split()
MINMAX, PERCENTILE, DTYPE, FIXED = range(4)
MAX_BINS = 1 << 30
COMPARE_EDGES_UP_TO = 1 << 21  # bins; beyond, the number alone


class SurveyOptions(ctypes.Structure):
    _fields_ = [("range", ctypes.c_int), ("lo", ctypes.c_double), ("hi", ctypes.c_double), ("rule", ctypes.c_int),
                ("bins", ctypes.c_int64), ("width", ctypes.c_double), ("in_parts", ctypes.c_bool),
                ("memory", ctypes.c_size_t), ("reserved", ctypes.c_uint64 * 8)]


lib.histo_survey_next_pass.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_bool)]
lib.histo_survey_add.argtypes = [ctypes.c_void_p, ctypes.POINTER(View), ctypes.POINTER(FillOptions)]
lib.histo_survey_axis.argtypes = [ctypes.c_void_p, ctypes.POINTER(Axis)]
lib.histo_survey_destroy.argtypes = [ctypes.c_void_p]


def values_of(stored, dtype):
    """What NumPy is asked about: the same values as float64, or as 64-bit integers (whose differences do not wrap)."""
    if dtype == "bf16":
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype[0] == "f":
        return stored.astype(np.float64)
    return stored.astype(np.uint64 if dtype == "u64" else np.int64)


# ---- Random samples ----

def random_floats(rng, n):
    kind = rng.integers(9)
    if kind == 0:
        return rng.normal(rng.normal() * 10, 10.0 ** rng.integers(-2, 3), n)
    if kind == 1:
        return rng.lognormal(0, 1, n)
    if kind == 2:
        return rng.random(n)
    if kind == 3:
        return rng.integers(0, 5, n).astype(float)
    if kind == 4:
        return np.full(n, rng.normal())
    if kind == 5:
        return np.linspace(-1, rng.random() + 1, n)
    if kind == 6:
        return rng.standard_t(3, n)
    if kind == 7:
        return np.concatenate([rng.normal(0, 1, n // 2), rng.normal(20, 3, n - n // 2)])
    return np.where(rng.random(n) < 0.8, 1.0, rng.normal(size=n))


def random_integers(rng, n, dtype):
    info = np.iinfo(STORAGE[dtype])
    kind = rng.integers(4)
    if kind == 0 and dtype not in ("u64", "i64"):
        return rng.integers(info.min, info.max, n, endpoint=True, dtype=STORAGE[dtype])
    if kind == 1:
        return rng.integers(0, 4, n).astype(STORAGE[dtype])
    if kind == 2:
        return np.full(n, rng.integers(0, 100), dtype=STORAGE[dtype])
    span = min(info.max, 10 ** int(rng.integers(1, 7)))
    lowest = max(info.min, -span)
    return np.clip(rng.normal((span + lowest) / 2, span / 6, n), lowest, span).astype(STORAGE[dtype])


def random_samples(rng, n, dtype):
    if dtype[0] in "ui":
        return random_integers(rng, n, dtype)
    floats = random_floats(rng, n)
    if rng.random() < 0.2 and n:
        floats[rng.random(n) < 0.1] = np.nan
        floats[rng.random(n) < 0.02] = np.inf
        floats[rng.random(n) < 0.02] = -np.inf
    if dtype == "bf16":
        return (floats.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return floats.astype(STORAGE[dtype])


def laid_out(rng, stored):
    """The same samples somewhere else in memory: contiguous, with gaps, backwards, unaligned, or in two dimensions."""
    kind = rng.integers(5)
    n = len(stored)
    if kind == 1:
        spread_out = np.zeros((n, 3), stored.dtype)
        spread_out[:, 1] = stored
        return spread_out[:, 1]
    if kind == 2:
        return stored[::-1].copy()[::-1]
    if kind == 3:
        unaligned = np.zeros(n, np.dtype([("gap", "u1"), ("sample", stored.dtype)]))
        unaligned["sample"] = stored
        return unaligned["sample"]
    if kind == 4 and n and n % 2 == 0:
        return stored.reshape(2, -1).T.copy()
    return stored.copy()


def pieces_of(rng, stored):
    """(samples, mask, where) of each piece, and which samples are to be counted at all."""
    n = len(stored)
    cuts = sorted(rng.integers(0, n + 1, rng.integers(0, 5)))
    masked, filtered = rng.random() < 0.15, rng.random() < 0.15
    counted = np.ones(n, bool)
    pieces = []
    for begin, end in zip([0, *cuts], [*cuts, n]):
        piece = laid_out(rng, stored[begin:end])
        in_order = laid_out_index(piece, end - begin)
        mask = where = None
        if masked:
            mask = rng.integers(0, 3, piece.shape).astype(np.uint8)
            counted[begin:end] &= (mask != 0).ravel()[in_order]
        if filtered:
            where = rng.normal(size=piece.shape).astype(np.float32)
            counted[begin:end] &= ((where >= -1) & (where <= 0.5)).ravel()[in_order]
        pieces.append((piece, mask, where))
    return pieces, counted


def laid_out_index(piece, n):
    """Where sample i of a piece is in C order."""
    if piece.ndim == 2:
        return np.arange(n).reshape(-1, 2).T.ravel()
    return np.arange(n)


# ---- The library ----

def survey(dtype, options, pieces):
    """(axis, sentence, passes): the axis is None where it was refused, and the sentence says why."""
    handle = ctypes.c_void_p()
    if lib.histo_survey_create(ctypes.byref(handle), DTYPES.index(dtype), ctypes.byref(options)) != OK:
        return None, last_error(), 0
    passes = 0
    more = ctypes.c_bool()
    while lib.histo_survey_next_pass(handle, ctypes.byref(more)) == OK and more:
        passes += 1
        for piece, mask, where in pieces:
            fill = FillOptions()
            view = view_of(piece, dtype)
            if mask is not None:
                fill.mask = ctypes.pointer(view_of(mask, "u8"))
            if where is not None:
                fill.where = ctypes.pointer(view_of(where, "f32"))
                fill.where_lo, fill.where_hi = -1, 0.5
            status = lib.histo_survey_add(handle, ctypes.byref(view), ctypes.byref(fill))
            assert status == OK, last_error()
    axis = Axis()
    status = lib.histo_survey_axis(handle, ctypes.byref(axis))
    assert status in (OK, INVALID), last_error()
    lib.histo_survey_destroy(handle)
    return (axis, "", passes) if status == OK else (None, last_error(), passes)


def edges_of(axis):
    edges = np.empty(axis.bins + 1)
    status = lib.histo_axis_edges(ctypes.byref(axis), edges.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
    assert status == OK, last_error()
    return edges


# ---- NumPy ----

def expected_range(dtype, options, values):
    """The range argument for NumPy (None: from the samples), or "refused"."""
    if options.range == FIXED:
        return options.lo, options.hi
    if options.range == DTYPE:
        if dtype[0] in "ui":
            info = np.iinfo(STORAGE[dtype])
            return float(info.min), float(int(info.max) + 1)
        return 0.0, 1.0
    if options.range == MINMAX:
        return None if np.isfinite(values).any() else "refused"
    numbers = values[~np.isnan(values)]
    if len(numbers) == 0:
        return "refused"
    lo, hi = np.percentile(numbers, [options.lo, options.hi])
    return (lo, hi) if np.isfinite(lo) and np.isfinite(hi) else "refused"


def outer_edges(finite, bounds):
    lo, hi = bounds if bounds else (finite.min(), finite.max())
    return (lo - 0.5, hi + 0.5) if lo == hi else (lo, hi)


def bins_by_rule(name, finite, bounds):
    """(quotient that is rounded up, number of bins) as NumPy finds them, before it allocates so many edges."""
    lo, hi = outer_edges(finite, bounds)
    kept = finite[(finite >= lo) & (finite <= hi)]
    if len(kept) == 0 or kept.min() == kept.max():  # of equal samples NumPy takes rounding errors for a deviation
        return 0, 1
    width = np.lib._histograms_impl._hist_bin_selectors[name](kept, (lo, hi))
    if not width:
        return 0, 1
    if np.issubdtype(kept.dtype, np.integer) and width < 1:
        width = 1
    quotient = np.lib._histograms_impl._unsigned_subtract(hi, lo) / width
    return quotient, int(np.ceil(quotient))


def rounding_decides(name, quotient, finite, bounds, candidates):
    """Where a result hangs on the last bit, NumPy's order of summing may give another one."""
    if name in ("scott", "doane"):
        return abs(candidates[0] - candidates[1]) == 1 and abs(quotient - round(quotient)) < 1e-12 * quotient
    if name != "stone":
        return False
    lo, hi = outer_edges(finite, bounds)
    kept = finite[(finite >= lo) & (finite <= hi)]
    n = len(kept)
    errors = []
    for number in candidates:
        squares = sum(int(count) ** 2 for count in np.histogram(kept, number, range=(lo, hi))[0])
        errors.append(number * (2 * n * n - (n + 1) * squares))
    return errors[0] == errors[1]


# ---- Cases ----

def random_options(rng, dtype, values):
    options = SurveyOptions(range=int(rng.choice([MINMAX, MINMAX, PERCENTILE, DTYPE, FIXED])))
    if options.range == PERCENTILE:
        p = sorted(rng.choice([0, 1, 5, 25, 50, 75, 95, 99, 100, rng.random() * 100], 2))
        options.lo, options.hi = p
    if options.range == FIXED:
        finite = values[np.isfinite(values)].astype(float)
        middle, scale = (np.median(finite), np.std(finite) + 1e-3) if len(finite) else (0, 1)
        options.lo = middle - rng.random() * 3 * scale
        options.hi = options.lo if rng.random() < 0.1 else middle + rng.random() * 3 * scale
    name = str(rng.choice(RULES))
    options.rule = RULES.index(name)
    if name == "none":
        options.bins = int(rng.integers(1, 1000))
    return options, name


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def check_edges(axis, expected):
    edges = edges_of(axis)
    check(len(edges) == len(expected), f"{axis.bins} bins, NumPy has {len(expected) - 1}")
    same = edges == expected
    check(same.all(), f"edge {np.argmin(same)} is {edges[np.argmin(same)]!r}, NumPy's {expected[np.argmin(same)]!r}")


def compare(dtype, options, name, values, pieces):
    """True if the bins were compared with NumPy's, False where rounding decides."""
    axis, refusal, _ = survey(dtype, options, pieces)
    bounds = expected_range(dtype, options, values)
    if bounds == "refused":
        check(axis is None, f"NumPy has no range, the library [{axis and axis.lo}, {axis and axis.hi}]")
        return True
    finite = values[np.isfinite(values)]
    if name == "none":
        wanted = options.bins
    else:
        quotient, wanted = bins_by_rule(name, finite, bounds)
        if axis is not None and axis.bins != wanted and rounding_decides(name, quotient, finite, bounds,
                                                                         (axis.bins, wanted)):
            return False
    if wanted > MAX_BINS:
        check(axis is None and "asks for" in refusal, f"NumPy has {wanted} bins: {refusal}")
        return True
    if wanted > COMPARE_EDGES_UP_TO:
        check(axis is not None and axis.bins == wanted, f"NumPy has {wanted} bins: {refusal}")
        return True
    try:
        expected = np.histogram_bin_edges(finite, wanted if wanted in (1, options.bins) else name, range=bounds)
    except ValueError as error:
        check(axis is None, f"NumPy refuses: {error}")
        return True
    check(axis is not None, f"refused: {refusal}")
    whole = options.range == DTYPE and dtype[0] in "ui" and axis.bins == axis.hi - axis.lo
    check(axis.kind == (INTEGER if whole else REGULAR) and axis.closed == (not whole), "kind of axis")
    check_edges(axis, expected)
    return True


def random_case(seed):
    rng = np.random.default_rng(seed)
    dtype = str(rng.choice(DTYPES))
    n = int(rng.choice([0, 1, 2, 3, 5, 10, 30, 100, 300, 1000, 3000, 20000]))
    stored = random_samples(rng, n, dtype)
    pieces, counted = pieces_of(rng, stored)
    values = values_of(stored, dtype)[counted]
    options, name = random_options(rng, dtype, values)
    try:
        return compare(dtype, options, name, values, pieces)
    except AssertionError as failure:
        print(f"seed {seed}: {dtype}, {n} samples, range {options.range} ({options.lo!r}, {options.hi!r}), "
              f"rule {name}: {failure}", file=sys.stderr)
        raise


def large_case(seed, dtype, kind):
    """More samples than the library remembers between passes."""
    rng = np.random.default_rng(seed)
    n = 1_500_000
    if kind == "alike":  # in all but the last bits
        stored = (1 + rng.integers(0, 7, n) * 2.0 ** -52) if dtype == "f64" else rng.integers(0, 7, n) + (1 << 40)
    else:
        stored = rng.normal(0, 5000, n)
    stored = stored.astype(STORAGE[dtype])
    pieces = [(piece, None, None) for piece in np.array_split(stored, 7)]
    values = values_of(stored, dtype)
    most = {"f64": 4, "i64": 4, "u64": 4, "f32": 2, "i32": 2, "u32": 2}.get(dtype, 1)
    for bounds in (PERCENTILE, MINMAX):
        options = SurveyOptions(range=bounds, lo=12.5, hi=99, rule=RULES.index("fd" if bounds == MINMAX else "none"),
                                bins=2)
        name = RULES[options.rule]
        compare(dtype, options, name, values, pieces)
        axis, _, passes = survey(dtype, options, pieces)
        check(passes <= most, f"{dtype} {kind}: {passes} passes")
        if bounds == PERCENTILE:
            lo, hi = np.percentile(values, [12.5, 99])
            check((axis.lo, axis.hi) == (lo, hi), f"{dtype} {kind}: [{axis.lo}, {axis.hi}], NumPy [{lo}, {hi}]")


def beyond_doubles(seed):
    """64-bit integers that no double holds: the number of bins is NumPy's, the range takes all samples in."""
    rng = np.random.default_rng(seed)
    dtype = str(rng.choice(["u64", "i64"]))
    info = np.iinfo(STORAGE[dtype])
    width = int(rng.choice([1, 10, 10 ** 6, 10 ** 12, 10 ** 18]))
    base = int(rng.integers(info.max - 2 * width, info.max - width, dtype=STORAGE[dtype]))
    stored = np.array([base + int(k) for k in rng.integers(0, width, 500)], dtype=STORAGE[dtype])
    name = str(rng.choice(RULES[1:]))
    axis, refusal, _ = survey(dtype, SurveyOptions(range=MINMAX, rule=RULES.index(name)), [(stored, None, None)])
    if axis is None:
        check("too many for the range" in refusal, refusal)
        return
    check(int(axis.lo) <= int(stored.min()) and int(stored.max()) <= int(axis.hi), "samples outside the range")
    if name in ("sturges", "rice", "sqrt", "fd", "auto"):
        check(axis.bins == bins_by_rule(name, stored, None)[1], f"{dtype} {name}: {axis.bins} bins")


def main():
    warnings.simplefilter("ignore")
    cases, first = int(os.environ.get("HISTO_CASES", "4000")), int(os.environ.get("HISTO_SEED", "1"))
    undecided = sum(not random_case(seed) for seed in range(first, first + cases))
    check(undecided <= math.ceil(cases / 500), f"{undecided} cases were left to rounding")
    for dtype, kind in [("f64", "spread"), ("f32", "spread"), ("i64", "spread"), ("i32", "spread"), ("f64", "alike"),
                        ("i64", "alike"), ("u64", "alike"), ("i16", "spread"), ("f16", "spread")]:
        large_case(first, dtype, kind)
    for seed in range(first, first + 300):
        beyond_doubles(seed)
    print(f"{cases} random cases ({undecided} left to rounding), large and 64-bit ones: axes from data equal NumPy's")


if __name__ == "__main__":
    main()
