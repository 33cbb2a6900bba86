"""Maps against OpenCV and scikit-image, and against models of them in NumPy: tables made from histograms, and applied.

HISTO_CASES is the number of random cases (default 200), HISTO_SEED the first seed. A failure prints the seed that
repeats it.
"""
import ctypes
import math

import cv2
import numpy as np
import skimage.exposure

from libhisto import (DTYPES, INTEGER, MAX_DIMS, REGULAR, STORAGE, VARIABLE, Axis, FillOptions, View, axis_of, check, lib,
                      run_checks, view_of)

STEP, LINEAR = range(2)
MINIMUM, CDF = range(2)
DOUBLES = ctypes.POINTER(ctypes.c_double)
lib.histo_map_size.restype = ctypes.c_int64
lib.histo_map_destroy.restype = None


class MapOptions(ctypes.Structure):
    _fields_ = [("batch", ctypes.c_int64), ("within", ctypes.c_int),
                ("reserved", ctypes.c_uint64 * 8)]


class MakeOptions(ctypes.Structure):
    _fields_ = [("lo", ctypes.c_double), ("hi", ctypes.c_double), ("rule", ctypes.c_int), ("clip", ctypes.c_double),
                ("stream", ctypes.c_void_p),
                ("reserved", ctypes.c_uint64 * 8)]


class Tiles(ctypes.Structure):
    _fields_ = [("ndim", ctypes.c_int), ("count", ctypes.c_int64 * 3), ("size", ctypes.c_int64 * 3)]


class ApplyOptions(ctypes.Structure):
    _fields_ = [("mask", ctypes.POINTER(View)), ("tiles", Tiles), ("threads", ctypes.c_int),
                ("origin", ctypes.c_int64 * 3), ("stream", ctypes.c_void_p),
                ("reserved", ctypes.c_uint64 * 8)]


class HistOptions(ctypes.Structure):
    _fields_ = [("batch", ctypes.c_int64), ("weighting", ctypes.c_int), ("storage", ctypes.c_int),
                ("reserved", ctypes.c_uint64 * 8)]


def name_of(array):
    return {"u1": "u8", "i1": "i8", "u2": "u16", "i2": "i16", "u4": "u32", "i4": "i32", "u8": "u64", "i8": "i64",
            "f2": "f16", "f4": "f32", "f8": "f64"}[array.dtype.str[1:]]


class Counts:
    """A histogram of arrays, one for each axis; the first batch_ndim dimensions are the batch's."""

    def __init__(self, axes, *arrays, batch_ndim=0, mask=None):
        self.handle = ctypes.c_void_p()
        batch = math.prod(arrays[0].shape[:batch_ndim])
        check(lib.histo_hist_create(ctypes.byref(self.handle), len(axes), (Axis * len(axes))(*axes),
                                    ctypes.byref(HistOptions(batch=batch))))
        views = (View * len(arrays))(*[view_of(a, name_of(a)) for a in arrays])
        for view in views:
            view.batch_ndim = batch_ndim
        options = FillOptions()
        if mask is not None:
            options.mask = ctypes.pointer(view_of(mask, name_of(mask)))
        check(lib.histo_hist_fill(self.handle, views, ctypes.byref(options)))

    def __del__(self):
        lib.histo_hist_destroy(self.handle)


