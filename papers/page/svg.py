"""Pictures as SVG text: panels of curves or tiles, with axes, units and one legend below.

Not by matplotlib: these pictures are the same to the byte on every machine, so that a test can compare them without
installing anything, and their text stays text, which makes a picture a few kilobytes.
"""
import html
import math

PANEL, ALONE, HEIGHT, LEFT, TOP, BOTTOM, GAP = 400, 660, 250, 64, 34, 80, 26
COLORS = ["#4477aa", "#ee6677", "#228833", "#66bbdd", "#dd8844", "#777777", "#885533", "#99bb44", "#333366", "#ee99bb"]
OURS = ["#aa3377", "#ccaa22"]
FACTORS = [(0.5, [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8]), (1.2, [1, 2, 3, 5, 7]), (2.2, [1, 2, 5]), (math.inf, [1])]
FONT = 'font-family="DejaVu Sans, Verdana, Arial, sans-serif" fill="#222"'


def text(x, y, words, size=12, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" {FONT} {more}>{html.escape(words)}</text>'


def line(x1, y1, x2, y2, color="#222", more=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" {more}/>'


def short(number):
    """4 Ki for 4096, 0.1 for 0.1."""
    for unit, size in (("Mi", 1 << 20), ("Ki", 1 << 10)):
        if number >= size and number % size == 0:
            return f"{number // size:.0f} {unit}"
    return f"{number:.4g}"


class Axis:
    """Positions along an axis, from `begin` to `end` in pixels: logarithmic, or one place for each name."""

    def __init__(self, values, begin, end, base=10, names=None):
        self.begin, self.end, self.names = begin, end, names
        self.base = base
        if names:
            self.low, self.high = -0.5, len(names) - 0.5
            return
        self.low, self.high = math.log(min(values), base), math.log(max(values), base)
        margin = (self.high - self.low) * 0.04 + 0.02
        self.low, self.high = self.low - margin, self.high + margin

    def at(self, value):
        position = value if self.names else math.log(value, self.base)
        return self.begin + (self.end - self.begin) * (position - self.low) / (self.high - self.low)

    def ticks(self):
        """(position, label) of each tick."""
        if self.names:
            return list(enumerate(self.names))
        exponents = range(math.ceil(self.low), math.floor(self.high) + 1)
        step = max(1, -(-len(exponents) // 8))
        span = self.high - self.low if self.base == 10 else math.inf
        factors = next(f for most, f in FACTORS if span <= most)
        found = [self.base**e * f for e in range(math.floor(self.low), math.floor(self.high) + 1, step) for f in factors]
        return [(tick, short(tick)) for tick in found if self.low <= math.log(tick, self.base) <= self.high]


def frame(x, y, up, title, x_label, y_label):
    out = [text(x.begin - LEFT + 6, y.end - 14, title, 13, "start", 'font-weight="bold"')]
    tilted = x.names and max(map(len, x.names)) * len(x.names) * 7 > x.end - x.begin
    for tick, label in x.ticks():
        at = x.at(tick)
        out.append(line(at, y.begin, at, y.begin + 4))
        turn = f'transform="rotate(-28 {at:.1f} {y.begin + 16:.1f})"' if tilted else ""
        out.append(text(at, y.begin + 17, label, 11, "end" if tilted else "middle", turn))
    for tick, label in y.ticks():
        at = y.at(tick)
        out.append(line(x.begin, at, x.end, at, "#ddd"))
        out.append(text(x.begin - 7, at + 4, label, 11, "end"))
    out += [line(x.begin, y.begin, x.end, y.begin), line(x.begin, y.begin, x.begin, y.end)]
    out.append(text((x.begin + x.end) / 2, y.begin + (70 if tilted else 38), x_label))
    out.append(text(up, (y.begin + y.end) / 2, y_label, 12, "middle",
                    f'transform="rotate(-90 {up:.1f} {(y.begin + y.end) / 2:.1f})"'))
    return out


def curve(x, y, color, points, published):
    """A line through the points; published ones are hollow and dashed."""
    path = " ".join(f"{'L' if i else 'M'}{x.at(a):.1f} {y.at(b):.1f}" for i, (a, b) in enumerate(points))
    dash = 'stroke-dasharray="5 4"' if published else ""
    out = [f'<path d="{path}" fill="none" stroke="{color}" stroke-width="2" {dash}/>']
    fill = "#fff" if published else color
    out += [f'<circle cx="{x.at(a):.1f}" cy="{y.at(b):.1f}" r="3.2" fill="{fill}" stroke="{color}" stroke-width="1.6"/>'
            for a, b in points]
    return out


def curves(title, x_label, y_label, series, names=None, base=2):
    """A panel: series are (label, points, published), points (x, y), where x counts `names` if there are any."""
    return {"title": title, "x": x_label, "y": y_label, "series": [s for s in series if s[1]], "names": names, "base": base}


def tiles(title, x_label, y_label, columns, rows, winners):
    """A panel of tiles: winners[column, row] is (label, text)."""
    return {"title": title, "x": x_label, "y": y_label, "columns": columns, "rows": rows, "winners": winners}


def draw_curves(panel, left, top, wide, color_of):
    points = [p for _, series, _ in panel["series"] for p in series]
    x = Axis([p[0] for p in points], left + LEFT, left + wide, panel["base"], panel["names"])
    y = Axis([p[1] for p in points], top + TOP + HEIGHT, top + TOP)
    out = frame(x, y, left + 14, panel["title"], panel["x"], panel["y"])
    for label, series, published in panel["series"]:
        out += curve(x, y, color_of(label), series, published)
    return out


def draw_tiles(panel, left, top, wide, color_of):
    x = Axis(None, left + LEFT, left + wide, names=[short(c) for c in panel["columns"]])
    y = Axis(None, top + TOP + HEIGHT, top + TOP, names=[short(r) for r in panel["rows"]])
    out = frame(x, y, left + 8, panel["title"], panel["x"], panel["y"])
    across, up = x.at(1) - x.at(0), y.at(0) - y.at(1)
    for (column, row), (label, words) in panel["winners"].items():
        a, b = x.at(panel["columns"].index(column)), y.at(panel["rows"].index(row))
        out.append(f'<rect x="{a - across / 2 + 1:.1f}" y="{b - up / 2 + 1:.1f}" width="{across - 2:.1f}" '
                   f'height="{up - 2:.1f}" fill="{color_of(label)}" fill-opacity="0.75"/>')
        out.append(text(a, b + 4, words, 11))
    return out


def is_ours(label):
    """Our choices have the same colours in all pictures."""
    return label.startswith("our choice")


def legend(entries, width, top, color_of):
    out, x, y = [], 20, top
    for label, published in entries:
        wide = 44 + 7.2 * len(label)
        if x + wide > width and x > 20:
            x, y = 20, y + 20
        dash = 'stroke-dasharray="5 4"' if published else ""
        color = color_of(label.removesuffix(", published"))
        out.append(line(x, y - 4, x + 26, y - 4, color, f'stroke-width="3" {dash}'))
        out.append(text(x + 32, y, label, 12, "start"))
        x += wide
    return out, y + 14


def picture(panels, columns=2):
    """All panels, `columns` side by side."""
    entries = []
    for panel in panels:
        found = [(label + ", published" * published, published) for label, _, published in panel.get("series", [])]
        found += [(label, False) for label, _ in panel.get("winners", {}).values()]
        entries += [e for e in dict.fromkeys(found) if e not in entries]
    labels = list(dict.fromkeys(label.removesuffix(", published") for label, _ in entries if not is_ours(label)))
    color_of = lambda label: OURS["CPU" in label] if is_ours(label) else COLORS[labels.index(label) % len(COLORS)]
    columns = min(columns, len(panels))
    wide = PANEL if len(panels) > 1 else ALONE
    width = columns * (wide + GAP) + 10
    pitch = TOP + HEIGHT + BOTTOM + 4
    out = []
    for i, panel in enumerate(panels):
        draw = draw_tiles if "winners" in panel else draw_curves
        out += draw(panel, i % columns * (wide + GAP), i // columns * pitch + 8, wide, color_of)
    rows = -(-len(panels) // columns)
    marks, height = legend(entries, width, rows * pitch + 24, color_of)
    out += marks
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                      f'viewBox="0 0 {width} {height}">', f'<rect width="{width}" height="{height}" fill="#fff"/>',
                      *out, "</svg>"]) + "\n"
