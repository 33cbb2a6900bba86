"""Pictures as SVG text: panels of curves, of marks at names, or of tiles, with a legend beside them.

Not by matplotlib: these pictures are the same to the byte on every machine, so that a test can compare them without
installing anything, and their text stays text, which makes a picture a few kilobytes.

A kernel has one colour and one shape of mark, our choices are black and grey and thick, and the style tells where a
number is from: "solid" and "dashed" are two terms on which a kernel was measured, "published" is a paper's number.
"""
import html
import itertools
import math
import textwrap

LEFT, RIGHT, TOP, BOTTOM = 66, 14, 30, 48  # pixels around a plot area
HEIGHT, WIDE, ALONE = 240, 330, 560        # of a plot area, which is wider alone than beside others
COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255", "#999933", "#332288", "#a6761d",
          "#44aa99", "#e31a1c"]
OURS = {"CPU": ("#777777", 1), "transfers": ("#443388", 2), "": ("#000000", 0)}  # by a word of the label: colour, shape
VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"]
# A circle, and polygons: how many corners, and the direction of one in eighths of a turn, clockwise from the right.
SHAPES = [(0, 0), (4, 1), (3, -2), (4, 0), (3, 2), (5, -2), (3, 0), (3, 4)]
FILL = {"solid": 1, "dashed": 0.25, "published": 0}  # opacity of marks
MEANING = {"solid": "on equal terms", "dashed": "configured as published", "published": "published number"}
GUIDE, BORDER, BAND = "stated in the text", "border in the paper", "#e9f2e4"
GUIDE_LOOK, BORDER_LOOK = 'stroke="#555" stroke-dasharray="2 3"', 'stroke="#000" stroke-width="2.5"'
ITALIC = 'font-style="italic"'
BEST_LOOK = 'stroke="#e31a1c" stroke-width="2.5"'
DASHES = 'stroke-dasharray="6 4"'
NARROW = 24  # characters in a line of the legend
FACTORS = [(1.2, [1, 2, 3, 5, 7]), (2.2, [1, 2, 5]), (math.inf, [1])]  # of labels, up to so many powers of ten


def px(x):
    return f"{round(x, 1) + 0:.1f}".removesuffix(".0")


def text(x, y, words, size=12, anchor="middle", more=""):
    return f'<text x="{px(x)}" y="{px(y)}" font-size="{size}" text-anchor="{anchor}" {more}>{html.escape(words)}</text>'


def stroke(points, look):
    """A line through points in pixels."""
    path = "".join(f"{'L' if i else 'M'}{px(x)} {px(y)}" for i, (x, y) in enumerate(points))
    return f'<path d="{path}" fill="none" {look}/>'


def segments(lines, look):
    """Unconnected lines of two points each, in one path."""
    path = "".join(f"M{px(a)} {px(b)}L{px(c)} {px(d)}" for a, b, c, d in lines)
    return f'<path d="{path}" {look}/>'


def outline(shape, radius):
    """From the middle on. Corners are farther out, so that all shapes look equally large."""
    corners, direction = SHAPES[shape]
    if not corners:
        return f"m{px(-radius)} 0a{radius} {radius} 0 1 0 {px(2 * radius)} 0a{radius} {radius} 0 1 0 {px(-2 * radius)} 0z"
    angles = [math.tau * (direction / 8 + i / corners) for i in range(corners)]
    places = [(0, 0)] + [(1.3 * radius * math.cos(a), 1.3 * radius * math.sin(a)) for a in angles]
    return "m" + " ".join(f"{px(x - a)} {px(y - b)}" for (a, b), (x, y) in zip(places, places[1:])) + "z"


def marks(points, color, shape, style):
    """Published ones are empty, and large enough for another to be seen inside."""
    form = outline(shape, 4.8 if style == "published" else 3.4)
    path = "".join(f"M{px(x)} {px(y)}{form}" for x, y in points)
    return f'<path d="{path}" stroke="{color}" stroke-width="1.5" fill="{color}" fill-opacity="{FILL[style]}"/>'


