"""Axes that grow or are circular, and selection by lists and arrays of bools, beside boost-histogram's."""

import copy
import io
import itertools
import math
import pickle
from fractions import Fraction

import boost_histogram as bh
import numpy as np
import pytest

import histo
from histo import Boolean, Category, Histogram, Integer, Regular, Variable

RNG = np.random.default_rng(34)
STORAGES = ["int64", "double", "weight", "exact_weight", "sparse", "mean"]


def filled(*axes, storage="int64", samples=(), **options):
    more = {"sample": np.ones(np.shape(samples[0]))} if storage == "mean" else {}
    return Histogram(*axes, storage=storage).fill(*samples, **more, **options)


def traits_of(axis):
    return histo.Traits(*(getattr(axis.traits, field) for field in histo.Traits._fields))


# ---- Growth


@pytest.mark.parametrize("storage", STORAGES)
def test_regular_axes_grow(storage):
    h = filled(Regular(4, 0, 1, growth=True), storage=storage, samples=([0.1, 0.3, 0.3],))
    edges = h.axes[0].edges
    more = {"sample": [1, 1, 1, 1, 1]} if storage == "mean" else {}
    h.fill([-0.3, 1.6, np.nan, np.inf, -np.inf], **more)
    assert repr(h.axes[0]) == "Regular(9, -0.5, 1.75, growth=True)"
    assert np.isin(edges, h.axes[0].edges).all()
    counts = h.entries() if storage != "sparse" else h.values()
    assert counts.tolist() == [1, 0, 1, 2, 0, 0, 0, 0, 1]
    assert h.tally == histo.Tally(8, 0, 5, 3, (1,), (1,), (1,))
    b = bh.Histogram(bh.axis.Regular(4, 0, 1, growth=True)).fill([0.1, 0.3, 0.3, -0.3, 1.6, np.nan, np.inf, -np.inf])
    if storage == "int64":
        assert (h.values(flow=True) == b.values(flow=True)).all()


def test_edges_stay_to_the_bit():
    """boost-histogram computes them anew, so that the edge 0 becomes 4e-16."""
    h = Histogram(Regular(10, 0, 1, growth=True))
    samples = RNG.normal(size=3000) * 3
    for part in np.array_split(samples, 30):
        h.fill(part)
    axis = h.axes[0]
    first = np.searchsorted(axis.edges, 0)
    assert axis.edges[first : first + 11].tobytes() == np.linspace(0, 1, 11).tobytes()
    assert (h.values() == np.histogram(samples, axis.edges)[0]).all()
    assert axis.edges[0] <= samples.min() < axis.edges[1]
    assert axis.edges[-2] <= samples.max() < axis.edges[-1]
    once = Histogram(Regular(10, 0, 1, growth=True)).fill(samples)
    assert once == h


@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "u8", "f4", "f8", "?"])
def test_integer_axes_grow(dtype):
    samples = np.array([0, 1, 7, 100, 3] if dtype != "?" else [0, 1, 1, 0, 1]).astype(dtype)
    h = Histogram(Integer(3, 5, growth=True)).fill(samples)
    b = bh.Histogram(bh.axis.Integer(3, 5, growth=True)).fill(samples.astype(int))
    assert h.axes[0].traits == traits_of(b.axes[0])
    assert (h.values(flow=True) == b.values(flow=True)).all()
    assert (h.axes[0].bin(0), h.axes[0].size) == (b.axes[0].bin(0), b.axes[0].size)
    assert Histogram(Integer(0, 1, growth=True)).fill([-0.5, 1.5]).axes[0] == Integer(-1, 2, growth=True)
    far = Histogram(Integer(0, 2, growth=True))
    with pytest.raises(MemoryError, match="does not grow to 4611686018427387904"):
        far.fill(np.array([2**62]))
    assert far == Histogram(Integer(0, 2, growth=True))


def test_samples_that_are_left_out_do_not_let_axes_grow():
    h = Histogram(Regular(2, 0, 1, growth=True)).fill([0.1, 5, 7, 9], mask=[1, 0, 1, 1], where=([1, 1, 1, 5], 0, 2))
    assert (h.axes[0].edges[-1], h.masked) == (7.5, 2)
    h = Histogram(Integer(0, 2, growth=True)).fill(np.ma.array([1, 50, 3], mask=[0, 1, 0]))
    assert h.axes[0] == Integer(0, 4, growth=True)


