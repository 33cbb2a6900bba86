"""The pictures of docs/applications.md."""
import io
import pathlib

import matplotlib
import numpy as np
from matplotlib import pyplot
from PIL import Image

matplotlib.use("Agg")
pyplot.rcParams.update({"font.size": 8, "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False})
BLUE, RED, GREEN, PURPLE, GRAY = "#4477aa", "#ee6677", "#228833", "#aa3377", "#777777"
COLORS = 256
WIDE = 8.6  # inches, of 100 pixels


def figure(rows, columns, height, heights=None, widths=None):
    return pyplot.subplots(rows, columns, figsize=(WIDE, height), squeeze=False, height_ratios=heights, width_ratios=widths,
                           layout="constrained")


def span(drawn, axes, row, column, wide):
    """One panel instead of several beside each other."""
    for i in range(column, column + wide):
        axes[row, i].remove()
    return drawn.add_subplot(axes[row, column].get_gridspec()[row, column:column + wide])


def save(drawn, folder, name):
    """As a PNG with a palette, which is small."""
    buffer = io.BytesIO()
    drawn.savefig(buffer, dpi=100)
    pyplot.close(drawn)
    picture = Image.open(buffer).convert("RGB").quantize(COLORS, dither=Image.Dither.NONE)
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    picture.save(f"{folder}/{name}.png", optimize=True)


def show(axes, image, title, low=0, high=255):
    axes.imshow(image, cmap="gray", vmin=low, vmax=high, interpolation="antialiased")
    axes.set_title(title)
    axes.axis("off")


def bars(axes, edges, counts, title="", color=BLUE, log=False):
    """A histogram; a bin that rises above all others may leave the picture."""
    axes.fill_between(edges[:-1], counts, step="post", color=color, linewidth=0)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_title(title)
    axes.set_yscale("log" if log else "linear")
    if not log:
        axes.set_ylim(0, 1.3 * np.sort(counts)[-3])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def curve(axes, x, y, title, x_label="before", y_label="after", color=RED, label=None):
    axes.plot(x, y, color=color, label=label)
    axes.set_title(title)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
