"""Commands that turn images into images, against OpenCV, scikit-image and models in NumPy. HISTO_COMMAND is the command.

HISTO_CASES is the number of random cases (default 60), HISTO_SEED the first seed. A failure prints the seed that repeats
it.
"""
import gzip
import json
import os
import subprocess
import tempfile

import cv2
import numpy as np
import skimage.exposure
import skimage.filters
import tifffile
from PIL import Image, ImageCms

from libhisto import run_checks

place = tempfile.TemporaryDirectory()
os.chdir(place.name)


def histo(*arguments, stdin=None):
    done = subprocess.run([os.environ["HISTO_COMMAND"], *map(str, arguments)], input=stdin, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.stderr.decode()}")
    return done.stdout


def write(path, image):
    if path.endswith("npy"):
        np.save(path, image)
    else:
        assert cv2.imwrite(path, image[..., ::-1] if image.ndim == 3 else image)
    return path


def read(path):
    if path.endswith("npy"):
        return np.load(path)
    image = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    return image[..., ::-1] if image.ndim == 3 else image


def photo(rng, top=256, dtype=np.uint8, channels=1):
    """Blobs and noise: a photograph's histogram has peaks, gaps and tails."""
    height, width = (int(n) for n in rng.integers(1, 200, 2))
    y, x = np.mgrid[:height, :width]
    planes = []
    for _ in range(channels):
        levels = rng.normal(top / 8, top / 40, (height, width))
        for _ in range(4):
            at, spread = rng.random(2) * [height, width], (0.05 + rng.random()) * max(height, width) / 2
            levels += rng.random() * top / 2 * np.exp(-((y - at[0])**2 + (x - at[1])**2) / spread**2)
        planes.append(np.clip(levels, 0, top - 1).astype(dtype))
    return planes[0] if channels == 1 else np.dstack(planes)


def suffix(rng, gray=True):
    return str(rng.choice(["png", "pgm" if gray else "ppm", "tif", "npy"]))


def apply(rng, image, *arguments):
    """The result of a command, through a file of a random format or a pipe, by any number of threads."""
    gray = image.ndim == 2
    given, wanted = write("in." + suffix(rng, gray), image), "out." + suffix(rng, gray)
    arguments = [*arguments, "--threads", rng.integers(1, 4)]
    if given.endswith("pgm") and rng.integers(2):
        with open("out.pgm", "wb") as out:
            out.write(histo(*arguments, "-", "-", stdin=open(given, "rb").read()))
        return read("out.pgm")
    histo(*arguments, given, wanted)
    return read(wanted)


def luma(rgb):
    r, g, b = (rgb[..., c].astype(np.int64) for c in range(3))
    return ((19595 * r + 38470 * g + 7471 * b + 32768) >> 16).astype(rgb.dtype)


def equalized(levels, top):
    """By the darkest level, in whole numbers."""
    counts = np.bincount(levels.ravel(), minlength=top + 1)
    sums, least = counts.cumsum(), counts[counts > 0][0]
    if least == levels.size:
        return levels
    return np.rint((sums - least).clip(0) / (levels.size - least) * top)[levels].astype(levels.dtype)


def check_equalize_gray(rng):
    of = photo(rng)
    if rng.integers(8) == 0:
        of[...] = of.flat[0]
    assert np.array_equal(apply(rng, of, "equalize"), cv2.equalizeHist(of)), "equalizeHist"
    shares = skimage.exposure.equalize_hist(of, 256) if of.min() < of.max() else np.ones(of.shape)
    assert np.array_equal(apply(rng, of, "equalize", "--rule", "cdf"), np.rint(shares * 255)), "equalize_hist"


def check_equalize_u16(rng):
    bits = int(rng.integers(9, 17))
    of = photo(rng, 1 << bits, np.uint16)
    of.flat[0] = (1 << bits) - 1
    given = write("in." + str(rng.choice(["png", "tif", "npy"])), of)
    histo("equalize", given, "out.tif")
    assert np.array_equal(read("out.tif"), equalized(of, (1 << bits) - 1)), "as many bits as needed"
    histo("equalize", "--bits", 16, given, "out.tif")
    assert np.array_equal(read("out.tif"), equalized(of, 65535)), "16 bits"


