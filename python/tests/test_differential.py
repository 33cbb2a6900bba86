"""Random calls, whose edges are compared with NumPy's, and counts with exact arithmetic: NumPy rounds 64-bit integers,
and where the bins of its formula are off, it moves samples by one bin at most."""

import bisect
import os
import pickle
from fractions import Fraction

import hypothesis
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import histo

hypothesis.settings.register_profile(
    "histo", max_examples=int(os.environ.get("HISTO_EXAMPLES", 300)), deadline=None, derandomize=True
)
hypothesis.settings.load_profile("histo")

INTEGERS = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"]
FLOATS = ["f2", "f4", "f8"]
SPECIAL = [0.0, -0.0, 1.0, 0.1, 0.5, -1.0, 1e-30, 2.0**53, np.inf, -np.inf, np.nan]


@st.composite
def samples(draw, dtypes=(*INTEGERS, *FLOATS), finite=False, shape=None):
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    if dtype.kind == "f":
        width = 8 * dtype.itemsize
        with np.errstate(over="ignore"):
            special = [x for x in SPECIAL if (not finite or np.isfinite(x)) and np.isnan(x) | (dtype.type(x) == x)]
        # Up to 2^30, so that no rule of NumPy overflows; with equal neighbours and ties.
        limit = 2.0 ** min(width / 2 - 2, 30)
        elements = st.one_of(
            st.sampled_from(special),
            st.integers(-8, 8).map(float),
            st.floats(-limit, limit, width=width, allow_subnormal=False),
        )
    else:
        limits = np.iinfo(dtype)
        small = st.integers(max(limits.min, -10), 10)
        elements = st.one_of(small, st.integers(limits.min, limits.max))
    if shape is None:
        shape = draw(arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=40))
    a = draw(arrays.arrays(dtype, shape, elements=elements))
    if a.ndim and draw(st.booleans()):
        a = a[::-1] if draw(st.booleans()) else a.T
    return a.astype(a.dtype.newbyteorder(draw(st.sampled_from("<>"))), order="K")


bins = st.integers(1, 40)
ranges = st.one_of(
    st.none(),
    st.tuples(st.integers(-20, 5), st.integers(6, 300)),
    st.tuples(st.floats(-20, 0), st.floats(0.01, 300)),
    st.tuples(st.floats(-20, 0, width=32).map(np.float32), st.floats(1, 300, width=32).map(np.float32)),
)
edge_lists = st.one_of(
    st.lists(st.one_of(st.integers(-300, 300), st.floats(-300, 300)), min_size=1, max_size=30),
    st.lists(st.integers(-(2**60), 2**60), min_size=2, max_size=10),
    st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 1.0, np.inf]), min_size=2, max_size=8),
).map(sorted)


def exact(x):
    return x if isinstance(x, float) and not np.isfinite(x) else Fraction(x)


def judge(a, edges, weights=None):
    """underflow, counts, overflow, NaN, by comparisons of exact numbers."""
    edges = [exact(e) for e in edges.tolist()]
    slots = [0] * (len(edges) + 2)
    for x, w in zip(a.ravel().tolist(), [1] * a.size if weights is None else weights.ravel().tolist()):
        if x != x:
            slots[-1] += w
            continue
        x = exact(x)
        slot = bisect.bisect_right(edges, x)
        if x == edges[-1]:
            slot = len(edges) - 1
        slots[slot] += w
    return slots


def outcome(function, *args, **kwargs):
    """What a call returns, or which exception it raises."""
    with np.errstate(all="ignore"):
        try:
            return function(*args, **kwargs)
        except (ValueError, TypeError) as error:
            return type(error), str(error)


def is_error(result):
    return isinstance(result, tuple) and isinstance(result[0], type)


def beyond_doubles(a):
    return a.dtype.kind in "iu" and a.size and max(-int(a.min()), int(a.max())) > 2**53


def check_edges(ours, numpys, a):
    if beyond_doubles(a):
        np.testing.assert_allclose(ours.astype(float), numpys.astype(float), rtol=1e-15)
    else:
        assert ours.dtype == numpys.dtype
        np.testing.assert_array_equal(ours, numpys)


@given(samples(), bins, ranges)
def test_equal_bins(a, bins, range):
    numpys = outcome(np.histogram, a, bins, range)
    ours = outcome(histo.histogram, a, bins, range)
    if is_error(numpys) or is_error(ours):
        assert ours == numpys or beyond_doubles(a)
        return
    check_edges(ours[1], numpys[1], a)
    assert ours[0].dtype == numpys[0].dtype
    slots = judge(a, ours[1])
    assert ours[0].tolist() == slots[1:-2]
    assert histo.histogram(a, bins, range, flow=True)[0].tolist() == slots
    np.testing.assert_array_equal(histo.histogram_bin_edges(a, bins, range), ours[1])


