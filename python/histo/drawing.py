"""Pictures of histograms: an SVG for notebooks, and matplotlib's."""

from __future__ import annotations

import base64
import struct
import zlib
from html import escape
from typing import Any

import numpy as np

from ._histo import LOG, POWER, SQRT
from .axes import Axis

WIDTH, HEIGHT = 440, 150
SQUARE = 300
LEFT, BOTTOM, TOP = 52, 34, 10
FILL, EDGE, FLOW = "#6f9fd8", "#2f5f9e", "#c9872f"
# Of matplotlib's viridis, at equal steps.
COLOURS = ("440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725")


def _number(x: float) -> str:
    """A short form of a number."""
    if abs(x) < 1e6 and x == int(x):
        return f"{int(x):,}"
    return f"{x:.3g}"


def _positions(axis: Axis) -> Any:
    """The edges of the bins from 0 to 1, equally spaced on axes of equal steps of log, sqrt or a power."""
    if axis._discrete or axis._tuple[0] in (LOG, SQRT, POWER):
        return np.linspace(0, 1, axis.size + 1)
    edges = axis.edges
    inside = edges[np.isfinite(edges)]
    if inside.size < 2 or inside[0] == inside[-1]:
        return np.linspace(0, 1, axis.size + 1)
    return (np.clip(edges, inside[0], inside[-1]) - inside[0]) / (inside[-1] - inside[0])


def _ends(axis: Axis) -> tuple[str, str]:
    if axis._discrete:
        return str(axis._bin(0)), str(axis._bin(axis.size - 1))
    return _number(axis.edges[0]), _number(axis.edges[-1])


def _text(x: float, y: float, text: str, anchor: str = "middle", turn: bool = False) -> str:
    turned = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turn else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turned}>{escape(text)}</text>')


def _svg(width: float, height: float, parts: list) -> str:
    return (f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{width:.0f}" '
            f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="11" '
            f'fill="currentColor">{"".join(parts)}</svg>')


def _axis_below(axis: Axis, left: float, width: float, y: float) -> list:
    """The labels below an axis: categories that fit, or the ends."""
    parts = []
    if axis._discrete and axis.size * 16 <= width and (
            axis.size <= 1 or max(len(str(axis._bin(i))) for i in range(axis.size)) * 7 <= width / axis.size):
        step = width / axis.size
        parts += [_text(left + (i + 0.5) * step, y + 13, str(axis._bin(i))) for i in range(axis.size)]
    else:
        low, high = _ends(axis)
        parts += [_text(left, y + 13, low, "start"), _text(left + width, y + 13, high, "end")]
    if axis.label:
        parts.append(_text(left + width / 2, y + 27, axis.label))
    return parts


def _draw_one(h: Any) -> str:
    axis = h.axes[0]
    cells = np.nan_to_num(h.values(flow=True).astype(float), posinf=0, neginf=0)
    flow = axis.traits
    values = cells[int(flow.underflow) : cells.size - int(flow.overflow)]
    at = _positions(axis) * WIDTH
    if axis.size > 2 * WIDTH:
        first = np.searchsorted(at, np.arange(0, WIDTH, 0.5), side="right") - 1
        first = np.unique(np.clip(first, 0, axis.size - 1))
        values, at = np.maximum.reduceat(values, first), np.append(at[first], WIDTH)
    high, low = max(values.max(initial=0), 0) or 1.0, min(values.min(initial=0), 0)
    scale = HEIGHT / (high - low)
    zero = TOP + high * scale
    path = [f"M{LEFT} {zero:.1f}"]
    gap = 0.1 * WIDTH / axis.size if axis._discrete and axis.size <= 60 else 0
    for begin, end, value in zip(at[:-1], at[1:], values, strict=True):
        y = TOP + (high - value) * scale
        bar = f"L{LEFT + begin + gap:.1f} {y:.1f}H{LEFT + end - gap:.1f}"
        path.append(f"H{LEFT + begin + gap:.1f}{bar}V{zero:.1f}" if gap else bar)
    path.append(f"V{zero:.1f}Z")
    parts = [f'<path d="{"".join(path)}" fill="{FILL}" stroke="{EDGE}" stroke-width="0.8" stroke-linejoin="round"/>']
    outside = [(cells[0], LEFT - 7, "underflow")] if flow.underflow else []
    outside += [(cells[-1], LEFT + WIDTH + 2, "overflow")] if flow.overflow else []
    for value, x, name in outside:
        tall = min(max(value, 0) * scale, HEIGHT)
        if tall > 0:
            parts.append(f'<rect x="{x}" y="{zero - tall:.1f}" width="5" height="{tall:.1f}" fill="{FLOW}">'
                         f"<title>{name}: {_number(value)}</title></rect>")
    parts.append(f'<path d="M{LEFT} {TOP}V{TOP + HEIGHT}M{LEFT} {zero:.1f}H{LEFT + WIDTH}" stroke="currentColor" '
                 'stroke-width="1" fill="none"/>')
    parts += [_text(LEFT - 10, TOP + 8, _number(high), "end"), _text(LEFT - 10, TOP + HEIGHT, _number(low), "end")]
    parts += _axis_below(axis, LEFT, WIDTH, TOP + HEIGHT)
    if h.label:
        parts.append(_text(13, TOP + HEIGHT / 2, h.label, turn=True))
    return _svg(LEFT + WIDTH + 14, TOP + HEIGHT + BOTTOM, parts)