def check_equalize_colors(rng):
    of = photo(rng, channels=3)
    y = luma(of)
    change = cv2.equalizeHist(y).astype(int) - y
    assert np.array_equal(apply(rng, of, "equalize"), np.clip(of + change[..., None], 0, 255)), "luma"
    each = np.dstack([cv2.equalizeHist(np.ascontiguousarray(of[..., c])) for c in range(3)])
    assert np.array_equal(apply(rng, of, "equalize", "--color", "each"), each), "each"
    joint = cv2.equalizeHist(of.reshape(len(of), -1)).reshape(of.shape)
    assert np.array_equal(apply(rng, of, "equalize", "--color", "joint"), joint), "joint"
    value = of.max(2)
    scaled = of * cv2.equalizeHist(value)[..., None].astype(float) / value.clip(1)[..., None]
    assert np.array_equal(apply(rng, of, "equalize", "--color", "value"),
                          np.rint(np.where(value[..., None], scaled, 0))), "value"


def check_equalize_floats(rng):
    of = photo(rng, 1000, np.float32) / np.float32(100)
    of.flat[0] = np.nan
    if of.size < 2:
        return
    histo("equalize", "-b", 256, write("in.npy", of), "out.npy")
    got = np.load("out.npy")
    finite = np.isfinite(of)
    counts, edges = np.histogram(of[finite].astype(float), 256)
    wanted = np.interp(of[finite].astype(float), edges, np.concatenate([[0], counts.cumsum() / finite.sum()]))
    assert got.dtype == of.dtype and np.isnan(got.flat[0])
    assert np.abs(got[finite] - wanted).max() < 1e-5


def check_mask(rng):
    """Counted inside, changed everywhere."""
    of = photo(rng)
    mask = (rng.random(of.shape) < 0.5).astype(np.uint8)
    mask.flat[-1] = 1
    histo("equalize", "--mask", write("mask.png", mask), write("in.png", of), "out.png")
    inside = of[mask > 0]
    top = np.empty(256)
    counts = np.bincount(inside, minlength=256)
    least = counts[counts > 0][0]
    top = np.arange(256) if least == inside.size else np.rint(
        (counts.cumsum() - least).clip(0).astype(np.float32) * (np.float32(255) / np.float32(inside.size - least)))
    assert np.array_equal(read("out.png"), top[of]), "masked"
    y, x = (int(rng.integers(0, n)) for n in of.shape)
    h, w = (int(rng.integers(1, n - at + 1)) for n, at in zip(of.shape, (y, x)))
    histo("equalize", "--roi", f"{x},{y},{w},{h}", "in.png", "out.png")
    part = np.ascontiguousarray(of[y:y + h, x:x + w])
    assert np.array_equal(read("out.png")[y:y + h, x:x + w], cv2.equalizeHist(part)), "a region"


def line(x, start, end, lo, hi):
    return lo + np.clip((x - start) / (end - start), 0, 1) * (hi - lo)


def check_stretch(rng):
    dtype, top = [(np.uint8, 256), (np.uint16, 5000), (np.float32, 5000)][rng.integers(3)]
    of = photo(rng, top, dtype, int(rng.choice([1, 3])))
    ends = np.percentile(of.astype(float), [3, 97.5])
    if ends[0] == ends[1]:
        return
    full = 1 if dtype == np.float32 else np.iinfo(dtype).max
    histo("stretch", "-r", "p3:p97.5", write("in.npy", of), "out.npy")
    wanted = line(of.astype(float), *ends, 0, full)
    assert np.abs(np.load("out.npy") - wanted).max() <= (1e-6 if full == 1 else 0.5 + 1e-6), "percentiles"
    histo("stretch", "-r", "minmax", "--to", "200:50", "in.npy", "out.npy")
    wanted = line(of.astype(float), float(of.min()), float(of.max()), 200, 50)
    assert np.abs(np.load("out.npy") - wanted).max() <= (1e-4 if full == 1 else 0.5 + 1e-6), "all"


