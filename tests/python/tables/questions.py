"""Random questions about a table: the options, the columns in question, and whether what was printed is right."""
import dataclasses
import math
import typing
from collections import Counter
from fractions import Fraction

from . import generate, model

NUMBERS = ("integer", "float")


@dataclasses.dataclass
class Question:
    command: str
    columns: list  # in question
    options: list  # in which {0} and {1} are the names of these columns
    judge: typing.Callable  # given the rows that are printed

    def arguments(self, names):
        options = self.options
        for i, name in enumerate(names):
            options = [option.replace(f"{{{i}}}", name) for option in options]
        return options

    def left_out(self):
        """What a line on standard error counts: missing values, or rows with one where columns are counted together."""
        together = "--compare" not in self.options
        missing = [[v is None for v in c.values] for c in self.columns]
        return sum(map(any, zip(*missing))) if together else sum(map(sum, missing))

    def has_bins(self):
        """Of its own, which do not depend on the samples."""
        return any(option.startswith(("--edges", "--range")) for option in self.options)


def parse(text):
    """Rows of cells as a list of dicts; names that come twice are an error."""
    lines = text.split("\n")
    assert lines[-1] == "", "the last line has no end"
    names = lines[0].split("\t")
    assert len(set(names)) == len(names), names
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines[1:-1]]


def same(got, expected):
    """But for digits of skewness and kurtosis, of which pieces are joined at means that are doubles."""
    if got == expected:
        return True
    rows, others = parse(got), parse(expected)
    loose = {"skewness", "kurtosis"}
    return len(rows) == len(others) and all(
        row.keys() == other.keys() and all(
            row[name] == other[name] or {row[name], other[name]} == {"0", "-0"} or name in loose and math.isclose(float(row[name]), float(other[name]), rel_tol=1e-6,
                                                                       abs_tol=1e-6) for name in row)
        for row, other in zip(rows, others))


def number(text):
    """Edges are doubles."""
    return text if text in ("inf", "-inf", "nan") else Fraction(float(text))


def close(got, wanted, what, tolerance=0.0):
    """Exact, to the nearest double, or within the tolerance."""
    if isinstance(wanted, float) and not math.isfinite(wanted):
        assert got == str(wanted), f"{what}: {got} instead of {wanted}"
        return
    nearest = float(wanted)
    assert got not in ("", "nan", "inf", "-inf"), f"{what}: {got} instead of {wanted}"
    if Fraction(got) == wanted or float(got) == nearest:
        return
    assert abs(float(got) - nearest) <= tolerance, f"{what}: {got} instead of {wanted} ({nearest!r})"


def edges_for(rng, columns):
    """Doubles, some on samples: integers, or halves."""
    values = [v for c in columns for v in c.present() if not isinstance(v, float) or math.isfinite(v)]
    if all(c.kind == "integer" for c in columns):
        some = rng.sample(values, min(len(values), 3)) + [rng.randint(-5, 5)]
        around = {v + rng.choice([0, 0, 1]) for v in some}
    else:
        some = [float(v) for v in rng.sample(values, min(len(values), 3))]
        around = {math.floor(v * 2) / 2 for v in some if abs(v) < 2**40}
    around |= {0, 2}
    return sorted({Fraction(float(v)) for v in around})


def text_of(edges):
    return ",".join(str(e.numerator) if e.denominator == 1 else repr(float(e)) for e in edges)


def check_bins(rows, wanted, names=("count",)):
    got = {}
    for row in rows:
        got[tuple(number(row[side]) for side in ("lo", "hi"))] = tuple(Fraction(row[name]) for name in names)
    wanted = {key: tuple(map(Fraction, value)) for key, value in wanted.items()}
    got = {key: value for key, value in got.items() if any(value) or key in wanted}
    assert got == wanted, f"{got} instead of {wanted}"


def pick(rng, table, *kinds):
    found = [c for c in table if c.kind in kinds]
    return rng.choice(found) if found else None


def every(table):
    return range(len(table[0].values))


def bins(rng, table):
    c = pick(rng, table, *NUMBERS)
    edges = edges_for(rng, [c])
    rows = model.complete([c], every(table))
    return Question("hist", [c], ["--column", "{0}", f"--edges={text_of(edges)}"],
                    lambda got: check_bins(got, model.histogram(edges, model.samples_of(c, rows))))


