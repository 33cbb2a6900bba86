"""The extension module decides for common arguments what histo.rules decides for all: equal results, dtypes and errors."""

import itertools

import numpy as np
import pytest

import histo
from histo import functions

DTYPES = ["u1", "i1", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", ">i2", ">f4"]
BINS = [None, 1, 7, 0, -1, 2.5, "auto", "no rule", [0, 1, 5], [0.5, 0.5, 2], [2, 1], [3], [], [[0, 1]], 2**31,
        np.array([0, 2, 4], "f4"), np.array([0, 2**53 + 1], "i8")]
RANGES = [None, (0, 4), (2, 2), (3, 1), (0.1, 0.7), (0, np.inf), (0, 2**60), [1, 2], (1,), ("a", "b")]


def outcome(function, *args, **kwargs):
    """What a call returns, in a form that can be compared, or its exception."""
    try:
        with np.errstate(all="ignore"):
            result = function(*args, **kwargs)
    except Exception as error:
        return type(error), str(error)
    arrays = []
    for one in result if isinstance(result, tuple) else (result,):
        arrays += one if isinstance(one, (list, tuple)) else [one]
    return [(a.dtype, a.shape, a.tobytes()) for a in map(np.asarray, arrays)]


def check(name, *args, **kwargs):
    here, there = (outcome(getattr(module, name), *args, **kwargs) for module in (histo, functions))
    assert here == there, (name, args, kwargs)


def samples_of(dtype, size=40):
    if size == 0:
        return np.zeros(0, dtype)
    rng = np.random.default_rng(3)
    return rng.integers(0, 9, size).astype(dtype) if np.dtype(dtype).kind != "f" else rng.normal(2, 2, size).astype(dtype)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
def test_bins_and_range(dtype):
    a = samples_of(dtype)
    for bins, limits in itertools.product(BINS, RANGES):
        given = {} if bins is None else {"bins": bins}
        check("histogram", a, range=limits, **given)
        check("histogram_bin_edges", a, range=limits, **given)
    for bins in BINS[1:]:
        check("histogram", samples_of(dtype, 0), bins)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["u1", "i4", "f4", "f8"])
def test_density_and_weights(dtype):
    a = samples_of(dtype)
    weights = [None, a, a.astype("f4"), a.astype("f8"), a.astype(complex), a[:-1], [1.0] * len(a), True]
    for density, given, bins in itertools.product([None, False, True, 1], weights, [5, [0, 1, 3]]):
        check("histogram", a, bins, density=density, weights=given)
        check("histogramdd", (a, a), [bins, bins], density=density, weights=given)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["u1", "i4", "f4", "f8"])
def test_several_axes(dtype):
    a, b = samples_of(dtype), samples_of(dtype)[::-1]
    ranges = [None, ((0, 4), (1, 2)), [(0, 4), None], ((0, 4),), ((2, 2), (3, 1))]
    for bins, limits in itertools.product([4, (4, 5), [4, [0, 1, 2]], [0, 1, 2], np.arange(5), 0, [1], (1, 2, 3)], ranges):
        check("histogram2d", a, b, bins, limits)
        check("histogramdd", (a, b), bins, limits)
        check("histogramdd", np.stack([a, b], 1), bins, limits)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
def test_bincount(dtype):
    a = samples_of(dtype)
    for minlength, weights in itertools.product([0, 5, 50, -1, None, 2.5], [None, a, a[:-1], a.astype("f8")]):
        check("bincount", a, weights, minlength)
    check("bincount", samples_of(dtype, 0))
    check("bincount", a.reshape(-1, 2))
