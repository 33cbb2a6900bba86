"""Histograms that are filled in pieces, indexed, added, saved and drawn."""

from __future__ import annotations

import copy
import functools
import itertools
import math
import operator
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self, TypeVar, cast, overload

from . import _histo
from ._histo import BINARY, COUNTS, DENSE, NOWHERE, SPARSE, SUM_W, SUM_W2, UNWEIGHTED, WEIGHT_FAST, WEIGHT_FAST_SUM
from ._histo import WEIGHT_REPRODUCIBLE_SUM
from .axes import AxesTuple, Axis, Boolean, Category, Integer, Labelled, Variable
from .indexing import Choice, Pick, Range, Total, resolve, spread
from .lazy import is_dask
from .storage import EXACT, HAS_SQUARES, MEANS, STORAGE_NAMES, STORAGES, Slots, contiguous, made_of, nan_sets
from .storage import storage_name, taking

if TYPE_CHECKING:
    import os

    import boost_histogram
    import hist
    import matplotlib.axes
    import numpy as np
    import xarray
    from .statistics.means import Mean, WeightedMean
    from numpy.typing import ArrayLike, NDArray

    _Floats = NDArray[np.float64]

__all__ = ["Histogram", "Information", "Plan", "Summary", "Tally", "WeightedSum"]

_Samples = Any
"""An array of any library, a column of a dataframe, Dask's collections, or a number: what Histogram.fill takes."""


class _ToUhi(Protocol):
    """A histogram of another library."""

    def _to_uhi_(self) -> dict[str, Any]: ...

class Tally(NamedTuple):
    """Where the samples went: bins + flow + masked == samples.

    under, over and nan have an entry for each axis. A sample may be in the flow of several axes.
    """

    samples: int
    masked: int
    bins: int
    flow: int
    under: tuple[int, ...]
    over: tuple[int, ...]
    nan: tuple[int, ...]


class WeightedSum(NamedTuple):
    """A sum of weights and the sum of their squares, which estimates its variance."""

    value: float | _Floats
    variance: float | _Floats


class Plan(NamedTuple):
    """How the last fill counted."""

    strategy: str
    threads: int


class Summary(NamedTuple):
    """Moments of a histogram with one axis, from its counts; for a batch, arrays of its shape.

    count: the samples in the bins, whatever their weights. variance: the mean of (x - mean)**2. skewness, kurtosis: standardized; 0 for a
    normal distribution. entropy: in bits. first, last: the lowest and the highest bin that is not empty; mode: the
    lowest bin with the largest count; -1 if all are empty. occupied: the number of bins that are not empty.
    """

    count: int | NDArray[np.int64]
    mean: float | _Floats
    variance: float | _Floats
    skewness: float | _Floats
    kurtosis: float | _Floats
    entropy: float | _Floats
    first: int | NDArray[np.int64]
    last: int | NDArray[np.int64]
    mode: int | NDArray[np.int64]
    occupied: int | NDArray[np.int64]


class Information(NamedTuple):
    """Entropies and mutual information of two axes, in nats; for a batch, arrays of its shape.

    entropy0, entropy1: of each axis alone. joint_entropy: of both. mutual: entropy0 + entropy1 - joint_entropy.
    normalized: (entropy0 + entropy1) / joint_entropy, from 1 to 2.
    """

    entropy0: float | _Floats
    entropy1: float | _Floats
    joint_entropy: float | _Floats
    mutual: float | _Floats
    normalized: float | _Floats


def _numpy() -> Any:
    import numpy

    return numpy


def _means() -> Any:
    from .statistics import means

    return means


_Method = TypeVar("_Method", bound=Callable[..., Any])
_Array = TypeVar("_Array")
_Of = TypeVar("_Of", Summary, Information)


def _exclusive(method: _Method) -> _Method:
    """Let no other thread use the histogram until the method returns.

    While it holds the histogram, a method waits for no other that threads share: of others it uses copies.
    """

    @functools.wraps(method)
    def call(self: Histogram, *args: Any, **kwargs: Any) -> Any:
        return self._exclusively(method, self, *args, **kwargs)

    return cast(_Method, call)


def _of_counts(method: _Method) -> _Method:
    """Refuse histograms of means, which have no counts for this."""

    @functools.wraps(method)
    def call(self: Histogram, *args: Any, **kwargs: Any) -> Any:
        if self._mean or args and getattr(args[0], "_mean", None):
            raise TypeError(f"{method.__name__} is of counts or sums of weights, not of means: see values(), variances() "
                            "and counts()")
        return method(self, *args, **kwargs)

    return cast(_Method, call)