class Map:
    def __init__(self, *axes, batch=1, within=STEP):
        self.handle = ctypes.c_void_p()
        check(lib.histo_map_create(ctypes.byref(self.handle), len(axes), (Axis * len(axes))(*axes),
                                   ctypes.byref(MapOptions(batch=batch, within=within))))

    def __del__(self):
        lib.histo_map_destroy(self.handle)

    def values(self):
        values = np.empty(lib.histo_map_size(self.handle))
        check(lib.histo_map_read(self.handle, values.ctypes.data_as(DOUBLES), ctypes.c_int64(values.size)))
        return values

    def write(self, values):
        values = np.ascontiguousarray(values, dtype=np.float64)
        check(lib.histo_map_write(self.handle, values.ctypes.data_as(DOUBLES), ctypes.c_int64(values.size)))
        return self

    def equalize(self, counts, lo=0, hi=0, rule=MINIMUM, clip=0):
        check(lib.histo_map_equalize(self.handle, counts.handle, ctypes.byref(MakeOptions(lo, hi, rule, clip))))
        return self

    def match(self, counts, reference):
        check(lib.histo_map_match(self.handle, counts.handle, reference.handle, None))
        return self

    def landmarks(self, counts, q, target, extend=False):
        q, target = (np.ascontiguousarray(v, dtype=np.float64) for v in (q, target))
        check(lib.histo_map_landmarks(self.handle, counts.handle, len(q), q.ctypes.data_as(DOUBLES),
                                      target.ctypes.data_as(DOUBLES), ctypes.c_bool(extend), None))
        return self

    def project(self, counts, lo=0, hi=0, against=None):
        check(lib.histo_map_project(self.handle, counts.handle, against.handle if against else None,
                                    ctypes.byref(MakeOptions(lo, hi))))
        return self

    def moments(self, *arrays, window=None, mask=None, threads=0):
        """The moments of the values over a window x, y, width, height: m00, m10, m01, m20, m11, m02."""
        views = (View * len(arrays))(*[view_of(a, name_of(a)) for a in arrays])
        options = ApplyOptions(threads=threads)
        if mask is not None:
            options.mask = ctypes.pointer(view_of(mask, name_of(mask)))
        moments = (ctypes.c_double * 6)()
        check(lib.histo_map_moments(self.handle, views, (ctypes.c_int64 * 4)(*window) if window else None,
                                    ctypes.byref(options), moments))
        return np.array(moments)

    def apply(self, *arrays, dtype=None, out=None, batch_ndim=0, mask=None, tiles=None, threads=0):
        if out is None:
            out = np.zeros(arrays[0].shape, dtype or arrays[0].dtype)
        views = (View * len(arrays))(*[view_of(a, name_of(a)) for a in arrays])
        to = view_of(out, name_of(out))
        for view in [*views, to]:
            view.batch_ndim = batch_ndim
        options = ApplyOptions(threads=threads)
        if mask is not None:
            options.mask = ctypes.pointer(view_of(mask, name_of(mask)))
        if tiles is not None:
            count, size, *origin = tiles
            options.tiles.ndim = len(count)
            options.origin[:len(count)] = origin[0] if origin else [0] * len(count)
            options.tiles.count[:len(count)] = count
            options.tiles.size[:len(size)] = size
        check(lib.histo_map_apply(self.handle, views, ctypes.byref(to), ctypes.byref(options)))
        return out


def integers(bins):
    return axis_of(np.arange(bins + 1), False, INTEGER)


def image(rng, height, width, top=256, dtype=np.uint8):
    """Blobs and noise, as a photograph's histogram has peaks, gaps and tails."""
    y, x = np.mgrid[:height, :width]
    levels = rng.normal(0, top / 40, (height, width))
    for _ in range(4):
        at, spread = rng.random(2) * [height, width], (0.05 + rng.random()) * max(height, width) / 2
        levels += rng.random() * top / 2 * np.exp(-((y - at[0])**2 + (x - at[1])**2) / spread**2)
    return np.clip(levels, 0, top - 1).astype(dtype)


def view_in(rng, array):
    """The same samples in other places: a part of a larger array, transposed, or backwards."""
    kind = rng.integers(4)
    if kind == 1:
        larger = np.zeros([n + 5 for n in array.shape], array.dtype)
        part = larger[tuple(slice(2, 2 + n) for n in array.shape)]
    elif kind == 2:
        part = np.empty(array.shape[::-1], array.dtype).T
    elif kind == 3:
        part = np.empty(array.shape, array.dtype)[..., ::-1]
    else:
        part = np.empty(array.shape, array.dtype)
    part[...] = array
    return part


