"""What papers.md may say between {{ and }}: numbers, verdicts and tables from the runs."""
import math
import re
import statistics

from runs import (RUNS, best, bins_of, card, experiment, points, ratios, samples_of, value)
import svg

GPU, CPU = "our choice, GPU", "our choice, CPU"
REFERENCES = ["baseline", "shared memory"]  # of the thesis, as published
WIDE = ["device memory", "32 bits"]         # these on equal terms
NARROW = ["8 bits", "4 bits"]               # packed atomics on equal terms


def number(x):
    if math.isnan(x):
        return "–"
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def short_range(numbers, unit):
    if not numbers:
        return "not measured"
    low, high = (f"{x:.0f}" if x >= 10 else f"{x:.2g}" for x in (min(numbers), max(numbers)))
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"


def times(numbers):
    """0.24 to 0.30 ×"""
    return short_range(numbers, " ×")


def percents(numbers):
    return short_range(numbers, " %")


def verdict(numbers, then=math.nan):
    """What becomes of an idea that multiplied rates by `then` (NaN: nobody says), and multiplies them by `numbers` now: in
    all cases, in some, or in none."""
    if not numbers:
        return ""
    low, high = min(numbers), max(numbers)
    if 0.95 <= low and high <= 1.05:
        return "makes no difference, as then" if then == 1 else "makes no difference"
    if low < 0.95 and high > 1.05:
        return "pays for some inputs"
    if high <= 1.05:
        return "**no longer pays**" if then > 1.05 else "costs, as then" if then < 0.95 else "does not pay"
    if then <= 1:
        return "**pays now**"
    middle = statistics.median(numbers)
    if math.isnan(then):
        return "pays"
    return "pays more than then" if middle > 1.25 * then else "pays, less than then" if middle < then / 1.25 else "pays, as then"


def idea(words, said, name, as_published, equal, where="", then=math.nan, least=0, most=math.inf):
    """A row of the table of ideas: what it was worth, what it is worth now as published and on equal terms, each (series,
    over which). The published numbers tell what `then` was, if it is not given; said: in the paper's words."""
    of = lambda pair, which: ratios(name, *pair, where, which, least, most) if pair else []
    was = of(as_published, "published")
    if was and math.isnan(then):
        then = statistics.median(was)
    now, fair = of(as_published, "Gsamples_per_s"), of(equal, "Gsamples_per_s")
    return (f"| {words} | {said or (times(was) if was else '–')} | {times(now) if as_published else '–'} | "
            f"{times(fair) if equal else '–'} | {verdict(fair or now, then)} |")


def rate_table(name, series, published=(), where="", measure="Gsamples_per_s", labels=None):
    """Rates by input; those of `published` series as published first."""
    heads = [f"{s}, published" for s in published] + [(labels or {}).get(s, s) for s in series]
    out = ["| | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for p in points(name, where):
        cells = [value(name, p, s, "published") for s in published] + [value(name, p, s, measure) for s in series]
        out.append(f"| `{p[0]}` | " + " | ".join(map(number, cells)) + " |")
    return "\n".join(out)


def ross_table():
    """Table 7.1 with the images of table 6.1, on both terms; wafers with the rates of figures 6.4 and 6.5 with partitioning."""
    def row(cells, gain):
        return ", ".join(map(number, cells)) + f" ({gain:.2f} ×)"

    def partitioned(p, series, references):
        name = next((n for n in ("ross figure 6.4", "ross figure 6.5") if p in points(n)), None)
        if not name:
            return ""
        rate = best(name, p, series)
        return f"; partitioned {number(rate)} ({rate / best(name, p, references):.2f} ×)"
    out = ["| | published: global, shared, packed | as published, now | equal terms: global, 32 bits, best of 8 and 4 bits | our choice, GPU | our choice, CPU |",
           "|---|---|---|---|---|---|"]
    listed = [("ross table 6.1", p) for p in points("ross table 6.1", "(fractal|random|moon|degenerate)/4k")]
    listed += [("ross table 7.1", p) for p in points("ross table 7.1", "u32")]
    for name, p in listed:
        cells = [f"`{p[0]}`"]
        for kernels, which in ((REFERENCES + ["packed atomics"], "published"),
                               (REFERENCES + ["packed atomics"], "Gsamples_per_s"), (WIDE + [NARROW], "Gsamples_per_s")):
            rates = [best(name, p, k, which) for k in kernels]
            cells.append(row(rates, rates[2] / max(rates[:2])))
        cells[2] += partitioned(p, "packed atomics, partitioned", REFERENCES)
        cells[3] += partitioned(p, ["8 bits, partitioned", "4 bits, partitioned"], WIDE)
        cells += [number(value(name, p, s)) for s in (GPU, CPU)]
        out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out)