class Histogram(Labelled, _histo.Hist):
    """Counts of samples in the bins of one to eight axes.

        h = Histogram(Regular(100, 0, 1, name="x"), Category(["a", "b"], name="kind"))
        h.fill(x, kind)
        h[0.25j:0.75j, "a"].values()

    Parameters
    ----------
    *axes : Axis
        `Regular`, `Variable`, `Integer`, `Log`, `Sqrt`, `Power`, `Category` or `Boolean`. Or one object that has
        `_to_uhi_` (a histogram of boost-histogram, hist or ROOT), or the dict that it returns.
    storage : str, optional
        "int64": exact counts. "double": sums of weights. "weight": sums of weights and of their squares, which give
        variances. "exact_double", "exact_weight": the same, rounded once, with the same bits for any number of
        threads. "sparse": exact counts of the occupied bins only. "mean": the number, the mean and the variance of
        values, which fills take as `sample=`; "weighted_mean": likewise with weights. "exact_mean",
        "exact_weighted_mean": the same from exact sums, with the same bits for any order and number of threads.
        boost-histogram's storages are accepted, too. By default, exact counts, which become "weight" by the first
        fill with weights.
    batch : int or tuple of ints, optional
        The number or the shape of histograms with these axes. Samples, and all arrays of the histogram, begin with
        these dimensions. There is none of means.
    name, label, metadata : optional
        As for axes.

    Raises
    ------
    TypeError, ValueError
        If an argument is not an axis or not a storage, or two axes have the same name.
    MemoryError
        If the histogram would not fit into memory.

    Notes
    -----
    Several threads may fill, read and change one histogram: one call after the other has effect.

    Differences from boost-histogram: counts are exact 64-bit integers by default, samples are compared with the edges
    by value, and NaN is counted apart, although arrays with flow show it in the overflow.
    """

    __slots__ = ("__weakref__", "_axes", "_grows", "_label", "_may_weigh", "_mean", "metadata", "name")

    @overload
    def __init__(self, *axes: Axis, storage: str | object | None = None, batch: int | Iterable[int] = (),
                 name: str = "", label: str = "", metadata: Any = None) -> None: ...

    @overload
    def __init__(self, source: Histogram | _ToUhi | Mapping[str, Any], /, *, name: str = "", label: str = "",
                 metadata: Any = None) -> None: ...

    def __init__(self, *axes: Any, storage: Any = None, batch: Any = (), name: str = "", label: str = "",
                 metadata: Any = None) -> None:
        if len(axes) == 1 and not isinstance(axes[0], Axis):
            if storage is not None or batch != ():
                raise TypeError("storage= and batch= cannot be given for a histogram that is made from another")
            self._become(axes[0].copy() if isinstance(axes[0], Histogram) else self._of(axes[0]))
            self.name, self._label = name or self.name, label or self._label
            self.metadata = self.metadata if metadata is None else metadata
            return
        if not axes:
            raise ValueError("a histogram needs an axis")
        for axis in axes:
            if not isinstance(axis, Axis):
                raise TypeError(f"{axis!r} is not an axis")
        batch = tuple(batch) if hasattr(batch, "__iter__") else (batch,)
        kept = storage_name(storage)
        mean = kept if kept in MEANS else None
        if mean and batch:
            raise ValueError("a histogram of means has no batch")
        weighting, layout = (WEIGHT_REPRODUCIBLE_SUM, DENSE) if mean else STORAGES[kept]
        self._make(tuple(axis._tuple for axis in axes), (MEANS[mean],) if mean else tuple(map(operator.index, batch)),
                   weighting, layout, taking(axes, mean))
        self._describe([copy.copy(axis) for axis in axes], storage is None, name, label, metadata, mean)

    def _describe(self, axes: Iterable[Axis], may_weigh: bool, name: str, label: str, metadata: Any,
                  mean: str | None = None) -> Self:
        self._axes = AxesTuple(axes)
        names = [axis.name for axis in self._axes if axis.name]
        if len(set(names)) < len(names):
            raise ValueError(f"two axes have the same name: {names}")
        self._grows = any(axis._grows for axis in self._axes)
        self._may_weigh, self._mean = may_weigh, mean
        self.name, self._label, self.metadata = name, label, metadata
        return self

    def _like(self, made: Self, axes: Sequence[Axis]) -> Self:
        """What the library has made from this histogram, with axes and names."""
        made._dress(made._batch(), taking(axes, self._mean))
        return made._describe(axes, self._may_weigh, self.name, self._label, self.metadata, self._mean)

    def _become(self, other: Histogram) -> None:
        self._take(other)
        self._describe(other._axes, other._may_weigh, other.name, other._label, other.metadata, other._mean)

    @classmethod
    def _of(cls, source: Any) -> Self:
        if hasattr(source, "_to_uhi_"):
            source = source._to_uhi_()
        if not hasattr(source, "keys"):
            raise TypeError("a histogram is made of axes, such as Regular(10, 0, 1), or of an object that has _to_uhi_, "
                            f"not of {source!r}")
        from .serialization import from_uhi

        return from_uhi(cls, source)

    # ---- What it is ----

    @property
    def axes(self) -> AxesTuple:
        """The axes."""
        return self._axes

    @property
    def batch(self) -> tuple[int, ...]:
        """The shape of the batch; () for a single histogram."""
        return () if self._mean else self._batch()

    @property
    def storage(self) -> str:
        """What each slot holds; see `Histogram`."""
        return self._mean or STORAGE_NAMES[self._kind()]

    @property
    def kind(self) -> Literal["COUNT", "MEAN"]:
        """UHI's "COUNT": values are counts or sums of weights; or "MEAN"."""
        return "MEAN" if self._mean else "COUNT"

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of bins of each axis, after the shape of the batch."""
        return self.batch + self._axes.size

    @property
    def size(self) -> int:
        """The number of bins of all axes, underflow and overflow included, and of the batch."""
        size = 1
        for n in self.batch + self._axes.extent:
            size *= n
        return size

    @property
    def tally(self) -> Tally:
        """Where the samples of all fills went, those of all batch entries together."""
        found = Tally(*self._tally())
        if not self._mean:
            return found
        rows = MEANS[self._mean]
        return Tally(*(n // rows for n in found[:4]), *(tuple(n // rows for n in of_axes) for of_axes in found[4:]))

    @property
    def plan(self) -> Plan | None:
        """How the last fill counted; None before the first, and after fills too small to be planned."""
        plan = self._plan()
        return plan and Plan(*plan[:2])

    def explain(self) -> str:
        """Why the last fill counted as it did: the strategy, its predicted time and bound, and what it was chosen from.
        """
        plan = self._plan()
        return plan[2] if plan else "No fill was planned: there was none, or too few samples to choose how to count."

    # ---- Filling ----

    def _fill(self, *arrays: _Samples, weight: _Samples = None, mask: _Samples = None,
              where: tuple[_Samples, float, float] | None = None, threads: int | None = None,
              **named: _Samples) -> Self:
        """What fill does with arguments that the library cannot take as they are."""
        values = named.pop("sample", None) if self._mean else None
        if self._mean and values is None:
            raise TypeError(f'storage="{self._mean}" takes sample=, the values whose means are kept')
        if named:
            arrays = tuple(self._in_order(arrays, named))
        if len(arrays) != self.ndim:
            raise TypeError(f"fill takes the samples of {self.ndim} axes, not of {len(arrays)}")
        if any(map(is_dask, (*arrays, weight, mask, values, *(where or ())[:1]))):
            from .dask import fill

            more = {"sample": values} if self._mean else {}
            filled = fill(self.copy().reset(), *arrays, weight=weight, mask=mask, where=where, **more)
            return self.__iadd__(filled.compute())
        if self._grows or self._mean:
            return self._exclusively(self._fill_translated, arrays, weight, mask, where, threads, values)
        return self._fill_translated(arrays, weight, mask, where, threads)

    def _fill_translated(self, arrays: Sequence[_Samples], weight: _Samples, mask: _Samples,
                         where: tuple[_Samples, float, float] | None, threads: int | None,
                         values: _Samples = None) -> Self:
        spans, kind = self._spans(), self._kind()
        samples = None
        if where is not None:
            where, mask = _filtered(where, mask)
        try:
            numbers = []
            for axis, one in zip(self._axes, arrays, strict=True):
                if axis._translated:
                    one, present = axis._numbers(one, axis._grows)
                    mask = _both(mask, present)
                numbers.append(one)
            if self._grows:
                self._reach(numbers, mask, where)
                self._widen(spans)
            if weight is not None and kind == (UNWEIGHTED, DENSE):
                if not self._may_weigh:
                    raise TypeError('a histogram with storage="int64" has no weights: make it with storage="weight"')
                samples = self.tally.samples
                self._weigh()
            if weight is not None and kind[1] == SPARSE:
                raise TypeError("a sparse histogram has no weights")
            if self._mean:
                _means().fill(self, numbers, values, weight, mask, where, threads)
                return self
            return self._fill_numbers(*numbers, weight=weight, mask=mask, where=where, threads=threads)
        except BaseException:
            if samples == self.tally.samples:
                self._regrow(self._tuples(), UNWEIGHTED)
            self._forget(spans)
            raise

    def _spans(self) -> list[tuple[int, int]]:
        """Those of the axes."""
        return [axis._span() for axis in self._axes]

    def _reach(self, numbers: Sequence[Any], mask: _Samples, where: tuple[_Samples, float, float] | None) -> None:
        """Let axes of numbers grow to the samples that will be counted."""
        growing = [i for i, axis in enumerate(self._axes) if axis._grows and not isinstance(axis, Category)]
        if not growing:
            return
        from .lookup import between
        from .sources import mask_of, take
        from .stretching import ends

        kept = None if mask is None else mask_of(mask)
        if where is not None:
            column = take(where[0]).decoded()
            kept = _both(_both(kept, column.present), between(column.values, *where[1:]))
        for i in growing:
            found = ends(numbers[i], kept)
            if found is not None:
                self._axes[i]._reach(*found)

    def _widen(self, spans: list[tuple[int, int]]) -> None:
        """Let the slots be those of the axes, which had these spans."""
        added = [before[0] - now[0] for before, now in zip(spans, self._spans(), strict=True)]
        if not any(added):
            self._regrow(self._tuples(), self._kind()[0])
            return
        maps = [_shifted(_numpy(), span[1], begin, axis._tuple[2]) if begin else None
                for axis, span, begin in zip(self._axes, spans, added, strict=True)]
        self._take(self._regroup(self._tuples(), tuple(range(self.ndim)), tuple(maps), -1))

    def _forget(self, spans: list[tuple[int, int]]) -> None:
        """Shrink axes that have grown to what they were, unless something was counted in their new bins."""
        now = self._spans()
        grown = [i for i in range(self.ndim) if now[i] != spans[i]]
        if grown and self._axis(grown[0])[2] == self._axes[grown[0]]._tuple[2]:
            np = _numpy()
            narrow = self.copy()._axes
            maps: list[NDArray[Any] | None] = [None] * self.ndim
            for i in grown:
                n, begin, size = narrow[i]._tuple[2], spans[i][0] - now[i][0], spans[i][1]
                narrow[i]._shrink_to(spans[i])
                bins = narrow[i]._tuple[2]
                maps[i] = _map_of(np, n, [0, *range(begin + 1, begin + size + 1), n + 1, n + 2],
                                  [0, *range(1, size + 1), bins + 1, bins + 2])
            made = self._regrouped(narrow, range(self.ndim), maps)
            if made.tally.samples < self.tally.samples:
                return
            self._take(made)
        for i in grown:
            self._axes[i]._shrink_to(spans[i])

    def _tuples(self) -> tuple[tuple[Any, ...], ...]:
        return tuple(axis._tuple for axis in self._axes)

    def _weigh(self) -> None:
        """Keep sums of weights from now on; what was counted had a weight of 1."""
        self._regrow(self._tuples(), WEIGHT_FAST)

    def _in_order(self, arrays: Sequence[_Samples], named: Mapping[str, _Samples]) -> list[_Samples]:
        """The samples in the order of the axes."""
        given = dict(enumerate(arrays))
        for name, samples in named.items():
            try:
                position = self._axes._position(name)
            except KeyError:
                meant = {"weights": "; use weight=", "sample": '; storage="mean" has it'}.get(name, "")
                raise TypeError(f"fill has no argument {name!r}, and no axis has this name{meant}") from None
            if position in given:
                raise TypeError(f"the samples of axis {name!r} are given twice")
            given[position] = samples
        missing = [axis.name or i for i, axis in enumerate(self._axes) if i not in given]
        if missing or len(given) > self.ndim:
            raise TypeError(f"the samples of {missing} are missing" if missing else "there are more samples than axes")
        return [given[i] for i in range(self.ndim)]

    # ---- Reading ----

    @_exclusive
    def _slots(self) -> Slots:
        """Copies of all slots."""
        weighting, storage = self._kind()
        if storage == SPARSE:
            raise TypeError("a sparse histogram has too many slots for this: project, slice or rebin it, or use "
                            "occupied()")
        weighted = weighting != UNWEIGHTED
        return Slots(self._read(COUNTS, True), self._read(SUM_W, True) if weighted else None,
                     self._read(SUM_W2, True) if weighting in HAS_SQUARES else None)

    def _shown(self, cells: NDArray[Any]) -> NDArray[Any]:
        """The cells for which the axes have a place."""
        place: list[slice] = [slice(None)] * len(self.batch)
        for axis in self._axes:
            flow = axis.traits
            place.append(slice(0 if flow.underflow else 1, axis.size + 1 + flow.overflow))
        return cells[tuple(place)]

    def _get(self, what: int, flow: bool, out: Any = None) -> Any:
        if out is not None:
            if flow or self._grows:
                raise ValueError("out= takes the bins of axes that do not grow, without flow")
            self._read_into(what, False, out)
            return out
        if not flow and not self._grows:
            return self._read(what, False)
        return self._exclusively(self._get_shown, what, flow)

    def _get_shown(self, what: int, flow: bool) -> NDArray[Any]:
        if flow:
            return self._shown(self._folded()._read(what, True)[..., *[slice(-1)] * self.ndim])
        return self._read(what, False)[..., *(slice(axis.size) for axis in self._axes)]

    def _folded(self) -> Self:
        """With NaN in the overflow, which is added as all sums of histograms are: exactly, where they are exact."""
        if not any(self.tally.nan) and self._kind()[0] == UNWEIGHTED:
            return self
        maps = []
        for axis in self._axes:
            n = axis._tuple[2]
            maps.append(_map_of(_numpy(), n, list(range(n + 3)), [*range(n + 2), n + 1]))
        return self._regrouped(self._axes, range(self.ndim), maps)

    @overload
    def values(self, flow: bool = False, *, out: None = None) -> NDArray[Any]: ...

    @overload
    def values(self, flow: bool = False, *, out: _Array) -> _Array: ...

    def values(self, flow: bool = False, *, out: Any = None) -> Any:
        """The counts, the sums of weights of a weighted histogram, or the means, as an array of int64 or float64. Bins
        without samples have the mean NaN.

        flow: with underflow and overflow at both ends of each axis that has them; NaN is in the overflow. out: an array
        of their shape, for the bins without flow; counts are written as int64, uint64, uint32, float32 or float64, sums
        as float64 or float32. One in the memory of a GPU is written there, after the fills, on the stream on which its
        library works, without waiting.
        """
        if self._mean:
            return self._mean_of("value", flow, out)
        return self._get(COUNTS if self._kind()[0] == UNWEIGHTED else SUM_W, flow, out)

    @overload
    def entries(self, flow: bool = False, *, out: None = None) -> NDArray[np.int64]: ...

    @overload
    def entries(self, flow: bool = False, *, out: _Array) -> _Array: ...

    def entries(self, flow: bool = False, *, out: Any = None) -> Any:
        """How many samples each bin has got, whatever their weights: an array of int64. flow, out: as for values."""
        if self._mean:
            return self._mean_of("entries", flow, out)
        return self._get(COUNTS, flow, out)

    def means(self, flow: bool = False) -> Mean | WeightedMean:
        """What each bin of storage="mean" or "weighted_mean" holds: a `Mean` or a `WeightedMean` of float64 arrays."""
        if not self._mean:
            raise TypeError(f'storage="{self.storage}" has no means: make it with storage="mean"')
        return cast("Mean | WeightedMean", self._exclusively(_means().read, self, flow))

    def _mean_of(self, what: str, flow: bool, out: Any = None) -> NDArray[Any]:
        """A field of the means, or what a function of histo.statistics.means finds; written to out if that is given."""
        means = _means()
        if what == "value":
            found = self._exclusively(means.read, self, flow).value
        else:
            found = self._exclusively(getattr(means, what), self, flow)
        if out is None:
            return cast("NDArray[Any]", found)
        _numpy().copyto(out, found, casting="same_kind")
        return cast("NDArray[Any]", out)

    @_exclusive
    def counts(self, flow: bool = False) -> NDArray[Any]:
        """The counts, or the effective counts of a weighted histogram: the square of the sum of weights over the sum
        of their squares. With sums of weights alone, these sums; those of storage="mean", too."""
        if self._mean:
            return self._mean_of("counts", flow)
        if self._kind()[0] not in HAS_SQUARES:
            return self.values(flow)
        np = _numpy()
        sums, squares = self._get(SUM_W, flow), self._get(SUM_W2, flow)
        return np.divide(sums**2, squares, out=np.zeros_like(sums), where=squares != 0)

    def variances(self, flow: bool = False) -> _Floats | None:
        """The estimated variance of each value: the counts, or the sums of squares of weights; of a mean, the variance
        of its values over their number or the sum of their weights, as in boost-histogram, and NaN for less than two.
        None if the storage has no squares."""
        if self._mean:
            return self._mean_of("variances", flow)
        weighting = self._kind()[0]
        if weighting == UNWEIGHTED:
            return self.values(flow).astype(float)
        return self._get(SUM_W2, flow) if weighting in HAS_SQUARES else None

    @_of_counts
    @_exclusive
    def density(self, flow: bool = False) -> _Floats:
        """The values over the widths of the bins and the sum of all values, so that the integral is 1.

        flow: with underflow and overflow, whose density is 0 because they have no end; they are part of the sum.
        """
        np = _numpy()
        values = self.values(flow).astype(float)
        shape = (1,) * len(self.batch)
        for i, axis in enumerate(self._axes):
            widths = axis.widths if not axis._discrete else np.ones(axis.size)
            if flow:
                widths = np.concatenate([[np.inf] * axis.traits.underflow, widths, [np.inf] * axis.traits.overflow])
            values /= widths.reshape(shape + tuple(-1 if j == i else 1 for j in range(self.ndim)))
        total = self.values(flow).astype(float).sum(axis=tuple(range(len(self.batch), values.ndim)), keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            return values / total

    def occupied(self, flow: bool = False) -> tuple[tuple[NDArray[np.int64], ...], NDArray[np.int64]]:
        """The positions and counts of the slots that are not empty, of sparse and other histograms.

        Returns a tuple of index arrays, one for each dimension of the batch and each axis, and the counts. With flow,
        position 0 on an axis is underflow, followed by the bins, overflow and NaN.
        """
        np = _numpy()
        if self._mean:
            counts = self._read(COUNTS, flow)[0]
            occupied = np.nonzero(counts)
            return occupied, counts[occupied]
        index, counts = self._occupied(flow)
        shape = self.batch + tuple(axis._tuple[2] + (3 if flow else 0) for axis in self._axes)
        places = []
        for n in reversed(shape):
            index, place = np.divmod(index, n)
            places.append(place)
        return tuple(reversed(places)), counts

    @property
    def masked(self) -> int | NDArray[np.int64]:
        """How many samples a mask or range filter left out: a number, or an array for a batch."""
        masked = self._masked()[0] if self._mean else self._masked()
        return int(masked) if masked.ndim == 0 else masked

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("an array of a histogram's values is a copy")
        values = self.values()
        return values if dtype is None else values.astype(dtype)

    @_exclusive
    def sum(self, flow: bool = False) -> int | float | WeightedSum | Mean | WeightedMean | NDArray[Any]:
        """The sum of all values: a number, a `WeightedSum` for storage="weight", or an array for a batch; the `Mean` or
        `WeightedMean` of all values for storage="mean" or "weighted_mean"."""
        if self._mean:
            every = slice(None, None, sum) if flow else slice(0, len, sum)
            return cast("Mean | WeightedMean", self[(every,) * self.ndim])
        if self._kind()[1] == SPARSE:
            tally = self.tally
            return tally.bins + tally.flow if flow else tally.bins
        axes = tuple(range(len(self.batch), len(self.batch) + self.ndim))
        if self._kind()[0] == UNWEIGHTED:
            return _sum_of_counts(self.values(flow), axes)
        if self._kind()[0] in EXACT and min(self._axes.size):
            return self._read_cell([_everything(axis) if flow else Total(0, axis.size, False, False)
                                    for axis in self._axes])
        value = _plain(self.values(flow).sum(axis=axes))
        if self._kind()[0] not in HAS_SQUARES:
            return value
        return WeightedSum(value, _plain(self._get(SUM_W2, flow).sum(axis=axes)))

    def empty(self, flow: bool = False) -> bool:
        """Whether nothing was counted in the bins, or with flow anywhere."""
        tally = self.tally
        return not tally.bins and not (flow and tally.flow)

    # ---- Indexing ----

    @_exclusive
    def __getitem__(self, index: Any) -> Any:
        """UHI indexing: see `histo.indexing`.

        A bin (h[3], h[-1], h[loc(0.5)], h[0.5j], h["a"], h[underflow]) takes its axis away, a slice keeps a range of it
        and counts the rest as flow, its step rebins or sums: h[2:5], h[0.1j:0.5j], h[::rebin(2)], h[::sum],
        h[0:len:sum]. Several axes by a tuple, with ... for those not named, or by a dict: h[{"x": slice(2, 5)}]. A list
        chooses categories, integers, which become categories, or neighbouring bins; what it does not choose is left out.
        Without an axis left, the result is a number, a `WeightedSum` for storage="weight", a `Mean`
        or `WeightedMean` for storage="mean" or "weighted_mean", or an array for a batch. An array of bins for each axis
        gathers the values of these bins; one of bools, for an axis or all of them, those where it is true.
        """
        asked = resolve(index, self._axes)
        if any(hasattr(one, "ndim") for one in asked):
            return self._gather(asked)
        if all(isinstance(one, Pick) for one in asked):
            cell = self._cell(tuple(one.bin for one in asked))
            if cell is not None:
                weighting = self._kind()[0]
                if weighting == UNWEIGHTED:
                    return cell[0]
                return cell[1] if weighting == WEIGHT_FAST_SUM else WeightedSum(*cell[1:])
        h = self._ranged(asked)
        if not any(isinstance(one, (Pick, Total, Choice)) or isinstance(one, Range) and one.groups for one in asked):
            return h.copy() if h is self else h
        axes: list[Axis] = []
        targets: list[int] = []
        maps: list[NDArray[Any]] = []
        for one, axis in zip(asked, h._axes, strict=True):
            new_axis, slots = _mapped(one, axis)
            targets.append(-1 if new_axis is None else len(axes))
            maps.append(slots)
            axes += [] if new_axis is None else [new_axis]
        return h._regrouped(axes, targets, maps) if axes else h._read_cell(asked)

    def _read_cell(self, asked: list[Any]) -> Any:
        """The value of all slots that indices of `resolve` take, which keep no axis."""
        np = _numpy()
        maps = [_mapped(one, axis)[1] for one, axis in zip(asked, self._axes, strict=True)]
        maps[0] = np.where(maps[0] == NOWHERE, maps[0], 1).astype(np.uint32)
        cell = self._regrouped([Integer(0, 1)], [0] + [-1] * (self.ndim - 1), maps)
        if self._mean:
            return _means().cell(cell)
        value = _plain(cell.values()[..., 0])
        return value if cell._kind()[0] not in HAS_SQUARES else WeightedSum(value, _plain(cell.variances()[..., 0]))

    def _ranged(self, asked: list[Any]) -> Self:
        """With the ranges of bins that stay, which the library makes without rounding."""
        h = self
        for i, one in enumerate(asked):
            axis = self._axes[i]
            if isinstance(one, Choice) and not isinstance(axis, (Category, Integer)):
                one = asked[i] = _neighbours(one, axis)
            if not isinstance(one, Range):
                continue
            if axis.traits.circular and (one.end - one.begin, one.factor and axis.size % one.factor) != (axis.size, 0):
                raise IndexError(f"a circular axis is not cut: {axis!r}")
            if isinstance(axis, (Boolean, Category)):
                if one.factor != 1 or one.groups or isinstance(axis, Boolean):
                    raise IndexError(f"the bins of {axis!r} cannot be merged or cut: choose them by a list")
                asked[i] = Choice(list(range(one.begin, one.end)))
                continue
            end = one.end - (one.end - one.begin) % one.factor
            if (one.begin, end) != (0, axis.size):
                h = h._with(h._slice(i, one.begin, end), i)
            if one.factor > 1:
                h = h._with(h._rebin(i, one.factor), i)
        return h

    def _with(self, made: Self, i: int) -> Self:
        """What the library has made with another axis i."""
        axes = [copy.copy(axis) for axis in self._axes]
        axes[i] = axes[i]._like(made._axis(i))
        return self._like(made, axes)

    def _regrouped(self, axes: Sequence[Axis], targets: Iterable[int], maps: Iterable[NDArray[np.uint32] | None],
                   entry: int = -1) -> Self:
        """A histogram of other axes, to whose slots those of this one are added. Axis i becomes axes[targets[i]], or none
        if that is negative; slot s of it goes to slot maps[i][s] or NOWHERE. Without a map, the bins keep their
        numbers; or all slots are summed."""
        made = self._regroup(tuple(axis._tuple for axis in axes), tuple(targets), tuple(maps), entry)
        return self._like(made, axes)

    def _set(self, full: Slots) -> None:
        self._write(*contiguous(full), _numpy().ascontiguousarray(self._masked()))

    def _gather(self, asked: list[Any]) -> NDArray[Any]:
        place: list[Any] = [slice(None)] * len(self.batch)
        for one, axis in zip(asked, self._axes, strict=True):
            if isinstance(one, Pick):
                one = one.bin
            elif one is None:
                one = slice(0, axis.size)
            elif isinstance(one, Range) and one.factor == 1 and not one.groups:
                one = slice(one.begin, one.end)
            elif not hasattr(one, "ndim"):
                raise IndexError("an index with arrays of bins can otherwise have only bins, and slices without a step")
            shift = 1 if axis.traits.underflow else 0
            place.append(slice(one.start + shift, one.stop + shift) if isinstance(one, slice) else one + shift)
        return self.values(flow=True)[tuple(place)]

    def __setitem__(self, index: Any, value: ArrayLike | WeightedSum | Histogram) -> None:
        """Set the values of bins: h[2] = 5, h[1:3] = [4, 5], h[underflow] = 0, h[...] = values.

        Arrays broadcast to the bins that the index names. An array that has one or two more entries along an open slice
        sets the flow, too. Weighted histograms take values, whose absolute is then the variance, or a `WeightedSum` of
        values and variances. Values that are whole numbers become the entries, too; others leave none. Means take a
        `Mean` or `WeightedMean`, or arrays whose last dimension has their fields.
        """
        if self._mean:
            self._exclusively(self._assign_means, index, _means().mean_of(self, value))
            return
        if isinstance(value, Histogram) and value.variances() is None and self._kind()[0] in HAS_SQUARES:
            raise ValueError(f"a histogram of storage {value.storage!r} has no variances, which one of "
                             f"{self.storage!r} needs: set its values()")
        self._exclusively(self._assign, index, *_pair(_numpy(), value))

    def _assign(self, index: Any, values: NDArray[Any], squares: NDArray[Any]) -> None:
        np = _numpy()
        weighting, storage = self._kind()
        if storage == SPARSE:
            raise TypeError("the bins of a sparse histogram cannot be set")
        place = self._targets(resolve(index, self._axes), values, index)
        slot, over = self._slots_at(np, place)
        new = [np.empty(slot.shape, np.int64)]
        if weighting == UNWEIGHTED:
            new[0][...] = _as_counts(np, values)
        else:
            whole = (values >= 0) & (values == np.floor(values)) & (values < 2.0**63)
            new[0][...] = np.where(whole, values, 0).astype(np.int64)
            for numbers in (values, squares)[: 1 + (weighting in HAS_SQUARES)]:
                new.append(np.empty(slot.shape))
                new[-1][...] = numbers
        slots, columns = [slot.ravel()], [[a.ravel()] for a in new]
        for nan in nan_sets(self.ndim):
            # What was NaN there is overflow now.
            both = slot[np.logical_and.reduce([over[axis][0] for axis in nan])]
            slots.append(both + sum(over[axis][1] for axis in nan))
            for column in columns:
                column.append(np.zeros(both.shape, column[0].dtype))
        lanes = [np.concatenate(column) for column in columns]
        self._put(np.concatenate(slots), *lanes, *[None] * (3 - len(lanes)))

    def _assign_means(self, index: Any, mean: Mean | WeightedMean) -> None:
        np = _numpy()
        fields = np.broadcast_arrays(*mean)
        place = self._targets(resolve(index, self._axes), fields[0], index)
        slot, over = self._slots_at(np, place)
        counts, rows = _means().rows_of(self._mean, type(mean)(*(np.broadcast_to(a, slot.shape) for a in fields)))
        slots, of_counts, of_rows = [slot.ravel()], [counts.ravel()], [rows.reshape(len(rows), -1)]
        for nan in nan_sets(self.ndim):
            both = slot[np.logical_and.reduce([over[axis][0] for axis in nan])]
            slots.append(both + sum(over[axis][1] for axis in nan))
            of_counts.append(np.zeros(both.size, np.int64))
            of_rows.append(np.zeros((len(rows), both.size)))
        every = np.concatenate(slots)
        first = np.arange(len(rows))[:, None] * math.prod(axis._tuple[2] + 3 for axis in self._axes)
        self._put((first + every).ravel(), np.tile(np.concatenate(of_counts), len(rows)),
                  np.concatenate(of_rows, axis=1).ravel(), None)

    def _slots_at(self, np: Any, place: tuple[Any, ...]) -> tuple[NDArray[Any], list[tuple[NDArray[Any], int]]]:
        """The numbers of the slots at a place in the array with flow; and for each axis where they are in its overflow,
        and how far from there the slot of NaN is."""
        shape = self.batch + self._axes.extent
        slot: Any = 0
        over: list[tuple[NDArray[Any], int]] = []
        for d, n in enumerate(shape):
            numbers = np.broadcast_to(np.arange(n).reshape([-1 if e == d else 1 for e in range(len(shape))]), shape)
            at = numbers[place]
            if d < len(self.batch):
                slot = slot * n + at
                continue
            axis = self._axes[d - len(self.batch)]
            at = at + (not axis.traits.underflow)
            slot = slot * (axis._tuple[2] + 3) + at
            over = [(where, distance * (axis._tuple[2] + 3)) for where, distance in over]
            over.append((at == axis._tuple[2] + 1, 1))
        return slot, over

    def _targets(self, asked: list[Any], values: NDArray[Any], index: Any) -> tuple[Any, ...]:
        """Where the values go in the array with flow."""
        nbatch = len(self.batch)
        place: list[Any] = [slice(None)] * nbatch
        remaining = [i for i, one in enumerate(asked) if not isinstance(one, Pick)]
        for i, (one, axis) in enumerate(zip(asked, self._axes, strict=True)):
            shift = 1 if axis.traits.underflow else 0
            if isinstance(one, Pick):
                place.append(one.bin + shift)
                continue
            if hasattr(one, "ndim"):
                place.append(one + shift)
                continue
            if isinstance(one, Choice):
                place.append([b + shift for b in one.bins])
                continue
            if isinstance(one, Total) or isinstance(one, Range) and (one.factor != 1 or one.groups):
                raise IndexError("bins are set by slices without a step")
            begin, end = (0, axis.size) if one is None else (one.begin, one.end)
            place.append(self._flow_slice(axis, one, begin, end, shift, values, i, remaining, index))
        return tuple(place)

    def _flow_slice(self, axis: Axis, one: Any, begin: int, end: int, shift: int, values: NDArray[Any], i: int,
                    remaining: list[int], index: Any) -> slice:
        """A slice of bins, with the flow at its open ends if there are values for it."""
        low, high = _open_ends(index, i, self._axes)
        low, high = low and axis.traits.underflow, high and axis.traits.overflow
        position = values.ndim - len(remaining) + remaining.index(i)
        n = values.shape[position] if position >= 0 and values.ndim else 1
        if n not in (1, end - begin) and n == end - begin + low + high:
            return slice(begin + shift - low, end + shift + high)
        return slice(begin + shift, end + shift)

    # ---- Histograms from this one ----

    def project(self, *axes: str | int) -> Self:
        """A histogram of some axes, by name or number and in that order, summed over all slots of the others."""
        positions = [self._axes._position(axis) for axis in axes]
        if not positions:
            raise ValueError("a projection keeps one axis or more: use sum() for none")
        if len(set(positions)) < len(positions):
            raise ValueError("a projection keeps each axis once")
        return self._exclusively(self._projected, positions)

    def _projected(self, positions: list[int]) -> Self:
        targets = [positions.index(i) if i in positions else -1 for i in range(self.ndim)]
        maps = [None if i in positions else _mapped(_everything(axis), axis)[1] for i, axis in enumerate(self._axes)]
        return self._regrouped([copy.copy(self._axes[i]) for i in positions], targets, maps)

    def entry(self, *index: int) -> Self:
        """The histogram of one entry of the batch."""
        if len(index) != len(self.batch):
            raise IndexError(f"{len(index)} indices for a batch of the shape {self.batch}")
        entry = 0
        for i, n in zip(index, self.batch, strict=True):
            i = operator.index(i)
            if not -n <= i < n:
                raise IndexError(f"entry {i} of {n}")
            entry = entry * n + i % n
        return self.copy() if self._mean else self._exclusively(self._entry, entry)

    def _entry(self, entry: int) -> Self:
        axes = [copy.copy(axis) for axis in self._axes]
        return self._regrouped(axes, range(self.ndim), [None] * self.ndim, entry)

    @_exclusive
    def copy(self) -> Self:
        """A histogram with equal contents."""
        return self._like(self._clone(), [copy.copy(axis) for axis in self._axes])

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made = self.copy()
        made.metadata = copy.deepcopy(self.metadata, memo)
        for axis in made._axes:
            axis.metadata = copy.deepcopy(axis.metadata, memo)
        return made

    @_exclusive
    def astype(self, storage: str | object) -> Self:
        """A copy with another storage. Counts become sums of weights of 1; sums of weights become counts only if all
        are whole numbers, else ValueError."""
        np = _numpy()
        kept = storage_name(storage)
        if self._mean or kept in MEANS:
            if kept == self.storage:
                return self.copy()
            raise TypeError("histograms of means do not change their storage")
        weighting, layout = STORAGES[kept]
        if SPARSE in (layout, self._kind()[1]):
            raise TypeError("sparse histograms do not change their storage")
        full = self._slots()
        if weighting == UNWEIGHTED:
            full = Slots(full.counts if full.sum_w is None else _as_counts(np, full.sum_w), None, None)
        else:
            sums = full.counts.astype(float) if full.sum_w is None else full.sum_w
            squares = np.abs(sums) if full.sum_w2 is None else full.sum_w2
            full = Slots(full.counts, sums, squares if weighting in HAS_SQUARES else None)
        return made_of(type(self), self._axes, self.batch, (weighting, layout), full, self._masked(), False, self.name,
                       self._label, self.metadata)

    # ---- Arithmetic ----

    def __iadd__(self, other: Histogram | int) -> Self:
        """Add the counts of a histogram with equal axes and storage. Growing axes need not be equal, if those of numbers
        have grown in the same steps."""
        if isinstance(other, int) and other == 0:
            return self
        if not isinstance(other, Histogram):
            return NotImplemented
        if self._grows or other._grows:
            self._exclusively(self._meet, other.copy())
        else:
            self._meet(other)
        return self

    def _meet(self, other: Histogram) -> None:
        if self._may_weigh and other._kind() == (WEIGHT_FAST, DENSE) and self._kind() == (UNWEIGHTED, DENSE):
            self._weigh()
        if other._may_weigh and self._kind() == (WEIGHT_FAST, DENSE) and other._kind() == (UNWEIGHTED, DENSE):
            other = other.astype("weight")
        if self.storage != other.storage:
            raise ValueError(f"histograms of storage {self.storage!r} and {other.storage!r} are not added: use astype")
        if self.batch != other.batch or len(self._axes) != len(other._axes):
            raise ValueError("histograms that are added have the same batch and number of axes")
        grows = [a._grows and a._meets(b) for a, b in zip(self._axes, other._axes, strict=True)]
        for a, b, one_grows in zip(self._axes, other._axes, grows, strict=True):
            if not one_grows and not a._same_bins(b):
                raise ValueError(f"histograms that are added have equal axes: not {a!r} and {b!r}")
        if not any(grows):
            self._merge(other)
            return
        spans = self._spans()
        try:
            self._grow_and_merge(other, grows, spans)
        except BaseException:
            self._forget(spans)
            raise

    def _grow_and_merge(self, other: Histogram, grows: list[bool], spans: list[tuple[int, int]]) -> None:
        np = _numpy()
        maps: list[NDArray[Any] | None] = [None] * self.ndim
        for i, (a, b) in enumerate(zip(self._axes, other._axes, strict=True)):
            if not grows[i]:
                continue
            if not isinstance(a, Category):
                (begin, size), (first, n) = a._span(), b._span()
                end = max(begin + size, first + n)
                if (begin, end) != (min(begin, first), begin + size):
                    a._shrink_to((min(begin, first), end - min(begin, first)))
                maps[i] = _shifted(np, n, first - a._span()[0], a._tuple[2])
                continue
            for category in b._categories:
                if category not in a._table:
                    a._grow_by(category)
            n, bins = b._tuple[2], a._tuple[2]
            maps[i] = _map_of(np, n, [0, *range(1, b.size + 1), n + 1, n + 2],
                              [0, *(a._table[category] + 1 for category in b._categories), bins + 1, bins + 2])
        self._widen(spans)
        self._merge(other._regrouped(self._axes, range(self.ndim), maps))

    def __add__(self, other: Histogram | int) -> Self:
        result = self.copy()
        return result.__iadd__(other)

    def __radd__(self, other: Histogram | int) -> Self:
        return self + other if isinstance(other, int) and other == 0 else NotImplemented

    def __isub__(self, other: Histogram) -> Self:
        """Subtract the values of a histogram with equal axes and storage. Variances add up. Counts are exactly what they
        were before the other was added, samples left out included; negative ones are a ValueError."""
        if not isinstance(other, Histogram):
            return NotImplemented
        self._exclusively(self._subtract, other.copy())
        return self

    def _subtract(self, other: Histogram) -> None:
        if self._mean or other._mean:
            raise TypeError("means are not subtracted")
        if self._kind() != other._kind() or self.batch != other.batch or len(self._axes) != len(other._axes) or \
                not all(map(Axis._same_bins, self._axes, other._axes)):
            raise ValueError("histograms that are subtracted have equal axes, batch and storage")
        if self._kind()[0] == UNWEIGHTED:
            try:
                self._subtract_counts(other)
            except ValueError as error:
                raise ValueError(f"counts cannot be negative: use astype('weight') for differences ({error})") from None
            return
        mine, theirs = self._slots(), other._slots()
        counts = mine.counts + theirs.counts
        if (counts < 0).any():
            raise ValueError("a sum of counts would be 2^63 or more, which int64 cannot hold")
        self._set(Slots(counts, mine.sum_w - theirs.sum_w,
                        None if mine.sum_w2 is None else mine.sum_w2 + theirs.sum_w2))

    def __sub__(self, other: Histogram) -> Self:
        return self.copy().__isub__(other)

    @_exclusive
    def __imul__(self, factor: float) -> Self:
        """Multiply all values by a number, variances by its square. Counts stay counts if the number is whole and not
        negative, else they become storage="weight". Means are multiplied; the numbers of their values stay."""
        np = _numpy()
        if isinstance(factor, Histogram) or np.ndim(factor):
            return NotImplemented
        if not np.isfinite(factor):
            raise ValueError(f"a histogram is multiplied by a finite number, not by {factor}")
        if self._mean:
            _means().scale(self, lambda a: a * factor)
            return self
        if self._kind()[0] == UNWEIGHTED:
            if not (factor >= 0 and factor == int(factor)):
                self._become(self.astype("weight"))
            elif float(factor) != factor:
                raise ValueError(f"counts are multiplied by whole numbers that a float holds, not by {factor}")
        self._scale(factor)
        return self

    def __mul__(self, factor: float) -> Self:
        return self.copy().__imul__(factor)

    __rmul__ = __mul__

    @_exclusive
    def __itruediv__(self, divisor: float) -> Self:
        """Divide all values by a number, variances by its square. Counts become storage="weight"."""
        np = _numpy()
        if isinstance(divisor, Histogram) or np.ndim(divisor):
            return NotImplemented
        if self._mean:
            _means().scale(self, lambda a: a / divisor)
            return self
        if self._kind()[0] == UNWEIGHTED:
            self._become(self.astype("weight"))
        full = self._slots()
        self._set(Slots(full.counts, full.sum_w / divisor,
                        None if full.sum_w2 is None else full.sum_w2 / divisor**2))
        return self

    def __truediv__(self, divisor: float) -> Self:
        return self.copy().__itruediv__(divisor)

    def __eq__(self, other: object) -> bool:
        """Whether axes, storage, batch, all slots, NaN included, and the samples left out are equal; exact sums are
        compared as they are read. The histograms' own names may differ."""
        if not isinstance(other, Histogram):
            return NotImplemented
        if self.storage != other.storage or self.batch != other.batch or tuple(self._axes) != tuple(other._axes):
            return False
        if not self._grows and self._kind()[0] not in EXACT:
            return self._equal(other)
        np = _numpy()
        sparse = self._kind()[1] == SPARSE
        mine, theirs = ((*(h._occupied(True) if sparse else h._slots()), h._masked()) for h in (self, other))
        return all(a is b or np.array_equal(a, b, equal_nan=True) for a, b in zip(mine, theirs, strict=True))

    __hash__ = None  # type: ignore[assignment]

    # ---- Numbers from a histogram ----

    @_of_counts
    def quantiles(self, q: ArrayLike, method: str | None = None) -> float | _Floats:
        """Quantiles of a histogram with one axis: those of the samples on integer axes, else within a bin's
        width.

        Parameters
        ----------
        q : float or array_like of floats
            In 0 … 1.
        method : str, optional
            One of numpy.quantile's methods, by default "linear". Sums of weights take "inverted_cdf" alone, which is
            their default, as NumPy's weights do.

        Returns
        -------
        float or ndarray of the shape of the batch and then of q
        """
        np = _numpy()
        asked = np.asarray(q, float)
        if self._kind()[0] != UNWEIGHTED:
            from .weighted import quantiles

            values = quantiles(self, asked.ravel(), method)
        else:
            values = self._quantiles(method or "linear", array("d", asked.ravel().tolist()))
        values = values.reshape(self.batch + asked.shape)
        return float(values) if values.ndim == 0 else values

    def _each_entry(self, cls: type[_Of], rows: list[tuple[Any, ...]]) -> _Of:
        if not self.batch:
            return cls(*rows[0])
        np = _numpy()
        return cls(*(np.array(column).reshape(self.batch) for column in zip(*rows, strict=True)))

    @_of_counts
    def summarize(self) -> Summary:
        """Moments, entropy and extremes of a histogram with one axis. Those of sums of weights follow the weights, of
        which none is negative; `count` is the number of samples."""
        if self._kind()[0] == UNWEIGHTED:
            return self._each_entry(Summary, self._summarize())
        from .weighted import summarize

        return self._each_entry(Summary, summarize(self))

    @_of_counts
    def split(self, method: str = "otsu", classes: int = 2) -> NDArray[np.int64]:
        """Split the bins of one axis into classes, and return the last bin of each class but the highest.

        method: "otsu" for any number of classes; "triangle", "li", "yen", "isodata", "minimum", "mean" and
            "max-entropy" for two.

        Raises ValueError for sums of weights, as `threshold`, `compare` and `inform` do.
        """
        self._check_counts("split")
        return self._split(method, classes)

    def _check_counts(self, what: str) -> None:
        if self._kind()[0] != UNWEIGHTED:
            raise ValueError(f"{what} takes counts, and this histogram has sums of weights: convert it by astype('int64'), if "
                             "these are counts")

    @_of_counts
    def threshold(self, method: str = "otsu") -> int | float | NDArray[Any]:
        """The value that splits a histogram with one axis into two classes: samples x are in the upper one if x >
        threshold on an integer axis, and if x >= threshold elsewhere. The methods are those of `split`."""
        self._check_counts("threshold")
        last = self._split(method, 2)[..., 0]
        axis = self._axes[0]
        values = axis.value(last) if axis._discrete else axis.edges[last + 1]
        return values if self.batch else _plain(values)

    @_of_counts
    def compare(self, other: Histogram, metric: str = "correlation") -> float | _Floats:
        """Compare the counts of two histograms with equal axes.

        metric: "correlation", "chi-square", "chi-square-alt", "intersection", "bhattacharyya", "kl-divergence",
            "js-divergence", and with one axis "kolmogorov" and "earth-mover".
        """
        self._check_counts("compare")
        if isinstance(other, Histogram):
            other._check_counts("compare")
        return _plain(self._compare(other, metric))

    @_of_counts
    def inform(self) -> Information:
        """Entropies and mutual information of the two axes of a histogram, in nats."""
        self._check_counts("inform")
        return self._each_entry(Information, self._inform())

    # ---- To and from other forms ----

    @_exclusive
    def _to_uhi_(self) -> dict[str, Any]:
        """This histogram as UHI's dict (schema 1), which boost-histogram, hist and ROOT take."""
        from .serialization import to_uhi

        return to_uhi(self)

    @classmethod
    def _from_uhi_(cls, data: Mapping[str, Any], /) -> Self:
        """A histogram from UHI's dict. Raises ValueError if it is malformed."""
        from .serialization import from_uhi

        return from_uhi(cls, data)

    @overload
    def to_numpy(self, flow: bool = False, *, dd: Literal[False] = False) -> tuple[NDArray[Any], ...]: ...

    @overload
    def to_numpy(self, flow: bool = False, *, dd: Literal[True]) -> tuple[NDArray[Any], list[_Floats]]: ...

    @_exclusive
    def to_numpy(self, flow: bool = False, *, dd: bool = False) -> tuple[Any, ...]:
        """(values, edges, …) as numpy.histogram and histogram2d return, or (values, [edges, …]) with dd=True as
        histogramdd does. With flow, the edges end with infinities."""
        np = _numpy()
        edges = []
        for axis in self._axes:
            ends = axis.edges
            if flow:
                ends = np.concatenate([[-np.inf] * axis.traits.underflow, ends, [np.inf] * axis.traits.overflow])
            edges.append(ends)
        values = self.values(flow)
        return (values, edges) if dd else (values, *edges)

    def to_boost(self) -> boost_histogram.Histogram:
        """A boost_histogram.Histogram. NaN becomes overflow."""
        import boost_histogram

        return boost_histogram.Histogram(boost_histogram.serialization.from_uhi(self._to_uhi_()))

    def to_hist(self) -> hist.Hist:
        """A hist.Hist. NaN becomes overflow."""
        import hist

        return hist.Hist(self.to_boost())

    @_exclusive
    def to_xarray(self, flow: bool = False) -> xarray.DataArray:
        """An xarray.DataArray: a dimension for each axis, whose coordinates are the bins' centers or categories.

        flow: with underflow and overflow, at the coordinates -inf and inf (None for categories).
        """
        from .conversions import to_xarray

        return to_xarray(self, flow)

    @_exclusive
    def save(self, file: str | os.PathLike[str] | IO[bytes], format: Literal["json", "binary"] | None = None) -> None:
        """Save to a path or a binary file.

        format: "json" for UHI's JSON, which the command `histo` and other libraries read, or "binary" for the compact and
            checksummed format of the library and the command, with exact sums. By default, binary if the path ends with
            .histo, else JSON.
        """
        from .serialization import save

        save(self, file, format)

    @classmethod
    def load(cls, file: str | os.PathLike[str] | IO[bytes] | IO[str], name: str | None = None) -> Self:
        """Load what save wrote, or any histogram in UHI's JSON, from a path or a binary file; name selects one of
        several in JSON. Malformed files are a ValueError."""
        from .serialization import load

        return load(cls, file, name)

    @_exclusive
    def __reduce__(self) -> tuple[Any, ...]:
        state = ([copy.copy(axis) for axis in self._axes], self._batch(), self._may_weigh, self.name, self._label,
                 self.metadata, self._mean)
        return _unpickled, (type(self), self._save(BINARY), *state)

    def plot(self, ax: matplotlib.axes.Axes | None = None, **options: Any) -> matplotlib.axes.Axes:
        """Draw one axis as steps, two as a map of colours, on matplotlib's axes (by default the current ones), which
        are returned. Options go to matplotlib's stairs or pcolormesh."""
        from .drawing import plot

        return plot(self.copy() if self._grows else self, ax, options)

    def _repr_html_(self) -> str:
        from .drawing import html

        return html(self.copy() if self._grows else self)

    def __repr__(self) -> str:
        parts = [repr(axis) for axis in self._axes]
        if self.batch:
            parts.append(f"batch={self.batch[0] if len(self.batch) == 1 else self.batch}")
        if not (self._may_weigh and self._kind() == (UNWEIGHTED, DENSE)):
            parts.append(f"storage={self.storage!r}")
        parts += [f"{key}={value!r}" for key, value in (("name", self.name), ("label", self._label)) if value]
        inside = ", ".join(parts) if self.ndim == 1 else "\n  " + ",\n  ".join(parts)
        text = f"{type(self).__name__}({inside})"
        tally = self.tally
        if not tally.samples:
            return text
        text += f"  # {tally.bins:,} in bins"
        if tally.flow:
            text += f", {tally.flow:,} outside"
        if any(tally.nan):
            text += f" ({max(tally.nan):,} NaN)"
        return text + (f", {tally.masked:,} masked" if tally.masked else "")