@pytest.mark.parametrize("storage", STORAGES)
def test_several_axes_grow(storage):
    x, y, kind = RNG.normal(size=200), RNG.integers(-5, 5, 200), RNG.choice(["a", "b", "c"], 200)
    axes = Regular(3, 0, 1, growth=True), Integer(0, 1, growth=True), Category([], growth=True)
    h, whole = (filled(*map(copy.copy, axes), storage=storage, samples=(x[:k], y[:k], kind[:k])) for k in (20, 200))
    more = {"sample": np.ones(180)} if storage == "mean" else {}
    h.fill(x[20:], y[20:], kind[20:], **more)
    assert h == whole
    assert h.tally.bins == 200
    assert (h + h).tally.bins == 400


@pytest.mark.parametrize("storage", STORAGES)
def test_grown_histograms_are_added(storage):
    parts = [[0.1, 0.2], [-3.0, 0.3], [5.5], [0.5]]
    for axis in (Regular(7, 0, 1, growth=True), Integer(0, 2, growth=True)):
        whole = filled(copy.copy(axis), storage=storage, samples=(np.concatenate(parts),))
        for order in itertools.permutations(parts):
            each = [filled(copy.copy(axis), storage=storage, samples=(part,)) for part in order]
            assert sum(each[1:], each[0]) == whole
    a = Histogram(Regular(2, 0, 1, growth=True)).fill(3)
    for other in (Regular(2, 0, 2, growth=True), Regular(2, 0, 1), Integer(0, 1, growth=True)):
        before = a.copy()
        with pytest.raises(ValueError, match="have equal axes"):
            a += Histogram(other)
        assert a == before


def test_growth_is_kept():
    x = RNG.normal(size=100)
    for axis in (Regular(10, 0, 1, growth=True, name="x"), Regular(4, 0, 1, growth=True), Integer(0, 2, growth=True)):
        h = Histogram(axis).fill(x)
        file, binary = io.BytesIO(), io.BytesIO()
        h.save(file)
        h.save(binary, "binary")
        for made in (h.copy(), pickle.loads(pickle.dumps(h)), Histogram(h._to_uhi_()), Histogram(h),
                     Histogram.load(io.BytesIO(file.getvalue())), Histogram.load(io.BytesIO(binary.getvalue()))):
            assert made == h
            assert made.fill([50, -50]) == h.copy().fill([50, -50])
        assert h.to_boost().axes[0].traits.growth
        theirs = bh.Histogram(bh.axis.Regular(4, 0, 1, growth=True)).fill(x)
        assert Histogram(theirs).fill(50).axes[0].edges[-1] > 50
    damaged = Histogram(Regular(10, 0, 1, growth=True)).fill(x)._to_uhi_()
    damaged["axes"][0]["writer_info"]["histo"]["steps"][1] = 1.5
    with pytest.raises(ValueError, match="not of its steps"):
        Histogram(damaged)


def test_what_is_cut_of_a_growing_axis_is_flow():
    h = Histogram(Integer(0, 2, growth=True)).fill([-3, 0, 1, 5])
    cut = h[2:5]
    assert cut.axes[0] == Integer(-1, 2)
    assert cut.values(flow=True).tolist() == [1, 0, 1, 1, 1]


def test_a_fill_that_fails_leaves_the_axis():
    for axis in (Regular(2, 0, 1, growth=True), Integer(0, 2, growth=True)):
        h = Histogram(axis, Category(["a"])).fill(0.5, "a")
        before = h.copy()
        for arguments, options in ((([50, -50], ["a", "b", "a"]), {}), (([50.0], "a"), {"weight": "x"}),
                                   (([1e300], "a"), {}), (([-1e9], "a"), {}), ((["x"], "a"), {})):
            with pytest.raises((ValueError, TypeError, MemoryError)):
                h.fill(*arguments, **options)
            assert h == before
    narrow = Histogram(Regular(2, 0, 1e-12, growth=True))
    with pytest.raises((ValueError, MemoryError)):
        narrow.fill(1e6)
    assert narrow.axes[0].size == 2


