"""NumPy's histogram functions, whose counting libhisto does."""

import contextlib
import functools
import math
import operator
import warnings

import numpy as np

from . import _histo
from .sources import is_dask

__all__ = ["bincount", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]

_range = range  # `range` is an argument of most functions

# For what the library does not count. Bound here, since users may put our functions in place of NumPy's.
_NUMPY = {name: getattr(np, name) for name in __all__}

_RULES = ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")

_EXACT = 2**53  # integers up to here are doubles
_MAX_BINS = 2**30


def _elsewhere(name, operands):
    """Who counts if not the library: histo.dask, or NumPy, which asks the operands; else None."""
    operands = list(operands)
    if any(map(is_dask, operands)):
        from . import dask

        return getattr(dask, name, _NUMPY[name])
    return _NUMPY[name] if _overridden(operands) else None


def _overridden(operands):
    """Whether one of the operands has an `__array_function__` of its own."""
    for operand in operands:
        kind = type(operand)
        if kind is np.ndarray or kind is int or kind is float or operand is None:
            continue
        function = getattr(kind, "__array_function__", None)
        if function is not None and function is not np.ndarray.__array_function__:
            return True
    return False


def _dispatching(operands):
    """Leave calls to histo.dask if one of the operands, which `operands` finds among the arguments, is Dask's, and to
    NumPy's dispatch if one has an `__array_function__` of its own."""

    def decorate(implementation):
        @functools.wraps(implementation)
        def function(*args, **kwargs):
            try:
                other = _elsewhere(implementation.__name__, operands(*args, **kwargs))
            except TypeError:  # arguments that the implementation will refuse
                other = None
            return (other or implementation)(*args, **kwargs)

        return function

    return decorate


def _operands(a, bins=None, range=None, density=None, weights=None, **rest):
    return a, bins, weights


def _operands_of_edges(a, bins=None, range=None, weights=None, **rest):
    return a, bins, weights


def _operands_of_dd(sample, bins=None, range=None, density=None, weights=None, **rest):
    if hasattr(sample, "shape"):
        yield sample
    else:
        yield from sample
    with contextlib.suppress(TypeError):
        yield from bins
    yield weights


def _operands_of_2d(x, y, bins=None, range=None, density=None, weights=None, **rest):
    yield x
    yield y
    try:
        n = len(bins)
    except TypeError:
        n = 1
    if n == 2:
        yield from bins
    else:
        yield bins
    yield weights


def _operands_of_bincount(x, /, weights=None, minlength=None, **rest):
    return x, weights


def _array(a):
    return np.frombuffer(a, np.uint8) if isinstance(a, bytes) else np.asarray(a)


def _subtractable(a):
    """Samples as NumPy's histograms count them: bool as uint8, with a warning."""
    if a.dtype == bool:
        warnings.warn(
            f"Converting input from {a.dtype} to {np.uint8} for compatibility.",
            RuntimeWarning,
            stacklevel=4,
        )
        a = a.astype(np.uint8)
    return a


def _countable(dtype):
    """Whether the library counts samples of a dtype, or refuses them; object, complex and long double are for NumPy."""
    return dtype.kind not in "Oc" and (dtype.kind != "f" or dtype.itemsize <= 8)


def _mask_for(mask, shape):
    if mask is None:
        return None
    mask = np.asarray(mask)
    if mask.shape != shape:
        try:
            mask = np.broadcast_to(mask, shape)
        except ValueError:
            raise ValueError(f"a mask of shape {mask.shape} does not broadcast to samples of {shape}") from None
    return mask


def _device(device):
    """The number that histo.h has for a device."""
    if device is None or device == "auto":
        return 0
    if device == "cpu":
        return 1
    if device == "cuda:all":
        return 65536
    kind, _, ordinal = str(device).partition(":")
    if kind != "cuda" or not (ordinal or "0").isdecimal():
        raise ValueError(f"device={device!r} is none of 'auto', 'cpu', 'cuda', 'cuda:1', …, 'cuda:all'")
    return 2 + int(ordinal or 0)


