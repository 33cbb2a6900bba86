"""Histograms of means, beside boost-histogram's and beside exact arithmetic."""

import io
import json
import pickle
import subprocess
import sys
from fractions import Fraction

import boost_histogram as bh
import numpy as np
import pytest

import histo
from histo import Category, Histogram, Integer, Mean, Regular, Variable, WeightedMean

STORAGES = ["mean", "weighted_mean", "exact_mean", "exact_weighted_mean"]
THEIRS = {"mean": bh.storage.Mean, "weighted_mean": bh.storage.WeightedMean}
RNG = np.random.default_rng(34)


def theirs(storage, *axes):
    return bh.Histogram(*axes, storage=THEIRS[storage.removeprefix("exact_")]())


def check(ours, other, rtol=1e-9):
    assert ours.kind == other.kind == "MEAN"
    for flow in (False, True):
        values, counts = other.values(flow=flow), other.counts(flow=flow)
        values = np.where(counts == 0, np.nan, values)  # theirs are 0 where there is no value
        np.testing.assert_allclose(ours.values(flow), values, rtol)
        np.testing.assert_allclose(ours.counts(flow), counts, rtol)
        np.testing.assert_allclose(ours.variances(flow), other.variances(flow=flow), rtol, 1e-14)
        view = other.view(flow=flow)
        for field, array in zip(ours.means(flow)._fields, ours.means(flow), strict=True):
            if field not in ("value", "variance"):
                np.testing.assert_allclose(array, view[field], rtol)


def exact_of(values, weights, weighted):
    """Mean and variance by fractions."""
    x, w = [Fraction(v) for v in values], [Fraction(v) for v in weights]
    total = sum(w)
    mean = sum(a * b for a, b in zip(x, w, strict=True)) / total
    off = sum(b * (a - mean) ** 2 for a, b in zip(x, w, strict=True))
    return float(mean), float(off / (total - sum(b * b for b in w) / total if weighted else total - 1))


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 30, 3000, 40000])
def test_boost_histogram(storage, weighted, n):
    x, y, values = RNG.normal(0.5, 0.5, n), RNG.integers(-1, 4, n), RNG.normal(3, 2, n)
    weight = RNG.random(n) if weighted else None
    for ours, other, samples in (
        ((Regular(7, 0, 1),), (bh.axis.Regular(7, 0, 1),), (x,)),
        ((Variable([0, 0.2, 1]), Integer(0, 3)), (bh.axis.Variable([0, 0.2, 1]), bh.axis.Integer(0, 3)), (x, y)),
    ):
        h = Histogram(*ours, storage=storage).fill(*samples, sample=values, weight=weight)
        b = theirs(storage, *other).fill(*samples, sample=values, weight=weight)
        check(h, b)
        h.fill(*samples, sample=values + 1, weight=weight)
        b.fill(*samples, sample=values + 1, weight=weight)
        check(h, b)
        check(h[{0: histo.sum}] if len(ours) > 1 else h, b[{0: sum}] if len(ours) > 1 else b)
        assert h.tally.samples == 2 * n
        assert h.tally.bins + h.tally.flow == 2 * n


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("n", [50, 20000])
@pytest.mark.parametrize("offset", [0, 1e6, 1e12])
def test_nothing_cancels(storage, n, offset):
    values, weight = RNG.normal(size=n) + offset, RNG.random(n)
    for w in (None, weight):
        h = Histogram(Regular(1, 0, 1), storage=storage).fill(0.5, sample=values, weight=w)
        mean, variance = exact_of(values, np.ones(n) if w is None else w, "weighted" in storage)
        # The products have 106 bits; means of many are sums of doubles, unless they are exact.
        many = n > 1000 and not storage.startswith("exact")
        assert h[0].value == pytest.approx(mean, rel=1e-14 if many else 1e-15)
        assert h[0].variance == pytest.approx(variance, rel=1e-5 if offset > 1e6 else 1e-12 if not many else 1e-11)


