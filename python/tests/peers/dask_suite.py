"""Dask's own tests of histograms of arrays, on histo.dask.

Left out are those that ask for the old argument `normed`, for numbers of bins that are not known, or for refusals of
what histo.dask does: find the range, and take operands of different chunks.
"""

import sys
from importlib.metadata import version

import dask.array
from running import file_of, run

import histo.dask

for name in histo.dask.__all__:
    setattr(dask.array, name, getattr(histo.dask, name))

left_out = [
    "test_histogram_normed_deprecation",
    "test_histogramdd_raise_normed_and_density",
    "test_histogramdd_density",
    "test_histogramdd_weighted_density",
    "test_histogram_bin_range_raises[10-None]",
    *(f"test_histogram_delayed_range[True-{i}-{weighted}-False]" for i in (None, 0) for weighted in (True, False)),
    *(f"test_histogramdd_raises_incompat_{what}_chunks" for what in ("sample", "multiarg", "weight")),
]
tests = [file_of("dask.array.tests.test_routines")]
sys.exit(run(f"Dask {version('dask')}", tests, "-k", "histogram", *sys.argv[1:], left_out=left_out))
