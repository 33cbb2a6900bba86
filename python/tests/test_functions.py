"""The functions, compared with NumPy's."""

import array
import doctest
import inspect
import warnings

import numpy as np
import pytest

import histo

DTYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"]


def samples(dtype, n=1000, seed=1):
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return random.normal(size=n).astype(dtype)
    low = -100 if np.dtype(dtype).kind == "i" else 0
    return random.integers(low, 100, n).astype(dtype)


def same(ours, numpys):
    """Equal to the bit, dtypes included."""
    if isinstance(numpys, (tuple, list)):
        assert type(ours) is type(numpys) and len(ours) == len(numpys)
        for a, b in zip(ours, numpys):
            same(a, b)
    else:
        assert ours.dtype == numpys.dtype and ours.shape == numpys.shape
        np.testing.assert_array_equal(ours, numpys)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("bins, range", [(10, None), (7, (-1, 2)), ([-1, 0, 0.5, 3], None), (3, (0.25, 0.5))])
def test_histogram(dtype, order, bins, range):
    a = samples(np.dtype(dtype).newbyteorder(order))
    same(histo.histogram(a, bins, range), np.histogram(a, bins, range))
    same(histo.histogram(a[::-3], bins, range), np.histogram(a[::-3], bins, range))
    same(histo.histogram(a, bins, range, density=True), np.histogram(a, bins, range, density=True))
    same(histo.histogram_bin_edges(a, bins, range), np.histogram_bin_edges(a, bins, range))


@pytest.mark.parametrize("weights", ["i8", "u8", "f8", "c16"])
def test_weights(weights):
    a = samples("f8")
    w = np.abs(samples("i4", seed=2)).astype(weights) * (1 + 2j if weights == "c16" else 1)
    same(histo.histogram(a, 10, weights=w), np.histogram(a, 10, weights=w))


@pytest.mark.parametrize("weights, total", [("i1", "i8"), ("u2", "u8"), ("?", "i8"), ("i8", "i8"), ("u8", "u8")])
def test_integer_weights_do_not_wrap(weights, total):
    limit = 1 if weights == "?" else np.iinfo(weights).max // (1 if np.dtype(weights).itemsize < 8 else 4)
    w = np.full(3, limit, weights)
    n, _ = histo.histogram([1, 1, 1], 1, weights=w)
    assert n.dtype == total and n[0] == 3 * int(limit)


