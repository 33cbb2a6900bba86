"""What images are counted by, wherever they are: levels and ranges, and the dimensions of batches and channels."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..axes import Axis, Integer, Regular

BINS = 65536  # of floats and large integers
BINS_OF_TILES = 4096


# ---- Axes


def has_levels(dtype: np.dtype) -> bool:
    """Whether the samples are integers of so few bits that each has a bin."""
    return dtype.kind in "iub" and dtype.itemsize <= 2


def check_bits(dtype: np.dtype, bits: int | None) -> None:
    if bits is None:
        return
    if dtype.kind != "u" or not 1 <= bits <= 8 * dtype.itemsize:
        raise ValueError(f"bits={bits} is not possible for samples of {dtype}")


def regular(bins: int, low: Any, high: Any) -> Axis:
    """Bins over a range that is extended as NumPy's is if it is a single value."""
    low, high = (float(low), float(high)) if low < high else (low - 0.5, high + 0.5)
    return Regular(bins, low, high, closed=True)


@functools.lru_cache(maxsize=64)
def levels(dtype: np.dtype, bins: int | None) -> Axis:
    """A bin for each level of a dtype, or so many bins over all of them."""
    limits = np.iinfo(dtype)
    if bins is None or bins >= limits.max - limits.min + 1:
        return Integer(int(limits.min), int(limits.max) + 1)
    return Regular(bins, float(limits.min), float(limits.max) + 1)


def axis_of(dtype: np.dtype, bins: int | None, range_of: Callable[[], tuple], usual: int = BINS) -> Axis:
    """The axis of an image; range_of: its smallest and its largest finite sample, asked for if they are needed."""
    if has_levels(dtype):
        return levels(dtype, bins)
    low, high = range_of()
    if dtype.kind in "iu" and high - low < 2**22 and bins is None:
        return Integer(low, high + 1)
    return regular(bins or usual, low, high)


def axis_of_tiles(dtype: np.dtype, bins: int | None, bits: int | None, range_of: Callable[[], tuple]) -> Axis:
    """Likewise of tiles, whose integers have a bin for each level that the image uses."""
    axis = axis_of(dtype, bins, range_of, BINS_OF_TILES)
    if not isinstance(axis, Integer) or dtype == np.uint8:
        return axis
    if dtype.kind == "u":
        low, high = 0, 2 ** (bits or max(1, range_of()[1].bit_length())) - 1
    else:
        low, high = range_of()
    return Integer(low, max(high, low + 1) + 1)


def check_tiles(shape: tuple[int, ...], tiles: tuple[int, ...]) -> None:
    if len(tiles) != len(shape) or min(tiles, default=0) < 1 or 0 in shape:
        raise ValueError(f"an image of shape {shape} has no {'x'.join(map(str, tiles))} tiles")


def ends_of_tiles(axis: Axis) -> tuple[float, float]:
    """What the map of a tile goes from and to."""
    return (float(axis.value(0)), float(axis.value(axis.size - 1))) if isinstance(axis, Integer) else (0.0, 1.0)


# ---- Batches and channels


class Stack:
    """The dimensions that number the images of a batch, and that of the channels of each. front: all of them; what they
    number is processed one by one."""

    __slots__ = ("batch", "channel", "front")

    def __init__(self, batch: tuple[int, ...], channel: int | None) -> None:
        self.batch, self.channel = batch, channel
        self.front = batch if channel is None else (*batch, channel)

    def of_masks(self, ndim: int, mask_ndim: int) -> tuple[int, ...]:
        """Which of `front` a mask lacks: all of them, if it is that of one image; the channels; or none."""
        if mask_ndim == ndim:
            return ()
        if self.channel is not None and mask_ndim == ndim - 1:
            return (self.channel,)
        return self.front


_ONE = Stack((), None)


def stack_of(ndim: int, batch_axis: Any, channel_axis: int | None) -> Stack:
    if batch_axis is None and channel_axis is None:
        return _ONE
    given = () if batch_axis is None else batch_axis if isinstance(batch_axis, (tuple, list)) else (batch_axis,)
    return _stack(tuple([_dimension(d, ndim) for d in given]),
                  None if channel_axis is None else _dimension(channel_axis, ndim))


@functools.lru_cache(maxsize=64)
def _stack(batch: tuple[int, ...], channel: int | None) -> Stack:
    found = Stack(batch, channel)
    if len(set(found.front)) < len(found.front):
        raise ValueError("batch_axis and channel_axis name a dimension twice")
    return found


def _dimension(d: Any, ndim: int) -> int:
    d = operator.index(d)
    if not -ndim <= d < ndim:
        raise np.exceptions.AxisError(d, ndim)
    return d % ndim


def stack_of_reference(stack: Stack, ndim: int, reference_ndim: int) -> Stack:
    """That of a reference, which is a batch of as many images, or one image for all of them."""
    if reference_ndim == ndim or not stack.batch:
        return stack
    channel = stack.channel
    return Stack((), channel if channel is None else channel - sum(d < channel for d in stack.batch))


def check_reference(shape: tuple[int, ...], stack: Stack, reference_shape: tuple[int, ...],
                    of_reference: Stack) -> None:
    """ValueError unless the reference has an image or a channel for each that it is asked for."""
    if not of_reference.front:
        return
    wanted = [shape[d] for d in stack.front[len(stack.front) - len(of_reference.front) :]]
    if any(d >= len(reference_shape) for d in of_reference.front) or \
            [reference_shape[d] for d in of_reference.front] != wanted:
        raise ValueError(f"the reference has the shape {tuple(reference_shape)}, which has not the images and channels "
                         f"of {tuple(shape)}")