def check_equalize_u8(rng):
    of = image(rng, int(rng.integers(1, 300)), int(rng.integers(1, 300)))
    if rng.integers(8) == 0:
        of[...] = of.flat[0]
    counts = Counts([integers(256)], view_in(rng, of))
    got = Map(integers(256)).equalize(counts, 0, 255).apply(view_in(rng, of), out=view_in(rng, of))
    assert np.array_equal(got, cv2.equalizeHist(of)), "equalizeHist"
    got = Map(integers(256)).equalize(counts, 0, 255, CDF).apply(of)
    wanted = np.rint(np.cumsum(np.bincount(of.ravel(), minlength=256))[of] * 255 / of.size)
    assert np.array_equal(got, wanted.astype(np.uint8)), "by the cumulative shares"


def check_equalize_u16(rng):
    top = int(rng.choice([300, 4096, 65536]))
    of = image(rng, 90, int(rng.integers(1, 200)), top, np.uint16)
    counts = np.bincount(of.ravel(), minlength=top)
    least = counts[counts > 0][0]
    got = Map(integers(top)).equalize(Counts([integers(top)], of), 0, top - 1).apply(of)
    for level in rng.choice(of.ravel(), 20).astype(int):
        c = (int(counts[:level + 1].sum()) - int(least)) * (top - 1)
        d = of.size - int(least)
        wanted = level if d == 0 else c // d + (2 * (c % d) > d or (2 * (c % d) == d and c // d % 2))
        assert (got[of == level] == wanted).all(), (level, wanted)


def check_equalize_floats(rng):
    x = rng.normal(0, 1, (int(rng.integers(1, 60)), 70)).astype(rng.choice(["f4", "f8"]))
    x.flat[:3] = [np.nan, np.inf, -np.inf]
    bins = int(rng.choice([2, 100, 1000]))
    edges = np.linspace(-2, 2, bins + 1)
    got = Map(axis_of(edges, True, REGULAR), within=LINEAR).equalize(Counts([axis_of(edges, True, REGULAR)], x)).apply(x)
    inside = x[(x >= -2) & (x <= 2)]
    share = np.concatenate([[0], np.cumsum(np.histogram(inside, edges)[0]) / len(inside)])
    wanted = np.interp(x.astype(np.float64), edges, share)
    assert np.isnan(got[np.isnan(x)]).all() and got.flat[1] == 1 and got.flat[2] == 0
    finite = ~np.isnan(x)
    assert np.abs(got[finite] - wanted[finite]).max() < 1e-6


def clahe(of, clip, count, bins, threads=0, part=None):
    """As cv::CLAHE: where the tiles do not fit, the image is padded by reflection, in both directions. The map is applied
    to the whole image, or to the four parts around a place."""
    rows, columns = count
    padded = of
    if of.shape[0] % rows or of.shape[1] % columns:
        padded = cv2.copyMakeBorder(of, 0, rows - of.shape[0] % rows, 0, columns - of.shape[1] % columns,
                                    cv2.BORDER_REFLECT_101)
    height, width = padded.shape[0] // rows, padded.shape[1] // columns
    tiles = padded.reshape(rows, height, columns, width).swapaxes(1, 2)
    of_tiles = Map(integers(bins), batch=rows * columns)
    of_tiles.equalize(Counts([integers(bins)], tiles, batch_ndim=2), 0, bins - 1, CDF, clip or np.inf)
    y, x = part or of.shape
    out = np.empty_like(of)
    for at in np.ndindex(2, 2): # in four parts, three of which are empty if there is no part
        rows, columns = slice(*[(0, y), (y, None)][at[0]]), slice(*[(0, x), (x, None)][at[1]])
        of_tiles.apply(of[rows, columns], out=out[rows, columns], threads=threads,
                       tiles=(count, (height, width), (rows.start, columns.start)))
    return out


def check_clahe(rng):
    deep = rng.integers(2) == 1
    bins, dtype = (65536, np.uint16) if deep else (256, np.uint8)
    count = [int(n) for n in rng.integers(1, 10, 2)]
    of = image(rng, int(rng.integers(20, 250)), int(rng.integers(20, 250)), bins, dtype)
    clip = float(rng.choice([0, 0.5, 2, 3.7, 40]))
    wanted = cv2.createCLAHE(clip, count[::-1]).apply(of)
    part = [int(rng.integers(1, n)) for n in of.shape] if rng.integers(2) else None
    got = clahe(of, clip, count, bins, int(rng.integers(4)), part)
    assert np.array_equal(got, wanted), f"clip {clip}, tiles {count} of {of.shape}: {(got != wanted).sum()} pixels differ"


