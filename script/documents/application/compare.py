"""Words for docs/applications.md: results beside those of other libraries. The current directory has the inputs, and the
results of the page's commands."""
import functools
import gzip
import itertools
import subprocess

import cv2
import numpy as np
import PIL
import PIL.ImageOps
import SimpleITK
import skimage
import skimage.exposure
import skimage.filters
from PIL import Image

import data
import results
import search


def versions():
    return (f"OpenCV {cv2.__version__}, scikit-image {skimage.__version__}, SimpleITK {SimpleITK.Version_VersionString()}, "
            f"Pillow {PIL.__version__}, NumPy {np.__version__}")


def image(path):
    """As the file has it: gray, or channels last."""
    return np.load(path) if path.endswith(".npy") else np.asarray(Image.open(path))


def scan():
    """The magnetic resonance image of matplotlib: 12 bits in 16."""
    return np.frombuffer(gzip.open("s1045.ima.gz").read(), ">u2").reshape(256, 256).astype(np.uint16)


def count(*arguments):
    """Edges and counts that histo prints."""
    out = subprocess.run(["histo", "--to", "tsv", *arguments], capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t")[:3] for line in out.splitlines()[1:]]
    bins = [[float(word) for word in row] for row in rows if "inf" not in row[0] + row[1]]
    return np.array([row[0] for row in bins] + [bins[-1][1]]), np.array([row[2] for row in bins])


def printed(command):
    """What a command prints, as a block."""
    out = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout
    return f"```\n{out.rstrip()}\n```"


# ---- Differences ----

def difference(ours, theirs):
    """How many pixels differ, of how many, and by how much at most."""
    off = np.abs(np.asarray(ours, float) - np.asarray(theirs, float))
    off = off.max(-1) if off.ndim == 3 else off
    return np.count_nonzero(off), off.size, off.max()


def of(name, theirs):
    ours = image(name)
    return ours, np.rint(theirs) if ours.dtype.kind != "f" else theirs


def differ(name, theirs):
    """Two cells of a table."""
    some, of_all, most = difference(*of(name, theirs))
    return f"{some:,} of {of_all:,} | {most:.0f}"


def differ_words(name, theirs):
    some, of_all, most = difference(*of(name, theirs))
    return f"{some:,} of {of_all:,} pixels differ" + (f", by at most {most:.0f}" if some else "")


# ---- Equalization ----

def opencv_equalize(name):
    return cv2.equalizeHist(image(name))


def skimage_equalize(name):
    return 255 * skimage.exposure.equalize_hist(image(name), 256)


def pillow_equalize(name):
    return np.asarray(PIL.ImageOps.equalize(Image.open(name)))


def opencv_luma(name):
    planes = cv2.cvtColor(image(name), cv2.COLOR_RGB2YCrCb)
    planes[..., 0] = cv2.equalizeHist(planes[..., 0])
    return cv2.cvtColor(planes, cv2.COLOR_YCrCb2RGB)


def share_of_round_trip(name):
    before = image(name)
    after = cv2.cvtColor(cv2.cvtColor(before, cv2.COLOR_RGB2YCrCb), cv2.COLOR_YCrCb2RGB)
    some, of_all, _ = difference(before, after)
    return f"{100 * some / of_all:.0f} %"


def luma_words(ours, before):
    """Where an equalized colour image differs from OpenCV's by more than a level."""
    off = np.abs(image(ours).astype(int) - opencv_luma(before).astype(int)).max(-1)
    return (f"{np.count_nonzero(off == 1):,} pixels differ from OpenCV's by one level, and {np.count_nonzero(off > 1)} by more")


def opencv_clahe(name, clip, tiles):
    return cv2.createCLAHE(clip, (tiles, tiles)).apply(image(name))


def opencv_clahe_deep():
    return cv2.createCLAHE(3, (4, 4)).apply(scan())


def skimage_clahe(name, clip, tiles):
    before = image(name)
    return 255 * skimage.exposure.equalize_adapthist(before, [n // tiles for n in before.shape], clip / 256)


def full_of(pixels):
    """Full scale of the fewest bits that hold them."""
    return (1 << int(pixels.max()).bit_length()) - 1


def ninth_tenth(pixels, full):
    return f"{100 * np.percentile(pixels, 90) / full:.0f} %"


# ---- Video ----

def lumas(name):
    """The Y planes of a video."""
    with open(name, "rb") as file:
        width, height = (int(word[1:]) for word in file.readline().split()[1:3])
        planes = []
        while file.readline():
            planes.append(np.frombuffer(file.read(width * height * 3 // 2), np.uint8)[:width * height].reshape(height, width))
    return np.array(planes)


def frames(name):
    return len(lumas(name))


def differ_y4m(ours, before):
    some, of_all, _ = difference(lumas(ours).reshape(1, -1), np.array([cv2.equalizeHist(f) for f in lumas(before)]).reshape(1, -1))
    return f"{some:,} of {of_all:,}"


# ---- Matching and scans ----

def skimage_match(name, reference):
    """Floats: each channel alone."""
    pairs = zip(np.moveaxis(image(name), -1, 0), np.moveaxis(image(reference), -1, 0))
    return np.stack([skimage.exposure.match_histograms(*pair) for pair in pairs], -1)


def share_of_truncation(name, reference):
    cut = skimage.exposure.match_histograms(image(name), image(reference), channel_axis=-1)
    some, of_all, _ = difference(np.rint(skimage_match(name, reference)), cut)
    return f"{100 * some / of_all:.0f} %"


def tissues(scan_number, name):
    """Means of gray and of white matter."""
    first = 60 + 12 * (scan_number - 1)
    masks = [data.brain(which)[first:first + 24] > 240 for which in ("gm", "wm")]
    return [image(name)[mask].mean() for mask in masks]


def tissue_table():
    rows = ["| | gray matter, before | after | white matter, before | after |", "|---|---|---|---|---|"]
    for i in (1, 2, 3):
        before, after = tissues(i, f"scan{i}.npy"), tissues(i, f"standard{i}.npy")
        rows.append(f"| scan {i} | {before[0]:.0f} | {after[0]:.0f} | {before[1]:.0f} | {after[1]:.0f} |")
    return "\n".join(rows)


def standard_difference():
    """The largest one between a standardized scan and the same done by NumPy, on the scale from 0 to 100."""
    percentiles = [1, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 99]
    found = []
    for i in (1, 2, 3):
        scan_values = image(f"scan{i}.npy").astype(float)
        found.append(np.percentile(scan_values[scan_values > 0], percentiles))
    scaled = [100 * (marks - marks[0]) / (marks[-1] - marks[0]) for marks in found]
    standard = np.mean(scaled, 0)
    off = 0
    for i, marks in enumerate(found, 1):
        values = image(f"scan{i}.npy").astype(float)
        segment = np.clip(np.searchsorted(marks, values, "right") - 1, 0, len(marks) - 2)
        slope = (np.diff(standard) / np.diff(marks))[segment]
        off = max(off, np.abs(standard[segment] + slope * (values - marks[segment]) - image(f"standard{i}.npy")).max())
    return f"{off:.1g}"


def itk_match_difference():
    scans = [SimpleITK.Cast(SimpleITK.GetImageFromArray(image(f"scan{i}.npy")), SimpleITK.sitkFloat32) for i in (1, 2)]
    theirs = SimpleITK.GetArrayFromImage(SimpleITK.HistogramMatching(*scans, 65536, 7, True))
    return f"{np.abs(theirs - image('itk.npy')).max():.2f}"


# ---- Thresholds ----

def thresholds(*arguments):
    """What histo threshold prints."""
    out = subprocess.run(["histo", "threshold", *arguments], capture_output=True, text=True, check=True).stdout
    return [float(line.split("\t")[1]) for line in out.splitlines()[1:]]


def listed(numbers):
    return ", ".join(f"{n:.0f}" for n in numbers)


def between(levels, splits):
    """The variance between classes that end with these levels, as a share of the whole."""
    counts, values = np.bincount(levels.ravel()).astype(float), np.arange(levels.max() + 1)
    ends = [0, *(int(t) + 1 for t in splits), len(counts)]
    parts = [(counts[a:b].sum(), (counts * values)[a:b].sum()) for a, b in zip(ends, ends[1:])]
    mean = levels.mean()
    return sum(n * (total / n - mean)**2 for n, total in parts) / levels.size / levels.var()


def threshold_table():
    coins, brain = image("coins.png"), image("t1.png")
    ours = thresholds("--classes", "3", "--dtype", "u16", "--endian", "big", "--shape", "256x256", "s1045.ima.gz")
    theirs = skimage.filters.threshold_multiotsu(scan(), 3)
    rows = ["| | histo | OpenCV | scikit-image |", "|---|---|---|---|",
            f"| `coins.png`, Otsu | {listed(thresholds('coins.png'))} | {cv2.threshold(coins, 0, 255, cv2.THRESH_OTSU)[0]:.0f} | "
            f"{skimage.filters.threshold_otsu(coins)} |",
            f"| `t1.png`, four classes | {listed(thresholds('--classes', '4', 't1.png'))} | – | "
            f"{listed(skimage.filters.threshold_multiotsu(brain, 4))} |",
            f"| the scan of 16 bits, three classes | {listed(ours)} | – | {listed(theirs)} |"]
    return "\n".join(rows) + (f"\n\nThe classes of `histo` explain {100 * between(scan(), ours):.4f} % of the scan's variance, those of scikit-image "
                              f"{100 * between(scan(), theirs):.4f} %: it counts the samples of the lowest level, here half of all, with the "
                              "next.")


# ---- Registration ----

def shift_words():
    return ", ".join(str(n) for n in reversed(data.SHIFT))


def information(a, b):
    """What histo mi prints: the mutual information, from 64 x 64 bins."""
    np.save("a.npy", a)
    np.save("b.npy", b)
    out = subprocess.run(["histo", "mi", "a.npy", "b.npy"], capture_output=True, text=True, check=True).stdout.splitlines()
    return float(out[1].split("\t")[out[0].split("\t").index("mi")])


def mi_difference():
    a, b = image("t1.npy"), image("gray.npy")
    joint = np.histogram2d(a.ravel(), b.ravel(), 64)[0] / a.size
    sides = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    known = joint > 0
    return f"{abs((joint[known] * np.log(joint[known] / sides[known])).sum() - information(a, b)):.0e}"


def itk_words():
    """Gradient descent from where the volumes are."""
    fixed, moving = (SimpleITK.Cast(SimpleITK.GetImageFromArray(image(name)), SimpleITK.sitkFloat32) for name in ("t1.npy", "gray.npy"))
    registration = SimpleITK.ImageRegistrationMethod()
    registration.SetMetricAsMattesMutualInformation(64)
    registration.SetMetricSamplingStrategy(registration.REGULAR)
    registration.SetMetricSamplingPercentage(0.1)
    registration.SetInterpolator(SimpleITK.sitkLinear)
    registration.SetOptimizerAsRegularStepGradientDescent(2.0, 0.001, 200)
    registration.SetShrinkFactorsPerLevel([4, 2, 1])
    registration.SetSmoothingSigmasPerLevel([2, 1, 0])
    registration.SetInitialTransform(SimpleITK.TranslationTransform(3))
    registration.SetGlobalDefaultNumberOfThreads(1)
    found = registration.Execute(fixed, moving).GetParameters()
    return (f"SimpleITK finds {', '.join(f'{n:.1f}' for n in found)} by the Mattes metric and gradient descent from zero, on "
            "three scales with a tenth of the samples.")


# ---- Dies ----

def outlier_words():
    out = subprocess.run(["histo", "outliers", "--pairs", "ring"] + [f"die{i}.png" for i in range(8)], capture_output=True,
                         text=True, check=True).stdout
    found = {tuple(int(word) for word in line.split("\t")[:3]) for line in out.splitlines()[1:]}
    planted = set(data.FAULTS)
    return (f"Of the {len(planted)} particles, {len(planted & found)} are found, with their dies and positions; "
            f"{len(found - planted) or 'no'} others are reported among {8 * 512 * 512:,} pixels.")


# ---- Colours ----

def opencv_backproject(name, x, y, width, height):
    pixels, ranges = cv2.cvtColor(image(name), cv2.COLOR_RGB2HSV), [0, 180, 0, 256]
    model = cv2.calcHist([pixels[y:y + height, x:x + width].copy()], [0, 1], None, [18, 8], ranges)
    return cv2.calcBackProject([pixels], [0, 1], cv2.normalize(model, None, 0, 255, cv2.NORM_MINMAX), ranges, 1)


# ---- Tracking ----

WINDOW = "292,200,56,56"


@functools.cache
def windows(method):
    """What histo track finds: x, y, width and height of each frame."""
    options = ["--search", "16x16"] if method == "ellipse" else ["--axes", "h:30,s:32"]
    out = subprocess.run(["histo", "track", "--window", WINDOW, *options, "--method", method, "ball.y4m"], capture_output=True, text=True,
                         check=True).stdout
    return np.array([[int(word) for word in line.split("\t")[1:5]] for line in out.splitlines()[1:]])


def centers(method):
    found = windows(method)
    return found[:, :2] + found[:, 2:] / 2 - 0.5


def rgb_frames(name):
    """The frames of a video of 4:2:0, full range."""
    with open(name, "rb") as file:
        width, height = (int(word[1:]) for word in file.readline().split()[1:3])
        while file.readline():
            planes = np.frombuffer(file.read(width * height * 3 // 2), np.uint8).astype(float)
            y, rest = planes[:width * height].reshape(height, width), planes[width * height:].reshape(2, height // 2, width // 2)
            u, v = rest.repeat(2, 1).repeat(2, 2) - 128
            rgb = np.dstack([y + 1.402 * v, y - 0.344136 * u - 0.714136 * v, y + 1.772 * u])
            yield np.clip(np.rint(rgb), 0, 255).astype(np.uint8)


def rgb_frame(name, index):
    return next(itertools.islice(rgb_frames(name), index, None))


@functools.cache
def opencv_windows(method):
    """The same by OpenCV: back projection of whole frames, and meanShift or CamShift."""
    ranges, until = [0, 180, 0, 256], (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 10, 1)
    window, model, found = tuple(map(int, WINDOW.split(","))), None, []
    for frame in rgb_frames("ball.y4m"):
        pixels = cv2.cvtColor(frame, cv2.COLOR_RGB2HSV)
        if model is None:
            x, y, width, height = window
            model = cv2.calcHist([pixels[y:y + height, x:x + width].copy()], [0, 1], None, [30, 32], ranges)
            cv2.normalize(model, model, 0, 255, cv2.NORM_MINMAX)
        else:
            window = getattr(cv2, method)(cv2.calcBackProject([pixels], [0, 1], model, ranges, 1), window, until)[1]
        found.append(window)
    return np.array(found)


def same_windows(ours, theirs):
    off = np.abs(windows(ours) - opencv_windows(theirs)).max(1)
    return f"{np.count_nonzero(off == 0)} of {len(off)}" + (f", the others within {off.max()}" if off.any() else "")


def off(method):
    way = np.array([data.truth(i) for i in range(data.FRAMES)])
    return np.hypot(*(centers(method) - way).T)


def track_table():
    rows = ["| method | mean distance from the truth, pixels | largest | windows equal to OpenCV's |", "|---|---|---|---|"]
    theirs = {"meanshift": "meanShift", "camshift": "CamShift"}
    for method in ("meanshift", "camshift", "comaniciu", "ellipse"):
        same = same_windows(method, theirs[method]) if method in theirs else "–"
        rows.append(f"| `{method}` | {off(method).mean():.2f} | {off(method).max():.2f} | {same} |")
    return "\n".join(rows)


# ---- Search ----

@functools.cache
def search_distances():
    return search.distances()


def search_words():
    found, disparity = search_distances(), np.load("motorcycle_disp.npz")["arr_0"]
    x, y = search.AT
    known = np.median(disparity[y:y + search.SIZE, x:x + search.SIZE])
    return (f"Of the {found.size:,} windows of {search.SIZE} × {search.SIZE} pixels in the right photograph, the one at "
            f"{', '.join(map(str, search.place(found)))} is most like that at {x}, {y} of the left one. By the disparities that come "
            f"with the photographs, it is at {x - known:.1f}, {y}.")


# ---- Speed ----

WORK = {"copy/u8/4k": "copy a 4K image", "lut/u8/4k": "look up a 4K image in a table", "equalize/u8/4k": "equalize a 4K image",
        "equalize/u16/4096": "equalize a 12-bit image", "clahe/u8/4k": "CLAHE of a 4K image, 8 × 8 tiles",
        "clahe/u16/4096": "CLAHE of a 12-bit image, 8 × 8 tiles", "match/u8/4k": "match a 4K image to another",
        "otsu/u8/4k": "threshold a 4K image by Otsu", "multi-otsu-3/u16/4096": "find three classes of a 12-bit image by Otsu",
        "percentiles/u16/4096": "find three percentiles of a 12-bit image",
        "information/u16/256^3": "mutual information of two volumes of 256³ u16, 64 × 64 bins",
        "backproject/hs/4k": "back-project hue and saturation to a 4K image, 180 × 256 bins",
        "camshift/hs/1080p": "CamShift in a 1080p frame, window of 300 × 200",
        "command/equalize/pgm/4k": "`histo equalize` of a 4K image, PGM",
        "command/equalize/tiff/u16": "`histo equalize` of a 12-bit image, TIFF",
        "command/equalize/y4m/1080p": "`histo equalize` of 60 frames of 1080p video, y4m"}


def short(number):
    """Three digits of a time, without an exponent."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


ON_GPU = {"equalize/u8/1080p": "equalize a 1080p image", "equalize/u8/4k": "equalize a 4K image",
          "equalize/u8/64x4k": "equalize a batch of 64 4K images", "clahe/u8/1080p": "CLAHE of a 1080p image, 8 × 8 tiles",
          "clahe/u8/4k": "CLAHE of a 4K image", "clahe/u8/64x4k": "CLAHE of a batch of 64 4K images",
          "clahe/u16/4k": "CLAHE of a 4K image of 12 bits", "match/u8/4k": "match a 4K image to another",
          "otsu/u8/4k": "threshold a 4K image by Otsu", "stretch/u8/4k": "stretch a 4K image between percentiles",
          "fill-read/u8/1080p": "count a 1080p image, and read the counts",
          "joint-64x64/f32/256^3": "count two volumes of 256³ f32 jointly, 64 × 64 bins",
          "joint-64x64/u16/512^3": "count two volumes of 512³ u16 jointly, 64 × 64 bins",
          "moments/hs/300x200": "moments of the back projection to a window of 300 × 200",
          "backproject/hs/1080p": "back-project hue and saturation to a 1080p image, 180 × 256 bins",
          "ellipses-867/u8/4k": "count 867 ellipses of 401 × 481 pixels in a 4K image, 256 bins each"}


def gpu_table():
    """Of the run that is kept."""
    out = ["| | histo | of the roof |", "|---|---|---|"]
    for row in results.load(data.KEPT / "h200-apps.json.xz", "applications")["applications"]:
        share = f"{100 * row['roof_us'] / row['us']:.0f} %" if "roof_us" in row else "–"
        out.append(f"| {ON_GPU.get(row['name'], row['name'])} | {short(row['us'])} | {share} |")
    return "\n".join(out)


def speed_table():
    """Of the run that is kept."""
    out = ["| | histo | others, and how many times as long |", "|---|---|---|"]
    for row in results.load(data.KEPT / "zen5-apps.json.xz", "applications")["applications"]:
        peers = sorted((peer["us"], name) for name, peer in row["peers"].items() if "us" in peer)
        times = ", ".join(f"{name} {short(us / 1e3)} ({us / row['us']:{'.0f' if us > 10 * row['us'] else '.1f'}} ×)" for us, name in peers)
        out.append(f"| {WORK[row['name']]} | {short(row['us'] / 1e3)} | {times} |")
    return "\n".join(out)
