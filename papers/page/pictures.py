"""The pictures of the page: which experiment each panel shows."""
import math

import svg
from runs import best, bins_of, experiment, points, samples_of, terms_of, value
from words import CPU, GPU, NARROW, REFERENCES, WIDE, balance, number

# Places in the colours of pictures: a kernel, and what is the same kernel in another document, has one colour on the
# page; what is drawn beside it in a picture has another.
KERNELS = {"baseline": 0, "device memory": 0, "per grid": 0, "one for the grid": 0, "shared memory": 1, "32 bits": 1, "32 bits, best": 1,
           "per block": 1, "one for a block": 1, "packed atomics": 2, "packed atomics, partitioned": 3, "the middle eighth": 3,
           "8 bits, partitioned": 3, "8 bits, the middle eighth": 3, "packed_window": 4, "16 bits": 5, "8 bits": 2, "8 bits, best": 2,
           "4 bits": 6, "2 samples": 5, "4 samples": 6, "8 bits, 2 samples": 5, "8 bits, 4 samples": 6, "8 bits, 16 bytes": 7,
           "copies of table 5.1": 2, "on": 2, "blocks for all multiprocessors": 2, "two": 5, "three": 7, "four": 2, "five": 6,
           "privatization": 1, "privatization, resident": 4, "sort-search": 6, "sort-search, resident": 5, "sequential": 9,
           "privatized, CPU": 7, "without overlap": 4, "with overlap": 10, "histogram64": 10, "histogram256": 10,
           "16 bytes a load": 2, "padded to 257": 4, "with a reduction": 3, "merged by a kernel": 3, "per block, best copies": 2}


def look_of(name, series):
    """Dashed as published, solid on equal terms."""
    return "dashed" if terms_of(name, series) == "as published" else "solid"


def panel(name, title, x_label, series, by, labels=None, y_label="Gsamples/s", over=None, where="", equal_over=None, **more):
    """Curves of series by "bins" or "samples"; or marks by "input" (names of points). over: as speed-ups over that series;
    equal_over: over this one for those on equal terms. more: as for svg.curves."""
    picked, names = points(name, where), None
    by = {"bins": bins_of, "samples": samples_of}.get(by, by)
    if by == "input":
        names = [(labels or {}).get(p[0], p[0]) for p in picked]
    drawn = []
    for s in series:
        base = equal_over if equal_over and look_of(name, s) == "solid" else over
        for which in ("Gsamples_per_s", "published"):
            ys = [value(name, p, s, which) / (value(name, p, base, which) if base else 1) for p in picked]
            xs = range(len(picked)) if names else map(by, picked)
            curve = [(x, y) for x, y in zip(xs, ys) if not math.isnan(y)]
            drawn.append((s, curve, "published" if which == "published" else look_of(name, s)))
    return svg.curves(title, x_label, y_label, drawn, names, one=bool(over), **more)


def winner_map(title, series, **more):
    """Figure 11: for each bins and samples, the fastest of these series and its rate. more: as for svg.tiles."""
    name, winners = "milic figure 11", {}
    for p in points(name):
        rates = {s: value(name, p, s) for s in series if not math.isnan(value(name, p, s))}
        if rates:
            fastest = max(rates, key=rates.get)
            winners[bins_of(p), p[1]] = (fastest, number(rates[fastest]))
    columns, rows = sorted({b for b, _ in winners}), sorted({n for _, n in winners})
    return svg.tiles(title, "bins", "samples", columns, rows, winners, **more)


def bands_where_narrow_wins(rates):
    """[(from, to, words)] of bins, where the best narrow width leads by 5 % or more. Curves are straight lines between points
    on the logarithmic axes, and cross there."""
    bins, lead, bands, begin = sorted(rates["32 bits"]), [], [], None
    for i, b in enumerate(bins):
        narrow = max(rates[label].get(b, 0) for label in rates if label in NARROW + ["16 bits"])
        wide = max(rates[label].get(b, 0) for label in WIDE)
        lead.append(math.log(narrow / wide / 1.05))
        if (lead[i] > 0) == (begin is not None):
            continue
        cross = bins[i - 1] * (b / bins[i - 1]) ** (lead[i - 1] / (lead[i - 1] - lead[i])) if i else b
        if begin is None:
            begin = cross
        else:
            bands.append((begin, cross, "narrow counters lead"))
            begin = None
    return bands + ([(begin, bins[-1], "narrow counters lead")] if begin is not None else [])


