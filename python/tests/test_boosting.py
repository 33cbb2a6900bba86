"""histo.boosting against sums of fractions, and scikit-learn's estimators with histograms of histo.compat.sklearn."""

import gc
import threading
import warnings
from fractions import Fraction

import numpy as np
import pytest
import sklearn
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.ensemble._hist_gradient_boosting import grower
from sklearn.ensemble._hist_gradient_boosting.common import HISTOGRAM_DTYPE as THEIRS

from histo import _histo, boosting
from histo.boosting import HISTOGRAM_DTYPE, histograms
from histo.compat import sklearn as compat
from histo.compat.sklearn import accelerated


def units(values):
    """The unit of values, which are no integers, as histo.h says."""
    largest = max((abs(Fraction(float(v))) for v in values), default=Fraction(0))
    bits = 31
    while len(values) << bits > 2**53:
        bits -= 1
    unit = Fraction(1)
    while largest > (2**bits - 1) * unit:
        unit *= 2
    while largest and largest <= (2**bits - 1) * unit / 2:
        unit /= 2
    return unit


def exact(values):
    """The fractions that are summed."""
    if values.dtype.kind in "iu":
        return [Fraction(int(v)) for v in values]
    unit = units(values)
    return [round(Fraction(float(v)) / unit) * unit for v in values]


def model(bins, gradients, hessians, rows, offsets, width):
    """The slowest way: a fraction for each bin."""
    features = bins.shape[1]
    rows = range(len(bins)) if rows is None else [int(r) for r in rows]
    offsets = [0, len(rows)] if offsets is None else offsets
    g = exact(gradients)
    h = [Fraction(1)] * len(bins) if hessians is None else exact(hessians)
    result = np.zeros((len(offsets) - 1, features, width, 3))
    for s in range(len(offsets) - 1):
        sums = {}
        for r in rows[offsets[s]:offsets[s + 1]]:
            for f in range(features):
                sum_g, sum_h, n = sums.get((f, int(bins[r, f])), (0, 0, 0))
                sums[f, int(bins[r, f])] = sum_g + g[r], sum_h + h[r], n + 1
        for (f, b), numbers in sums.items():
            result[s, f, b] = [float(x) for x in numbers]
    return result


def random_case(seed):
    rng = np.random.default_rng(seed)
    n, features = int(rng.integers(0, 200)), int(rng.integers(1, 7))
    per_feature = rng.integers(1, 300 if seed % 3 else 40, features)
    dtype = np.uint16 if per_feature.max() > 256 or seed % 5 == 0 else np.uint8
    bins = np.column_stack([rng.integers(0, b, n) for b in per_feature]).astype(dtype)
    missing = rng.random(bins.shape) < 0.1
    bins[missing] = np.broadcast_to(per_feature - 1, bins.shape)[missing]
    bins = [np.asfortranarray, np.ascontiguousarray, lambda x: np.repeat(x, 2, axis=0)[::2]][seed % 3](bins)
    of_weights = [np.float32, np.float64, np.int8, np.int16, np.int32, np.uint8][seed % 6]
    scale = 10.0 ** rng.integers(-20, 20) if of_weights in (np.float32, np.float64) else 40
    gradients = (rng.normal(size=n) * scale).astype(of_weights)
    hessians = None if seed % 4 == 0 else (rng.random(n) * scale).astype(of_weights)
    rows = offsets = None
    if seed % 7 and n:
        rows = rng.integers(0, n, rng.integers(0, 300)).astype([np.uint32, np.int32, np.int64][seed % 3])
    if seed % 2:
        size = n if rows is None else len(rows)
        offsets = np.sort(np.concatenate([[0, size], rng.integers(0, size + 1, rng.integers(0, 5))]))
    return bins, gradients, hessians, rows, offsets, per_feature


