"""What the arguments of NumPy's histogram functions mean: bins, range, density, weights, axis, minlength, threads, device.

histo.functions, histo.devices and histo.dask ask here. For the arguments that most calls have, and that need no message
and no conversion, the extension module decides by itself (python/src/functions/edges.c); python/tests/test_rules.py
compares the two.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _histo, dates, sources
from .sources import EXACT

_range = range  # `range` is an argument of most functions

ESTIMATORS = ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")


# ---- Threads and devices


def threads_of(threads: Any) -> int:
    """The number of threads; 0 for None, the library's choice."""
    if threads is None:
        return 0
    threads = operator.index(threads)
    if threads < 1:
        raise ValueError("threads must be positive")
    return threads


def device_of(device: Any) -> int:
    """The number that histo.h has for a device."""
    if device is None or device == "auto":
        return _histo.DEVICE_AUTO
    if device == "cpu":
        return _histo.DEVICE_CPU
    if device == "cuda:all":
        return _histo.DEVICE_CUDA_ALL
    kind, _, ordinal = str(device).partition(":")
    if kind != "cuda" or not (ordinal or "0").isdecimal():
        raise ValueError(f"device={device!r} is none of 'auto', 'cpu', 'cuda', 'cuda:1', …, 'cuda:all'")
    return _histo.DEVICE_CUDA + int(ordinal or 0)


# ---- Samples, masks and weights


def warn_of_bool(dtype: Any, stacklevel: int) -> None:
    """NumPy's histograms count bool as uint8, with a warning. stacklevel: as of warnings.warn, from the caller on."""
    warnings.warn(
        f"Converting input from {dtype} to {np.uint8} for compatibility.", RuntimeWarning, stacklevel=stacklevel + 1
    )


def countable(dtype: np.dtype) -> bool:
    """Whether the library counts samples of a dtype, or refuses them; object, complex and long double are for NumPy."""
    return dtype.kind not in "Oc" and (dtype.kind != "f" or dtype.itemsize <= 8)


def check_weights(shape_of_weights: Sequence[int], shape: Sequence[int]) -> None:
    """Raise ValueError unless there is a weight for each sample."""
    if tuple(shape_of_weights) != tuple(shape):
        raise ValueError("weights should have the same shape as a.")


def check_flow(density: Any, flow: Any) -> None:
    """Raise ValueError for a density with flow."""
    if density and flow:
        raise ValueError("a density has no flow: density= and flow= cannot both be given")


def axes_of(axis: Any, ndim: int) -> tuple[list[int], list[int]]:
    """The dimensions that stay, and those that are counted: axis=."""
    axes = [operator.index(d) for d in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    for d in axes:
        if not -ndim <= d < ndim:
            raise np.exceptions.AxisError(d, ndim)
    axes = [d % ndim for d in axes]
    if len(set(axes)) < len(axes):
        raise ValueError("repeated axis")
    return [d for d in _range(ndim) if d not in axes], axes


# ---- Edges


def extremes_of(a: Any, mask: Any, threads: int) -> tuple[Any, Any] | None:
    """The smallest and the largest sample, as numbers of the samples' dtype; integers that doubles cannot hold are
    rounded outwards. None if there is no sample."""
    if not isinstance(a, np.ndarray):
        return a.extremes(mask)
    samples, infinite, low, high = _histo.extremes(a, mask, threads)
    if infinite:
        a = a if mask is None else a[mask.astype(bool)]
        return a.min(), a.max()
    return ends_of(a.dtype, low, high) if samples else None


def ends_of(dtype: np.dtype, low: Any, high: Any) -> tuple[Any, Any]:
    """Python's numbers as those of a dtype, or as doubles."""
    if dtype.kind == "f":
        return dtype.type(low), dtype.type(high)
    return (
        dtype.type(low) if abs(low) <= EXACT else _double_below(low),
        dtype.type(high) if abs(high) <= EXACT else -_double_below(-high),
    )


def _double_below(integer: int) -> float:
    """The largest double that is not above an integer."""
    x = float(integer)
    return x if x <= integer else float(np.nextafter(x, -np.inf))


def ends_of_range(range: Any) -> tuple[Any, Any]:
    """The two ends of a range."""
    try:
        first, last = range
    except (TypeError, ValueError) as error:
        raise type(error)(f"range is (lo, hi), not {range!r}") from None
    return first, last


def outer_edges(a: Any, range: Any, mask: Any, threads: int, common: Any = None) -> tuple[Any, Any]:
    """The ends of the bins; those of the samples are taken in the dtype `common`."""
    if range is not None:
        first, last = ends_of_range(range)
        for end in (first, last):
            if isinstance(end, (str, bytes)) or end is None:
                raise TypeError(f"the ends of range are numbers, not {end!r}")
            dates.check_kinds(a.dtype, getattr(end, "dtype", np.dtype(float)), "samples", "the ends of range")
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"supplied range of [{first}, {last}] is not finite")
    else:
        first, last = extremes_of(a, mask, threads) or (0, 1)
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
        if common is not None and common != a.dtype and isinstance(first, np.generic):
            first, last = common.type(first), common.type(last)
    if first == last:
        first = first - 0.5
        last = last + 0.5
    return first, last


