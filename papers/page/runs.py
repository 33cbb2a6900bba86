"""The kept runs of the papers' experiments: points, series and their values."""
import json
import lzma
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "script/documents"))
from results import load

KEPT = ROOT / "docs/log/results/h100-papers.json.xz"
RUNS = []
EXPERIMENTS = {}


def keep(paths):
    """Make these results of 'histo bench paper' the kept runs. Where several have a value, the first counts."""
    runs = [load(path, "experiments") for path in paths]
    with lzma.open(KEPT, "wt", preset=9) as file:
        json.dump({"runs": runs}, file, separators=(",", ":"))


class Experiment:
    """An experiment in all runs that measured some of it."""

    def __init__(self, found):
        self.title, self.claim = found["title"], found["claim"]
        self.points, self.series, self.cells, self.values = [], {}, {}, []

    def add(self, found):
        for value in found["values"]:
            point = (value["input"], value["samples"])
            if point not in self.points:
                self.points.append(point)
            self.series.setdefault(value["series"], value["terms"])
            key = point, value["series"]
            if key not in self.cells or self.cells[key]["value"] is None and self.cells[key]["Gsamples_per_s"] is None:
                self.cells[key] = value
            self.values.append(value)


def read():
    RUNS[:] = load(KEPT, "runs")["runs"]
    for run in RUNS:
        for found in run["experiments"]:
            name = f"{found['paper']} {found['kind']} {found['number']}: {found['title']}"
            EXPERIMENTS.setdefault(name, Experiment(found)).add(found)


def experiment(name):
    """That whose name begins as `name` does, up to a part of the title: "milic figure 5 and 6: doubles"."""
    begin, _, part = name.partition(":")
    for key, found in EXPERIMENTS.items():
        if key.startswith(begin + ":") and part.strip() in key:
            return found
    sys.exit(f"no run has {name}")


def bins_of(point):
    parts = point[0].split("/")
    return int(parts[2]) if len(parts) > 2 else 256


def samples_of(point):
    return point[1]


def value(name, point, series, which="Gsamples_per_s"):
    """NaN where there is none."""
    found = experiment(name).cells.get((point, series))
    return math.nan if found is None or found[which] is None else found[which]


def terms_of(name, series):
    return experiment(name).series.get(series, "equal terms")


def points(name, where=""):
    """Those whose input matches an expression."""
    return [p for p in experiment(name).points if re.search(where, p[0])]


def best(name, point, series, which="Gsamples_per_s"):
    found = [value(name, point, s, which) for s in ([series] if isinstance(series, str) else series)]
    return max((x for x in found if not math.isnan(x)), default=math.nan)


def ratios(name, series, over, where="", which="Gsamples_per_s", least=0, most=math.inf):
    """The rates of a series, or of the best of several, over those of others, at points of so many bins."""
    picked = [p for p in points(name, where) if least <= bins_of(p) <= most]
    found = [best(name, p, series, which) / best(name, p, over, which) for p in picked]
    return [x for x in found if not math.isnan(x)]


def card():
    """The GPU's name and the number of threads of its host."""
    lines = [line for run in RUNS for line in run["machine"]]
    gpu = next((line.split(": ", 1)[1].split(",")[0] for line in lines if line.startswith("cuda:")), "GPU")
    return gpu, next(re.search(r"\d+", line)[0] for line in lines if line.startswith("cpu:"))
