"""Indexing, compared with boost-histogram's and with sums over arrays of slots."""

import boost_histogram as bh
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import histo
from histo import Category, Histogram, Integer, Regular, Variable, at, loc, overflow, rebin, underflow


def filled(storage):
    """Ours and boost-histogram's, with another value in every slot."""
    ours = [Regular(6, 0, 3), Variable([0, 1, 2.5, 4, 8]), Integer(-1, 4)]
    theirs = [bh.axis.Regular(6, 0, 3), bh.axis.Variable([0, 1, 2.5, 4, 8]), bh.axis.Integer(-1, 4)]
    b = bh.Histogram(*theirs, storage=bh.storage.Int64() if storage == "int64" else bh.storage.Double())
    values = np.arange(b.view(flow=True).size).reshape(b.view(flow=True).shape)
    b[...] = values
    h = Histogram(*ours, storage=storage)
    h[...] = values
    return h, b


PAIRS = {storage: filled(storage) for storage in ("int64", "double")}


@st.composite
def one_index(draw, size, low, high, values=st.floats):
    """The index of an axis, for both."""
    place = st.one_of(
        st.integers(-size, size - 1),
        values(low, high).map(lambda x: (loc(x), bh.loc(x))),
        st.integers(0, size - 1).map(lambda i: (at(i), i)),
    )
    kind = draw(st.sampled_from(["all", "sum", "len", "pick", "flow", "slice", "rebin", "range"]))
    if kind == "all":
        return slice(None), slice(None)
    if kind == "sum":
        return slice(None, None, sum), slice(None, None, sum)
    if kind == "len":
        return slice(0, len, histo.sum), slice(0, len, sum)
    if kind == "pick":
        found = draw(place)
        return found if isinstance(found, tuple) else (found, found)
    if kind == "flow":
        return draw(st.sampled_from([(underflow, bh.underflow), (overflow, bh.overflow)]))
    begin, end = sorted(draw(st.tuples(st.integers(0, size), st.integers(0, size)).filter(lambda p: p[0] != p[1])))
    begin, end = draw(st.sampled_from([begin, None])), draw(st.sampled_from([end, None]))
    if kind == "slice":
        return slice(begin, end), slice(begin, end)
    if kind == "range":
        return slice(begin, end, sum), slice(begin, end, sum)
    most = (size if end is None else end) - (begin or 0)
    factor = draw(st.integers(1, most))
    return slice(begin, end, rebin(factor)), slice(begin, end, bh.rebin(factor))


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(sorted(PAIRS)),
       st.tuples(one_index(6, -1, 3.0), one_index(4, -1, 9.0), one_index(5, -3, 7, st.integers)))
def test_as_boost_histogram(storage, index):
    h, b = PAIRS[storage]
    ours = h[tuple(i for i, _ in index)]
    if getattr(getattr(index[2][0], "step", None), "factor", 1) > 1:
        return  # boost-histogram merges no integers
    theirs = b[tuple(i for _, i in index)]
    if isinstance(theirs, bh.Histogram):
        np.testing.assert_array_equal(ours.values(flow=True), theirs.values(flow=True))
        for mine, its in zip(ours.axes, theirs.axes, strict=True):
            np.testing.assert_allclose(mine.edges, its.edges)
    else:
        assert ours == theirs
    assert h.values(flow=True).sum() == b.sum(flow=True)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-3, 8), max_size=6), st.integers(0, 5), st.integers(0, 6), st.booleans())
def test_setting(values, begin, end, weighted):
    h = Histogram(Regular(6, 0, 3), storage="double" if weighted else "int64")
    before = h.values(flow=True)
    n = len(range(begin, end))
    try:
        h[begin:end] = values
    except (IndexError, ValueError):
        assert n == 0 or len(values) not in (1, n) or min(values) < 0 and not weighted
        assert h.values(flow=True).tolist() == before.tolist()
        return
    before[begin + 1 : end + 1] = values
    assert h.values(flow=True).tolist() == before.tolist()


