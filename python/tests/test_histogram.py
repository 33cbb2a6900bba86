"""Histogram: filling, reading, arithmetic, conversions, files."""

import copy
import gc
import io
import itertools
import json
import pickle
import signal
import subprocess
import sys
import threading
import weakref

import boost_histogram as bh
import hist as hist_package
import numpy as np
import pytest
import uhi.schema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from uhi.typing.plottable import PlottableAxisGeneric, PlottableHistogram

import histo
from histo import Boolean, Category, Histogram, Integer, Log, Power, Regular, Sqrt, Variable, overflow

DTYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"]
STORAGES = ["int64", "double", "weight", "exact_double", "exact_weight"]


def random_axes(random, n):
    """Axes of ours and of boost-histogram that count alike."""
    kinds = [
        lambda: (Regular(7, -1, 2, name="r"), bh.axis.Regular(7, -1, 2)),
        lambda: (Regular(5, -1, 2, underflow=False), bh.axis.Regular(5, -1, 2, underflow=False)),
        lambda: (Regular(5, -1, 2, overflow=False), bh.axis.Regular(5, -1, 2, overflow=False)),
        lambda: (Variable([-1, 0.5, 0.75, 3]), bh.axis.Variable([-1, 0.5, 0.75, 3])),
        lambda: (Integer(-2, 3), bh.axis.Integer(-2, 3)),
        lambda: (Log(4, 0.1, 10), bh.axis.Regular(4, 0.1, 10, transform=bh.axis.transform.log)),
        lambda: (Sqrt(4, 0, 2), bh.axis.Regular(4, 0, 2, transform=bh.axis.transform.sqrt)),
        lambda: (Power(4, 0, 2, 2.0), bh.axis.Regular(4, 0, 2, transform=bh.axis.transform.Pow(2))),
        lambda: (Category([3, 1, -2]), bh.axis.IntCategory([3, 1, -2])),
        lambda: (Category(["b", "a"]), bh.axis.StrCategory(["b", "a"], overflow=True)),
        lambda: (Boolean(), bh.axis.Boolean()),
    ]
    chosen = [kinds[i]() for i in random.choice(len(kinds), n)]
    for i, (ours, _) in enumerate(chosen):
        ours.name = f"axis{i}"
    return [a for a, _ in chosen], [b for _, b in chosen]


def random_samples(random, axis, n):
    if isinstance(axis, Boolean):
        return random.integers(0, 2, n).astype(bool)
    if isinstance(axis, Category):
        if isinstance(axis.categories[0], str):
            return random.choice(["a", "b", "c"], n)
        return random.integers(-3, 5, n)
    if isinstance(axis, Integer):
        return random.integers(-5, 6, n)
    x = random.normal(0.5, 1, n)
    x[random.random(n) < 0.02] = np.nan
    return np.abs(x) if isinstance(axis, (Log, Sqrt, Power)) else x


