"""SciPy's own tests of binned_statistic, binned_statistic_2d and binned_statistic_dd, on histo's."""

import sys
from importlib.metadata import version

import scipy.stats
import scipy.stats.tests.test_binned_statistic as theirs
from running import counting, file_of, run

import histo

called = dict.fromkeys(("binned_statistic", "binned_statistic_2d", "binned_statistic_dd"), 0)

for name in called:
    setattr(scipy.stats, name, counting(histo, called, name))
    setattr(theirs, name, getattr(scipy.stats, name))

status = run(f"scipy {version('scipy')}", [file_of(theirs.__name__)], *sys.argv[1:])
print("  " + ", ".join(f"{n} calls of {name}" for name, n in called.items()))
sys.exit(status)