def check_blend(rng):
    """One to three dimensions of tiles, a batch, any axes and samples, against the same blend in NumPy."""
    ndim, batch = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    count, size = ([int(n) for n in rng.integers(1, most, ndim)] for most in (5, 7))
    shape = [batch] + [int(rng.integers(1, c * s + 1)) for c, s in zip(count, size)]
    dtype = rng.choice(["u1", "i2", "f4", "f8", "i8"])
    x = rng.integers(-1, 12, shape).clip(0 if dtype == "u1" else None).astype(dtype)
    shared = rng.integers(2) == 1
    tables = rng.integers(0, 200, (1 if shared else batch, *count, 10 + 3)).astype(np.float64)
    kinds = [axis_of(np.arange(11), False, INTEGER), axis_of(np.arange(11.0), False, VARIABLE)]
    of = Map(kinds[rng.integers(2)], batch=tables.size // 13).write(tables)
    got = of.apply(view_in(rng, x), out=view_in(rng, np.zeros(shape)), batch_ndim=1, tiles=(count, size))
    slots = np.where(x < 0, 0, np.where(x > 9, 11, x.astype(int) + 1))
    wanted = np.zeros(shape, np.float32)
    parts = []
    for d, (c, s) in enumerate(zip(count, size)):
        at = np.arange(shape[1 + d], dtype=np.float32) * (np.float32(1) / np.float32(s)) - np.float32(0.5)
        low = np.floor(at)
        parts.append((np.clip(low, 0, c - 1).astype(int), np.clip(low + 1, 0, c - 1).astype(int), at - low))
    for place in np.ndindex(*shape):
        def at(d, tile):
            if d == ndim:
                return np.float32(tables[(0 if shared else place[0], *tile, slots[place])])
            low, high, share = (p[place[1 + d]] for p in parts[d])
            return at(d + 1, (*tile, low)) * (np.float32(1) - share) + at(d + 1, (*tile, high)) * share
        wanted[place] = at(0, ())
    assert np.array_equal(got, wanted.astype(np.float64)), f"{count} tiles of {size} on {shape}, {dtype}"


def check_match(rng):
    top = int(rng.choice([256, 4096]))
    dtype = np.uint8 if top == 256 else np.uint16
    a, b = image(rng, 60, 80, top, dtype), image(rng, 50, 40, top, dtype)
    got = Map(integers(top)).match(Counts([integers(top)], a), Counts([integers(top)], b)).apply(a)
    wanted = skimage.exposure.match_histograms(a, b)
    wanted = wanted if wanted.dtype.kind == "f" else None
    values, shares = np.unique(b, return_counts=True)
    line = np.interp(np.cumsum(np.bincount(a.ravel(), minlength=top)) / a.size, np.cumsum(shares) / b.size, values)[a]
    assert wanted is None or np.abs(line - wanted).max() < 1e-9
    assert np.array_equal(got, np.rint(line).astype(dtype))


def check_match_floats(rng):
    a, b = rng.normal(0, 1, 20000), rng.gamma(3, 1, 20000)
    edges, others = np.linspace(-5, 5, 2001), np.linspace(0, 20, 3001)
    source = Counts([axis_of(edges, True, REGULAR)], a)
    got = Map(axis_of(edges, True, REGULAR), within=LINEAR).match(source, Counts([axis_of(others, True)], b)).apply(a)
    wanted = np.quantile(b, (np.argsort(np.argsort(a)) + 0.5) / len(a))
    middle = (a > -2) & (a < 2)
    assert np.abs(got - wanted)[middle].max() < 0.1


def check_landmarks(rng):
    of = image(rng, 80, 90)
    q = np.sort(rng.choice(np.arange(1, 100), int(rng.integers(2, 8)), replace=False)) / 100
    target = np.sort(rng.random(len(q))) * 100
    counts = Counts([integers(256)], of)
    at = np.quantile(of.astype(np.float64), q)
    if len(set(at)) < len(at):
        return
    got = Map(integers(256)).landmarks(counts, q, target).apply(of, dtype=np.float64)
    assert np.abs(got - np.interp(of, at, target)).max() < 1e-10
    got = Map(integers(256)).landmarks(counts, q, target, True).apply(of, dtype=np.float64)
    wanted = np.interp(of, at, target)
    below, above = of < at[0], of > at[-1]
    wanted[below] = target[0] + (of[below] - at[0]) * (target[1] - target[0]) / (at[1] - at[0])
    wanted[above] = target[-1] + (of[above] - at[-1]) * (target[-1] - target[-2]) / (at[-1] - at[-2])
    assert np.abs(got - wanted).max() < 1e-9


def check_project(rng):
    h, s = image(rng, 60, 70, 180), image(rng, 60, 70)
    bins = [int(n) for n in rng.choice([8, 15, 30, 32], 2)]
    axes = lambda: [axis_of(np.linspace(0, top, n + 1), False, REGULAR) for top, n in zip((180, 256), bins)]
    model = cv2.calcHist([h[:30], s[:30]], [0, 1], None, bins, [0, 180, 0, 256])
    counts = Counts(axes(), h[:30], s[:30])
    got = Map(*axes()).project(counts, 0, 255).apply(h, s, dtype=np.uint8)
    cv2.normalize(model, model, 0, 255, cv2.NORM_MINMAX)
    wanted = cv2.calcBackProject([h, s], [0, 1], model, [0, 180, 0, 256], 1)
    edges = [np.linspace(0, top, n + 1) for top, n in zip((180, 256), bins)]
    even = all((e == np.rint(e)).all() or top % n == 0 for e, top, n in zip(edges, (180, 256), bins))
    assert not even or np.array_equal(got, wanted), f"{(got != wanted).sum()} pixels of {bins} bins"
    got = Map(*axes()).project(counts, against=Counts(axes(), h, s)).apply(h, s, dtype=np.float64)
    p, q = (np.histogram2d(a.ravel(), b.ravel(), edges)[0] for a, b in ((h[:30], s[:30]), (h, s)))
    with np.errstate(all="ignore"):
        ratio = np.nan_to_num(np.sqrt(p / p.sum() / (q / q.sum())))
    at = [np.searchsorted(e, v, "right") - 1 for e, v in zip(edges, (h, s))]
    assert np.abs(got - ratio[at[0], at[1]]).max() < 1e-12


def tracked_image(rng, height, width):
    """Hue and saturation of a bright blob on noise, its place, and the back projection of its histogram."""
    y, x = np.mgrid[:height, :width]
    at, size = rng.random(2) * [height, width], 8 + rng.random(2) * 30
    inside = ((y - at[0]) / size[0])**2 + ((x - at[1]) / size[1])**2 < 1
    hue = np.where(inside, rng.integers(40, 60, y.shape), rng.integers(0, 180, y.shape)).astype(np.uint8)
    saturation = np.where(inside, rng.integers(150, 250, y.shape), rng.integers(0, 256, y.shape)).astype(np.uint8)
    axes = [axis_of(np.linspace(0, top, n + 1), False, REGULAR) for top, n in ((180, 30), (256, 32))]
    of = Map(*axes).project(Counts(axes, hue, saturation, mask=inside.astype(np.uint8)), 0, 255)
    return of, hue, saturation, [int(n) for n in at]


def shift_window(of, images, window, iterations):
    """As cv2.meanShift, with a stop at a step shorter than a pixel."""
    x, y, width, height = window
    for _ in range(iterations):
        m = of.moments(*images, window=(x, y, width, height))
        if m[0] == 0:
            break
        ends = images[0].shape[1] - width, images[0].shape[0] - height
        to = [min(max(at + int(np.rint(first / m[0] - size / 2)), 0), end)
              for at, first, size, end in zip((x, y), m[1:3], (width, height), ends)]
        moved, (x, y) = (x, y) != tuple(to), to
        if not moved:
            break
    return x, y, width, height


def sizes_of(m):
    """Of the box that cv2.CamShift finds."""
    x, y = m[1:3] / m[0]
    a, b, c = m[3] / m[0] - x * x, m[4] / m[0] - x * y, m[5] / m[0] - y * y
    angle = math.atan2(2 * b, a - c + math.sqrt(4 * b * b + (a - c)**2))
    cos, sin = math.cos(angle), math.sin(angle)
    sizes = cos * cos * a + 2 * cos * sin * b + sin * sin * c, sin * sin * a - 2 * cos * sin * b + cos * cos * c
    return sorted(4 * math.sqrt(max(v, 0)) for v in sizes)


def check_moments(rng):
    height, width = (int(n) for n in rng.integers(60, 300, 2))
    of, hue, saturation, at = tracked_image(rng, height, width)
    images = view_in(rng, hue), view_in(rng, saturation)
    size = [int(n) for n in rng.integers(10, 60, 2)]
    window = [min(max(at[1 - d] + int(rng.integers(-30, 30)), 0), (width, height)[d] - size[d]) for d in range(2)] + size
    projected = of.apply(hue, saturation, dtype=np.uint8)
    x, y, w, h = window
    wanted = cv2.moments(projected[y:y + h, x:x + w])
    names = "m00 m10 m01 m20 m11 m02".split()
    assert np.array_equal(of.moments(*images, window=window), [wanted[n] for n in names]), "moments"
    mask = rng.integers(0, 2, hue.shape).astype(np.uint8)
    wanted = cv2.moments(projected * mask)
    assert np.array_equal(of.moments(*images, mask=mask, threads=3), [wanted[n] for n in names]), "masked moments"
    iterations = int(rng.integers(1, 11))
    stop = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, iterations, 1)
    found = shift_window(of, images, window, iterations)
    assert found == cv2.meanShift(projected, window, stop)[1], "mean shift"
    box = cv2.CamShift(projected, window, stop)[0]
    x, y = (max(found[d] - 10, 0) for d in range(2))
    wider = (x, y, min(found[2] + 20, width - x), min(found[3] + 20, height - y))
    m = of.moments(*images, window=wider)
    if m[0] == 0:
        return
    assert np.abs(sizes_of(m) - np.sort(box[1])).max() < 1e-2, "CamShift"


