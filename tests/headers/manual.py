"""The manual pages of the library say all that its headers say: each comment and each declaration is in a page, each
function that the library exports has one, and mandoc finds nothing to mend.

Usage: manual.py PAGES LIBRARY: a directory man3, and libhisto.so
"""
import pathlib
import re
import subprocess
import sys

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include/histo"
pages, library = (pathlib.Path(path).resolve() for path in sys.argv[1:])
faults = []


def run(*command):
    return subprocess.run(command, cwd=pages.parent, check=False, capture_output=True, text=True)


def squeeze(text):
    """Text without what typesetting changes."""
    return re.sub(r"[\s`]", "", text).replace("•", "-")


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def public(text):
    """A header without what follows is how, private parts, and what is not for readers."""
    text = text.split("/* ---- What follows is how")[0]
    text = re.sub(r"\A/\* .*? Include histo/histo\.h\. \*/", "", text)
    text = re.sub(r"^  private:\n.*?^};", "", text, flags=re.M | re.S)
    return re.sub(r"/\* clang-format \w+ \*/|/\* ---- .* -+ \*/", "", text)


rendered = ""
for page in sorted(pages.glob("*.3")):
    text = page.read_text()
    if text.startswith(".so "):
        target = pages.parent / text.split()[1]
        if not target.is_file() or target.read_text().startswith(".so "):
            faults.append(f"{page.name} leads to {target.name}, which is not a page")
        continue
    lint = run("mandoc", "-T", "lint", f"{pages.name}/{page.name}")
    faults += (lint.stdout + lint.stderr).splitlines()
    shown = run("mandoc", "-T", "utf8", f"{pages.name}/{page.name}")
    rendered += re.sub(r".\x08", "", shown.stdout) + "\n"
all_text = squeeze(rendered)
all_code = squeeze(without_comments(rendered))

comments = declarations = 0
for file in sorted(INCLUDE.iterdir()):
    header = public(file.read_text())
    for comment in re.findall(r"/\*.*?\*/", header, re.S):
        text = squeeze(re.sub(r"\n *\* ?", "\n", comment.removeprefix("/*").removesuffix("*/")))
        comments += 1
        if text not in all_text:
            faults.append(f"{file.name}: no page has this comment: {comment}")
    code = without_comments(header)
    found = re.findall(r"^(?:HISTO_API|static inline|typedef|enum) [^;{]*(?:\{[^}]*\}[^;]*)?;", code, re.M)
    found += [macro.strip() for macro in re.findall(r"^#define HISTO_(?!(?:\w+_)?H$|HPP$|API\b).*(?<!\\)$", code, re.M)]
    for declaration in found:
        text = re.sub(r"^(HISTO_API|static inline) ", "", declaration)
        if not text.startswith("#"):
            text = re.sub(r"HISTO_ENUM\(\w+\)", "uint32_t", text.replace(" HISTO_ENUM_BASE", ""))
        declarations += 1
        if squeeze(text) not in all_code:
            faults.append(f"{file.name}: no page has this declaration: {declaration}")
if comments < 200 or declarations < 150:
    faults.append(f"only {comments} comments and {declarations} declarations were found in the headers")

exported = re.findall(r" T (histo_\w+)", run("nm", "-D", "--defined-only", library).stdout)
inline = re.findall(r"^static inline \w+ (histo_mpi_\w+)\([^;{]*;", (INCLUDE / "mpi.h").read_text(), re.M)
for name in exported + inline:
    if not (pages / f"{name}.3").is_file():
        faults.append(f"{name} has no page")
if len(exported) < 100 or len(inline) < 5:
    faults.append(f"only {len(exported)} functions are exported, and {len(inline)} inline")

print("\n".join(faults))
sys.exit(bool(faults))