@pytest.mark.parametrize("seed", range(60))
def test_sums_are_exact(seed):
    bins, gradients, hessians, rows, offsets, per_feature = random_case(seed)
    want = model(bins, gradients, hessians, rows, offsets, per_feature.max())
    for threads in (1, 2):
        found = histograms(bins, gradients, hessians, rows, offsets, bins_per_feature=per_feature, threads=threads)
        assert found.dtype == np.float64 and np.array_equal(found, want)
    if len(bins):
        found = histograms(bins, gradients, hessians, rows, offsets)
        assert np.array_equal(found, want[:, :, :bins.max() + 1])
    records = np.full(want.shape[:3], 7, HISTOGRAM_DTYPE)
    assert histograms(bins, gradients, hessians, rows, offsets, bins_per_feature=per_feature, out=records) is records
    for k, name in enumerate(HISTOGRAM_DTYPE.names):
        assert np.array_equal(records[name], want[..., k])
    out = np.full(want.shape, np.nan)
    assert histograms(bins, gradients, hessians, rows, offsets, out=out) is out
    assert np.array_equal(out, want)


def test_many_rows_by_any_threads_and_order():
    rng = np.random.default_rng(1)
    n = 300_000
    bins = np.asfortranarray(rng.integers(0, 255, (n, 5), np.uint8))
    g, h = rng.normal(size=n).astype(np.float32), rng.random(n, np.float32)
    one = histograms(bins, g, h, threads=1)
    order = rng.permutation(n)
    assert np.array_equal(histograms(bins, g, h, order, threads=2), one)
    assert np.array_equal(histograms(np.ascontiguousarray(bins[order]), g[order], h[order], threads=2), one)
    assert np.array_equal(one[0, :, :, 2], [np.bincount(bins[:, f], minlength=255) for f in range(5)])
    assert np.allclose(one[0, 2, :, 0], np.bincount(bins[:, 2], g), rtol=1e-6, atol=1e-5)
    # Children add up to their parent.
    cuts = np.sort(np.concatenate([[0, n], rng.integers(0, n, 6)]))
    nodes = histograms(bins, g, h, order.astype(np.uint32), cuts)
    assert np.array_equal(nodes.sum(axis=0), one[0])
    assert np.array_equal(one[0] - nodes[3], np.delete(nodes, 3, 0).sum(axis=0))


def test_sources():
    rows, offsets = [2, 0, 0], [0, 1, 3]
    bins, gradients = np.array([[0, 1], [1, 1], [2, 0]], np.uint8), [1.5, -2.0, 4.0]
    want = [[[[0, 0, 0], [0, 0, 0], [4, 1, 1]], [[4, 1, 1], [0, 0, 0], [0, 0, 0]]],
            [[[3, 2, 2], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [3, 2, 2], [0, 0, 0]]]]
    assert np.array_equal(histograms(bins, gradients, None, rows, offsets), want)
    assert np.array_equal(histograms(bins, np.float32(gradients), None, rows, offsets, bins_per_feature=[3, 2]), want)
    swapped = bins.astype(">u2"), np.array(gradients, ">f4"), np.ones(3, ">f8")
    assert np.array_equal(histograms(*swapped, np.array(rows, ">i4"), offsets), want)
    masked = np.ma.masked_array(gradients, False)
    assert np.array_equal(histograms(bins, masked, [1, 1, 1], rows, offsets, bins_per_feature=3), want)
    assert np.array_equal(histograms(bins, np.float16(gradients), np.ones(3, np.uint64), rows, offsets), want)
    assert histograms(bins, gradients, rows=[], offsets=[0, 0, 0]).sum() == 0
    assert histograms(np.zeros((0, 2), np.uint8), []).shape == (1, 2, 1, 3)
    assert HISTOGRAM_DTYPE == THEIRS


BINS, GRADIENTS = np.array([[0, 1], [1, 1], [2, 0]], np.uint8), np.array([1.5, -2.0, 4.0], np.float32)