def even_bins(rng, table):
    """A number of bins in a range of whole numbers, whose width is one, too."""
    c = pick(rng, table, *NUMBERS)
    low, width, n = rng.randint(-20, 20), rng.choice([1, 2, 5]), rng.randint(1, 8)
    edges = [Fraction(low + i * width) for i in range(n + 1)]
    rows = model.complete([c], every(table))
    return Question("hist", [c], ["--column", "{0}", "-b", str(n), f"--range={low}:{low + n * width}"],
                    lambda got: check_bins(got, model.histogram(edges, model.samples_of(c, rows))))


def default_bins(rng, table):
    """Nothing but the column: each format gives the same bins."""
    c = pick(rng, table, *NUMBERS, "date", "time", "string", "bool")
    if not c.present() or c.kind == "float" and not any(map(math.isfinite, c.present())):
        return None

    def judge(got):
        total = sum(int(row["count"]) for row in got)
        assert total == len(c.present()), f"{total} of {len(c.present())} samples"

    return Question("hist", [c], ["--column", "{0}"], judge)


def weights(rng, table):
    c = pick(rng, table, *NUMBERS)
    w = rng.choice([c for c in table if c.kind in NUMBERS])
    rows = model.complete([c, w], every(table))
    values = [w.values[i] for i in rows]
    if not all(math.isfinite(v) and abs(v) < 2**20 and v * 8 % 1 == 0 for v in values):
        return None
    edges = edges_for(rng, [c])
    wanted = model.histogram(edges, model.samples_of(c, rows), [Fraction(v) for v in values])
    return Question("hist", [c, w], ["--column", "{0}", "-w", "{1}", f"--edges={text_of(edges)}"],
                    lambda got: check_bins(got, wanted, ("count", "sum_w", "sum_w2")))


def labels_of(c, rows):
    return [model.label(c, c.values[i]) for i in rows]


def plain(labels):
    """Are these labels printed as they are?"""
    return all(text.isprintable() and "\\" not in text for text in labels)


def categories(rng, table):
    c = pick(rng, table, "string", "integer", "bool")
    rows = model.complete([c], every(table))
    wanted = Counter(labels_of(c, rows))
    top = rng.choice([None, "1", "3", "all"])
    if top is not None and c.kind == "string":
        option = "--column"
    else:
        option = "--category"

    def judge(got):
        bins = {row["value"]: int(row["count"]) for row in got}
        other = bins.pop("other", 0)
        counts = sorted(wanted.values(), reverse=True)
        kept = len(counts) if top == "all" else int(top or 20)
        assert sorted(bins.values(), reverse=True) == counts[:kept], f"{bins} of {wanted}"
        assert other == sum(counts[kept:]), f"{other} others, not {sum(counts[kept:])}"
        if plain(wanted):
            assert all(wanted[value] == count for value, count in bins.items()), f"{bins} of {wanted}"

    if "other" in wanted:
        return None
    return Question("hist", [c], [option, "{0}"] + (["--top", top] if top else []), judge)


def by(rng, table):
    c = pick(rng, table, *NUMBERS)
    g = rng.choice([g for g in table if g is not c and g.kind in ("string", "integer", "bool")])
    rows = model.complete([c, g], every(table))
    labels = labels_of(g, rows)
    groups = Counter(labels)
    if not rows or len(groups) > 8 or not plain(groups):
        return None
    edges = edges_for(rng, [c])

    def judge(got):
        assert set(got[0]) - {"lo", "hi"} == (set(groups) if len(groups) > 1 else set(got[0]) - {"lo", "hi"}), got[0]
        wanted = {value: model.histogram(edges, model.samples_of(c, [i for i, text in zip(rows, labels) if text == value]))
                  for value in groups}
        for value in groups:
            check_bins(got, wanted[value], (value if value in got[0] else "count",))

    return Question("hist", [c, g], ["--column", "{0}", "--by", "{1}", f"--edges={text_of(edges)}"],
                    judge)


