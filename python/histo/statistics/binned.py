"""Statistics of values in the bins of samples: scipy.stats.binned_statistic and its relatives.

Samples are compared with the edges by value, and the last bin includes its upper edge. SciPy also takes samples into it
that are above that edge by less than about a millionth of a bin.
"""

from __future__ import annotations

import builtins
import math
import operator
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from .. import _histo
from ..axes import Axis, Regular, Variable
from ..functions import _columns
from .groups import Groups, Table, numbers_type
from ..dates import is_date
from ..sources import both, check_numbers, take

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    _Statistic = Literal["mean", "std", "median", "count", "sum", "min", "max"] | Callable[[NDArray[Any]], Any]

__all__ = ["BinnedStatistic2dResult", "BinnedStatisticResult", "BinnedStatisticddResult", "binned_statistic",
           "binned_statistic_2d", "binned_statistic_dd"]

# ---- Results ----


class _Numbers:
    """The number of each sample's bin, as scipy.stats counts: in the array of all bins, with one more at both ends of
    each axis, in C order. Kept in as few bytes as hold them."""

    __slots__ = ("expand", "numbers", "shape")

    def __init__(self, numbers: NDArray[Any], shape: tuple[int, ...], expand: bool) -> None:
        self.numbers, self.shape, self.expand = numbers, shape, expand

    def array(self) -> NDArray[np.int64]:
        numbers = self.numbers.astype(np.int64)
        if not self.expand or len(self.shape) == 1:
            numbers[numbers == math.prod(self.shape)] = -1
            return numbers
        return np.stack([np.where(numbers == math.prod(self.shape), -1, numbers // math.prod(self.shape[d + 1 :]) % n)
                         for d, n in enumerate(self.shape)])


class _Result(Sequence[Any]):
    """A result with names, which can be unpacked. The numbers of bins become int64 when they are asked for."""

    __slots__ = ("_array", "_found", "_numbers")
    _fields: ClassVar[tuple[str, ...]]

    def __init__(self, *found: Any, numbers: _Numbers) -> None:
        self._found, self._numbers = found, numbers
        self._array: NDArray[np.int64] | None = None

    @property
    def binnumber(self) -> NDArray[np.int64]:
        """The bin of each sample, an array of int64 of shape (N,): bins count from 1, 0 is below the axis and n + 1
        above, NaN included; masked samples have -1. Of several axes, the position in the array of all these bins, in C order,
        or with expand_binnumbers=True an array of shape (D, N)."""
        if self._array is None:
            self._array = self._numbers.array()
        return self._array

    def __len__(self) -> int:
        return len(self._fields)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self)[index]
        return getattr(self, self._fields[index])

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, field) for field in self._fields)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{field}={getattr(self, field)!r}' for field in self._fields)})"


class BinnedStatisticResult(_Result):
    """What `binned_statistic` returns: (statistic, bin_edges, binnumber)."""

    __slots__ = ()
    _fields = ("statistic", "bin_edges", "binnumber")

    @property
    def statistic(self) -> NDArray[Any]:
        """The statistic of each bin: an array of shape (…, bins), after the dimensions of several sets of values."""
        return self._found[0]

    @property
    def bin_edges(self) -> NDArray[np.floating[Any]]:
        """The edges of the bins, of shape (bins + 1,)."""
        return self._found[1]


class BinnedStatistic2dResult(_Result):
    """What `binned_statistic_2d` returns: (statistic, x_edge, y_edge, binnumber)."""

    __slots__ = ()
    _fields = ("statistic", "x_edge", "y_edge", "binnumber")

    @property
    def statistic(self) -> NDArray[Any]:
        """The statistic of each bin: an array of shape (…, nx, ny)."""
        return self._found[0]

    @property
    def x_edge(self) -> NDArray[np.floating[Any]]:
        """The edges along the first axis, of shape (nx + 1,)."""
        return self._found[1]

    @property
    def y_edge(self) -> NDArray[np.floating[Any]]:
        """The edges along the second axis, of shape (ny + 1,)."""
        return self._found[2]


