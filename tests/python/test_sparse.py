"""Sparse histograms of several columns against numpy.unique of their rows."""
import os

import numpy as np

from libhisto import BINS, FLOW, INTEGER, SPARSE, Hist, axis_of

SEED = int(os.environ.get("HISTO_SEED", 1))


def columns_of(rng, naxes, n, different):
    """n rows that repeat some of `different` rows, of which some are outside the axes [0, 256)."""
    rows = rng.integers(-3, 259, size=(different, naxes)).astype(np.int16)
    return rows[rng.integers(0, different, size=n)]


def check(rng, naxes, n, different):
    rows = columns_of(rng, naxes, n, different)
    axis = axis_of(np.arange(257.0), False, INTEGER)
    hist = Hist(*[axis] * naxes, storage=SPARSE)
    hist.fill(*[(np.ascontiguousarray(rows[:, a]), "i16") for a in range(naxes)])
    slots = np.clip(rows, -1, 256).astype(np.int64) + 1
    for kind, extent in ((FLOW, 259), (BINS, 256)):
        inside = slots if kind == FLOW else slots[((slots > 0) & (slots < 257)).all(axis=1)] - 1
        flat = np.zeros(len(inside), dtype=np.int64)
        for a in range(naxes):
            flat = flat * extent + inside[:, a]
        expected, times = np.unique(flat, return_counts=True)
        index, counts = hist.occupied(kind)
        assert np.array_equal(index, expected) and np.array_equal(counts, times.astype(np.uint64)), (naxes, n, kind)


def main():
    rng = np.random.default_rng(SEED)
    for naxes in range(2, 8):
        for n, different in ((1, 1), (1000, 10), (300000, 1000), (300000, 200000)):
            check(rng, naxes, n, different)
    print("sparse: as numpy.unique")


main()
