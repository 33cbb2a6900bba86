"""Counts the random cases that hypothesis has tried, for the last lines of a run. Keeps no kernels for the user."""

import os
import re

os.environ["HISTO_KERNEL_CACHE"] = ""
cases = 0


def pytest_runtest_teardown(item):
    global cases
    statistics = str(getattr(item, "hypothesis_statistics", ""))
    cases += sum(map(int, re.findall(r"(\d+) passing", statistics)))


def pytest_terminal_summary(terminalreporter):
    if cases:
        terminalreporter.write_line(f"{cases} random cases agree with NumPy or with exact arithmetic")