@pytest.mark.parametrize("storage", ["exact_mean", "exact_weighted_mean"])
def test_exact_means_do_not_depend_on_the_order(storage):
    n = 30000
    x, values, weight = RNG.random(n), np.exp(RNG.normal(size=n) * 20), RNG.random(n)
    order = RNG.permutation(n)
    a = Histogram(Regular(5, 0, 1), storage=storage).fill(x, sample=values, weight=weight, threads=1)
    b = Histogram(Regular(5, 0, 1), storage=storage)
    for part in np.array_split(order, 7):
        b += Histogram(Regular(5, 0, 1), storage=storage).fill(x[part], sample=values[part], weight=weight[part])
    assert a == b
    assert a.means()[0].tobytes() == b.means()[0].tobytes()
    assert a.variances().tobytes() == b.variances().tobytes()


@pytest.mark.parametrize("bins", [3, 300, 20000])
@pytest.mark.parametrize("n", [1, 40, 3000, 100000])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_in_double_are_the_exact_ones(bins, n, weighted):
    """Few and many samples of a slot, in several fills, whose means are far from each other."""
    storage = "weighted_mean" if weighted else "mean"
    h, exact = (Histogram(Regular(bins, 0, 1), storage=s) for s in (storage, f"exact_{storage}"))
    for k in range(3):
        x = RNG.random(n)
        values, weight = RNG.normal(size=n) + np.floor(x * 10) * 1e4 + k, RNG.random(n) if weighted else None
        if n > 10:
            weight = weight if weight is None else np.where(RNG.random(n) < 0.1, 0, weight)
        mask = RNG.random(n) < 0.9 if k else None
        for one in (h, exact):
            one.fill(x, sample=values, weight=weight, mask=mask)
    assert h.tally == exact.tally
    assert (h.entries(True) == exact.entries(True)).all()
    for field, a, b in zip(h.means()._fields, h.means(True), exact.means(True), strict=True):
        np.testing.assert_allclose(a, b, 1e-7 if field == "variance" else 1e-12, 1e-9 if field == "variance" else 1e-10)


@pytest.mark.parametrize("n", [5, 5000])
@pytest.mark.parametrize("scale", [1, 1e200, 1.5e308])
def test_what_doubles_cannot_hold_is_added_exactly(n, scale):
    x, values = RNG.random(n), RNG.choice([-1, 1], n) * scale
    for weight in (None, RNG.normal(size=n), np.full(n, 1e300), np.where(np.arange(n) == 2, np.nan, 1)):
        h = Histogram(Regular(2, 0, 1), storage="weighted_mean")
        exact = Histogram(Regular(2, 0, 1), storage="exact_weighted_mean")
        for one in (h, exact):
            one.fill([0.2, 0.7], sample=[3, 4]).fill(x, sample=values, weight=weight).fill(0.2, sample=5)
        np.testing.assert_allclose(h.means(True), exact.means(True), 1e-12, 1e-14)


