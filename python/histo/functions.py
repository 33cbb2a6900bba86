"""NumPy's histogram functions, whose counting libhisto does."""

import contextlib
import functools
import math

import numpy as np

from . import _histo, dates, rules
from .counting import dtype_of_sums, sums
from .lazy import is_dask
from .sources import both, check_numbers, check_objects, mask_of, take

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
            if other is not None and kwargs.pop("missing", "mask") != "mask":
                raise NotImplementedError("missing= is for samples that histo counts at once, and these are of another kind")
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


def _taken(x, missing, what="samples", ours=True):
    """An array, and which of its values are present, or None. missing: see `histogram`. ours: objects, too, are for us,
    not for NumPy."""
    if isinstance(x, bytes):
        return np.frombuffer(x, np.uint8), None
    if type(x) is np.ndarray and x.dtype.kind in "biuf":
        return x, None
    if missing == "numpy":
        return np.asarray(x), None
    if missing != "mask":
        raise ValueError(f"missing={missing!r} is neither 'mask' nor 'numpy'")
    column = take(x).decoded()
    if not isinstance(column.values, np.ndarray):
        raise ValueError("samples, weights and masks must be in one memory: some are in that of a GPU, others in that of "
                         "the host")
    kept = not ours and column.objects is not None and column.values.dtype.kind in "biuf"
    values = column.objects if kept else column.values  # NumPy counts objects that are numbers
    if values.dtype.kind == "O" and not kept:
        check_objects(values if column.present is None else values[column.present], what)
    if values.dtype.kind in "USV":
        check_numbers(values.dtype, what)
    return values, column.present


def _is_given(*ours):
    """Whether one of the keywords that NumPy does not have is given."""
    return any(value is not None and value is not False for value in ours)


def _samples(a, missing, ours):
    """Samples as NumPy's histograms count them, bool as uint8, and which are present."""
    a, present = _taken(a, missing, ours=ours)
    if a.dtype != bool:
        return a, present
    rules.warn_of_bool(a.dtype, stacklevel=4)
    return a.astype(np.uint8), present


def _weights(weights, missing, ours=True):
    """Weights, or None, and which are present."""
    if weights is None:
        return None, None
    weights, present = _taken(weights, missing, "weights", ours)
    if dates.is_date(weights.dtype):
        raise TypeError(f"weights are {weights.dtype}, not numbers")
    return weights, present


def _mask_for(mask, missing, shape, *present):
    """The mask of samples, of which those that miss something are not counted."""
    if mask is not None:
        mask = mask_of(mask) if missing == "mask" else np.asarray(mask)
        if mask.shape != shape:
            try:
                mask = np.broadcast_to(mask, shape)
            except ValueError:
                raise ValueError(f"a mask of shape {mask.shape} does not broadcast to samples of {shape}") from None
    for one in present:
        mask = both(mask, one)
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


def _sums_are_whole(dtype, out, usual):
    """Whether sums of integer weights are integers, of a dtype that was asked for, or by `usual` if none was."""
    asked = np.dtype(dtype) if dtype is not None else None if out is None else out.dtype
    return usual if asked is None else asked.kind in "biu"


def _sums_are_ours(weights):
    return weights is None or weights.dtype.kind == "c" and weights.dtype.itemsize <= 16 or (
        weights.dtype.kind in "biuf" and rules.countable(weights.dtype)
    )


@_dispatching(_operands)
def histogram(
    a, bins=10, range=None, density=None, weights=None, *, axis=None, mask=None, out=None, threads=None, flow=False,
    device=None, dtype=None, missing="mask",
):
    given = _is_given(axis, out, flow, device, dtype)
    a, present = _samples(a, missing, given)
    weights, weighed = _weights(weights, missing, given)
    if weights is not None:
        rules.check_weights(weights.shape, a.shape)
    mask = _mask_for(mask, missing, a.shape, present, weighed)
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
    whole = not density and _sums_are_whole(dtype, out, "wrap")
    n = sums((a,), (edges,), weights, mask, batch_ndim, bool(flow), threads, rules.device_of(device), whole)
    n = n.reshape(batch + n.shape[-1:])
    if density:
        return _deliver(rules.densities(n, [edges]), dtype, out), edges
    return _deliver(n, dtype or (dtype_of_sums(weights) if out is None else None), out), edges


@_dispatching(_operands_of_edges)
def histogram_bin_edges(
    a, bins=10, range=None, weights=None, *, mask=None, threads=None, device=None, missing="mask",
):
    a, present = _samples(a, missing, False)
    weights, weighed = _weights(weights, missing, False)
    if weights is not None:
        rules.check_weights(weights.shape, a.shape)
    mask = _mask_for(mask, missing, a.shape, present, weighed)
    if not rules.countable(a.dtype):
        return _by_numpy("histogram_bin_edges", a, mask, {}, bins=bins, range=range, weights=weights)
    return rules.edges_of(a, bins, range, weights, mask, rules.threads_of(threads))


