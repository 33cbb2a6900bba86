"""Histograms of Dask arrays: each block is counted where it is, and the counts are added up in a tree.

Nothing is computed before `compute`, ranges included. Counts are exact and do not depend on chunks or workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import dask
import dask.array as da
import numpy as np

from . import _histo
from .functions import histogram_bin_edges
from .hist import Histogram

__all__ = ["fill", "histogram", "histogram2d", "histogramdd"]


def _edges_of(bins: int, low: Any, high: Any, given: bool) -> Any:
    ends = np.array([low, high])
    return np.asarray(histogram_bin_edges(ends, bins, tuple(ends.tolist()) if given else None))


def _check_bins(bins: Any, range: Any) -> None:
    if bins is None or isinstance(bins, str):
        raise TypeError("bins must be a number or edges: a rule needs all samples at once")
    if np.ndim(bins) > 1:
        raise ValueError("the edges of bins must have one dimension")
    if range is not None and (not np.iterable(range) or len(range) != 2 or
                              isinstance(range, (np.ndarray, da.Array)) and range.ndim != 1):
        raise ValueError("range must be (lo, hi)")


def _edges(x: Any, bins: Any, range: Any) -> Any:
    """The edges of an axis as a Dask array."""
    _check_bins(bins, range)
    if isinstance(bins, da.Array) and bins.ndim == 1:
        return bins
    if np.ndim(bins):
        return da.from_array(np.asarray(bins), chunks=-1)
    if dask.is_dask_collection(bins):
        raise NotImplementedError("`bins` cannot be a scalar Dask object, since it is the length of the result")
    low, high = range if range is not None else (x.min(), x.max())
    if not dask.is_dask_collection(low) and not dask.is_dask_collection(high):
        return da.from_array(_edges_of(bins, low, high, True), chunks=-1)
    found = dask.delayed(_edges_of)(bins, low, high, range is not None)
    return da.from_delayed(found, (int(bins) + 1,), x.dtype if x.dtype.kind == "f" else np.float64)


def _count_block(*operands: Any, naxes: int, weighted: bool, batch: int, summed: int) -> Any:
    """The counts of one block, with a length of 1 along each dimension that is summed."""
    arrays, edges = operands[:naxes], operands[naxes : 2 * naxes]
    weights = operands[2 * naxes] if weighted else None
    counts = _histo.count(arrays, edges, weights, None, batch, False, 0, 0)
    return counts.reshape(counts.shape[:batch] + (1,) * summed + counts.shape[batch:])


def count(arrays: Sequence, edges: Sequence, weights: Any, batch: int) -> Any:
    """Counts, or sums of weights, of Dask arrays of one shape, whose first `batch` dimensions are kept."""
    arrays = [da.asarray(a) for a in arrays] + ([] if weights is None else [da.asarray(weights)])
    arrays = da.broadcast_arrays(*arrays)
    ndim, naxes = arrays[0].ndim, len(edges)
    _, arrays = da.core.unify_chunks(*(x for a in arrays for x in (a, tuple(range(ndim)))))
    dims = tuple(range(ndim))
    operands: list = []
    for a in arrays[:naxes]:
        operands += [a, dims]
    for k, e in enumerate(edges):
        operands += [e.rechunk(-1), (ndim + naxes + k,)]
    if weights is not None:
        operands += [arrays[naxes], dims]
    bins = dict(zip(range(ndim, ndim + naxes), (e.shape[0] - 1 for e in edges), strict=True))
    dtype = np.int64 if weights is None else np.float64
    counts = da.blockwise(
        _count_block, dims + tuple(bins), *operands, new_axes=bins, adjust_chunks=dict.fromkeys(dims[batch:], 1),
        concatenate=True, meta=np.empty((0,) * (ndim + naxes), dtype), naxes=naxes, weighted=weights is not None,
        batch=batch, summed=ndim - batch)
    return counts.sum(axis=dims[batch:], dtype=dtype) if dims[batch:] else counts


def _densities(counts: Any, edges: Sequence) -> Any:
    density = counts / counts.sum()
    for k, e in enumerate(edges):
        density = density / da.diff(e).reshape([-1 if d == k else 1 for d in range(len(edges))])
    return density


def histogram(a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None, *,
              axis: Any = None) -> tuple:
    """numpy.histogram of a Dask array.

    Parameters
    ----------
    a : Dask array or array_like
        The samples.
    bins : int or sequence of edges, default 10
        Rules such as "auto" need all samples at once and raise TypeError.
    range : (float, float), optional
        By default, from the smallest to the largest sample.
    density : bool, optional
        Divide the counts by their sum and by the widths of the bins.
    weights : array_like, optional
        A weight for each sample; it broadcasts to the shape of `a`.
    axis : int or tuple of ints, optional
        Count along these dimensions, by default all; the others come first in the result.

    Returns
    -------
    hist, bin_edges : Dask arrays
    """
    a = da.asarray(a)
    edges = _edges(a, bins, range)
    dims = tuple(d % a.ndim for d in (np.arange(a.ndim) if axis is None else np.atleast_1d(axis)))
    kept = tuple(d for d in np.arange(a.ndim) if d not in dims)
    if weights is not None:
        weights = da.broadcast_to(weights, a.shape).transpose(kept + dims)
    counts = count([a.transpose(kept + dims)], [edges], weights, len(kept))
    if density:
        counts = counts / counts.sum(axis=-1, keepdims=True) / da.diff(edges)
    return counts, edges


def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None,
                weights: Any = None) -> tuple:
    """numpy.histogramdd of a Dask array (samples, axes), or of a sequence of arrays, one for each axis: counts as
    float64, and a list of edges."""
    if isinstance(sample, (tuple, list)):
        columns = [da.asarray(x) for x in sample]
    else:
        sample = da.asarray(sample)
        if sample.ndim != 2:
            raise ValueError("Single array input to histogramdd should be columnar: (samples, axes)")
        columns = list(sample.T)
    each = list(bins) if isinstance(bins, (tuple, list, np.ndarray)) else [bins] * len(columns)
    ranges = [None] * len(columns) if range is None else range
    if len(each) != len(columns):
        raise ValueError("The dimension of bins must be equal to the dimension of the sample.")
    if len(ranges) != len(columns):
        raise ValueError("range argument requires one entry, a min max pair, per dimension.")
    if any(r is not None and len(r) != 2 for r in ranges):
        raise ValueError("range argument should be a sequence of pairs")
    edges = [_edges(x, b, r) for x, b, r in zip(columns, each, ranges, strict=True)]
    counts = count(columns, edges, weights, 0)
    return (_densities(counts, edges) if density else counts.astype(np.float64)), edges


def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None,
                weights: Any = None) -> tuple:
    """numpy.histogram2d of Dask arrays: (counts, edges of x, edges of y)."""
    both = bins if isinstance(bins, (tuple, list)) and len(bins) == 2 else [bins, bins]
    counts, (of_x, of_y) = histogramdd((x, y), both, range, density, weights)
    return counts, of_x, of_y


# ---- Histograms ----


def _fill_block(empty: Histogram, naxes: int, weighted: bool, masked: bool, *blocks: Any) -> Histogram:
    weight = blocks[naxes] if weighted else None
    mask = blocks[-1] if masked else None
    return empty.copy().fill(*blocks[:naxes], weight=weight, mask=mask)


def _merge(parts: list) -> Histogram:
    return reduce(Histogram.__iadd__, parts[1:], parts[0].copy())


def fill(hist: Histogram, *arrays: Any, weight: Any = None, mask: Any = None, split_every: int = 8) -> Any:
    """Add the samples of Dask arrays to a copy of a histogram.

        h = histo.dask.fill(Histogram(Regular(100, 0, 1)), x).compute()

    Parameters
    ----------
    hist : Histogram
        Without a batch. It is not changed.
    *arrays, weight, mask : Dask arrays or array_like
        The samples of each axis, as for `Histogram.fill`.
    split_every : int, default 8
        The number of partial histograms that are merged at a time.

    Returns
    -------
    A dask.delayed Histogram.
    """
    if hist.batch:
        raise ValueError("a batch is filled by `histogram` with axis=")
    operands = [da.asarray(a) for a in arrays] + [da.asarray(a) for a in (weight, mask) if a is not None]
    operands = da.broadcast_arrays(*operands)
    dims = tuple(range(operands[0].ndim))
    _, operands = da.core.unify_chunks(*(x for a in operands for x in (a, dims)))
    empty = hist.copy()
    empty.reset()
    one = dask.delayed(_fill_block, pure=False)
    empty = dask.delayed(empty)
    blocks = zip(*(a.to_delayed().ravel() for a in operands), strict=True)
    parts = [one(empty, len(arrays), weight is not None, mask is not None, *block) for block in blocks]
    parts = [dask.delayed(hist.copy()), *parts]
    merge = dask.delayed(_merge, pure=False)
    while len(parts) > 1:
        parts = [merge(parts[i : i + split_every]) for i in range(0, len(parts), split_every)]
    return parts[0]
