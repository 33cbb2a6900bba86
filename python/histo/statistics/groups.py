"""Values in groups, such as those of the samples of a bin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _histo
from ..axes import Axis, Integer, axis_of
from ..hist import Histogram
from ..maps import Map

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_CHUNK = 1 << 16
"""Deviations of so many values are kept at a time."""

_CANCELS = 0.98
"""If a mean has more than this share of a sum of squares, the variance is computed from the values once more."""


def numbers_type(count: int) -> type[np.unsignedinteger[Any]]:
    """The smallest type that holds the numbers of so many groups."""
    if count > 2**32:
        raise MemoryError(f"{count} bins are more than 2^32")
    return np.uint8 if count <= 2**8 else np.uint16 if count <= 2**16 else np.uint32


def locate(columns: Sequence[NDArray[Any]], axes: Sequence[Axis], of_slots: ArrayLike, count: int,
           hidden: NDArray[np.bool_] | None, threads: int | None = None) -> NDArray[Any]:
    """The numbers below `count` that the slots of samples have (underflow, the bins, overflow and NaN of each axis), and
    `count` where samples are hidden. Samples are as the library counts them."""
    table = Map(*(axis_of(axis._tuple) for axis in axes))
    table.values = of_slots
    numbers = table(*columns, dtype=numbers_type(count + 1), threads=threads)
    if hidden is not None:
        numbers[hidden] = count
    return np.asarray(numbers)


class Groups:
    """Which group each value is in: numbers below `count`, in an unsigned dtype of at most 32 bits."""

    def __init__(self, numbers: NDArray[Any], count: int) -> None:
        self.numbers, self.count = numbers, count

    def totals(self) -> NDArray[np.int64]:
        return np.asarray(_histo.bincount(self.numbers, minlength=self.count))

    def sums(self, values: NDArray[Any], threads: int | None = None) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """The number of values in each group, and their sum."""
        if values.dtype.kind == "c":
            totals, real = self.sums(values.real, threads)
            return totals, real + 1j * self.sums(values.imag, threads)[1]
        if values.dtype.kind not in "biuf":
            values = values.astype(np.float64, casting="safe")
        h = Histogram(Integer(0, self.count), storage="double").fill(self.numbers, weight=values, threads=threads)
        return h.entries(), h.values()

    def weights(self, weights: NDArray[Any],
                threads: int | None) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
        """The number of weights in each group, their sum and that of their squares."""
        h = Histogram(Integer(0, self.count), storage="weight").fill(self.numbers, weight=weights, threads=threads)
        return h.entries(), h.values(), np.asarray(h.variances())

    def moments(self, values: NDArray[Any],
                threads: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """The number of values in each group, their mean, and the sum of their squares off it; 0 of none."""
        found = self._moments_by_one_pass(values, threads) if len(values) else None
        if found is not None:
            return found
        totals, sums = self.sums(values, threads)
        means = np.divide(sums, totals, out=np.zeros(self.count), where=totals != 0)
        return totals, means, self.squares(values, means, None, threads)

    def _moments_by_one_pass(self, values: NDArray[Any],
                             threads: int | None) -> tuple[NDArray[np.int64], NDArray[np.float64], Any] | None:
        """From the sums of values, and of squares, off one value. None if that is so far from some group that digits
        cancel."""
        one = np.float64(values[:: len(values) // 1024 + 1].mean(dtype=np.float64))
        h = Histogram(Integer(0, self.count), storage="weight")
        with np.errstate(over="ignore", invalid="ignore"):
            for begin in range(0, len(values), _CHUNK):
                h.fill(self.numbers[begin : begin + _CHUNK], weight=values[begin : begin + _CHUNK] - one, threads=threads)
            totals, sums, squares = h.entries(), h.values(), np.asarray(h.variances())
            means = np.divide(sums, totals, out=np.zeros(self.count), where=totals != 0)
            of_means = sums * means
            cancels = (of_means > _CANCELS * squares) & (totals > 1) | ~np.isfinite(squares)
        if cancels.any():
            return None
        return totals, np.where(totals != 0, one + means, 0), np.where(totals > 1, squares - of_means, 0)

    def squares(self, values: NDArray[Any], means: NDArray[Any],
                weights: NDArray[Any] | None = None, threads: int | None = None) -> NDArray[np.float64]:
        """The sums of the squares, times weights, of what values are off the means of their groups."""
        axis = Integer(0, self.count)
        h, table = Histogram(axis, storage="double"), Map(axis)
        table.values = np.concatenate([[0], means, [0, 0]])
        for begin in range(0, len(values), _CHUNK):
            numbers = self.numbers[begin : begin + _CHUNK]
            off = table(numbers, dtype=np.float64, threads=threads)
            np.subtract(values[begin : begin + _CHUNK], off, out=off)
            np.square(off, out=off)
            if weights is not None:
                np.multiply(off, weights[begin : begin + _CHUNK], out=off)
            h.fill(numbers, weight=off, threads=threads)
        return h.values()

    def sorted(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The values, group by group, in their order; and where each group ends."""
        values = np.ascontiguousarray(values)
        ends = np.empty(self.count, np.int64)
        if values.dtype.hasobject:
            order, ends = self.sorted(np.arange(len(values)))
            return values[order], ends
        to = np.empty_like(values)
        _histo.group(self.numbers, values.view(np.uint8), to.view(np.uint8), ends, self.numbers.itemsize, values.itemsize)
        return to, ends

    def each(self, values: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
        """The groups that are not empty, and their values."""
        values, ends = self.sorted(values)
        begin = 0
        for k, end in enumerate(ends.tolist()):
            if end > begin:
                yield k, values[begin:end]
            begin = end