def answer_panel(name, title):
    """The thesis's question: rates of packed counters of each width by bins, beside both references on equal terms; shaded
    where the fastest of them is ahead of both."""
    labels = WIDE + ["16 bits"] + NARROW
    rates = {s: {bins_of(p): value(name, p, s) for p in points(name) if not math.isnan(value(name, p, s))} for s in labels}
    curves = [(s, sorted(rates[s].items()), "solid") for s in labels]
    return svg.curves(title, "bins", "Gsamples/s", curves, bands=bands_where_narrow_wins(rates))


def balance_panels():
    """A map of blocks and threads for each number of copies, in one row of panels for each input. The lightest tile is
    the best of the input."""
    panels = []
    for name, cells in balance().items():
        columns, rows, copies = (sorted({at[axis] for at in cells}) for axis in range(3))
        for c in copies:
            shown = {(str(b), str(t)): rate for (b, t, n), rate in cells.items() if n == c}
            title = f"{name}: {c} {'copy' if c == 1 else 'copies'}"
            panels.append(svg.heat(title, "blocks", "threads of a block", [*map(str, columns)], [*map(str, rows)], shown,
                                   max(cells.values())))
    return panels


def ladder():
    """The lecture's kernels in order along the x axis, a mark for each input."""
    name = "lecture section ladder"
    steps = list(experiment(name).series)
    names = {"private to a CPU thread": "thread, CPU", "one for the grid": "grid", "one for a block": "block",
             "with atomicInc": "atomicInc", "one for a thread": "thread", GPU: "ours, GPU", CPU: "ours, CPU",
             "interleaved among the threads of a warp": "bank owner", "from a tile in constant memory": "constant tile",
             "a block, best copies": "block, copies"}
    rates = lambda p: [(i, value(name, p, s)) for i, s in enumerate(steps) if not math.isnan(value(name, p, s))]
    return svg.curves("From the sequential loop to a bank for each thread", "kernel, in the order of the lecture",
                      "Gsamples/s", [(p[0], rates(p), "solid") for p in points(name)], [names.get(s, s) for s in steps])


def extension(figure, title, x_label, series, by, y_label, over, **more):
    return panel(f"ross figure {figure}", f"{figure}: {title}", x_label, series, by, y_label=y_label, over=over, **more)