def _threads(threads):
    if threads is None:
        return 0
    threads = operator.index(threads)
    if threads < 1:
        raise ValueError("threads must be positive")
    return threads


# ---- Edges


def _extremes(a, mask, threads):
    """The smallest and the largest sample, as numbers of the samples' dtype; integers that are no doubles are rounded
    outwards to doubles. None if there is no sample."""
    if not isinstance(a, np.ndarray):
        return a.extremes(mask)
    if a.dtype.kind in "mM":
        a = a if mask is None else a[mask.astype(bool)]
        return (a.min(), a.max()) if a.size else None
    found, infinite, low, high = _histo.extremes(a, mask, threads)
    if infinite:
        a = a if mask is None else a[mask.astype(bool)]
        return a.min(), a.max()
    if not found:
        return None
    return _ends_of(a.dtype, low, high)


def _ends_of(dtype, low, high):
    """Python's numbers as those of a dtype, or as doubles."""
    if dtype.kind == "f":
        return dtype.type(low), dtype.type(high)
    return (
        dtype.type(low) if abs(low) <= _EXACT else _double_below(low),
        dtype.type(high) if abs(high) <= _EXACT else -_double_below(-high),
    )


def _double_below(integer):
    """The largest double that is not above an integer."""
    x = float(integer)
    return x if x <= integer else float(np.nextafter(x, -np.inf))


def _outer_edges(a, range, mask, threads, common=None):
    """The ends of the bins; those of the samples are taken in the dtype `common`."""
    if range is not None:
        first, last = range
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"supplied range of [{first}, {last}] is not finite")
    else:
        first, last = _extremes(a, mask, threads) or (0, 1)
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
        if common is not None and common != a.dtype and isinstance(first, np.generic):
            first, last = common.type(first), common.type(last)
    if first == last:
        first = first - 0.5
        last = last + 0.5
    return first, last


def _bins_by_rule(a, rule, first, last, mask, threads):
    first, last = float(first), float(last)
    bins = _histo.bins_by_rule(a if isinstance(a, np.ndarray) else a.array, rule, first, last, mask, threads)
    if rule == "stone" and bins >= max(100, int(np.sqrt(a.size))):
        warnings.warn("The number of bins estimated may be suboptimal.", RuntimeWarning, stacklevel=5)
    return bins


def _check_bins(n):
    if n > _MAX_BINS:
        raise MemoryError(f"{n} bins are more than {_MAX_BINS}")


def _regular(edges):
    """The axis of edges that numpy.linspace has made: equal steps if the library computes them alike, and every bin has a
    width."""
    if edges.dtype != np.float64 or np.any(edges[:-1] >= edges[1:]):
        return edges
    axis = (len(edges) - 1, float(edges[0]), float(edges[-1]))
    step = (axis[2] - axis[1]) / axis[0]
    return axis if 0 < step < np.inf else edges


def _axis_of(a, bins, range, weights, mask, threads):
    """Edges as numpy.histogram_bin_edges finds them, and an axis for the library."""
    if isinstance(bins, str):
        if bins not in _RULES:
            raise ValueError(f"{bins!r} is not a valid estimator for `bins`")
        if weights is not None:
            raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
        first, last = _outer_edges(a, range, mask, threads)
        n = _bins_by_rule(a, bins, first, last, mask, threads)
    elif np.ndim(bins) == 0:
        try:
            n = operator.index(bins)
        except TypeError as e:
            raise TypeError("`bins` must be an integer, a string, or an array") from e
        if n < 1:
            raise ValueError("`bins` must be positive, when an integer")
        _check_bins(n)
        first, last = _outer_edges(a, range, mask, threads)
    elif np.ndim(bins) == 1:
        edges = np.asarray(bins)
        if np.any(edges[:-1] > edges[1:]):
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges, edges
    else:
        raise ValueError("`bins` must be 1d, when an array")
    dtype = np.result_type(first, last, a.dtype)
    if np.issubdtype(dtype, np.integer):
        dtype = np.result_type(dtype, float)
    edges = np.linspace(first, last, n + 1, endpoint=True, dtype=dtype)
    if np.any(edges[:-1] >= edges[1:]):
        raise ValueError(f"Too many bins for data range. Cannot create {n} finite-sized bins.")
    return edges, _regular(edges)