def test_nan_is_overflow():
    h = Histogram(Regular(2, 0, 2), Regular(2, 0, 2)).fill([np.nan, 5, 1, np.nan], [1, np.nan, np.nan, 9])
    assert h.tally.nan == (2, 2)
    assert h[overflow, 1] == 1 and h[overflow, overflow] == 2 and h[1, overflow] == 1
    assert h[sum, :].values(flow=True).tolist() == [0, 0, 1, 3]
    assert h[sum, :].tally.nan == (2,) and h.project(1)[overflow] == 3
    assert h[0:1, :].tally.nan == (2, 2)


def test_categories():
    h = Histogram(Category(["a", "b", "c"], name="k"), Regular(2, 0, 1)).fill(["a", "b", "b", "x"], [0, 0, 0.5, 0.5])
    assert h["b", :].values().tolist() == [1, 1] and h[loc("a"), 0] == 1 and h["b", 0.6j] == 1
    chosen = h[["c", "b"], :]
    assert chosen.axes[0].categories == ["c", "b"] and chosen.values(flow=True).sum() == 3
    assert h[1:3, :].axes[0].categories == ["b", "c"]
    assert h[{"k": overflow, 1: sum}] == 1 and h[sum, sum] == 4 and h[0:len:sum, sum] == 3
    for wrong in ("x", loc("x"), 3, -4, underflow, 1.5, [7], rebin(2), slice(3, 3), slice(None, None, 2), ...,
                  object()):
        with pytest.raises((IndexError, KeyError, TypeError)):
            h[wrong, :] if wrong is not ... else h[..., ..., 0]
    for wrong in ((0,), (0, 0, 0), {"z": 1}, {5: 1}):
        with pytest.raises((IndexError, KeyError)):
            h[wrong]


def test_groups():
    h = Histogram(Regular(6, 0, 6))
    h[...] = np.arange(8)
    for step in (rebin(groups=[1, 2, 3]), rebin(edges=[0, 1, 3, 6])):
        g = h[::step]
        assert g.axes[0].edges.tolist() == [0, 1, 3, 6] and g.values(flow=True).tolist() == [0, 1, 5, 15, 7]
    assert h[:: rebin(groups=[1, 2])].values(flow=True).tolist() == [0, 1, 5, 22]
    assert h[2 : 5 : rebin(groups=[1, 2])].values(flow=True).tolist() == [3, 3, 9, 13]
    assert h[::2j] == h[:: rebin(2)]
    for wrong in (dict(groups=[0, 6]), dict(groups=[7]), dict(edges=[0, 1]), dict(edges=[0, 0.5, 6])):
        with pytest.raises(ValueError):
            h[:: rebin(**wrong)]
    for wrong in ({}, dict(factor=1, groups=[1]), dict(factor=0), dict(factor=1.5)):
        with pytest.raises((TypeError, ValueError)):
            rebin(**wrong)


def test_hidden_flow():
    h = Histogram(Regular(2, 0, 2, underflow=False, name="x"), Regular(2, 0, 2, name="y"))
    h.fill([-1, 0, 1, 5], [0, 0, 1, 1])
    assert h.values(flow=True).shape == (3, 4) and h.sum(flow=True) == 3 + 0 * h.tally.flow
    assert h.project("y").values().tolist() == [1, 2] and h[sum, :].values().tolist() == [1, 2]
    assert h[sum, sum] == 3
    with pytest.raises(IndexError):
        h[underflow, 0]


def test_locators():
    a = Regular(10, 0, 1)
    assert (loc(0.5) + 2)(a) == 7 and (loc(0.5) - 2)(a) == 3 and (overflow - 1)(a) == 9 and (underflow + 1)(a) == 0
    assert repr(loc(0.5) + 2) == "loc(0.5) + 2" and repr(overflow) == "overflow" and repr(at(3)) == "at(3)"
    assert loc(1) == loc(1) != loc(2) and len({loc(1), loc(1), underflow}) == 2
    assert repr(rebin(2)) == "rebin(2)"