@given(samples(), edge_lists)
def test_edges(a, edges):
    numpys = np.histogram(a, edges)
    ours = histo.histogram(a, edges)
    np.testing.assert_array_equal(ours[1], numpys[1])
    assert ours[0].dtype == numpys[0].dtype and ours[1].dtype == numpys[1].dtype
    if len(edges) > 1:
        assert ours[0].tolist() == judge(a, ours[1])[1:-2]
        np.testing.assert_array_equal(histo.histogram(a, np.array(edges))[0], ours[0])


@given(
    st.lists(st.integers(-1000, 1000).map(lambda i: i / 16), max_size=200),
    st.sampled_from(["auto", "fd", "sturges", "sqrt", "rice"]),
)
def test_rules(a, rule):
    numpys, ours = outcome(np.histogram, a, rule), outcome(histo.histogram, a, rule)
    np.testing.assert_array_equal(ours[1], numpys[1])
    np.testing.assert_array_equal(ours[0], numpys[0])


@given(st.data())
def test_integer_weights_are_exact(data):
    a = data.draw(samples(["f8", "i2"], finite=True, shape=st.integers(1, 60)))
    w = data.draw(arrays.arrays(st.sampled_from(["i1", "u2", "i8", "u8"]), a.shape))
    n, edges = histo.histogram(a, 5, (-10, 10), weights=w)
    expected = judge(a, edges, w)[1:-2]
    assert [int(x) % 2**64 for x in n] == [x % 2**64 for x in expected]


@given(st.data())
def test_float_weights(data):
    a = data.draw(samples(["f8", "i2"], finite=True, shape=st.integers(1, 60)))
    w = data.draw(samples(["f4", "f8"], finite=True, shape=a.shape))
    ours, numpys = histo.histogram(a, 5, (-10, 10), weights=w), np.histogram(a, 5, (-10, 10), weights=w)
    assert ours[0].dtype == numpys[0].dtype
    scale = float(np.abs(w.astype(float)).sum())
    precision = 1e-13 if w.dtype.itemsize == 8 else 1e-5
    np.testing.assert_allclose(ours[0].astype(float), [float(x) for x in judge(a, ours[1], w)[1:-2]], atol=precision * scale)


@given(samples(INTEGERS[:4], shape=st.integers(0, 100)), st.integers(0, 50), st.booleans())
def test_bincount(x, minlength, weighted):
    w = np.arange(x.size) if weighted else None
    numpys, ours = outcome(np.bincount, x, w, minlength), outcome(histo.bincount, x, w, minlength)
    if is_error(numpys) or is_error(ours):
        assert ours == numpys
        return
    assert ours.dtype == numpys.dtype
    np.testing.assert_array_equal(ours, numpys)


@given(st.data())
def test_several_axes(data):
    dimensions = data.draw(st.integers(1, 3))
    n = data.draw(st.integers(0, 60))
    columns = [data.draw(samples(["f4", "f8", "i2", "u1"], finite=True, shape=n)) for _ in range(dimensions)]
    if data.draw(st.booleans()):
        columns = np.stack(columns, axis=1)
    each = [data.draw(st.one_of(st.integers(1, 6), edge_lists.filter(lambda e: len(e) > 1))) for _ in range(dimensions)]
    limits = [data.draw(st.one_of(st.none(), st.just((-3, 3)))) for _ in range(dimensions)]
    numpys, ours = outcome(np.histogramdd, columns, each, limits), outcome(histo.histogramdd, columns, each, limits)
    if is_error(numpys) or is_error(ours):
        assert ours == numpys
        return
    for a, b in zip(ours[1], numpys[1]):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    assert ours[0].dtype == numpys[0].dtype
    np.testing.assert_array_equal(ours[0], numpys[0])


# ---- Histogram ----

