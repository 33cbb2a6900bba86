"""Manual pages of the library, section 3, from its public headers: a page for each section of a header, to which the
names of its functions and types lead, and histo(3), which lists them.

Usage: manual.py VERSION DIRECTORY
"""
import datetime
import os
import pathlib
import re
import sys
import textwrap

import header

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
WIDTH = 72  # of code, which is indented


def literal(text):
    """Text that roff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha")
    text = text.replace("~", "\\(ti").replace('"', "\\(dq")
    return "".join(c if ord(c) < 128 else f"\\[u{ord(c):04X}]" for c in text)


def lines_of(text):
    """Lines of roff's text, none of which is a request."""
    return "\n".join("\\&" + line if line.startswith(".") else line for line in text.split("\n"))


def words(text):
    """Prose: names of the library are bold, what is quoted is in italics."""
    out = []
    for part in re.split(r"(`[^`]*`|\bhisto_\w+)", text):
        if part.startswith("`"):
            out.append(f"\\fI{literal(part.strip('`'))}\\fR")
        elif part.startswith("histo_"):
            out.append(f"\\fB{literal(part)}\\fR")
        else:
            out.append(literal(part))
    return lines_of("\n".join(textwrap.wrap("".join(out), 78, break_long_words=False, break_on_hyphens=False)))


def code(lines):
    return "\n".join([".PP", ".RS 4", ".nf", *(lines_of(literal(line)) for line in lines), ".fi", ".RE"])


def prose(comment):
    out = []
    for kind, content in header.blocks(comment):
        if kind == "code":
            out.append(code(content))
        else:
            out.append((".PP\n" if kind == "text" else ".IP \\(bu 3\n") + words(content))
    return out


def wrapped(text, first, rest):
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False,
                         break_on_hyphens=False)


def wrapped_comment(comment, indent):
    text = " ".join(re.sub(r"\n *\* ", "\n", comment.removeprefix("/*").removesuffix("*/")).split())
    return wrapped(f"/* {text} */", indent, indent + "   ")


def narrow(declaration):
    """A declaration in lines for a terminal: a comment that does not fit behind its line is above it."""
    if header.is_function(declaration) or "{" not in declaration and "/*" not in declaration:
        text = header.shown(declaration)
        if text.startswith("#"):
            return text.split("\n")
        text = " ".join(text.split())
        if "(" in text:  # parameters stay whole
            text = re.sub(r"(?<!,) ", "\xa0", text)
            text = re.sub(r"\xa0(?=[^()]*\()", " ", text)
        return [line.replace("\xa0", " ") for line in wrapped(text, "", "        ")]
    out, text = [], header.shown(declaration)
    for match in re.finditer(r"([^\n]*?)[ ]*(/\*.*?\*/)?(?:\n|$)", text, re.S):
        line, comment = match.group(1), match.group(2)
        if not line.strip() and not comment:
            continue
        indent = re.match(" *", line or match.group(0)).group(0)
        if comment and line.strip() and "\n" not in comment and len(line) + len(comment) < WIDTH:
            out.append(f"{line} {comment}")
            continue
        if comment:
            out += wrapped_comment(comment, indent)
        if line.strip():
            out += [line] if len(line) <= WIDTH else wrapped(line.strip(), indent, indent + "        ")
    return out


class Page:
    def __init__(self, name, title, include, sections, comment=""):
        self.name, self.title, self.include, self.comment = name, title, include, comment
        self.entries = [entry for section in sections for entry in section.entries]
        self.names = [name for section in sections for name in section.names()]

    def functions(self):
        return [d for entry in self.entries for d in entry.declarations if header.is_function(d)]

    def lower(self):
        """What a page or a link can be called for."""
        return [name for name in self.names if name.startswith("histo_")]


def page_name(title):
    return "histo_" + re.sub(r"\W+", "_", title.split(":")[0].strip().lower())