class BinnedStatisticddResult(_Result):
    """What `binned_statistic_dd` returns: (statistic, bin_edges, binnumber)."""

    __slots__ = ()
    _fields = ("statistic", "bin_edges", "binnumber")

    @property
    def statistic(self) -> NDArray[Any]:
        """The statistic of each bin: an array of shape (…, n0, n1, …)."""
        return self._found[0]

    @property
    def bin_edges(self) -> list[NDArray[np.floating[Any]]]:
        """The edges along each axis."""
        return self._found[1]


# ---- Statistics of groups ----


def _mean(groups: Groups, values: NDArray[Any], result: NDArray[Any]) -> None:
    totals, sums = groups.sums(values)
    np.divide(sums, totals, out=result, where=totals != 0)


def _std(groups: Groups, values: NDArray[Any], result: NDArray[Any]) -> None:
    totals, *_, squares = groups.moments(values.real)
    if values.dtype.kind == "c":
        squares = squares + groups.moments(values.imag).squares
    np.divide(squares, totals, out=result, where=totals != 0)
    np.sqrt(result, out=result)


def _sum(groups: Groups, values: NDArray[Any], result: NDArray[Any]) -> None:
    result[...] = groups.sums(values)[1]


def _reduced(by: np.ufunc) -> Callable[[Groups, NDArray[Any], NDArray[Any]], None]:
    def reduce(groups: Groups, values: NDArray[Any], result: NDArray[Any]) -> None:
        values, ends = groups.sorted(values)
        begins = np.concatenate([[0], ends[:-1]])
        some = begins < ends
        if some.any():
            result[some] = by.reduceat(values, begins[some])

    return reduce


def _median(groups: Groups, values: NDArray[Any], result: NDArray[Any]) -> None:
    for k, group in groups.each(values):
        low, high = (len(group) - 1) // 2, len(group) // 2
        group.partition((low, high))
        result[k] = group[low]
        result[k] = (result[k] + group[high]) / 2  # in the dtype of results, which does not wrap


_KNOWN: dict[Any, Callable[[Groups, NDArray[Any], NDArray[Any]], None] | None] = {
    "mean": _mean, "std": _std, "median": _median, "sum": _sum, "count": None,
    "min": _reduced(np.fmin), "max": _reduced(np.maximum),
}
_KNOWN.update({getattr(np, name): _KNOWN[name] for name in ("mean", "std", "median", "sum", "min", "max")})


def _of_function(groups: Groups, values: NDArray[Any], function: Callable[[NDArray[Any]], Any], inside: NDArray[Any],
                 dtype: np.dtype[Any]) -> NDArray[Any]:
    """A function of the values of each group that is inside; of no values where there are none."""
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            empty = function(np.array([], dtype))
        except Exception:
            empty = np.nan
    result = np.full(groups.count, empty, np.result_type(dtype, np.asarray(empty).dtype))
    for k, group in groups.each(values):
        if inside[k]:
            value = function(group)
            if np.iscomplexobj(value) and result.dtype.kind != "c":
                result = result.astype(complex)
            result[k] = value
    return result


# ---- Bins ----


def _number_of_bins(bins: Any) -> int:
    n = int(bins)
    if n != bins or n < 1:
        raise ValueError(f"the number of bins is a positive whole number, not {bins!r}")
    return n