def box(x, y, wide, high, fill, more=""):
    return f'<rect x="{px(x)}" y="{px(y)}" width="{px(wide)}" height="{px(high)}" fill="{fill}" {more}/>'


def short(number):
    """4 Ki for 4096, 0.1 for 0.1; a name as it is."""
    if isinstance(number, str):
        return number
    for unit, size in (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)):
        if number >= size and number % size == 0:
            return f"{number // size:.0f} {unit}"
    return f"{number:.4g}" if number < 10000 else f"{number:.0f}"


# ---- Axes: places in pixels from `begin` to `end`, and ticks as (value, label), where minor ones have no label ----

class Logarithmic:
    def __init__(self, values, begin, end, base):
        self.begin, self.end, self.base = begin, end, base
        low, high = math.log(min(values), base), math.log(max(values), base)
        margin = (high - low) * 0.04 + 0.02
        self.low, self.high = low - margin, high + margin

    def at(self, value):
        return self.begin + (self.end - self.begin) * (math.log(value, self.base) - self.low) / (self.high - self.low)

    def ticks(self):
        exponents = range(math.floor(self.low), math.floor(self.high) + 1)
        if self.base == 2:
            step = next(s for s in (1, 2, 4, 8, 16) if len(exponents) * 42 <= s * abs(self.end - self.begin))
            found = [(2**e, "" if e % step else short(2**e)) for e in exponents]
        else:
            factors = next(f for most, f in FACTORS if self.high - self.low <= most)
            found = [(10.0**e * f, short(10.0**e * f) if f in factors else "")
                     for e in exponents for f in sorted({*factors, *range(1, 10)})]
        return [(tick, label) for tick, label in found if self.low <= math.log(tick, self.base) <= self.high]


class Linear:
    """From 0."""

    def __init__(self, values, begin, end):
        self.begin, self.end, self.high = begin, end, max(values) * 1.06

    def at(self, value):
        return self.begin + (self.end - self.begin) * value / self.high

    def ticks(self):
        step = next(f * 10.0**e for e in range(-3, 9) for f in (1, 2, 5) if self.high <= 6 * f * 10.0**e)
        return [(i * step, short(round(i * step, 9))) for i in range(int(self.high / step) + 1)]


class Names:
    """A place for each name; between numbers, values that they do not contain have places by their logarithm."""

    def __init__(self, names, begin, end):
        self.names, self.begin, self.end = names, begin, end
        self.each = (end - begin) / len(names)

    def at(self, index):
        return self.begin + self.each * (index + 0.5)

    def between(self, numbers, value):
        i = max((i for i, n in enumerate(numbers[:-1]) if n <= value), default=0)
        index = i + math.log(value / numbers[i]) / math.log(numbers[i + 1] / numbers[i]) if len(numbers) > 1 else 0
        return self.at(min(max(index, -0.5), len(numbers) - 0.5))

    def ticks(self):
        return list(enumerate(self.names))


def tilted_room(x):
    """The height of names along x that must be tilted, or 0."""
    length = max(map(len, x.names)) * 6.6 if isinstance(x, Names) else 0
    return 0.47 * length if length and length + 4 > x.each else 0


def below(panel, wide):
    return BOTTOM + (tilted_room(Names(panel["names"], 0, wide)) if panel["names"] else 0)