def test_what_is_not_finite_stays_in_its_bin():
    for n in (10, 10000):
        x, values = np.arange(n) % 10, RNG.normal(size=n)
        values[3], values[4] = np.nan, np.inf
        h = Histogram(Integer(0, 10), storage="mean").fill(x, sample=values)
        h.fill(x, sample=np.ones(n))
        assert np.flatnonzero(np.isnan(h.values())).tolist() == [3, 4]
        assert (h.counts() == 2 * n // 10).all()
        masked = Histogram(Integer(0, 10), storage="mean").fill(x, sample=values, mask=np.isfinite(values))
        assert np.isnan(masked.values()).sum() == (2 if n == 10 else 0)
        assert masked.masked == 2


@pytest.mark.parametrize("storage", ["mean", "weighted_mean"])
def test_all_that_uses_a_histogram_has_what_was_filled(storage):
    def filled(n=100):
        return Histogram(Regular(4, 0, 1), storage=storage).fill(np.full(n, 0.3), sample=np.arange(float(n)))

    assert filled().copy().entries()[1] == 100
    assert filled()._tally()[0] > 0
    assert filled().tally.samples == 100
    assert pickle.loads(pickle.dumps(filled())) == filled()
    assert (filled() + filled()).counts()[1] == 200
    assert filled()[1].value == 49.5
    assert filled()[::histo.rebin(2)].entries()[0] == 100
    assert filled()[::histo.sum].value == 49.5
    assert filled().reset().tally.samples == 0
    assert filled().project(0).entries()[1] == 100
    assert filled().occupied()[1].tolist() == [100]
    assert Histogram(filled().to_boost()).entries()[1] == 100
    assert (filled() * 2).values()[1] == 99
    assert filled() != filled(99)
    assert repr(filled()).endswith("# 100 in bins")
    h = filled()
    h[0] = filled()[1]
    assert h.values()[:2].tolist() == [49.5, 49.5]
    growing = Histogram(Regular(4, 0, 1, growth=True), storage=storage)
    for x in (0.3, 2.3, -1.2):
        growing.fill(np.full(100, x), sample=np.arange(100.0))
    assert growing.entries()[growing.entries() > 0].tolist() == [100] * 3


INTERRUPTED = """
import signal, sys, numpy as np, histo
storage, threads = sys.argv[1], int(sys.argv[2])
h = histo.Histogram(histo.Regular(7, 0, 1), storage=storage)
x = np.broadcast_to(0.3, (1 << 36,))
def handler(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.5)
try:
    h.fill(x, sample=x, threads=threads)
except KeyboardInterrupt:
    assert h.tally.samples < 1 << 36
    assert h.entries()[2] == h.tally.samples  # what was counted until then stays
    print("interrupted")
"""


@pytest.mark.parametrize("storage", ["mean", "exact_mean"])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_signals_interrupt(storage, threads):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, storage, threads], capture_output=True, text=True,
                          timeout=300)
    assert done.stdout == "interrupted\n", done.stderr


def test_arrays_that_do_not_belong_together():
    h = Histogram(Regular(4, 0, 1), storage="mean")
    x = np.ones(3)
    for arguments in (((x,), x[1:], None, None, 1, False), ((x,), x.astype("f4"), None, None, 1, False),
                      ((x, x), x, None, None, 1, False), ((x,), x, None, x, 1, False), ((), x, None, None, 1, False)):
        with pytest.raises(ValueError, match="arrays of one length"):
            h._fill_values(*arguments)
    with pytest.raises(ValueError, match="other slots"):
        h._absorb(Histogram(Regular(5, 0, 1), storage="mean").fill(x, sample=x))
    for threads in (0, 1025):
        with pytest.raises(ValueError, match="from 1 to 1024"):
            h.fill(x, sample=x, threads=threads)
    assert h.tally.samples == 0


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("dtype", ["f8", ">f8", "f4", ">i4", "u1", "f2"])
def test_any_layout_and_dtype(storage, dtype):
    x, values, weight = RNG.random(60), (RNG.random(60) * 100).astype(dtype), (RNG.random(60) * 4).astype(dtype)
    plain = Histogram(Regular(3, 0, 1), storage=storage).fill(x, sample=values.astype("f8"), weight=weight.astype("f8"))
    for make in (lambda a: a, lambda a: np.repeat(a, 3)[::3], lambda a: a[::-1][::-1], lambda a: a.reshape(6, 10),
                 lambda a: a.reshape(10, 6).T.copy().T):
        h = Histogram(Regular(3, 0, 1), storage=storage).fill(make(x), sample=make(values), weight=make(weight))
        assert h == plain
    ones = Histogram(Regular(3, 0, 1), storage=storage).fill(x, sample=values, weight=2)
    assert ones == Histogram(Regular(3, 0, 1), storage=storage).fill(x, sample=values, weight=np.full(60, 2.0))