def where(rng, table):
    c = pick(rng, table, *NUMBERS)
    w = rng.choice([w for w in table if w.kind in ("string", "integer", "float", "bool") and w.present()])
    some = rng.choice(w.present())
    not_equal = rng.random() < 0.3
    if w.kind == "string":
        if any(x in some for x in ",:=\\") or not plain([some]):
            return None
        fits = lambda v: (v == some) != not_equal  # noqa: E731
        condition = some
    elif w.kind == "bool":
        fits = lambda v: (v == some) != not_equal  # noqa: E731
        condition = "true" if some else "false"
    else:
        if not math.isfinite(some) or w.dtype == "f4" and some * 8 % 1 != 0:
            return None
        if rng.random() < 0.5:
            fits = lambda v: (v == some) != not_equal  # noqa: E731
            condition = repr(some)
        else:
            low, high = sorted([Fraction(some), Fraction(rng.randint(-10, 10))])
            fits = lambda v: (math.isfinite(v) and low <= v <= high or v in (low, high)) != not_equal  # noqa: E731
            condition = ":".join(text_of([e]) for e in (low, high))
    if not_equal and w.kind == "float" and any(math.isnan(v) for v in w.present()):
        return None
    rows = [i for i in model.complete([c, w], every(table)) if fits(w.values[i])]
    edges = edges_for(rng, [c])
    mark = "!=" if not_equal else "="

    def judge(got):
        check_bins(got, model.histogram(edges, model.samples_of(c, rows)))

    return Question("hist", [c, w], ["--column", "{0}", "--where", f"{{1}}{mark}{condition}",
                                                   f"--edges={text_of(edges)}"], judge)


def check_statistics(row, wanted):
    for name in ("samples", "count", "nan", "min", "max"):
        if name in row and name in wanted:
            if name == "count":
                continue
            close(row[name], wanted[name], name)
    for name, value in wanted.items():
        if name.startswith("q"):
            close(row[name], value[0], name, value[1])
    if "mean" in wanted:
        close(row["mean"], wanted["mean"], "mean")
        close(row["std"], wanted["std"], "std", 4e-16 * wanted["std"])


def stats(rng, table):
    c = pick(rng, table, *NUMBERS)
    percents = rng.choice([None, ("0", "10", "100"), ("1", "33", "99")])
    rows = model.complete([c], every(table))
    if not any(math.isfinite(c.values[i]) for i in rows):
        return None
    wanted = model.statistics(model.samples_of(c, rows), percents or ("25", "50", "75"))
    options = ["--quantiles", ",".join(percents)] if percents else ["--stats"]

    def judge(got):
        assert len(got) == 1
        check_statistics(got[0], wanted)
        assert got[0]["moments"] == got[0]["quantiles"] == "exact", got[0]

    return Question("hist", [c], ["--column", "{0}", *options], judge)


def stats_by(rng, table):
    c = pick(rng, table, *NUMBERS)
    g = rng.choice([g for g in table if g is not c and g.kind in ("string", "integer", "bool")])
    rows = model.complete([c, g], every(table))
    labels = labels_of(g, rows)
    groups = set(labels)
    if not 1 < len(groups) <= 8 or not plain(groups) or not any(math.isfinite(c.values[i]) for i in rows):
        return None

    def judge(got):
        assert {row["name"] for row in got} == groups
        for row in got:
            xs = model.samples_of(c, [i for i, text in zip(rows, labels) if text == row["name"]])
            check_statistics(row, model.statistics(xs, ("25", "50", "75")))

    return Question("hist", [c, g], ["--column", "{0}", "--by", "{1}", "--stats"], judge)


def summary(rng, table):
    c = pick(rng, table, *NUMBERS)
    rows = model.complete([c], every(table))
    wanted = model.statistics(model.samples_of(c, rows), ())

    def judge(got):
        assert len(got) == 1
        check_statistics(got[0], wanted)

    return Question("summary", [c], ["--column", "{0}"], judge) if "mean" in wanted else None


def quantiles(rng, table):
    c = pick(rng, table, *NUMBERS)
    rows = model.complete([c], every(table))
    percents = ("0", "12.5", "50", "100")
    wanted = model.statistics(model.samples_of(c, rows), percents)

    def judge(got):
        for row, p in zip(got, percents, strict=True):
            close(row["value"], wanted[f"q{p}"][0], p, wanted[f"q{p}"][1])

    return Question("quantile", [c], ["--column", "{0}", "-q", ",".join(percents)],
                    judge) if any(map(math.isfinite, model.samples_of(c, rows))) else None