@pytest.mark.parametrize(
    "error, match, change",
    [
        (TypeError, "bins must be uint8 or uint16, not int64", dict(bins=BINS.astype(np.int64))),
        (TypeError, "bins must be uint8 or uint16, not <U3", dict(bins=BINS.astype(str))),
        (ValueError, "bins has 1 dimensions, and needs 2", dict(bins=BINS[0])),
        (ValueError, "bins has missing values", dict(bins=np.ma.masked_equal(BINS, 2))),
        (ValueError, "gradients has 2 values, and bins 3 rows", dict(gradients=GRADIENTS[:2])),
        (ValueError, "hessians has 4 values, and bins 3 rows", dict(hessians=np.ones(4))),
        (ValueError, "gradients has 2 dimensions, and needs 1", dict(gradients=GRADIENTS[None])),
        (TypeError, "gradients must be integers or floats .* not complex64", dict(gradients=GRADIENTS + 0j)),
        (TypeError, "gradients must be .* not bool", dict(gradients=GRADIENTS > 0)),
        (ValueError, "hessians has integers that int32 does not hold", dict(hessians=[1, 2, 2**31])),
        (ValueError, "of 1 rows are NaN or infinite", dict(gradients=GRADIENTS * [1, np.nan, 1])),
        (ValueError, "of 2 rows are NaN or infinite", dict(hessians=GRADIENTS * [1, np.inf, -np.inf])),
        (TypeError, "rows must be uint32 or int32 or int64, not bool", dict(rows=[True, False, True])),
        (TypeError, "rows must be uint32 or int32 or int64, not float64", dict(rows=[0.0])),
        (ValueError, "row", dict(rows=[0, 3])),
        (ValueError, "row", dict(rows=[-1])),
        (ValueError, "offsets", dict(rows=[0, 1], offsets=[0, 1])),
        (ValueError, "offsets", dict(rows=[0, 1], offsets=[1, 2])),
        (ValueError, "offset 1 is 2, more than the next", dict(rows=[0, 1], offsets=[0, 2, 1, 2])),
        (ValueError, "offsets needs at least two elements", dict(offsets=[0])),
        (TypeError, "offsets must be .* not float64", dict(offsets=[0, 1.5])),
        (ValueError, "bin", dict(bins_per_feature=2)),
        (ValueError, "bin", dict(bins_per_feature=[3, 1])),
        (ValueError, "bins_per_feature has 3 elements, and bins 2 features", dict(bins_per_feature=[3, 3, 3])),
        (ValueError, "bins_per_feature must be from 1", dict(bins_per_feature=[3, 0])),
        (ValueError, "bins_per_feature must be from 1", dict(bins_per_feature=-1)),
        (ValueError, "bins_per_feature must be from 1", dict(bins_per_feature=2**40)),
        (TypeError, "bins_per_feature must be an integer", dict(bins_per_feature=2.5)),
        (TypeError, "out must be an array", dict(out=[0])),
        (TypeError, "out must have the dtype float64", dict(out=np.zeros((1, 2, 3, 3), np.float32))),
        (ValueError, "out has the shape", dict(out=np.zeros((2, 2, 3, 3)))),
        (ValueError, "out has the shape", dict(out=np.zeros((1, 2, 3, 3), HISTOGRAM_DTYPE))),
        (ValueError, "out must be C-contiguous", dict(out=np.zeros((1, 2, 3, 3), order="F"))),
        (ValueError, "bin", dict(out=np.zeros((1, 2, 2, 3)))),
    ],
)
def test_bad_input(error, match, change):
    out = np.full((1, 2, 3, 3), 7.0)
    offsets = change.get("offsets")
    if offsets is not None and len(offsets) > 1:
        out = np.full((len(offsets) - 1, 2, 3, 3), 7.0)
    arguments = dict(bins=BINS, gradients=GRADIENTS, out=None if "bins_per_feature" in change else out) | change
    with pytest.raises(error, match=match) as caught:
        histograms(**arguments)
    assert "\n" not in str(caught.value) and np.all(out == 7)


# ---- scikit-learn ----


