"""histo.image on a GPU beside torchvision, kornia and cuCIM: `script/bench images [--quick] [-o FILE.json]`.

All are called in turn on the same tensors, in one process. Times are those of the clock, of many calls and the wait for
the last of them, the least of many rounds. `graph` is a launch of a CUDA graph that has captured the call, and `torch`
what torchvision does, written with PyTorch. Libraries that are not installed, and functions that they do not have, are
left out. kornia takes floats from 0 to 1, which the images are converted to beforehand, and cuCIM arrays of CuPy.
Results of histo.image are compared with those of the CPU.
"""

import argparse
import importlib
import json
import platform
import sys

import numpy as np
import torch
from python_calls import clocked, text_of

import histo
from histo import image as hi


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


vision, enhance, exposure, filters, cupy = map(optional, (
    "torchvision.transforms.v2.functional", "kornia.enhance", "cucim.skimage.exposure", "cucim.skimage.filters",
    "cupy"))
LIBRARIES = {"torch": torch, "torchvision": vision, "kornia": enhance, "cucim": exposure}
SHAPES = {"720p": (720, 1280), "4K": (2160, 3840), "16 of 1080p": (16, 1080, 1920),
          "64 of 512 x 512": (64, 512, 512)}
TARGETS = {"4K": 20, "16 of 1080p": 30, "64 of 512 x 512": 30}


def picture(shape, seed):
    """Two hills of gray."""
    rng = np.random.default_rng(seed)
    dark = rng.random(shape, np.float32) < 0.4
    noise = rng.standard_normal(shape, np.float32)
    return (np.clip(np.where(dark, 0.25 + 0.08 * noise, 0.7 + 0.1 * noise), 0, 1) * 255).astype(np.uint8)


def options_of(x):
    return {"batch_axis": 0} if x.ndim == 3 else {}


def planes(x):
    """As torchvision and kornia take images: (batch, channels, rows, columns)."""
    return x.unsqueeze(-3) if x.ndim == 3 else x[None, None]


# Each task: (library, its call), ours first.