def compare(rng, table):
    c, d = pick(rng, table, *NUMBERS), pick(rng, table, *NUMBERS)
    if c is d:
        return None
    edges = edges_for(rng, [c, d])

    def judge(got):
        for column in (c, d):
            rows = model.complete([column], every(table))
            check_bins(got, model.histogram(edges, model.samples_of(column, rows)), (column.name,))

    return Question("hist", [c, d], ["--column", "{0},{1}", "--compare", f"--edges={text_of(edges)}"],
                    judge)


def joint(rng, table):
    c, d = pick(rng, table, *NUMBERS), pick(rng, table, "string", "integer", "float")
    if c is d:
        return None
    rows = model.complete([c, d], every(table))
    edges = edges_for(rng, [c, d] if d.kind != "string" else [c])
    if not rows or d.kind == "string" and (not plain(labels_of(d, rows)) or len(set(labels_of(d, rows))) > 20):
        return None

    def place(x):
        pair = next(iter(model.histogram(edges, [x])))
        return next(k for k, v in model.histogram(edges, [x]).items() if v[0]) if pair else None

    wanted = Counter((place(model.sample(c, c.values[i])),
                      d.values[i] if d.kind == "string" else place(model.sample(d, d.values[i]))) for i in rows)

    def judge(got):
        names = list(got[0])
        found = {}
        for row in got:
            cells = list(row.values())
            second = cells[2] if d.kind == "string" else tuple(map(number, cells[2:4]))
            if int(row["count"]):
                found[(tuple(map(number, cells[:2])), second)] = int(row["count"])
        assert found == wanted, f"{found} instead of {wanted} ({names})"

    return Question("hist", [c, d], ["--joint", "{0},{1}", f"--edges={text_of(edges)}"], judge)


def day_of(c, value):
    return value if c.kind == "date" else value.astimezone(generate.UTC).date()


def calendar(rng, table):
    """Days, months and years, in UTC."""
    c = pick(rng, table, "date", "time")
    if c is None or not c.present():
        return None
    width = rng.choice(["1d", "1mo", "1y"])
    days = [day_of(c, v) for v in c.present()]
    if width == "1d" and (max(days) - min(days)).days > 2000:
        return None
    wanted = Counter({"1d": str, "1mo": lambda d: str(d.replace(day=1)), "1y": lambda d: str(d.replace(month=1, day=1))}[
        width](d) for d in days)

    def judge(got):
        found = {row["lo"]: int(row["count"]) for row in got if int(row["count"])}
        assert found == wanted, f"{found} instead of {wanted}"

    return Question("hist", [c], ["--column", "{0}", "--width", width], judge)


def where_days(rng, table):
    """Conditions on dates include both ends."""
    c = pick(rng, table, *NUMBERS)
    d = pick(rng, table, "date", "time")
    if d is None or not d.present():
        return None
    days = [day_of(d, v) for v in d.present()]
    low, high = sorted([rng.choice(days), rng.choice(days)])
    rows = [i for i in model.complete([c, d], every(table)) if low <= day_of(d, d.values[i]) <= high]
    edges = edges_for(rng, [c])
    return Question("hist", [c, d], ["--column", "{0}", "--where", f"{{1}}={low}:{high}", f"--edges={text_of(edges)}"],
                    lambda got: check_bins(got, model.histogram(edges, model.samples_of(c, rows))))


def extremes_of_days(rng, table):
    c = pick(rng, table, "date")
    if c is None or not c.present():
        return None

    def judge(got):
        assert len(got) == 1
        row = got[0]
        assert (int(row["samples"]), row["min"], row["max"]) == (len(c.present()), str(min(c.present())),
                                                                 str(max(c.present()))), row

    return Question("hist", [c], ["--column", "{0}", "--stats"], judge)


QUESTIONS = (bins, even_bins, default_bins, calendar, where_days, extremes_of_days, weights, categories, by, where, stats, stats_by, summary, quantiles, compare,
             joint)