def check_clahe(rng):
    deep = rng.integers(2) == 1
    of = photo(rng, 65536 if deep else 256, np.uint16 if deep else np.uint8)
    count, clip = [int(n) for n in rng.integers(1, 12, 2)], float(rng.choice([0, 0.5, 2, 3.7, 40]))
    options = ["--tiles", "{}x{}".format(*count), "--clip", clip] + (["--bits", 16] if deep else [])
    assert np.array_equal(apply(rng, of, "clahe", *options), cv2.createCLAHE(clip, count).apply(of)), (of.shape, options)
    of = photo(rng, channels=3)
    y = luma(of)
    change = cv2.createCLAHE(2, (8, 8)).apply(y).astype(int) - y
    assert np.array_equal(apply(rng, of, "clahe"), np.clip(of + change[..., None], 0, 255)), "luma"


def check_clahe_pages(rng):
    """Each page is an image, or a slice of a volume, which is blended along pages, too."""
    height, width, pages = (int(n) for n in rng.integers([9, 9, 2], [60, 60, 7]))
    of = rng.integers(0, 4096, (pages, height, width)).astype(np.uint16)
    cv2.imwritemulti("in.tif", list(of))
    histo("clahe", "--tiles", "3x2", "--bits", 16, "in.tif", "out.tif")
    got = cv2.imreadmulti("out.tif", flags=cv2.IMREAD_UNCHANGED)[1]
    assert np.array_equal(got, [cv2.createCLAHE(2, (3, 2)).apply(page) for page in of])
    same = np.repeat(of[:1], pages, 0)
    cv2.imwritemulti("in.tif", list(same))
    histo("clahe", "--tiles", f"3x2x{pages}", "--bits", 16, "in.tif", "out.tif")
    got = cv2.imreadmulti("out.tif", flags=cv2.IMREAD_UNCHANGED)[1]
    assert np.array_equal(got, [cv2.createCLAHE(2, (3, 2)).apply(page) for page in same])
    histo("clahe", "--tiles", "3x2x2", "--bits", 16, "in.tif", "out.tif")
    sizes = [of[0], of[1][:-1]]
    with tifffile.TiffWriter("in.tif") as file:
        for page in sizes:
            file.write(page, contiguous=False)
    histo("clahe", "--tiles", "3x2", "--bits", 16, "in.tif", "out.tif")
    for page, made in zip(sizes, tifffile.TiffFile("out.tif").pages, strict=True):
        assert np.array_equal(made.asarray(), cv2.createCLAHE(2, (3, 2)).apply(page))
    try:
        histo("clahe", "in.tif", "new.npy")
    except RuntimeError as refused:
        assert "pages of an array have one size" in str(refused) and not os.path.exists("new.npy")
    else:
        raise AssertionError("an array of pages of several sizes")


def check_volume(rng):
    """Slices of an array are pages, in whatever pieces it is read."""
    of = rng.integers(0, 4096, [int(n) for n in rng.integers([2, 10, 10], [6, 70, 70])]).astype(np.uint16)
    options = ["--tiles", "3x2", "--bits", 16]
    wanted = np.array([cv2.createCLAHE(2, (3, 2)).apply(page) for page in of])
    with gzip.open("in.npy.gz", "wb", 1) as file:
        np.save(file, of)
    histo("clahe", *options, "in.npy.gz", "out.npy")
    assert np.array_equal(np.load("out.npy"), wanted)
    histo("clahe", *options, write("in.npy", of), "out.tif")
    assert np.array_equal(tifffile.imread("out.tif"), wanted)
    histo("equalize", "--bits", 12, "in.npy", "out.npy")
    assert np.array_equal(np.load("out.npy"), equalized(of, 4095))