def _axis_of(i: int, x: NDArray[Any], bins: Any, limits: Any, dtype: Any, ndim: int) -> tuple[NDArray[Any], Axis]:
    """The edges that scipy.stats finds for an axis, and the axis."""
    if not np.isscalar(bins):
        edges = np.asarray(bins, dtype)
        if edges.ndim != 1:
            raise ValueError("the edges of bins have one dimension")
        if (np.diff(edges) == 0).any():
            raise ValueError("The smallest edge difference is numerically 0.")
        return edges, Variable(edges, closed=True)
    n = _number_of_bins(bins)
    if limits is None:
        samples, infinite, low, high = _histo.extremes(x, None, 0)
        if not samples:
            raise ValueError("no samples, and no range: there are no bins")
        if infinite:
            raise ValueError(f"{x!r} contains non-finite values.")
    else:
        low, high = limits
    low, high = float(low), float(high)
    if high < low:
        raise ValueError(f"In {f'dimension {i + 1} of ' if ndim > 1 else ''}range, start must be <= stop")
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, n + 1, dtype=dtype)
    return edges, Regular(n, low, high, closed=True) if dtype == np.float64 else Variable(edges, closed=True)


def _length(bins: Any) -> int:
    """How many numbers of bins, or edges, there are."""
    try:
        return len(bins)
    except TypeError:
        return 1