def overflow_table():
    """Overflows in a million samples: by the thesis's formula, expected, and counted."""
    out = ["| | bits | one copy, 24 blocks: formula, expected, counted | one copy, 264 blocks | 64 copies, 24 blocks |", "|---" * 5 + "|"]
    for bits, name in ((8, "ross section 5.3.3"), (4, "ross section 5.8.1")):
        for p in points(name):
            cells = []
            for series in ("one copy, 24 blocks", "one copy, 264 blocks", "64 copies, 24 blocks"):
                found = [value(name, p, s, "value") for s in (f"{series}: formula", f"{series}: expected", series)]
                cells.append(", ".join(f"{x:.2g}" if 0 < x < 1 else f"{x:.0f}" for x in found))
            out.append(f"| `{p[0]}` | {bits} | " + " | ".join(cells) + " |")
    return "\n".join(out)


def speed_ups(name, series, least=0, most=math.inf):
    """Speed-ups over the sequential loop at points of so many samples."""
    found = [value(name, p, series) / value(name, p, "sequential") for p in points(name) if least <= p[1] <= most]
    return [x for x in found if not math.isnan(x)]


def speed_up_table(name, series):
    """Rates over the sequential loop's, by bins."""
    out = ["| bins | " + " | ".join(series) + " |", "|---" * (len(series) + 1) + "|"]
    for p in points(name):
        cells = [number(value(name, p, s) / value(name, p, "sequential")) for s in series]
        out.append(f"| {bins_of(p)} | " + " | ".join(cells) + " |")
    return "\n".join(out)


def samples_in(name):
    """The most samples of an experiment."""
    return svg.short(max(p[1] for p in points(name)))


def timed(name, series, where=""):
    """How many samples a series was timed on at once, at least and at most."""
    found = sorted({experiment(name).cells[p, series]["timed_samples"] for p in points(name, where)})
    return " to ".join(dict.fromkeys(svg.short(n) for n in (found[0], found[-1])))


def crossing(name, series, over, by, unit):
    """From which number of bins or samples on a series is faster than another."""
    ahead = None
    for p in points(name):
        faster = best(name, p, series) > best(name, p, over)
        ahead = (by(p) if ahead is None else ahead) if faster else None
    return f"from {svg.short(ahead)} {unit} on" if ahead else f"never, up to {svg.short(by(points(name)[-1]))} {unit}, where the run ends"


def ahead(name, series, over):
    """The numbers of bins at which a series is more than 5 % faster than others."""
    found = [bins_of(p) for p in points(name) if best(name, p, series) > 1.05 * best(name, p, over)]
    return f"from {svg.short(min(found))} to {svg.short(max(found))} bins" if found else "nowhere"


def fastest(name, *series):
    """The series with the highest rate at most points."""
    won = [max(series, key=lambda s: (not math.isnan(value(name, p, s)), value(name, p, s))) for p in points(name)]
    return max(series, key=won.count)


def chosen(name, series, where=""):
    """What plans chose."""
    found = [experiment(name).cells[p, series]["chosen"] for p in points(name, where)]
    found = [f"`{c.split('/')[1]}`" for c in found if c]
    return ", ".join(sorted(set(found), key=lambda c: (-found.count(c), c))) or "not measured"