# ---- Counting


def _in_one_unit(edges, a):
    """Edges and samples that are dates or time spans, in one unit, which makes them whole numbers."""
    unit = np.result_type(edges, a)
    return edges.astype(unit, copy=False).view(np.int64), a.astype(unit, copy=False).view(np.int64)


def _count(arrays, axes, weights, mask, batch, flow, threads, device):
    """Counts or sums of weights; axes of the library or arrays of edges."""
    axes, arrays = list(axes), list(arrays)
    for i, axis in enumerate(axes):
        if not isinstance(axis, tuple) and axis.dtype.kind in "mM":
            axes[i], arrays[i] = _in_one_unit(axis, arrays[i])
    return sums(tuple(arrays), tuple(axes), weights, mask, batch, flow, threads, device)


def sums(arrays, axes, weights=None, mask=None, batch=0, flow=False, threads=0, device=0):
    """Counts, or sums of weights in float64, complex128, int64 or uint64."""
    if weights is None:
        return _histo.count(arrays, axes, None, mask, batch, flow, threads, device)
    if weights.dtype.kind == "c":
        real, imaginary = _sums_of_parts(arrays, axes, weights, mask, batch, flow, threads, device)
        result = np.empty(real.shape, complex)
        result.real, result.imag = real, imaginary
        return result
    if weights.dtype.kind in "biu":
        return _integer_sums(arrays, axes, weights, mask, batch, flow, threads, device)
    return _histo.count(arrays, axes, weights, mask, batch, flow, threads, device)


def _sums_of_parts(arrays, axes, weights, mask, batch, flow, threads, device):
    """Sums of the real and of the imaginary parts: many by one fill of a batch of two, which finds bins once."""
    if weights.size < 1 << 13 or weights.ndim == _MAX_DIMS:
        return [_histo.count(arrays, axes, w, mask, batch, flow, threads, device) for w in (weights.real, weights.imag)]
    parts = np.moveaxis(weights[..., np.newaxis].view(weights.real.dtype), -1, 0)
    arrays = tuple(np.broadcast_to(a, parts.shape) for a in arrays)
    mask = None if mask is None else np.broadcast_to(mask, parts.shape)
    return _histo.count(arrays, axes, parts, mask, batch + 1, flow, threads, device)