@pytest.mark.parametrize("dtype", DTYPES[:8])
def test_bincount(dtype):
    x = np.abs(samples(dtype))
    w = samples("f8")
    same(histo.bincount(x), np.bincount(x))
    same(histo.bincount(x, minlength=200), np.bincount(x, minlength=200))
    np.testing.assert_allclose(histo.bincount(x, w), np.bincount(x, w), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", ["i8", "i4", "<i4", ">u4"])
@pytest.mark.parametrize("n", [1, 3000, 20_000, 500_000])
def test_bincount_of_far_apart(dtype, n):
    """Into a result that the system clears, most of which is not touched."""
    x = np.random.default_rng(2).integers(0, 2_000_000, n).astype(dtype)
    w = np.random.default_rng(3).integers(0, 9, n) / 4
    for numbers in (x, np.repeat(x, 2)[::2]):
        for minlength in (0, 3_000_000):
            same(histo.bincount(numbers, minlength=minlength), np.bincount(numbers, minlength=minlength))
        same(histo.bincount(numbers, w), np.bincount(numbers, w))
    if x.dtype.kind == "i":
        x[-1] = -1
        for minlength in (0, 3_000_000):
            with pytest.raises(ValueError):
                histo.bincount(x, minlength=minlength)


@pytest.mark.parametrize("dtype", ["i8", "i4", "u2"])
def test_bincount_of_many(dtype):
    """The length is guessed from the first numbers."""
    x = np.random.default_rng(2).integers(0, 500, 20_000).astype(dtype)
    w = np.random.default_rng(3).random(x.size)
    for last in (3, 499, 510, 5000, 60_000 if dtype != "u2" else 65_535):
        x[-1] = last
        same(histo.bincount(x), np.bincount(x))
        for minlength in (1, 505, 100_000):
            same(histo.bincount(x, minlength=minlength), np.bincount(x, minlength=minlength))
        np.testing.assert_allclose(histo.bincount(x, w), np.bincount(x, w), rtol=1e-12, atol=1e-12)
    if dtype != "u2":
        x[-1] = -1
        for minlength in (0, 1, 100_000):
            with pytest.raises(ValueError, match="negative"):
                histo.bincount(x, minlength=minlength)



def test_histogramdd():
    a = np.random.default_rng(1).normal(size=(500, 3))
    same(histo.histogramdd(a, (3, 4, 5)), np.histogramdd(a, (3, 4, 5)))
    same(histo.histogramdd(a.T.tolist(), 3), np.histogramdd(a.T.tolist(), 3))
    same(histo.histogram2d(a[:, 0], a[:, 1], 4, [[-1, 1], [0, 1]]), np.histogram2d(a[:, 0], a[:, 1], 4, [[-1, 1], [0, 1]]))


@pytest.mark.parametrize("rule", ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"])
def test_rules(rule):
    a = samples("f8")
    same(histo.histogram(a, rule), np.histogram(a, rule))
    same(histo.histogram(a, rule, (-1, 1)), np.histogram(a, rule, (-1, 1)))


def test_sources():
    expected = np.histogram([1, 2, 4], 3)
    same(histo.histogram(array.array("q", [1, 2, 4]), 3), expected)
    same(histo.histogram(memoryview(array.array("q", [1, 2, 4])), 3), expected)
    same(histo.histogram((1, 2, 4), 3), expected)
    same(histo.histogram(b"\1\2\4", 3), expected)

    class Array:
        owner = np.array([1, 2, 4])
        __array_interface__ = owner.__array_interface__

    same(histo.histogram(Array(), 3), expected)


@pytest.mark.parametrize("bad", ["text", {"a": 1}, np.zeros(2, "i4,f4"), np.array(["a"])])
def test_what_is_no_sample(bad):
    with pytest.raises((TypeError, ValueError)):
        histo.histogram(bad, [0, 1])


def test_bool_warns_where_it_is_called():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        n, _ = histo.histogram([True, False], 2)
    assert n.tolist() == [1, 1] and [w.filename for w in caught] == [__file__]


def test_flow():
    n, edges = histo.histogram([-1, 0, 1, np.nan, 5], [0, 1, 2], flow=True)
    assert n.tolist() == [1, 1, 1, 1, 1]


def test_axis_and_mask():
    a = np.random.default_rng(1).normal(size=(3, 4, 50))
    n, edges = histo.histogram(a, 5, axis=-1)
    assert n.shape == (3, 4, 5)
    np.testing.assert_array_equal(n[1, 2], np.histogram(a[1, 2], edges)[0])
    n, _ = histo.histogram(a, edges, axis=(0, 2))
    np.testing.assert_array_equal(n[1], np.histogram(a[:, 1], edges)[0])
    assert histo.histogram(a, 5, axis=())[0].shape == (3, 4, 50, 5)
    assert histo.histogram(np.zeros((0, 3)), 5, axis=1)[0].shape == (0, 5)
    for axis in (3, -4, (0, 0), (0, -3), 1.5):
        with pytest.raises((ValueError, TypeError)):
            histo.histogram(a, 5, axis=axis)
    mask = a > 0
    same(histo.histogram(a, 5, mask=mask), np.histogram(a[mask], 5))


def test_out():
    out = np.zeros(3)
    n, _ = histo.histogram([1, 2, 2], 3, out=out)
    assert n is out and out.tolist() == [1, 0, 2]
    with pytest.raises(ValueError, match="shape"):
        histo.histogram([1, 2, 2], 4, out=out)


@pytest.mark.parametrize("dtype", ["i8", "u8", "M8[ns]", "m8[ns]"])
@pytest.mark.parametrize("base", [2**61, -(2**61), 1])
def test_whole_numbers_beyond_doubles(dtype, base):
    if np.dtype(dtype).kind == "u" and base < 0:
        return
    random = np.random.default_rng(1)
    edges = (base + np.array([0, 3, 4, 4, 9, 2**50])).astype(dtype)
    a = (base + random.integers(-3 if base > 1 or dtype[0] != "u" else 0, 12, 1000)).astype(dtype)
    same(histo.histogram(a, edges), np.histogram(a, edges))
    assert histo.histogram(a, edges, flow=True)[0].sum() == 1000


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
@pytest.mark.parametrize("edges", [[-np.inf, 0, np.inf], [0, 0, 1, 1], [0, 1, 1], [1, 1], [-np.inf, np.inf]])
def test_infinite_and_equal_edges(dtype, edges):
    a = samples(dtype)
    a[:20] = np.repeat([0, 1, 2, -1], 5)
    if dtype[0] == "f":
        a[20:23] = [np.inf, -np.inf, np.nan]
    same(histo.histogram(a, edges), np.histogram(a, edges))
    same(histo.histogram(a, np.array(edges, float)), np.histogram(a, np.array(edges, float)))


def test_many_dimensions():
    a = np.arange(2**10).reshape((2,) * 10)
    same(histo.histogram(a, 7), np.histogram(a, 7))
    same(histo.histogram(a.T, 7, weights=a.astype(float)), np.histogram(a.T, 7, weights=a.astype(float)))
    n, edges = histo.histogram(a, 7, axis=(0, 3))
    assert n.shape == (2,) * 8 + (7,)
    same(n[1, 0, 1, 0, 1, 1, 1, 1], np.histogram(a[:, 1, 0, :, 1, 0, 1, 1, 1, 1], edges)[0])
    n, edges = histo.histogram(a, 7, axis=tuple(range(10)))
    same(n, np.histogram(a, 7)[0])


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_large_integer_weights_are_exact(dtype):
    """More of them than halves of 32 bits can be added as doubles."""
    n = 3_000_001
    w = np.random.default_rng(1).integers(0, np.iinfo(dtype).max // n, n, dtype) | 0xFFFFFFFF
    assert histo.histogram(np.zeros(n, "u1"), 1, weights=w)[0] == [w.sum()]
    if dtype == "i8":
        assert histo.histogram(np.zeros(n, "u1"), 1, weights=-w)[0] == [-w.sum()]


def test_byte_orders_of_edges_and_weights():
    a = samples("f8")
    same(histo.histogram(a, np.array([-1, 0, 0.5]).astype(">f8")), np.histogram(a, np.array([-1, 0, 0.5]).astype(">f8")))
    w = samples("f8", seed=2).astype(">f8")
    n, _ = histo.histogram(a, 5, weights=w)
    assert n.dtype == ">f8"
    np.testing.assert_allclose(n, np.histogram(a, 5, weights=w)[0], rtol=1e-12)
    assert histo.histogram(memoryview(w), 5)[0].sum() == 1000


@pytest.mark.parametrize("name", ["bincount", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"])
def test_docstrings(name):
    function = getattr(histo, name)
    test = doctest.DocTestParser().get_doctest(function.__doc__, {}, name, None, 0)
    assert test.examples and doctest.DocTestRunner().run(test).failed == 0
    ours = inspect.signature(function).parameters
    numpys = list(inspect.signature(getattr(np, name)).parameters.values()) if name != "bincount" else []
    assert [(p.name, p.default) for p in numpys] == [(p.name, p.default) for p in ours.values()][: len(numpys)]


@pytest.mark.parametrize("call", [
    lambda n: histo.histogram([1, 2], n),
    lambda n: histo.histogramdd([[1, 2], [1, 2]], n),
    lambda n: histo.histogram2d(np.arange(2), np.arange(2), 2**16),
    lambda n: histo.bincount([n]),
    lambda n: histo.bincount([0], minlength=n),
])
def test_too_many_bins(call):
    with pytest.raises(MemoryError):
        call(2**31)


def test_columns_of_different_dtypes_and_one_value():
    sample = [np.array([0], "i2"), np.array([0], "u1")]
    same(histo.histogramdd(sample, 1), np.histogramdd(sample, 1))


@pytest.mark.parametrize(
    "a",
    [
        np.full(3, 1_800_000_000_000_000_000),
        np.array([18 * 10**17, 18 * 10**17 + 256, 18 * 10**17 + 512]),
        np.array([1e16, 1e16 + 2, 1e16 + 4]),
        np.array([1, 1 + 2**-52, 1 + 2**-51]),
        np.array([0, 5e-324, 1e-323]),
    ],
)
def test_ranges_too_narrow_for_the_bins(a):
    for x, range in ((a, None), (a, [(float(a.min()), float(a.max())), (0, 2)])):
        ours, numpys = histo.histogram2d(x, np.arange(3.0), 4, range), np.histogram2d(x, np.arange(3.0), 4, range)
        assert all(map(np.array_equal, ours, numpys))


@pytest.mark.parametrize("dtype", ["c8", "c16", ">c16"])
@pytest.mark.parametrize("shape", [(20,), (20000,), (3, 4000), (1, 1, 1, 1, 1, 1, 1, 9000)])
def test_complex_weights(dtype, shape):
    """Many take one fill of a batch of two."""
    random = np.random.default_rng(4)
    x, keep = random.normal(size=shape), random.random(shape) < 0.7
    weights = (random.integers(-9, 9, shape) + 1j * random.integers(-9, 9, shape)).astype(dtype)
    for some, theirs in ((x, weights), (x[..., ::2], weights[..., ::2])):
        assert np.array_equal(histo.histogram(some, 50, weights=theirs)[0], np.histogram(some, 50, weights=theirs)[0])
    edges = np.linspace(-2, 2, 31)
    assert np.array_equal(histo.histogram(x, edges, weights=weights, mask=keep)[0],
                          np.histogram(x[keep], edges, weights=weights[keep])[0])
    if len(shape) == 2:
        rows = [np.histogram(x[i], edges, weights=weights[i])[0] for i in range(3)]
        assert np.array_equal(histo.histogram(x, edges, weights=weights, axis=1)[0], rows)


@pytest.mark.parametrize(
    "args",
    [([1.5, 2],), ((3.0, 1.0),), ([np.float32(1)],), ([np.nan],), ([-1.5],), (np.array([1.0]),),
     ([1], None, None), (3,), ([],)],
    ids=repr,
)
def test_bincount_of_odd_arguments(args):
    """Lists of numbers that are no integers are taken as long as NumPy takes them, with its warning."""
    found = []
    for bincount in (np.bincount, histo.bincount):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = bincount(*args).tolist()
            except Exception as error:
                result = type(error), str(error)
        found.append((result, [(w.category, str(w.message)) for w in caught]))
    assert found[0] == found[1]
