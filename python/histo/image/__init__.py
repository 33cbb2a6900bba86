"""Histograms of images, and what follows from them: equalization, CLAHE, matching, thresholds, mutual information.

Images are arrays of two dimensions, volumes of three. 8- and 16-bit integers have a bin for each level. Of other
numbers, results are those of the samples in order, not of bins over their range, which one hot pixel would widen;
``bins`` asks for bins. Results have the shape and dtype of the image, in native byte order; those of floats are in
0 … 1. These keywords are common to several functions:

mask : array_like, optional
    Count only the samples where it is true, and those that are not missing: what a masked array hides is not counted.
    All samples are mapped; the result of a masked array is one. Its dimensions are those of one image, for all images
    and channels; or those of the images of a batch, for all channels; or all of them.
channel_axis : int, optional
    The dimension of the channels of a colour image, which are processed one by one.
batch_axis : int or tuple of ints, optional
    The dimensions that number the images of a batch, which are processed one by one: 0 for images stacked in one array.
out : ndarray, optional
    Write the result into this array, which may be the image, and return it.
threads : int, optional
    The number of threads; by default, all CPUs.

Images may be in the memory of a GPU: tensors of PyTorch, arrays of CuPy, and all with DLPack or
``__cuda_array_interface__``. They are mapped there, on the current stream of their library, and the results are arrays
of that library in the same memory, with the bits that the CPU's have. Masks, references and `out` are then there, too.
With levels of 8 bits, and of 16 unsigned bits if ``bits`` is given, nothing waits for the GPU, and calls may be
captured into a CUDA graph after the same call has been made once. Others wait, as their docstrings say.
"""

from __future__ import annotations

import importlib
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _histo
from ..axes import Axis, Integer, Variable
from ..hist import Histogram, Information
from ..maps import Map
from ..sources import both, mask_of, take
from .axes import Stack, axis_of, axis_of_tiles, check_bits, check_reference, check_tiles, ends_of_tiles, has_levels
from .axes import regular, stack_of, stack_of_reference

__all__ = ["clahe", "equalize", "histogram", "match", "mutual_information", "quantiles", "segment", "stretch",
           "threshold"]


def _there(image: Any) -> Any:
    """The module for images in the memory of a GPU, if this is one; else None."""
    if isinstance(image, np.ndarray) or not _histo.on_gpu(image):
        return None
    return globals().get("on_gpu") or importlib.import_module(".on_gpu", __name__)  # which sets the global


def _image(image: Any) -> tuple[Any, Any]:
    """An array, and which of its samples are present, or None."""
    image, present = take(image).decoded()[:2]
    _check_here(image)
    if image.dtype == bool:
        return image.view(np.uint8), present
    if image.dtype.kind not in "iuf":
        raise TypeError(f"an image holds integers or floats, not {image.dtype}")
    return image if image.dtype.isnative else image.astype(image.dtype.newbyteorder("=")), present


def _check_here(x: Any) -> None:
    if not isinstance(x, np.ndarray):
        raise ValueError("images and masks must be in one memory: some are in that of a GPU, others in the host's")


def _mask(mask: Any) -> Any:
    mask = mask_of(mask)
    _check_here(mask)
    return mask


def _shown(mask: Any, present: Any) -> Any:
    """A mask of what is counted; None for all."""
    return both(None if mask is None else _mask(mask), present)


def _each_image(image: Any, present: Any, mask: Any, stack: Stack, out: Any,
                work: Callable[[Any, Any, Any, tuple], None]) -> Any:
    """work(image, mask, result, index) for each image of a batch, and each of its channels."""
    made = np.empty_like(image) if out is None else out
    if made.shape != image.shape:
        raise ValueError(f"out has the shape {tuple(out.shape)}, and the image {image.shape}")
    if not stack.front:
        work(image, _shown(mask, present), made, ())
    else:
        images, results, there = (_moved(x, stack.front) for x in (image, made, present))
        mask_at = _masks(mask, stack, image.ndim)
        for index in np.ndindex(images.shape[: len(stack.front)]):
            shown = None if there is None else there[index]
            work(images[index], _shown(mask_at(index), shown), results[index], index)
    return made if out is not None or present is None else np.ma.masked_array(made, ~present)


