"""Histograms of images, and what follows from them: equalization, CLAHE, matching, thresholds, mutual information.

Images are arrays of two dimensions, volumes of three. 8- and 16-bit integers have a bin for each level. Of other
numbers, results are those of the samples in order, not of bins over their range, which one hot pixel would widen;
``bins`` asks for bins. Results have the shape and dtype of the image, in native byte order; those of floats are in
0 … 1. These keywords are common to several functions:

mask : array_like, optional
    Count only the samples where it is true, and those that are not missing: what a masked array hides is not counted.
    All samples are mapped; the result of a masked array is one.
channel_axis : int, optional
    The dimension of the channels of a colour image, which are processed one by one.
out : ndarray, optional
    Write the result into this array, which may be the image, and return it.
threads : int, optional
    The number of threads; by default, all CPUs.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _histo
from .axes import Axis, Integer, Regular, Variable
from .hist import Histogram, Information
from .maps import Map
from .sources import both, mask_of, take

__all__ = ["clahe", "equalize", "histogram", "match", "mutual_information", "quantiles", "segment", "stretch",
           "threshold"]

_BINS = 65536  # of floats and large integers
_BINS_OF_TILES = 4096


def _has_levels(dtype: Any) -> bool:
    return dtype.kind in "iub" and dtype.itemsize <= 2


def _image(image: Any) -> tuple[Any, Any]:
    """An array, and which of its samples are present, or None."""
    image, present = take(image).decoded()[:2]
    if not isinstance(image, np.ndarray):
        raise TypeError("an image is in host memory: copy it there")
    if image.dtype == bool:
        return image.view(np.uint8), present
    if image.dtype.kind not in "iuf":
        raise TypeError(f"an image holds integers or floats, not {image.dtype}")
    return image if image.dtype.isnative else image.astype(image.dtype.newbyteorder("=")), present


def _shown(mask: Any, present: Any) -> Any:
    """A mask of what is counted; None for all."""
    return both(None if mask is None else mask_of(mask), present)


def _each_channel(image: Any, present: Any, mask: Any, channel_axis: int | None, out: Any,
                  work: Callable[[Any, Any, Any, int], None]) -> Any:
    """work(image, mask, result, channel) for each channel, or for the whole image."""
    made = np.empty_like(image) if out is None else out
    if made.shape != image.shape:
        raise ValueError(f"out has the shape {out.shape}, and the image {image.shape}")
    if channel_axis is None:
        work(image, _shown(mask, present), made, 0)
    else:
        channels, results = np.moveaxis(image, channel_axis, 0), np.moveaxis(made, channel_axis, 0)
        there = [None] * len(channels) if present is None else np.moveaxis(present, channel_axis, 0)
        for k in range(len(channels)):
            work(channels[k], _shown(mask, there[k]), results[k], k)
    return made if out is not None or present is None else np.ma.masked_array(made, ~present)


def _range(image: Any, mask: Any, threads: int | None) -> tuple:
    """The smallest and the largest finite sample."""
    samples, special, low, high = _histo.extremes(image, mask, threads or 0)
    if samples == special:
        raise ValueError("no sample is finite")
    return low, high


def _without_outliers(image: Any, mask: Any, low: float, high: float) -> tuple:
    """The range but for the outliers at its ends, in 1 + n/100000 of n finite samples."""
    samples, special = _histo.extremes(image, mask, 0)[:2]
    n = samples - special
    if n < 100:  # of a few samples none is an outlier
        return low, high
    finite = np.isfinite(image) if special else None
    beyond = 1 + n // 100000
    q = np.array([beyond, n - 1 - beyond]) / (n - 1)
    inner = _histo.quantiles(image, q, "nearest", both(mask, finite))
    width = inner[1] - inner[0]
    if width == 0:
        return low, high
    return inner[0] if inner[0] - low > width else low, inner[1] if high - inner[1] > width else high


def _regular(bins: int, low: Any, high: Any) -> Axis:
    """Bins over a range that is extended as NumPy's is if it is a single value."""
    low, high = (float(low), float(high)) if low < high else (low - 0.5, high + 0.5)
    return Regular(bins, low, high, closed=True)


def _axis(image: Any, bins: int | None, mask: Any, threads: int | None, usual: int = _BINS) -> Axis:
    if _has_levels(image.dtype):
        limits = np.iinfo(image.dtype)
        if bins is None or bins >= limits.max - limits.min + 1:
            return Integer(int(limits.min), int(limits.max) + 1)
        return Regular(bins, float(limits.min), float(limits.max) + 1)
    low, high = _range(image, mask, threads)
    if image.dtype.kind in "iu" and high - low < 2**22 and bins is None:
        return Integer(low, high + 1)
    return _regular(bins or usual, low, high)


