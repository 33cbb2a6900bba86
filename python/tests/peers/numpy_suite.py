"""NumPy's own tests of histograms and bincount, run with histo's functions in the place of NumPy's.

    python python/tests/peers/numpy_suite.py [arguments of pytest]

Prints how many passed, and which of them left the counting to NumPy; exits with 1 if one failed.
"""

import functools
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
        path = sys.modules[module].__file__ if module in sys.modules else _file_of(module)
        code |= int(pytest.main([f"{path}::{kind}" if kind else path, "-q", "-p", "no:cacheprovider", *arguments], [counts]))
    total = sum(counts.outcomes.values())
    print(f"NumPy {numpy.__version__}: {counts.outcomes.get('passed', 0)} of {total} tests passed with histo {histo.__version__}")
    for test, names in sorted(counts.by_numpy.items()):
        print(f"  by NumPy: {test} ({', '.join(sorted(names))})")
    return 1 if code else 0


def _file_of(module):
    import importlib.util

    return importlib.util.find_spec(module).origin


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
