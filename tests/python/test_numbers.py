"""Numbers from histograms against NumPy, SciPy, scikit-image and OpenCV, and against exact models of them.

HISTO_CASES is the number of random cases (default 400), HISTO_SEED the first seed. A failure prints the seed that
repeats it.
"""
import ctypes
import itertools
import math
from fractions import Fraction

import cv2
import numpy as np
import scipy.spatial.distance
import scipy.stats
import skimage.filters
import skimage.metrics

from libhisto import (DENSE, INTEGER, OK, REGULAR, SPARSE, STORAGE, VARIABLE, Hist, axis_of, check, last_error, lib,
                      run_checks, view_of)

QUANTILES = ("linear lower higher nearest midpoint inverted_cdf averaged_inverted_cdf closest_observation "
             "interpolated_inverted_cdf hazen weibull median_unbiased normal_unbiased").split()
SPLITS = "otsu triangle li yen isodata minimum mean max-entropy".split()
METRICS = ("correlation chi-square chi-square-alt intersection bhattacharyya kl-divergence js-divergence kolmogorov "
           "earth-mover").split()
DOUBLES = ctypes.POINTER(ctypes.c_double)


class Summary(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint64), ("mean", ctypes.c_double), ("variance", ctypes.c_double),
                ("skewness", ctypes.c_double), ("kurtosis", ctypes.c_double), ("entropy", ctypes.c_double),
                ("first", ctypes.c_int64), ("last", ctypes.c_int64), ("mode", ctypes.c_int64),
                ("occupied", ctypes.c_int64),
                ("reserved", ctypes.c_uint64 * 4)]


class Information(ctypes.Structure):
    _fields_ = [("entropy", ctypes.c_double * 2), ("joint_entropy", ctypes.c_double), ("mutual", ctypes.c_double),
                ("normalized", ctypes.c_double),
                ("reserved", ctypes.c_uint64 * 4)]


def filled(axis, *samples, storage=DENSE):
    axes = axis if isinstance(axis, list) else [axis]
    hist = Hist(*axes, storage=storage)
    hist.fill(*[(np.ascontiguousarray(s), "f64") for s in samples])
    return hist


def quantiles(hist, rule, q):
    q = np.ascontiguousarray(q, dtype=np.float64)
    values = np.empty(len(q))
    check(lib.histo_hist_quantiles(hist.handle, QUANTILES.index(rule), len(q), q.ctypes.data_as(DOUBLES),
                                   values.ctypes.data_as(DOUBLES)))
    return values