def _plain(a: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """An array, and where it misses values."""
    values, present = take(a).decoded()[:2]
    if is_date(values.dtype):
        raise TypeError(f"values are {values.dtype}, and statistics are of numbers: choose a unit, as "
                        "x.astype('M8[s]').astype('i8')")
    return values, None if present is None else ~present


def _columns_of(sample: Any) -> tuple[list[NDArray[Any]], np.dtype[Any], NDArray[np.bool_] | None]:
    """The samples on each axis, the dtype of all, and where one is missing."""
    columns, present, dtype = _columns(sample, "mask")
    for one in [dtype, *(c.dtype for c in columns)]:
        check_numbers(one, "samples")
    kept = reduce(both, present, None)
    return [c.view(np.uint8) if c.dtype == bool else c for c in columns], dtype, None if kept is None else ~kept


# ---- The functions ----


def binned_statistic_dd(sample: ArrayLike | Sequence[ArrayLike], values: Any, statistic: _Statistic = "mean",
                        bins: Any = 10, range: Any = None, expand_binnumbers: bool = False,
                        binned_statistic_result: Any = None) -> BinnedStatisticddResult:
    """A statistic of values in the bins of samples on any number of axes: scipy.stats.binned_statistic_dd.

    Parameters
    ----------
    sample : array_like
        An array of shape (N, D), or a sequence of D arrays of shape (N,). Where one is masked, the sample is left out.
    values : array_like
        The value of each sample, of shape (N,), or several sets of values, of shape (V, N). Masked values are left out.
        Of no use for "count".
    statistic : str or callable, default "mean"
        "mean", "std" (with ddof=0), "median", "count", "sum", "min", "max", or a function from the array of a bin's
        values to a number. Sums are added in double. "std" takes two passes, so that nothing cancels. NaN among the
        values: "min" ignores it, "median" takes it as the largest value, and it makes all others NaN, as in SciPy.
    bins : int or sequence, default 10
        The number of bins along each axis, or a sequence with the number of bins or the edges of each axis.
    range : sequence of (float, float), optional
        The first and the last edge along each axis; by default, the smallest and the largest sample.
    expand_binnumbers : bool, default False
        Let `binnumber` have a row for each axis.
    binned_statistic_result : optional
        What a call with the same sample returned, here or in SciPy: its bins are used again.

    Returns
    -------
    BinnedStatisticddResult
        (statistic, bin_edges, binnumber). The statistic is float64 or, of complex values, complex128. Empty bins have
        NaN, 0 for "count" and "sum", and what a function gives for no values, or NaN if that fails.

    Raises
    ------
    ValueError
        For an unknown statistic, and if a number of bins is given for samples that are not finite.
    AttributeError
        If the lengths do not agree, as in SciPy.
    """
    if not callable(statistic) and statistic not in _KNOWN:
        raise ValueError(f"invalid statistic {statistic!r}")
    columns, dtype, hidden = _columns_of(sample)
    length = len(columns[0])
    given, hidden_values = _plain(values)
    if given.ndim > 2:
        raise ValueError("values have one dimension, or two for several sets of values")
    rows = np.atleast_2d(given)
    if statistic != "count" and rows.shape[1] != length:
        raise AttributeError("The number of `values` elements must match the length of each `sample` dimension.")
    unlimited: list[NDArray[Any]] = []
    if binned_statistic_result is not None:
        edges = list(binned_statistic_result.bin_edges)
        shape = tuple(len(e) + 1 for e in edges)
        numbers = _numbers_of(binned_statistic_result, shape, length)
    else:
        edges, axes, counted = _bins(columns, dtype, bins, range, hidden)
        if counted and range is not None:
            unlimited = [c for c in columns if c.dtype.kind == "f"]
        shape = tuple(axis.size + 2 for axis in axes)
        places = [np.append(np.arange(n), n - 1) for n in shape]  # as numpy.digitize, NaN is above
        numbers = Table(axes, np.ravel_multi_index(np.ix_(*places), shape), math.prod(shape)).locate(columns, hidden)
    count = math.prod(shape)
    groups = Groups(numbers, count + 1)
    out_of = [groups] * len(rows)
    if hidden_values is not None and statistic != "count":
        out_of = [Groups(np.where(m, numbers.dtype.type(count), numbers), count + 1) if m.any() else groups
                  for m in np.atleast_2d(hidden_values)]
    core = tuple(slice(1, -1) for _ in shape)
    known = _is_known(statistic)
    if not known:
        _check_finite(unlimited, hidden, groups, shape, core)
    results = [_statistic(g, row, statistic, known, shape, core) for g, row in zip(out_of, rows, strict=True)]
    if known:  # which has found the number of samples in each bin
        _check_finite(unlimited, hidden, groups, shape, core)
    result = np.stack(results)[(slice(None), *core)]
    result = result.reshape(given.shape[:-1] + result.shape[1:])
    return BinnedStatisticddResult(result, edges, numbers=_Numbers(numbers, shape, bool(expand_binnumbers)))


def _is_known(statistic: Any) -> bool:
    try:
        return statistic in _KNOWN
    except TypeError:  # a function without a hash
        return False


def _check_finite(columns: list[NDArray[Any]], hidden: NDArray[np.bool_] | None, groups: Groups, shape: tuple[int, ...],
                  core: tuple[slice, ...]) -> None:
    """Raise ValueError if a sample of these columns is not finite: it is outside the axes then."""
    if not columns:
        return
    totals = groups.totals()[:-1]
    if totals.sum() == totals.reshape(shape)[core].sum():
        return
    if any(_histo.extremes(c, None if hidden is None else ~hidden, 0)[1] for c in columns):
        raise ValueError("the sample contains non-finite values.")


def _statistic(groups: Groups, values: NDArray[Any], statistic: Any, known: bool, shape: tuple[int, ...],
               core: tuple[slice, ...]) -> NDArray[Any]:
    """The statistic of all bins, those outside the axes included."""
    if known and _KNOWN[statistic] is None:
        return groups.totals()[:-1].astype(np.float64).reshape(shape)
    dtype = np.result_type(values.dtype, np.float64)
    if known:
        compute = _KNOWN[statistic]
        assert compute is not None
        result = np.full(groups.count, 0 if compute is _sum else np.nan, np.float64 if compute is _std else dtype)
        compute(groups, values, result)
    else:
        inside = np.zeros(shape, bool)
        inside[core] = True
        result = _of_function(groups, values, statistic, np.append(inside, False), dtype)
    return result[:-1].reshape(shape)


def _bins(columns: list[NDArray[Any]], dtype: np.dtype[Any], bins: Any, range: Any,
          hidden: NDArray[np.bool_] | None) -> tuple[list[NDArray[Any]], list[Axis], bool]:
    """The edges along each axis, the axes, and whether one number of bins was given for all of them."""
    ndim = len(columns)
    try:
        bins = [operator.index(bins)] * ndim
        counted = True
    except TypeError:
        bins = list(bins) if np.iterable(bins) else [bins] * ndim
        counted = False
    if len(bins) != ndim:
        raise AttributeError("The dimension of bins must be equal to the dimension of the sample x.")
    if range is not None and len(range) != ndim:
        raise ValueError(f"range given for {len(range)} dimensions; {ndim} required")
    if hidden is not None:
        columns = [c[~hidden] for c in columns]
    of_edges = dtype if dtype.kind == "f" else np.dtype(np.float64)
    found = [_axis_of(i, columns[i], bins[i], None if range is None else range[i], of_edges, ndim)
             for i in builtins.range(ndim)]
    return [edges for edges, _ in found], [axis for _, axis in found], counted


def _numbers_of(result: Any, shape: tuple[int, ...], length: int) -> NDArray[Any]:
    """The numbers of bins of another call."""
    count = math.prod(shape)
    if isinstance(result, _Result):
        numbers = result._numbers.numbers
    else:
        given = np.asarray(result.binnumber)
        given = np.ravel_multi_index(tuple(given), shape) if given.ndim == 2 else given
        if given.size and not 0 <= given.min() <= given.max() < count:
            raise ValueError("binned_statistic_result has numbers of bins that its edges do not have")
        numbers = given.astype(numbers_type(count + 1))
    if len(numbers) != length:
        raise AttributeError("binned_statistic_result is of another number of samples")
    return numbers


def binned_statistic(x: ArrayLike, values: Any, statistic: _Statistic = "mean", bins: Any = 10,
                     range: Any = None) -> BinnedStatisticResult:
    """A statistic of values in the bins of samples: scipy.stats.binned_statistic.

        means, edges, _ = histo.binned_statistic(x, y, "mean", bins=100, range=(0, 1))

    Parameters
    ----------
    x : array_like
        The samples, of shape (N,).
    values, statistic
        As for `binned_statistic_dd`.
    bins : int or sequence of floats, default 10
        The number of bins, or their edges.
    range : (float, float), optional
        The first and the last edge; by default, the smallest and the largest sample.

    Returns
    -------
    BinnedStatisticResult
        (statistic, bin_edges, binnumber): see `binned_statistic_dd`.
    """
    if _length(bins) != 1:
        bins = [np.asarray(bins, float)]
    if range is not None and len(range) == 2:
        range = [range]
    found = binned_statistic_dd([x], values, statistic, bins, range)
    return BinnedStatisticResult(found.statistic, found.bin_edges[0], numbers=found._numbers)


def binned_statistic_2d(x: ArrayLike, y: ArrayLike, values: Any, statistic: _Statistic = "mean", bins: Any = 10,
                        range: Any = None, expand_binnumbers: bool = False) -> BinnedStatistic2dResult:
    """A statistic of values in the bins of pairs of samples: scipy.stats.binned_statistic_2d.

    Parameters
    ----------
    x, y : array_like
        The samples on both axes, of shape (N,).
    values, statistic, expand_binnumbers
        As for `binned_statistic_dd`.
    bins : int, (int, int), sequence of floats or (sequence, sequence), default 10
        The number of bins or the edges, of both axes or of each.
    range : ((float, float), (float, float)), optional
        The first and the last edge along each axis; by default, the smallest and the largest sample.

    Returns
    -------
    BinnedStatistic2dResult
        (statistic, x_edge, y_edge, binnumber): see `binned_statistic_dd`.
    """
    if _length(bins) not in (1, 2):
        bins = [np.asarray(bins, float)] * 2
    found = binned_statistic_dd([x, y], values, statistic, bins, range, expand_binnumbers)
    return BinnedStatistic2dResult(found.statistic, *found.bin_edges, numbers=found._numbers)