def _bins_by_rule(a: Any, rule: str, first: Any, last: Any, mask: Any, threads: int) -> int:
    first, last = float(first), float(last)
    bins = _histo.bins_by_rule(a if isinstance(a, np.ndarray) else a.array, rule, first, last, mask, threads)
    if rule == "stone" and bins >= max(100, int(np.sqrt(a.size))):
        warnings.warn("The number of bins estimated may be suboptimal.", RuntimeWarning, stacklevel=5)
    return bins


def check_bins(n: int) -> None:
    """Raise MemoryError for more bins than an axis may have."""
    if n > _histo.MAX_BINS:
        raise MemoryError(f"{n} bins are more than {_histo.MAX_BINS}")


def _edges_given(bins: Any, dtype: np.dtype, name: str, increase: str) -> np.ndarray:
    column = sources.take(bins).decoded()
    edges = column.values if column.objects is None or dates.is_date(column.values.dtype) else column.objects
    if column.present is not None and not column.present.all():
        raise ValueError(f"`{name}` has edges that are missing")
    if edges.dtype.kind in "US" or edges.dtype.kind == "O" and edges.size and isinstance(edges.flat[0], str):
        raise TypeError(f"`{name}` has strings, not edges")
    if edges.dtype.kind == "f" and np.isnan(edges).any() or dates.is_date(edges.dtype) and np.isnat(edges).any():
        raise ValueError(f"`{name}` must {increase}, when an array: an edge is {'NaN' if edges.dtype.kind == 'f' else 'NaT'}")
    dates.check_kinds(dtype, edges.dtype, "samples", "edges")
    if np.any(edges[:-1] > edges[1:]):
        raise ValueError(f"`{name}` must {increase}, when an array")
    return edges


def edges_of(a: Any, bins: Any, range: Any, weights: Any, mask: Any, threads: int) -> np.ndarray:
    """Edges as numpy.histogram_bin_edges finds them.

    a: an array of NumPy, or histo.devices.Samples. A rule warns in the name of the caller's caller's caller.
    """
    if isinstance(bins, str):
        if bins not in ESTIMATORS:
            raise ValueError(f"{bins!r} is not a valid estimator for `bins`")
        if weights is not None:
            raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
        if dates.is_date(a.dtype):
            return dates.equal_edges(a, bins, range, mask, threads)
        first, last = outer_edges(a, range, mask, threads)
        n = _bins_by_rule(a, bins, first, last, mask, threads)
    elif np.ndim(bins) == 0:
        try:
            n = operator.index(bins)
        except TypeError as e:
            raise TypeError("`bins` must be an integer, a string, or an array") from e
        if n < 1:
            raise ValueError("`bins` must be positive, when an integer")
        check_bins(n)
        if dates.is_date(a.dtype):
            return dates.equal_edges(a, n, range, mask, threads)
        first, last = outer_edges(a, range, mask, threads)
    elif np.ndim(bins) == 1:
        return _edges_given(bins, a.dtype, "bins", "increase monotonically")
    else:
        raise ValueError("`bins` must be 1d, when an array")
    dtype = np.result_type(first, last, a.dtype)
    if np.issubdtype(dtype, np.integer):
        dtype = np.result_type(dtype, float)
    edges = np.linspace(first, last, n + 1, endpoint=True, dtype=dtype)
    if np.any(edges[:-1] >= edges[1:]):
        raise ValueError(f"Too many bins for data range. Cannot create {n} finite-sized bins.")
    return edges


