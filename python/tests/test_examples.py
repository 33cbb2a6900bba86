"""The programs of python/examples run, and each makes a figure."""

import pathlib
import runpy

import matplotlib
import pytest

matplotlib.use("agg")

PROGRAMS = sorted((pathlib.Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_program(program):
    import matplotlib.pyplot as plt

    runpy.run_path(str(program), run_name="__main__")
    assert len(plt.get_fignums()) == 1 and plt.gcf().axes
    plt.close("all")


def test_gallery_shows_the_programs():
    page = (PROGRAMS[0].parents[2] / "docs" / "python-gallery.md").read_text()
    for program in PROGRAMS:
        assert program.read_text().split('"""\n', 1)[1].strip() in page, f"run script/documents/python-gallery: {program.name}"