@pytest.mark.parametrize("seed", range(120))
def test_boost_histogram_counts_the_same(seed):
    random = np.random.default_rng(seed)
    ours, theirs = random_axes(random, random.integers(1, 4))
    storage = random.choice(["int64", "double", "weight", "exact_double", "exact_weight"])
    of_boost = {"int64": bh.storage.Int64, "double": bh.storage.Double, "exact_double": bh.storage.Double}
    h = Histogram(*ours, storage=storage)
    b = bh.Histogram(*theirs, storage=of_boost.get(storage, bh.storage.Weight)())
    for _ in range(3):
        n = int(random.integers(0, 300))
        x = [random_samples(random, axis, n) for axis in ours]
        if random.random() < 0.2 and n:
            x[0] = x[0][0].item()
        weight = None if storage == "int64" or random.random() < 0.3 else random.normal(size=n)
        if weight is not None and n and random.random() < 0.2:
            weight = 2.5
        if all(np.ndim(one) == 0 for one in x) and np.ndim(weight):
            x[0] = np.full(n, x[0])
        h.fill(*x, weight=weight)
        b.fill(*x, weight=weight)
    for flow in (False, True):
        np.testing.assert_allclose(h.values(flow=flow), b.values(flow=flow), rtol=1e-12, atol=1e-12)
        if h.variances(flow=flow) is not None:
            expected = np.asarray(b.variances(flow=flow))
            np.testing.assert_allclose(h.variances(flow=flow), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(h.to_boost().values(flow=True), h.values(flow=True))
    assert h.to_boost().axes.size == h.axes.size
    back = Histogram(h)
    assert back == h and back.tally == h.tally and back.axes == h.axes
    np.testing.assert_allclose(Histogram(b).values(flow=True), b.values(flow=True))
    if len(ours) > 1:
        keep = int(random.integers(len(ours)))
        np.testing.assert_allclose(h.project(keep).values(flow=True), b.project(keep).values(flow=True), atol=1e-12)
    np.testing.assert_allclose(np.asarray(h.sum(flow=True)).ravel()[0], _value(b.sum(flow=True)), atol=1e-9)


@pytest.mark.parametrize("weights, storage", [([1, 2, 3], "int64"), ([1, 2.5, -3], "double")])
def test_sums_of_boost_histogram(weights, storage):
    """Its Double is counts if all values are, else sums without squares, and the way back leaves the values."""
    theirs = bh.Histogram(bh.axis.Regular(3, 0, 3), storage=bh.storage.Double())
    theirs.fill([0.5, 1.5, 7], weight=weights)
    h = Histogram(theirs)
    assert h.storage == storage and h.values(flow=True).tolist() == [0, *weights[:2], 0, weights[2]]
    back = h.to_boost()
    assert back.values(flow=True).tolist() == theirs.values(flow=True).tolist() and back.axes == theirs.axes
    assert Histogram(back) == h


def _value(accumulator):
    return getattr(accumulator, "value", accumulator)


@pytest.mark.parametrize("seed", range(40))
def test_hist_counts_the_same(seed):
    random = np.random.default_rng(1000 + seed)
    h = hist_package.Hist.new.Reg(10, -2, 2, name="x", label="X").IntCat([1, 2, 5], name="k").Weight()
    ours = Histogram(Regular(10, -2, 2, name="x", label="X"), Category([1, 2, 5], name="k"), storage="weight")
    x, k, w = random.normal(size=100), random.integers(0, 7, 100), random.random(100)
    h.fill(x=x, k=k, weight=w)
    assert ours.fill(k=k, x=x, weight=w) is ours
    np.testing.assert_allclose(ours.values(flow=True), h.values(flow=True))
    np.testing.assert_allclose(ours.to_hist().variances(), h.variances())
    assert ours.to_hist().axes.name == ("x", "k") and Histogram(h).axes[0].label == "X"
    a, b = ours[0.5j:1.5j, 2j], h[0.5j:1.5j, 2j]
    np.testing.assert_allclose(a.values(flow=True), b.values(flow=True))


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    x = np.arange(0, 20).astype(dtype)
    h = Histogram(Integer(5, 15)).fill(x)
    assert h.values(flow=True).tolist() == [5, *[1] * 10, 5]
    assert h.values().dtype == np.int64
    assert h.fill(x.astype(np.dtype(dtype).newbyteorder())).sum(flow=True) == 40


def test_protocols():
    for axis in (Regular(3, 0, 1), Category(["a"]), Boolean(), Integer(0, 3), Variable([0, 1]), Log(3, 1, 2)):
        assert isinstance(axis, PlottableAxisGeneric)
    assert isinstance(Histogram(Regular(3, 0, 1)), PlottableHistogram)


# ---- Axes ----


def test_edges_and_indices():
    a = Regular(4, 0, 2)
    assert a.edges.tolist() == np.linspace(0, 2, 5).tolist() and a.widths.tolist() == [0.5] * 4
    assert a.centers.tolist() == [0.25, 0.75, 1.25, 1.75]
    assert a.index([-1, 0, 0.5, 1.99, 2, np.nan, np.inf]).tolist() == [-1, 0, 1, 3, 4, 4, 4]
    assert Regular(4, 0, 2, closed=True).index([2, 2.1]).tolist() == [3, 4]
    assert a[0] == (0.0, 0.5) and a[-1] == (1.5, 2.0) and a.bin(-1) == (-np.inf, 0) and a.bin(4) == (2, np.inf)
    assert a.value(1) == 0.5 and a.value(1.5) == 0.75 and a.value(-1) == -np.inf
    assert list(Integer(3, 6)) == [3, 4, 5] and Integer(3, 6).index([2, 3.5, 5, 6, np.nan]).tolist() == [-1, 0, 2, 3, 3]
    assert list(Boolean()) == [False, True] and list(Category("ab")) == ["a", "b"]
    assert Category([5, 3]).index([3, 4, 5]).tolist() == [1, 2, 0]
    assert Category("ab").index(["b", "x"]).tolist() == [1, 2]
    assert Log(2, 1, 100).edges.tolist() == pytest.approx([1, 10, 100])
    with pytest.raises(IndexError):
        a[4]
    with pytest.raises(ValueError):
        Regular(0, 0, 1)
    with pytest.raises(ValueError):
        Variable([1, 1, 0])
    with pytest.raises(ValueError):
        Category(["a", "a"])
    with pytest.raises(TypeError):
        Category(["a", 1])
    with pytest.raises(ValueError):
        Log(3, 0, 1)


@pytest.mark.parametrize("axis", [
    Regular(3, 0, 1, closed=True, name="x", label="y", metadata={"a": 1}), Variable([0, 1.5, 4], underflow=False),
    Integer(-3, 9, overflow=False), Log(3, 1, 9), Sqrt(3, 0, 9), Power(3, 1, 9, -0.5),
    Category(["a", "b"], growth=True),
    Category([5, -1], overflow=False, name="c"), Boolean(name="b")])
def test_axes_are_values(axis):
    assert axis == copy.copy(axis) == pickle.loads(pickle.dumps(axis)) == copy.deepcopy(axis)
    assert eval(repr(axis), vars(histo) | {name: getattr(histo, name) for name in histo.__all__}) == axis
    h = Histogram(axis)
    assert h.axes[0] == axis and h.axes[0] is not axis and Histogram(h).axes[0] == axis
    other = copy.copy(axis)
    other.name = "other"
    assert other != axis and axis != 3
    with pytest.raises(TypeError):
        hash(axis)
    assert axis.extent == axis.size + axis.traits.underflow + axis.traits.overflow


# ---- Filling ----


def test_broadcasting():
    h = Histogram(Regular(4, 0, 4), Regular(4, 0, 4))
    h.fill(np.arange(4)[:, None], np.arange(4))
    assert h.values().tolist() == [[1] * 4] * 4
    h.reset().fill(1, np.arange(4))
    assert h.values()[1].tolist() == [1] * 4 and h.sum() == 4
    h.reset().fill(1, 2.5)
    assert h[1, 2] == 1
    w = Histogram(Regular(4, 0, 4)).fill(1, weight=[1, 2, 3])
    assert w[1] == histo.WeightedSum(6, 14)
    with pytest.raises(ValueError, match="broadcast"):
        h.fill([1, 2, 3], [1, 2])
    with pytest.raises(TypeError, match="2 axes"):
        h.fill([1])
    with pytest.raises(ValueError):
        Histogram(Regular(4, 0, 4)).fill(np.broadcast_to(1.0, (2**40,)), mask=np.broadcast_to(True, (2**40, 1)))


def test_names():
    h = Histogram(Regular(2, 0, 2, name="x"), Integer(0, 3, name="y"))
    h.fill(y=2, x=0.5).fill(1.5, y=[0, 1]).fill(y=1, x=1, mask=False)
    assert h.values().tolist() == [[0, 0, 1], [1, 1, 0]] and h.masked == 1
    for wrong in (dict(x=1), dict(x=1, z=2), dict(x=1, y=1, z=1)):
        with pytest.raises(TypeError):
            h.fill(**wrong)
    with pytest.raises(TypeError, match="twice"):
        h.fill(1, 1, x=1)
    with pytest.raises(ValueError, match="same name"):
        Histogram(Regular(2, 0, 2, name="x"), Regular(2, 0, 2, name="x"))


def test_masks_and_filters():
    x, y = np.arange(10), np.arange(10)[::-1]
    h = Histogram(Integer(0, 10)).fill(x, mask=x % 2 == 0, where=(y, 0, 6))
    assert h.values().tolist() == [0, 0, 0, 0, 1, 0, 1, 0, 1, 0] and h.masked == 7
    assert h.tally == histo.Tally(10, 7, 3, 0, (0,), (0,), (0,))
    m = Histogram(Integer(0, 10)).fill(np.ma.masked_greater(x, 4), mask=x > 2)
    assert m.values().tolist() == [0, 0, 0, 1, 1, 0, 0, 0, 0, 0] and m.masked == 8
    of_even = np.ma.masked_array(x, x % 2)
    for others in (dict(weight=of_even), dict(mask=np.ma.masked_array(x >= 0, x % 2)), dict(where=(of_even, 0, 9))):
        h = Histogram(Integer(0, 10), storage="weight").fill(x, **others)
        assert h.entries().tolist() == [1, 0] * 5 and h.masked == 5
        assert Histogram(Integer(0, 10)).fill(x, **others) == h or "weight" not in others
    with pytest.raises(TypeError, match="where is a tuple"):
        h.fill(x, where=(y, 1))
    with pytest.raises(ValueError, match="threads"):
        h.fill(x, threads=0)


def test_pictures_of_infinite_edges():
    axis = Variable([-np.inf, 0, np.inf])
    for h in (Histogram(axis).fill([1, 2]), Histogram(Regular(2, 0, 1), axis).fill(0, 1)):
        assert ">-inf<" in h._repr_html_() and ">inf<" in h._repr_html_()


def test_weights_come_later():
    h = Histogram(Regular(2, 0, 2), Boolean()).fill([0.5, 1.5, 3], [0, 1, 1], mask=[1, 1, 0])
    assert h.storage == "int64"
    h.fill([0.5], [True], weight=0.5)
    assert h.storage == "weight" and h.masked == 1
    assert h.values().tolist() == [[1, 0.5], [0, 1]] and h.variances().tolist() == [[1, 0.25], [0, 1]]
    assert h.entries().tolist() == [[1, 1], [0, 1]]
    with pytest.raises(TypeError, match="no weights"):
        Histogram(Regular(2, 0, 2), storage="int64").fill(1, weight=2)
    with pytest.raises(TypeError, match="use weight="):
        Histogram(Regular(2, 0, 2)).fill(1, weights=2)
    with pytest.raises(TypeError, match="no weights"):
        Histogram(Regular(2, 0, 2), storage="sparse").fill(1, weight=2)


def test_categories_grow():
    h = Histogram(Category(growth=True, name="k"), Regular(2, 0, 2))
    assert h.shape == (0, 2) and h.values().shape == (0, 2) and h.values(flow=True).shape == (0, 4)
    h.fill(["x", "y", "x"], [0.5, 0.5, 1.5]).fill("z", 9)
    assert h.axes[0].categories == ["x", "y", "z"]
    assert h.values(flow=True).tolist() == [[0, 1, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    g = Histogram(Category(["z", "n"], growth=True, name="k"), Regular(2, 0, 2)).fill(["n"], [1])
    both = h + g
    assert both.axes[0].categories == ["x", "y", "z", "n"] and both["n", 1] == 1 and both["x", :].sum() == 2
    i = Histogram(Category([7], growth=True)).fill([3, 7, 3, 2])
    assert i.axes[0].categories == [7, 3, 2] and i.values().tolist() == [1, 2, 1]
    with pytest.raises(TypeError):
        i.fill(["a"])
    pandas = pytest.importorskip("pandas")
    c = Histogram(Category("ab")).fill(pandas.Series(["a", "b", "c", None, "a"], dtype="category"))
    assert c.values(flow=True).tolist() == [2, 1, 1] and c.tally.masked == 1


def test_copies_of_categories_grow_by_themselves():
    axis = Category(["a"], growth=True, name="k")
    h, g = Histogram(axis), Histogram(axis, Regular(1, 0, 1))
    h.fill(["a", "b"])
    assert axis.categories == g.axes[0].categories == ["a"] and g.values().shape == (1, 1)
    for other in (copy.copy(h), copy.deepcopy(h), h[:], h * 1, h.project("k"), pickle.loads(pickle.dumps(h))):
        other.fill(["c"])
        assert other.values().tolist() == [1, 1, 1] and h.axes[0].categories == ["a", "b"]
        assert (other + h).values().tolist() == (h + other).values().tolist() == [2, 2, 1]
    assert copy.copy(h.axes[0]) == h.axes[0]


@pytest.mark.parametrize("storage", ["exact_double", "exact_weight"])
def test_growing_keeps_exact_sums(storage):
    rng = np.random.default_rng(3)
    kinds, x = rng.choice(list("abcdefgh"), 4000), rng.integers(0, 2, 4000)
    weights = rng.normal(size=4000) * 10.0 ** rng.integers(-20, 20, 4000)
    axes = Category("abcdefgh"), Category([1], growth=True)
    whole = Histogram(*axes, storage=storage).fill(kinds, x, weight=weights)
    grown = Histogram(Category(growth=True), Category([1], growth=True), storage=storage)
    for at in np.array_split(np.argsort(kinds), 50):
        grown.fill(kinds[at], x[at], weight=weights[at])
    assert grown.axes[0].size == 8 and grown.masked == 0
    assert grown.values().tobytes() == whole.values().tobytes()
    assert grown.variances() is None or grown.variances().tobytes() == whole.variances().tobytes()


@pytest.mark.parametrize("storage", ["exact_double", "exact_weight"])
def test_exact_sums_stay_exact(storage):
    """Sums of different categories, choices, projections and assignments beside them round nothing."""
    rng = np.random.default_rng(4)
    names = list("abcdef")
    kinds, x = rng.choice(names, 3000), rng.random((3000,))
    weights = rng.normal(size=3000) * 10.0 ** rng.integers(-20, 20, 3000)

    def filled(categories, at):
        made = Histogram(Category(categories, growth=True), Regular(5, 0, 1, overflow=False), storage=storage)
        return made.fill(kinds[at], x[at], weight=weights[at])

    def same(a, b):
        return a._save(1) == b._save(1)

    whole = filled(names, slice(None))
    assert same(filled(names, slice(0, 1500)) + filled("fedcba", slice(1500, None)), whole)
    assert same(sum([filled("", slice(i, i + 100)) for i in range(0, 3000, 100)])[names, :], whole)
    assert same(whole[["c", "a"], :], filled("ca", np.isin(kinds, ["c", "a"])))
    assert same(whole["b", :], Histogram(whole.axes[1], storage=storage).fill(x[kinds == "b"], weight=weights[kinds == "b"]))
    groups = whole[:, :: histo.rebin(groups=[1, 2, 2])]
    assert same(groups[::sum, :], whole[::sum, :][:: histo.rebin(groups=[1, 2, 2])])
    apart = whole.copy()
    apart["a", 3] = 1
    assert same(apart[["b", "c", "d", "e", "f"], :], whole[["b", "c", "d", "e", "f"], :])
    assert apart["a", 3] in (1, (1, 1)) and apart["a", 2] == whole["a", 2]
    batch = Histogram(Regular(5, 0, 1), batch=(2, 3), storage=storage).fill(x.reshape(2, 3, 500), weight=weights.reshape(2, 3, 500))
    assert same(batch.entry(1, -1), Histogram(Regular(5, 0, 1), storage=storage).fill(x[2500:], weight=weights[2500:]))


def test_histograms_are_copied_and_added_while_they_grow():
    h = Histogram(Category(growth=True))

    def grow():
        for i in range(500):
            h.fill([str(i), str(i + 1)])

    thread = threading.Thread(target=grow)
    thread.start()
    while thread.is_alive():
        for made in (h.copy(), h + h, Histogram(Category(["7"], growth=True)) + h):
            assert made.values().shape == made.axes.size
    thread.join()
    assert (h + h).sum() == 2000


def test_a_fill_that_fails_changes_nothing():
    for first in (["a"], []):
        h = Histogram(Category(first, growth=True), Category([1], growth=True))
        before = h.copy()
        failing = (
            ((np.array(["b", 2.5], object), [1, 2]), {}),
            ((["b", "c"], [2, "x"]), {}),
            ((["b", 1], [1, 2]), {}),
            ((["b", "c"], [2, 3, 4]), {}),
            ((["b", "c"], [2, 3]), {"weight": [1, 2, 3]}),
            ((["b", "c"], [2, 3]), {"weight": ["x", "y"]}),
            ((["b", "c"], [2, 3]), {"mask": object()}),
            ((["b", "c"], [2, 3]), {"where": 3}),
        )
        for args, named in failing:
            with pytest.raises((TypeError, ValueError)):
                h.fill(*args, **named)
            assert h == before and h.axes.size == (len(first), 1) and h.values().shape == (len(first), 1)
        assert h.fill(["b", "a"], [2, 1]).sum() == 2 and h.axes.size == (2, 2)
    h = Histogram(Category(["a"], growth=True)).fill("a", weight=2)
    with pytest.raises(ValueError, match="broadcast"):
        h.fill(["b", "c"], weight=[1, 2, 3])
    assert h.storage == "weight" and h.values().tolist() == [2]


def test_an_interrupted_fill_keeps_what_it_has_counted():
    h = Histogram(Category(["a"], growth=True), Regular(1, 0, 1))

    class Interrupted(Exception):
        pass

    def interrupt(*_):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(Interrupted):
            h.fill("b", np.broadcast_to(0.5, (1 << 40,)))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert h.axes[0].categories == ["a", "b"] and h.sum() == h["b", 0] > 0


def test_arrays_of_other_classes():
    """What looks like a masked array or a lazy one, and is none, is counted as it is."""

    class Marked(np.ndarray):
        mask = "painted"

    x = np.array([0.1, 0.2, 0.9]).view(Marked)
    assert Histogram(Regular(2, 0, 1)).fill(x).values().tolist() == [2, 1]
    assert Histogram(Regular(2, 0, 1), Boolean()).fill(x, x > 0.5, weight=x).sum().value == x.sum()
    xarray = pytest.importorskip("xarray")
    x = xarray.DataArray([[0.1, 0.2, 0.9]], dims=("a", "b"))
    assert Histogram(Regular(2, 0, 1)).fill(x, mask=x < 1).values().tolist() == [2, 1]
    assert histo.histogram(x, 2, (0, 1))[0].tolist() == [2, 1]


def test_messages_of_wrong_arguments():
    with pytest.raises(ValueError, match="no storage 5"):
        Histogram(Regular(2, 0, 1), storage=5)
    with pytest.raises(TypeError, match=r"weight="):
        Histogram(Regular(2, 0, 1)).fill(0.5, weights=1)
    with pytest.raises(TypeError, match=r"Regular\(10, 0, 1\).* not of 10"):
        Histogram(10)
    pytest.importorskip("matplotlib").use("Agg")
    with pytest.raises(TypeError, match="Axes, not 'x'"):
        Histogram(Regular(2, 0, 1)).plot("x")


def test_subclasses_of_axes_keep_their_attributes():
    axis = Tagged(4, 0, 1, name="x")
    axis.tag = "kept"
    for made in (copy.copy(axis), copy.deepcopy(axis), pickle.loads(pickle.dumps(axis))):
        assert made == axis and made.tag == "kept" and made.edges.tolist() == axis.edges.tolist()
    h = Histogram(axis).fill(0.3)
    assert h.axes[0].tag == h.copy().axes[0].tag == pickle.loads(pickle.dumps(h)).axes[0].tag == "kept"


class Tagged(Regular):
    """Without __slots__."""


def test_lists_of_strings_are_taken_as_they_are():
    h = Histogram(Category(["a\0", "a", "1"])).fill(["a", "a\0", "1", 1, "a\0"])
    assert h.values().tolist() == [2, 1, 1] and h.tally.flow == 1
    assert Histogram(Category(["a"])).fill([["a", "b"], ["a", "a"]]).values().tolist() == [3]


def test_a_histogram_does_not_become_one_of_another_form():
    h, other = Histogram(Regular(2, 0, 1)), Histogram(Regular(2, 0, 1), Regular(2, 0, 1)).fill(0.1, 0.1)

    class BecomesAnother:
        def __array__(self, *args, **kwargs):
            h.__init__(other)

    with pytest.raises(ValueError, match="made already"):
        h.fill(BecomesAnother())
    assert h.fill(0.1).values().tolist() == [1, 0]
    h.__init__(Histogram(Regular(3, 0, 1)).fill(0.9))
    assert h.values().tolist() == [0, 0, 1]


@pytest.mark.parametrize("growth", [False, True])
def test_many_categories(growth):
    random = np.random.default_rng(1)
    names = np.array(["", "a", "b", "ab", "ba", "\N{SNOWMAN}", "long name", "x" * 40])
    x = random.choice(names, 50000)
    for some in (x, x.astype(x.dtype.newbyteorder()), x[::-2], x.astype(object), x.reshape(100, 500)):
        h = Histogram(Category(["ba", "a", "", "y" * 50], growth=growth)).fill(some)
        for name in h.axes[0].categories:
            assert h[name] == (some == name).sum()
        assert h.sum(flow=True) == some.size and (h[overflow] > 0 if not growth else h.axes[0].size == 9)
    for dtype in DTYPES[:8]:
        k = random.integers(0, 128, 50000).astype(dtype)
        h = Histogram(Category([7, 3, 50, 127, -100], growth=growth)).fill(k)
        assert [h[i * 1j] for i in (7, 3, 50, 127)] == [(k == i).sum() for i in (7, 3, 50, 127)]
        assert h.sum(flow=True) == 50000


@pytest.mark.parametrize("storage", ["double", "weight", "exact_weight"])
@pytest.mark.parametrize("count", [2, 3, 8, 11])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2"])
def test_several_weights_of_a_sample(storage, count, dtype):
    """A batch with the same samples is one histogram for each weight; also filled with a mask, and in boost-histogram."""
    random = np.random.default_rng(3)
    x, keep = random.normal(size=5000), random.random(5000) < 0.8
    by_weight = random.integers(-9, 9, (count, 5000)).astype(dtype)
    by_sample = np.ascontiguousarray(by_weight.T).T
    for weights, mask in itertools.product((by_weight, by_sample), (None, keep)):
        together = Histogram(Regular(40, -2, 2), batch=count, storage=storage).fill(x, weight=weights, mask=mask)
        for i in range(count):
            alone = Histogram(Regular(40, -2, 2), storage=storage).fill(x, weight=by_weight[i], mask=mask)
            assert np.array_equal(together.values(flow=True)[i], alone.values(flow=True))
            if "weight" in storage:
                assert np.array_equal(together.variances(flow=True)[i], alone.variances(flow=True))
        if mask is None:
            theirs = bh.Histogram(bh.axis.Regular(40, -2, 2), storage=bh.storage.MultiCell(count))
            theirs.fill(x, weight=by_weight.T.astype(float))
            assert np.array_equal(theirs.values(), together.values())


def test_batches():
    x = np.random.default_rng(1).random((2, 3, 50))
    h = Histogram(Regular(4, 0, 1), batch=(2, 3)).fill(x)
    assert h.shape == (2, 3, 4)
    for i, j in itertools.product(range(2), range(3)):
        assert h.values()[i, j].tolist() == np.histogram(x[i, j], 4, (0, 1))[0].tolist()
        assert h.entry(i, j) == Histogram(Regular(4, 0, 1)).fill(x[i, j])
    assert h[1].tolist() == h.values()[..., 1].tolist() and h[1:3].values().shape == (2, 3, 2)
    assert pickle.loads(pickle.dumps(h)) == h and Histogram(h) == h
    assert h.quantiles([0.25, 0.5]).shape == (2, 3, 2) and h.summarize().mean.shape == (2, 3)
    assert h.threshold().shape == (2, 3) and h.compare(h) == pytest.approx(np.ones((2, 3)))
    h.fill(np.full((2, 3), 0.1), mask=np.array([[1, 0, 0], [1, 1, 1]]))
    assert h.masked.tolist() == [[0, 1, 1], [0, 0, 0]]
    with pytest.raises(ValueError, match="batch"):
        h.fill([1, 2])


def test_sparse():
    x = np.random.default_rng(1).random((5, 1000))
    h = Histogram(*(Regular(256, 0, 1) for _ in range(5)), storage="sparse").fill(*x)
    places, counts = h.occupied()
    expected = (x * 256).astype(int)
    assert counts.sum() == 1000 and set(zip(*(p.tolist() for p in places))) == set(zip(*expected.tolist()))
    assert h.sum() == 1000 and h.project(1).values().tolist() == np.histogram(x[1], 256, (0, 1))[0].tolist()
    assert h[::histo.rebin(16), ...].sum() == 1000 and h == h.copy()
    assert Histogram(h) == h and pickle.loads(pickle.dumps(h)) == h
    file = io.BytesIO()
    h.save(file)
    file.seek(0)
    assert Histogram.load(file) == h
    first = tuple(int(place[0]) for place in places)
    assert h[first] == counts[0] and h[(*first[:2], ...)].occupied()[1].tolist() == [1]
    assert h[tuple(slice(0, 1, sum) for _ in first)] == 0
    batch = Histogram(Regular(4, 0, 1), batch=2, storage="sparse").fill([[0.1], [0.9]], mask=[[True], [True]])
    assert batch.entry(1) == Histogram(Regular(4, 0, 1), storage="sparse").fill(0.9)
    assert h * 2 == h + h and (h * 2 - h) == h
    for change in (lambda: h.__setitem__(first, 1), lambda: h.values(flow=True), lambda: h * 0.5):
        with pytest.raises((TypeError, MemoryError)):
            change()


def test_long_fills_in_pieces():
    x = np.broadcast_to(np.float32(0.5), (3, 20_000_000))
    h = Histogram(Regular(2, 0, 1)).fill(x, threads=2)
    assert h.values().tolist() == [0, 60_000_000]


INTERRUPTED = """
import signal, time, numpy as np, histo
h = histo.Histogram(histo.Regular(7, 0, 1), storage="exact_weight")
x = np.broadcast_to(0.3, (1 << 33,))
def handler(*_):
    h.values()  # the lock is free
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.5)
began = time.monotonic()
try:
    h.fill(x, weight=x, threads=1)
except KeyboardInterrupt:
    assert 0 < h.tally.samples < 1 << 33
    print("interrupted")
"""


def test_signals_interrupt():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=300)
    assert done.stdout == "interrupted\n", done.stderr


WITHOUT_NUMPY = """
import array, sys, histo
h = histo.Histogram(histo.Regular(10, 0, 1, name="x")).fill(array.array("d", [0.1, 0.2, 7])).fill(x=0.5)
assert h.tally.bins == 3 and h[1] == 1 and h[::histo.rebin(5)][0] == 2 and h.copy()[histo.overflow] == 1
print(h, "numpy" in sys.modules)
"""


def test_numpy_is_imported_on_need():
    done = subprocess.run([sys.executable, "-c", WITHOUT_NUMPY], capture_output=True, text=True)
    assert done.stdout == "Histogram(Regular(10, 0, 1, name='x'))  # 3 in bins, 1 outside False\n", done.stderr


# ---- Arithmetic ----


def test_arithmetic():
    h = Histogram(Regular(3, 0, 3, name="x")).fill([0, 1, 1, 2, 5, np.nan])
    assert (h + h).values(flow=True).tolist() == [0, 2, 4, 2, 4] == (h * 2).values(flow=True).tolist()
    assert (h + h - h) == h and sum([h, h]) == h * 2 and (2 * h) == h * 2
    assert (h / 2).values().tolist() == [0.5, 1, 0.5] and (h / 2).variances().tolist() == [0.25, 0.5, 0.25]
    assert (h * 0.5) == h / 2 and (h * 0.5).storage == "weight" and h.storage == "int64"
    h += h
    assert h.tally.samples == 12
    with pytest.raises(ValueError, match="negative"):
        h - (h + h)
    with pytest.raises(ValueError, match="equal axes"):
        h + Histogram(Regular(3, 0, 4))
    with pytest.raises(ValueError, match="storage"):
        h + Histogram(Regular(3, 0, 3, name="x"), storage="double")
    with pytest.raises(TypeError):
        h * h
    with pytest.raises(TypeError):
        h + 3
    with pytest.raises(ValueError, match="2\\^64"):
        h * 2**62
    for factor in (float("inf"), float("nan"), 2**53 + 1):
        before = h.copy()
        with pytest.raises(ValueError):
            h *= factor
        assert h == before and h.storage == "int64"
    part = Histogram(Regular(3, 0, 3, name="x")).fill([0, 1, 2], mask=[True, True, False])
    whole = part + h
    assert whole - part == h and (whole - part).tally == h.tally and whole != h
    sparse = Histogram(Regular(3, 0, 3), storage="sparse").fill([0, 1, 5])
    assert sparse * 2 - sparse == sparse and sparse * 0 == sparse - sparse
    with pytest.raises(ValueError, match="negative.*other has 2"):
        sparse - sparse * 2
    assert Variable([-0.0, 1]) == Variable([0.0, 1]) != Variable([0.0, 2]) and Regular(2, 0, 2) != Integer(0, 2)
    w = Histogram(Regular(3, 0, 3)).fill([0, 1], weight=[2, 3])
    assert (w + Histogram(Regular(3, 0, 3)).fill(1)).values().tolist() == [2, 4, 0]
    assert (w - w).variances().tolist() == [8, 18, 0]


@pytest.mark.parametrize("storage", STORAGES)
def test_astype(storage):
    h = Histogram(Regular(3, 0, 3)).fill([0, 1, 1, 2, 5])
    other = h.astype(storage)
    assert other.storage == storage and other.values(flow=True).tolist() == h.values(flow=True).tolist()
    assert other.astype("int64") == h
    with pytest.raises(ValueError, match="whole"):
        (h / 2).astype("int64")


def test_setting():
    h = Histogram(Regular(3, 0, 3), Category("ab")).fill([0, 1, np.nan, np.nan], ["a", "b", "c", "a"])
    assert h[overflow, "a"] == 1 and h.tally.nan == (2, 0)
    h[overflow, "a"] = 7
    assert h[overflow, "a"] == 7 and h.tally.nan == (1, 0) and h[overflow, overflow] == 1
    h[1, :] = [5, 6]
    h[{0: 2, 1: "b"}] = 9
    assert h.values().tolist() == [[1, 0], [5, 6], [0, 9]]
    h[...] = np.arange(6).reshape(3, 2)
    assert h.values().tolist() == [[0, 1], [2, 3], [4, 5]]
    h[...] = np.arange(15).reshape(5, 3)
    assert h.values(flow=True).tolist() == np.arange(15).reshape(5, 3).tolist()
    for wrong in (-1, 0.5, np.nan):
        with pytest.raises(ValueError):
            h[0, 0] = wrong
    with pytest.raises(TypeError):
        h[0, 0] = "x"
    w = h.astype("weight")
    w[0, 0] = histo.WeightedSum(1.5, 4)
    assert w[0, 0] == (1.5, 4) and w.entries()[0, 0] == 0
    assert h[np.array([0, 2]), np.array([1, 0])].tolist() == [4, 9]


# ---- Numbers ----


def test_numbers():
    x = np.random.default_rng(1).integers(0, 100, 1001)
    h = Histogram(Integer(0, 100)).fill(x)
    q = [0.1, 0.5, 0.9]
    assert h.quantiles(q).tolist() == np.quantile(x, q).tolist() and h.quantiles(0.5) == np.median(x)
    assert h.quantiles(q, "weibull").tolist() == np.quantile(x, q, method="weibull").tolist()
    s = h.summarize()
    assert s.count == 1001 and s.mean == pytest.approx(x.mean()) and s.variance == pytest.approx(x.var())
    assert h.split("otsu", 3).shape == (2,) and 40 < h.threshold() < 60
    assert h.compare(h) == pytest.approx(1) and h.compare(h, "chi-square") == 0
    two = Histogram(Integer(0, 2), Integer(0, 2)).fill([0, 1], [0, 1])
    assert two.inform().mutual == pytest.approx(np.log(2))
    for wrong in (lambda: h.quantiles(2), lambda: h.quantiles(0.5, "none"), lambda: h.split("none"),
                  lambda: h.compare(h, "none"), lambda: two.quantiles(0.5), lambda: h.inform()):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(TypeError):
        h.compare(3)


def test_density():
    x = np.random.default_rng(1).normal(size=1000)
    edges = [-2, -1, 0.5, 2]
    h = Histogram(Variable(edges)).fill(x)
    np.testing.assert_allclose(h.density(), np.histogram(x, edges, density=True)[0])
    assert h.density(flow=True)[[0, -1]].tolist() == [0, 0]


def test_plan():
    h = Histogram(Regular(10, 0, 1))
    assert h.plan is None and "No fill" in h.explain()
    h.fill(np.random.default_rng(1).random(100000))
    assert h.plan.strategy.startswith("cpu/") and h.plan.threads >= 1 and "problem" in h.explain()


# ---- Other forms ----


def every_kind():
    random = np.random.default_rng(3)
    x = random.normal(size=200)
    x[:3] = np.nan
    w = random.normal(size=200)
    axis = Regular(5, -1, 1, name="x", label="X", metadata={"k": 1.5})
    yield Histogram(axis, name="n", label="N", metadata="m").fill(x)
    yield Histogram(Regular(5, -1, 1, closed=True), Variable([0, 1, 2], underflow=False)).fill(x, x[::-1])
    yield Histogram(Category(["a", "b"], growth=True), Boolean()).fill(["a", "c", "b"], [1, 0, 1])
    yield Histogram(Category([3, 1]), Integer(0, 3)).fill([1, 2, 3], [np.nan, 1, 5])
    for storage in STORAGES[1:]:
        yield Histogram(Log(3, 0.1, 2), Power(3, 0, 2, 3.0), Sqrt(2, 0, 1), storage=storage).fill(x, x, x, weight=w)
    yield Histogram(Regular(5, -1, 1), batch=3, storage="exact_weight").fill(x[:198].reshape(3, 66), mask=w[:66] > 0,
                                                                             weight=w[:66])
    yield Histogram(Regular(5, -1, 1), Regular(5, -1, 1), storage="sparse").fill(x, w, mask=x > 0)


DOCUMENTS = [json.loads(json.dumps(h._to_uhi_(), default=lambda value: value.tolist())) for h in every_kind()]


@pytest.mark.parametrize("i", range(10))
def test_every_form(i, tmp_path):
    h = list(every_kind())[i]
    names = lambda h: (h.name, h.label, h.metadata, h.axes.label, [axis.metadata for axis in h.axes])
    exact = pickle.loads(pickle.dumps(h))
    assert exact == h and names(exact) == names(h) and exact.tally == h.tally
    assert exact._save(1) == h._save(1)
    data = h._to_uhi_()
    back = Histogram(data)
    assert back == h and names(back) == names(h) and back.tally == h.tally
    h.save(tmp_path / "h.json")
    text = json.loads((tmp_path / "h.json").read_text())
    uhi.schema.validate(text)
    back = Histogram.load(tmp_path / "h.json")
    assert back == h and back.tally == h.tally and back.axes.label == h.axes.label
    h.save(tmp_path / "h.histo")
    back = Histogram.load(tmp_path / "h.histo")
    assert back == h and names(back) == names(h) and back.tally == h.tally
    assert back._take_texts() == (None, None)
    if not any(isinstance(axis, (Boolean, Category)) for axis in h.axes):
        # The library reads what we write, and we what it writes.
        theirs = Histogram._load((tmp_path / "h.json").read_bytes(), None)
        assert theirs._tally() == h._tally()
        ours = Histogram(next(iter(json.loads(h._save(0)).values())))
        assert ours._tally() == h._tally()
    for twin in (h.copy(), copy.copy(h), copy.deepcopy(h)):
        assert twin == h and names(twin) == names(h)
        twin.reset()
        assert twin != h and not twin.tally.samples
    assert "svg" in h._repr_html_() or h.batch or h.ndim > 2 or h.storage == "sparse"
    assert type(h).__name__ in repr(h)


def test_several_in_a_file(tmp_path):
    a, b = Histogram(Regular(2, 0, 1), name="a").fill(0), Histogram(Regular(2, 0, 1), name="b")
    path = tmp_path / "two.json"
    path.write_text(json.dumps({h.name: h._to_uhi_() for h in (a, b)}, default=lambda value: value.tolist()))
    assert Histogram.load(path, "a") == a and Histogram.load(path, "b").name == "b"
    for name in (None, "c"):
        with pytest.raises(ValueError):
            Histogram.load(path, name)


def test_files_of_the_command():
    a, b = Histogram(Regular(2, 0, 1)).fill(0), Histogram(Regular(2, 0, 1)).fill([0, 1])
    parts = [(name, h._save(1)) for name, h in ((b"a", a), (b"b", b))]
    of_set = b"histo set 1\nshards 2\nxx"
    for name, data in parts:
        of_set += b"times 0\nmoments 3\n123%d %d\n" % (len(name), len(data)) + name + data
    assert Histogram.load(io.BytesIO(of_set), "b") == b and Histogram.load(io.BytesIO(of_set), "b").name == "b"
    for name in (None, "c"):
        with pytest.raises(ValueError):
            Histogram.load(io.BytesIO(of_set), name)
    alone = b"histo set 1\nmoments 3\n1230 %d\n" % len(parts[0][1]) + parts[0][1]
    assert Histogram.load(io.BytesIO(alone)) == a
    for cut in range(13, len(alone)):
        with pytest.raises(ValueError):
            Histogram.load(io.BytesIO(alone[:cut]))
    # Moments of the samples are not those of a histogram that is filled further.
    text = a._to_uhi_()
    text["metadata"] = {"moments": " 1 0 0 0", "other": 1}
    assert Histogram(text).metadata == {"other": 1}


def test_numpy_and_xarray():
    h = Histogram(Regular(2, 0, 1, name="x"), Category("ab", name="k")).fill([0.1, 0.7], ["a", "b"])
    values, x, k = h.to_numpy()
    assert np.asarray(h).tolist() == values.tolist() == [[1, 0], [0, 1]] and x.tolist() == [0, 0.5, 1]
    assert h.to_numpy(flow=True, dd=True)[1][0].tolist() == [-np.inf, 0, 0.5, 1, np.inf]
    pytest.importorskip("xarray")
    array = h.to_xarray()
    assert array.sel(k="b", x=0.75).item() == 1 and array.dims == ("x", "k")
    assert h.to_xarray(flow=True).shape == (4, 3)


def test_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    for h in (Histogram(Log(3, 1, 9, label="x")).fill(2), Histogram(Category("ab"), Regular(2, 0, 1)).fill("a", 0)):
        plt.figure()
        assert h.plot().get_xlabel() == h.axes[0].label
        plt.close()
    with pytest.raises(ValueError, match="project"):
        Histogram(*(Regular(2, 0, 1) for _ in range(3))).plot()


MALFORMED = [
    {}, {"uhi_schema": 2}, 3, None, [], {"uhi_schema": 1, "axes": [], "storage": {"type": "int"}},
]
GOOD = {
    "uhi_schema": 1,
    "axes": [{"type": "regular", "lower": 0, "upper": 1, "bins": 2, "underflow": True, "overflow": True,
              "circular": False}],
    "storage": {"type": "int", "values": [1, 2, 3, 4]},
}
CHANGES = [
    ("axes", 0, "type", "spiral"), ("axes", 0, "bins", 0), ("axes", 0, "bins", -1), ("axes", 0, "bins", 1 << 60),
    ("axes", 0, "bins", 1.5), ("axes", 0, "bins", "2"), ("axes", 0, "bins", None), ("axes", 0, "lower", "a"),
    ("axes", 0, "lower", float("nan")), ("axes", 0, "lower", 1), ("axes", 0, "circular", True),
    ("axes", 0, "underflow", None), ("axes", 0, "metadata", 3), ("axes", 0, "writer_info", 3),
    ("axes", 0, "writer_info", {"histo": 3}), ("axes", 0, None, None), ("axes", None, None, 5),
    ("storage", "type", "mean"), ("storage", "type", "none"), ("storage", "values", [1, 2, 3]),
    ("storage", "values", [1, 2, 3, -4]), ("storage", "values", [1, 2, 3, 0.5]), ("storage", "values", "path"),
    ("storage", "values", [[1, 2], [3]]), ("storage", "values", [None] * 4), ("storage", "index", [[0, 1, 2, 9]]),
    ("storage", "index", [[0, 0, 1, 2]]), ("storage", "index", [[0, 1]]), ("storage", "index", [[0, 1, 2, 3]] * 2),
    ("storage", "values", [1e300] * 4), ("storage", "values", [2**63, 0, 0, 0]), ("storage", None, 7),
    ("writer_info", {"histo": {"weighting": "unweighted", "counts": "0:5"}}),
    ("writer_info", {"histo": {"weighting": "unweighted", "counts": "0:5", "checksum": "00000000"}}),
    ("writer_info", {"histo": {"batch": "a"}}), ("writer_info", {"histo": {"batch": "2"}}), ("writer_info", 5),
]


@pytest.mark.parametrize("data", MALFORMED)
def test_no_histogram(data):
    with pytest.raises(ValueError):
        Histogram._from_uhi_(data)


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_malformed(change):
    data = copy.deepcopy(GOOD)
    assert Histogram(data).values(flow=True).tolist() == [1, 2, 3, 4]
    *path, value = change
    at = data
    path = [step for step in path if step is not None]
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    with pytest.raises((ValueError, MemoryError)):
        Histogram._from_uhi_(data)
    with pytest.raises((ValueError, MemoryError)):
        Histogram.load(io.BytesIO(json.dumps(data, default=str).encode()))


KEYS = ["type", "axes", "storage", "values", "bins", "edges", "categories", "writer_info", "histo", "kind", "weighting",
        "counts", "checksum", "index", "variances", "metadata", "batch", "masked", "uhi_schema", "flow"]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 40) | st.integers() | st.floats() | st.text(max_size=5) |
    st.sampled_from(["regular", "variable", "boolean", "category_int", "int", "double", "weighted", "log", "0:1"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4), max_leaves=8)


def places(document, path=()):
    """The paths of all values in a document."""
    yield path
    for key, value in (document.items() if isinstance(document, dict) else
                       enumerate(document[:3]) if isinstance(document, list) else ()):
        yield from places(value, (*path, key))


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_changed_documents(data):
    document = copy.deepcopy(data.draw(st.sampled_from(DOCUMENTS)))
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from([path for path in places(document) if path]))
        at = document
        for step in path[:-1]:
            at = at[step]
        if data.draw(st.booleans()):
            at[path[-1]] = data.draw(ANYTHING)
        else:
            del at[path[-1]]
    for read in (Histogram._from_uhi_, lambda d: Histogram.load(io.BytesIO(json.dumps(d).encode()))):
        try:
            h = read(document)
        except (MemoryError, ValueError):
            continue
        assert h.size < 1 << 16 or h.storage == "sparse" or not h.tally.samples