def equalize_by_torch(x):
    """The steps of torchvision's equalize: counts by scatter_add_, and a table by their cumulative sum."""
    flat = x.flatten(start_dim=-2).long()
    counts = flat.new_zeros((*x.shape[:-2], 256), dtype=torch.int32)
    counts.scatter_add_(-1, flat, counts.new_ones(1).expand_as(flat))
    below = counts.cumsum(-1)
    step = (flat.shape[-1] - counts.gather(-1, below.argmax(-1, keepdim=True))).div(255, rounding_mode="floor")
    table = torch.zeros_like(below)
    table[..., 1:] = (below[..., :-1] + step // 2).div(step.clamp(min=1), rounding_mode="floor").clamp(0, 255)
    return torch.where(step[..., None] > 0, table.gather(-1, flat).view_as(x), x).to(torch.uint8)


def equalize(x, _):
    yield "histo", lambda: hi.equalize(x, **options_of(x))
    p = planes(x)
    yield "torch", lambda: equalize_by_torch(x)
    if vision:
        yield "torchvision", lambda: vision.equalize(p)
    if enhance:
        f = p.float() / 255
        yield "kornia", lambda: enhance.equalize(f)
    if exposure and x.ndim == 2:
        c = cupy.asarray(x)
        yield "cucim", lambda: exposure.equalize_hist(c, nbins=256)


def clahe(x, _):
    yield "histo", lambda: hi.clahe(x, **options_of(x))
    if enhance:
        f = planes(x).float() / 255
        yield "kornia", lambda: enhance.equalize_clahe(f, 2.0, (8, 8))
    if exposure and x.ndim == 2:
        c = cupy.asarray(x)
        yield "cucim", lambda: exposure.equalize_adapthist(c)


def match(x, y):
    yield "histo", lambda: hi.match(x, y, **options_of(x))
    if exposure and x.ndim == 2:
        c, d = cupy.asarray(x), cupy.asarray(y)
        yield "cucim", lambda: exposure.match_histograms(c, d)


def segment(x, _):
    yield "histo", lambda: hi.segment(x, **options_of(x))
    if filters and x.ndim == 2:
        c = cupy.asarray(x)
        yield "cucim", lambda: c > filters.threshold_otsu(c)


TASKS = {"equalize": equalize, "clahe": clahe, "match": match, "segment by Otsu": segment}


def graph_of(call):
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = call()
    return lambda: (graph.replay(), kept)


def works(library, call):
    try:
        clocked(call, 1)
    except Exception as error:  # whatever such a library raises
        print(f"{library} is left out: {error}", file=sys.stderr)
        return False
    return True


def measure(task, shape, rounds):
    x, y = (torch.from_numpy(picture(SHAPES[shape], seed)).cuda() for seed in (1, 2))
    made = list(TASKS[task](x, y))
    ours, expected = made[0][1](), next(iter(TASKS[task](x.cpu().numpy(), y.cpu().numpy())))[1]()
    calls = {library: call for library, call in made if library == "histo" or works(library, call)}
    calls["graph"] = graph_of(calls["histo"])
    times, n = {}, {}
    for library, call in calls.items():
        clocked(call, 2)
        n[library], times[library] = max(1, min(1000, int(4000 / clocked(call, 3)))), []
    for _ in range(rounds):
        for library, call in calls.items():
            times[library].append(clocked(call, n[library]))
    return {"task": task, "shape": shape, "us": {k: min(v) for k, v in times.items()},
            "is_cpus": bool(np.array_equal(ours.cpu().numpy(), expected))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", dest="output", help="write all figures to this JSON file")
    parser.add_argument("--quick", action="store_true", help="one 4K image and a batch, few rounds")
    parser.add_argument("--gpu", action="store_true", help=argparse.SUPPRESS)  # script/bench installs for one
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("this needs PyTorch, and a GPU")
    shapes, rounds = (("4K", "64 of 512 x 512"), 5) if options.quick else (tuple(SHAPES), 30)
    libraries, cells, missed = ["histo", "graph", *LIBRARIES], [], []
    print(f"{torch.cuda.get_device_name()}; microseconds of one of many calls; * differs from the CPU's result\n")
    print(f"| task | images | {' | '.join(libraries)} | over the best |\n|---|---|{'--:|' * (len(libraries) + 1)}")
    for task in TASKS:
        for shape in shapes:
            cell = measure(task, shape, rounds)
            us = cell["us"]
            cells.append(cell)
            peers = [us[name] for name in LIBRARIES if name in us]
            ratio = min(peers) / us["histo"] if peers else None
            row = [text_of(us[name]) if name in us else "" for name in libraries]
            row[0] += "" if cell["is_cpus"] else "*"
            print(f"| {task} | {shape} | {' | '.join(row)} | {'' if ratio is None else f'{ratio:.1f}'} |", flush=True)
            if not cell["is_cpus"]:
                missed.append(f"{task}, {shape}: the result is not the CPU's")
            elif task == "equalize" and ratio is not None and ratio < TARGETS.get(shape, 0):
                missed.append(f"{task}, {shape}: {ratio:.1f} times as fast as the best, target {TARGETS[shape]}")
    if not any(name in cell["us"] for cell in cells for name in ("torchvision", "kornia", "cucim")):
        missed.append("no other library is installed to compare with")
    print("\nAll targets are met." if not missed else "\nMissed:\n- " + "\n- ".join(missed))
    if options.output:
        versions = {name: getattr(importlib.import_module(name), "__version__", "?")
                    for name in ("torch", *LIBRARIES) if optional(name)}
        with open(options.output, "w") as file:
            json.dump({"python": platform.python_version(), "histo": histo.__version__, "versions": versions,
                       "cells": cells}, file, indent=1)


if __name__ == "__main__":
    main()
