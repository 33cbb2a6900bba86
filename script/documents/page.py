"""Pages of docs/ made from a text in which {{ }} stands for what Python computes."""
import re
import textwrap


def fill(block):
    """A paragraph or a list in lines of 120 columns; tables, headings, pictures and commands as they are."""
    if re.match(r"\||#|!|    |<|```", block):
        return block
    items = re.split(r"\n(?=- )", block)
    return "\n".join(textwrap.fill(" ".join(item.split()), 120, subsequent_indent="  " * item.startswith("- "),
                                   break_long_words=False, break_on_hyphens=False) for item in items)


def make(source, words):
    """The page: each {{ expression }} by its value with these words."""
    source = re.sub(r"\{\{(.*?)\}\}", lambda m: str(eval(m.group(1).strip(), dict(words))), source, flags=re.S)
    return "\n\n".join(fill(block) for block in source.strip().split("\n\n")) + "\n"


def could_be(page, source):
    """Is the page one that the text gives, whatever the values? Its other parts follow each other."""
    page, at = " ".join(page.split()), 0
    parts = [" ".join(part.split()) for part in re.split(r"\{\{.*?\}\}", source, flags=re.S)]
    for part in parts:
        found = page.find(part, at)
        if found < 0 or at == 0 and found > 0:
            return False
        at = found + len(part)
    return page.endswith(parts[-1])
