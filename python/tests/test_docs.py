"""The examples of docs/python.md print what it shows."""

import doctest
import pathlib
import re

import pytest

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


def test_examples():
    text = re.sub(r"^```.*$", "", GUIDE.read_text(), flags=re.M)
    test = doctest.DocTestParser().get_doctest(text, {}, GUIDE.name, str(GUIDE), 0)
    report: list[str] = []
    results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=report.append)
    assert results.attempted > 30
    if results.failed:
        pytest.fail("".join(report), pytrace=False)