def edges_of_dimension(i: int, a: Any, common: Any, bins: Any, range: Any, mask: Any,
                       threads: int) -> np.ndarray:
    """The edges of one dimension as numpy.histogramdd has them. `common` is the dtype of all dimensions."""
    if np.ndim(bins) == 0:
        if bins < 1:
            raise ValueError(f"`bins[{i}]` must be positive, when an integer")
        ends = None if dates.is_date(a.dtype) else outer_edges(a, range, mask, threads, common)
        try:
            n = operator.index(bins)
        except TypeError as e:
            raise TypeError(f"`bins[{i}]` must be an integer, when a scalar") from e
        check_bins(n)
        if ends is None:
            return dates.equal_edges(a, n, range, mask, threads)
        first, last = ends
        return np.linspace(first, last, n + 1)
    if np.ndim(bins) == 1:
        return _edges_given(bins, a.dtype, f"bins[{i}]", "be monotonically increasing")
    raise ValueError(f"`bins[{i}]` must be a scalar or 1d array")


def of_dimensions(dimensions: int, bins: Any, range: Any) -> tuple[Any, Any]:
    """The bins and the range, or None, of each dimension."""
    try:
        if len(bins) != dimensions:
            raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    except TypeError:
        bins = dimensions * [bins]
    if range is None:
        range = (None,) * dimensions
    elif len(range) != dimensions:
        raise ValueError("range argument must have one entry per dimension")
    return bins, range


def bins_of_two(bins: Any) -> Any:
    """The bins of numpy.histogram2d as numpy.histogramdd takes them: edges are those of both axes."""
    try:
        n = len(bins)
    except TypeError:
        n = 1
    return bins if n in {1, 2} else [bins, bins]


# ---- Results


def widths_of(edges: Any) -> Any:
    """The widths of bins as floats, in units of the edges if these are dates: in NumPy's small types they would overflow.
    """
    if edges.dtype.kind == "f":
        return np.diff(edges.astype(np.result_type(edges.dtype, np.float64)))
    if edges.dtype.kind in "biu":
        edges = edges.astype(np.uint64 if edges.dtype.kind == "u" else np.int64).view(np.uint64)
    return np.diff(edges).astype(float)


def densities(counts: Any, edges: Sequence[Any], beside: Callable[[Any], Any] = lambda widths: widths) -> Any:
    """Counts over the widths of their bins and, in each batch entry, over their sum.

    counts: an array of NumPy, Dask or a library of histo.devices, for which `beside` puts the widths beside it.
    """
    dims = tuple(_range(counts.ndim - len(edges), counts.ndim))
    density = counts = counts.astype(float) if getattr(counts.dtype, "kind", None) in ("i", "u") else counts
    for d, e in zip(dims, edges, strict=True):
        widths = beside(widths_of(e))
        density = density / widths.reshape([-1 if other == d else 1 for other in dims])
    return density / counts.sum(axis=dims, keepdims=True)


# ---- numpy.bincount


def minlength_of(minlength: Any) -> int:
    """The least length of the result."""
    if minlength is None:
        raise TypeError("use 0 instead of None for minlength")
    minlength = operator.index(minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    return minlength


def length_of(extremes: tuple[Any, Any] | None, minlength: int) -> int:
    """The length of the result for numbers with these extremes; None: there are none."""
    low, high = (0, -1) if extremes is None else extremes
    if low < 0:
        raise ValueError("'list' argument must have no negative elements")
    length = max(int(high) + 1, minlength)
    check_bins(length)
    return length


def check_numbers(dtype: Any) -> None:
    """Raise TypeError unless samples of a dtype are integers."""
    if dtype.kind not in "biu":
        raise TypeError(f"Cannot cast array data from {dtype!r} to {np.dtype(np.intp)!r} according to the rule 'safe'")


def check_weights_of_numbers(shape_of_weights: Sequence[int], shape: Sequence[int]) -> None:
    """Raise ValueError unless there is a weight for each number."""
    if tuple(shape_of_weights) != tuple(shape):
        raise ValueError("The weights and list don't have the same length.")


def check_dimension(ndim: int) -> None:
    """Raise ValueError unless numbers have one dimension."""
    if ndim != 1:
        raise ValueError(f"object {'too deep' if ndim > 1 else 'of too small depth'} for desired array")
