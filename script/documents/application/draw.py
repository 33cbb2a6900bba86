"""The pictures of docs/applications.md, from the inputs and results in the current directory."""
import numpy as np
from matplotlib.patches import Rectangle

import compare
import data
import search
from pictures import BLUE, GRAY, GREEN, PURPLE, RED, bars, curve, figure, save, show, span

RANGES = {"scan": "0:5000", "standard": "0:110"}
FRAME = 1  # of the video that is shown


def histogram(axes, name, title="", low=0, high=256, bins=256, *more):
    bars(axes, *compare.count("-b", str(bins), "-r", f"{low}:{high}", *more, name), title)


def equalization():
    drawn, axes = figure(2, 4, 4.6, [2, 1])
    names = ["moon.png", "moon-equalized.png", "grace_hopper.jpg", "hopper-equalized.png"]
    for i, name in enumerate(names):
        show(axes[0, i], compare.image(name), "after" if i % 2 else "before")
        histogram(axes[1, i], name, "", 0, 256, 256, "--channel", "gray" if i > 1 else "0")
    before, after = compare.image("moon.png"), compare.image("moon-equalized.png")
    levels = np.unique(before)
    twin = axes[1, 0].twinx()
    curve(twin, levels, [after[before == level][0] for level in levels], "", "", "")
    twin.set_yticks([0, 255])
    return drawn


def clahe():
    drawn, axes = figure(2, 4, 4.4, [2, 1])
    for i, name in enumerate(["camera.png", "camera-clahe.png"]):
        show(axes[0, i], compare.image(name), "after" if i else "before")
        histogram(axes[1, i], name)
    show(axes[0, 2], compare.scan(), "before")
    show(axes[0, 3], compare.image("scan-clahe.png"), "after")
    bars(axes[1, 2], *compare.count("--dtype", "u16", "--endian", "big", "--shape", "256x256", "-b", "256", "-r", "0:256", "s1045.ima.gz"))
    histogram(axes[1, 3], "scan-clahe.png")
    for i in (2, 3):
        axes[1, i].set_ylim(0, 700)
    return drawn


def display():
    drawn, axes = figure(2, 3, 4.4, [2, 1])
    light = np.load("radiance.npy")
    show(axes[0, 0], light / light.max(), "as it is", 0, 1)
    show(axes[0, 1], (light / light.max())**(1 / 2.2), "with a gamma of 2.2", 0, 1)
    result = compare.image("display.npy")
    show(axes[0, 2], result, "equalized", 0, 1)
    edges, counts = compare.count("--log", "-b", "256", "-r", f"{light.min()}:{light.max()}", "radiance.npy")
    bars(axes[1, 0], np.log10(edges), counts, "decimal logarithm")
    order = np.argsort(light, axis=None)[::64]
    curve(axes[1, 1], light.flat[order], result.flat[order], "the curve", "before", "after")
    axes[1, 1].set_xscale("log")
    histogram(axes[1, 2], "display.npy", "", 0, 1)
    return drawn


def video():
    drawn, axes = figure(1, 3, 2.4, None, [1, 1, 2])
    for name, label, color in [("lamp.y4m", "before", GRAY), ("equalized.y4m", "each frame alone", BLUE),
                               ("smooth.y4m", "eight frames together", RED)]:
        means = compare.lumas(name)[:, :, :160].mean((1, 2))
        curve(axes[0, 2], np.arange(len(means)), means, "mean luma of the left half", "frame", "", color, label)
    axes[0, 2].legend(frameon=False, fontsize=7)
    for i, name in enumerate(["lamp.y4m", "equalized.y4m"]):
        axes[0, i].imshow(compare.rgb_frame(name, FRAME))
        axes[0, i].set_title("after" if i else "before")
        axes[0, i].axis("off")
    return drawn


def match():
    drawn, axes = figure(2, 3, 4.4, [2, 1])
    for i, (name, title) in enumerate([("chelsea.png", "image"), ("coffee.png", "reference"), ("matched.png", "result")]):
        show(axes[0, i], compare.image(name), title)
        for channel, color in zip("rgb", (RED, GREEN, BLUE)):
            edges, counts = compare.count("-b", "64", "-r", "0:256", "--channel", channel, name)
            axes[1, i].plot(edges[:-1], counts, color=color, linewidth=1)
        axes[1, i].set_xlim(0, 256)
        axes[1, i].set_ylim(0, 25000)
        axes[1, i].set_yticks([])
    return drawn


def scans():
    drawn, axes = figure(2, 2, 4.2)
    for column, (name, title) in enumerate([("scan", "before"), ("standard", "after")]):
        for i, color in enumerate([BLUE, RED, GREEN], 1):
            edges, counts = compare.count("-b", "220", "-r", RANGES[name], f"{name}{i}.npy")
            axes[0, column].plot(edges[2:-1], counts[2:], color=color, label=f"scan {i}", linewidth=1)
        axes[0, column].set_title(title)
        axes[0, column].set_yticks([])
        axes[0, column].legend(frameon=False)
        slices = np.hstack([compare.image(f"{name}{i}.npy")[12] for i in (1, 2, 3)])
        low, high = map(float, RANGES[name].split(":"))
        show(axes[1, column], slices, f"a slice of each, shown from {low:.0f} to {high:.0f}", low, high)
    return drawn


