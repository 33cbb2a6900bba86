"""histo.boosting of arrays in the memory of GPUs, compared to the bit with the same of NumPy. Without a GPU all of these
are skipped; with HISTO_TEST_GPU=1 they fail instead."""

import numpy as np
import pytest
from test_gpu import LIBRARIES, get, put

from histo.boosting import histograms

RANDOM = np.random.default_rng(38)
ROWS = 20_000
BINS = [12, 255, 3, 256, 100]


def table(bins, dtype):
    return np.stack([RANDOM.integers(0, b, ROWS) for b in bins], axis=1).astype(dtype)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("gradients", ["f4", "f8", "i1", "i4"])
@pytest.mark.parametrize("hessians", [False, True])
def test_same_bits(library, order, gradients, hessians):
    bins = np.asarray(table(BINS, "u1"), order=order)
    g = (RANDOM.normal(size=ROWS) * 40).clip(-120, 120).astype(gradients)
    h = RANDOM.uniform(size=ROWS).astype("f4") if hessians else None
    rows = RANDOM.integers(0, ROWS, ROWS // 3).astype("i8")
    offsets = np.array([0, 1000, 1000, len(rows)])
    there = put(library, bins) if order == "C" else put(library, bins.T).T
    arrays = [put(library, g), None if h is None else put(library, h)]
    for listed in (False, True):
        nodes = (rows, offsets) if listed else (None, None)
        expected = histograms(bins, g, h, *nodes, bins_per_feature=BINS)
        for of_offsets in (offsets, put(library, offsets)):
            nodes = (put(library, rows), of_offsets) if listed else (None, None)
            found = histograms(there, *arrays, *nodes, bins_per_feature=BINS)
            assert found.__class__ is there.__class__
            assert np.array_equal(get(found), expected)
            found[...] = -1
            assert histograms(there, *arrays, *nodes, bins_per_feature=BINS, out=found) is found
            assert np.array_equal(get(found), expected)


@pytest.mark.parametrize("library", LIBRARIES)
def test_wide_bins(library):
    bins = table([1024, 5000, 7], "u2")
    there = put(library, bins.view("i2"))
    there = there.view(__import__("torch").uint16) if library == "torch" else there.view("u2")
    g = RANDOM.normal(size=ROWS)
    expected = histograms(bins, g, bins_per_feature=[1024, 5000, 7])
    assert np.array_equal(get(histograms(there, put(library, g), bins_per_feature=[1024, 5000, 7])), expected)


@pytest.mark.parametrize("library", LIBRARIES)
def test_bins_are_found(library):
    bins = table([20, 30], "u1")
    g = RANDOM.normal(size=ROWS)
    assert np.array_equal(get(histograms(put(library, bins), put(library, g))), histograms(bins, g))


@pytest.mark.parametrize("library", LIBRARIES)
def test_invalid(library):
    bins, g = table([20, 30], "u1"), np.ones(ROWS, "f4")
    there, of_g = put(library, bins), put(library, g)
    with pytest.raises(ValueError, match="bins: row"):
        histograms(there, of_g, bins_per_feature=10)
    with pytest.raises(ValueError, match="had numbers that are negative or too large"):
        histograms(there, of_g, rows=put(library, np.array([3, ROWS])))
    with pytest.raises(TypeError, match="gradients is in host memory"):
        histograms(there, g)
    with pytest.raises(TypeError, match="bins must be uint8 or uint16"):
        histograms(put(library, bins.astype("i4")), of_g)
    with pytest.raises(ValueError, match="gradients has 10 values"):
        histograms(there, of_g[:10])
    g[7] = np.nan
    with pytest.raises(ValueError, match="of 1 rows are NaN"):
        histograms(there, put(library, g))
