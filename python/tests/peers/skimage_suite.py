"""scikit-image's own tests of exposure and thresholds, which count by histo in the place of NumPy."""

import sys
from importlib.metadata import version

import numpy
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
sys.exit(status)