def frame(panel, x, y):
    """Axes, ticks and labels around the plot area, without a grid."""
    tilted, middle = tilted_room(x), (y.begin + y.end) / 2
    out = [text(x.begin - LEFT + 8, y.end - 12, panel["title"], 13, "start", 'font-weight="bold"')]
    for tick, label in x.ticks():
        at = x.at(tick)
        turn = f'transform="rotate(-28 {px(at + 5)} {px(y.begin + 15)})"'
        if label:
            out.append(text(at + 5, y.begin + 15, label, 11, "end", turn) if tilted else text(at, y.begin + 17, label, 11))
    out += [text(x.begin - 7, y.at(tick) + 4, label, 11, "end") for tick, label in y.ticks() if label]
    out.append(segments([(x.at(t), y.begin, x.at(t), y.begin + (5 if label else 3)) for t, label in x.ticks()] +
                        [(x.begin - (5 if label else 3), y.at(t), x.begin, y.at(t)) for t, label in y.ticks()] +
                        [(x.begin, y.begin, x.end, y.begin), (x.begin, y.begin, x.begin, y.end)], 'stroke="#222"'))
    out.append(text((x.begin + x.end) / 2, y.begin + BOTTOM + tilted - 12, panel["x"]))
    up = x.begin - LEFT + 14
    out.append(text(up, middle, panel["y"], 12, "middle", f'transform="rotate(-90 {px(up)} {px(middle)})"'))
    return out


# ---- Panels ----

def curves(title, x_label, y_label, series, names=None, base=2, one=False, guides=(), bands=()):
    """Curves, or marks side by side at each of `names`; the y axis is logarithmic if values differ much.

    series: (label, points, style), points (x, y), where x counts `names` if there are any. one: with a line at y = 1, if
    that is in sight. guides: (y, words), dotted lines across for what a paper states. bands: (x, x, words), shaded from
    the bottom to the top."""
    return {"draw": draw_curves, "title": title, "x": x_label, "y": y_label, "series": [s for s in series if s[1]],
            "names": names, "base": base, "one": one, "guides": guides, "bands": bands, "borders": ()}


def tiles(title, x_label, y_label, columns, rows, winners, borders=(), notes=()):
    """A map: winners[column, row] is (label, text), whose colour is that of the label; or (number, text), 0 to 1.

    borders: lines over it through points (x, y), which are numbers as columns and rows are. notes: (x, y, words), names
    of regions."""
    return {"draw": draw_tiles, "title": title, "x": x_label, "y": y_label, "columns": columns, "rows": rows,
            "names": [*map(short, columns)], "winners": winners, "borders": borders, "notes": notes, "series": (), "guides": ()}


def heat(title, x_label, y_label, columns, rows, values, most=None):
    """A map of numbers values[column, row] from dark to light, up to `most` (or the greatest); its tile is outlined."""
    most = most or max(values.values())
    return tiles(title, x_label, y_label, columns, rows, {at: (v / most, f"{v:.0f}" if v >= 100 else f"{v:.3g}") for at, v in values.items()})


def draw_curves(panel, left, top, wide, looks):
    series, bottom = panel["series"], top + HEIGHT
    values = [p[1] for s in series for p in s[1]] + [g[0] for g in panel["guides"]]
    y = Logarithmic(values, bottom, top, 10) if max(values) > 8 * min(values) else Linear(values, bottom, top)
    places = [p[0] for s in series for p in s[1]]
    names, base = panel["names"], panel["base"]
    x = Names(names, left, left + wide) if names else Logarithmic(places, left, left + wide, base)
    clip = lambda value: min(max(x.at(value), left), left + wide)
    out = [box(clip(a), top, clip(b) - clip(a), HEIGHT, BAND) for a, b, _ in panel["bands"]]
    if names:
        out += [box(x.at(i - 0.5), top, x.each, HEIGHT, "#f3f3f3") for i in range(0, len(names), 2)]
    out.append(segments([(left, y.at(t), left + wide, y.at(t)) for t, label in y.ticks() if label], 'stroke="#ddd"'))
    out += [text((clip(a) + clip(b)) / 2, top + 14, words, 11) for a, b, words in panel["bands"]]
    if panel["one"] and top < y.at(1) < bottom - 8:
        out.append(segments([(left, y.at(1), left + wide, y.at(1))], 'stroke="#777"'))
    for value, words in panel["guides"]:
        up = y.at(value)
        near = [x.at(a) for s in series for a, b in s[1] if -18 < y.at(b) - up < 8]
        to_left = sum(a > left + wide / 2 for a in near) > len(near) / 2
        out.append(segments([(left, up, left + wide, up)], GUIDE_LOOK))
        out.append(text(left + 4 if to_left else left + wide - 4, up - 4, words, 11, "start" if to_left else "end", ITALIC))
    labels = list(dict.fromkeys(s[0] for s in series))
    for label, points, style in sorted(series, key=lambda s: is_ours(s[0])):
        color, shape = looks[label]
        aside = x.each * 0.84 * ((labels.index(label) + 0.5) / len(labels) - 0.5) if names else 0
        places = [(x.at(a) + aside, y.at(b)) for a, b in points]
        if not names and style != "published":
            out.append(stroke(places, line_look(label, color, style)))
        out.append(marks(places, color, shape, style))
    return out + frame(panel, x, y)