def _moved(x: Any, front: tuple) -> Any:
    return x if x is None or not front else np.moveaxis(x, front, range(len(front)))


def _masks(mask: Any, stack: Stack, ndim: int) -> Callable[[tuple], Any]:
    """Index of an image and a channel to its mask."""
    if mask is None:
        return lambda index: None
    mask = _mask(mask)
    missing = stack.of_masks(ndim, mask.ndim)
    if missing == stack.front:
        return lambda index: mask
    if not missing:
        moved = _moved(mask, stack.front)
        return lambda index: moved[index]
    channel = missing[0]
    of_batch = _moved(mask, tuple(d - (d > channel) for d in stack.batch))
    return lambda index: of_batch[index[:-1]]


def _range(image: Any, mask: Any, threads: int | None) -> tuple:
    """The smallest and the largest finite sample."""
    samples, special, low, high = _histo.extremes(image, mask, threads or 0)
    if samples == special:
        raise ValueError("no sample is finite")
    return low, high


def _without_outliers(image: Any, mask: Any, low: float, high: float) -> tuple:
    samples, special = _histo.extremes(image, mask, 0)[:2]
    finite = np.isfinite(image) if special else None
    return inner_range(image, both(mask, finite), samples - special, low, high)


def inner_range(image: Any, mask: Any, n: int, low: float, high: float) -> tuple:
    """The range but for the outliers at its ends, in 1 + n/100000 of n finite samples, which the mask keeps."""
    if n < 100:  # of a few samples none is an outlier
        return low, high
    beyond = 1 + n // 100000
    q = np.array([beyond, n - 1 - beyond]) / (n - 1)
    inner = _histo.quantiles(image, q, "nearest", mask)
    width = inner[1] - inner[0]
    if width == 0:
        return low, high
    return inner[0] if inner[0] - low > width else low, inner[1] if high - inner[1] > width else high


def _axis(image: Any, bins: int | None, mask: Any, threads: int | None) -> Axis:
    return axis_of(image.dtype, bins, lambda: _range(image, mask, threads))


def histogram(image: Any, bins: int | None = None, *, mask: Any = None, channel_axis: int | None = None,
              batch_axis: int | tuple[int, ...] | None = None, threads: int | None = None) -> Histogram:
    """The histogram of an image.

    Parameters
    ----------
    image : array_like
        Integers or floats.
    bins : int, optional
        The number of bins; by default, one for each level of 8 and 16 bits, and 65536 over the range of other samples,
        for which the call waits if they are in the memory of a GPU.
    mask, channel_axis, batch_axis, threads
        See `histo.image`.

    Returns
    -------
    Histogram
        With batch_axis and channel_axis, a batch: one histogram for each image and channel.
    """
    there = _there(image)
    if there:
        return there.histogram(image, bins, mask, channel_axis, batch_axis, threads)
    image, present = _image(image)
    stack = stack_of(image.ndim, batch_axis, channel_axis)
    if stack.front:
        if mask is not None:
            mask = _mask(mask)
            missing = stack.of_masks(image.ndim, mask.ndim)
            if missing != stack.front:
                mask = _moved(np.expand_dims(mask, missing), stack.front)
        image, present = _moved(image, stack.front), _moved(present, stack.front)
    mask = _shown(mask, present)
    axis = _axis(image, bins, mask if mask is None else np.broadcast_to(mask, image.shape), threads)
    h = Histogram(axis, batch=image.shape[: len(stack.front)]) if stack.front else Histogram(axis)
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
    return bins is None and not has_levels(image.dtype)


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


