"""Values in groups, such as those of the samples of a bin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _histo
from ..axes import Axis, Integer, axis_of
from ..hist import Histogram
from ..maps import Map

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    _NumbersOf = Callable[[slice], NDArray[Any]]
    """The groups of a part of the values, contiguous."""

    _Finder = Callable[[int | None], _NumbersOf]
    """Called by each thread that looks for groups, with the number of threads that may do so for it."""

_CHUNK = 1 << 17
"""So many values are taken at a time."""

_OF_A_THREAD = 1 << 18
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

    def locate(self, columns: Sequence[NDArray[Any]], hidden: NDArray[np.bool_] | None,
               threads: int | None = None) -> NDArray[Any]:
        """The numbers of samples, and `count` where they are hidden. Samples are as the library counts them."""
        native = tuple(c if c.dtype.isnative else c.astype(c.dtype.newbyteorder("=")) for c in columns)
        numbers = np.empty(native[0].shape, numbers_type(self._count + 1))
        self._map._apply(native, numbers, None, 0, (), (), threads or 0)
        if hidden is not None:
            numbers[hidden] = self._count
        return numbers


class Moments(NamedTuple):
    """Of the values in each group: their number, the sum of their weights and that of the squares of these, which are 1
    without weights, the mean, and the sum of weight * (value - mean)**2; 0 of none."""

    totals: NDArray[np.int64]
    weights: NDArray[np.float64]
    weights_squared: NDArray[np.float64]
    means: NDArray[np.float64]
    squares: NDArray[np.float64]


def _sums_of_powers(numbers_of: _NumbersOf, count: int, values: NDArray[Any], weights: NDArray[np.float64] | None,
                    origin: float, begin: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
    """What histo._histo.add_powers adds of values[begin:end]: totals, and a row of sums for each group. None if a weight
    is negative or NaN."""
    totals, sums = np.zeros(count, np.int64), np.zeros((count, 2 if weights is None else 4))
    for first in range(begin, end, _CHUNK):
        part = slice(first, min(first + _CHUNK, end))
        w = None if weights is None else np.ascontiguousarray(weights[part])
        if w is not None and not w.min() >= 0:
            return None
        numbers = numbers_of(part)
        _histo.add_powers(numbers, np.ascontiguousarray(values[part], np.float64), w, origin, totals, sums,
                          numbers.itemsize)
    return totals, sums


def _one_pass(finder: _Finder, count: int, values: NDArray[Any], weights: NDArray[np.float64] | None,
              threads: int | None) -> tuple[Moments, NDArray[np.bool_]] | None:
    """The moments from the sums of values, and of squares, off one value, and the groups that are so far from it that
    digits cancel. None if a weight is negative or NaN."""
    some = values[:: len(values) // 1024 + 1].astype(np.float64)
    some = some[np.isfinite(some)]
    one = float(some.sum() / some.size) if some.size else 0.0

    def add(begin: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        return _sums_of_powers(finder(1), count, values, weights, one, begin, end)

    parts = min(threads or _histo.threads(), len(values) // _OF_A_THREAD, len(values) // count)
    if parts < 2:
        found = [add(0, len(values))]
    else:
        from concurrent.futures import ThreadPoolExecutor

        ends = [len(values) * i // parts for i in range(parts + 1)]
        with ThreadPoolExecutor(parts) as pool:
            found = list(pool.map(add, ends[:-1], ends[1:]))
    present = [one for one in found if one is not None]
    if len(present) < len(found):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        totals, sums = (sum(columns[1:], columns[0]) for columns in zip(*present, strict=True))
        if weights is None:
            w = squares_of_w = totals.astype(np.float64)
            off, squares = sums.T
        else:
            w, off, squares_of_w, squares = sums.T
        means = np.divide(off, w, out=np.zeros(count), where=w != 0)
        of_means = off * means
        cancels = (of_means > _CANCELS * squares) & (totals > 1) | ~np.isfinite(squares)
        squares = np.where(totals > 1, squares - of_means, 0)
        return Moments(totals, w, squares_of_w, np.where(w != 0, one + means, 0), squares), cancels


def moments(finder: _Finder, count: int, values: NDArray[Any], weights: NDArray[np.float64] | None,
            threads: int | None) -> Moments:
    """The moments in `count` groups; the last group has the values that are left out, and its own are not computed."""
    found = _one_pass(finder, count, values, weights, threads) if len(values) else None
    if found is not None:
        made, again = found
        again[-1] = False
        if not again.any():
            return made
    groups = Groups(finder(threads)(slice(0, len(values))), count)
    if found is None:
        return groups.two_passes(values, weights, threads)
    chosen = again[groups.numbers]
    few = Groups(groups.numbers[chosen], count)
    redone = few.two_passes(values[chosen], None if weights is None else weights[chosen], threads)
    return Moments(*(np.where(again, new, old) for new, old in zip(redone, made, strict=True)))


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

    def moments(self, values: NDArray[Any], threads: int | None = None) -> Moments:
        """The moments of the values in each group."""

        def finder(_: int | None) -> _NumbersOf:
            return lambda part: np.ascontiguousarray(self.numbers[part])

        found = moments(finder, self.count, values, None, threads)
        self._totals = found.totals
        return found

    def two_passes(self, values: NDArray[Any], weights: NDArray[np.float64] | None, threads: int | None) -> Moments:
        """The moments from the sums, and then those of the squares of what values are off the means."""
        if weights is None:
            totals, sums = self.sums(values, threads)
            w = squares_of_w = totals.astype(np.float64)
        else:
            h = Histogram(Integer(0, self.count), storage="weight").fill(self.numbers, weight=weights, threads=threads)
            totals, w, squares_of_w = h.entries(), h.values(), np.asarray(h.variances())
            sums = self.sums(values * weights, threads)[1]
        means = np.divide(sums, w, out=np.zeros(self.count), where=w != 0)
        return Moments(totals, w, squares_of_w, means, self.squares(values, means, weights, threads))

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