def test_no_files():
    for data in (b"", b"{", b"[]", b"{}", b"junk", b"{" * 100000, Histogram(Regular(3, 0, 1))._save(1)[:-3]):
        with pytest.raises(ValueError):
            Histogram.load(io.BytesIO(data))
    with pytest.raises(OSError):
        Histogram.load("/nowhere/at/all")


def test_misuse():
    raw = Histogram.__new__(Histogram)
    for use in (lambda: raw.fill(1), lambda: raw._read(0, False), lambda: raw._merge(raw), lambda: raw._clone(),
                lambda: raw._save(0), lambda: raw._tally()):
        with pytest.raises(ValueError, match="never made"):
            use()
    with pytest.raises(TypeError):
        Histogram(3)
    with pytest.raises(ValueError):
        Histogram()
    with pytest.raises(ValueError, match="storage"):
        Histogram(Regular(2, 0, 1), storage="none")
    with pytest.raises(ValueError):
        Histogram(Regular(2, 0, 1), batch=0)
    with pytest.raises(ValueError):
        Histogram(*(Regular(2, 0, 1) for _ in range(9)))
    with pytest.raises((MemoryError, ValueError)):
        Histogram(*(Regular(1 << 20, 0, 1) for _ in range(3)))
    h = Histogram(Regular(2, 0, 1))
    for wrong in ("a", object(), 1j, [1, "a"], np.array([1j])):
        with pytest.raises(TypeError):
            h.fill(wrong)
    with pytest.raises(ValueError):
        h._make((Regular(2, 0, 1)._tuple,), (), 0, 0, False)
    with pytest.raises(TypeError):
        hash(h)