def quantiles_of_samples(x, dtype, rule, q):
    """Added in pieces of different lengths, in as many passes as are asked for."""
    q = np.ascontiguousarray(q, dtype=np.float64)
    values, of, passes = np.empty(len(q)), ctypes.c_void_p(), 0
    check(lib.histo_quantiles_create(ctypes.byref(of), list(STORAGE).index(dtype), QUANTILES.index(rule), len(q),
                                     q.ctypes.data_as(DOUBLES)))
    more = ctypes.c_bool()
    while lib.histo_quantiles_next_pass(of, ctypes.byref(more)) == OK and more:
        passes += 1
        for begin, end in ((0, len(x) // 3), (len(x) // 3, len(x))):
            check(lib.histo_quantiles_add(of, ctypes.byref(view_of(x[begin:end], dtype)), None))
    check(lib.histo_quantiles_read(of, values.ctypes.data_as(DOUBLES)))
    lib.histo_quantiles_destroy(of)
    return values, passes


def split(hist, method, classes=2):
    last = (ctypes.c_int64 * (classes - 1))()
    status = lib.histo_hist_split(hist.handle, SPLITS.index(method), classes, last)
    return list(last) if status == OK else last_error()


def compare(a, b, metric):
    value = ctypes.c_double()
    check(lib.histo_hist_compare(a.handle, b.handle, METRICS.index(metric), ctypes.byref(value)))
    return value.value


def summary(hist):
    of = Summary()
    check(lib.histo_hist_summarize(hist.handle, ctypes.byref(of)))
    return of


def information(hist):
    of = Information()
    check(lib.histo_hist_inform(hist.handle, ctypes.byref(of)))
    return of


def levels(rng, n, bins):
    """Whole numbers in 0 … bins - 1 of one of several shapes, as doubles."""
    shape = rng.integers(6)
    if shape == 0:
        x = rng.integers(0, bins, n)
    elif shape == 1:
        x = rng.normal(bins / 2, bins / 20, n)
    elif shape == 2:
        low = rng.random(n) < rng.random()
        x = np.where(low, rng.normal(bins * 0.3, bins / 15, n), rng.normal(bins * 0.7, bins / 10, n))
    elif shape == 3:
        x = rng.exponential(bins / 8, n)
    elif shape == 4:
        x = rng.choice(rng.integers(0, bins, 5), n)
    else:
        x = np.concatenate([rng.integers(0, bins, n // 2), np.full(n - n // 2, rng.integers(bins))])
    return np.clip(np.rint(x), 0, bins - 1).astype(np.float64)


def random_case(rng):
    bins = int(rng.choice([2, 3, 10, 256, 1000]))
    n = int(rng.choice([1, 2, 3, 7, 50, 2000]))
    return bins, n, levels(rng, n, bins), int(rng.choice([DENSE, SPARSE]))


def same(got, wanted, tolerance, what):
    if np.isnan(wanted) and np.isnan(got) or got == wanted:
        return
    assert abs(got - wanted) <= tolerance * max(1, abs(wanted)), f"{what}: {got!r} instead of {wanted!r}"


def check_quantiles(rng):
    bins, n, x, storage = random_case(rng)
    lo = int(rng.integers(-500, 500))
    hist = filled(axis_of(np.arange(lo, lo + bins + 1), False, INTEGER), x + lo, storage=storage)
    q = np.concatenate([rng.random(5), [0, 1, 0.5, 0.25, 1 / 3], rng.integers(0, n + 1, 3) / n])
    for rule in QUANTILES:
        wanted = np.quantile(x + lo, q, method=rule)
        got = quantiles(hist, rule, q)
        assert np.array_equal(got, wanted), f"{rule} of {n} samples at {q[got != wanted]}: {got} instead of {wanted}"


def check_quantiles_of_bins(rng):
    """Of doubles in bins: less than a bin's width off; in the flow, infinite."""
    n, bins = int(rng.integers(1, 3000)), int(rng.integers(1, 200))
    x = rng.normal(0, 1, n)
    edges = np.linspace(-1.5, 2, bins + 1)
    hist = filled(axis_of(edges, False, REGULAR), np.concatenate([x, np.full(3, np.nan)]))
    for q in rng.random(6):
        exact, got = np.quantile(x, q, method="lower"), quantiles(hist, "lower", [q])[0]
        if exact < edges[0]:
            assert got == -np.inf
        elif exact >= edges[-1]:
            assert got == np.inf
        else:
            assert abs(got - exact) < edges[1] - edges[0], (got, exact)


def check_quantiles_of_samples(rng):
    n, dtype = int(rng.choice([1, 2, 3, 50, 3000])), str(rng.choice([d for d in STORAGE if d != "bf16"]))
    x = rng.normal(0, rng.choice([1, 50, 1e4, 1e9]), n)
    if rng.random() < 0.3:
        x = rng.choice(x[:5], n)
    kind = np.dtype(STORAGE[dtype])
    with np.errstate(over="ignore"):
        x = np.clip(x, -60000, 60000).astype(kind) if dtype == "f16" else \
            x.astype(np.int64).astype(kind) if kind.kind in "iu" else x.astype(kind)
    q = np.concatenate([rng.random(5), [0, 1, 0.5], rng.integers(0, n + 1, 3) / n])
    rule = str(rng.choice(QUANTILES))
    wanted = np.quantile(x.astype(np.float64), q, method=rule)
    if kind.kind == "f":
        x = np.insert(x, rng.integers(0, n, 2), [np.nan, -np.nan])
    got, passes = quantiles_of_samples(x, dtype, rule, q)
    assert passes == 1 and np.allclose(got, wanted, 1e-15, 0), f"{rule} of {n} {dtype}: {got} instead of {wanted}"


def check_quantiles_of_many():
    """More samples than are kept: close together, so that several digits are counted, and with many quantiles."""
    rng = np.random.default_rng(5)
    for n, x, dtype, q, most in [
        (3 << 20, rng.normal(0, 1, 3 << 20), "f64", np.linspace(0, 1, 1001), 30),
        (3 << 20, 1 + rng.random(3 << 20) * 1e-9, "f64", [0.01, 0.5, 0.99], 4),
        (3 << 20, rng.choice([1.5, 2.5], 3 << 20), "f64", [0, 0.1, 0.9, 1], 4),
        (3 << 20, rng.normal(0, 1, 3 << 20).astype(np.float32), "f32", [0.01, 0.5, 0.99], 2),
        (3 << 20, np.where(rng.random(3 << 20) < 0.1, np.copysign(np.nan, rng.normal(0, 1, 3 << 20)),
                           rng.normal(0, 1, 3 << 20)).astype(np.float32), "f32", [0, 0.01, 0.5, 1], 2),
        (3 << 20, rng.integers(-5, 1 << 20, 3 << 20).astype(np.int32), "i32", [0.01, 0.5, 0.99], 2)
    ]:
        got, passes = quantiles_of_samples(x, dtype, "linear", q)
        wanted = np.nanquantile(x.astype(np.float64), q)
        assert np.array_equal(got, wanted), f"{n} {dtype}: {got[got != wanted]} instead of {wanted[got != wanted]}"
        assert passes <= most, f"{n} {dtype}: {passes} passes"


def check_summary(rng):
    bins, n, x, storage = random_case(rng)
    hist = filled(axis_of(np.arange(bins + 1) + 1000, False, INTEGER), x + 1000, storage=storage)
    of, counts = summary(hist), np.bincount(x.astype(int), minlength=bins)
    assert of.count == n and of.occupied == np.count_nonzero(counts) and of.mode == counts.argmax()
    assert of.first == x.min() and of.last == x.max()
    same(of.mean, x.mean() + 1000, 1e-14, "mean")
    same(of.variance, x.var(), 1e-13, "variance")
    same(of.entropy, scipy.stats.entropy(counts, base=2), 1e-13, "entropy")
    if len(set(x)) == 1:
        assert math.isnan(of.skewness) and math.isnan(of.kurtosis) and of.entropy == 0 and of.variance == 0
    else:
        same(of.skewness, scipy.stats.skew(x), 1e-10, "skewness")
        same(of.kurtosis, scipy.stats.kurtosis(x), 1e-10, "kurtosis")


def otsu_exactly(counts, classes):
    """The first split with the largest sum of S^2 / n, in whole numbers; all splits are tried."""
    at = np.flatnonzero(counts)
    n = np.concatenate([[0], np.cumsum(counts[at])])
    s = np.concatenate([[0], np.cumsum(counts[at] * at)])
    best, found = -1, None
    for ends in itertools.combinations(range(1, len(at)), classes - 1):
        ends = (0, *ends, len(at))
        value = sum(Fraction(int(s[b] - s[a])**2, int(n[b] - n[a])) for a, b in zip(ends, ends[1:]))
        if value > best:
            best, found = value, [int(at[e - 1]) for e in ends[1:-1]]
    return found, best


def variance_between(counts, last):
    ends = [0, *(b + 1 for b in last), len(counts)]
    bins = np.arange(len(counts))
    parts = [(int(counts[a:b].sum()), int((counts[a:b] * bins[a:b]).sum())) for a, b in zip(ends, ends[1:])]
    return sum(Fraction(s * s, n) for n, s in parts)


def check_otsu(rng):
    bins, n, x, storage = random_case(rng)
    counts = np.bincount(x.astype(int), minlength=bins)
    hist = filled(axis_of(np.arange(bins + 1), False, INTEGER), x, storage=storage)
    occupied = int(np.count_nonzero(counts))
    if occupied == 1:
        assert split(hist, "otsu") == [int(x[0])]
        return
    assert split(hist, "otsu") == otsu_exactly(counts, 2)[0]
    if 3 <= occupied <= 60:
        got, (_, best) = split(hist, "otsu", 3), otsu_exactly(counts, 3)
        assert float(variance_between(counts, got)) == float(best), "three classes"
    if occupied < 40:
        assert f"{occupied} occupied bins" in split(hist, "otsu", occupied + 1)


def minimum_in_double(counts):
    """skimage.filters.threshold_minimum, which rounds to float32 after each smoothing: plateaus there are none here."""
    for _ in range(10000):
        padded = np.concatenate([counts[:1], counts, counts[-1:]])
        counts = (padded[:-2] + padded[1:-1] + padded[2:]) / 3
        steps = np.sign(np.diff(counts))
        moves = np.flatnonzero(steps)
        maxima = [int(i) for k, i in enumerate(moves) if steps[i] < 0 and (k == 0 or steps[moves[k - 1]] > 0)]
        if len(maxima) < 3:
            return maxima[0] + int(counts[maxima[0]:maxima[1] + 1].argmin()) if len(maxima) == 2 else None
    return None


def check_thresholds(rng):
    """scikit-image works on float32 counts, so bins where its criterion ties in float32 may differ: few enough samples
    that it does not."""
    x = levels(rng, 3000, 256)
    hist = filled(axis_of(np.arange(257), False, INTEGER), x, storage=int(rng.choice([DENSE, SPARSE])))
    image = x.astype(np.uint8).reshape(-1, 60)
    if x.min() == x.max():
        return
    for method, reference in [("triangle", skimage.filters.threshold_triangle), ("yen", skimage.filters.threshold_yen),
                              ("isodata", skimage.filters.threshold_isodata), ("li", skimage.filters.threshold_li),
                              ("mean", skimage.filters.threshold_mean)]:
        try:
            wanted = math.floor(reference(image))
        except IndexError:  # isodata found none
            continue
        assert split(hist, method) == [wanted], f"{method}: {split(hist, method)} instead of {wanted}"
    wanted = minimum_in_double(np.bincount(x.astype(int))[int(x.min()):])
    got = split(hist, "minimum")
    assert "no two maxima" in got if wanted is None else got == [x.min() + wanted], f"minimum: {got}"
    counts = np.bincount(x.astype(int), minlength=256) / len(x)

    def entropies(t):
        parts = [p[p > 0] / p.sum() for p in (counts[:t + 1], counts[t + 1:])]
        return sum(-(p * np.log(p)).sum() for p in parts)

    got = split(hist, "max-entropy")[0]
    assert entropies(got) >= max(entropies(t) for t in range(int(x.min()), int(x.max()))) - 1e-12


def check_metrics(rng):
    bins, n, x, storage = random_case(rng)
    y = levels(rng, int(rng.integers(1, 3000)), bins)
    axis = lambda: axis_of(np.arange(bins + 1) * 0.5, False, REGULAR)
    a, b = filled(axis(), x / 2, storage=storage), filled(axis(), y / 2, storage=storage)
    p, q = (np.bincount(v.astype(int), minlength=bins) for v in (x, y))
    f, g, s, t = p.astype(np.float32), q.astype(np.float32), p / p.sum(), q / q.sum()
    if bins > 2 and p.var() > 0 and q.var() > 0:
        same(compare(a, b, "correlation"), np.corrcoef(p, q)[0, 1], 1e-11, "correlation")
    same(compare(a, b, "chi-square"), cv2.compareHist(f, g, cv2.HISTCMP_CHISQR), 1e-9, "chi-square")
    same(compare(a, b, "chi-square-alt"), cv2.compareHist(f, g, cv2.HISTCMP_CHISQR_ALT), 1e-9, "chi-square-alt")
    same(compare(a, b, "intersection"), np.minimum(s, t).sum(), 1e-12, "intersection")
    same(compare(a, b, "bhattacharyya")**2, cv2.compareHist(f, g, cv2.HISTCMP_BHATTACHARYYA)**2, 1e-9, "bhattacharyya")
    same(compare(a, b, "kl-divergence"), scipy.stats.entropy(p, q), 1e-11, "kl-divergence")
    same(compare(a, b, "js-divergence"), scipy.spatial.distance.jensenshannon(p, q)**2, 1e-11, "js-divergence")
    same(compare(a, b, "kolmogorov"), abs(np.cumsum(s) - np.cumsum(t)).max(), 1e-12, "kolmogorov")
    wanted = scipy.stats.wasserstein_distance(x / 2 + 0.25, y / 2 + 0.25)
    same(compare(a, b, "earth-mover"), wanted, 1e-12, "earth-mover")


def check_information(rng):
    n = int(rng.choice([1, 5, 1000, 20000]))
    x = levels(rng, n, 40)
    y = np.clip(np.rint(x / 2 + rng.normal(0, 1 + 5 * rng.random(), n)), 0, 24)
    axes = [axis_of(np.arange(41), False, INTEGER), axis_of(np.arange(26), False, INTEGER)]
    of = information(filled(axes, x, y, storage=int(rng.choice([DENSE, SPARSE]))))
    joint = np.histogram2d(x, y, (np.arange(41), np.arange(26)))[0]
    entropies = [scipy.stats.entropy(joint.sum(1)), scipy.stats.entropy(joint.sum(0)), scipy.stats.entropy(joint.ravel())]
    same(of.entropy[0], entropies[0], 1e-12, "entropy of axis 0")
    same(of.entropy[1], entropies[1], 1e-12, "entropy of axis 1")
    same(of.joint_entropy, entropies[2], 1e-12, "joint entropy")
    same(of.mutual, entropies[0] + entropies[1] - entropies[2], 1e-12, "mutual information")
    if entropies[2] > 0:
        wanted = skimage.metrics.normalized_mutual_information(x, y, bins=(np.arange(41), np.arange(26)))
        same(of.normalized, wanted, 1e-12, "normalized mutual information")


def check_nothing():
    empty = filled(axis_of(np.arange(9), False, INTEGER), np.array([]))
    assert np.isnan(quantiles(empty, "linear", [0.5])).all()
    of = summary(empty)
    assert of.count == 0 and of.mode == of.first == of.last == -1 and math.isnan(of.mean) and math.isnan(of.entropy)
    assert math.isnan(compare(empty, empty, "intersection")) and compare(empty, empty, "chi-square") == 0
    assert "0 occupied bins" in split(empty, "otsu")
    two = filled([axis_of(np.arange(3), False, INTEGER)] * 2, np.array([]), np.array([]))
    assert math.isnan(information(two).mutual)


check_nothing()
check_quantiles_of_many()
run_checks([check_quantiles, check_quantiles_of_bins, check_quantiles_of_samples, check_summary, check_otsu, check_thresholds, check_metrics,
            check_information], 400)