def _columns_of(sample):
    """The columns of a table, or of an array of two dimensions; of a sequence the coordinates on each axis."""
    if isinstance(sample, np.ndarray):
        return [sample[:, d] for d in _range(sample.shape[1])] if sample.ndim == 2 else None
    if isinstance(sample, (list, tuple)):
        return list(sample)
    if hasattr(sample, "iloc"):
        return [sample.iloc[:, d] for d in _range(sample.shape[1])] if sample.ndim == 2 else None
    columns = getattr(sample, "get_columns", None)  # of Polars
    if callable(columns):
        return columns()
    columns = getattr(sample, "columns", None)
    if hasattr(sample, "__arrow_c_stream__") and isinstance(columns, list):  # of PyArrow and DuckDB
        return [sample[name] if isinstance(name, str) else name for name in columns]
    return None


def _columns(sample, missing, ours=True):
    """The coordinates of the samples on each axis, which of them are present, and the dtype in which NumPy would put
    those that are numbers into one array."""
    columns = _columns_of(sample)
    taken = [_taken(x, missing, ours=ours) for x in columns] if columns else []
    if not taken or any(a.ndim != 1 or a.shape != taken[0][0].shape for a, _ in taken):
        a, present = _taken(sample, missing, ours=ours)
        a = np.atleast_2d(a)
        if a.ndim != 2:
            raise ValueError(f"too many values to unpack (expected 2, got {a.ndim})")
        if not (hasattr(sample, "shape") and len(sample.shape) == 2):
            a, present = a.T, None if present is None else np.atleast_2d(present).T
        taken = [(a[:, d], None if present is None else present[:, d]) for d in _range(a.shape[1])]
    arrays = [a for a, _ in taken]
    numbers = [a.dtype for a in arrays if not dates.is_date(a.dtype)]
    common = np.result_type(*numbers) if numbers else arrays[0].dtype if arrays else np.dtype(float)
    return arrays, [present for _, present in taken], common


@_dispatching(_operands_of_dd)
def histogramdd(
    sample, bins=10, range=None, density=None, weights=None, *, mask=None, out=None, threads=None, flow=False,
    device=None, dtype=None, missing="mask",
):
    ours = {"out": out, "flow": flow, "device": device, "dtype": dtype}
    given = _is_given(*ours.values())
    columns, present, common = _columns(sample, missing, given)
    threads = rules.threads_of(threads)
    weights, weighed = _weights(weights, missing, given)
    dimensions = len(columns)
    bins, range = rules.of_dimensions(dimensions, bins, range)
    shape = columns[0].shape if columns else (0,)
    if weighed is not None and weighed.shape != shape:
        raise ValueError("weights should have the same shape as the samples")
    mask = _mask_for(mask, missing, shape, *present, weighed)
    if not rules.countable(common) or not dimensions or not _dd_weights_are_ours(weights, shape):
        a = np.stack(columns, 1) if columns else np.atleast_2d(sample).T
        return _by_numpy("histogramdd", a, mask, ours, bins=bins, range=range, density=density, weights=weights)
    rules.check_flow(density, flow)
    edges = [
        rules.edges_of_dimension(i, columns[i], common, bins[i], range[i], mask, threads) for i in _range(dimensions)
    ]
    columns = [c.view(np.uint8) if c.dtype == bool else c for c in columns]
    if any(len(e) < 2 for e in edges):
        n = np.zeros([max(len(e) - 1, 0) for e in edges])
    else:
        whole = not density and _sums_are_whole(dtype, out, False)
        n = sums(columns, edges, weights, mask, 0, bool(flow), threads, rules.device_of(device), whole)
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
    device=None, dtype=None, missing="mask",
):
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    ours = {"mask": mask, "out": out, "threads": threads, "flow": flow, "device": device, "dtype": dtype,
            "missing": missing}
    n, (xedges, yedges) = histogramdd([x, y], rules.bins_of_two(bins), range, density, weights, **ours)
    return n, xedges, yedges


def _bincount_operand(given, missing):
    """The integers of numpy.bincount, anything that numpy.intp takes without loss, and which are present."""
    x, present = _taken(given, missing, ours=False)
    if x.size == 0 and x.dtype.kind not in "biu":
        return x.astype(np.intp), present
    if x.dtype.kind not in "biu" and isinstance(given, (list, tuple)) and present is None:
        np.bincount(given)  # which takes numbers with a fraction from lists, for some time still, and warns
        return np.array(given, np.intp), None
    rules.check_numbers(x.dtype)
    return x, present


@_dispatching(_operands_of_bincount)
def bincount(
    x, /, weights=None, minlength=0, *, axis=None, mask=None, out=None, threads=None, device=None, dtype=None,
    missing="mask",
):
    x, present = _bincount_operand(x, missing)
    if axis is None:
        rules.check_dimension(x.ndim)
    threads = rules.threads_of(threads)
    minlength = rules.minlength_of(minlength)
    weights, weighed = _weights(weights, missing, False)
    if weights is not None:
        if not np.can_cast(weights.dtype, np.double):
            weights = weights.astype(np.double, casting="safe")
        rules.check_weights_of_numbers(weights.shape, x.shape)
    mask = _mask_for(mask, missing, x.shape, present, weighed)
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