def test_leaks():
    def work():
        h = Histogram(Regular(10, 0, 1, name="x"), Category(["a"], growth=True))
        h.fill([0.5, 0.1], ["a", "b"]).fill([0.5, 0.2], "c", mask=[0, 1])
        for bad in (lambda: h.fill(1), lambda: h.fill([1, 2], ["a"] * 3), lambda: h.fill(object(), "a")):
            with pytest.raises((TypeError, ValueError)):
                bad()
        g = (h + h)[:, "a"].project(0) * 2
        pickle.loads(pickle.dumps(g))
        Histogram(g).quantiles(0.5)
        g.summarize(), g.values(True), g.occupied(), g.tally, g.plan
        return weakref.ref(h)

    resource = pytest.importorskip("resource")
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB, on macOS bytes
    assert work()() is None
    for _ in range(50):
        work()
    gc.collect()
    objects, before = len(gc.get_objects()), peak()
    for _ in range(500):
        work()
    gc.collect()
    assert len(gc.get_objects()) - objects < 50
    assert (peak() - before) // (1024 if sys.platform == "darwin" else 1) < 1024


# ---- Threads ----


def in_threads(*works):
    """Run them at once, all but the first again and again until that returns."""
    stop, errors = threading.Event(), []

    def repeat(work):
        try:
            while not stop.is_set():
                work()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=repeat, args=(work,)) for work in works[1:]]
    for thread in threads:
        thread.start()
    try:
        works[0]()
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert not errors and not any(thread.is_alive() for thread in threads), errors