def histogram(image: Any, bins: int | None = None, *, mask: Any = None, channel_axis: int | None = None,
              threads: int | None = None) -> Histogram:
    """The histogram of an image.

    Parameters
    ----------
    image : array_like
        Integers or floats.
    bins : int, optional
        The number of bins; by default, one for each level of 8 and 16 bits, and 65536 over the range of other samples.
    mask, channel_axis, threads
        See `histo.image`.

    Returns
    -------
    Histogram
        With channel_axis, a batch: one histogram for each channel.
    """
    image, present = _image(image)
    if channel_axis is not None:
        image = np.moveaxis(image, channel_axis, 0)
        present = present if present is None else np.moveaxis(present, channel_axis, 0)
    mask = _shown(mask, present)
    axis = _axis(image, bins, mask if mask is None else np.broadcast_to(mask, image.shape), threads)
    h = Histogram(axis) if channel_axis is None else Histogram(axis, batch=len(image))
    return h.fill(image, mask=mask, threads=threads)


class _Ranks:
    """The values of an image in order, and the share of its samples up to each: all values, or of more than 2**20 so
    many that neighbours differ by 1/30000 of the samples."""

    def __init__(self, image: Any, mask: Any, threads: int | None) -> None:
        values, upto, size = _histo.ranks(image, mask, threads or 0)
        if size == 0:
            raise ValueError("no sample is unmasked and finite")
        self.values, self.upto = values[:size], upto[:size]

    @property
    def shares(self) -> Any:
        return self.upto / self.upto[-1]

    def equalized(self, rule: str) -> Any:
        """0 … 1, by a rule of `equalize`."""
        if rule not in ("minimum", "cdf"):
            raise ValueError(f"rule is 'minimum' or 'cdf', not {rule!r}")
        if rule == "cdf":
            return self.shares
        return (self.upto - self.upto[0]) / max(1, self.upto[-1] - self.upto[0])

    def apply(self, results: Any, image: Any, out: Any, threads: int | None) -> None:
        """Map each of the values to its result, and what is between them by straight lines."""
        values = self.values
        if len(values) == 1:
            beside = np.nextafter(values[0], math.inf if values[0] <= 0 else -math.inf)
            values, results = np.sort([values[0], beside]), np.repeat(results, 2)
        line = Map(Variable(values), linear=True)
        line.values = results
        line(image, out=out, threads=threads)


def _has_ranks(image: Any, bins: int | None) -> bool:
    return bins is None and not _has_levels(image.dtype)


def _bits_of(h: Histogram) -> int:
    return max(1, int(h.summarize().last).bit_length())


def _levels(image: Any, h: Histogram, bits: int | None) -> tuple[Histogram, float, float, bool]:
    """The histogram of the levels that an image uses, the range of results, and whether the map is linear."""
    axis = h.axes[0]
    if not isinstance(axis, Integer):
        return h, 0.0, 1.0, True
    lo, n = axis.value(0), axis.size
    if image.dtype.kind == "u" and image.dtype.itemsize == 2:
        n = 2 ** (bits or _bits_of(h))
    elif image.dtype.kind == "i" and image.dtype.itemsize <= 2:
        s = h.summarize()
        h, lo, n = h[s.first : s.last + 1], lo + s.first, s.last - s.first + 1
    return (h[:n] if n < h.axes[0].size else h), float(lo), float(lo + max(n, 2) - 1), False


def _check_bits(image: Any, bits: int | None) -> None:
    if bits is None:
        return
    if image.dtype.kind != "u" or not 1 <= bits <= 8 * image.dtype.itemsize:
        raise ValueError(f"bits={bits} is not possible for samples of {image.dtype}")