def _both(mask: _Samples, present: Any) -> _Samples:
    """What a mask keeps of the samples that are present."""
    from .sources import both, mask_of

    if mask is None or present is None:
        return present if mask is None else mask
    return both(mask_of(mask), present)


def _filtered(where: Any, mask: _Samples) -> tuple[Any, _Samples]:
    """where, or None and a mask with what it keeps: limits that are no doubles are compared here."""
    from decimal import Decimal
    from fractions import Fraction

    from . import dates
    from .lookup import between
    from .sources import check_numbers, take

    np = _numpy()
    if not isinstance(where, tuple) or len(where) != 3:
        raise TypeError("where is a tuple (array, lo, hi)")
    array, lo, hi = where
    if all(isinstance(end, float) or isinstance(end, int) and abs(end) < 2**53 for end in (lo, hi)):
        return where, mask
    if any(isinstance(end, str) or end is None for end in (lo, hi)):
        raise TypeError(f"the limits of where are numbers, or dates, not {lo!r} and {hi!r}")
    column = take(array).decoded()
    values = column.values
    if dates.is_date(values.dtype):
        ends = [take([end]).values[0] for end in (lo, hi)]
        inside = dates.between(values, *ends)
    else:
        check_numbers(values.dtype, "the samples of where")
        ends = [end.item() if isinstance(end, np.generic) else end for end in (lo, hi)]
        ends = [Fraction(end) if isinstance(end, Decimal) else end for end in ends]
        for end in ends:
            if not isinstance(end, (int, float, Fraction)):
                dates.check_kinds(values.dtype, np.asarray(end).dtype, "the samples of where", "its limits")
                raise TypeError(f"the limits of where are numbers, or dates, not {lo!r} and {hi!r}")
        inside = between(values, *ends)
    return None, _both(mask, inside if column.present is None else inside & column.present)