def test_threads_share_a_histogram():
    h = Histogram(Regular(16, 0, 1), Category(growth=True))
    x = np.random.default_rng(1).random(20000)
    names = [[f"c{(i * 7 + t) % 9}" for i in range(len(x))] for t in range(4)]
    stop = threading.Event()
    errors = []

    def fill(t):
        try:
            for part in range(0, len(x), 500):
                h.fill(x[part : part + 500], names[t][part : part + 500])
        except Exception as error:
            errors.append(error)

    def read():
        try:
            while not stop.is_set():
                h.values(), h.tally, h.copy()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=fill, args=(t,)) for t in range(4)] + [threading.Thread(target=read)]
    for thread in threads:
        thread.start()
    for thread in threads[:-1]:
        thread.join()
    stop.set()
    threads[-1].join()
    assert not errors and h.sum() == 80000 and sorted(h.axes[1].categories) == [f"c{i}" for i in range(9)]
    assert h.values().sum(axis=1).tolist() == (4 * np.histogram(x, 16, (0, 1))[0]).tolist()


def test_threads_read_what_grows():
    h = Histogram(Category(["5"], growth=True), Regular(4, 0, 1), storage="exact_weight")
    names, x = [str(i) for i in range(2000)], np.full(4, 0.5)

    def grow():
        for i in range(0, 2000, 4):
            h.fill(names[i : i + 4], x, weight=1)

    def read():
        assert h[histo.loc("5"), :].axes.size == (4,)
        assert len(h[:, ::sum].values(flow=True)) <= h.axes[0].size
        for made in (pickle.loads(pickle.dumps(h)), Histogram(h), Histogram._from_uhi_(h._to_uhi_()), h.project(0, 1)):
            assert made.sum().value == sum(made.entries().ravel()) == made.tally.samples
        values, *edges = h.to_numpy()
        assert values.shape == tuple(len(e) - 1 for e in edges)
        h.to_xarray(), h.density(), h._repr_html_()

    in_threads(grow, read, read)
    assert h.sum() == (2000, 2000)