def thresholds():
    drawn, axes = figure(2, 4, 4.4, [2, 1])
    for i, (name, result, arguments) in enumerate([("coins.png", "coins-binary.png", ["coins.png"]),
                                                   ("t1.png", "tissues.png", ["--classes", "4", "t1.png"])]):
        show(axes[0, 2 * i], compare.image(name), name)
        show(axes[0, 2 * i + 1], compare.image(result), "result", 0, compare.image(result).max())
        both = span(drawn, axes, 1, 2 * i, 2)
        histogram(both, name)
        for t in compare.thresholds(*arguments):
            both.axvline(t + 0.5, color=RED)
    return drawn


def backproject():
    drawn, axes = figure(1, 2, 3.6)
    show(axes[0, 0], compare.image("astronaut.png"), "the region")
    axes[0, 0].add_patch(Rectangle((90, 290), 50, 50, fill=False, edgecolor="white", linewidth=2))
    show(axes[0, 1], compare.image("suit.png"), "where its colours are")
    return drawn


def registration():
    drawn, axes = figure(1, 4, 2.5, None, [1, 1, 1, 1.5])
    t1, gray, moved = np.load("t1.npy"), np.load("gray.npy"), np.load("gray-moved.npy")
    show(axes[0, 0], t1[60], "T1-weighted")
    for i, (other, title) in enumerate([(gray, "gray matter over it"), (moved, "registered")], 1):
        axes[0, i].imshow(np.dstack([t1[60], other[60], t1[60]]))
        axes[0, i].set_title(title)
        axes[0, i].axis("off")
    z, y, x = data.SHIFT
    fixed = t1[12:-12, 12:-12, 12:-12]
    shifts = np.arange(-2, 13)
    found = [compare.information(fixed, gray[12 + z:108 + z, 12 + y:178 + y, 12 + n:144 + n]) for n in shifts]
    curve(axes[0, 3], shifts, found, "mutual information, nats", "shift along x", "", RED)
    axes[0, 3].axvline(x, color=GRAY, linewidth=1, linestyle="dashed")
    return drawn


def outliers():
    drawn, axes = figure(1, 3, 2.7, None, [1, 1, 1.9])
    die, x, y = data.FAULTS[1]
    for i, (number, title) in enumerate([(die, f"die {die}, {x}, {y}"), (die + 1, "its neighbour")]):
        show(axes[0, i], compare.image(f"die{number}.png")[y - 24:y + 24, x - 24:x + 24], title)
        axes[0, i].add_patch(Rectangle((20.5, 20.5), 7, 7, fill=False, edgecolor=RED, linewidth=1.5))
    axes[0, 2].imshow(compare.image("differences.png"))
    axes[0, 2].set_title("mean by difference, drawn by histo")
    axes[0, 2].axis("off")
    return drawn


def tracking():
    drawn, axes = figure(1, 2, 2.8)
    frame = compare.rgb_frame("ball.y4m", 20)
    axes[0, 0].imshow(frame)
    way = np.array([data.truth(i) for i in range(data.FRAMES)])
    axes[0, 0].plot(*way.T, color="white", linewidth=3)
    axes[0, 0].axis("off")
    for method, color in [("meanshift", BLUE), ("camshift", GREEN), ("comaniciu", RED), ("ellipse", PURPLE)]:
        found = compare.centers(method)
        axes[0, 0].plot(*found.T, color=color, linewidth=1)
        curve(axes[0, 1], np.arange(len(found)), np.hypot(*(found - way).T), "pixels between the centres", "frame", "", color, method)
    axes[0, 1].legend(frameon=False)
    return drawn


def search_of_windows():
    drawn, axes = figure(1, 3, 2.3)
    found = compare.search_distances()
    left, right = search.photographs()
    for i, (pixels, at, title) in enumerate([(left, search.AT, "left: the window that is looked for"),
                                             (right, search.place(found), "right: the window found")]):
        show(axes[0, i], pixels, title)
        axes[0, i].add_patch(Rectangle(at, search.SIZE, search.SIZE, fill=False, edgecolor=RED, linewidth=2))
    axes[0, 2].imshow(found, cmap="viridis", interpolation="antialiased")
    axes[0, 2].plot(*search.place(found), "o", markerfacecolor="none", markeredgecolor=RED, markersize=10)
    axes[0, 2].set_title("distances of all windows")
    axes[0, 2].axis("off")
    return drawn


PICTURES = {"equalization": equalization, "clahe": clahe, "display": display, "video": video, "match": match, "scans": scans, "thresholds": thresholds, "backproject": backproject, "registration": registration, "outliers": outliers, "tracking": tracking, "search": search_of_windows}


def all_pictures(folder):
    for name, picture in PICTURES.items():
        save(picture(), folder, name)