def check_overlap(rng):
    """Tiles that begin at each nth part of others; unclipped."""
    n, rows, columns = (int(v) for v in rng.integers([2, 1, 1], [5, 4, 4]))
    cell = [int(v) * 2 for v in rng.integers(2, 6, 2)]
    of = rng.integers(0, 256, (cell[0] * rows * n, cell[1] * columns * n)).astype(np.uint8)
    histo("clahe", "--tiles", f"{columns}x{rows}", "--overlap", n, "--clip", 0, write("in.png", of), "out.png")
    near = []
    for length, size in zip(of.shape, cell):
        tiles = length // size - n + 1
        at = (np.arange(length, dtype=np.float32) + (size // 2 if n % 2 == 0 else 0)) * np.float32(1 / np.float32(size))
        at -= np.float32(0.5)
        low = np.floor(at).astype(int)
        near.append((np.clip(low - n // 2, 0, tiles - 1), np.clip(low + 1 - n // 2, 0, tiles - 1), at - np.floor(at)))

    def table(y, x):
        tile = of[y * cell[0]:(y + n) * cell[0], x * cell[1]:(x + n) * cell[1]]
        sums = np.bincount(tile.ravel(), minlength=256).cumsum()
        return np.rint(sums.astype(np.float32) * np.float32(np.float32(255) / np.float32(tile.size)))
    tables = np.array([[table(y, x) for x in range(near[1][0].max() + 1)] for y in range(near[0][0].max() + 1)], np.float32)
    (top, bottom, down), (left, right, across) = near
    y, x = top[:, None], left[None]
    upper = tables[y, x, of] * (1 - across) + tables[y, right[None], of] * across
    lower = tables[bottom[:, None], x, of] * (1 - across) + tables[bottom[:, None], right[None], of] * across
    wanted = np.rint(upper * (1 - down[:, None]) + lower * down[:, None])
    assert np.array_equal(read("out.png"), wanted), (n, rows, columns, cell)


def check_match(rng):
    channels = int(rng.choice([1, 3]))
    of, like = photo(rng, channels=channels), photo(rng, channels=channels)
    if rng.integers(2):
        given = write("like.png", like)
    else:
        histo("hist", write("like.png", like), "-o", "like.json")
        given = "like.json"
    histo("match", write("in.png", of), given, "out.png")
    planes = [(of, like)] if channels == 1 else [(of[..., c], like[..., c]) for c in range(3)]
    wanted = []
    for x, y in planes:
        values, counts = np.unique(y, return_counts=True)
        shares = np.cumsum(np.bincount(x.ravel(), minlength=256)) / x.size
        wanted.append(np.rint(np.interp(shares, np.cumsum(counts) / y.size, values))[x])
        if x.min() < x.max():
            assert np.abs(skimage.exposure.match_histograms(x, y) - wanted[-1]).max() <= 0.5 + 1e-9
    assert np.array_equal(read("out.png"), wanted[0] if channels == 1 else np.dstack(wanted))


def check_threshold(rng):
    of = photo(rng)
    if of.min() == of.max():
        of.flat[0] ^= 1
    method = str(rng.choice(["otsu", "yen", "triangle", "mean"]))
    said = histo("threshold", "--method", method, write("in.png", of), "out.png").decode().split()
    threshold = float(said[-1])
    assert said[:2] == ["method", "threshold"] and said[2] == method
    if of.size > 1:
        assert threshold == np.floor(getattr(skimage.filters, "threshold_" + method)(of)), (method, threshold)
    assert np.array_equal(read("out.png"), np.where(of > threshold, 255, 0))
    deep = of.astype(np.uint16) * 17
    found = int(histo("threshold", write("deep.png", deep)).decode().split()[-1])
    assert found == 17 * int(skimage.filters.threshold_otsu(of)), (of.shape, found)
    if method == "otsu":
        assert cv2.threshold(of, 0, 255, cv2.THRESH_OTSU)[0] == threshold
    if len(np.unique(of)) < 4:
        return
    levels = np.array(histo("threshold", "--classes", 3, "in.png", "out.png").decode().split()[3::2], dtype=int)
    assert np.array_equal(read("out.png"), np.digitize(of, levels, right=True))


def check_ranked(rng):
    """Floats and wide integers with an outlier: as scikit-image, and as all splits of the sorted samples."""
    dtype = str(rng.choice(["f2", "f4", "f8", "u4", "i4", "i8"]))
    of, like = (rng.normal(50, 1, rng.integers(2, 40, 2)) for _ in range(2))
    of.flat[: of.size // 2] += 5
    of.flat[0], like.flat[-1] = rng.choice([500, 5000, -300], 2)
    of, like = ((x * 10 + (5000 if dtype[0] == "u" else 0)).astype(dtype) for x in (of, like))
    histo("match", write("in.npy", of), write("like.npy", like), "out.npy")
    wanted = skimage.exposure.match_histograms(of, like)
    got, step = read("out.npy"), np.spacing(np.abs(wanted).astype(dtype)) if dtype[0] == "f" else 0
    wanted = wanted.astype(dtype) if dtype[0] == "f" else np.rint(wanted)
    assert (np.abs(got - wanted) <= step).all(), (dtype, got, wanted)
    values, where, counts = np.unique(of, return_inverse=True, return_counts=True)
    if dtype[0] == "f":
        histo("equalize", "--rule", "cdf", "in.npy", "out.npy")
        assert np.array_equal(read("out.npy"), (np.cumsum(counts) / of.size)[where].reshape(of.shape).astype(dtype))
    found = float(histo("threshold", "in.npy", "out.npy").decode().split()[-1])
    low, high = ([part.astype(float) for part in parts] for parts in
                 ([of[of <= v] for v in values[:-1]], [of[of > v] for v in values[:-1]]))
    within = [a.size * a.var() + b.size * b.var() for a, b in zip(low, high)]
    if len(values) > 1:
        at = np.flatnonzero(values == of.dtype.type(found))[0]
        assert within[at] <= min(within) * (1 + 1e-9), (dtype, found)
    assert np.array_equal(read("out.npy"), np.where(of > of.dtype.type(found), 255, 0))


def check_standardize(rng):
    scans = [(rng.gamma(3, 1, (20, 30, 25)) * rng.integers(50, 200)).astype(np.uint16) for _ in range(3)]
    names = [write(f"scan{i}.npy", scan) for i, scan in enumerate(scans)]
    histo("standardize", "--train", "marks.json", *names)
    marks = json.load(open("marks.json"))
    found = np.array([np.percentile(scan, marks["percentiles"]) for scan in scans])
    values = ((found - found[:, :1]) / (found[:, -1:] - found[:, :1]) * 100).mean(0)
    assert np.abs(values - marks["values"]).max() < 1e-9
    histo("standardize", "--with", "marks.json", names[0], "out.npy")
    got, x, at = np.load("out.npy"), scans[0].astype(float), found[0]
    below = values[0] + (x - at[0]) * (values[1] - values[0]) / (at[1] - at[0])
    above = values[-1] + (x - at[-1]) * (values[-1] - values[-2]) / (at[-1] - at[-2])
    wanted = np.where(x < at[0], below, np.where(x > at[-1], above, np.interp(x, at, values)))
    assert got.dtype == np.float32 and got.shape == x.shape and np.abs(got - wanted).max() < 1e-3


profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def check_kept(rng):
    """Alpha, profile, resolution and orientation, from any format to any."""
    height, width = (int(n) for n in rng.integers(2, 60, 2))
    of = rng.integers(0, 200, (height, width, 4)).astype(np.uint8)
    exif, turned = Image.Exif(), int(rng.integers(1, 9))
    exif[0x112] = turned
    given = "in." + str(rng.choice(["png", "tif", "jpg"]))
    image = Image.fromarray(of)
    if given == "in.jpg":
        image.convert("RGB").save(given, icc_profile=profile, dpi=(300, 300), exif=exif, quality=83)
    else:
        options = {"description": "what it shows", "compression": "tiff_adobe_deflate"} if given == "in.tif" else {}
        image.save(given, icc_profile=profile, dpi=(300, 300), exif=exif, **options)
    for wanted in ["out.png", "out.tif"] + (["out.jpg"] if given == "in.jpg" else []):
        histo(str(rng.choice(["equalize", "clahe", "stretch"])), given, wanted)
        got = Image.open(wanted)
        assert got.info["icc_profile"] == profile, (given, wanted)
        assert np.abs(np.array(got.info["dpi"]) - 300).max() < 0.01, (given, wanted)
        assert got.getexif().get(0x112, 1) == turned, (given, wanted)
        if given != "in.jpg":
            pixels = tifffile.imread(wanted) if wanted == "out.tif" else np.array(got) # as they are stored
            assert np.array_equal(pixels[..., 3], of[..., 3]), (given, wanted)
        if given == "in.tif" and wanted == "out.tif":
            assert got.info["compression"] == "tiff_adobe_deflate" and got.tag_v2[270] == "what it shows"
    if given == "in.jpg":
        assert Image.open("out.jpg").quantization == Image.open(given).quantization


def check_tiff(rng):
    """Fields, dtypes, tiles, planes, byte order and large files' form: what is read from a TIFF file is written again."""
    dtype = str(rng.choice(["u1", "i1", "u2", "i2", "u4", "i4", "f4", "f8"]))
    shape = [int(n) for n in rng.integers(1, 70, 2)]
    planar = bool(rng.integers(2))
    of = rng.integers(0, 100, [3, *shape] if planar else shape).astype(dtype)
    options = {"tile": (16, 32)} if rng.integers(2) else {}
    tifffile.imwrite("in.tif", of, photometric="rgb" if planar else "minisblack", byteorder=str(rng.choice(["<", ">"])),
                     planarconfig="separate" if planar else None, description="described", software="of a test",
                     extratags=[(65000, 12, 3, (1.5, 2.5, 3.5), True)],
                     compression=str(rng.choice(["zlib", "none"])).replace("none", "") or None, **options)
    histo("stretch", "-r", "0:200", "--to", "0:100", "--color", "each", "in.tif", "out.tif")
    with tifffile.TiffFile("out.tif") as file:
        page = file.pages[0]
        got = page.asarray()
        assert page.tags[270].value == "described" and page.tags[305].value == "of a test"
        assert tuple(page.tags[65000].value) == (1.5, 2.5, 3.5)
    wanted = np.rint(of / 2.0) if dtype[0] != "f" else of / 2
    wanted = wanted.transpose(1, 2, 0) if planar else wanted
    assert got.dtype == of.dtype and np.abs(got - wanted).max() < 1e-13 * (1 if dtype != "f4" else 1e8), dtype


def check_tiff_predictor(rng):
    """Samples that are stored as differences: of any width, byte order, channels and planes, tiles, strips and pages."""
    dtype, shift = [("u1", 0), ("u2", 8), ("i2", 8), ("u4", 24), ("i4", 24), ("u8", 44)][rng.integers(6)]
    shape = [int(n) for n in rng.integers(1, 300, 2)]
    pages, channels = int(rng.integers(1, 4)), int(rng.choice([1, 1, 3, 4, 5]))
    planar = channels > 1 and bool(rng.integers(2))
    low, high = (-128 << shift, 128 << shift) if dtype[0] == "i" else (0, 256 << shift)
    of = rng.integers(low, high, [pages, channels, *shape] if planar else [pages, *shape, channels]).astype(dtype)
    tiles = {"tile": (16, 32)} if rng.integers(2) else {"rowsperstrip": int(rng.integers(1, 60))}
    with tifffile.TiffWriter("in.tif", byteorder=str(rng.choice(["<", ">"]))) as file:
        for page in of:
            file.write(page if channels > 1 else page[..., 0], photometric="minisblack", contiguous=False, metadata=None,
                       planarconfig=None if channels == 1 else "separate" if planar else "contig", compression="zlib",
                       predictor=2, **tiles)
    for c in range(channels):
        histo("--channel", c, "--page", "all", "-b", 256, "-r", f"{low}:{high}", "--threads", rng.integers(1, 4), "in.tif", "-o",
              "out.npy")
        wanted = ((of[:, c] if planar else of[..., c]) >> shift).ravel().astype(int) - (low >> shift)
        assert np.array_equal(np.load("out.npy").ravel(), np.bincount(wanted, minlength=256)), (dtype, c)
    with tifffile.TiffFile("in.tif") as file, open("in.tif", "r+b") as damaged:
        damaged.seek(file.pages[-1].dataoffsets[0])
        damaged.write(b"\xff\xff")
    try:
        histo("--page", "all", "in.tif", "-o", "out.npy")
        raise AssertionError("a damaged strip or tile is read")
    except RuntimeError as refused:
        rows = "the tile at row 0, column 0" if "tile" in tiles else f"rows 0 to {min(tiles['rowsperstrip'], shape[0]) - 1}"
        assert f"{rows} of page {pages - 1} cannot be decoded" in str(refused)


run_checks([check_kept, check_tiff, check_tiff_predictor, check_equalize_gray, check_equalize_u16, check_equalize_colors,
            check_equalize_floats, check_mask, check_clahe, check_clahe_pages, check_overlap, check_volume, check_stretch,
            check_match, check_threshold, check_ranked, check_standardize], 120)
