"""Functions of OpenCV about histograms, with its arguments and, to the bit, its results. Bins are found by comparison
with their edges, where OpenCV multiplies, so that it may have a sample on an edge in the bin below.

    from histo.compat import cv2
    cv2.equalizeHist(image)
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import image as _image
from .._histo import bincount
from ..axes import Integer, Regular, Variable
from ..hist import Histogram
from ..maps import Map, Moments
from ..sources import as_masked

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    _Window = tuple[int, int, int, int]
    """x, y, width, height, in pixels."""

    _RotatedRect = tuple[tuple[float, float], tuple[float, float], float]
    """The centre, the width and height, and the angle in degrees."""

__all__ = ["CamShift", "calcBackProject", "calcHist", "compareHist", "createCLAHE", "equalizeHist", "meanShift",
           "threshold"]

HISTCMP_CORREL, HISTCMP_CHISQR, HISTCMP_INTERSECT, HISTCMP_BHATTACHARYYA, HISTCMP_CHISQR_ALT, HISTCMP_KL_DIV = range(6)
HISTCMP_HELLINGER = HISTCMP_BHATTACHARYYA
THRESH_BINARY, THRESH_BINARY_INV, THRESH_TRUNC, THRESH_TOZERO, THRESH_TOZERO_INV = range(5)
THRESH_MASK, THRESH_OTSU, THRESH_TRIANGLE = 7, 8, 16
TERM_CRITERIA_COUNT = TERM_CRITERIA_MAX_ITER = 1
TERM_CRITERIA_EPS = 2

_TOLERANCE = 10
"""By so many pixels CamShift extends the window on each side."""

_EPSILON = sys.float_info.epsilon
_EPSILON32 = float(np.finfo(np.float32).eps)


def _channels(images: Any, channels: Any) -> list:
    planes = [plane for image in map(as_masked, images)
              for plane in (np.moveaxis(image, -1, 0) if image.ndim == 3 else [image])]
    return [planes[c] for c in channels]


def _axes(sizes: Any, ranges: Any) -> list:
    """OpenCV takes the ends of all ranges in one list, or the edges of each axis."""
    if np.ndim(ranges[0]):
        return [Variable(np.asarray(edges, float)) if len(edges) > 2 else Regular(n, *edges)
                for n, edges in zip(sizes, ranges, strict=True)]
    return [Regular(n, lo, hi) for n, lo, hi in zip(sizes, ranges[::2], ranges[1::2], strict=True)]


def calcHist(images: Any, channels: Any, mask: Any, histSize: Any, ranges: Any, hist: Any = None,
             accumulate: bool = False) -> Any:
    """The joint histogram of channels of images, as float32. Counts are exact before they are rounded to float32."""
    h = Histogram(*_axes(histSize, ranges)).fill(*_channels(images, channels), mask=mask)
    counts = h.values()
    if accumulate and hist is not None:
        counts = counts + np.asarray(hist, np.float64).reshape(counts.shape)
    return counts.astype(np.float32)


def calcBackProject(images: Any, channels: Any, hist: Any, ranges: Any, scale: float, dst: Any = None) -> Any:
    """The value of a histogram at each pixel, times scale, in the dtype of the first image: uint8, uint16 or float32."""
    hist = np.asarray(hist, np.float32)
    hist = hist.reshape(hist.shape[:1]) if hist.ndim == 2 and hist.shape[1] == 1 and len(channels) == 1 else hist
    dtype = np.asarray(images[0]).dtype
    if dtype not in (np.uint8, np.uint16, np.float32):
        raise TypeError(f"images are of uint8, uint16 or float32, not {dtype}")
    table = Map(*_axes(hist.shape, ranges))
    values = np.zeros(table.values.shape)
    values[(slice(1, -2),) * hist.ndim] = hist * np.float32(scale)
    table.values = values
    return table(*_channels(images, channels), dtype=dtype, out=dst)


def compareHist(H1: ArrayLike, H2: ArrayLike, method: int) -> float:
    """Compare two histograms of one shape, of float32.

    method: HISTCMP_CORREL (0), HISTCMP_CHISQR (1), HISTCMP_INTERSECT (2), HISTCMP_BHATTACHARYYA (3), HISTCMP_CHISQR_ALT
        (4) or HISTCMP_KL_DIV (5). `Histogram.compare` has them for counts, normalized, and others.
    """
    a, b = (np.asarray(h).astype(np.float64).ravel() for h in (H1, H2))
    if np.shape(H1) != np.shape(H2):
        raise ValueError(f"the histograms have the shapes {np.shape(H1)} and {np.shape(H2)}")
    if method == HISTCMP_CORREL:
        scale = 1 / a.size
        sums, squares = (float(a.sum()), float(b.sum())), (float(a @ a), float(b @ b))
        spread = (squares[0] - sums[0] ** 2 * scale) * (squares[1] - sums[1] ** 2 * scale)
        return float((a @ b - sums[0] * sums[1] * scale) / math.sqrt(spread)) if abs(spread) > _EPSILON else 1.0
    if method in (HISTCMP_CHISQR, HISTCMP_CHISQR_ALT):
        over = a if method == HISTCMP_CHISQR else a + b
        some = np.abs(over) > _EPSILON
        found = float(((a - b)[some] ** 2 / over[some]).sum())
        return found if method == HISTCMP_CHISQR else 2 * found
    if method == HISTCMP_INTERSECT:
        return float(np.minimum(a, b).sum())
    if method == HISTCMP_BHATTACHARYYA:
        total = float(a.sum()) * float(b.sum())
        scale = 1 / math.sqrt(total) if abs(total) > _EPSILON32 else 1.0
        return math.sqrt(max(1 - float(np.sqrt(a * b).sum()) * scale, 0))
    if method == HISTCMP_KL_DIV:
        some = np.abs(a) > _EPSILON
        p, q = a[some], b[some]
        return float((p * np.log(p / np.where(np.abs(q) <= _EPSILON, 1e-10, q))).sum())
    raise ValueError(f"there is no method {method} of comparison")


# ---- Thresholds ----


def _otsu(image: NDArray[Any]) -> float:
    """The lowest of the best thresholds, which are compared exactly; OpenCV takes one of them by rounding."""
    h = _image.histogram(image)
    return 0.0 if h.summarize().occupied == 1 else float(h.split("otsu")[0])


def _triangle(image: NDArray[Any]) -> float:
    """As in OpenCV (modules/imgproc/src/thresh.cpp)."""
    counts = bincount(image.ravel(), minlength=256).tolist()
    last = len(counts) - 1
    occupied = [i for i, n in enumerate(counts) if n]
    left, right = max(occupied[0] - 1, 0), min(occupied[-1] + 1, last)
    peak = counts.index(max(counts))
    flipped = peak - left < right - peak
    if flipped:
        counts = counts[::-1]
        left, peak = last - right, last - peak
    found, farthest = left, 0
    for i in range(left + 1, peak + 1):
        distance = counts[peak] * i + (left - peak) * counts[i]
        if distance > farthest:
            found, farthest = i, distance
    found -= 1
    return float(last - found if flipped else found)


def _found_threshold(src: NDArray[Any], by: int) -> float:
    takes = {THRESH_OTSU: (np.uint8, np.uint16), THRESH_TRIANGLE: (np.uint8,)}.get(by, ())
    if src.dtype not in takes or src.ndim == 3 and src.shape[2] != 1 or not src.size:
        raise ValueError("THRESH_OTSU is for uint8 and uint16, THRESH_TRIANGLE for uint8, of one channel; and never both")
    return _otsu(src) if by == THRESH_OTSU else _triangle(src)


def threshold(src: ArrayLike, thresh: float, maxval: float, type: int, dst: Any = None) -> tuple[float, NDArray[Any]]:
    """Compare each sample of an image with a threshold.

    Parameters
    ----------
    src : array_like
        uint8, uint16, int16, float32 or float64, of any shape.
    thresh, maxval : float
        The threshold, and the value of what is above it. Those of integers are rounded, down and to the nearest.
    type : int
        THRESH_BINARY (0), THRESH_BINARY_INV (1), THRESH_TRUNC (2), THRESH_TOZERO (3) or THRESH_TOZERO_INV (4); plus
        THRESH_OTSU (8) for uint8 and uint16, or THRESH_TRIANGLE (16) for uint8, whose threshold takes the place of
        `thresh`.
    dst : ndarray, optional
        Where the result is written.

    Returns
    -------
    threshold, result
    """
    image = np.asarray(src)
    kind, by = type & THRESH_MASK, type & ~THRESH_MASK
    if kind > THRESH_TOZERO_INV:
        raise ValueError(f"there is no type {type} of threshold")
    if image.dtype not in (np.uint8, np.uint16, np.int16, np.float32, np.float64):
        raise TypeError(f"an image is of uint8, uint16, int16, float32 or float64, not {image.dtype}")
    if by:
        thresh = _found_threshold(image, by)
    if image.dtype.kind == "f":
        limit, most = image.dtype.type(thresh), image.dtype.type(maxval)
        above = image > limit
    else:
        ends = np.iinfo(image.dtype)
        thresh = float(math.floor(thresh))
        limit, most = (image.dtype.type(min(max(value, ends.min), ends.max)) for value in (int(thresh), round(maxval)))
        above = image > limit if thresh >= ends.min else np.ones(image.shape, bool)
        if kind == THRESH_TRUNC and thresh < ends.min:
            limit = image.dtype.type(0)  # as OpenCV
    zero = image.dtype.type(0)
    result = np.where(above, *{THRESH_BINARY: (most, zero), THRESH_BINARY_INV: (zero, most), THRESH_TRUNC: (limit, image),
                               THRESH_TOZERO: (image, zero), THRESH_TOZERO_INV: (zero, image)}[kind])
    if dst is None:
        return thresh, result
    np.copyto(dst, result)
    return thresh, dst


# ---- Tracking ----


class _Image:
    """A back projection, and its moments in windows."""

    def __init__(self, image: ArrayLike) -> None:
        self.samples = np.asarray(image)
        if self.samples.ndim == 3 and self.samples.shape[2] == 1:
            self.samples = self.samples[..., 0]
        if self.samples.ndim != 2 or self.samples.dtype not in (np.uint8, np.uint16, np.int16, np.float32, np.float64):
            raise TypeError("probImage has one channel, of uint8, uint16, int16, float32 or float64")
        self.height, self.width = self.samples.shape
        self.bytes: Map | None = None
        if self.samples.dtype == np.uint8:
            self.bytes = Map(Integer(0, 256))
            self.bytes.values = np.r_[0, 0:256, 0, 0]

    def inside(self, x: int, y: int, width: int, height: int) -> _Window:
        """What of a window is inside the image; all zero if nothing is."""
        left, top = max(x, 0), max(y, 0)
        width, height = min(x + width, self.width) - left, min(y + height, self.height) - top
        return (left, top, width, height) if width > 0 and height > 0 else (0, 0, 0, 0)

    def moments(self, window: _Window) -> Moments:
        if self.bytes is not None:
            return self.bytes.moments(self.samples, window=window)
        left, top, width, height = window
        part = self.samples[top : top + height, left : left + width].astype(np.float64)
        x, y = np.arange(width, dtype=float), np.arange(height, dtype=float)
        columns, rows = part.sum(axis=0), part.sum(axis=1)
        return Moments(float(rows.sum()), float(columns @ x), float(rows @ y), float(columns @ x**2),
                       float(y @ (part @ x)), float(rows @ y**2))


def _window(window: Any) -> _Window:
    x, y, width, height = map(operator.index, window)
    if width <= 0 or height <= 0:
        raise ValueError(f"the window has the size {width} x {height}")
    return x, y, width, height


def _shift(image: _Image, window: _Window, criteria: tuple[int, int, float]) -> tuple[int, _Window]:
    kind, count, epsilon = criteria
    near = round(max(epsilon, 0.0) ** 2) if kind & TERM_CRITERIA_EPS else 1
    steps = max(int(count), 1) if kind & TERM_CRITERIA_MAX_ITER else 100
    at, (_, _, width, height) = window, image.inside(*window)
    for step in range(steps):
        x, y, w, h = image.inside(*at)
        if (x, y, w, h) == (0, 0, 0, 0):
            x, y = image.width // 2, image.height // 2
        at = x, y, w, h = x, y, max(w, 1), max(h, 1)
        m = image.moments(at)
        if abs(m.m00) < _EPSILON:
            return step, at
        to_x = min(max(x + round(m.m10 / m.m00 - width * 0.5), 0), image.width - w)
        to_y = min(max(y + round(m.m01 / m.m00 - height * 0.5), 0), image.height - h)
        at = to_x, to_y, w, h
        if (to_x - x) ** 2 + (to_y - y) ** 2 < near:
            return step, at
    return steps, at


def meanShift(probImage: ArrayLike, window: Sequence[int], criteria: tuple[int, int, float]) -> tuple[int, _Window]:
    """Move a window to the mean of the values in it, again and again.

    Parameters
    ----------
    probImage : array_like
        A back projection of shape (rows, columns).
    window : (int, int, int, int)
        x, y, width and height.
    criteria : (int, int, float)
        (type, maxCount, epsilon): TERM_CRITERIA_MAX_ITER (1) stops after maxCount steps, TERM_CRITERIA_EPS (2) when a
        step is shorter than epsilon; 3: either.

    Returns
    -------
    steps, window
    """
    return _shift(_Image(probImage), _window(window), criteria)


def CamShift(probImage: ArrayLike, window: Sequence[int],
             criteria: tuple[int, int, float]) -> tuple[_RotatedRect, _Window]:
    """Move a window by meanShift, and fit an ellipse to the values around it (Bradski 1998).

    The arguments are those of `meanShift`.

    Returns
    -------
    ((x, y), (width, height), angle), window
        The rotated rectangle around the ellipse, its angle in degrees, and the window for the next image.
    """
    image = _Image(probImage)
    x, y, width, height = _shift(image, _window(window), criteria)[1]
    x, y = max(x - _TOLERANCE, 0), max(y - _TOLERANCE, 0)
    width, height = min(width + 2 * _TOLERANCE, image.width - x), min(height + 2 * _TOLERANCE, image.height - y)
    m = image.moments((x, y, width, height))
    if abs(m.m00) < _EPSILON:
        return ((0.0, 0.0), (0.0, 0.0), 0.0), (x, y, width, height)
    one = 1 / m.m00
    mean_x, mean_y = m.m10 * one, m.m01 * one
    mu20, mu11, mu02 = m.m20 - m.m10 * mean_x, m.m11 - m.m10 * mean_y, m.m02 - m.m01 * mean_y
    a, b, c = mu20 * one, mu11 * one, mu02 * one
    theta = math.atan2(2 * b, a - c + math.sqrt(4 * b * b + (a - c) * (a - c)))
    cos, sin = math.cos(theta), math.sin(theta)
    along = max(0.0, cos * cos * mu20 + 2 * cos * sin * mu11 + sin * sin * mu02)
    across = max(0.0, sin * sin * mu20 - 2 * cos * sin * mu11 + cos * cos * mu02)
    length, breadth = math.sqrt(along * one) * 4, math.sqrt(across * one) * 4
    if length < breadth:
        length, breadth, cos, sin, theta = breadth, length, sin, cos, math.pi * 0.5 - theta
    center = round(m.m10 * one + x), round(m.m01 * one + y)
    found: list[tuple[int, int]] = []
    for at, size, one_way, other_way in ((center[0], image.width, cos, sin), (center[1], image.height, sin, cos)):
        side = min(max(round(abs(length * one_way)), round(abs(breadth * other_way))) + 2, (size - at) * 2)
        begin = max(0, at - int(side / 2))
        found.append((begin, min(size - begin, side)))
    (x, width), (y, height) = found
    angle = float(np.float32((math.pi * 0.5 + theta) * 180 / math.pi)) % 360
    box = (x + width * 0.5, y + height * 0.5), (float(np.float32(breadth)), float(np.float32(length)))
    return (*box, angle - 180 if angle >= 180 else angle), (x, y, width, height)


# ---- Equalization ----


def equalizeHist(src: Any, dst: Any = None) -> Any:
    """Equalize an image of bytes."""
    return _image.equalize(src, out=dst)


class _CLAHE:
    def __init__(self, clip: float, tiles: tuple) -> None:
        self.clip, self.tiles = clip, tiles

    def apply(self, src: Any, dst: Any = None) -> Any:
        src = np.asarray(src)
        bits = 16 if src.dtype == np.uint16 else None
        return _image.clahe(src, clip=max(self.clip, 0), tiles=self.tiles[::-1], bits=bits, out=dst)


def createCLAHE(clipLimit: float = 40.0, tileGridSize: tuple = (8, 8)) -> _CLAHE:
    """Contrast-limited adaptive histogram equalization: an object whose `apply` maps an image of 8 or 16 bits.
    tileGridSize is (columns, rows)."""
    return _CLAHE(clipLimit, tuple(tileGridSize))
