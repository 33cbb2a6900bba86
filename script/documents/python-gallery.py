"""Write docs/python-gallery.md from the programs of python/examples. Each has a docstring, whose first line is its title,
and makes one figure."""

import ast
import contextlib
import io
import pathlib
import runpy

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ["photograph", "contrast", "classes", "tables", "plane", "registration", "blocks"]
HEAD = """# Gallery of the Python package

Short programs, with what they print and draw. They are in [python/examples](../python/examples/photograph.py);
`script/documents/python-gallery` runs them and writes this page.
"""


def section(name):
    """The program's text, code, output and picture."""
    path = ROOT / "python" / "examples" / f"{name}.py"
    source = path.read_text()
    docstring = ast.get_docstring(ast.parse(source))
    title, text = docstring.split("\n", 1)
    title = title.rstrip(".")
    code = source.split('"""\n', 1)[1].strip()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(path), run_name="__main__")
    plt.gcf().savefig(ROOT / "docs" / "images" / f"python_{name}.png", dpi=80, bbox_inches="tight",
                      metadata={"Software": None})
    plt.close("all")
    output = f"It prints\n\n```text\n{printed.getvalue()}```\n\n" if printed.getvalue() else ""
    return f"## {title}\n{text}\n\n```python\n{code}\n```\n\n{output}![{title}](images/python_{name}.png)\n"


def main():
    page = "\n".join([HEAD, *map(section, EXAMPLES)])
    (ROOT / "docs" / "python-gallery.md").write_text(page)


if __name__ == "__main__":
    main()