def equalize(image: Any, *, rule: str = "minimum", bins: int | None = None, bits: int | None = None, mask: Any = None,
             channel_axis: int | None = None, out: Any = None, threads: int | None = None) -> Any:
    """Equalize the histogram of an image. For 8 bits, the result is that of cv2.equalizeHist, to the bit.

    Parameters
    ----------
    image : array_like
        Integers or floats.
    rule : {"minimum", "cdf"}
        "minimum" maps the lowest level to the lowest value, as OpenCV does; "cdf" maps each level to the fraction of
        samples up to it, as scikit-image does.
    bins : int, optional
        Equalize this many bins, as in `histogram`; by default, each value of the image.
    bits : int, optional
        Results of 16-bit unsigned samples are 0 … 2**bits - 1; by default, the fewest bits that hold the image.
    mask, channel_axis, out, threads
        See `histo.image`.
    """
    image, present = _image(image)
    _check_bits(image, bits)

    def work(image: Any, mask: Any, out: Any, _: int) -> None:
        if _has_ranks(image, bins):
            ranks = _Ranks(image, mask, threads)
            lo, hi = (0.0, 1.0) if image.dtype.kind == "f" else (ranks.values[0], ranks.values[-1])
            ranks.apply(lo + (hi - lo) * ranks.equalized(rule), image, out, threads)
            return
        h, lo, hi, linear = _levels(image, histogram(image, bins, mask=mask, threads=threads), bits)
        if not h.sum():
            raise ValueError("no sample is unmasked and finite")
        Map(*h.axes, linear=linear).equalize(h, lo, hi, rule=rule)(image, out=out, threads=threads)

    return _each_channel(image, present, mask, channel_axis, out, work)