def _unpickled(cls: type[Histogram], data: bytes, axes: list[Axis], batch: tuple[int, ...], may_weigh: bool, name: str,
               label: str, metadata: Any, mean: str | None) -> Histogram:
    made = cls._load(data, None)
    made._dress(batch, taking(axes, mean))
    return made._describe(axes, may_weigh, name, label, metadata, mean)


def _sum_of_counts(counts: NDArray[Any], axes: tuple[int, ...]) -> int | NDArray[np.int64]:
    """Their exact sum: a number of Python, or int64 for a batch."""
    high, low = (counts >> 32).sum(axis=axes), (counts & 2**32 - 1).sum(axis=axes)
    if counts.ndim == len(axes):
        return (int(high) << 32) + int(low)
    if (high + (low >> 32) >= 2**31).any():
        raise ValueError("a sum of counts is beyond 2^63 - 1, which int64 cannot hold")
    return (high << 32) + low


def _plain(value: Any) -> Any:
    """A number for an array without dimensions."""
    return value.item() if getattr(value, "ndim", 1) == 0 else value


def _map_of(np: Any, bins: int, slots: Sequence[int], to: Sequence[int] | int) -> NDArray[np.uint32]:
    """The map of an axis of so many bins: where these slots go, and all others nowhere."""
    made = np.full(bins + 3, NOWHERE, np.uint32)
    made[slots] = to
    return made