@pytest.mark.parametrize("storage", ["int64", "weight", "exact_double"])
def test_threads_change_what_is_filled(storage):
    """Scaling, subtraction and assignment lose no fill."""
    h = Histogram(Regular(2, 0, 1), Category(growth=True), storage=storage)

    def fill():
        for i in range(3000):
            h.fill([0.1, 0.9], str(i % 50))

    def scale():
        h.__imul__(1)

    def assign():
        h.fill(0.5, "set")
        h[1, "set"] = 7

    in_threads(fill, scale, assign)
    assert h[:, [str(i) for i in range(50)]].sum() in (6000, (6000, 6000))
    assert h[1, "set"] in (7, (7, 7))


def test_integers_beyond_doubles():
    """An axis does not begin or end elsewhere."""
    for lo, hi in (-2**53, -2**53 + 4), (2**53 - 4, 2**53):
        assert Histogram(Integer(lo, hi)).fill(np.arange(lo, hi)).values().tolist() == [1] * 4
    with pytest.raises(ValueError, match=r"lo of an integer axis .* not -9007199254740993"):
        Integer(-2**53 - 1, -2**53 + 3)
    with pytest.raises(ValueError, match=r"hi of an integer axis .* not 9007199254740993"):
        Integer(2**53 - 3, 2**53 + 1)
    with pytest.raises(ValueError, match="lo of an integer axis"):
        Integer(-10**400, 0)


