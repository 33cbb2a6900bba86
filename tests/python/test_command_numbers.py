"""The numbers that the command prints, against NumPy, SciPy, OpenCV and scikit-image. HISTO_COMMAND is the command.

HISTO_CASES is the number of random cases (default 120), HISTO_SEED the first seed. A failure prints the seed that repeats
it.
"""
import json
import os
import subprocess
import tempfile

import cv2
import numpy as np
import scipy.ndimage
import scipy.stats
import skimage.metrics

from libhisto import run_checks

place = tempfile.TemporaryDirectory()
os.chdir(place.name)
QUANTILES = ("linear lower higher nearest midpoint inverted_cdf averaged_inverted_cdf closest_observation "
             "interpolated_inverted_cdf hazen weibull median_unbiased normal_unbiased").split()


def histo(*arguments):
    """The rows of the table."""
    done = subprocess.run([os.environ["HISTO_COMMAND"], *map(str, arguments), "--to", "json"], capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def same(got, wanted, tolerance, what):
    got, wanted = (float("nan") if v is None else float(v) for v in (got, wanted))
    if np.isnan(got) and np.isnan(wanted) or got == wanted:
        return
    assert abs(got - wanted) <= tolerance * max(1, abs(wanted)), f"{what}: {got!r} instead of {wanted!r}"


def samples(rng):
    """An array of any shape and type."""
    shape = tuple(int(n) for n in rng.integers(1, 60, rng.integers(1, 4)))
    x = rng.normal(rng.choice([0, 100]), rng.choice([1, 30, 1000]), shape)
    if rng.random() < 0.2:
        x = np.round(x)
    kind = np.dtype(str(rng.choice(["u1", "i1", "<u2", ">i2", "u4", "i4", "u8", "i8", "f2", "f4", ">f8"])))
    if kind.kind in "iu":
        x = np.clip(x, np.iinfo(kind).min, np.iinfo(kind).max)
    return x.astype(kind)


def save(rng, x, name):
    """As an array, packed or not, or as raw samples: its name, and the options to read it."""
    form = rng.integers(3)
    if form == 0:
        np.savez_compressed(name + ".npz", x)
        return [name + ".npz"]
    if form == 1 and (x.ndim != 3 or x.shape[2] > 4):
        x.tofile(name + ".raw")
        return [name + ".raw", "--dtype", x.dtype.str.replace("|", "<"), "--shape", "x".join(map(str, x.shape))]
    np.save(name + ".npy", np.asfortranarray(x) if rng.random() < 0.3 else x)
    return [name + ".npy"]


def channels(x):
    """Those that the command counts separately."""
    planes = [x[..., c] for c in range(x.shape[2])] if x.ndim == 3 and x.shape[2] <= 4 else [x]
    return [p.astype(np.float64).ravel() for p in planes]


def check_quantile(rng):
    x, rule = samples(rng), str(rng.choice(QUANTILES))
    q = np.round(np.concatenate([rng.random(3) * 100, [0, 50, 100]]), 3)
    got = [row["value"] for row in histo("quantile", *save(rng, x, "q"), "--rule", rule, "-q", ",".join(map(str, q)))]
    wanted = np.concatenate([np.quantile(p, q / 100, method=rule) for p in channels(x)])
    for a, b in zip(got, wanted, strict=True):
        same(a, b, 4e-16, f"{rule} of {x.dtype}{x.shape}")


def check_summary(rng):
    x = samples(rng)
    rows = histo("summary", *save(rng, x, "s"))
    for row, p in zip(rows, channels(x), strict=True):
        assert row["count"] == p.size and row["min"] == p.min() and row["max"] == p.max(), row
        same(row["mean"], p.mean(), 1e-13 * max(1, np.abs(p).max()), "mean")
        if np.all(p == p[0]):
            assert row["std"] == 0 and row["skewness"] is None, row
            continue
        same(row["std"], p.std(), 1e-12, "std")
        same(row["skewness"], scipy.stats.skew(p), 1e-9, "skewness")
        same(row["kurtosis"], scipy.stats.kurtosis(p), 1e-9, "kurtosis")
        if x.dtype.itemsize <= 2 and x.dtype.kind in "iu":
            values, counts = np.unique(p, return_counts=True)
            assert row["mode"] == values[counts.argmax()], row
            same(row["entropy"], scipy.stats.entropy(counts, base=2), 1e-12, "entropy")


def check_compare(rng):
    bins = int(rng.integers(2, 100))
    a, b = (np.clip(rng.normal(0.5, 0.1 + 0.2 * rng.random(), 5000), 0, 1) for _ in range(2))
    np.save("a.npy", a)
    np.save("b.npy", b)
    got = {row["metric"]: row["value"] for row in histo("compare", "-b", bins, "-r", "0:1", "a.npy", "b.npy")}
    p, q = (np.histogram(x, bins, (0, 1))[0] for x in (a, b))
    f, g, centres = p.astype(np.float32), q.astype(np.float32), (np.arange(bins) + 0.5) / bins
    same(got["chi-square"], cv2.compareHist(f, g, cv2.HISTCMP_CHISQR), 1e-9, "chi-square")
    same(got["bhattacharyya"]**2, cv2.compareHist(f, g, cv2.HISTCMP_BHATTACHARYYA)**2, 1e-9, "bhattacharyya")
    same(got["earth-mover"], scipy.stats.wasserstein_distance(centres, centres, p, q), 1e-12, "earth-mover")
    if bins > 2:
        same(got["correlation"], np.corrcoef(p, q)[0, 1], 1e-11, "correlation")


def check_mi(rng):
    """Of arrays in different formats, in the same order."""
    shape = tuple(int(n) for n in rng.integers(5, 40, rng.integers(1, 4)))
    a = rng.normal(0, 1, shape)
    b = a * rng.random() + rng.normal(0, 1, shape)
    bins = int(rng.integers(2, 100))
    np.save("a.npy", a)
    b.tofile("b.raw")
    np.savez("b.npz", b)
    of, = histo("mi", "-b", bins, "a.npy", "b.npz")
    joint = np.histogram2d(a.ravel(), b.ravel(), bins)[0]
    h = [scipy.stats.entropy(joint.sum(1)), scipy.stats.entropy(joint.sum(0)), scipy.stats.entropy(joint.ravel())]
    assert of["samples"] == a.size
    for got, wanted in zip((of["h_a"], of["h_b"], of["h_ab"], of["mi"]), (*h, h[0] + h[1] - h[2])):
        same(got, wanted, 1e-12, "information")
    same(of["nmi"], skimage.metrics.normalized_mutual_information(a, b, bins=bins), 1e-12, "nmi")
    if a.size < 1000:
        return
    a.flat[int(rng.integers(a.size))] = rng.choice([-1e6, 1e6])  # is counted in the bin at its end
    np.save("a.npy", a)
    hot, = histo("mi", "-b", bins, "a.npy", "b.npz")
    assert hot["samples"] == a.size and abs(hot["mi"] - of["mi"]) < 0.1 * max(of["mi"], 0.2), (bins, hot, of)


def check_register(rng):
    """Noise and smooth images, whose values are changed; by whole samples, and by parts of them."""
    ndim = int(rng.integers(2, 4))
    size = rng.integers(40, 90, ndim) if ndim == 2 else rng.integers(24, 40, ndim)
    most = size // 5
    shift = np.array([rng.integers(-m, m + 1) for m in most])
    whole = rng.normal(0, 1, size + 2 * most)
    if rng.random() < 0.5:
        whole = scipy.ndimage.gaussian_filter(whole, 1.5)
        whole /= whole.std()
    inner = tuple(slice(m, m + n) for m, n in zip(most, size))
    moved = tuple(slice(m - d, m - d + n) for m, n, d in zip(most, size, shift))
    a, b = whole[inner], 5 - whole[moved] * 2
    np.save("a.npy", (a * 1000 + 30000).clip(0, 65535).astype(np.uint16))
    np.save("b.npy", b.astype(np.float32))
    row, = histo("register", "a.npy", "b.npy", "back.npy")
    assert [row[axis] for axis in "xyz"[:ndim]] == list(shift[::-1]), f"{row} instead of {shift[::-1]}"
    back = np.zeros(size, np.float32)
    there = tuple(slice(max(0, -d), n - max(0, d)) for n, d in zip(size, shift))
    back[there] = b[tuple(slice(s.start + d, s.stop + d) for s, d in zip(there, shift))]
    assert np.array_equal(np.load("back.npy"), back), "the image is not moved back"


def check_outliers(rng):
    n, deep, noise = int(rng.integers(2, 7)) * 2, rng.random() < 0.5, 1 + 2 * rng.random()
    height, width = (int(k) for k in rng.integers(60, 150, 2))
    y, x = np.mgrid[:height, :width]
    scene = 90 + 40 * np.sin(x / 9) * np.cos(y / 14) + 30 * ((x // 20 + y // 15) % 2)
    dies = scene + rng.normal(0, noise, (n, height, width))
    planted = set()
    for place in rng.choice(height * width, 25, replace=False):
        die = int(rng.integers(n))
        dies[die, place // width, place % width] += rng.choice([-1, 1]) * noise * (15 + 5 * rng.random())
        planted.add((die, int(place % width), int(place // width)))
    dies = np.rint(dies * (200 if deep else 1)).clip(0, 65535 if deep else 255).astype(np.uint16 if deep else np.uint8)
    for i, die in enumerate(dies):
        np.save(f"die{i}.npy", die)
    rows = histo("outliers", "--pairs", str(rng.choice(["ring", "apart"])), *(f"die{i}.npy" for i in range(n)))
    found = {(row["die"], row["x"], row["y"]) for row in rows}
    assert found == planted, f"missed {planted - found}, invented {found - planted}"
    for row in rows:
        mean = (dies[:, row["y"], row["x"]].astype(int).sum() + n // 2) // n
        assert row["mean"] == mean, f"{row}: the mean is {mean}"


run_checks([check_quantile, check_summary, check_quantile, check_compare, check_mi, check_register, check_outliers,
            check_summary], 120)
