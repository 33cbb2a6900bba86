"""Histograms of Python's libraries, for `histo bench map` to time.

Requests are lines on standard input, their words divided by tabs; the answer to each is one line: "ok", or "no" and why.
    begin ID LIBRARY SAMPLES DTYPE COUNT EDGES BINS KIND THREADS WEIGHTS WEIGHT_DTYPE   files of samples, of double edges
                                                                   and of weights; KIND of axis: integer, equal, any;
                                                                   WEIGHT_DTYPE: none, if there are none
    run ID                                                         count all samples anew: what is timed
    counts ID FILE                                                 write the counts of the last run, or the sums of
                                                                   weights in units of 2^-24, as uint64
    end ID
"""

import mmap
import os
import sys

BLOCK = 1 << 22  # samples: what a library converts stays in caches, and does not fill the memory


def blocks(task):
    """Blocks of samples with their weights, or with None."""
    for i in range(0, len(task.samples), BLOCK):
        yield task.samples[i : i + BLOCK], None if task.weights is None else task.weights[i : i + BLOCK]


class Numpy:
    def __init__(self, task):
        self.task = task
        if task.kind == "integer" and task.samples.dtype == np.uint64:
            raise ValueError("bincount takes no uint64")

    def run(self):
        t = self.task
        if t.kind == "integer":
            counts = np.zeros(t.bins, np.int64 if t.weights is None else np.float64)
            for block, weights in blocks(t):
                from_0 = block if t.lo == 0 else block - t.samples.dtype.type(t.lo)
                counts += np.bincount(from_0, weights, minlength=t.bins)
            return counts
        bins = t.bins if t.kind == "equal" else t.edges
        return np.histogram(t.samples, bins, range=(t.lo, t.hi), weights=t.weights)[0]


class BoostHistogram:
    def __init__(self, task):
        axis = bh.axis
        self.task = task
        if task.kind == "integer":
            self.axis = axis.Integer(int(task.lo), int(task.hi))
        elif task.kind == "equal":
            self.axis = axis.Regular(task.bins, task.lo, task.hi)
        else:
            self.axis = axis.Variable(task.edges)

    def run(self):
        weighted = self.task.weights is not None
        histogram = bh.Histogram(self.axis, storage=bh.storage.Double() if weighted else bh.storage.Int64())
        for block, weights in blocks(self.task):
            histogram.fill(block, weight=weights, threads=self.task.threads)
        return histogram.values()


class FastHistogram:
    def __init__(self, task):
        self.task = task
        if task.kind == "any":
            raise ValueError("equal bins only")

    def run(self):
        t = self.task
        range_ = (t.lo, t.hi)
        return sum(fast_histogram.histogram1d(block, t.bins, range_, weights=weights) for block, weights in blocks(t))


class OpenCV:
    def __init__(self, task):
        self.task = task
        if task.samples.dtype not in (np.uint8, np.uint16, np.float32):
            raise ValueError(f"not for {task.samples.dtype}")
        if task.kind == "any":
            raise ValueError("equal bins only")
        if task.bins > 65536:
            raise ValueError("too many bins")
        cv2.setNumThreads(task.threads)

    def run(self):
        t = self.task
        width = 4096 if len(t.samples) % 4096 == 0 else 1
        return cv2.calcHist([t.samples.reshape(-1, width)], [0], None, [t.bins], [t.lo, t.hi]).ravel()


def mapped(path, dtype, count):
    names = {"u": "uint", "i": "int", "f": "float"}
    dtype = np.dtype(names[dtype[0]] + dtype[1:])
    file = os.open(path, os.O_RDONLY)
    flags = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)  # no page faults while it counts
    memory = mmap.mmap(file, int(count) * dtype.itemsize, flags, mmap.PROT_READ)
    os.close(file)
    return np.frombuffer(memory, dtype)


class Task:
    def __init__(self, samples, dtype, count, edges, bins, kind, threads, weights, weights_dtype):
        self.samples = mapped(samples, dtype, count)
        self.weights = None if weights_dtype == "none" else mapped(weights, weights_dtype, count)
        self.edges = np.fromfile(edges, np.float64)
        self.bins, self.kind, self.threads = int(bins), kind, int(threads)
        self.lo, self.hi = float(self.edges[0]), float(self.edges[-1])


def main():
    libraries, states, counts = {}, {}, {}
    for name, module, kind in (
        ("NumPy", "np", Numpy),
        ("boost-histogram", "bh", BoostHistogram),
        ("fast-histogram", "fast_histogram", FastHistogram),
        ("OpenCV", "cv2", OpenCV),
    ):
        if module in globals():
            libraries[name] = kind
    for line in sys.stdin:
        verb, key, *words = line.rstrip("\n").split("\t")
        answer = "ok"
        try:
            if verb == "begin":
                if words[0] not in libraries:
                    raise ValueError("absent: it is not installed there")
                states[key] = libraries[words[0]](Task(*words[1:]))
            elif verb == "run":
                counts[key] = states[key].run()
            elif verb == "counts":
                unit = 1 if states[key].task.weights is None else 2.0**-24
                (np.asarray(counts[key]) / unit).astype(np.uint64).tofile(words[0])
            elif verb == "end":
                states.pop(key, None), counts.pop(key, None)
        except Exception as error:  # whatever a library says, the benchmark goes on
            answer = "no\t" + " ".join(str(error).split())
        print(answer, flush=True)


if __name__ == "__main__":
    try:
        import numpy as np
    except ImportError:
        sys.exit("NumPy is not installed")
    for statement in ("import boost_histogram as bh", "import fast_histogram", "import cv2"):
        try:
            exec(statement)
        except ImportError:
            pass
    main()