def check_mask_and_types(rng):
    """Every type in and out, strides, masks: results are rounded half to even and clamped, and the rest is untouched."""
    shape = [int(n) for n in rng.integers(1, 90, 2)]
    size = int(rng.integers(1, 300))
    x = rng.integers(0, size + 2, shape).astype(rng.choice("u1 u2 i2 u4 i4 u8 i8 f2 f4 f8".split()))
    values = np.concatenate([rng.choice([-1e30, -300, -0.5, 0.5, 1.5, 2.5, 254.5, 65535.5, 3e9, 2e19, 70000, 1e-8, np.inf],
                                        size + 2), [np.nan]])
    out = view_in(rng, rng.integers(0, 100, shape).astype(rng.choice("u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8".split())))
    mask = rng.integers(0, 2, shape).astype(rng.choice(["u1", "f4"])) if rng.integers(2) else None
    before = out.copy()
    Map(integers(size)).write(values).apply(view_in(rng, x), out=out, mask=mask)
    of = values[np.where(x.astype(np.float64) >= size, size + 1, x.astype(np.float64).clip(0, size) + 1).astype(int)]
    if out.dtype.kind == "f":
        with np.errstate(over="ignore"):
            wanted = of.astype(out.dtype)
    else:
        limits = np.iinfo(out.dtype)
        wanted = np.array([int(min(max(np.rint(v), float(limits.min)), float(limits.max))) for v in of.ravel()],
                          dtype=object).clip(limits.min, limits.max).reshape(shape).astype(out.dtype)
    if mask is not None:
        wanted = np.where(mask != 0, wanted, before)
    assert np.array_equal(out, wanted, equal_nan=out.dtype.kind == "f"), f"{x.dtype} to {out.dtype}"


run_checks([check_equalize_u8, check_equalize_u16, check_equalize_floats, check_clahe, check_blend, check_match,
            check_match_floats, check_landmarks, check_project, check_moments, check_mask_and_types], 200)
