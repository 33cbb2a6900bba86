"""The API reference, made from histo.h: its sections, each declaration, and the comment above it."""
import re

SECTION = re.compile(r"^/\* ---- (.*?) -+ \*/$", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
NAME = re.compile(r"\b(histo_\w+|HISTO_\w+)\b")
DECLARED = [
    re.compile(r"\b(histo_\w+)\("),                      # a function
    re.compile(r"^typedef (?:enum|struct) (histo_\w+)"),  # a type
    re.compile(r"^typedef \w+ (histo_\w+);"),
    re.compile(r"^#define (HISTO_\w+)"),
]


def declaration_end(text, start):
    """The end of the declaration at `start`: a directive ends with its line, others with a semicolon outside braces."""
    if text[start] == "#":
        return text.index("\n", start)
    depth, at = 0, start
    while True:
        if text.startswith("/*", at):
            at = text.index("*/", at) + 2
            continue
        depth += (text[at] == "{") - (text[at] == "}")
        if text[at] == ";" and depth == 0:
            end = text.index("\n", at)  # with a comment on the same line
            return end
        at += 1


def entries(text):
    """(comment, declarations) in their order; a comment that stands alone has no declaration."""
    at, comment, declarations = 0, "", []
    while at < len(text):
        if text.startswith("/*", at):
            if comment or declarations:
                yield comment, declarations
            end = text.index("*/", at) + 2
            comment, declarations = text[at:end], []
            at = end
        elif text[at] == "\n":
            if text.startswith("\n\n", at) and (comment or declarations):
                yield comment, declarations
                comment, declarations = "", []
            at += 1
        else:
            end = declaration_end(text, at)
            declarations.append(text[at:end])
            at = end
    if comment or declarations:
        yield comment, declarations


def names(declarations):
    found = []
    for declaration in declarations:
        declaration = COMMENT.sub("", declaration)
        for pattern in DECLARED:
            match = pattern.search(declaration)
            if match:
                found.append(match.group(1))
                break
    return found


def constants(declarations):
    return [name for d in declarations if d.startswith("typedef enum") for name in re.findall(r"^ +(HISTO_\w+)", d, re.M)]


def words(text, anchors):
    """Plain text as Markdown, with names of the API as links."""
    out = []
    for part in re.split(r"\b((?:histo|HISTO)_\w+\b(?:\(\))?)", text):
        name = part.removesuffix("()")
        if name in anchors:
            out.append(f"[`{part}`](#{anchors[name]})")
        elif NAME.fullmatch(name):
            out.append(f"`{part}`")
        else:
            out.append(re.sub(r"([\\*_<\[\]])", r"\\\1", part))
    return "".join(out)


def prose(comment, anchors):
    """A comment as Markdown: lists and paragraphs, indented lines as code, names of the API as links."""
    lines = [re.sub(r"^ \* ?", "", line) for line in comment.removeprefix("/*").removesuffix("*/").split("\n")]
    lines = [lines[0].lstrip()] + lines[1:]
    out, in_code, in_list = [], False, False
    for line in (line.rstrip() for line in lines):
        item = re.match(r" *- ", line)
        code = line.startswith("    ") and not item and not in_list
        if code != in_code:
            out.append("```c" if code else "```")
            in_code = code
        if code:
            out.append(line[4:])
            continue
        if item and not in_list:
            out.append("")
        in_list = bool(item) or (in_list and line.startswith("  "))
        text = "".join(part if part.startswith("`") else words(part, anchors)
                       for part in re.split(r"(`[^`]*`)", line.strip()))
        out.append(("" if item or not in_list else "  ") + text)
    if in_code:
        out.append("```")
    return "\n".join(out).strip()


def reference(header):
    body = header[: header.rindex("#ifdef __cplusplus")]
    head, *sections = SECTION.split(body)
    parsed = [(title, list(entries(text))) for title, text in zip(sections[::2], sections[1::2])]

    anchors = {}
    for _, found in parsed:
        for _, declarations in found:
            declared = names(declarations)
            anchors.update({name: name for name in declared})
            anchors.update({name: declared[0] for name in constants(declarations)})

    introduction = re.search(r"/\*.*?\*/", head, re.S).group(0)
    out = ["# The API", "", "Made from [histo.h](source/include/histo/histo.h.md).", "", prose(introduction, anchors)]
    shown = 0
    for title, found in parsed:
        out += ["", f"## {title}"]
        for comment, declarations in found:
            declared = names(declarations)
            if declared:
                out.append("")
                out += [f"({name})=" for name in declared]
                out.append("### " + ", ".join(f"`{name}`" for name in declared))
            code = "\n".join(declarations)
            shown += code.count("HISTO_API ")
            if comment:
                out += ["", prose(comment, anchors)]
            if declarations:
                out += ["", "```c", re.sub(r"\bHISTO_API ", "", code), "```"]
    if shown != body.count("HISTO_API ") - head.count("HISTO_API "):
        raise ValueError("the API reference does not show every function of histo.h")
    return "\n".join(out) + "\n"