regular = st.builds(histo.Regular, st.integers(1, 9), st.floats(-9, 0), st.floats(0.5, 9), closed=st.booleans())
variable = st.builds(
    histo.Variable,
    st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.1, 0.5, 1.0, np.inf]), min_size=2, max_size=6).map(sorted),
    closed=st.booleans(),
    underflow=st.booleans(),
)
integer = st.builds(histo.Integer, st.integers(-9, 0), st.integers(1, 9), overflow=st.booleans())
uneven = st.one_of(
    st.builds(histo.Log, st.integers(1, 9), st.floats(1e-3, 1), st.floats(2, 99)),
    st.builds(histo.Sqrt, st.integers(1, 9), st.floats(0, 1), st.floats(2, 99)),
    st.builds(histo.Power, st.integers(1, 9), st.floats(0.1, 1), st.floats(2, 99), st.sampled_from([-2, -0.5, 0.25, 3])),
)
numbers = st.one_of(regular, variable, integer, uneven)
categories = st.builds(histo.Category, st.sets(st.integers(-3, 3), min_size=1).map(list), growth=st.booleans())
values = st.one_of(st.sampled_from(SPECIAL), st.integers(-9, 9).map(float), st.floats(-10, 100, width=32))


def slot_of(axis, x):
    """underflow, the bins, overflow, NaN, by comparisons of exact numbers."""
    if isinstance(axis, histo.Category):
        known = axis.categories
        return known.index(x) + 1 if x in known else len(known) + 1
    edges = [exact(e) for e in axis.edges.tolist()]
    if x != x:
        return len(edges) + 1
    x = exact(x)
    if axis._tuple[1] and x == edges[-1]:
        return len(edges) - 1
    return bisect.bisect_right(edges, x)


@given(st.data())
def test_histogram(data):
    """Fills in pieces, with masks, range filters and exact weights, and what is read of them afterwards."""
    axes = data.draw(st.lists(st.one_of(numbers, categories), min_size=1, max_size=3))
    h = histo.Histogram(*axes, storage=data.draw(st.sampled_from(["int64", "weight", "exact_weight", "sparse"])))
    fills = []
    for _ in range(data.draw(st.integers(0, 3))):
        n = data.draw(st.integers(0, 12))
        several = [data.draw(st.lists(st.integers(-4, 4) if isinstance(axis, histo.Category) else values, min_size=n,
                                      max_size=n)) for axis in axes]
        whole = st.lists(st.integers(-3, 3), min_size=n, max_size=n)
        weight = data.draw(whole) if h.storage in ("weight", "exact_weight") else None
        mask, where = data.draw(st.one_of(st.none(), whole)), data.draw(st.one_of(st.none(), whole))
        h.fill(*(np.array(x, int if isinstance(axis, histo.Category) else float) for x, axis in zip(several, axes)),
               weight=weight, mask=mask, where=None if where is None else (np.array(where, "i2"), -1, 2))
        kept = [(mask is None or mask[i] != 0) and (where is None or -1 <= where[i] <= 2) for i in range(n)]
        fills += zip(zip(*several), weight or [1] * n, kept)
    shape = tuple(axis._tuple[2] + 3 for axis in h.axes)
    counts, sums, squares = np.zeros(shape, int), np.zeros(shape), np.zeros(shape)
    for x, weight, kept in fills:
        slot = tuple(slot_of(axis, one) for axis, one in zip(h.axes, x))
        counts[slot] += kept
        sums[slot] += weight * kept
        squares[slot] += weight**2 * kept
    assert h.masked == sum(not kept for _, _, kept in fills) and h.tally.samples == len(fills)
    if h.storage == "sparse":
        places, found = h.occupied(flow=True)
        assert (counts[places] == found).all() and found.sum() == counts.sum()
    else:
        full = h._slots()
        np.testing.assert_array_equal(full.counts, counts)
        for lane, want in zip(full[1:], (sums, squares)):
            assert lane is None or (lane == want).all()
    assert pickle.loads(pickle.dumps(h)) == h == h.copy() == histo.Histogram(h)
    if h.storage != "sparse" or all(axis.traits.underflow and axis.traits.overflow for axis in h.axes):
        assert histo.Histogram(h._to_uhi_()) == h
    keep = data.draw(st.permutations(range(len(axes))))[: data.draw(st.integers(1, len(axes)))]
    shown = counts
    for i, axis in enumerate(h.axes):
        hidden = [] if axis.traits.underflow else [0]
        hidden += [] if axis.traits.overflow else [-2, -1]
        if i not in keep:
            shown = shown.copy()
            shown.swapaxes(0, i)[hidden] = 0
    left = sorted(keep)
    shown = shown.sum(axis=tuple(i for i in range(len(axes)) if i not in keep)).transpose([left.index(i) for i in keep])
    places, found = h.project(*keep).occupied(flow=True)
    assert (shown[places] == found).all() and found.sum() == shown.sum()
