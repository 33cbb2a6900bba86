"""Calls of the Python package beside other libraries, one thread: `script/bench python [-o FILE.json]`.

All are called in turn on the same samples, in one process. Times are the CPU time of the process, the least of many
rounds. Counts are compared with NumPy's; a star marks a library whose counts differ. A library that is not installed is
left out.

--gpu: arrays of CuPy and PyTorch in the memory of a GPU instead. Times are then those of the clock, of many calls and the
wait for the last of them; `wait` counts one call and the wait for it.
"""

import argparse
import importlib
import json
import os
import platform
import time
from functools import partial

for variable in ("HISTO_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np

import histo

BINS, LO, HI = 100, 0.0, 1.0


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


bh, cupy, cv2, duckdb, fast, numba, pl, torch = map(
    optional, ("boost_histogram", "cupy", "cv2", "duckdb", "fast_histogram", "numba", "polars", "torch")
)
MODULES = {"numpy": np, "fast-histogram": fast, "boost-histogram": bh, "numba": numba, "opencv": cv2, "torch": torch,
           "cupy": cupy, "polars": pl, "duckdb": duckdb}
histo_cupy, histo_torch = map(optional, ("histo.cupy", "histo.torch"))
if cv2:
    cv2.setNumThreads(1)
if torch:
    torch.set_num_threads(1)
if duckdb:
    database = duckdb.connect(config={"threads": 1})

if numba:
    # What a user would write.
    @numba.njit
    def loop_regular(x, bins, lo, hi):
        counts, scale = np.zeros(bins, np.int64), bins / (hi - lo)
        for v in x:
            if lo <= v < hi:
                counts[int((v - lo) * scale)] += 1
            elif v == hi:
                counts[bins - 1] += 1
        return counts, np.linspace(lo, hi, bins + 1)

    @numba.njit
    def loop_weighted(x, bins, lo, hi, w):
        sums, scale = np.zeros(bins), bins / (hi - lo)
        for i in range(x.size):
            if lo <= x[i] < hi:
                sums[int((x[i] - lo) * scale)] += w[i]
            elif x[i] == hi:
                sums[bins - 1] += w[i]
        return sums

    @numba.njit
    def loop_2d(x, y, bins, lo, hi):
        counts, scale = np.zeros((bins, bins), np.int64), bins / (hi - lo)
        for i in range(x.size):
            if lo <= x[i] < hi and lo <= y[i] < hi:
                counts[int((x[i] - lo) * scale), int((y[i] - lo) * scale)] += 1
        return counts

    @numba.njit
    def loop_variable(x, edges):
        counts = np.zeros(edges.size - 1, np.int64)
        for v in x:
            if edges[0] <= v <= edges[-1]:
                counts[min(np.searchsorted(edges, v, side="right"), edges.size - 1) - 1] += 1
        return counts

    @numba.njit
    def loop_bincount(x, size):
        counts = np.zeros(size, np.int64)
        for v in x:
            counts[v] += 1
        return counts


def samples(dtype, n):
    random = np.random.default_rng(7)
    if np.dtype(dtype).kind == "f":
        return random.random(n).astype(dtype)
    return random.integers(0, 100, n).astype(dtype)


def limits(x):
    return (LO, HI) if x.dtype.kind == "f" else (0, 100)


def tensor(x):
    return torch.from_numpy(x) if torch else None


def boost_filler(axes, *data, **options):
    """Fills a kept histogram: what boost-histogram is fastest at. axes: a function that makes them."""
    kept = bh and bh.Histogram(*axes(), storage=bh.storage.Weight() if options else bh.storage.Int64())

    def fill():
        kept.reset()
        return kept.fill(*data, **options).values()

    return fill


# The tasks: the libraries, and how each is called. Those that are not installed are left out by measure.


def regular(dtype, n):
    x = samples(dtype, n)
    lo, hi = limits(x)
    t = tensor(x)
    yield "numpy", lambda: np.histogram(x, BINS, (lo, hi))[0]
    yield "histo", lambda: histo.histogram(x, BINS, (lo, hi))[0]
    yield "fast-histogram", lambda: fast.histogram1d(x, BINS, (lo, hi))
    yield "boost-histogram", boost_filler(lambda: [bh.axis.Regular(BINS, lo, hi)], x)
    yield "numba", lambda: loop_regular(x, BINS, lo, hi)[0]
    if dtype in ("f4", "u1", "u2"):
        yield "opencv", lambda: cv2.calcHist([x.reshape(1, -1)], [0], None, [BINS], [lo, hi]).ravel()
    if dtype in ("f8", "f4"):
        yield "torch", lambda: torch.histc(t, BINS, lo, hi).numpy()
    if pl and n > 10:
        series, inner = pl.Series(x), np.linspace(lo, hi, BINS + 1).tolist()
        yield "polars", lambda: series.hist(inner)[:, -1].to_numpy()
    if n >= 100_000 and dtype in ("f8", "f4"):
        bin_of = f"least(floor(column0 * {BINS}), {BINS - 1})::int"

        def query():
            sampled = x  # noqa: F841, which the query reads
            rows = database.execute(f"select {bin_of} b, count(*) n from sampled group by b order by b")
            return rows.fetchnumpy()["n"]

        yield "duckdb", query


def tiny(dtype, n):
    x = samples(dtype, n)
    yield "numpy", lambda: np.histogram(x, 10, (LO, HI))[0]
    yield "histo", lambda: histo.histogram(x, 10, (LO, HI))[0]
    yield "fast-histogram", lambda: fast.histogram1d(x, 10, (LO, HI))
    yield "numba", lambda: loop_regular(x, 10, LO, HI)[0]


def kept(dtype, n):
    x = samples(dtype, n)
    ours = histo.Histogram(histo.Regular(10, LO, HI))
    theirs = bh and bh.Histogram(bh.axis.Regular(10, LO, HI), storage=bh.storage.Int64())
    yield "histo", lambda: ours.fill(x)
    yield "boost-histogram", lambda: theirs.fill(x)


def variable(dtype, n):
    x = samples(dtype, n)
    edges = np.unique(np.concatenate([[LO, HI], np.random.default_rng(1).random(63)]))
    t, e = tensor(x), tensor(edges.astype(dtype))
    yield "numpy", lambda: np.histogram(x, edges)[0]
    yield "histo", lambda: histo.histogram(x, edges)[0]
    yield "boost-histogram", boost_filler(lambda: [bh.axis.Variable(edges)], x)
    yield "numba", lambda: loop_variable(x, edges)
    yield "torch", lambda: torch.histogram(t, e).hist.numpy()


def two(dtype, n):
    x, y = samples(dtype, n), samples(dtype, n)[::-1].copy()
    bins, both, planes = 64, [[LO, HI], [LO, HI]], [x.reshape(1, -1), y.reshape(1, -1)]
    yield "numpy", lambda: np.histogram2d(x, y, bins, both)[0]
    yield "histo", lambda: histo.histogram2d(x, y, bins, both)[0]
    yield "fast-histogram", lambda: fast.histogram2d(x, y, bins, both)
    yield "boost-histogram", boost_filler(lambda: [bh.axis.Regular(bins, LO, HI)] * 2, x, y)
    yield "numba", lambda: loop_2d(x, y, bins, LO, HI)
    if dtype == "f4":
        yield "opencv", lambda: cv2.calcHist(planes, [0, 1], None, [bins, bins], [LO, HI, LO, HI])


def weighted(dtype, n):
    x = samples(dtype, n)
    w = np.random.default_rng(3).random(n).astype(dtype)
    yield "numpy", lambda: np.histogram(x, BINS, (LO, HI), weights=w)[0]
    yield "histo", lambda: histo.histogram(x, BINS, (LO, HI), weights=w)[0]
    yield "fast-histogram", lambda: fast.histogram1d(x, BINS, (LO, HI), weights=w)
    yield "boost-histogram", boost_filler(lambda: [bh.axis.Regular(BINS, LO, HI)], x, weight=w)
    yield "numba", lambda: loop_weighted(x, BINS, LO, HI, w)


def bincount(size, dtype, n):
    x = np.random.default_rng(5).integers(0, size, n).astype(dtype)
    t = tensor(x)
    yield "numpy", lambda: np.bincount(x, minlength=size)
    yield "histo", lambda: histo.bincount(x, minlength=size)
    yield "numba", lambda: loop_bincount(x, size)
    yield "torch", lambda: torch.bincount(t, minlength=size).numpy()


SIZES = (10, 1_000, 100_000, 10_000_000)
CELLS = [
    *(("histogram of 10 bins", tiny, dtype, 10) for dtype in ("f8", "f4")),
    ("fill of a kept histogram", kept, "f8", 10),
    *(("regular", regular, dtype, n) for dtype in ("f8", "f4", "i8", "i4", "u2", "u1") for n in SIZES),
    *(("variable edges", variable, dtype, n) for dtype in ("f8", "f4") for n in SIZES),
    *(("two axes", two, dtype, n) for dtype in ("f8", "f4") for n in SIZES),
    *(("weights", weighted, dtype, n) for dtype in ("f8", "f4") for n in SIZES),
    *(("bincount of 1000", partial(bincount, 1_000), "i8", n) for n in SIZES),
    *(("bincount of 1000000", partial(bincount, 1_000_000), "i8", n) for n in SIZES[2:]),
]


def processor_time(call, calls):
    """Microseconds of a call."""
    begin = time.process_time_ns()
    for _ in range(calls):
        call()
    return (time.process_time_ns() - begin) / 1e3 / calls


def calls_of(call, us):
    """How many calls take this long."""
    calls = 1
    while True:
        took = processor_time(call, calls) * calls
        if took >= us or calls >= 1 << 20:
            return calls
        calls = max(2 * calls, int(calls * us / max(took, us / 64)))


def least_of(times):
    return {library: min(of_library) for library, of_library in times.items()}


def measure(name, make, dtype, n, rounds):
    """The cell's times in microseconds."""
    made = [(library, call) for library, call in make(dtype, n) if MODULES.get(library, histo)]
    exact = None
    times, calls, different = {}, {}, []
    for library, call in made:
        counts = call()
        if exact is None and name != "fill of a kept histogram":
            exact = counts
        elif exact is not None and (np.shape(counts) != np.shape(exact) or not np.allclose(counts, exact, atol=1e-9)):
            different.append(library)
        calls[library], times[library] = calls_of(call, 200), []
    for _ in range(rounds if n < 1_000_000 else max(3, rounds // 8)):
        for library, call in made:
            times[library].append(processor_time(call, calls[library]))
    return {"task": name, "dtype": dtype, "samples": n, "us": least_of(times), "different": different}


def best_of_peers(us):
    return min((t for library, t in us.items() if library != "histo"), default=float("nan"))


def targets_of(cells):
    """Each target: what, the figure, the target, and whether it is met."""
    at = {(c["task"], c["dtype"], c["samples"]): c["us"] for c in cells}
    for dtype, target_us in (("f8", 0.8), ("f4", 1.0)):
        us = at["histogram of 10 bins", dtype, 10]
        yield f"10 {dtype} samples: us", us["histo"], target_us, us["histo"] <= target_us
        for peer, target in (("numpy", 30), ("fast-histogram", 2.5), ("numba", 1)):
            if peer in us:
                ratio = us[peer] / us["histo"]
                yield f"10 {dtype} samples: times as fast as {peer}", ratio, target, ratio >= target
    us = at["fill of a kept histogram", "f8", 10]
    yield "fill of a kept histogram: us", us["histo"], 0.5, us["histo"] <= 0.5
    if "boost-histogram" in us:
        ratio = us["boost-histogram"] / us["histo"]
        yield "fill of a kept histogram: times as fast as boost-histogram", ratio, 6, ratio >= 6
    for cell in cells:
        us, what = cell["us"], f"{cell['task']}, {cell['dtype']}, {cell['samples']}"
        if cell["task"] in ("histogram of 10 bins", "fill of a kept histogram"):
            continue
        ratio, large = best_of_peers(us) / us["histo"], cell["task"] == "regular" and cell["samples"] == SIZES[-1]
        yield f"{what}: times as fast as the best", ratio, 2 if large else 1, ratio >= (2 if large else 1)
        if large:
            yield f"{what}: times as fast as numpy", us["numpy"] / us["histo"], 12, us["numpy"] >= 12 * us["histo"]


# ---- On a GPU


def gpu_samples(dtype, n):
    return np.resize(samples(dtype, min(n, 1 << 20)), n)


def gpu_regular(dtype, n):
    x = gpu_samples(dtype, n)
    lo, hi = limits(x)
    kept = histo.Histogram(histo.Regular(BINS, lo, hi))
    t, c = torch.from_numpy(x).cuda(), cupy and cupy.asarray(x)
    yield "histo.torch", lambda: histo_torch.histc(t, BINS, lo, hi)
    yield "torch", lambda: torch.histc(t, BINS, lo, hi)
    yield "histo, torch", lambda: histo.histogram(t, BINS, (lo, hi))[0]
    yield "fill, torch", lambda: kept.fill(t)
    yield "histo.cupy", lambda: histo_cupy.histogram(c, BINS, (lo, hi))[0]
    yield "cupy", lambda: cupy.histogram(c, BINS, (lo, hi))[0]
    yield "histo, cupy", lambda: histo.histogram(c, BINS, (lo, hi))[0]


def gpu_automatic(dtype, n):
    x = gpu_samples(dtype, n)
    t, c = torch.from_numpy(x).cuda(), cupy and cupy.asarray(x)
    yield "histo.torch", lambda: histo_torch.histc(t, BINS)
    yield "torch", lambda: torch.histc(t, BINS)
    yield "histo.cupy", lambda: histo_cupy.histogram(c, BINS)[0]
    yield "cupy", lambda: cupy.histogram(c, BINS)[0]


def gpu_weighted(dtype, n):
    x = gpu_samples(dtype, n)
    c, w = cupy and cupy.asarray(x), cupy and cupy.asarray(x[::-1].copy())
    yield "histo.cupy", lambda: histo_cupy.histogram(c, BINS, (LO, HI), weights=w)[0]
    yield "cupy", lambda: cupy.histogram(c, BINS, (LO, HI), weights=w)[0]
    yield "histo, cupy", lambda: histo.histogram(c, BINS, (LO, HI), weights=w)[0]


def gpu_two(dtype, n):
    x = gpu_samples(dtype, n)
    c, d = cupy and cupy.asarray(x), cupy and cupy.asarray(x[::-1].copy())
    yield "histo.cupy", lambda: histo_cupy.histogram2d(c, d, 64, ((LO, HI), (LO, HI)))[0]
    yield "cupy", lambda: cupy.histogram2d(c, d, 64, ((LO, HI), (LO, HI)))[0]


def gpu_bincount(size, dtype, n):
    x = np.resize(np.random.default_rng(5).integers(0, size, min(n, 1 << 20)), n).astype(dtype)
    t, c = torch.from_numpy(x).cuda(), cupy and cupy.asarray(x)
    yield "histo.torch", lambda: histo_torch.bincount(t, minlength=size)
    yield "torch", lambda: torch.bincount(t, minlength=size)
    yield "histo.cupy", lambda: histo_cupy.bincount(c, minlength=size)
    yield "cupy", lambda: cupy.bincount(c, minlength=size)


GPU_SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
GPU_CELLS = [
    *(("regular", gpu_regular, dtype, n) for dtype in ("f4", "f8") for n in GPU_SIZES),
    *(("regular", gpu_regular, dtype, n) for dtype in ("u1", "i4") for n in GPU_SIZES[2::3]),
    *(("range of the samples", gpu_automatic, "f4", n) for n in GPU_SIZES[::2]),
    *(("weights", gpu_weighted, "f4", n) for n in GPU_SIZES[::2]),
    *(("two axes", gpu_two, "f4", n) for n in GPU_SIZES[::2]),
    *(("bincount of 1000", partial(gpu_bincount, 1_000), "i8", n) for n in GPU_SIZES[::2]),
    *(("bincount of 1000000", partial(gpu_bincount, 1_000_000), "i8", n) for n in GPU_SIZES[2::3]),
]


def clocked(call, calls):
    begin = time.perf_counter_ns()
    for _ in range(calls):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter_ns() - begin) / 1e3 / calls


def gpu_measure(name, make, dtype, n, rounds):
    """As measure: the time of a call among many, and of one that is waited for."""
    made = [(library, call) for library, call in make(dtype, n) if cupy or "cupy" not in library]
    exact, times, single, calls, different = None, {}, {}, {}, []
    for library, call in made:
        counts = call()
        if not isinstance(counts, histo.Histogram):
            counts = counts.get() if hasattr(counts, "get") else counts.cpu().numpy()
            exact = counts if exact is None else exact
            if np.shape(counts) != np.shape(exact) or not np.allclose(counts, exact, atol=np.sum(exact) * 1e-5):
                different.append(library)
        clocked(call, 3)
        calls[library] = max(1, min(2000, int(2000 / clocked(call, 3))))
        times[library], single[library] = [], []
    for _ in range(rounds):
        for library, call in made:
            times[library].append(clocked(call, calls[library]))
            single[library].append(clocked(call, 1))
    return {"task": name, "dtype": dtype, "samples": n, "us": least_of(times), "wait_us": least_of(single),
            "different": different}


def gpu_targets(cells):
    for cell in cells:
        what = f"{cell['task']}, {cell['dtype']}, {cell['samples']}"
        for peer in ("torch", "cupy"):
            if peer in cell["us"] and cell["samples"] >= 100_000:
                ratio = cell["us"][peer] / cell["us"]["histo." + peer]
                yield f"{what}: times as fast as {peer}", ratio, 5, ratio >= 5


def text_of(us):
    return f"{us:.3g}" if us < 1000 else f"{us:.0f}"


def run(options, cells, max_samples, measure_cell, libraries, text, ratios):
    """Measure cells of at most so many samples, if quick, and print a table: a column for each library and ratio."""
    print(f"| task | type | samples | {' | '.join([*libraries, *ratios])} |")
    print("|---|---|--:|" + "--:|" * (len(libraries) + len(ratios)))
    measured = []
    for name, make, dtype, n in cells:
        if options.quick and n > max_samples:
            continue
        cell = measure_cell(name, make, dtype, n, options.rounds)
        measured.append(cell)
        row = [text(cell, p) + "*" * (p in cell["different"]) if p in cell["us"] else "" for p in libraries]
        row += [ratio(cell["us"]) for ratio in ratios.values()]
        print(f"| {name} | {dtype} | {n} | {' | '.join(row)} |", flush=True)
    return measured


def on_gpu(options):
    if not (torch and torch.cuda.is_available()):
        raise SystemExit("--gpu needs PyTorch, and a GPU")
    histo.devices.compile_kernels(options.compile)
    libraries = ["histo.torch", "torch", "histo, torch", "fill, torch", "histo.cupy", "cupy", "histo, cupy"]
    ratios = {f"over {p}": lambda us, p=p: f"{us[p] / us['histo.' + p]:.2f}" if p in us else "" for p in ("torch", "cupy")}
    print("Microseconds of one of many calls / of a call and the wait for it; * counts differ.\n")
    cells = run(options, GPU_CELLS, 1_000_000, gpu_measure, libraries,
                lambda cell, p: f"{text_of(cell['us'][p])} / {text_of(cell['wait_us'][p])}", ratios)
    return cells, gpu_targets(cells)


def on_cpu(options):
    libraries = ["histo", "numpy", "fast-histogram", "boost-histogram", "numba", "opencv", "torch", "polars", "duckdb"]
    print("Microseconds of one call.\n")
    cells = run(options, CELLS, 100_000, measure, libraries, lambda cell, p: text_of(cell["us"][p]),
                {"over the best": lambda us: f"{best_of_peers(us) / us['histo']:.2f}"})
    return cells, targets_of(cells)


def report(options, cells, judged):
    targets = [
        {"what": what, "is": round(value, 3), "target": target, "met": bool(met)} for what, value, target, met in judged
    ]
    met = sum(t["met"] for t in targets)
    print(f"\n{met} of {len(targets)} targets are met. Missed:")
    for target in targets:
        if not target["met"]:
            print(f"- {target['what']}: {target['is']:.3g}, target {target['target']:g}")
    if options.output:
        versions = {name: getattr(module, "__version__", "?") for name, module in MODULES.items() if module}
        with open(options.output, "w") as file:
            json.dump({"python": platform.python_version(), "histo": histo.__version__, "versions": versions,
                       "cells": cells, "targets": targets}, file, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", dest="output", help="write all figures to this JSON file")
    parser.add_argument("--rounds", type=int, default=40, help="rounds of a cell; default: 40")
    parser.add_argument("--quick", action="store_true", help="at most 100000 samples")
    parser.add_argument("--gpu", action="store_true", help="arrays in the memory of a GPU")
    parser.add_argument("--compile", action="store_true", help="with kernels that are compiled for them")
    options = parser.parse_args()
    report(options, *(on_gpu(options) if options.gpu else on_cpu(options)))


if __name__ == "__main__":
    main()