def _shifted(np: Any, bins: int, begin: int, to: int) -> NDArray[np.uint32]:
    """The map of an axis of so many bins to one of `to` bins, of which its own begin with bin `begin`."""
    return _map_of(np, bins, [0, *range(1, bins + 1), bins + 1, bins + 2],
                   [0, *range(begin + 1, begin + bins + 1), to + 1, to + 2])


def _everything(axis: Axis) -> Total:
    """The sum of all that the axis shows."""
    return Total(0, axis.size, axis.traits.underflow, axis.traits.overflow)


def _mapped(one: Pick | Total | Choice | Range | None, axis: Axis) -> tuple[Axis | None, Any]:
    """The axis that an index of `resolve` makes of an axis, or None if it goes; and the map of its slots."""
    np = _numpy()
    n = axis._tuple[2]
    if isinstance(one, Total):
        bins = range(one.begin + 1, one.end + 1)
        return None, _map_of(np, n, [0] * one.underflow + list(bins) + [n + 1, n + 2] * one.overflow, 0)
    if isinstance(one, Pick):
        slots = [0] if one.bin < 0 else [n + 1, n + 2] if one.bin == axis.size else [one.bin + 1]
        return None, _map_of(np, n, slots, 0)
    if isinstance(one, Choice):
        assert isinstance(axis, (Category, Integer))
        chosen = axis._take(one.bins)
        k = chosen._tuple[2]
        return chosen, _map_of(np, n, [0, *(b + 1 for b in one.bins), n + 1, n + 2],
                               [0 if isinstance(axis, Category) else k + 1, *range(1, chosen.size + 1), k + 1, k + 2])
    if isinstance(one, Range) and one.groups:
        ends = [0, *itertools.accumulate(one.groups)]
        k = len(one.groups)
        to = np.full(n + 3, k + 1, np.uint32)
        to[0], to[-1] = 0, k + 2
        to[1 : ends[-1] + 1] = np.repeat(np.arange(1, k + 1), one.groups)
        return Variable(axis.edges[ends], underflow=axis._underflow, overflow=axis._overflow, name=axis.name,
                        label=axis._label, metadata=axis.metadata), to
    return copy.copy(axis), None


