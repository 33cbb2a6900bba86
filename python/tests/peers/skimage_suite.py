"""scikit-image's own tests of exposure and thresholds, which count by histo in the place of NumPy; and once more those of
exposure, whose functions are those of histo.compat.skimage."""

import sys
from importlib.metadata import version

import numpy
import skimage.exposure
from running import counting, file_of, run

import histo
import histo.functions  # binds NumPy's, for what it leaves to them

called = {"histogram": 0, "bincount": 0}

for name in called:
    setattr(numpy, name, counting(histo, called, name))

tests = [file_of(f"skimage.{t}") for t in ("exposure.tests.test_exposure", "exposure.tests.test_histogram_matching",
                                           "filters.tests.test_thresholding")]
status = run(f"scikit-image {version('scikit-image')}", tests, *sys.argv[1:])
print(f"  {called['histogram']} calls of histogram, {called['bincount']} of bincount")

from histo.compat import skimage as ours  # noqa: E402

for name in ours.__all__:
    setattr(skimage.exposure, name, getattr(ours, name))
# One asks for a warning about colours, the other for an array of Dask's.
status |= run(f"histo.compat.skimage, by scikit-image {version('scikit-image')}", tests[:2], *sys.argv[1:],
              left_out=["test_adapthist_color", "test_dask_histogram"])
sys.exit(status)