def test_impossible_axes():
    for call, message in ((lambda: Regular(2, 0, 1, growth=True, circular=True), "not both"),
                          (lambda: Regular(2, 0, 1, growth=True, closed=True), "not closed"),
                          (lambda: Variable([0, 1], circular=True, closed=True), "not closed"),
                          (lambda: Variable([0, np.inf], circular=True), "finite and positive"),
                          (lambda: Variable([1, 1], circular=True), "finite and positive")):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError):
        histo.Log(2, 1, 2, growth=True)


# ---- Circular axes


def bin_of(x, edges):
    """By fractions: the bin of x, moved by whole periods."""
    lo, period = Fraction(edges[0]), Fraction(edges[-1] - edges[0])
    moved = (Fraction(x) - lo) % period + lo
    return min(sum(Fraction(e) <= moved for e in edges) - 1, len(edges) - 2)


@pytest.mark.parametrize("axis", [
    Regular(4, 0, 1, circular=True), Regular(360, -math.pi, math.pi, circular=True), Regular(7, 10, 13.3, circular=True),
    Regular(3, -5, -1, circular=True), Variable([0.1, 0.2, 0.7], circular=True), Integer(3, 8, circular=True),
    Integer(-4, -1, circular=True)], ids=repr)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "i8", "u8", ">f8", "?"])
def test_circular_axes(axis, dtype):
    samples = np.concatenate([RNG.normal(size=300) * 20, np.arange(-50, 50), [1e15, -1e15, -1e-17, 5e-324, 0, -0.0],
                              axis.edges, -axis.edges, axis.edges + 3 * (axis.edges[-1] - axis.edges[0])])
    if dtype[-2:-1] in ("i", "u"):
        samples = np.clip(samples, *((-32768, 32767) if dtype == "i2" else (-(2**60), 2**60)))
    samples = samples.astype(dtype) if dtype[0] not in "u?" else np.abs(samples).astype(dtype)
    edges = axis.edges.tolist()
    expected = [bin_of(x, edges) for x in samples.tolist()]
    assert axis.index(samples).tolist() == expected
    h = Histogram(axis).fill(samples)
    assert h.values().tolist() == np.bincount(expected, minlength=axis.size).tolist()
    assert h.tally.flow == 0


def test_circular_axes_are_those_of_boost_histogram():
    samples = np.array([0.5, 1, 1.6, -0.3, 2.2, -7, np.nan, np.inf, -np.inf])
    for ours, theirs in ((Regular(4, 0, 1, circular=True), bh.axis.Regular(4, 0, 1, circular=True)),
                         (Variable([0, 1, 3], circular=True), bh.axis.Variable([0, 1, 3], circular=True)),
                         (Integer(0, 3, circular=True), bh.axis.Integer(0, 3, circular=True))):
        assert ours.traits == traits_of(theirs)
        counted = samples if ours.traits.continuous else np.arange(-9, 9)
        h, b = Histogram(ours).fill(counted), bh.Histogram(theirs).fill(counted)
        assert (h.values(flow=True) == b.values(flow=True)).all()
        assert Histogram(b) == Histogram(h.to_boost())
        assert Histogram(b).fill(-100).tally.bins == h.tally.bins + 1
        file, binary = io.BytesIO(), io.BytesIO()
        h.save(file)
        h.save(binary, "binary")
        for made in (h.copy(), pickle.loads(pickle.dumps(h)), Histogram(h._to_uhi_()),
                     Histogram.load(io.BytesIO(file.getvalue())), Histogram.load(io.BytesIO(binary.getvalue()))):
            assert made == h
            assert made.axes[0].traits.circular
        assert h[::histo.sum] == h.sum(flow=True)
    h = Histogram(Regular(4, 0, 1, circular=True)).fill([0.1, 1.3])
    halves = h[::histo.rebin(2)]
    assert halves.axes[0] == Regular(2, 0, 1, circular=True)
    assert halves.fill(-0.1).values().tolist() == [2, 1]
    assert repr(h.axes[0]) == "Regular(4, 0, 1, circular=True)"
    for cut in (slice(1, None), slice(0, 2), slice(None, None, histo.rebin(3))):
        with pytest.raises(IndexError, match="not cut"):
            h[cut]
    assert h[0:2:histo.sum] == 2
    with pytest.raises(ValueError, match="not a whole number"):
        Histogram(Regular(4, 0, 0.5, circular=True)).fill(np.array([2**60 + 1]))