def equalize(image: Any, *, rule: str = "minimum", bins: int | None = None, bits: int | None = None, mask: Any = None,
             channel_axis: int | None = None, batch_axis: int | tuple[int, ...] | None = None, out: Any = None,
             threads: int | None = None) -> Any:
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
    mask, channel_axis, batch_axis, out, threads
        See `histo.image`.

    Notes
    -----
    In the memory of a GPU, the call waits for the largest sample of 16-bit unsigned images if `bits` is not given, and
    for the range of other samples but those of 8 unsigned bits. Floats, and integers of 32 and 64 bits, need `bins`
    there: their ranks are found by the host. That no sample is counted is an error only where the call waits.
    """
    there = _there(image)
    if there:
        return there.equalize(image, rule, bins, bits, mask, channel_axis, batch_axis, out, threads)
    image, present = _image(image)
    check_bits(image.dtype, bits)

    def work(image: Any, mask: Any, out: Any, _: tuple) -> None:
        if _has_ranks(image, bins):
            ranks = _Ranks(image, mask, threads)
            lo, hi = (0.0, 1.0) if image.dtype.kind == "f" else (ranks.values[0], ranks.values[-1])
            ranks.apply(lo + (hi - lo) * ranks.equalized(rule), image, out, threads)
            return
        h, lo, hi, linear = _levels(image, histogram(image, bins, mask=mask, threads=threads), bits)
        if not h.sum():
            raise ValueError("no sample is unmasked and finite")
        Map(*h.axes, linear=linear).equalize(h, lo, hi, rule=rule)(image, out=out, threads=threads)

    return _each_image(image, present, mask, stack_of(image.ndim, batch_axis, channel_axis), out, work)


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
          channel_axis: int | None = None, batch_axis: int | tuple[int, ...] | None = None, out: Any = None,
          threads: int | None = None) -> Any:
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
    channel_axis, batch_axis, out, threads
        See `histo.image`.

    Notes
    -----
    In the memory of a GPU, the call waits as `equalize` does. An image that is not a whole number of tiles is copied
    there, to be continued.
    """
    there = _there(image)
    if there:
        return there.clahe(image, clip, tiles, bins, bits, channel_axis, batch_axis, out, threads)
    image, present = _image(image)
    if present is not None:
        raise ValueError("CLAHE equalizes all samples of a tile, and has no mask: fill what the image's mask hides")
    check_bits(image.dtype, bits)
    tiles = tuple(map(operator.index, tiles))

    def work(image: Any, _mask: Any, out: Any, _: tuple) -> None:
        check_tiles(image.shape, tiles)
        axis = axis_of_tiles(image.dtype, bins, bits, lambda: _range(image, None, threads))
        samples, sizes = _tiled(image, tiles)
        h = Histogram(axis, batch=tiles).fill(samples, threads=threads)
        lo, hi = ends_of_tiles(axis)
        table = Map(axis, batch=tiles, linear=not isinstance(axis, Integer)).equalize(h, lo, hi, clip=clip or math.inf)
        table(image, out=out, tiles=sizes, threads=threads)

    return _each_image(image, None, None, stack_of(image.ndim, batch_axis, channel_axis), out, work)


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
          channel_axis: int | None = None, batch_axis: int | tuple[int, ...] | None = None, out: Any = None,
          threads: int | None = None) -> Any:
    """Give an image the distribution of another: histogram matching.

    The result is that of skimage.exposure.match_histograms, rounded to the image's dtype; of an image or a reference
    with more than 2**20 distinct values, ranks are exact to 1/30000 of the samples.

    Parameters
    ----------
    image : array_like
        Integers or floats.
    reference : array_like or Histogram
        The other image, or a batch of as many images. With channel_axis, each channel is matched to its channel. A
        Histogram has a batch of what `histogram` gives one to, or none, for all images and channels.
    bins : int, optional
        Match this many bins, as in `histogram`; by default, each value.
    reference_mask : array_like, optional
        The mask of the reference.
    mask, channel_axis, batch_axis, out, threads
        See `histo.image`.

    Notes
    -----
    In the memory of a GPU, floats, and integers of 32 and 64 bits, need `bins`, and the call waits for their range. It
    also waits for the counts of a Histogram, unless that GPU alone has filled it.
    """
    there = _there(image)
    if there:
        return there.match(image, reference, bins, mask, reference_mask, channel_axis, batch_axis, out, threads)
    image, present = _image(image)
    stack = stack_of(image.ndim, batch_axis, channel_axis)
    curve = None
    if isinstance(reference, Histogram):
        entry_of = entries(reference, stack, image.shape)
        if _has_ranks(image, bins):
            def curve(index: tuple) -> tuple:
                return _curve_of(entry_of(index))
    else:
        model, of_model = _image(reference)
        of_reference = stack_of_reference(stack, image.ndim, model.ndim)
        skipped = len(stack.front) - len(of_reference.front)
        check_reference(image.shape, stack, model.shape, of_reference)
        if _has_ranks(image, bins) or _has_ranks(model, bins):
            parts, present_parts = _moved(model, of_reference.front), _moved(of_model, of_reference.front)
            mask_at = _masks(reference_mask, of_reference, model.ndim)

            def curve(index: tuple) -> tuple:
                at = index[skipped:]
                shown = None if present_parts is None else present_parts[at]
                ranks = _Ranks(parts[at], _shown(mask_at(at), shown), threads)
                return ranks.shares, ranks.values
        else:
            entry_of = entries(histogram(reference, bins, mask=reference_mask, channel_axis=of_reference.channel,
                                          batch_axis=of_reference.batch or None, threads=threads), stack, image.shape)

    def work(image: Any, mask: Any, out: Any, index: tuple) -> None:
        if curve is not None:
            ranks = _Ranks(image, mask, threads)
            ranks.apply(np.interp(ranks.shares, *curve(index)), image, out, threads)
            return
        h = histogram(image, bins, mask=mask, threads=threads)
        table = Map(*h.axes, linear=not isinstance(h.axes[0], Integer)).match(h, entry_of(index))
        table(image, out=out, threads=threads)

    return _each_image(image, present, mask, stack, out, work)