@pytest.mark.parametrize("dtype", [np.dtype(np.float64), boosting.HISTOGRAM_DTYPE], ids=["float64", "fields"])
def test_nodes_less_a_child_are_the_other_child(dtype):
    rng = np.random.default_rng(3)
    bins = rng.integers(0, 30, (5000, 7), np.uint8)
    g, h = rng.normal(size=5000).astype(np.float32), rng.random(5000)

    def sums(rows, offsets):
        shape = (len(offsets) - 1, 7, 30) + ((3,) if dtype.names is None else ())
        return boosting.histograms(bins, g, h, rows, offsets, out=np.empty(shape, dtype))

    rows = rng.permutation(5000).astype(np.int32)
    parents = sums(rows, [0, 2000, 5000])
    left = sums(np.concatenate([rows[:300], rows[2000:4000]]), [0, 300, 2300])
    right = sums(np.concatenate([rows[300:2000], rows[4000:]]), [0, 1700, 2700])
    before = parents.copy()
    assert np.array_equal(boosting.subtract(parents, left), right)
    assert np.array_equal(parents, before)
    left.flags.writeable = False
    assert boosting.subtract(parents, left, out=parents) is parents
    assert np.array_equal(parents, right)
    with pytest.raises(ValueError, match="child has more rows than parent in bin [0-9]+ of node [01]"):
        boosting.subtract(right, before, out=right)
    assert np.array_equal(parents, right)
    with pytest.raises(ValueError, match="shape"):
        boosting.subtract(right, left[:1])
    with pytest.raises(TypeError, match="children must be"):
        boosting.subtract(right, left.tolist())


def data(n=3000, features=6, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, features))
    x[rng.random(x.shape) < 0.05] = np.nan
    x[:, 1] = rng.integers(0, 12, n)
    y = np.nansum(x[:, 2:], axis=1) + (x[:, 1] % 3) + rng.normal(size=n) * 0.3
    return x, y


def nodes_of(fitted):
    return [tree.nodes for trees in fitted._predictors for tree in trees]


CASES = {
    "squared error": (HistGradientBoostingRegressor, dict()),
    "poisson": (HistGradientBoostingRegressor, dict(loss="poisson")),
    "absolute error": (HistGradientBoostingRegressor, dict(loss="absolute_error")),
    "binary": (HistGradientBoostingClassifier, dict()),
    "three classes": (HistGradientBoostingClassifier, dict(max_depth=4, l2_regularization=0.5)),
    "early stopping": (HistGradientBoostingClassifier, dict(early_stopping=True, n_iter_no_change=2)),
    "categories": (HistGradientBoostingRegressor, dict(categorical_features=[1])),
    "interactions": (HistGradientBoostingRegressor, dict(interaction_cst=[[3, 0, 1], [5, 2, 4]])),
    "monotonic": (HistGradientBoostingRegressor, dict(monotonic_cst=[0, 0, 1, 1, 0, 0])),
    "few features a split": (HistGradientBoostingRegressor, dict(max_features=0.5)),
    "few bins": (HistGradientBoostingRegressor, dict(max_bins=17)),
}


def fit(name, **options):
    kind, given = CASES[name]
    x, y = data()
    if kind is HistGradientBoostingClassifier:
        y = np.digitize(y, [0, 2] if name == "three classes" else [1])
    elif name == "poisson":
        y = np.maximum(y, 0)
    weights = np.random.default_rng(5).random(len(x)) * 2 if name in ("binary", "squared error") else None
    return kind(max_iter=12, random_state=0, **given, **options).fit(x, y, weights), x


