"""The API reference, made from histo.h and the headers that it includes: their sections, each declaration, and the comment
above it."""
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "script/documents"))
import header  # noqa: E402


def words(text, anchors):
    """Plain text as Markdown, with names of the API as links."""
    out = []
    for part in re.split(r"(`[^`]*`|\b(?:histo|HISTO)_\w+\b(?:\(\))?)", text):
        name = part.removesuffix("()")
        if name in anchors:
            out.append(f"[`{part}`](#{anchors[name]})")
        elif header.NAME.fullmatch(name):
            out.append(f"`{part}`")
        elif part.startswith("`"):
            out.append(part)
        else:
            out.append(re.sub(r"([\\*_<\[\]])", r"\\\1", part))
    return "".join(out)


def prose(comment, anchors):
    """A comment as Markdown."""
    out, last = [], ""
    for kind, content in header.blocks(comment):
        if last and not kind == last == "item":
            out.append("")
        if kind == "code":
            out += ["```c", *content, "```"]
        else:
            out.append(("- " if kind == "item" else "") + words(content, anchors))
        last = kind
    return "\n".join(out)


def reference(include):
    """The page of the headers in a directory."""
    parsed = header.read(include, "histo/histo.h")
    sections = [section for one in parsed.values() for section in one.sections]

    anchors = {}
    for section in sections:
        for _, declarations in section.entries:
            declared = header.names(declarations)
            anchors.update({name: name for name in declared})
            if declared:
                anchors.update({name: declared[0] for name in header.constants(declarations)})

    out = ["# The API", "", "Made from [histo.h](source/include/histo/histo.h.md).", "", prose(parsed["histo/histo.h"].comment, anchors)]
    for section in sections:
        out += ["", f"## {section.title}"] if section.title else []
        for comment, declarations in section.entries:
            declared = header.names(declarations)
            if declared:
                out.append("")
                out += [f"({name})=" for name in declared]
                out.append(("### " if section.title else "## ") + ", ".join(f"`{name}`" for name in declared))
            if comment:
                out += ["", prose(comment, anchors)]
            if declarations:
                out += ["", "```c", *(header.shown(declaration) for declaration in declarations), "```"]
    return "\n".join(out) + "\n"