def entries(reference: Histogram, stack: Stack, shape: tuple[int, ...]) -> Callable[[tuple], Histogram]:
    """Index of an image and a channel to the reference's batch entry for it, where an image has this shape."""
    batch = len(reference.batch)
    wanted = tuple(shape[d] for d in stack.front)[len(stack.front) - batch :] if batch else ()
    if batch not in (0, len(stack.front), len(stack.front) - len(stack.batch)) or reference.batch != wanted:
        raise ValueError(f"the reference is a batch of the shape {reference.batch}, and not of the images and channels")
    return lambda index: reference.entry(*index[len(index) - batch :]) if batch else reference


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
        In host memory, also of an image in the memory of a GPU: the call waits.
    """
    asked = np.asarray(q, float)
    there = _there(image)
    if there:
        image, shown = there.samples_and_mask(image, mask)
    else:
        image, present = _image(image)
        shown = _shown(mask, present)
    values = _histo.quantiles(image, np.ascontiguousarray(asked).ravel(), method, shown)
    return values.reshape(asked.shape) if asked.ndim else float(values[0])


def stretch(image: Any, percentiles: Any = (2, 98), *, limits: Any = None, to: Any = None, mask: Any = None,
            channel_axis: int | None = None, batch_axis: int | tuple[int, ...] | None = None, out: Any = None,
            threads: int | None = None) -> Any:
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
    mask, channel_axis, batch_axis, out, threads
        See `histo.image`.

    Notes
    -----
    In the memory of a GPU, the call waits for the percentiles, and does not if `limits` are given.
    """
    there = _there(image)
    if there:
        return there.stretch(image, percentiles, limits, to, mask, channel_axis, batch_axis, out, threads)
    image, present = _image(image)
    to = ends_of_results(image.dtype) if to is None else to

    def work(image: Any, mask: Any, out: Any, _: tuple) -> None:
        ends = limits if limits is not None else quantiles(image, np.asarray(percentiles) / 100, mask=mask)
        line_through(*ends, to)(image, out=out, threads=threads)

    return _each_image(image, present, mask, stack_of(image.ndim, batch_axis, channel_axis), out, work)


def ends_of_results(dtype: np.dtype) -> tuple:
    """What images are stretched to."""
    return (0.0, 1.0) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)


def line_through(low: float, high: float, to: Any) -> Map:
    """The map of low … high to a range."""
    low, high = float(low), float(high)
    if not low < high:
        raise ValueError(f"the range {low} … {high} is empty")
    line = Map(Variable([low, high]), linear=True)
    line.values = np.asarray(to, float)
    return line