def test_single_cells():
    h = Histogram(Regular(2, 0, 1), storage="mean").fill([0.1, 0.2, 0.3, 0.7], sample=[1, 2, 3, 7])
    assert h[0] == Mean(3, 2, 1)
    assert h[1].count == 1
    assert h[1].value == 7
    assert np.isnan(h[1].variance)
    assert h.sum() == h[::histo.sum] == Mean(4, 3.25, pytest.approx(6.916666666666667))
    assert h[histo.overflow].count == 0
    assert np.isnan(h[histo.overflow].value)
    w = Histogram(Regular(2, 0, 1), storage="weighted_mean").fill(0.1, sample=[1, 4], weight=[2, 1])
    assert w[0] == WeightedMean(3, 5, 2, pytest.approx(4.5))
    assert w.counts().tolist() == [1.8, 0]
    assert w.entries().tolist() == [2, 0]
    assert repr(h) == "Histogram(Regular(2, 0, 1), storage='mean')  # 4 in bins"


def test_flow_nan_and_masks():
    h = Histogram(Regular(2, 0, 1), storage="mean")
    h.fill([-1, 0.1, 0.2, 2, np.nan, 0.6], sample=[1, 2, 4, 8, 16, np.nan], mask=[1, 1, 0, 1, 1, 1])
    np.testing.assert_array_equal(h.values(flow=True), [1, 2, np.nan, 12])
    assert h.counts(flow=True).tolist() == [1, 1, 1, 2]
    assert h.entries(flow=True).tolist() == [1, 1, 1, 2]
    assert h.tally == histo.Tally(6, 1, 2, 3, (1,), (1,), (1,))
    assert h.masked == 1
    masked = Histogram(Regular(2, 0, 1), storage="mean").fill(
        np.ma.array([0.1, 0.2, 0.3], mask=[0, 1, 0]), sample=np.ma.array([1, 2, 3], mask=[0, 0, 1]))
    assert (masked.counts().tolist(), masked.masked) == ([1, 0], 2)
    where = Histogram(Regular(2, 0, 1), storage="mean").fill([0.1, 0.2, 0.3], sample=[1, 2, 3], where=([5, 6, 7], 6, 7))
    assert (where.values()[0], where.masked) == (2.5, 1)


@pytest.mark.parametrize("storage", ["mean", "weighted_mean"])
def test_many_samples_are_filled_as_few_are(storage):
    n = 20000
    x, y, values, weight = RNG.normal(size=n), RNG.integers(0, 2, n), RNG.normal(size=n), RNG.random(n)
    x[::100] = np.nan
    mask, filtered = RNG.random(n) < 0.9, RNG.random(n)
    axes = Regular(10, -2, 2, underflow=False), histo.Boolean()
    for w in (None, weight):
        many = Histogram(*axes, storage=storage).fill(x, y, sample=values, weight=w, mask=mask, where=(filtered, 0.1, 1))
        few = Histogram(*axes, storage=storage)
        for part in np.array_split(np.arange(n), 10):
            few.fill(x[part], y[part], sample=values[part], weight=None if w is None else w[part], mask=mask[part],
                     where=(filtered[part], 0.1, 1))
        assert many.tally == few.tally
        assert (many.entries(flow=True) == few.entries(flow=True)).all()
        for a, b in zip(many.means(flow=True), few.means(flow=True), strict=True):
            np.testing.assert_allclose(a, b, 1e-12, 1e-14)  # some means are nearly zero