def draw_tiles(panel, left, top, wide, looks):
    columns, rows = panel["columns"], panel["rows"]
    x = Names(panel["names"], left, left + wide)
    y = Names([*map(short, rows)], top + HEIGHT, top)
    out = []
    for (column, row), (paint, words) in panel["winners"].items():
        a, b = x.at(columns.index(column)), y.at(rows.index(row))
        fill = pale(looks[paint][0]) if isinstance(paint, str) else viridis(paint)
        shrink, look = (2, BEST_LOOK) if paint == 1 else (0.5, "")
        across, up = x.each / 2 - shrink, -y.each / 2 - shrink
        out.append(box(a - across, b - up, 2 * across, 2 * up, fill, look))
        out.append(text(a, b + 4, words, 11, more='fill="#fff"' if is_dark(fill) else ""))
    for border in panel["borders"]:
        out.append(stroke([(x.between(columns, a), y.between(rows, b)) for a, b in border], BORDER_LOOK))
    for a, b, words in panel["notes"]:
        out += [text(x.between(columns, a), y.between(rows, b) + 4, words, 12, "middle", f"{ITALIC} {halo}")
                for halo in ('stroke="#fff" stroke-width="4" stroke-linejoin="round"', "")]
    return out + frame(panel, x, y)


# ---- Colours, shapes and lines ----

def is_ours(label):
    return label.startswith("our choice")


def channels(color):
    return [int(color[i:i + 2], 16) for i in (1, 3, 5)]


def mix(a, b, t):
    return "#" + "".join(f"{round(x * (1 - t) + y * t):02x}" for x, y in zip(channels(a), channels(b)))


def pale(color):
    """Of tiles, so that text on them can be read."""
    return mix(color, "#ffffff", 0.4)


def is_dark(color):
    red, green, blue = channels(color)
    return 0.30 * red + 0.59 * green + 0.11 * blue < 128


def viridis(t):
    """The colour for t in 0 to 1: lighter is more, to the eye in even steps."""
    at = min(max(t, 0), 1) * (len(VIRIDIS) - 1)
    i = min(int(at), len(VIRIDIS) - 2)
    return mix(VIRIDIS[i], VIRIDIS[i + 1], at - i)


def line_look(label, color, style):
    return f'stroke="{color}" stroke-width="{3.2 if is_ours(label) else 1.8}" {DASHES if style == "dashed" else ""}'


def find_looks(labels, kernels):
    """(colour, shape) of each label. kernels: a label that begins as one of these has the place there, the same in all
    pictures; others have the next that is free. Labels of one kernel have different shapes."""
    name = {label: max((k for k in kernels if label.startswith(k)), key=len, default=None) for label in labels}
    free = (i for i in itertools.count() if i not in {kernels[k] for k in name.values() if k})
    looks, used = {}, []
    for label in labels:
        if is_ours(label):
            looks[label] = OURS[next(word for word in OURS if word in label)]
            continue
        place = kernels[name[label]] if name[label] else next(free)
        looks[label] = COLORS[place % len(COLORS)], (place + used.count(place)) % len(SHAPES)
        used.append(place)
    return looks