def threshold(image: Any, method: str = "otsu", *, classes: int = 2, bins: int | None = None, mask: Any = None,
              batch_axis: int | tuple[int, ...] | None = None, threads: int | None = None) -> Any:
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
    mask, batch_axis, threads
        See `histo.image`.

    Returns
    -------
    int, float or ndarray of shape (classes - 1,)
        A number for two classes, else the thresholds between the classes. They are values of the image's dtype, rounded
        down: samples above them are in the higher class. With batch_axis, an array that begins with the shape of the
        batch.

    Notes
    -----
    Thresholds of an image in the memory of a GPU are in host memory, and the call waits. Those of floats, and of integers
    of 32 and 64 bits, are found by the host only: copy such an image there.
    """
    there = _there(image)
    if there:
        return there.threshold(image, method, classes, bins, mask, batch_axis, threads)
    image, present = _image(image)
    stack = stack_of(image.ndim, batch_axis, None)
    if not stack.front:
        found = _thresholds(image, _shown(mask, present), method, classes, bins, threads)
        return np.array(found) if classes > 2 else found[0]
    images, there, mask_at = _moved(image, stack.front), _moved(present, stack.front), _masks(mask, stack, image.ndim)
    shape = images.shape[: len(stack.front)]
    each = [_thresholds(images[index], _shown(mask_at(index), None if there is None else there[index]), method, classes,
                        bins, threads) for index in np.ndindex(shape)]
    return np.array(each).reshape((*shape, classes - 1) if classes > 2 else shape)


def _thresholds(image: Any, mask: Any, method: str, classes: int, bins: int | None, threads: int | None) -> list:
    if not has_levels(image.dtype):
        return _histo.thresholds(image, method, classes, bins or 0, mask, threads or 0)
    return thresholds_of(histogram(image, bins, mask=mask, threads=threads), method, classes)


def thresholds_of(h: Histogram, method: str, classes: int) -> list:
    """Thresholds of levels: the largest integers of all classes but the highest."""
    if not h.sum():
        raise ValueError("there is no threshold: no sample is unmasked")
    last = np.atleast_1d(h.split(method, classes))
    axis = h.axes[0]
    return (axis.value(last) if isinstance(axis, Integer) else np.ceil(axis.edges[last + 1]).astype(int) - 1).tolist()


def segment(image: Any, method: str = "otsu", *, classes: int = 2, bins: int | None = None, mask: Any = None,
            batch_axis: int | tuple[int, ...] | None = None, threads: int | None = None) -> Any:
    """The class of each sample, 0 … classes - 1, as an array of uint8.

    The arguments are those of `threshold`, with up to 256 classes. Images of 8- and 16-bit integers in the memory of a
    GPU are split there, without waiting, into two classes by "otsu". Else the call waits for their counts.
    """
    if classes > 256:
        raise ValueError(f"{classes} classes are more than 256, which uint8 can number")
    there = _there(image)
    if there:
        return there.segment(image, method, classes, bins, mask, batch_axis, threads)
    image, present = _image(image)

    def work(image: Any, mask: Any, out: Any, _: tuple) -> None:
        for lower in _thresholds(image, mask, method, classes, bins, threads):
            out += image > image.dtype.type(lower)

    found = np.zeros(image.shape, np.uint8)
    _each_image(image, present, mask, stack_of(image.ndim, batch_axis, None), found, work)
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
        In host memory, also of images in the memory of a GPU: the call waits.
    """
    there = _there(a)
    if there:
        (a, mask), (b, _) = there.samples_and_mask(a, mask), there.samples_and_mask(b, None)
        without_outliers = there.without_outliers
    else:
        (a, of_a_present), (b, of_b_present) = _image(a), _image(b)
        mask = _shown(mask, both(of_a_present, of_b_present))
        without_outliers = _without_outliers
    levels = [has_levels(there.dtype_of(x) if there else x.dtype) for x in (a, b)]

    def axis(image: Any, has_levels: bool, limits: Any) -> Axis:
        if limits is not None:
            return regular(bins, *limits)
        low, high = _range(image, mask, threads)
        inner = (low, high) if has_levels else without_outliers(image, mask, float(low), float(high))
        if inner == (low, high):
            return regular(bins, low, high)
        return Variable([low, *np.linspace(*inner, bins + 1)[1:-1], high], closed=True)

    of_a, of_b = range if range is not None else (None, None)
    return Histogram(axis(a, levels[0], of_a), axis(b, levels[1], of_b)).fill(a, b, mask=mask, threads=threads).inform()