def read_pages():
    """histo(3), and the pages of each header that histo.h includes, of histo.h, mpi.h and histo.hpp."""
    pages = []
    for file, parsed in header.read(INCLUDE, "histo/mpi.h").items():
        include = "histo/mpi.h" if file == "histo/mpi.h" else "histo/histo.h"
        sections = {section.title: section for section in parsed.sections}
        first = [sections.pop("")] if "" in sections else []
        if file == "histo/histo.h":
            overview_page = Page("histo", "exact histograms at memory speed", include, first, parsed.comment)
        elif first:
            # The head of a file without a title is one: its first sentence.
            title = header.blocks(parsed.comment)[0][1].split(".")[0].removeprefix("histo: ")
            pages.append(Page(page_name(pathlib.Path(file).stem), title, include, first, parsed.comment))
        for section in sections.values():
            pages.append(Page(page_name(section.title), section.title, include, [section]))
    parsed = header.parse_classes((INCLUDE / "histo/histo.hpp").read_text())
    pages.append(Page("histo.hpp", "Samples of any type, in C++17", "histo/histo.hpp", parsed.sections, parsed.comment))
    return [overview_page, *pages]


def see_also(page, pages, text):
    leads = {name: other.name for other in pages for name in other.names}
    found = {leads[name] for name in header.NAME.findall(text) if name in leads} | {"histo"}
    found -= {page.name}
    return ",\n".join(f".BR {name} (3)" for name in sorted(found))


def write(page, pages, heading):
    text = page.comment + "".join(e.comment + "".join(e.declarations) for e in page.entries)
    names = [page.name] + [name for name in page.lower() if name != page.name]
    out = [f'.TH {page.name.upper()} 3 {heading} "Library Functions Manual"', ".SH NAME",
           "\n".join(textwrap.wrap(", ".join(names), 78)) + " \\-\n" + literal(page.title)]
    out.append(".SH LIBRARY\nlibhisto\n.RI ( \\-lhisto )")
    out += [".SH SYNOPSIS", code([f"#include <{page.include}>"])[4:]]
    for declaration in page.functions():
        out.append(code(narrow(declaration))[4:])
    out += [".SH DESCRIPTION", *prose(page.comment)]
    for entry in page.entries:
        declared = header.names(entry.declarations)
        if declared and page.name != "histo.hpp":
            out.append('.SS "' + ", ".join(declared) + '"')
        if entry.declarations:
            out.append(code([line for d in entry.declarations for line in narrow(d)]))
        out += prose(entry.comment)
    if page.name == "histo":
        out.append(".SH PAGES")
        for other in pages[1:]:
            out.append(f".TP\n.BR {other.name} (3)\n{literal(other.title)}")
    if any("histo_status " in function for function in page.functions()):
        out.append(".SH RETURN VALUE\n" + words("Functions of the type histo_status return HISTO_OK, or why they failed; "
                                                "then histo_last_error has a sentence."))
    out += [".SH SEE ALSO", see_also(page, pages, text)]
    return re.sub(r"^(\.S[SH] .*\n)\.PP\n", r"\1", "\n".join(out) + "\n", flags=re.M)


def main(version, directory):
    made = pathlib.Path(directory)
    made.mkdir(parents=True, exist_ok=True)
    for old in made.glob("*.3"):
        old.unlink()
    when = int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp()))
    date = datetime.datetime.fromtimestamp(when, datetime.timezone.utc).strftime("%Y-%m-%d")
    pages = read_pages()
    for page in pages:
        path = made / f"{page.name}.3"
        if path.exists():
            sys.exit(f"two sections would be {path.name}")
        path.write_text(write(page, pages, f'{date} "histo {version}"'))
    for page in pages:
        for name in page.lower():
            if not (made / f"{name}.3").exists():
                (made / f"{name}.3").write_text(f".so man3/{page.name}.3\n")
            elif name not in [other.name for other in pages]:
                sys.exit(f"{name} is declared twice")


main(*sys.argv[1:])