def test_maps_are_not_circular():
    with pytest.raises(ValueError, match="no circular axes"):
        histo.Map(Regular(4, 0, 1, circular=True))


@pytest.mark.parametrize("axis", [Regular(10, 0, 1, growth=True), Regular(7, 0, 0.7, circular=True),
                                  Integer(0, 1, growth=True), Integer(0, 5, circular=True)], ids=repr)
def test_means_and_dask(axis):
    import dask.array as da

    x, values = RNG.normal(size=20000) * 3, RNG.normal(size=20000)
    plain = Histogram(copy.copy(axis)).fill(x)
    means = Histogram(copy.copy(axis), storage="mean").fill(x, sample=values)
    assert (means.counts() == plain.values()).all()
    assert means.axes == plain.axes
    few = Histogram(copy.copy(axis), storage="mean")
    for part in np.array_split(np.arange(20000), 4):
        few.fill(x[part], sample=values[part])
    np.testing.assert_allclose(few.variances(), means.variances(), 1e-12)
    assert Histogram(copy.copy(axis)).fill(da.from_array(x, chunks=3000)) == plain
    assert "svg" in means._repr_html_()


# ---- Selection


def test_lists():
    h = Histogram(Integer(3, 7), Regular(4, 0, 1)).fill([3, 4, 4, 6, 99, 1], [0.1, 0.3, 0.6, 0.9, 0.1, 0.1])
    chosen = h[[3, 1], :]
    assert chosen.axes[0] == Category([6, 4])
    assert chosen.values().tolist() == [[0, 0, 0, 1], [0, 1, 1, 0]]
    assert chosen.values(flow=True)[-1].tolist() == [0, 2, 0, 0, 0, 0]
    assert h[:, [1, 2]] == h[:, 1:3]
    assert h[:, [False, True, True, False]] == h[:, 1:3]
    assert h[[True, False, False, True], :] == h[[0, 3], :]
    assert h[[np.True_, np.False_, np.False_, np.True_], :] == h[[0, 3], :]
    kinds = Histogram(Category(["a", "b", "c"])).fill(["a", "a", "c"])
    assert kinds[[True, False, True]] == kinds[["a", "c"]]
    for index, message in (([[0, 2]], "neighbouring"), ([[]], "no bins"), ([[False] * 4], "no bins"),
                           ([[True, False]], "2 bools do not choose bins of an axis of 4"), ([[7]], "bin 7")):
        with pytest.raises(IndexError, match=message):
            h[(slice(None), *index)]
    with pytest.raises(IndexError, match="neighbouring"):
        Histogram(Boolean())[[0]]


def test_arrays_of_bools():
    h = Histogram(Regular(4, 0, 1), Integer(0, 3)).fill(RNG.random(100), RNG.integers(0, 3, 100))
    values = h.values()
    first = np.array([True, False, True, True])
    assert (h[first, :] == values[first]).all()
    assert (h[first, 2] == values[first, 2]).all()
    mask = values > np.median(values)
    assert (h[mask] == values[mask]).all()
    h[mask] = 0
    assert (h.values() == np.where(mask, 0, values)).all()
    h[first, 1] = 7
    assert h.values()[:, 1].tolist()[0] == 7
    alone = Histogram(Regular(4, 0, 1)).fill([0.1, 0.1, 0.6])
    assert alone[alone.values() > 0].tolist() == [2, 1]
    alone[alone.values() > 1] = 9
    assert alone.values().tolist() == [9, 0, 1, 0]
    for index, message in ((np.array([True]), "1 bools"), (np.ones((4, 2), bool), "shape")):
        with pytest.raises(IndexError, match=message):
            h[index] if index.ndim == 2 else h[index, :]
