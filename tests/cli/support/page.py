"""Is FILE a page whose tables have the counts of TABLE, a file that --to tsv wrote? page.py FILE TABLE. Prints what is
wrong, and exits with 1."""
import html.parser
import re
import sys

VOID = {"meta", "link", "br", "img", "input"}
ENDED_BY = {"p": {"p", "details", "figure", "div"}, "td": {"td", "th", "tr"}, "th": {"td", "th", "tr", "tbody"},
            "tr": {"tr", "tbody"}}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.tables, self.figures, self.wrong = [], [], [], []
        self.title = self.cell = None

    def handle_starttag(self, tag, attributes):
        while self.open and tag in ENDED_BY.get(self.open[-1], ()):
            self.open.pop()
        attributes = dict(attributes)
        self.wrong += [f"{tag} loads {attributes[a]}" for a in ("src", "href") if a in attributes]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "figure":
            self.figures.append(attributes)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        while self.open and self.open[-1] in ENDED_BY | {"thead": 0, "tbody": 0} and self.open[-1] != tag:
            self.open.pop()
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> ends nothing")

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data.strip("\n")
        if self.open and self.open[-1] == "title":
            self.title = data


page = Page()
text = open(sys.argv[1], encoding="utf-8").read()
page.feed(text)
page.close()
wrong = page.wrong + [f"<{tag}> is not ended" for tag in page.open]
if not page.title or not page.figures or len(page.figures) != len(page.tables):
    wrong.append("no title, no figures, or figures without tables")
if re.search(r"https?://(?!www\.w3\.org/2000/svg)", text):
    wrong.append("an address of the network")
rows = [line.split("\t") for line in open(sys.argv[2], encoding="utf-8").read().splitlines()]
expected = [[float(cell) for cell in row] for row in rows[1:] if not {"-inf", "inf", "nan"} & set(row)]
if page.figures[0]["data-kind"] == "heat":
    table = page.tables[0]
    xs, ys = table[0][1:] + [page.figures[0]["data-x-end"]], [row[0] for row in table[1:]] + [page.figures[0]["data-y-end"]]
    found = [[float(x) for x in (xs[i], xs[i + 1], ys[j], ys[j + 1], table[j + 1][i + 1])]
             for i in range(len(xs) - 1) for j in range(len(ys) - 1)]
else:
    found = [[float(cell) for cell in row] for row in page.tables[0][1:]]
    if len(found) < len(expected):  # bins were added up
        each = -(-len(expected) // len(found))
        expected = [[part[0][0], part[-1][1], *map(sum, zip(*[row[2:] for row in part]))]
                    for part in (expected[i:i + each] for i in range(0, len(expected), each))]
if found != expected:
    wrong.append(f"the table is {found[:5]} …, not {expected[:5]} …")
for line in wrong:
    print("FAILED:", sys.argv[1], line)
sys.exit(bool(wrong))
