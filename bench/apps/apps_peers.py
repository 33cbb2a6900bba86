"""Python's libraries as peers that `histo bench apps` times; behind requests.py.

    begin ID LIBRARY WORK WORDS THREADS ARRAY...   WORDS: numbers, separated by spaces; ARRAY: FILE DTYPE SHAPE
    run ID                                         do it once: ok MICROSECONDS
    compare ID ARRAY                               with the last result: ok LARGEST-DIFFERENCE SHARE-THAT-DIFFERS
    end ID
Microseconds are of the processor if THREADS is 1, else of the clock. A method of a library's class is named as the work;
it takes arrays and numbers, and returns what is to be timed.
"""

import functools
import math
import resource
import shutil
import subprocess
import time


def inform(joint):
    """Mutual information in nats, and normalized, from counts."""
    def entropy(counts):
        shares = counts[counts > 0] / counts.sum()
        return -(shares * np.log(shares)).sum()
    h = np.array([entropy(joint.sum(1)), entropy(joint.sum(0)), entropy(joint)])
    return np.array([h[0] + h[1] - h[2], (h[0] + h[1]) / h[2]])


class Command:
    """A program; its time is that of the process."""
    modules = []

    def __init__(self, threads):
        self.threads = threads

    def running(self, program, *words):
        if not shutil.which(program):
            raise ValueError(f"absent: the command {program} is not installed there")

        def used():
            children = resource.getrusage(resource.RUSAGE_CHILDREN)
            return children.ru_utime + children.ru_stime if self.threads == 1 else time.perf_counter()

        def run():
            begin = used()
            subprocess.run([program, *words], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            return Took(1e6 * (used() - begin))
        return run


class Took(float):
    """The microseconds of another process."""


class NumPy:
    """What one would write without a library for it; also exact models where libraries disagree."""
    modules = ["numpy"]

    def equalize_file(self, image, source, to):
        """Of TIFF, whose pixels are behind a header of 8 bytes."""
        if not source.endswith(".tif"):
            raise ValueError("TIFF only")

        def run():
            out = self.equalize(np.fromfile(source, image.dtype, image.size, offset=8).reshape(image.shape))()
            out.tofile(to)
            return out
        return run

    def copy(self, image):
        out = np.empty_like(image)

        def run():
            np.copyto(out, image)
            return out
        return run

    def lut(self, image, table):
        out = np.empty_like(image)
        return lambda: np.take(table, image, out=out, mode="clip")

    def equalize(self, image):
        """OpenCV's formula, for any number of levels in whole numbers."""
        levels = 256 if image.itemsize == 1 else 65536

        def run():
            counts = np.bincount(image.reshape(-1), minlength=levels)
            sums, first = np.cumsum(counts), counts[np.flatnonzero(counts)[0]]
            below, all_of_them = np.maximum(sums - first, 0) * (levels - 1), image.size - first
            whole, rest = np.divmod(below, all_of_them)
            up = (2 * rest > all_of_them) | ((2 * rest == all_of_them) & (whole % 2 == 1))
            return (whole + up).astype(image.dtype)[image]
        return run

    def clahe(self, image, rows, columns, clip, bits):
        """OpenCV's arithmetic, for any number of levels."""
        levels, (height, width) = 1 << int(bits), image.shape
        tall, wide = height // int(rows), width // int(columns)
        if height % int(rows) or width % int(columns):
            raise ValueError("only whole tiles")

        def table(tile):
            counts = np.bincount(tile.reshape(-1), minlength=levels)
            limit = max(int(clip * tile.size / levels), 1)
            cut = int(np.maximum(counts - limit, 0).sum())
            counts = np.minimum(counts, limit) + cut // levels
            rest = cut % levels
            if rest:
                counts[np.arange(0, levels, max(levels // rest, 1))[:rest]] += 1
            return np.rint(np.cumsum(counts).astype(np.float32) * np.float32(np.float32(levels - 1) / tile.size))

        def blend(n, size, count):
            at = np.arange(n, dtype=np.float32) * np.float32(1 / np.float32(size)) - np.float32(0.5)
            low = np.floor(at).astype(int)
            share = at - low.astype(np.float32)
            return np.maximum(low, 0), np.minimum(low + 1, count - 1), share, np.float32(1) - share

        def run():
            tables = np.array([[table(image[y:y + tall, x:x + wide]) for x in range(0, width, wide)]
                               for y in range(0, height, tall)], np.float32)
            x0, x1, right, left = blend(width, wide, int(columns))
            out = np.empty_like(image)
            for y, (y0, y1, down, up) in enumerate(zip(*blend(height, tall, int(rows)))):
                upper = tables[y0, x0, image[y]] * left + tables[y0, x1, image[y]] * right
                lower = tables[y1, x0, image[y]] * left + tables[y1, x1, image[y]] * right
                out[y] = np.rint(upper * up + lower * down)
            return out
        return run

    def multiotsu(self, image, classes):
        """All pairs of thresholds of three classes."""
        if classes != 3:
            raise ValueError("three classes only")

        def run():
            counts = np.bincount(image.reshape(-1)).astype(float)
            n, s = np.cumsum(counts), np.cumsum(counts * np.arange(len(counts)))
            with np.errstate(divide="ignore", invalid="ignore"):
                low = np.where(n > 0, s * s / n, 0)
                high = np.where(n[-1] > n, (s[-1] - s)**2 / (n[-1] - n), 0)
                best = -1, 0, 0
                for first in range(len(counts) - 2):
                    middle = (s[first + 1:] - s[first])**2 / (n[first + 1:] - n[first])
                    total = low[first] + np.nan_to_num(middle) + high[first + 1:]
                    second = int(np.argmax(total))
                    if total[second] > best[0]:
                        best = total[second], first, first + 1 + second
            return np.array(best[1:], float)
        return run

    def percentiles(self, samples, *q):
        return lambda: np.percentile(samples, q)

    def extremes(self, samples):
        return lambda: np.array([samples.min(), samples.max()], float)

    def bins_auto(self, samples):
        def run():
            edges = np.histogram_bin_edges(samples, "auto")
            return np.array([edges[0], edges[-1], len(edges) - 1])
        return run

    def information(self, a, b, bins, lo, hi):
        def run():
            return inform(np.histogram2d(a.reshape(-1), b.reshape(-1), int(bins), [(lo, hi)] * 2)[0])
        return run


class OpenCV:
    modules = ["cv2"]

    def __init__(self, threads):
        cv2.setNumThreads(threads)

    def equalize_file(self, image, source, to):
        def run():
            cv2.imwrite(to, cv2.equalizeHist(cv2.imread(source, cv2.IMREAD_UNCHANGED)))
            return cv2.imread(to, cv2.IMREAD_UNCHANGED)
        if image.itemsize != 1:
            raise ValueError("u8 only")
        return run

    def equalize_video(self, image, source, to):
        """As one would in Python; the result is the last luma."""
        def run():
            with open(source, "rb") as frames, open(to, "wb") as out:
                out.write(frames.readline())
                while header := frames.readline():
                    luma = cv2.equalizeHist(np.frombuffer(frames.read(image.size), np.uint8).reshape(image.shape))
                    out.write(header)
                    out.write(luma)
                    out.write(frames.read(image.size // 2))
            return luma
        return run

    def lut(self, image, table):
        out = np.empty_like(image)
        return lambda: cv2.LUT(image, table, out)

    def equalize(self, image):
        if image.itemsize != 1:
            raise ValueError("u8 only")
        out = np.empty_like(image)
        return lambda: cv2.equalizeHist(image, out)

    def clahe(self, image, rows, columns, clip, bits):
        maker, out = cv2.createCLAHE(clip, (int(columns), int(rows))), np.empty_like(image)
        return lambda: maker.apply(image, out)

    def otsu(self, image):
        out = np.empty_like(image)
        return lambda: cv2.threshold(image, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU, out)[1]

    def information(self, a, b, bins, lo, hi):
        flat = [array.reshape(a.shape[0], -1) for array in (a, b)]
        return lambda: inform(cv2.calcHist(flat, [0, 1], None, [int(bins)] * 2, [lo, hi] * 2).astype(float))

    def extremes(self, samples):
        image = samples.reshape(-1, 4096)
        return lambda: np.array(cv2.minMaxLoc(image)[:2])

    def model(self, image, y, x, height, width, hues, saturations):
        region = np.ascontiguousarray(image[int(y):int(y + height), int(x):int(x + width)])
        model = cv2.calcHist([region], [0, 1], None, [int(hues), int(saturations)], [0, 180, 0, 256])
        return cv2.normalize(model, None, 0, 255, cv2.NORM_MINMAX)

    def backproject(self, image, *region):
        model, out = self.model(image, *region), np.empty(image.shape[:2], np.uint8)
        return lambda: cv2.calcBackProject([image], [0, 1], model, [0, 180, 0, 256], 1, out)

    def camshift(self, image, *region):
        """Of a window that is 30 by 20 off; the result is the window of mean shift."""
        project, (y, x, height, width) = self.backproject(image, *region), [int(n) for n in region[:4]]
        window, until = (x + 30, y + 20, width, height), (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 10, 1)
        result = np.array(cv2.meanShift(project(), window, until)[1], float)

        def run():
            cv2.CamShift(project(), window, until)
            return result
        return run


class ScikitImage:
    modules = ["skimage.exposure", "skimage.filters", "skimage.metrics"]

    def equalize(self, image):
        levels = 256 if image.itemsize == 1 else 65536
        return lambda: skimage.exposure.equalize_hist(image, levels) * (levels - 1)

    def clahe(self, image, rows, columns, clip, bits):
        tile = image.shape[0] // int(rows), image.shape[1] // int(columns)
        most = (1 << int(bits)) - 1
        return lambda: skimage.exposure.equalize_adapthist(image, tile, clip / (most + 1), most + 1) * most

    def match(self, image, reference):
        return lambda: skimage.exposure.match_histograms(image, reference)

    def otsu(self, image):
        return lambda: np.where(image > skimage.filters.threshold_otsu(image), np.uint8(255), np.uint8(0))

    def multiotsu(self, image, classes):
        return lambda: skimage.filters.threshold_multiotsu(image, int(classes)).astype(float)

    def information(self, a, b, bins, lo, hi):
        return lambda: np.array([math.nan, skimage.metrics.normalized_mutual_information(a, b, bins=int(bins))])


class Libvips(Command):
    modules = ["pyvips"]

    def image(self, array):
        return pyvips.Image.new_from_memory(array, array.shape[1], array.shape[0], 1,
                                            "uchar" if array.itemsize == 1 else "ushort")

    def written(self, make, shape, dtype):
        return lambda: np.frombuffer(make().write_to_memory(), dtype).reshape(shape)

    def lut(self, image, table):
        return self.written(lambda: self.image(image).maplut(self.image(table.reshape(1, -1))), image.shape, image.dtype)

    def equalize_file(self, image, source, to):
        """By the command: the package for Python reads no PGM."""
        return self.running("vips", "hist_equal", source, to)

    def equalize(self, image):
        return self.written(lambda: self.image(image).hist_equal(), image.shape, image.dtype)

    def match(self, image, reference):
        def run():
            sums = [self.image(array).hist_find().hist_cum().hist_norm() for array in (image, reference)]
            return self.image(image).maplut(sums[0].hist_match(sums[1]).cast("uchar"))
        return self.written(run, image.shape, image.dtype)


class Pillow:
    modules = ["PIL.Image", "PIL.ImageOps"]

    def lut(self, image, table):
        picture, table = PIL.Image.fromarray(image), table.tolist()
        return lambda: picture.point(table)

    def equalize(self, image):
        if image.itemsize != 1:
            raise ValueError("u8 only")
        picture = PIL.Image.fromarray(image)
        return lambda: PIL.ImageOps.equalize(picture)


class SimpleITK:
    modules = ["SimpleITK"]

    def __init__(self, threads):
        SimpleITK.ProcessObject.SetGlobalDefaultNumberOfThreads(threads)

    def match(self, image, reference):
        pictures = [SimpleITK.GetImageFromArray(array) for array in (image, reference)]
        return lambda: SimpleITK.GetArrayFromImage(SimpleITK.HistogramMatching(*pictures, 256, 7, False))

    def otsu(self, image):
        picture, maker = SimpleITK.GetImageFromArray(image), SimpleITK.OtsuThresholdImageFilter()
        maker.SetInsideValue(0)
        maker.SetOutsideValue(255)
        maker.SetNumberOfHistogramBins(256)
        return lambda: SimpleITK.GetArrayFromImage(maker.Execute(picture))

    def multiotsu(self, image, classes):
        """256 bins: its 4096 are hundreds of times slower."""
        picture, maker = SimpleITK.GetImageFromArray(image), SimpleITK.OtsuMultipleThresholdsImageFilter()
        maker.SetNumberOfThresholds(int(classes) - 1)
        maker.SetNumberOfHistogramBins(256)

        def run():
            maker.Execute(picture)
            return np.array(maker.GetThresholds())
        return run

    def information(self, a, b, bins, lo, hi):
        """Mattes et al., all samples."""
        volumes = [SimpleITK.Cast(SimpleITK.GetImageFromArray(array), SimpleITK.sitkFloat32) for array in (a, b)]
        maker = SimpleITK.ImageRegistrationMethod()
        maker.SetMetricAsMattesMutualInformation(int(bins))
        maker.SetMetricSamplingStrategy(maker.NONE)
        maker.SetInterpolator(SimpleITK.sitkNearestNeighbor)
        maker.SetInitialTransform(SimpleITK.TranslationTransform(a.ndim))
        return lambda: np.array([maker.MetricEvaluate(*volumes), math.nan])


class ImageMagick(Command):
    def equalize_file(self, image, source, to):
        program = next(filter(shutil.which, ("magick", "convert-im6.q16")), "magick")
        return self.running(program, "-limit", "thread", str(self.threads), source, "-equalize", to)


class FFmpeg(Command):
    def equalize_video(self, image, source, to):
        """Its own copy, the least that a program does with frames."""
        return self.running("ffmpeg", "-loglevel", "error", "-threads", str(self.threads), "-y", "-i", source, to)


LIBRARIES = {"NumPy": NumPy, "OpenCV": OpenCV, "scikit-image": ScikitImage, "libvips": Libvips, "Pillow": Pillow,
             "SimpleITK": SimpleITK, "ImageMagick": ImageMagick, "FFmpeg": FFmpeg}


@functools.cache
def library(name, threads):
    kind = LIBRARIES[name]
    os.environ["VIPS_CONCURRENCY"] = str(threads)
    for module in kind.modules:
        try:
            globals()[module.split(".")[0]] = __import__(module)
        except ImportError:
            raise ValueError("absent: it is not installed there") from None
    return kind() if kind.__init__ is object.__init__ else kind(threads)


def number(word):
    """The number that a word is; a path stays as it is."""
    try:
        return float(word)
    except ValueError:
        return word


class Peer:
    def __init__(self, name, work, words, threads, *arrays):
        threads = int(threads)
        arrays = [mapped(*arrays[i:i + 3]) for i in range(0, len(arrays), 3)]
        self.clock = time.process_time if threads == 1 else time.perf_counter
        method = getattr(library(name, threads), work, None)
        if method is None:
            raise ValueError("it does not do that")
        self.work = method(*arrays, *map(number, words.split()))
        self.result = None

    def run(self):
        begin = self.clock()
        self.result = self.work()
        took = 1e6 * (self.clock() - begin)
        return f"{self.result if isinstance(self.result, Took) else took:.17g}"

    def compare(self, *array):
        if self.result is None or isinstance(self.result, Took):
            raise ValueError("its result is a file")
        ours, theirs = mapped(*array), np.asarray(self.result)
        if theirs.shape != ours.shape:
            raise ValueError(f"its result has shape {theirs.shape}")
        if ours.dtype.kind != "f" and theirs.dtype.kind == "f":
            theirs = np.rint(theirs)
        numbers_in_both = ~(np.isnan(theirs) | np.isnan(ours))
        off = np.abs(theirs[numbers_in_both].astype(float) - ours[numbers_in_both].astype(float))
        return f"{off.max(initial=0):.17g}\t{np.count_nonzero(off) / max(off.size, 1):.17g}"


serve(Peer)