def _png(pixels: Any) -> str:
    """The data URL of an image of colour numbers 0 … 255, of which 0 is transparent."""
    stops = np.array([[int(colour[i : i + 2], 16) for i in (0, 2, 4)] for colour in COLOURS], float)
    at = np.linspace(0, len(stops) - 1, 255)
    palette = np.stack([np.interp(at, np.arange(len(stops)), stops[:, c]) for c in range(3)], axis=1)
    palette = np.vstack([[[0, 0, 0]], palette]).round().astype(np.uint8)
    rows = np.hstack([np.zeros((len(pixels), 1), np.uint8), pixels.astype(np.uint8)])

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 3, 0, 0, 0)
    data = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"PLTE", palette.tobytes()) + chunk(b"tRNS", b"\0")
            + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + chunk(b"IEND", b""))
    return "data:image/png;base64," + base64.b64encode(data).decode()


def _draw_two(h: Any) -> str:
    x_axis, y_axis = h.axes
    values = np.nan_to_num(h.values().astype(float), posinf=0, neginf=0)
    middles = (np.arange(SQUARE) + 0.5) / SQUARE
    columns, rows = (np.clip(np.searchsorted(_positions(axis), middles, side="right") - 1, 0, axis.size - 1)
                     for axis in (x_axis, y_axis))
    if max(values.shape) > SQUARE:
        for d, places in enumerate((columns, rows)):
            values = np.maximum.reduceat(values, np.unique(places), axis=d)
        columns, rows = (np.unique(places, return_inverse=True)[1] for places in (columns, rows))
    high = values.max(initial=0) or 1.0
    shades = np.where(values > 0, 1 + np.clip(values / high, 0, 1) * 254, 0).round()
    image = shades[columns][:, rows].T[::-1]
    parts = [f'<image x="{LEFT}" y="{TOP}" width="{SQUARE}" height="{SQUARE}" style="image-rendering:pixelated" '
             f'xlink:href="{_png(image)}"/>',
             f'<rect x="{LEFT}" y="{TOP}" width="{SQUARE}" height="{SQUARE}" fill="none" stroke="currentColor"/>']
    parts += _axis_below(x_axis, LEFT, SQUARE, TOP + SQUARE)
    low_end, high_end = _ends(y_axis)
    parts += [_text(LEFT - 6, TOP + SQUARE, low_end, "end"), _text(LEFT - 6, TOP + 9, high_end, "end")]
    if y_axis.label:
        parts.append(_text(13, TOP + SQUARE / 2, y_axis.label, turn=True))
    ramp = _png(np.arange(255, 0, -1).repeat(12).reshape(-1, 12))
    x = LEFT + SQUARE + 14
    parts += [f'<image x="{x}" y="{TOP}" width="12" height="{SQUARE}" preserveAspectRatio="none" xlink:href="{ramp}"/>',
              _text(x + 17, TOP + 9, _number(high), "start"), _text(x + 17, TOP + SQUARE, "0", "start")]
    return _svg(x + 70, TOP + SQUARE + BOTTOM, parts)


def html(h: Any) -> str:
    """The SVG of one or two axes, and what repr says."""
    drawn = ""
    if not h.batch and h.storage != "sparse" and 0 not in h.axes.size and h.ndim <= 2:
        drawn = _draw_one(h) if h.ndim == 1 else _draw_two(h)
    return f"<div>{drawn}<pre>{escape(repr(h))}</pre></div>"


def plot(h: Any, ax: Any, options: dict) -> Any:
    """See Histogram.plot."""
    import matplotlib.pyplot as plt

    if ax is not None and not hasattr(ax, "figure"):
        raise TypeError(f"ax= is matplotlib's Axes, not {ax!r}")
    if h.batch:
        raise ValueError("a batch is not drawn: choose a histogram of it by entry()")
    if h.ndim > 2:
        raise ValueError(f"{h.ndim} axes cannot be drawn: project one or two")
    ax = plt.gca() if ax is None else ax
    places = [np.arange(axis.size + 1) - 0.5 if axis._discrete else axis.edges for axis in h.axes]
    if h.ndim == 1:
        options.setdefault("label", h.label or None)
        ax.stairs(h.values(), places[0], **options)
        ax.set_ylabel(h.label or "Counts")
    else:
        ax.figure.colorbar(ax.pcolormesh(*places, h.values().T, **options), ax=ax, label=h.label or "Counts")
    _dress(h.axes[0], ax.xaxis, ax.set_xscale)
    if h.ndim == 2:
        _dress(h.axes[1], ax.yaxis, ax.set_yscale)
    return ax


def _dress(axis: Axis, of_plot: Any, set_scale: Any) -> None:
    if axis.label:
        of_plot.set_label_text(axis.label)
    if axis._tuple[0] == LOG:
        set_scale("log")
    if axis._discrete and axis.size <= 30:
        of_plot.set_ticks(range(axis.size), [str(axis._bin(i)) for i in range(axis.size)])