def winner_words():
    """How many tiles of figure 11 each series wins; and each of the paper's three, without our choices."""
    name, all_won, of_paper = "milic figure 11", {}, {}
    for p in points(name):
        rates = [(value(name, p, s), s) for s in experiment(name).series if not math.isnan(value(name, p, s))]
        theirs = [r for r in rates if "our" not in r[1]]
        for rates_of, won in ((rates, all_won), (theirs, of_paper)):
            if rates_of:
                won[max(rates_of)[1]] = won.get(max(rates_of)[1], 0) + 1
    tell = lambda won: ", ".join(f"{s} {n}" for s, n in sorted(won.items(), key=lambda item: -item[1]))
    return (f"Winners of the {sum(of_paper.values())} tiles, up to {samples_in(name)} samples, among the "
            f"paper's algorithms: {tell(of_paper)}. With histo's own choices among them: {tell(all_won)}.")


def balance():
    """The lecture's question: {input: {(blocks, threads, copies): rate}}."""
    out = {}
    for v in experiment("lecture section balance").values:
        of = dict(part.split("=") for part in v["params"].split(","))
        if v["Gsamples_per_s"] is not None:
            key = int(of["blocks"]), int(of["threads"]), int(of["copies"])
            out.setdefault(v["input"], {}).setdefault(key, v["Gsamples_per_s"])
    return out


def balance_words():
    """The best combination for each input."""
    out = []
    for name, rates in balance().items():
        (blocks, threads, copies), rate = max(rates.items(), key=lambda item: item[1])
        plural = "copy" if copies == 1 else "copies"
        out.append(f"`{name}` is counted fastest by {blocks} blocks of {threads} threads with {copies} {plural}, at {number(rate)} Gsamples/s")
    return "; ".join(out)


def balanced(name, *combination):
    """The rate of an input with so many blocks, threads and copies."""
    return number(balance()[name][combination])


def across(name, series, where=""):
    """Slowest over fastest of a series, over all inputs."""
    found = [x for x in (value(name, p, series) for p in points(name, where)) if not math.isnan(x)]
    return min(found) / max(found) if found else math.nan


def of_one(name, where, series, which="Gsamples_per_s"):
    """A rate at one input."""
    return number(best(name, points(name, where)[0], series, which))


def percent(x):
    return "not measured" if math.isnan(x) else f"{100 * x:.0f} %"


def machine():
    gpu, threads = card()
    return f"an {gpu} and on its host ({RUNS[0]['cpu']}, {threads} threads)"


def checked():
    """How many counts were checked, and what came of it."""
    values = [v for run in RUNS for found in run["experiments"] for v in found["values"] if v["strategy"] not in ("cuda/race", "cpu/race")]
    wrong = [v for v in values if v.get("wrong")]
    measured = sum(v["Gsamples_per_s"] is not None for v in values)
    return f"{len(wrong)} counts were WRONG or failed" if wrong else f"All {measured} counts were checked, and are exact"


def run_table():
    out = ["| command | when | machine |", "|---|---|---|"]
    for run in RUNS:
        command = re.sub(r" -o \S+", "", run["command"])
        command = "histo bench " + re.sub(r"^\S*(histo-bench|histo)( bench)? ", "", command)
        where = run["cpu"] if "--device cpu" in command else [x for x in run["machine"] if x.startswith("cuda:")][0].split(": ")[1].split(",")[0]
        out.append(f"| `{command}` | {run['date'][:10]} | {where} |")
    return "\n".join(out)


WORDS = {f.__name__: f for f in (idea, times, percents, ratios, rate_table, ross_table, overflow_table, speed_up_table, speed_ups,
                                 crossing, ahead, bins_of, samples_of, fastest, chosen, winner_words, balance_words, balanced, across, of_one,
                                 percent, machine, checked, run_table, samples_in, timed, card)}
WORDS |= {"GPU": GPU, "CPU": CPU, "REFERENCES": REFERENCES, "WIDE": WIDE, "NARROW": NARROW}