def _neighbours(one: Choice, axis: Axis) -> Range:
    """The range of bins that are chosen by a list."""
    begin = one.bins[0]
    if isinstance(axis, Boolean) or one.bins != list(range(begin, begin + len(one.bins))):
        raise IndexError(f"a list chooses neighbouring bins of {axis!r}, since others would have gaps between them: an "
                         "array of bins gathers their values")
    return Range(begin, begin + len(one.bins), 1, None)


def _pair(np: Any, value: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Values and variances from what is set."""
    if isinstance(value, Histogram):
        variances = value.variances()
        value = value.values() if variances is None else WeightedSum(value.values(), variances)
    if isinstance(value, WeightedSum) or hasattr(value, "variance") and hasattr(value, "value"):
        return np.asarray(value.value), np.asarray(value.variance)
    from .sources import check_numbers, take

    values, present = take(value).decoded()[:2]
    check_numbers(values.dtype, "values")
    if present is not None and not present.all():
        raise ValueError("a value that is set is missing")
    return values, np.abs(values)


def _as_counts(np: Any, values: NDArray[Any]) -> NDArray[np.int64]:
    if values.dtype.kind == "f":
        if not ((values >= 0) & (values == np.floor(values)) & (values < 2.0**63)).all():
            raise ValueError("counts are whole numbers and not negative: use storage='weight' for others")
    elif values.dtype.kind not in "biu":
        raise TypeError(f"counts are numbers, not {values.dtype}")
    elif values.dtype.kind == "i" and (values < 0).any():
        raise ValueError("counts are not negative: use storage='weight' for others")
    return values.astype(np.int64)


def _open_ends(index: Any, i: int, axes: AxesTuple) -> tuple[bool, bool]:
    """Whether the slice of axis i has no begin and no end."""
    one = spread(index, axes)[i]
    return (one.start is None, one.stop is None) if isinstance(one, slice) else (False, False)