# ---- The legend ----

def labels_of(panels):
    """Of series and tiles, ours last."""
    labels = [s[0] for p in panels for s in p["series"]]
    labels += [w[0] for p in panels for w in p.get("winners", {}).values() if isinstance(w[0], str)]
    return sorted(dict.fromkeys(labels), key=is_ours)


def entries_of(panels, looks):
    """(parts of the key around (0, 0), words) for each label, and for each style, guide and border that is used."""
    series = [(s, p["names"]) for p in panels for s in p["series"]]
    winners = [w[0] for p in panels for w in p.get("winners", {}).values()]
    styles, out = {s[2] for s, _ in series}, []
    rule = lambda look: [segments([(0, 0, 30, 0)], look)]
    for label in labels_of(panels):
        color, shape = looks[label]
        own = {(style, names is None) for (name, _, style), names in series if name == label}
        lined = [style for style in ("solid", "dashed") if (style, True) in own]
        key = [box(5, -7, 20, 14, pale(color))] if label in winners else []
        for style in lined[:1]:
            key += rule(line_look(label, color, style))
        if own:
            key.append(marks([(15, 0)], color, shape, next(style for style in FILL if {(style, True), (style, False)} & own)))
        out.append((key, label))
    for style in FILL:
        if style in styles and (style != "solid" or "dashed" in styles):
            lined = style != "published" and any(s[2] == style and not names for s, names in series)
            line = rule(line_look("", "#555", style)) if lined else []
            out.append((line + [marks([(15, 0)], "#555", 0, style)], MEANING[style]))
    if any(p["guides"] for p in panels):
        out.append((rule(GUIDE_LOOK), GUIDE))
    if any(p["borders"] for p in panels):
        out.append((rule(BORDER_LOOK), BORDER))
    if any(not isinstance(w, str) for w in winners):
        out.append(([box(3 * i, -7, 3.2, 14, viridis(i / 9)) for i in range(10)], "0 to the best"))
        out.append(([box(5, -7, 20, 14, "none", BEST_LOOK)], "the best"))
    return [(key, textwrap.wrap(words, NARROW)) for key, words in out]


def legend(entries, left, top):
    """Entries below each other; returns them and where they end."""
    out = []
    for key, words in entries:
        out += [f'<g transform="translate({px(left)} {px(top)})">', *key, "</g>"]
        out += [text(left + 38, top + 4 + 14 * i, part, 12, "start") for i, part in enumerate(words)]
        top += 6 + 14 * len(words)
    return out, top


def width_of(entries):
    return 48 + 6.9 * max((len(part) for _, words in entries for part in words), default=0)


def picture(panels, columns=2, kernels=(), each=False):
    """All panels, `columns` side by side, with one legend at their right; each: with its own at the right of each."""
    looks = find_looks(labels_of(panels), dict(kernels))
    columns = min(columns, len(panels))
    wide = WIDE if columns > 1 else ALONE
    shared = [] if each else entries_of(panels, looks)
    aside = max(width_of(entries_of([p], looks)) for p in panels) if each else 0
    pitch = LEFT + wide + RIGHT + aside
    width = columns * pitch + (0 if each else width_of(shared))
    out, end = legend(shared, columns * pitch, TOP + 12)
    top = 4
    for first in range(0, len(panels), columns):
        row = panels[first:first + columns]
        for i, panel in enumerate(row):
            left = i * pitch + LEFT
            out += panel["draw"](panel, left, top + TOP, wide, looks)
            if each:
                out += legend(entries_of([panel], looks), left + wide + RIGHT, top + TOP + 8)[0]
        top += TOP + HEIGHT + max(below(p, wide) for p in row) + 6
    width, height = round(width), round(max(top, end))
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    font = 'font-family="DejaVu Sans, Verdana, Arial, sans-serif" fill="#222"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>', box(0, 0, width, height, "#fff"), *out, "</svg>"]) + "\n"