def _tiled(image: Any, tiles: tuple) -> tuple:
    """The samples of the tiles, (rows, columns, height, width), and their sizes: where the image is not a whole number
    of tiles along every dimension, it continues by reflection, as in OpenCV."""
    if all(n % count == 0 for n, count in zip(image.shape, tiles, strict=True)):
        padded = image
    else:
        padded = np.pad(image, [(0, count - n % count) for n, count in zip(image.shape, tiles, strict=True)], "reflect")
    sizes = tuple(n // count for n, count in zip(padded.shape, tiles, strict=True))
    split = padded.reshape([k for pair in zip(tiles, sizes, strict=True) for k in pair])
    return split.transpose([*range(0, split.ndim, 2), *range(1, split.ndim, 2)]), sizes


def clahe(image: Any, *, clip: float = 2.0, tiles: Any = (8, 8), bins: int | None = None, bits: int | None = None,
          channel_axis: int | None = None, out: Any = None, threads: int | None = None) -> Any:
    """Contrast-limited adaptive histogram equalization: equalize each tile, and interpolate between tiles.

    For 8 bits, and for 16 with bits=16, the result is that of cv2.createCLAHE, to the bit.

    Parameters
    ----------
    image : array_like
        Integers or floats.
    clip : float, default 2.0
        The contrast limit: counts above this multiple of the mean count are cut off and spread over all bins. 0: no
        limit.
    tiles : tuple of ints, default (8, 8)
        The number of tiles along each dimension. Where the image has fewer samples, it continues by reflection, too.
    bins : int, optional
        As in `histogram`; by default, 4096 for floats.
    bits : int, optional
        As in `equalize`.
    channel_axis, out, threads
        See `histo.image`.
    """
    image, present = _image(image)
    if present is not None:
        raise ValueError("CLAHE equalizes all samples of a tile, and has no mask: fill what the image's mask hides")
    _check_bits(image, bits)
    tiles = tuple(map(operator.index, tiles))

    def work(image: Any, _mask: Any, out: Any, _: int) -> None:
        if len(tiles) != image.ndim or min(tiles) < 1 or not image.size:
            raise ValueError(f"an image of shape {image.shape} has no {'x'.join(map(str, tiles))} tiles")
        axis = _axis(image, bins, None, threads, _BINS_OF_TILES)
        if isinstance(axis, Integer) and image.dtype != np.uint8:
            low, high = _range(image, None, threads)
            low, high = (0, 2 ** (bits or max(1, high.bit_length())) - 1) if image.dtype.kind == "u" else (low, high)
            axis = Integer(low, max(high, low + 1) + 1)
        samples, sizes = _tiled(image, tiles)
        h = Histogram(axis, batch=tiles).fill(samples, threads=threads)
        linear = not isinstance(axis, Integer)
        lo, hi = (0.0, 1.0) if linear else (axis.value(0), axis.value(axis.size - 1))
        table = Map(axis, batch=tiles, linear=linear).equalize(h, lo, hi, clip=clip or math.inf)
        table(image, out=out, tiles=sizes, threads=threads)

    return _each_channel(image, None, None, channel_axis, out, work)


def _channel(image: Any, present: Any, axis: int, channel: int) -> tuple:
    def part(x: Any) -> Any:
        return None if x is None else np.moveaxis(x, axis, 0)[channel]
    return part(image), part(present)


def _curve_of(h: Histogram) -> tuple:
    """The shares of the samples, and the values up to which they are: at the bins of integers, or at the edges."""
    counts = np.asarray(h.counts())
    occupied = np.flatnonzero(counts)
    if not len(occupied):
        raise ValueError("the reference has no samples in bins")
    axis = h.axes[0]
    if isinstance(axis, Integer):
        return np.cumsum(counts[occupied]) / counts.sum(), np.asarray(axis.value(0) + occupied, float)
    edges = np.asarray(axis.edges)[occupied[0] : occupied[-1] + 2]
    return np.concatenate([[0], np.cumsum(counts[occupied[0] : occupied[-1] + 1])]) / counts.sum(), edges


def match(image: Any, reference: Any, *, bins: int | None = None, mask: Any = None, reference_mask: Any = None,
          channel_axis: int | None = None, out: Any = None, threads: int | None = None) -> Any:
    """Give an image the distribution of another: histogram matching.

    The result is that of skimage.exposure.match_histograms, rounded to the image's dtype; of an image or a reference
    with more than 2**20 distinct values, ranks are exact to 1/30000 of the samples.

    Parameters
    ----------
    image : array_like
        Integers or floats.
    reference : array_like or Histogram
        The other image. With channel_axis, each channel is matched to its channel, or to the Histogram's batch entry.
    bins : int, optional
        Match this many bins, as in `histogram`; by default, each value.
    reference_mask : array_like, optional
        The mask of the reference.
    mask, channel_axis, out, threads
        See `histo.image`.
    """
    image, present = _image(image)
    curve = None
    if isinstance(reference, Histogram):
        if _has_ranks(image, bins):
            def curve(channel: int) -> tuple:
                return _curve_of(reference.entry(channel) if reference.batch else reference)
    else:
        model, of_model = _image(reference)
        if _has_ranks(image, bins) or _has_ranks(model, bins):
            def curve(channel: int) -> tuple:
                part, there = (model, of_model) if channel_axis is None else _channel(model, of_model, channel_axis, channel)
                ranks = _Ranks(part, _shown(reference_mask, there), threads)
                return ranks.shares, ranks.values
        else:
            reference = histogram(reference, bins, mask=reference_mask, channel_axis=channel_axis, threads=threads)

    def work(image: Any, mask: Any, out: Any, channel: int) -> None:
        if curve is not None:
            ranks = _Ranks(image, mask, threads)
            ranks.apply(np.interp(ranks.shares, *curve(channel)), image, out, threads)
            return
        h = histogram(image, bins, mask=mask, threads=threads)
        to = reference.entry(channel) if reference.batch else reference
        Map(*h.axes, linear=not isinstance(h.axes[0], Integer)).match(h, to)(image, out=out, threads=threads)

    return _each_channel(image, present, mask, channel_axis, out, work)


def quantiles(image: Any, q: Any, *, method: str = "linear", mask: Any = None) -> Any:
    """Exact quantiles, those of numpy.nanquantile, in bounded memory whatever the size of the image.

    Parameters
    ----------
    image : array_like
        Integers or floats of any shape.
    q : float or array_like of floats
        In 0 … 1.
    method : str, default "linear"
        One of numpy.quantile's methods.
    mask : array_like, optional
        See `histo.image`.

    Returns
    -------
    float or ndarray of the shape of q
    """
    asked = np.asarray(q, float)
    image, present = _image(image)
    values = _histo.quantiles(image, np.ascontiguousarray(asked).ravel(), method, _shown(mask, present))
    return values.reshape(asked.shape) if asked.ndim else float(values[0])


def stretch(image: Any, percentiles: Any = (2, 98), *, limits: Any = None, to: Any = None, mask: Any = None,
            channel_axis: int | None = None, out: Any = None, threads: int | None = None) -> Any:
    """Map a range of samples linearly to another range, and clamp samples outside to its ends.

    Parameters
    ----------
    image : array_like
        Integers or floats.
    percentiles : (float, float), default (2, 98)
        The range, as percentiles of the samples, in 0 … 100.
    limits : (float, float), optional
        The range itself, instead of percentiles.
    to : (float, float), optional
        The range of results; by default, all values of an integer dtype, and 0 … 1 for floats.
    mask, channel_axis, out, threads
        See `histo.image`.
    """
    image, present = _image(image)
    if to is None:
        to = (0.0, 1.0) if image.dtype.kind == "f" else (np.iinfo(image.dtype).min, np.iinfo(image.dtype).max)

    def work(image: Any, mask: Any, out: Any, _: int) -> None:
        ends = limits if limits is not None else quantiles(image, np.asarray(percentiles) / 100, mask=mask)
        low, high = float(ends[0]), float(ends[1])
        if not low < high:
            raise ValueError(f"the range {low} … {high} is empty")
        line = Map(Variable([low, high]), linear=True)
        line.values = np.asarray(to, float)
        line(image, out=out, threads=threads)

    return _each_channel(image, present, mask, channel_axis, out, work)


def threshold(image: Any, method: str = "otsu", *, classes: int = 2, bins: int | None = None, mask: Any = None,
              threads: int | None = None) -> Any:
    """The threshold between background and foreground: samples above it are foreground.

    Parameters
    ----------
    image : array_like
        Integers or floats.
    method : str, default "otsu"
        "otsu" for any number of classes; "triangle", "li", "yen", "isodata", "minimum", "mean" or "max-entropy" for
        two.
    classes : int, default 2
        The number of classes.
    bins : int, optional
        The number of equal bins. By default, 8- and 16-bit integers have one for each level. Of other samples, "otsu",
        "li", "isodata" and "mean" need none: their thresholds are those of the samples in order. "triangle", "yen",
        "minimum" and "max-entropy" have 256 to 512, whose width is a power of two, between the samples that all but 1 +
        n/100000 of n samples are above and below: a few outliers do not widen the bins.
    mask, threads
        See `histo.image`.

    Returns
    -------
    int, float or ndarray of shape (classes - 1,)
        A number for two classes, else the thresholds between the classes. They are values of the image's dtype, rounded
        down: samples above them are in the higher class.
    """
    image, present = _image(image)
    found = _thresholds(image, _shown(mask, present), method, classes, bins, threads)
    return np.array(found) if classes > 2 else found[0]


def _thresholds(image: Any, mask: Any, method: str, classes: int, bins: int | None, threads: int | None) -> list:
    if not _has_levels(image.dtype):
        return _histo.thresholds(image, method, classes, bins or 0, mask, threads or 0)
    h = histogram(image, bins, mask=mask, threads=threads)
    if not h.sum():
        raise ValueError("there is no threshold: no sample is unmasked")
    last = np.atleast_1d(h.split(method, classes))
    axis = h.axes[0]
    return (axis.value(last) if isinstance(axis, Integer) else np.ceil(axis.edges[last + 1]).astype(int) - 1).tolist()


def segment(image: Any, method: str = "otsu", *, classes: int = 2, bins: int | None = None, mask: Any = None,
            threads: int | None = None) -> Any:
    """The class of each sample, 0 … classes - 1, as an array of uint8.

    The arguments are those of `threshold`, with up to 256 classes.
    """
    image, present = _image(image)
    if classes > 256:
        raise ValueError(f"{classes} classes are more than 256, which uint8 can number")
    found = np.zeros(image.shape, np.uint8)
    for lower in _thresholds(image, _shown(mask, present), method, classes, bins, threads):
        found += image > image.dtype.type(lower)
    return found if present is None else np.ma.masked_array(found, ~present)


def mutual_information(a: Any, b: Any, bins: int = 64, *, range: Any = None, mask: Any = None,
                       threads: int | None = None) -> Information:
    """Entropies and mutual information of two images of one shape, in nats.

    Parameters
    ----------
    a, b : array_like
        Integers or floats.
    bins : int, default 64
        The number of equal bins for each image.
    range : ((lo, hi), (lo, hi)), optional
        The range of each image; by default, from its smallest to its largest sample. But 1 + n/100000 of n floats or
        wide integers, 100 and more, at each end are outliers if they are farther from the others than those are from each other: they
        are counted in the bin at that end.
    mask, threads
        See `histo.image`.

    Returns
    -------
    Information
    """
    (a, of_a_present), (b, of_b_present) = _image(a), _image(b)
    mask = _shown(mask, both(of_a_present, of_b_present))

    def axis(image: Any, limits: Any) -> Axis:
        if limits is not None:
            return _regular(bins, *limits)
        low, high = _range(image, mask, threads)
        inner = (low, high) if _has_levels(image.dtype) else _without_outliers(image, mask, float(low), float(high))
        if inner == (low, high):
            return _regular(bins, low, high)
        return Variable([low, *np.linspace(*inner, bins + 1)[1:-1], high], closed=True)

    of_a, of_b = range if range is not None else (None, None)
    return Histogram(axis(a, of_a), axis(b, of_b)).fill(a, b, mask=mask, threads=threads).inform()