@pytest.mark.parametrize("storage", STORAGES)
def test_counts_do_not_wrap(storage):
    """All counts add up to less than 2^64."""
    counts = Histogram(Integer(0, 2))
    counts[:] = np.array([2**63 - 1, 5], "u8")
    h = counts.astype(storage)
    before = h.copy()
    with pytest.raises(ValueError, match="2\\^64"):
        h += h
    if storage != "int64":  # whose difference is 0
        with pytest.raises(ValueError, match="2\\^63"):
            h -= h
    assert h == before
    if storage == "int64":
        h[:] = np.array([2**63, 5], "u8")
        assert h[0] == 2**63
        for read in (h.values, h.sum, lambda: h.values(flow=True)):
            with pytest.raises(ValueError, match="2\\^63"):
                read()
        h[:] = np.array([2**62, 2**62], "u8")
        assert h.sum() == 2**63
        batch = Histogram(Integer(0, 3), batch=1)
        batch[:] = np.full((1, 3), 2**62)
        with pytest.raises(ValueError, match="2\\^63"):
            batch.sum()


def test_threads_use_each_other():
    """No two wait for each other."""
    a, b = (Histogram(Category(["x"], growth=True), Regular(2, 0, 1)) for _ in range(2))  # sums of them stay 0

    def work(x, y):
        def both():
            x.__iadd__(y)
            x.__isub__(y.copy() * 0)
            x[...] = y
            assert isinstance(x == y, bool)

        return both

    in_threads(lambda: [work(a, b)() for _ in range(200)], work(b, a), work(a, b))


