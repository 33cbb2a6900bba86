"""Values in groups, such as those of the samples of a bin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _histo
from ..axes import Axis, Integer, axis_of
from ..hist import Histogram
from ..maps import Map

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_CHUNK = 1 << 17
"""So many values are taken at a time."""

OF_A_THREAD = 1 << 18
"""Fewer values do not repay starting a thread."""

_CANCELS = 0.98
"""If a mean has more than this share of a sum of squares, the variance is computed from the values once more."""


def numbers_type(count: int) -> type[np.unsignedinteger[Any]]:
    """The smallest type that holds the numbers of so many groups."""
    if count > 2**32:
        raise MemoryError(f"{count} bins are more than 2^32")
    return np.uint8 if count <= 2**8 else np.uint16 if count <= 2**16 else np.uint32


class Table:
    """The numbers below `count` that slots have: underflow, the bins, overflow and NaN of each axis."""

    def __init__(self, axes: Sequence[Axis], of_slots: ArrayLike, count: int) -> None:
        self._map = Map(*(axis_of(axis._tuple) for axis in axes))
        self._map._write(np.ascontiguousarray(of_slots, float))
        self._count = count

    def locate(self, columns: Sequence[NDArray[Any]], hidden: NDArray[np.bool_] | None) -> NDArray[Any]:
        """The numbers of samples, and `count` where they are hidden. Samples are as the library counts them."""
        native = tuple(c if c.dtype.isnative else c.astype(c.dtype.newbyteorder("=")) for c in columns)
        numbers = np.empty(native[0].shape, numbers_type(self._count + 1))
        self._map._apply(native, numbers, None, 0, (), (), 0)
        if hidden is not None:
            numbers[hidden] = self._count
        return numbers


class Moments(NamedTuple):
    """Of the values in each group: their number, their mean, and the sum of (value - mean)**2; 0 of none."""

    totals: NDArray[np.int64]
    means: NDArray[np.float64]
    squares: NDArray[np.float64]


class Groups:
    """Which group each value is in: numbers below `count`, in an unsigned dtype of at most 32 bits. The last group has
    the values that are left out."""

    def __init__(self, numbers: NDArray[Any], count: int) -> None:
        self.numbers, self.count = numbers, count
        self._totals: NDArray[np.int64] | None = None

    def totals(self) -> NDArray[np.int64]:
        """The number of values in each group."""
        if self._totals is None:
            self._totals = np.asarray(_histo.bincount(self.numbers, minlength=self.count))
        return self._totals

    def sums(self, values: NDArray[Any], threads: int | None = None) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """The number of values in each group, and their sum."""
        if values.dtype.kind == "c":
            totals, real = self.sums(values.real, threads)
            return totals, real + 1j * self.sums(values.imag, threads)[1]
        if values.dtype.kind not in "biuf":
            values = values.astype(np.float64, casting="safe")
        h = Histogram(Integer(0, self.count), storage="double").fill(self.numbers, weight=values, threads=threads)
        self._totals = h.entries()
        return self._totals, h.values()

    def _sums_of_powers(self, values: NDArray[Any], origin: float, begin: int, end: int,
                        stopped: list[bool]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """What histo._histo.add_powers adds of values[begin:end]: totals, and a row of sums for each group; of some of
        them, if something is appended to `stopped`."""
        totals, sums = np.zeros(self.count, np.int64), np.zeros((self.count, 2))
        for first in range(begin, end, _CHUNK):
            if stopped:
                break
            part = slice(first, min(first + _CHUNK, end))
            _histo.add_powers(np.ascontiguousarray(self.numbers[part]), np.ascontiguousarray(values[part], np.float64), origin,
                              totals, sums, self.numbers.itemsize)
        return totals, sums

    def _one_pass(self, values: NDArray[Any], threads: int | None) -> tuple[Moments, NDArray[np.bool_]]:
        """The moments from the sums of values, and of squares, off one value, and the groups that are so far from it that
        digits cancel."""
        some = values[:: len(values) // 1024 + 1].astype(np.float64)
        some = some[np.isfinite(some)]
        one = float(some.sum() / some.size) if some.size else 0.0
        parts = min(threads or _histo.threads(), len(values) // OF_A_THREAD, len(values) // self.count)
        stopped: list[bool] = []
        if parts < 2:
            found = [self._sums_of_powers(values, one, 0, len(values), stopped)]
        else:
            from concurrent.futures import ThreadPoolExecutor

            ends = [len(values) * i // parts for i in range(parts + 1)]
            with ThreadPoolExecutor(parts) as pool:
                try:
                    found = list(pool.map(lambda begin, end: self._sums_of_powers(values, one, begin, end, stopped),
                                          ends[:-1], ends[1:]))
                except BaseException:  # a signal's handler has raised: the threads are not to go on
                    stopped.append(True)
                    raise
        with np.errstate(over="ignore", invalid="ignore"):
            totals, sums = (sum(columns[1:], columns[0]) for columns in zip(*found, strict=True))
            off, squares = sums.T
            means = np.divide(off, totals, out=np.zeros(self.count), where=totals != 0)
            of_means = off * means
            cancels = (of_means > _CANCELS * squares) & (totals > 1) | ~np.isfinite(squares)
            squares = np.where(totals > 1, squares - of_means, 0)
            return Moments(totals, np.where(totals != 0, one + means, 0), squares), cancels

    def moments(self, values: NDArray[Any], threads: int | None = None) -> Moments:
        """The moments of the values in each group; of what is left out, they are not computed."""
        if not len(values):
            return self._two_passes(values, threads)
        made, again = self._one_pass(values, threads)
        self._totals = made.totals
        again[-1] = False
        if not again.any():
            return made
        chosen = again[self.numbers]
        redone = Groups(self.numbers[chosen], self.count)._two_passes(values[chosen], threads)
        return Moments(*(np.where(again, new, old) for new, old in zip(redone, made, strict=True)))

    def _two_passes(self, values: NDArray[Any], threads: int | None) -> Moments:
        """The moments from the sums, and then those of the squares of what values are off the means."""
        totals, sums = self.sums(values, threads)
        means = np.divide(sums, totals, out=np.zeros(self.count), where=totals != 0)
        return Moments(totals, means, self._squares(values, means, threads))

    def _squares(self, values: NDArray[Any], means: NDArray[Any], threads: int | None) -> NDArray[np.float64]:
        """The sums of the squares of what values are off the means of their groups."""
        axis = Integer(0, self.count)
        h, table = Histogram(axis, storage="double"), Map(axis)
        table.values = np.concatenate([[0], means, [0, 0]])
        for begin in range(0, len(values), _CHUNK):
            numbers = self.numbers[begin : begin + _CHUNK]
            off = table(numbers, dtype=np.float64, threads=threads)
            np.subtract(values[begin : begin + _CHUNK], off, out=off)
            h.fill(numbers, weight=np.square(off, out=off), threads=threads)
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
        self._totals = np.diff(ends, prepend=0)
        return to, ends

    def each(self, values: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
        """The groups that are not empty, and their values."""
        values, ends = self.sorted(values)
        begin = 0
        for k, end in enumerate(ends.tolist()):
            if end > begin:
                yield k, values[begin:end]
            begin = end
