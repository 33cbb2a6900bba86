"""Histograms of means: the mean and the variance of values in each bin, from exact sums.

Such a histogram is one of the library's with a batch of exact sums, so that all that copies, adds or regroups slots
does so exactly: of w, of w * x in two rows, of w * x * x in two rows and, if means are weighted, of w * w. The two rows
are the products rounded to double, and what rounding took from them: their sum is that of the products to twice the
precision of doubles. So nothing cancels in the variance, sum(w * x * x) - sum(w * x)**2 / sum(w).

Exact storages add these terms of each sample. The others keep the moments of each slot in double, and add terms that have
these when the sums are used: fills take a fifth of the time. What doubles cannot hold, such as moments that overflow, and
negative weights, is added exactly there, too; and so are few samples to many slots.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from .. import _histo
from .._histo import COUNTS, SUM_W, TAKING_MEANS
from ..sources import both, mask_of, numbers
from ..storage import MEANS, fold
from .groups import OF_A_THREAD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..hist import Histogram

    _Floats = NDArray[np.float64]

    _Double2 = tuple[_Floats, _Floats]
    """A number of twice the precision: a double, and what it is off."""

__all__ = ["Mean", "WeightedMean"]

_PIECE = 1 << 22
"""Threads take so many samples together, and then another piece."""


class Mean(NamedTuple):
    """The number of values, their mean, and their variance, sum((x - mean)**2) / (count - 1); with weights, the sum of
    these in the place of the number. What no value or a single one does not have is NaN."""

    count: float | _Floats
    value: float | _Floats
    variance: float | _Floats


class WeightedMean(NamedTuple):
    """The sums of weights and of their squares, the mean, and the variance of values, sum(w * (x - mean)**2) / (sum(w) -
    sum(w**2) / sum(w)). What no value or a single one does not have is NaN."""

    sum_of_weights: float | _Floats
    sum_of_weights_squared: float | _Floats
    value: float | _Floats
    variance: float | _Floats


_AnyMean = TypeVar("_AnyMean", Mean, WeightedMean)


# ---- Arithmetic of twice the precision (Dekker 1971, Knuth) ----


def _two_sum(a: Any, b: Any) -> _Double2:
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _split(a: Any) -> tuple[Any, Any]:
    t = a * 134217729.0  # 2^27 + 1
    high = t - (t - a)
    return high, a - high


def _two_product(a: Any, b: Any) -> _Double2:
    """a * b, and what rounding took from it; zero where the product, or a part of it, is not finite."""
    p = a * b
    (a1, a2), (b1, b2) = _split(a), _split(b)
    rest = a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2)
    return p, np.where(np.isfinite(rest), rest, 0)


def _plus(a: _Double2, b: _Double2) -> _Double2:
    s, rest = _two_sum(a[0], b[0])
    return _two_sum(s, rest + (a[1] + b[1]))


def _times(a: _Double2, b: Any) -> _Double2:
    p, rest = _two_product(a[0], b)
    return _two_sum(p, rest + a[1] * b)


# ---- Filling ----


def _numbers(a: Any, what: str, mask: Any = None) -> tuple[NDArray[Any], Any]:
    """An array of numbers, and a mask with what is present in it."""
    if type(a) is np.ndarray and a.dtype.kind in "iuf" and a.dtype.itemsize <= 8:
        return a, mask
    found = numbers(a, what)
    values, present = found if isinstance(found, tuple) else (found, None)
    if not isinstance(values, np.ndarray):
        raise TypeError("means are made of samples in host memory")
    return values, both(mask, present)


class _Operands(NamedTuple):
    """Arrays of one dimension and of equal length, as Hist._fill_values takes them."""

    arrays: list[NDArray[Any]]
    values: _Floats
    weights: _Floats | None
    mask: NDArray[np.bool_] | None

    def part(self, begin: int, end: int) -> _Operands:
        at = slice(begin, end)
        return _Operands([a[at] for a in self.arrays], self.values[at], None if self.weights is None else self.weights[at],
                         None if self.mask is None else self.mask[at])

    def fill(self, h: Histogram, threads: int, exact: bool) -> Histogram:
        return h._fill_values(tuple(self.arrays), self.values, self.weights, self.mask, threads, exact)


def _kept(mask: Any, where: Any) -> Any:
    """What a mask and a range filter keep, an array of bool; None: all."""
    kept = None if mask is None else mask != 0
    if where is None:
        return kept
    x, lo, hi = where
    return both(kept, (x >= lo) & (x <= hi))


def _operands(arrays: Sequence[Any], sample: Any, weight: Any, mask: Any, where: Any) -> _Operands:
    mask = None if mask is None else _numbers(mask_of(mask), "masks")[0]
    given = []
    for one, what in *((a, "samples") for a in arrays), (sample, "the values of sample"):
        values, mask = _numbers(one, what, mask)
        given.append(values)
    weights = None
    if weight is not None:
        weights, mask = _numbers(weight, "weights", mask)
    if where is not None:
        filtered, mask = _numbers(where[0], "the samples of where", mask)
        where = (filtered, *where[1:])
    mask = _kept(mask, where)
    every = [*given, *(a for a in (weights, mask) if a is not None)]
    if given[-1].ndim != 1 or any(a.shape != given[-1].shape for a in every):
        shape = np.broadcast_shapes(*(a.shape for a in every))

        def flat(a: Any) -> Any:
            if a is None:
                return None
            a = np.broadcast_to(a, shape)
            return a if a.ndim == 1 else a.reshape(-1)

        given, weights, mask = list(map(flat, given)), flat(weights), flat(mask)
    samples = [a if a.dtype.isnative else a.astype(a.dtype.newbyteorder("=")) for a in given[:-1]]
    return _Operands(samples, given[-1].astype(np.float64, copy=False),
                     None if weights is None else weights.astype(np.float64, copy=False), mask)


def fill(h: Histogram, arrays: Sequence[Any], sample: Any, weight: Any, mask: Any, where: Any,
         threads: int | None) -> None:
    """Count samples and add their values, `sample`."""
    if threads is not None and not 1 <= threads <= 1024:
        raise ValueError("threads is a number from 1 to 1024")
    operands = _operands(arrays, sample, weight, mask, where)
    exact = h.storage.startswith("exact")
    n, slots = len(operands.values), math.prod(axis._tuple[2] + 3 for axis in h._axes)
    parts = min(threads or _histo.threads(), n // OF_A_THREAD, n // slots)
    if exact or parts < 2:
        operands.fill(h, threads or 0, exact)
    else:
        _fill_by_threads(h, operands, parts)


def _fill_by_threads(h: Histogram, operands: _Operands, parts: int) -> None:
    """Each thread fills a histogram of its own with a part of the samples. Signals are handled after every _PIECE."""
    from concurrent.futures import ThreadPoolExecutor

    form = tuple(axis._tuple for axis in h._axes), (MEANS[h.storage],), *h._kind(), TAKING_MEANS  # h is locked for others

    def part(begin: int, end: int) -> Histogram:
        made = type(h).__new__(type(h))
        made._make(*form)
        return operands.part(begin, end).fill(made, 1, False)

    with ThreadPoolExecutor(parts) as pool:
        for first in range(0, len(operands.values), _PIECE):
            n = min(_PIECE, len(operands.values) - first)
            ends = [first + n * i // parts for i in range(parts + 1)]
            for made in list(pool.map(part, ends[:-1], ends[1:])):
                h._absorb(made)


# ---- Reading ----


class _Sums(NamedTuple):
    w: _Double2
    wx: _Double2
    wxx: _Double2
    ww: _Floats | None


def _sums(h: Histogram) -> _Sums:
    """The sums of all slots, to twice the precision."""
    first = h._read(SUM_W, True)
    rounded, rest = h._clone(), h._clone()
    rounded._write(h._read(COUNTS, True), np.where(np.isfinite(first), first, 0), None, h._masked())
    rest._subtract_counts(rounded)
    second = np.where(np.isfinite(first), rest._read(SUM_W, True), 0)
    row = list(zip(first, second, strict=True))
    with np.errstate(invalid="ignore"):
        return _Sums(row[0], _plus(row[1], row[2]), _plus(row[3], row[4]), first[5] if len(first) > MEANS["mean"] else None)


def _of_sums(s: _Sums) -> Mean | WeightedMean:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        w = s.w[0]
        some = w != 0
        value = np.where(some, (s.wx[0] + s.wx[1]) / w, np.nan)
        # The sum of w * (x - value)**2.
        off = _plus(_plus(s.wxx, _times(s.wx, -2 * value)), _times(_times(s.w, value), value))
        off = np.maximum(off[0] + off[1], 0)
        if s.ww is None:
            return Mean(w, value, np.where(w > 1, off / (w - 1), np.nan))
        return WeightedMean(w, s.ww, value, np.where(w**2 > s.ww, off / (w - s.ww / w), np.nan))


def _each(found: _AnyMean, change: Any) -> _AnyMean:
    return type(found)(*map(change, found))


def read(h: Histogram, flow: bool) -> Mean | WeightedMean:
    """Of the cells that the axes show."""
    folded = h
    if flow:  # NaN is in the overflow
        bins = [axis._tuple[2] for axis in h._axes]
        maps = [np.array([*range(n + 2), n + 1], np.uint32) for n in bins]
        folded = h._regrouped(h._axes, range(h.ndim), maps)
    place = tuple(slice(1 - (flow and a.traits.underflow), a.size + 1 + (flow and a.traits.overflow)) for a in h._axes)
    return _each(_of_sums(_sums(folded)), lambda a: a[place])


def entries(h: Histogram, flow: bool) -> NDArray[np.int64]:
    """See Histogram.entries."""
    if not flow:
        found: NDArray[np.int64] = h._read(COUNTS, False)[0]
        return found[tuple(slice(axis.size) for axis in h._axes)]
    return h._shown(fold(h._read(COUNTS, True)[0], h.ndim))


def variances(h: Histogram, flow: bool) -> _Floats:
    """See Histogram.variances."""
    found = read(h, flow)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(found.variance / found[0])


def counts(h: Histogram, flow: bool) -> _Floats:
    """See Histogram.counts."""
    found = read(h, flow)
    w = np.asarray(found[0])
    if isinstance(found, Mean):
        return w
    squares = np.asarray(found.sum_of_weights_squared)
    return np.divide(w**2, squares, out=np.zeros_like(w), where=squares != 0)


def cell(h: Histogram) -> Mean | WeightedMean:
    """Of a histogram of a single bin: numbers."""
    return _each(read(h, False), lambda a: a.item())


# ---- Writing ----


def _rows_of(storage: str, w: _Floats, ww: _Floats, value: _Floats, off: _Floats) -> _Floats:
    """The sums of cells with these means, where off is the sum of w * (x - value)**2, and ww that of w**2."""
    made = np.zeros((MEANS[storage], *w.shape))
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        made[0] = w
        made[1], made[2] = _two_product(w, value)
        made[3], rest = _plus(_times((made[1], made[2]), value), (off, np.zeros_like(off)))
        made[4] = np.where(np.isfinite(rest), rest, 0)
    made[5:] = ww
    return made


def rows_of(storage: str, mean: Mean | WeightedMean) -> tuple[NDArray[np.int64], _Floats]:
    """The counts, and the rows of sums, of cells with these means. Sums of weights that are whole numbers are counts;
    others leave none."""
    w, ww, value, variance = np.broadcast_arrays(*(np.asarray(a, np.float64) for a in (mean[0], *mean[-3:])))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        free = w - 1 if isinstance(mean, Mean) else w - ww / w
        off = np.where(free > 0, variance * free, 0)
    whole = (w >= 0) & (w == np.floor(w)) & (w < 2.0**63)
    return np.where(whole, w, 0).astype(np.int64), _rows_of(storage, w, ww, np.where(w == 0, 0, value), off)


def scale(h: Histogram, change: Any) -> None:
    """Multiply or divide all values: change(a) is a times the factor."""
    found = _of_sums(_sums(h))
    _, made = rows_of(h.storage, found._replace(value=change(found.value), variance=change(change(found.variance))))
    h._write(h._read(COUNTS, True), np.ascontiguousarray(made), None, h._masked())


def mean_of(h: Histogram, value: Any) -> Mean | WeightedMean:
    """What a cell of this histogram is set to: a Mean or WeightedMean, those of another library, or a histogram."""
    cls: type[Mean] | type[WeightedMean] = WeightedMean if "weighted" in h.storage else Mean
    if hasattr(value, "means"):
        value = value.means()
    if all(hasattr(value, field) for field in cls._fields):
        return cls(*(getattr(value, field) for field in cls._fields))
    given = np.asarray(value)
    if given.dtype.kind in "biuf" and given.ndim and given.shape[-1] == len(cls._fields):
        return cls(*np.moveaxis(given, -1, 0))
    raise ValueError(f'cells of storage="{h.storage}" are set to {cls.__name__}({", ".join(cls._fields)}), or to an '
                     f"array whose last dimension has these {len(cls._fields)} numbers")


# ---- UHI ----


def to_uhi(h: Histogram) -> dict[str, Any]:
    """The storage of UHI's dict. What empty cells, or those of one value, do not have is 0, as in boost-histogram."""
    found = read(h, True)
    w = np.asarray(found[0])
    none = w == 0
    alone = w <= 1 if isinstance(found, Mean) else w**2 <= found.sum_of_weights_squared
    values, variances = np.where(none, 0, found.value), np.where(alone, 0, found.variance)
    if isinstance(found, Mean):
        return {"type": "mean", "counts": w, "values": values, "variances": variances}
    return {"type": "weighted_mean", "sum_of_weights": w, "sum_of_weights_squared": found.sum_of_weights_squared,
            "values": values, "variances": variances}


def from_uhi(storage: dict[str, Any], shape: tuple[int, ...]) -> Mean | WeightedMean | None:
    """The means of UHI's storage for cells of this shape; None if it has none."""
    names = ("counts",) if storage["type"] == "mean" else ("sum_of_weights", "sum_of_weights_squared")
    if "values" not in storage:
        return None
    columns = [np.asarray(storage[name], np.float64) for name in (*names, "values", "variances")]
    if "index" in storage:
        index = tuple(np.asarray(one, np.intp) for one in storage["index"])
        dense = np.zeros((len(columns), *shape))
        for full, some in zip(dense, columns, strict=True):
            full[index] = some
        columns = list(dense)
    if any(column.shape != shape for column in columns):
        raise ValueError(f"the values of the histogram do not have the shape {shape} of its axes")
    return Mean(*columns) if len(columns) == 3 else WeightedMean(*columns)
