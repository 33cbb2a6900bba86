"""Collect the pages of the site: README.md, docs/, CONTRIBUTING.md and their like, the API reference, and the sources that
pages link to. Links, which are those of the repository, become links of the site; one that leads nowhere is an error.

Usage: pages.py DIRECTORY
"""
import pathlib
import posixpath
import re
import shutil
import sys

import api

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = "include/histo/histo.h"
MOVED = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md",
         "SECURITY.md": "security.md", "examples/README.md": "examples.md", HEADER: "api.md"}
CONTENTS = [("Guide", ["install", "command", "clusters", "library", "python", "python-gallery", "applications", "examples", "api"]),
            ("Performance", ["internals/performance", "internals/strategies", "papers", "lab"]),
            ("Development", ["internals/design", "internals/vocabulary", "contributing", "changelog", "security"])]
LANGUAGES = {".c": "c", ".h": "c", ".cu": "cuda", ".cuh": "cuda", ".def": "c", ".py": "python", ".sh": "bash"}
LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
FENCED = re.compile(r"(^```.*?^```)", re.S | re.M)


def site_path(path):
    """Where the site has a file of the repository."""
    if path in MOVED:
        return MOVED[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"source/{path}.md"


def convert(path, sources):
    """A Markdown file of the repository, with the site's links; adds the sources that it links to."""
    here = site_path(path)

    def link(match):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), match.group(2)))
        if not (ROOT / target).is_file():
            sys.exit(f"{path} links to {target}, which is no file")
        if site_path(target).startswith("source/"):
            sources.add(target)
        return match.group(1) + posixpath.relpath(site_path(target), posixpath.dirname(here) or ".") + match.group(3)

    parts = FENCED.split((ROOT / path).read_text())
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def contents(pages):
    trees = []
    for caption, names in CONTENTS:
        listed = "\n".join(name for name in names if name + ".md" in pages)
        trees.append(f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n")
    return "".join(trees)


def main(directory):
    site = pathlib.Path(directory)
    shutil.rmtree(site, ignore_errors=True)
    for file in (ROOT / "docs").rglob("*"):
        if file.suffix in (".png", ".svg", ".txt") and "site" not in file.relative_to(ROOT / "docs").parts:
            copy = site / file.relative_to(ROOT / "docs")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)

    sources = {HEADER}
    pages = {HEADER: api.reference(ROOT / "include")}
    files = [path for path in MOVED if path.endswith(".md") and (ROOT / path).exists()]
    files += sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))
    for path in files:
        pages[path] = convert(path, sources)
    pages = {site_path(path): text for path, text in pages.items()}
    pages["index.md"] += contents(pages)
    for path in sources:
        language = LANGUAGES.get(pathlib.Path(path).suffix, "text")
        text = (ROOT / path).read_text().rstrip("\n")
        pages[f"source/{path}.md"] = f"---\norphan: true\n---\n# {path}\n\n````{language}\n{text}\n````\n"
    for path, text in pages.items():
        if path.startswith("log/"): # measurements and failures are linked to, but not in the menu
            text = f"---\norphan: true\n---\n{text}"
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)


main(sys.argv[1])
