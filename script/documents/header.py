"""What a public header says: comments, each with the declarations below it, in sections."""
import re
from typing import NamedTuple

SECTION = re.compile(r"^/\* ---- (.*?) -+ \*/\n", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
HOW = "What follows is how"  # the title behind which a header has no more declarations for users
NAME = re.compile(r"\b(?:histo|HISTO)_\w+")
DECLARED = [
    re.compile(r"^typedef (?:enum|struct|union) (histo_\w+)"),
    re.compile(r"^enum (histo_\w+)"),
    re.compile(r"^typedef .*?\(\*(histo_\w+)\)", re.S),  # a pointer to a function
    re.compile(r"^typedef [^()]*?(histo_\w+);"),
    re.compile(r"^#define (HISTO_\w+)", re.M),
    re.compile(r"^[\w *]*?\b(histo_\w+)\(", re.S),
    re.compile(r"\b(operator.)\("),
]


class Entry(NamedTuple):
    """A comment, or none, and declarations, or none."""

    comment: str
    declarations: list


class Section(NamedTuple):
    title: str  # "" in front of the first
    entries: list

    def names(self):
        return [name for entry in self.entries for name in names(entry.declarations)]


class Header(NamedTuple):
    comment: str  # at its head
    includes: list  # public headers
    sections: list


def directive_end(text, start):
    """The end of a directive; that of #if and its kind is behind its #endif."""
    depth, at = 0, start
    while True:
        end = text.index("\n", at)
        while text[end - 1] == "\\":
            end = text.index("\n", end + 1)
        word = re.match(r"# *(\w*)", text[at:end])
        if word:
            depth += word.group(1).startswith("if")
            depth -= word.group(1) == "endif"
        if depth == 0:
            return end
        at = end + 1


def declaration_end(text, start):
    """The end of the declaration at `start`, with a comment on its last line: behind a semicolon outside braces, or the
    brace that ends the body of a function."""
    if text[start] == "#":
        return directive_end(text, start)
    depth, at, is_function = 0, start, False
    while True:
        if text.startswith("/*", at):
            at = text.index("*/", at) + 2
            continue
        if text[at] == "{":
            is_function |= depth == 0 and re.search(r"\)[^;={}]*$", text[start:at]) is not None
            depth += 1
        elif text[at] == "}":
            depth -= 1
        if depth == 0 and (text[at] == ";" or (text[at] == "}" and is_function)):
            return text.index("\n", at)
        at += 1


def entries(text):
    """The entries of a text, in their order. Directives without a comment are not for users."""
    at, comment, declarations = 0, "", []
    while at < len(text):
        if text.startswith("/*", at):
            if comment or declarations:
                yield Entry(comment, declarations)
            end = text.index("*/", at) + 2
            comment, declarations = text[at:end], []
            at = end
        elif text[at] == "\n":
            if text.startswith("\n\n", at) and (comment or declarations):
                yield Entry(comment, declarations)
                comment, declarations = "", []
            at += 1
        else:
            end = declaration_end(text, at)
            declared = text[at:end]
            if comment or not declared.startswith("#if"):
                declarations.append(declared)
            at = end
    if comment or declarations:
        yield Entry(comment, declarations)


def parse(text):
    """A header: without its guard, what it includes, and what makes it a header of C++, too."""
    comment = text[: text.index("*/") + 2]
    text = text[len(comment) :]
    includes = re.findall(r"^#include <(histo/\w+\.\w+)>", text, re.M)
    text = re.sub(r"^/\* clang-format (on|off) \*/\n", "", text, flags=re.M)
    text = re.sub(r'\n#ifdef __cplusplus\nextern "C" \{\n#endif\n', "\n", text)
    text = re.sub(r"\n#ifndef (\w+)\n#define \1\n", "\n", text)
    text = re.sub(r"\n#ifdef __cplusplus\n}\n(.*)#endif\n\n#endif\n$", r"\n\1", text, flags=re.S)
    text = re.sub(r"\n#endif\n$", "\n", text)
    text = re.sub(r"^#include .*\n", "", text, flags=re.M)
    first, *sections = SECTION.split(text)
    found = [Section("", list(entries(first)))]
    for title, body in zip(sections[::2], sections[1::2]):
        if title == HOW:
            break
        found.append(Section(title, list(entries(body))))
    return Header(comment, includes, [section for section in found if section.entries])


def read(include, file):
    """A header and those that it includes, by their names: each behind what it includes itself."""
    parsed = parse((include / file).read_text())
    found = {}
    for other in parsed.includes:
        for name, one in read(include, other).items():
            found.setdefault(name, one)
    return {**found, file: parsed}


def parse_classes(text):
    """A header of C++: each comment outside of bodies and private parts, with the head of what is defined below it."""
    comment = text[: text.index("*/") + 2]
    text = re.sub(r"^  private:\n.*?(?=^};)", "", text[len(comment) :], flags=re.M | re.S)
    found = []
    for match in re.finditer(r"^(?: {4})?(/\*.*?\*/)\n *", text, re.M | re.S):
        start = match.end()
        if text[start] == "#":
            head = text[start : text.index("\n", start)].rstrip(" \\")
        else:
            head = " ".join(re.match(r"(?:[^;{}]|\{\})*", text[start:]).group(0).split()) + ";"
        found.append(Entry(re.sub(r"^    (?= \*)", "", match.group(1), flags=re.M), [head]))
    return Header(comment, [], [Section("", found)])


def is_function(declaration):
    return re.match(r"(?:HISTO_API|static inline|constexpr) ", declaration) is not None


def names(declarations):
    """The functions, types and macros that declarations declare; an enum and its typedef are one."""
    found = []
    for declaration in declarations:
        bare = COMMENT.sub("", declaration)
        bare = re.sub(r"HISTO_ENUM\(\w+\)", "uint32_t", bare)
        patterns = DECLARED[-2:] if is_function(declaration) else DECLARED[:-2]
        match = next((match for match in (pattern.search(bare) for pattern in patterns) if match), None)
        if match and match.group(1) not in found:
            found.append(match.group(1))
    return found


def constants(declarations):
    return [name for d in declarations if re.match("(typedef )?enum", d)
            for name in re.findall(r"\b(HISTO_[A-Z]\w+)\b(?= *[,=}\n/])", COMMENT.sub("", d)) if name != "HISTO_ENUM_BASE"]


def shown(declaration):
    """A declaration as users write it: without the body of a function, and what is for compilers only."""
    if declaration.startswith("#"):
        return declaration
    if is_function(declaration):
        declaration = re.sub(r"\s*\{.*", ";", declaration, flags=re.S)
    declaration = re.sub(r"^(HISTO_API|static inline) ", "", declaration)
    declaration = declaration.replace(" HISTO_ENUM_BASE", "")
    return re.sub(r"\bHISTO_ENUM\(\w+\)", "uint32_t", declaration)


def blocks(comment):
    """What a comment consists of: ("text", text), ("item", text) of a list, and ("code", lines)."""
    first, *rest = comment.removeprefix("/*").removesuffix("*/").split("\n")
    lines = [first.strip(), *(re.sub(r"^ \* ?", "", line).rstrip() for line in rest)]
    found, in_list = [], False
    for line in lines:
        item = re.match(r" *- ", line)
        in_list = item is not None or (in_list and line.startswith("  "))
        if item:
            found.append(("item", line[item.end() :]))
        elif not line:
            found.append(("", ""))
        elif line.startswith("    ") and not in_list:
            if not found or found[-1][0] != "code":
                found.append(("code", []))
            found[-1][1].append(line[4:])
        elif found and found[-1][0] == ("item" if in_list else "text"):
            found[-1] = (found[-1][0], found[-1][1] + " " + line.strip())
        else:
            found.append(("text", line.strip()))
    joined = []
    for kind, content in found:
        if kind == "code" and len(joined) > 1 and joined[-1][0] == "" and joined[-2][0] == "code":
            joined.pop()
            joined[-1][1].extend(["", *content])
        else:
            joined.append((kind, content))
    return [block for block in joined if block[0]]