def test_threads_add_each_other():
    a, b = Histogram(Regular(4, 0, 1)).fill(0.1), Histogram(Regular(4, 0, 1)).fill(0.9)
    threads = [threading.Thread(target=lambda x=x, y=y: [x._merge(y) for _ in range(20)]) for x, y in ((a, b), (b, a))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.skipif(not hasattr(sys, "_is_gil_enabled"), reason="this Python always has the GIL")
def test_no_gil():
    assert not sys._is_gil_enabled() or "free-threading" not in sys.version


def test_values_into_an_array():
    h = Histogram(Regular(5, 0, 1), Integer(0, 3), batch=2)
    h.fill(np.random.default_rng(1).random((2, 100)), np.random.default_rng(2).integers(0, 3, (2, 100)))
    for dtype in ("i8", "u8", "u4", "f4", "f8"):
        out = np.zeros((2, 5, 3), dtype)
        assert h.values(out=out) is out and np.array_equal(out, h.values())
        assert h.entries(out=out) is out and np.array_equal(out, h.values())
    for out in (np.zeros((2, 5, 4)), np.zeros((2, 5, 6))[..., ::2], np.zeros((2, 5, 3), "i2")):
        with pytest.raises(ValueError):
            h.values(out=out)
    fixed = np.zeros((2, 5, 3))
    fixed.flags.writeable = False
    for out in (fixed, bytes(240), [[0.0]]):
        with pytest.raises((ValueError, TypeError)):
            h.values(out=out)
    with pytest.raises(ValueError, match="without flow"):
        h.values(flow=True, out=np.zeros((2, 8, 6)))


def test_sparse_histograms_that_grow_are_compared():
    first, same, other = (histo.Histogram(histo.Category([0], growth=True), storage="sparse") for _ in range(3))
    first.fill([0, 1, 1, 5])
    same.fill([0, 1, 1, 5])
    other.fill([0, 1, 5, 5])
    assert first == same == first.copy() and first != other