@pytest.mark.parametrize("name", CASES)
def test_models_equal_those_of_scikit_learn(name, monkeypatch):
    theirs, x = fit(name)
    calls = []
    fill = _histo.fill_nodes
    monkeypatch.setattr(_histo, "fill_nodes", lambda *args: calls.append(args) or fill(*args))
    with accelerated():
        ours, _ = fit(name)
    assert len(calls) > 12
    assert ours.n_iter_ == theirs.n_iter_
    method = "predict_proba" if hasattr(ours, "predict_proba") else "predict"
    assert np.allclose(getattr(ours, method)(x), getattr(theirs, method)(x), rtol=1e-6, atol=1e-6)
    for mine, other in zip(nodes_of(ours), nodes_of(theirs), strict=True):
        assert all(np.array_equal(mine[field], other[field]) for field in ("feature_idx", "bin_threshold", "count"))
    again = fit(name)[0]
    assert all(np.array_equal(a, b) for a, b in zip(nodes_of(again), nodes_of(theirs), strict=True))


@pytest.mark.parametrize("name", ["binary", "squared error", "interactions"])
def test_models_are_the_same_for_any_number_of_threads(name, monkeypatch):
    models = []
    for threads in (1, 2, 3, 1):
        monkeypatch.setattr(grower, "_openmp_effective_n_threads", lambda n=None, t=threads: t)
        with accelerated():
            models.append(nodes_of(fit(name)[0]))
    for other in models[1:]:
        assert all(a.tobytes() == b.tobytes() for a, b in zip(models[0], other, strict=True))


def test_gradients_that_no_integers_hold_are_left_to_scikit_learn():
    x, y = data()
    y[7:9] = 1e12, -1e12  # whose gradients leave no digits to those of the others
    theirs = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=1).fit(x, y)
    with accelerated():
        ours = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=1).fit(x, y)
    assert all(np.array_equal(a, b) for a, b in zip(nodes_of(ours), nodes_of(theirs), strict=True))


def test_the_builder_is_replaced_within_contexts():
    theirs = grower.HistogramBuilder
    with accelerated():
        ours = grower.HistogramBuilder
        assert ours is not theirs
        with accelerated() as inner:
            assert grower.HistogramBuilder is ours
        inner.__exit__(None, None, None)  # once more
        assert grower.HistogramBuilder is ours
    assert grower.HistogramBuilder is theirs
    for_the_process = accelerated()
    try:
        with accelerated():
            pass
        assert grower.HistogramBuilder is not theirs
    finally:
        for_the_process.__exit__(None, None, None)
    assert grower.HistogramBuilder is theirs
    with pytest.raises(ZeroDivisionError), accelerated():
        raise ZeroDivisionError
    assert grower.HistogramBuilder is theirs


def test_unknown_versions_keep_their_builder(monkeypatch):
    theirs = grower.HistogramBuilder
    assert ".".join(sklearn.__version__.split(".")[:2]) in compat.VERSIONS
    monkeypatch.setattr(sklearn, "__version__", "9.0.1")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with accelerated():
            assert grower.HistogramBuilder is theirs
            fit("binary")
    assert len(seen) == 1 and seen[0].filename == __file__
    assert "scikit-learn 9.0.1 builds its own histograms" in str(seen[0].message)
    assert grower.HistogramBuilder is theirs


def test_fits_keep_nothing():
    with accelerated():
        fit("three classes")
    gc.collect()
    assert not compat._tables


def test_fits_in_threads():
    want = nodes_of(fit("binary")[0])
    found = [None] * 4

    def work(k):
        found[k] = nodes_of(fit("binary")[0])

    with accelerated():
        want = nodes_of(fit("binary")[0])
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    for nodes in found:
        assert all(np.array_equal(a, b) for a, b in zip(nodes, want, strict=True))


def test_tables_are_made_once_for_a_fit(monkeypatch):
    made = []
    features, room = _histo.features, _histo.gradients
    monkeypatch.setattr(_histo, "features", lambda *args: made.append("table") or features(*args))
    monkeypatch.setattr(_histo, "gradients", lambda *args: made.append("room") or room(*args))
    with accelerated():
        fit("three classes")
    assert made.count("table") == 1 and made.count("room") <= 3


def test_all_is_public():
    assert set(boosting.__all__) == {"HISTOGRAM_DTYPE", "histograms", "subtract"}