def _integer_sums(arrays, axes, weights, mask, batch, flow, threads, device):
    """Sums of integers are exact, modulo 2^64: as doubles if they are below 2^53; else each of some bits at a time is."""
    kind = np.uint64 if weights.dtype.kind == "u" else np.int64
    widest = 2 ** (8 * weights.dtype.itemsize)
    if weights.size and widest * weights.size > _EXACT:
        low, high = int(weights.min()), int(weights.max())
        widest = max(-low, high)
    if widest * weights.size <= _EXACT:
        return _histo.count(arrays, axes, weights, mask, batch, flow, threads, device).astype(kind)
    weights = weights.astype(kind, copy=False)[..., np.newaxis].view(np.uint64)[..., 0]
    bits = min(32, (_EXACT // weights.size).bit_length() - 1)
    total = np.uint64(0)
    for first in range(0, 64, bits):
        part = ((weights >> np.uint64(first)) & np.uint64(2**bits - 1)).astype(np.uint32)
        sums = _histo.count(arrays, axes, part, mask, batch, flow, threads, device).astype(np.uint64)
        total = total + (sums << np.uint64(first))
    return total.view(kind)


def dtype_of_sums(weights):
    """The dtype of sums: as NumPy's, that of the weights; integers are summed in 64 bits."""
    if weights is None:
        return np.dtype(np.intp)
    if weights.dtype.kind in "biu":
        return np.dtype(np.uint64 if weights.dtype.kind == "u" else np.int64)
    return weights.dtype


_MAX_DIMS = 8  # of views


def _axes_of(axis, ndim):
    """Dimensions from 0 on, each once."""
    axes = [operator.index(d) for d in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    for d in axes:
        if not -ndim <= d < ndim:
            raise np.exceptions.AxisError(d, ndim)
    axes = [d % ndim for d in axes]
    if len(set(axes)) < len(axes):
        raise ValueError("repeated axis")
    return axes


def _batch_first(axis, *arrays):
    """The shape of the dimensions that are not counted, how many dimensions they have in the arrays that follow, and
    the arrays with the dimensions that are counted, `axis`, moved to their end."""
    shape = arrays[0].shape
    if axis is None:
        return (), 0, *arrays
    axes = _axes_of(axis, len(shape))
    kept = [d for d in _range(len(shape)) if d not in axes]
    batch = tuple(shape[d] for d in kept)
    arrays = [a if a is None else a.transpose(kept + list(axes)) for a in arrays]
    if len(shape) <= _MAX_DIMS:
        return batch, len(batch), *arrays
    merged = (math.prod(batch), math.prod(shape[d] for d in axes))
    return batch, 1, *(a if a is None else a.reshape(merged) for a in arrays)


def _deliver(n, dtype, out):
    if dtype is not None and n.dtype != dtype:
        n = n.astype(dtype)
    if out is None:
        return n
    if out.shape != n.shape:
        raise ValueError(f"out has the shape {out.shape}; the result has {n.shape}")
    np.copyto(out, n, casting="same_kind")
    return out


def densities(counts, edges):
    """Counts over the widths of their bins and, in each batch entry, over their sum: arrays of NumPy or Dask."""
    dims = tuple(_range(counts.ndim - len(edges), counts.ndim))
    density = counts
    for d, e in zip(dims, edges):
        widths = np.diff(e).astype(float)
        density = density / widths.reshape([-1 if other == d else 1 for other in dims])
    return density / counts.sum(axis=dims, keepdims=True)


def _by_numpy(function, a, mask, ours, **arguments):
    """What the library does not count."""
    for name, value in ours.items():
        if value is not None and value is not False:
            raise TypeError(f"{name}= cannot be given for samples or weights of dtype object or long double")
    if mask is not None:
        keep = mask.astype(bool)
        a = a[keep]
        if arguments.get("weights") is not None:
            arguments["weights"] = arguments["weights"][keep]
    return _NUMPY[function](a, **arguments)


def _weights_for(a, weights):
    if weights is None:
        return None
    weights = np.asarray(weights)
    if weights.shape != a.shape:
        raise ValueError("weights should have the same shape as a.")
    return weights


def _sums_are_ours(weights):
    return weights is None or weights.dtype.kind == "c" and weights.dtype.itemsize <= 16 or (
        weights.dtype.kind in "biuf" and _countable(weights.dtype)
    )


@_dispatching(_operands)
def histogram(
    a, bins=10, range=None, density=None, weights=None, *, axis=None, mask=None, out=None, threads=None, flow=False,
    device=None, dtype=None,
):
    a = _subtractable(_array(a))
    weights = _weights_for(a, weights)
    mask = _mask_for(mask, a.shape)
    threads = _threads(threads)
    if not _countable(a.dtype) or not _sums_are_ours(weights):
        ours = {"axis": axis, "out": out, "flow": flow, "device": device, "dtype": dtype}
        return _by_numpy("histogram", a, mask, ours, bins=bins, range=range, density=density, weights=weights)
    if density and flow:
        raise ValueError("a density has no flow: density= and flow= cannot both be given")
    edges, counted = _axis_of(a, bins, range, weights, mask, threads)
    if not _countable(edges.dtype):
        ours = {"axis": axis, "out": out, "flow": flow, "device": device, "dtype": dtype}
        return _by_numpy("histogram", a, mask, ours, bins=bins, range=range, density=density, weights=weights)
    if len(edges) < 2:
        return np.zeros(0, dtype_of_sums(weights)), edges
    batch, batch_ndim, a, weights, mask = _batch_first(axis, a, weights, mask)
    if 0 in batch:
        empty = np.zeros(batch + (len(edges) - 1 + 3 * bool(flow),))
        return _deliver(empty, dtype or dtype_of_sums(weights), out), edges
    n = _count((a,), (counted,), weights, mask, batch_ndim, bool(flow), threads, _device(device))
    n = n.reshape(batch + n.shape[-1:])
    if density:
        return _deliver(densities(n, [edges]), dtype, out), edges
    return _deliver(n, dtype or dtype_of_sums(weights), out), edges


@_dispatching(_operands_of_edges)
def histogram_bin_edges(a, bins=10, range=None, weights=None, *, mask=None, threads=None, device=None):
    a = _subtractable(_array(a))
    weights = _weights_for(a, weights)
    mask = _mask_for(mask, a.shape)
    if not _countable(a.dtype):
        return _by_numpy("histogram_bin_edges", a, mask, {}, bins=bins, range=range, weights=weights)
    return _axis_of(a, bins, range, weights, mask, _threads(threads))[0]


def _edges_of_dimension(i, a, common, bins, range, mask, threads):
    """The edges of one dimension as numpy.histogramdd has them. `common` is the dtype of all dimensions."""
    if np.ndim(bins) == 0:
        if bins < 1:
            raise ValueError(f"`bins[{i}]` must be positive, when an integer")
        first, last = _outer_edges(a, range, mask, threads, common)
        try:
            n = operator.index(bins)
        except TypeError as e:
            raise TypeError(f"`bins[{i}]` must be an integer, when a scalar") from e
        _check_bins(n)
        edges = np.linspace(first, last, n + 1)
        return edges, _regular(edges)
    if np.ndim(bins) == 1:
        edges = np.asarray(bins)
        if np.any(edges[:-1] > edges[1:]):
            raise ValueError(f"`bins[{i}]` must be monotonically increasing, when an array")
        return edges, edges
    raise ValueError(f"`bins[{i}]` must be a scalar or 1d array")


def _columns(sample):
    """The coordinates of the samples on each axis, and the dtype in which NumPy would put them into one array."""
    shape = getattr(sample, "shape", None)
    if shape is not None and len(shape) == 2:
        sample = np.asarray(sample)
        return [sample[:, d] for d in _range(shape[1])], sample.dtype
    if isinstance(sample, (list, tuple)) and len(sample):
        columns = [np.asarray(x) for x in sample]
        if all(c.ndim == 1 and c.shape == columns[0].shape for c in columns):
            return columns, np.result_type(*columns)
    sample = np.atleast_2d(sample).T
    if sample.ndim != 2:
        raise ValueError(f"too many values to unpack (expected 2, got {sample.ndim})")
    return [sample[:, d] for d in _range(sample.shape[1])], sample.dtype


def _of_dimensions(dimensions, bins, range):
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


@_dispatching(_operands_of_dd)
def histogramdd(
    sample, bins=10, range=None, density=None, weights=None, *, mask=None, out=None, threads=None, flow=False,
    device=None, dtype=None,
):
    ours = {"out": out, "flow": flow, "device": device, "dtype": dtype}
    columns, common = _columns(sample)
    threads = _threads(threads)
    if weights is not None:
        weights = np.asarray(weights)
    dimensions = len(columns)
    bins, range = _of_dimensions(dimensions, bins, range)
    shape = columns[0].shape if columns else (0,)
    mask = _mask_for(mask, shape)
    if not _countable(common) or not dimensions or not _dd_weights_are_ours(weights, shape):
        a = np.asarray(sample) if hasattr(sample, "shape") else np.atleast_2d(sample).T
        return _by_numpy("histogramdd", a, mask, ours, bins=bins, range=range, density=density, weights=weights)
    if density and flow:
        raise ValueError("a density has no flow: density= and flow= cannot both be given")
    made = [
        _edges_of_dimension(i, columns[i], common, bins[i], range[i], mask, threads) for i in _range(dimensions)
    ]
    edges = [e for e, _ in made]
    columns = [c.view(np.uint8) if c.dtype == bool else c for c in columns]
    if any(len(e) < 2 for e in edges):
        n = np.zeros([max(len(e) - 1, 0) for e in edges])
    else:
        n = _count(columns, [a for _, a in made], weights, mask, 0, bool(flow), threads, _device(device))
    if dtype is None:
        dtype = np.float64
    if density:
        n = densities(n, edges)
    return _deliver(n, dtype, out), edges


def _dd_weights_are_ours(weights, shape):
    """Weights that numpy.bincount would refuse are left to it."""
    return weights is None or weights.shape == shape and np.can_cast(weights.dtype, np.double)


def _histogram2d_by(histogramdd, x, y, bins, *arguments, **ours):
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    try:
        n = len(bins)
    except TypeError:
        n = 1
    hist, edges = histogramdd([x, y], bins if n in {1, 2} else [bins, bins], *arguments, **ours)
    return hist, edges[0], edges[1]


@_dispatching(_operands_of_2d)
def histogram2d(
    x, y, bins=10, range=None, density=None, weights=None, *, mask=None, out=None, threads=None, flow=False,
    device=None, dtype=None,
):
    ours = {"mask": mask, "out": out, "threads": threads, "flow": flow, "device": device, "dtype": dtype}
    return _histogram2d_by(histogramdd, x, y, bins, range, density, weights, **ours)


def _bincount_operand(given):
    """The integers of numpy.bincount: one dimension, anything that numpy.intp takes without loss."""
    x = _array(given)
    if x.ndim != 1:
        raise ValueError(f"object {'too deep' if x.ndim > 1 else 'of too small depth'} for desired array")
    if x.size == 0:
        return x.astype(np.intp)
    if x.dtype.kind not in "biu":
        if isinstance(given, (list, tuple)):
            np.bincount(given)  # which takes numbers with a fraction from lists, for some time still, and warns
            return np.array(given, np.intp)
        raise TypeError(
            f"Cannot cast array data from {x.dtype!r} to {np.dtype(np.intp)!r} according to the rule 'safe'"
        )
    return x


@_dispatching(_operands_of_bincount)
def bincount(
    x, /, weights=None, minlength=0, *, axis=None, mask=None, out=None, threads=None, device=None, dtype=None,
):
    if axis is None:
        x = _bincount_operand(x)
    else:
        x = _array(x)
    threads = _threads(threads)
    if minlength is None:
        raise TypeError("use 0 instead of None for minlength")
    minlength = operator.index(minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if weights is not None:
        weights = np.asarray(weights)
        if not np.can_cast(weights.dtype, np.double):
            weights = weights.astype(np.double, casting="safe")
        if weights.shape != x.shape:
            raise ValueError("The weights and list don't have the same length.")
    mask = _mask_for(mask, x.shape)
    found = _extremes(x.view(np.uint8) if x.dtype == bool else x, mask, threads)
    low, high = found if found is not None else (0, -1)
    if low < 0:
        raise ValueError("'list' argument must have no negative elements")
    length = max(int(high) + 1, minlength)
    _check_bins(length)
    batch, batch_ndim, x, weights, mask = _batch_first(axis, x, weights, mask)
    if length == 0 or x.size == 0:
        n = np.zeros(batch + (length,), np.intp)
    else:
        axes = ((length, 0),)
        n = _histo.count((x,), axes, weights, mask, batch_ndim, False, threads, _device(device))
        n = n.reshape(batch + (length,))
    return _deliver(n, dtype, out)
