"""xhistogram's own tests of its functions for xarray, on histo.xarray."""

import sys
from importlib.metadata import version

import xhistogram.xarray
from running import file_of, run

import histo.xarray


def histogram(*args, bins=None, block_size=None, **options):
    return histo.xarray.histogram(*args, **({} if bins is None else {"bins": bins}), **options)


xhistogram.xarray.histogram = histogram

sys.exit(run(f"xhistogram {version('xhistogram')}", [file_of("xhistogram.test.test_xarray")], *sys.argv[1:]))
