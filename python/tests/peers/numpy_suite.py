"""NumPy's own tests of histograms and bincount, run with histo's functions in the place of NumPy's.

    python python/tests/peers/numpy_suite.py [arguments of pytest]

Prints how many passed, and which of them left the counting to NumPy; exits with 1 if one failed.
"""

import functools
import importlib.util
import sys

import numpy
import pytest

import histo
from histo import functions

SUITE = [
    ("numpy.lib.tests.test_histograms", None),
    ("numpy.lib.tests.test_twodim_base", "TestHistogram2d"),
    ("numpy.lib.tests.test_function_base", "TestBincount"),
]


class Counts:
    """A plugin of pytest that counts outcomes, and notes the tests in which NumPy counted."""

    def __init__(self):
        self.outcomes = {}
        self.by_numpy = {}
        self.running = None

    def noting(self, name, function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            self.by_numpy.setdefault(self.running, set()).add(name)
            return function(*args, **kwargs)

        return call

    def pytest_runtest_logstart(self, nodeid):
        self.running = nodeid.split("::", 1)[1]

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.outcome] = self.outcomes.get(report.outcome, 0) + 1


def main(arguments):
    counts = Counts()
    for name in functions.__all__:
        functions._NUMPY[name] = counts.noting(name, getattr(numpy, name))
        setattr(numpy, name, getattr(histo, name))
    code = 0
    for module, kind in SUITE:
        path = importlib.util.find_spec(module).origin
        tests = f"{path}::{kind}" if kind else path
        code |= int(pytest.main([tests, "-q", "-p", "no:cacheprovider", *arguments], [counts]))
    passed, failed, skipped = (counts.outcomes.get(outcome, 0) for outcome in ("passed", "failed", "skipped"))
    print(
        f"NumPy {numpy.__version__}: {passed} of {passed + failed} tests passed with histo {histo.__version__},"
        f" {skipped} skipped by NumPy"
    )
    for test, names in sorted(counts.by_numpy.items()):
        print(f"  by NumPy: {test} ({', '.join(sorted(names))})")
    return 1 if code else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
