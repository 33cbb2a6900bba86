"""What runs another library's own tests on histo, and counts them."""

import importlib.util

import pytest


class Outcomes:
    """A plugin of pytest that leaves tests out, by their names, and counts the outcomes of the others."""

    def __init__(self, left_out=()):
        self.left_out = set(left_out)
        self.of = {}

    def pytest_collection_modifyitems(self, items):
        unknown = self.left_out - {item.name for item in items}
        assert not unknown, f"there are no tests {unknown}"
        items[:] = [item for item in items if item.name not in self.left_out]

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.of[report.outcome] = self.of.get(report.outcome, 0) + 1


def counting(module, called, name):
    """A function of the module that counts its calls in called[name]."""
    function = getattr(module, name)

    def call(*args, **options):
        called[name] += 1
        return function(*args, **options)

    return call


def file_of(module):
    return importlib.util.find_spec(module).origin


def run(library, tests, *arguments, left_out=()):
    """Run tests by pytest, and print how many passed; the exit status."""
    outcomes = Outcomes(left_out)
    code = pytest.main([*tests, "-q", "-p", "no:cacheprovider", *arguments], [outcomes])
    skipped = outcomes.of.get("skipped", 0)
    total = sum(outcomes.of.values()) - skipped
    does_not_apply = skipped + len(left_out)
    print(f"{library}: {outcomes.of.get('passed', 0)} of {total} tests passed, {does_not_apply} do not apply")
    return int(code)