def pictures():
    """Path and text of each."""
    by_bins = REFERENCES + ["packed atomics"] + WIDE + NARROW + [GPU, CPU]
    wafers = {f"wafer-a{i}/u32/{bins}": f"A.{i}" for bins in (1 << 20, 1 << 21) for i in range(1, 7)}
    partitioned = by_bins[:3] + ["packed atomics, partitioned"] + by_bins[3:-2] + ["8 bits, partitioned", "packed_window", GPU, CPU]
    milic = ["privatization", "sort-search", "privatization, resident", "sort-search, resident", "privatized, CPU",
             "our choice with transfers", GPU, CPU]
    theirs = ["sequential", "privatization", "sort-search"]
    speed_up, loads = "speed-up over sequential", "times the rate of 1 sample a load"
    distinct = {p[0]: p[0].split("/")[0].removeprefix("distinct-") for p in points("handbook table 4")}
    middle = {p[0]: p[0].split("/")[0].removeprefix("middle-") for p in points("ross figure 6.6")}
    plain = lambda name: {p[0]: p[0].split("/")[0] for p in points(name)}
    picture = lambda panels, columns=2, **more: svg.picture(panels, columns, KERNELS, **more)
    # The paper's words, in numbers: sort-search beyond 2^20 samples and 5 Ki bins.
    top, right = max(p[1] for p in points("milic figure 11")) * 8, max(map(bins_of, points("milic figure 11"))) * 2
    border = [[(5120, top), (5120, 1 << 20), (right, 1 << 20)]]
    regions = [(5120 * 2, 1 << 23, "sort-search"), (512, 1 << 23, "privatization"), (128, 1 << 11, "sequential")]
    both = "wafer, 1 Mi and 2 Mi bins"
    return {
        "ross-answer": picture([
            answer_panel("ross figure 6.1", "Uniform samples"),
            answer_panel("ross figure 6.3", "Clustered samples")]),
        "ross": picture([
            panel("ross figure 6.1", "Figure 6.1: uniform samples", "bins", by_bins, "bins"),
            panel("ross figure 6.2", "Figure 6.2: a single value", "bins", by_bins, "bins"),
            panel("ross figure 6.3", "Figure 6.3: clustered samples", "bins", by_bins, "bins"),
            panel("ross figure 6.6", "Figure 6.6: uniform in the middle nth", "n, of 1 Mi bins", partitioned, "input", middle)]),
        "ross-wafers": picture([
            panel("ross figure 6.4", "Figure 6.4: wafers of 1 Mi bins", "wafer", partitioned, "input", wafers),
            panel("ross figure 6.5", "Figure 6.5: wafers of 2 Mi bins", "wafer", partitioned, "input", wafers)]),
        "ross-extensions": picture([
            extension("5.4", "wider loads, images", "image", ["2 samples", "4 samples", "8 bits, 2 samples", "8 bits, 4 samples"],
                      "input", loads, "1 sample a load", where="1080p|4k", equal_over="8 bits, 1 sample"),
            extension("5.5", "wider loads, large histograms", "bins", ["2 samples", "4 samples"], "bins", loads, "1 sample a load"),
            extension("5.6", "copies, uniform", "bins", ["copies of table 5.1"], "bins", "times the rate of one copy", "one copy",
                      guides=[(1, "no gain beyond 4 Ki bins")]),
            extension("5.7", "copies, clustered", "bins", ["copies of table 5.1"], "bins", "times the rate of one copy", "one copy",
                      guides=[(1, "parity at about 4 Ki bins")]),
            extension("5.8", "pre-processing", "bins", ["on", "compared instead of divided"], "bins", "times the rate without", "off"),
            extension("5.11", "several blocks for a tile", "bins", ["blocks for all multiprocessors"], "bins",
                      "times the rate of one block", "one block"),
            extension("5.12", "four bits a counter", both, ["4 bits"], "input", "times the rate of 8 bits", "8 bits", labels=wafers),
            extension("5.13", "streams", both, ["two", "three", "four", "five"], "input", "times the rate of one stream", "one stream",
                      labels=wafers, guides=[(1.2, "about 1.2")]),
            extension("5.14", "partitioning", both, ["the middle eighth", "8 bits, the middle eighth", "packed_window"], "input",
                      "times the rate of all bins", "all bins", labels=wafers, equal_over="8 bits, all bins")], each=True),
        "milic": picture([
            panel("milic figure 3", "Figure 3: samples, 256 bins", "samples", milic, "samples", None, speed_up, "sequential"),
            panel("milic figure 4", "Figure 4: bins, uniform i32", "bins", milic, "bins", None, speed_up, "sequential"),
            winner_map("Figure 11: the paper's algorithms, Gsamples/s", theirs, borders=border, notes=regions),
            winner_map("With our choices among them", theirs + ["our choice with transfers", CPU]),
            panel("milic figure 10", "Figure 10: overlapped transfers", "bins",
                  ["without overlap", "with overlap", "our choice with transfers"], "bins", None, speed_up, "sequential")]),
        "nvidia": picture([
            panel(f"nvidia section {h}", h, "distribution", ["sequential", h, "merged by a kernel", "16 bytes a load", GPU, CPU], "input",
                  plain(f"nvidia section {h}"), "Gsamples/s = GB/s") for h in ("histogram64", "histogram256")]),
        "handbook": picture([
            panel("handbook table 4", "Contention: from 256 values to one", "distinct values of 8-bit samples",
                  ["per grid", "per block", "padded to 257", "with a reduction", "per block, best copies", GPU, CPU], "input",
                  distinct)]),
        "lecture": picture([ladder()]),
        "lecture-balance": picture(balance_panels(), 3),
    }
