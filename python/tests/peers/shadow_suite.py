"""The tests of boost-histogram and hist, from their source distributions: every fill is also made by histo, and both
must have counted the same in every slot.

boost-histogram finds the bin of regular axes by a formula that rounds, so that 0.6 is in the bin that begins with
0.6000000000000001. Fills with samples so close to an edge may differ; they are counted apart."""

import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import boost_histogram as bh
import numpy as np
from running import Outcomes

import histo

MODULES = {"boost_histogram": "boost-histogram", "hist": "hist"}


def on_edge(axis, samples):
    """Whether a sample is as close to an edge of a regular axis as rounding may move it."""
    if not isinstance(axis, histo.Regular):
        return False
    samples, edges = np.asarray(samples, float).ravel(), axis.edges
    above = np.clip(np.searchsorted(edges, samples), 1, axis.size)
    near = np.minimum(np.abs(edges[above] - samples), np.abs(edges[above - 1] - samples))
    return bool((near <= 4e-16 * np.abs(edges).max()).any())


def are_texts(theirs, args):
    """Whether an axis of numbers gets strings, which boost-histogram parses."""
    return any(np.asarray(samples).dtype.kind in "USO" and not isinstance(axis, (bh.axis.StrCategory, bh.axis.IntCategory))
               for axis, samples in zip(theirs.axes, args))


def is_lost(theirs, args):
    """Whether boost-histogram 1.8 may count none of an array and a scalar: its issue 960."""
    scalars = [np.ndim(samples) == 0 for samples in args]
    return any(scalars) and not all(scalars) and any(not axis.traits.overflow for axis in theirs.axes)


class Shadow:
    """Wraps fill of boost-histogram."""

    def __init__(self):
        self.agreed = self.left_out = self.on_edges = 0
        self.differences = []

    def ours(self, theirs):
        """An empty histogram of ours with the same axes, or None if it has none of these axes or this storage."""
        known = bh.storage
        storages = (known.Int64, known.AtomicInt64, known.Double, known.Unlimited, known.Weight, known.Mean,
                    known.WeightedMean)
        grows = any(axis.traits.growth and isinstance(axis, bh.axis.Variable) for axis in theirs.axes)
        if not isinstance(theirs.storage, storages) or grows:
            return None
        if not theirs.axes or 0 in theirs.axes.size and not any(axis.traits.growth for axis in theirs.axes):
            return None
        return histo.Histogram(bh.serialization.to_uhi(theirs, keep_storage=False))

    def wrap(self, fill):
        def filled(theirs, *args, weight=None, sample=None, threads=None):
            ours = self.ours(theirs) if not is_lost(theirs, args) and not are_texts(theirs, args) else None
            before = ours and theirs.values(flow=True).copy()
            if theirs.kind == "MEAN" and before is not None and before.any():
                ours = None  # means are not subtracted
            result = fill(theirs, *args, weight=weight, sample=sample, threads=threads)
            after = theirs.values(flow=True)
            if ours is None or after.shape != before.shape and before.any():
                self.left_out += 1
                return result
            more = {} if sample is None else {"sample": sample}
            self.compare(theirs, ours, args, weight, more, after - before if before.any() else after)
            return result

        return filled

    def compare(self, theirs, ours, args, weight, more, expected):
        try:
            counted = ours.fill(*args, weight=weight, **more).values(flow=True)
            counted = np.where(ours.counts(flow=True) == 0, 0, counted)  # the mean of no values is 0 in theirs
            same = counted.shape == expected.shape and np.allclose(counted, expected, rtol=1e-12, atol=1e-9)
        except Exception as error:
            counted, same = repr(error), False
        if same:
            self.agreed += 1
        elif any(on_edge(axis, samples) for axis, samples in zip(ours.axes, args)):
            self.on_edges += 1
        else:
            self.differences.append(f"{theirs!r}.fill(*{args!r}, weight={weight!r}, **{more!r}): {counted}, not {expected}")


def tests_of(distribution, folder):
    """Download and unpack the tests of the version that is installed."""
    subprocess.run([sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "download", "--no-deps",
                    "--no-binary", distribution, "-d", folder, f"{distribution}=={version(distribution)}"], check=True)
    shutil.unpack_archive(next(Path(folder).glob("*.tar.gz")), folder)
    return next(Path(folder).glob("*/tests"))


def run(module):
    import pytest

    shadow, outcomes = Shadow(), Outcomes()
    original = bh.Histogram.fill
    with tempfile.TemporaryDirectory() as folder:
        tests = tests_of(MODULES[module], folder)
        bh.Histogram.fill = shadow.wrap(original)
        try:
            pytest.main([str(tests), "-q", "--tb=no", "--no-header", "--no-summary", "-p", "no:cacheprovider", "-p", "no:warnings",
                         "-c", "/dev/null", "--rootdir", str(tests.parent), "--import-mode=importlib",
                         "--ignore-glob=*benchmark*"], [outcomes])
        finally:
            bh.Histogram.fill = original
    print("\n".join(shadow.differences[:20]))
    total = shadow.agreed + len(shadow.differences)
    print(f"{MODULES[module]} {version(MODULES[module])}: {shadow.agreed} of {total} fills agree, {shadow.on_edges} "
          f"differ by samples beside an edge, {shadow.left_out} are of axes or storages that histo does not have; "
          f"{outcomes.of.get('passed', 0)} tests passed")
    return bool(shadow.differences) or not shadow.agreed


if __name__ == "__main__":
    sys.exit(any([run(module) for module in MODULES]))
