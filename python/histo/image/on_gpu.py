"""histo.image of arrays in the memory of GPUs. An image is counted, a map is made of the counts, and the image is mapped
by that, all by one call of the extension module on the stream of the image's library. Batches and channels go together,
except where each has a range of its own, which the host has to know."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _histo, devices
from ..axes import Axis, Integer
from ..hist import Histogram
from ..maps import Map, counts_of
from . import ends_of_results, entries, inner_range, line_through, thresholds_of
from .axes import Stack, axis_of, axis_of_tiles, check_bits, check_reference, check_tiles, ends_of_tiles, has_levels
from .axes import levels, stack_of, stack_of_reference


class _Image(devices.Samples):
    """An image; bool is taken as bytes."""

    def __init__(self, image: Any) -> None:
        super().__init__(image)
        if self.dtype.kind == "b":
            self.array, self.dtype = self.array.view(self.library.uint8), np.dtype(np.uint8)
        if self.dtype.kind not in "iuf":
            raise TypeError(f"an image holds integers or floats, not {self.dtype}")

    def check_levels(self, bins: int | None) -> None:
        if bins is None and not has_levels(self.dtype):
            raise TypeError(f"ranks of {self.dtype} are found by the host: give bins=, or copy the image there")

    def mask(self, mask: Any, stack: Stack) -> Any:
        """A mask with the shape of the image; or None."""
        if mask is None:
            return None
        given = devices.Samples(mask)
        if given.shape == self.shape:
            return given.array
        missing = stack.of_masks(self.ndim, given.ndim)
        whole = given.ndim + len(missing) == self.ndim
        kept = [n for d, n in enumerate(self.shape) if d not in missing] if whole else self.shape
        if given.ndim > len(kept) or any(m not in (1, n) for m, n in zip(given.shape[::-1], kept[::-1])):
            raise ValueError(f"the mask has the shape {given.shape}, and the image {self.shape}")
        if whole:
            given.array = given.array[tuple(None if d in missing else slice(None) for d in range(self.ndim))]
        return given.library.stretched(given.array, self.shape)

    def result(self, out: Any, dtype: Any = None) -> Any:
        if out is None:
            return self.library.empty_like(self.array, dtype)
        if tuple(out.shape) != self.shape:
            raise ValueError(f"out has the shape {tuple(out.shape)}, and the image {self.shape}")
        return devices.Samples(out).array

    def each(self, stack: Stack, together: tuple[int, ...], mask: Any, made: Any, work: Callable[..., None]) -> None:
        """work(image, mask, result, front, index) for all images and channels that the dimensions `together` number,
        which are then `front`, and for each index of the other dimensions of the stack."""
        if 0 in self.shape:
            raise ValueError("no sample is unmasked and finite")
        mask = self.mask(mask, stack)
        apart = () if together is stack.front else tuple(d for d in stack.front if d not in together)
        if not apart:
            work(self.array, mask, made, stack.front, ())
        else:
            rest = [d for d in range(self.ndim) if d not in apart]
            front = tuple(map(rest.index, together))
            images, masks, results = (moved(x, apart) for x in (self.array, mask, made))
            for index in np.ndindex(tuple(images.shape[: len(apart)])):
                work(images[index], None if masks is None else masks[index], results[index], front, index)
        self.finish()

    def finish(self) -> None:
        if self.adopted:  # the library of the image does not know on which stream it is read
            self.library.synchronize(self.array)


def moved(array: Any, front: tuple[int, ...]) -> Any:
    """An array with these dimensions moved to its front."""
    if array is None or not front:
        return array
    order = (*front, *(d for d in range(len(array.shape)) if d not in front))
    return devices.library_of(array).transposed(array, order)


def _check_waits(array: Any, what: str) -> None:
    if _histo.is_captured(array):
        raise NotImplementedError(f"this call waits for {what}, and so cannot be captured into a graph")


def _range(array: Any, mask: Any) -> tuple:
    """The smallest and the largest finite sample; waits."""
    _check_waits(array, "the range of the samples")
    samples, special, low, high = _histo.extremes(array, mask, 0)
    if samples == special:
        raise ValueError("no sample is unmasked and finite")
    return low, high


def dtype_of(array: Any) -> np.dtype:
    return devices.library_of(array).dtype(array)


def samples_and_mask(image: Any, mask: Any) -> tuple:
    """An image, and a mask with its shape or None, for what reads them on the GPU and waits."""
    on = _Image(image)
    _check_waits(on.array, "its result")
    return on.array, on.mask(mask, stack_of(on.ndim, None, None))


def without_outliers(image: Any, mask: Any, low: float, high: float) -> tuple:
    samples, special = _histo.extremes(image, mask, 0)[:2]
    if special:
        library = devices.library_of(image)
        finite = library.finite(image)
        mask = finite if mask is None else library.both(mask, finite)
    return inner_range(image, mask, samples - special, low, high)


# ---- Histograms


def histogram(image: Any, bins: int | None, mask: Any, channel_axis: int | None, batch_axis: Any,
              threads: int | None) -> Histogram:
    on = _Image(image)
    front = (stack := stack_of(on.ndim, batch_axis, channel_axis)).front
    mask = on.mask(mask, stack)
    axis = axis_of(on.dtype, bins, lambda: _range(on.array, mask))
    h = Histogram(axis, batch=tuple(on.shape[d] for d in front)) if front else Histogram(axis)
    h.fill(moved(on.array, front), mask=moved(mask, front), threads=threads)
    on.finish()
    return h


def threshold(image: Any, method: str, classes: int, bins: int | None, mask: Any, batch_axis: Any,
              threads: int | None) -> Any:
    on = _Image(image)
    stack = stack_of(on.ndim, batch_axis, None)
    _check_thresholds(on)
    _check_waits(on.array, "its result")
    axis, mask = levels(on.dtype, bins), on.mask(mask, stack)
    ends = (axis.size, axis.value(0)) if isinstance(axis, Integer) else (axis.size, *axis.edges[[0, -1]].tolist())
    counts = _histo.count((moved(on.array, stack.front),), (ends,), None, moved(mask, stack.front), len(stack.front),
                          False, threads or 0, _histo.DEVICE_CPU)
    found = [thresholds_of(_filled(axis, of_one), method, classes) for of_one in counts.reshape(-1, axis.size)]
    shape = counts.shape[:-1]
    if classes > 2 or shape:
        return np.array(found).reshape((*shape, classes - 1) if classes > 2 else shape)
    return found[0][0]


def _check_thresholds(on: _Image) -> None:
    if not has_levels(on.dtype):
        raise TypeError(f"thresholds of {on.dtype} are found by the host: copy the image there")


def _filled(axis: Axis, counts: Any) -> Histogram:
    h = Histogram(axis)
    h[...] = counts
    return h


# ---- Images of images


def _is_known(dtype: np.dtype, bins: int | None, bits: int | None) -> bool:
    """Whether the axis of an image is known without its range."""
    if not has_levels(dtype):
        return False
    if not isinstance(levels(dtype, bins), Integer):
        return True
    return dtype.kind == "u" and (dtype.itemsize == 1 or bits is not None)


@functools.lru_cache(maxsize=64)
def _known_levels(dtype: np.dtype, bins: int | None, bits: int | None) -> tuple | None:
    """As _levels, if the axis is known without the range."""
    return _levels(dtype, bins, bits, tuple) if _is_known(dtype, bins, bits) else None


def _levels(dtype: np.dtype, bins: int | None, bits: int | None, range_of: Callable[[], tuple]) -> tuple:
    """The axis of the levels that an image uses, and the range of results."""
    axis = axis_of(dtype, bins, range_of)
    if not isinstance(axis, Integer):
        return axis, 0.0, 1.0
    if dtype == np.uint8:
        return axis, 0.0, 255.0
    if dtype.kind == "u":
        low, n = 0, 2 ** (bits or max(1, range_of()[1].bit_length()))
    else:
        low, high = range_of()
        n = high - low + 1
    return Integer(low, low + n), float(low), float(low + max(n, 2) - 1)


def equalize(image: Any, rule: str, bins: int | None, bits: int | None, mask: Any, channel_axis: int | None,
             batch_axis: Any, out: Any, threads: int | None) -> Any:
    on = _Image(image)
    check_bits(on.dtype, bits)
    if rule not in ("minimum", "cdf"):
        raise ValueError(f"rule is 'minimum' or 'cdf', not {rule!r}")
    on.check_levels(bins)
    made, known = on.result(out), _known_levels(on.dtype, bins, bits)

    def work(image: Any, mask: Any, result: Any, front: tuple, _: tuple) -> None:
        axis, lo, hi = known or _levels(on.dtype, bins, bits, lambda: _range(image, mask))
        _histo.remap("equalize", (lo, hi, rule == "cdf", 0.0), image, None, result, mask, front, axis._tuple,
                     not isinstance(axis, Integer), (), (), None, threads or 0)

    stack = stack_of(on.ndim, batch_axis, channel_axis)
    on.each(stack, stack.front if known else (), mask, made, work)
    return made if out is None else out


_INDICES: dict = {}
"""Where the samples of images that are continued come from. None is dropped, since graphs may read it."""


def _reflected(array: Any, d: int, count: int) -> Any:
    """A copy that is continued along dimension d by reflection, as by numpy.pad, to be divided into `count` parts."""
    library, n = devices.library_of(array), array.shape[d]
    key = (library, library.device_of(array), n, count)
    index = _INDICES.get(key)
    if index is None:
        index = library.put(np.pad(np.arange(n), (0, count - n % count), "reflect"), array)
        if len(_INDICES) < 256:
            library.synchronize(array)  # other streams read it, too
            _INDICES[key] = index
    return library.taken(array, index, d)


@functools.lru_cache(maxsize=64)
def _cut(shape: tuple[int, ...], front: tuple[int, ...], tiles: tuple[int, ...]) -> tuple:
    """The dimensions of each image, how large its tiles are in these, and whether it has to be continued for that."""
    inner = tuple(d for d in range(len(shape)) if d not in front)
    extent = tuple(shape[d] for d in inner)
    check_tiles(extent, tiles)
    continued = any(n % count for n, count in zip(extent, tiles, strict=True))
    return inner, tuple(n // count + continued for n, count in zip(extent, tiles, strict=True)), continued


@functools.lru_cache(maxsize=64)
def _known_tiles(dtype: np.dtype, bins: int | None, bits: int | None) -> tuple | None:
    """As _levels_of_tiles, if the axis is known without the range."""
    return _levels_of_tiles(dtype, bins, bits, tuple) if _is_known(dtype, bins, bits) else None


def _levels_of_tiles(dtype: np.dtype, bins: int | None, bits: int | None, range_of: Callable[[], tuple]) -> tuple:
    axis = axis_of_tiles(dtype, bins, bits, range_of)
    return axis, *ends_of_tiles(axis)


def clahe(image: Any, clip: float, tiles: Any, bins: int | None, bits: int | None, channel_axis: int | None,
          batch_axis: Any, out: Any, threads: int | None) -> Any:
    on = _Image(image)
    check_bits(on.dtype, bits)
    stack, tiles = stack_of(on.ndim, batch_axis, channel_axis), tuple(map(operator.index, tiles))
    _cut(on.shape, stack.front, tiles)
    made, known = on.result(out), _known_tiles(on.dtype, bins, bits)

    def work(image: Any, _mask: Any, result: Any, front: tuple, _: tuple) -> None:
        axis, lo, hi = known or _levels_of_tiles(on.dtype, bins, bits, lambda: _range(image, None))
        inner, sizes, continued = _cut(tuple(image.shape), front, tiles)
        counted = image if continued else None
        if continued:
            for d, count in zip(inner, tiles, strict=True):
                counted = _reflected(counted, d, count)
        _histo.remap("equalize", (lo, hi, False, clip or math.inf), image, counted, result, None, front, axis._tuple,
                     not isinstance(axis, Integer), tiles, sizes, None, threads or 0)

    on.each(stack, stack.front if known else (), None, made, work)
    return made if out is None else out


def match(image: Any, reference: Any, bins: int | None, mask: Any, reference_mask: Any, channel_axis: int | None,
          batch_axis: Any, out: Any, threads: int | None) -> Any:
    on = _Image(image)
    on.check_levels(bins)
    stack = stack_of(on.ndim, batch_axis, channel_axis)
    made = on.result(out)
    model, together = _reference(on, reference, stack, bins, reference_mask)

    def work(image: Any, mask: Any, result: Any, front: tuple, index: tuple) -> None:
        axis = axis_of(on.dtype, bins, lambda: _range(image, mask))
        _histo.remap("match", (), image, None, result, mask, front, axis._tuple, not isinstance(axis, Integer), (), (),
                     model(index), threads or 0)

    on.each(stack, together if has_levels(on.dtype) else (), mask, made, work)
    return made if out is None else out


def _reference(on: _Image, reference: Any, stack: Stack, bins: int | None, mask: Any) -> tuple:
    """A function of an index, as `each` has it, to what is matched to, as remap takes it; and which dimensions of the
    image one call can take together."""
    if isinstance(reference, Histogram):
        entry_of = entries(counts_of(reference), stack, on.shape)
        return (lambda index: entry_of(index) if index else reference), _together(stack, len(reference.batch))
    model = _Image(reference)
    model.check_levels(bins)
    if not model.size:
        raise ValueError("the reference has no samples")
    of_model = stack_of_reference(stack, on.ndim, model.ndim)
    front = of_model.front
    check_reference(on.shape, stack, model.shape, of_model)
    shown = model.mask(mask, of_model)
    axis = axis_of(model.dtype, bins, lambda: _range(model.array, shown))._tuple
    parts, masks = moved(model.array, front), moved(shown, front)

    def find(index: tuple) -> tuple:
        if not index:
            return model.array, shown, front, axis
        at = index[max(0, len(index) - len(front)) :]
        return parts[at], None if masks is None else masks[at], (), axis

    return find, _together(stack, len(front))


def _together(stack: Stack, of_reference: int) -> tuple[int, ...]:
    """One reference is for all; one for each channel is for this channel of all images."""
    return stack.front if of_reference in (0, len(stack.front)) else stack.batch


_LINES: dict = {}
"""Maps of ranges. None is dropped, since graphs may use it."""


def _line(low: float, high: float, to: tuple) -> Map:
    line = _LINES.get((low, high, to))
    if line is None:
        line = line_through(low, high, to)
        if len(_LINES) < 256:
            line = _LINES.setdefault((low, high, to), line)
    return line


def stretch(image: Any, percentiles: Any, limits: Any, to: Any, mask: Any, channel_axis: int | None, batch_axis: Any,
            out: Any, threads: int | None) -> Any:
    on = _Image(image)
    to = tuple(map(float, ends_of_results(on.dtype) if to is None else to))
    made = on.result(out)
    if limits is not None:
        limits = tuple(map(float, limits))

    def work(image: Any, mask: Any, result: Any, _front: tuple, _: tuple) -> None:
        if limits is not None:
            _line(*limits, to)(image, out=result, threads=threads)
            return
        _check_waits(image, "the percentiles")
        ends = _histo.quantiles(image, np.asarray(percentiles, float) / 100, "linear", mask)
        line_through(*ends, to)(image, out=result, threads=threads)

    stack = stack_of(on.ndim, batch_axis, channel_axis)
    on.each(stack, () if limits is None else stack.front, mask, made, work)
    return made if out is None else out


def segment(image: Any, method: str, classes: int, bins: int | None, mask: Any, batch_axis: Any,
            threads: int | None) -> Any:
    on = _Image(image)
    _check_thresholds(on)
    axis, made = levels(on.dtype, bins), on.result(None, np.uint8)

    def work(image: Any, mask: Any, result: Any, front: tuple, _: tuple) -> None:
        _histo.remap("classes", (method, classes), image, None, result, mask, front, axis._tuple, False, (), (), None,
                     threads or 0)

    stack = stack_of(on.ndim, batch_axis, None)
    on.each(stack, stack.front, mask, made, work)
    return made


def forget() -> None:
    """Free what is kept in the memory of GPUs."""
    _INDICES.clear()
    _LINES.clear()