@pytest.mark.parametrize("storage", ["mean", "weighted_mean"])
@pytest.mark.parametrize("threads", [1, 3])
def test_means_of_many(storage, threads):
    """Groups far from each other and of nearly equal values, weights of both signs, and values left out that are NaN."""
    n, bins = 1 << 20, 50
    at = RNG.integers(-1, bins + 1, n)
    values = at % 7 * 1e4 + RNG.normal(size=n) * np.where(at == 3, 1e-3, 2)
    present = RNG.random(n) < 0.8
    values[~present] = np.nan
    for weight in (None, RNG.random(n), RNG.random(n) - 0.1):
        h = Histogram(Integer(0, bins), storage=storage)
        h.fill(at, sample=values, weight=weight, mask=present, threads=threads)
        assert h.masked == n - present.sum()
        w = np.ones(n) if weight is None else weight
        for k in range(0, bins, 3):
            chosen = present & (at == k)
            x, of = values[chosen].astype(np.longdouble), w[chosen].astype(np.longdouble)
            mean = (x * of).sum() / of.sum()
            free = of.sum() - ((of**2).sum() / of.sum() if "weighted" in storage else 1)
            assert h.entries()[k] == chosen.sum()
            assert h[k].value == pytest.approx(float(mean), rel=1e-12)
            assert h[k].variance == pytest.approx(float((of * (x - mean) ** 2).sum() / free), rel=1e-9)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_group_of_many_that_is_not_finite(wrong):
    n = 20000
    x, values = RNG.random(n), RNG.normal(size=n)
    finite = Histogram(Regular(4, 0, 1), storage="mean").fill(x, sample=values)
    values[np.argmax(x < 0.25)] = wrong
    h = Histogram(Regular(4, 0, 1), storage="mean").fill(x, sample=values)
    assert np.isnan(h[0][1:]).all()
    np.testing.assert_allclose(h.values()[1:], finite.values()[1:], 1e-13, 1e-14)
    np.testing.assert_allclose(h.variances()[1:], finite.variances()[1:], 1e-12)


@pytest.mark.parametrize("storage", STORAGES)
def test_operations(storage):
    x, y, values = RNG.normal(size=500), RNG.choice(["a", "b", "c"], 500), RNG.normal(size=500)
    h = Histogram(Regular(8, -1, 1, name="x"), Category([], growth=True, name="y"), storage=storage)
    h.fill(x=x, y=y, sample=values)
    assert h.batch == ()
    assert h.axes["y"].size == 3
    alone = Histogram(Regular(8, -1, 1, name="x"), storage=storage).fill(x, sample=values)
    np.testing.assert_allclose(h.project("x").means()[0], alone.means()[0])
    np.testing.assert_allclose(h.project("x").variances(True), alone.variances(True))
    np.testing.assert_allclose(h[2:6, ["c", "a"]].values(), h.values()[2:6][:, [h.axes[1].index("c"), h.axes[1].index("a")]])
    np.testing.assert_allclose(alone[:: histo.rebin(2)].variances(),
                               Histogram(Regular(4, -1, 1), storage=storage).fill(x, sample=values).variances())
    for copy in (h.copy(), pickle.loads(pickle.dumps(h)), Histogram(h), h.entry(), h.astype(storage)):
        assert copy == h
        assert copy.storage == storage
        assert copy.fill(0, "a", sample=1).tally.samples == 501
    assert h + h != h
    assert (h + h).counts().sum() == 2 * h.counts().sum()
    assert sum([h, h], 0) == h + h
    places, counts = h.occupied()
    assert (h.entries()[places] == counts).all()
    assert h.reset().tally.samples == 0
    assert h.counts().sum() == 0


@pytest.mark.parametrize("storage", ["mean", "weighted_mean"])
def test_multiplied(storage):
    x, values = RNG.random(100), RNG.normal(size=100)
    h = Histogram(Regular(3, 0, 1), storage=storage).fill(x, sample=values, weight=RNG.random(100))
    for changed, factor in ((h * 3, 3), (h / 4, 1 / 4)):
        np.testing.assert_allclose(changed.values(), h.values() * factor)
        np.testing.assert_allclose(changed.variances(), h.variances() * factor**2)
        assert (changed.counts() == h.counts()).all()


