"""NumPy's histogram functions, whose counting libhisto does."""

import contextlib
import functools
import math

import numpy as np

from . import _histo, rules
from .counting import dtype_of_sums, sums
from .sources import is_dask

__all__ = ["bincount", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]

_range = range  # `range` is an argument of most functions

# For what the library does not count. Bound here, since users may put our functions in place of NumPy's.
_NUMPY = {name: getattr(np, name) for name in __all__}


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


def _samples(a):
    """Samples as NumPy's histograms count them: bool as uint8."""
    a = _array(a)
    if a.dtype != bool:
        return a
    rules.warn_of_bool(a.dtype, stacklevel=4)
    return a.astype(np.uint8)


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


def _batch_first(axis, *arrays):
    """The shape of the dimensions that are not counted, how many dimensions they have in the arrays that follow, and
    the arrays with the dimensions that are counted, `axis`, moved to their end."""
    shape = arrays[0].shape
    if axis is None:
        return (), 0, *arrays
    batch_dims, axes = rules.axes_of(axis, len(shape))
    batch = tuple(shape[d] for d in batch_dims)
    arrays = [a if a is None else a.transpose(batch_dims + axes) for a in arrays]
    if len(shape) <= _histo.MAX_DIMS:
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
    rules.check_weights(weights.shape, a.shape)
    return weights


def _sums_are_ours(weights):
    return weights is None or weights.dtype.kind == "c" and weights.dtype.itemsize <= 16 or (
        weights.dtype.kind in "biuf" and rules.countable(weights.dtype)
    )


@_dispatching(_operands)
def histogram(
    a, bins=10, range=None, density=None, weights=None, *, axis=None, mask=None, out=None, threads=None, flow=False,
    device=None, dtype=None,
):
    a = _samples(a)
    weights = _weights_for(a, weights)
    mask = _mask_for(mask, a.shape)
    threads = rules.threads_of(threads)
    if not rules.countable(a.dtype) or not _sums_are_ours(weights):
        ours = {"axis": axis, "out": out, "flow": flow, "device": device, "dtype": dtype}
        return _by_numpy("histogram", a, mask, ours, bins=bins, range=range, density=density, weights=weights)
    rules.check_flow(density, flow)
    edges = rules.edges_of(a, bins, range, weights, mask, threads)
    if not rules.countable(edges.dtype):
        ours = {"axis": axis, "out": out, "flow": flow, "device": device, "dtype": dtype}
        return _by_numpy("histogram", a, mask, ours, bins=bins, range=range, density=density, weights=weights)
    if len(edges) < 2:
        return np.zeros(0, dtype_of_sums(weights)), edges
    batch, batch_ndim, a, weights, mask = _batch_first(axis, a, weights, mask)
    if 0 in batch:
        empty = np.zeros(batch + (len(edges) - 1 + 3 * bool(flow),))
        return _deliver(empty, dtype or dtype_of_sums(weights), out), edges
    n = sums((a,), (edges,), weights, mask, batch_ndim, bool(flow), threads, rules.device_of(device))
    n = n.reshape(batch + n.shape[-1:])
    if density:
        return _deliver(rules.densities(n, [edges]), dtype, out), edges
    return _deliver(n, dtype or dtype_of_sums(weights), out), edges


@_dispatching(_operands_of_edges)
def histogram_bin_edges(a, bins=10, range=None, weights=None, *, mask=None, threads=None, device=None):
    a = _samples(a)
    weights = _weights_for(a, weights)
    mask = _mask_for(mask, a.shape)
    if not rules.countable(a.dtype):
        return _by_numpy("histogram_bin_edges", a, mask, {}, bins=bins, range=range, weights=weights)
    return rules.edges_of(a, bins, range, weights, mask, rules.threads_of(threads))


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


@_dispatching(_operands_of_dd)
def histogramdd(
    sample, bins=10, range=None, density=None, weights=None, *, mask=None, out=None, threads=None, flow=False,
    device=None, dtype=None,
):
    ours = {"out": out, "flow": flow, "device": device, "dtype": dtype}
    columns, common = _columns(sample)
    threads = rules.threads_of(threads)
    if weights is not None:
        weights = np.asarray(weights)
    dimensions = len(columns)
    bins, range = rules.of_dimensions(dimensions, bins, range)
    shape = columns[0].shape if columns else (0,)
    mask = _mask_for(mask, shape)
    if not rules.countable(common) or not dimensions or not _dd_weights_are_ours(weights, shape):
        a = np.asarray(sample) if hasattr(sample, "shape") else np.atleast_2d(sample).T
        return _by_numpy("histogramdd", a, mask, ours, bins=bins, range=range, density=density, weights=weights)
    rules.check_flow(density, flow)
    edges = [
        rules.edges_of_dimension(i, columns[i], common, bins[i], range[i], mask, threads) for i in _range(dimensions)
    ]
    columns = [c.view(np.uint8) if c.dtype == bool else c for c in columns]
    if any(len(e) < 2 for e in edges):
        n = np.zeros([max(len(e) - 1, 0) for e in edges])
    else:
        n = sums(columns, edges, weights, mask, 0, bool(flow), threads, rules.device_of(device))
    if dtype is None:
        dtype = np.float64
    if density:
        n = rules.densities(n, edges)
    return _deliver(n, dtype, out), edges


def _dd_weights_are_ours(weights, shape):
    """Weights that numpy.bincount would refuse are left to it."""
    return weights is None or weights.shape == shape and np.can_cast(weights.dtype, np.double)


@_dispatching(_operands_of_2d)
def histogram2d(
    x, y, bins=10, range=None, density=None, weights=None, *, mask=None, out=None, threads=None, flow=False,
    device=None, dtype=None,
):
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    ours = {"mask": mask, "out": out, "threads": threads, "flow": flow, "device": device, "dtype": dtype}
    n, (xedges, yedges) = histogramdd([x, y], rules.bins_of_two(bins), range, density, weights, **ours)
    return n, xedges, yedges


def _bincount_operand(given):
    """The integers of numpy.bincount: one dimension, anything that numpy.intp takes without loss."""
    x = _array(given)
    rules.check_dimension(x.ndim)
    if x.size == 0:
        return x.astype(np.intp)
    if x.dtype.kind not in "biu" and isinstance(given, (list, tuple)):
        np.bincount(given)  # which takes numbers with a fraction from lists, for some time still, and warns
        return np.array(given, np.intp)
    rules.check_numbers(x.dtype)
    return x


@_dispatching(_operands_of_bincount)
def bincount(
    x, /, weights=None, minlength=0, *, axis=None, mask=None, out=None, threads=None, device=None, dtype=None,
):
    x = _bincount_operand(x) if axis is None else _array(x)
    threads = rules.threads_of(threads)
    minlength = rules.minlength_of(minlength)
    if weights is not None:
        weights = np.asarray(weights)
        if not np.can_cast(weights.dtype, np.double):
            weights = weights.astype(np.double, casting="safe")
        rules.check_weights_of_numbers(weights.shape, x.shape)
    mask = _mask_for(mask, x.shape)
    extremes = rules.extremes_of(x.view(np.uint8) if x.dtype == bool else x, mask, threads)
    length = rules.length_of(extremes, minlength)
    batch, batch_ndim, x, weights, mask = _batch_first(axis, x, weights, mask)
    if length == 0 or x.size == 0:
        n = np.zeros(batch + (length,), np.intp)
    else:
        axes = ((length, 0),)
        n = _histo.count((x,), axes, weights, mask, batch_ndim, False, threads, rules.device_of(device))
        n = n.reshape(batch + (length,))
    return _deliver(n, dtype, out)