@pytest.mark.parametrize("storage", ["mean", "weighted_mean"])
def test_uhi(storage):
    n = 100
    x, kind, values = RNG.normal(size=n), RNG.integers(0, 3, n), RNG.normal(size=n)
    h = Histogram(Regular(4, -1, 1, name="x"), Integer(0, 3, overflow=False), storage=storage, name="h",
                  metadata={"a": 1}).fill(x, kind, sample=values, weight=RNG.random(n))
    b = h.to_boost()
    np.testing.assert_allclose(b.variances(flow=True), h.variances(True))
    back = Histogram(b)
    np.testing.assert_allclose(back.means(True), h.means(True), 1e-14)
    file = io.BytesIO()
    h.save(file)
    text = file.getvalue().decode()
    assert "NaN" not in text
    again = Histogram.load(io.StringIO(text))
    assert (again.name, again.metadata, again.storage) == ("h", {"a": 1}, storage)
    np.testing.assert_array_equal(again.values(True), h.values(True))
    np.testing.assert_allclose(again.variances(True), h.variances(True), 1e-14)
    assert again.fill(0, 0, sample=1).means()[0].sum() == pytest.approx(h.means()[0].sum() + 1)
    for empty in (Histogram(Regular(2, 0, 1), storage=storage), Histogram(Category([], growth=True), storage=storage)):
        assert Histogram(empty._to_uhi_()).storage == storage
    sparse = h._to_uhi_()
    index = np.nonzero(h.counts(True))
    fields = {k: v[index] for k, v in sparse["storage"].items() if k != "type"}
    sparse["storage"] = {"type": storage, "index": [i.tolist() for i in index], **fields}
    np.testing.assert_allclose(Histogram(sparse).means(True), h.means(True), 1e-14)
    sparse["storage"] = {"type": storage}
    assert Histogram(sparse).counts(True).sum() == 0
    with pytest.raises(ValueError, match="do not have the shape"):
        Histogram({**sparse, "storage": {"type": storage, **fields}})
    with pytest.raises(ValueError, match="no means"):
        h.save(io.BytesIO(), "binary")


def test_the_schema_of_uhi():
    import uhi.schema

    h = Histogram(Regular(4, -1, 1), storage="exact_weighted_mean").fill([0, 0.6], sample=[1, 2], weight=[1, 3])
    file = io.BytesIO()
    h.save(file)
    uhi.schema.validate(json.loads(file.getvalue()))


def test_cells_are_set():
    h = Histogram(Regular(4, 0, 4), storage="mean")
    h[1] = Mean(5, 2.5, 0.5)
    assert h[1] == Mean(5, 2.5, pytest.approx(0.5))
    assert h.entries().tolist() == [0, 5, 0, 0]
    h[2:4] = [[3, 1, 2], [1, 7, 0]]
    assert h[2] == Mean(3, 1, pytest.approx(2))
    h[histo.overflow] = bh.accumulators.Mean(4, 1.5, 3.0)
    assert h[histo.overflow] == Mean(4, 1.5, pytest.approx(3))
    other = Histogram(Regular(4, 0, 4), storage="mean")
    other.fill([np.nan, 9], sample=[5, 6])
    other[...] = Histogram(Regular(4, 0, 4), storage="mean").fill(1, sample=[2, 3])
    assert other[1] == Mean(2, 2.5, 0.5)
    other[histo.overflow] = Mean(0, 0, 0)
    assert other.counts(True).sum() == 2
    h.fill(1, sample=2.5)
    assert h[1].count == 6
    w = Histogram(Integer(0, 2), storage="weighted_mean")
    w[...] = WeightedMean(np.array([3.0, 0]), np.array([5.0, 0]), np.array([2.0, 0]), np.array([4.5, 0]))
    assert w[0] == WeightedMean(3, 5, 2, pytest.approx(4.5))
    for wrong in (3, [1, 2], WeightedMean(1, 1, 1, 1)[:2]):
        with pytest.raises(ValueError, match="are set to"):
            h[1] = wrong


def test_dask():
    import dask.array as da

    x, values = RNG.random(1000), RNG.normal(size=1000)
    h = Histogram(Regular(4, 0, 1), storage="exact_mean").fill(da.from_array(x, chunks=130),
                                                               sample=da.from_array(values, chunks=130))
    assert h == Histogram(Regular(4, 0, 1), storage="exact_mean").fill(x, sample=values)


def test_boosts_storages_are_taken():
    assert Histogram(Regular(1, 0, 1), storage=bh.storage.Mean()).storage == "mean"
    assert Histogram(Regular(1, 0, 1), storage=bh.storage.WeightedMean).storage == "weighted_mean"


def test_errors():
    h = Histogram(Regular(2, 0, 1), storage="mean").fill(0.1, sample=1)
    before = h.copy()
    for call, error, message in (
        (lambda: h.fill([0.1]), TypeError, "takes sample="),
        (lambda: h.fill([0.1], sample=["a"]), TypeError, "the values of sample are strings"),
        (lambda: h.fill([0.1, 0.2], sample=[1, 2, 3]), ValueError, "broadcast"),
        (lambda: h.fill([0.1], sample=1, weight="a"), TypeError, "weights are strings"),
        (lambda: h.fill([0.1], [0.1], sample=1), TypeError, "the samples of 1 axes"),
        (lambda: h.fill([0.1], sample=1, weights=[1]), TypeError, "use weight="),
        (lambda: h + Histogram(Regular(2, 0, 1), storage="exact_double"), ValueError, "are not added"),
        (lambda: h + Histogram(Regular(2, 0, 1), storage="weighted_mean"), ValueError, "are not added"),
        (lambda: h - h, TypeError, "not subtracted"),
        (lambda: h * np.inf, ValueError, "finite"),
        (lambda: h.density(), TypeError, "density is of counts"),
        (lambda: h.quantiles(0.5), TypeError, "quantiles is of counts"),
        (lambda: h.summarize(), TypeError, "summarize is of counts"),
        (lambda: h.threshold(), TypeError, "threshold is of counts"),
        (lambda: h.compare(h), TypeError, "compare is of counts"),
        (lambda: h.astype("double"), TypeError, "do not change their storage"),
        (lambda: Histogram(Regular(2, 0, 1)).astype("mean"), TypeError, "do not change their storage"),
        (lambda: Histogram(Regular(2, 0, 1)).means(), TypeError, "has no means"),
        (lambda: Histogram(Regular(2, 0, 1)).fill(0, sample=1), TypeError, 'storage="mean" has it'),
        (lambda: Histogram(Regular(2, 0, 1), storage="mean", batch=2), ValueError, "no batch"),
        (lambda: Histogram(Regular(2, 0, 1), storage="median"), ValueError, "weighted_mean"),
        (lambda: Histogram(Regular(2, 0, 1)).compare(h), TypeError, "compare is of counts"),
        (lambda: histo.Map(*h.axes, batch=5).equalize(h), TypeError, "not of means"),
    ):
        with pytest.raises(error, match=message):
            call()
        assert h == before


def test_sources():
    """What is missing in samples, values or weights is masked, whatever carries them."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    expected = Histogram(Regular(2, 0, 1), storage="mean").fill([0.1, 0.7], sample=[1, 4], weight=[2, 3])
    columns = [0.1, None, 0.7, 0.3], [1, 2, 4, None], [2, 1, 3, 1]
    for make in (pa.array, pl.Series, lambda x: pd.Series(x, dtype="Float64"), lambda x: pd.Series(x, dtype="float64[pyarrow]")):
        x, values, weight = map(make, columns)
        h = Histogram(Regular(2, 0, 1), storage="mean").fill(x, sample=values, weight=weight)
        assert h.masked == 2
        np.testing.assert_array_equal(h.means(True), expected.means(True))
