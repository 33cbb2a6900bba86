"""Histograms of Dask arrays and dataframes: each block is counted where it is, and the counts are added up in a tree.

Nothing is computed before `compute`, ranges included. Counts are exact and do not depend on chunks or workers; a block
that is counted again, since a worker was lost, is counted once.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from functools import reduce
from operator import iadd
from typing import TYPE_CHECKING, Any

import dask
import dask.array as da
import numpy as np

from . import rules
from .counting import dtype_of_sums, sums
from .dates import is_date
from .lazy import is_dask
from .sources import as_masked, both, check_numbers, take

if TYPE_CHECKING:
    from .hist import Histogram

__all__ = ["fill", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]

TREE = 8
"""The number of partial histograms that are added at a time."""


# ---- Operands ----


def _array(x: Any) -> Any:
    """A Dask array; of the column of a dataframe, whose numbers of rows are not known."""
    if not is_dask(x):
        return da.from_array(as_masked(x), chunks=-1)
    if not hasattr(x, "to_dask_array"):
        return da.asarray(x)
    dtype, part = as_masked(x._meta).dtype, dask.delayed(as_masked, pure=True)
    if not is_date(dtype):
        check_numbers(dtype, "samples")
    return da.concatenate([da.from_delayed(part(one), (math.nan,), dtype) for one in x.to_delayed()])


def _samples(x: Any) -> Any:
    x = _array(x)
    return x.astype(np.uint8) if x.dtype == bool else x


def _is_unknown(x: Any) -> bool:
    return any(math.isnan(n) for n in x.shape)


def _aligned(operands: Sequence) -> list:
    """Dask arrays of one shape and equal chunks. Chunks of unknown sizes must be equal in number."""
    if not any(map(_is_unknown, operands)):
        operands = da.broadcast_arrays(*operands)
        dims = tuple(range(operands[0].ndim))
        return da.core.unify_chunks(*(x for a in operands for x in (a, dims)))[1]
    like = next(a for a in operands if _is_unknown(a))
    operands = [da.full_like(like, a, dtype=a.dtype) if a.ndim == 0 else a for a in operands]
    if any(a.numblocks != like.numblocks for a in operands):
        raise ValueError("columns and arrays whose lengths are not known have as many partitions or chunks")
    return operands


# ---- NumPy's functions ----


def _check_bins(bins: Any, range: Any) -> None:
    if bins is None or isinstance(bins, str):
        raise TypeError("bins must be a number or edges: a rule needs all samples at once")
    if np.ndim(bins) > 1:
        raise ValueError("the edges of bins must have one dimension")
    if range is not None and (not np.iterable(range) or len(range) != 2 or
                              isinstance(range, (np.ndarray, da.Array)) and range.ndim != 1):
        raise ValueError("range must be (lo, hi)")


def _ends_of_block(block: Any) -> Any:
    """The smallest and the largest value, or an empty array."""
    values, present = take(block).decoded()[:2]
    if not is_date(values.dtype):
        check_numbers(values.dtype, "samples")
    values = values.ravel() if present is None else values[present]
    return np.array([values.min(), values.max()]) if values.size else values


def _joined_ends(parts: list) -> Any:
    return _ends_of_block(np.concatenate(parts))


def _ends(x: Any) -> Any:
    """The smallest and the largest sample, computed later."""
    parts = [dask.delayed(_ends_of_block)(block) for block in x.to_delayed().ravel()]
    while len(parts) > 1:
        parts = [dask.delayed(_joined_ends)(parts[i : i + TREE]) for i in builtins.range(0, len(parts), TREE)]
    return parts[0]


def _found_edges(ends: Any, dtype: Any, bins: int, range: Any, common: Any) -> Any:
    """The edges that NumPy's functions find for samples of a dtype with these ends; common: that of all axes of
    histogramdd, or None."""
    samples = np.asarray(ends, dtype)
    if range is not None:
        range = tuple(end.item() if isinstance(end, np.ndarray) else end for end in range)
    if common is None:
        return rules.edges_of(samples, bins, range, None, None, 1)
    return rules.edges_of_dimension(0, samples, common, bins, range, None, 1)


def _edges(x: Any, bins: Any, range: Any, common: Any = None) -> Any:
    """The edges of an axis as a Dask array."""
    _check_bins(bins, range)
    if isinstance(bins, da.Array) and bins.ndim == 1:
        return bins
    if dask.is_dask_collection(bins):
        raise NotImplementedError("`bins` cannot be a scalar Dask object, since it is the length of the result")
    lazy = range is not None and any(map(dask.is_dask_collection, range))
    if np.ndim(bins) or range is not None and not lazy:
        return da.from_array(_found_edges([], x.dtype, bins, range, common), chunks=-1)
    if is_date(x.dtype):
        raise TypeError("the unit of equal bins of dates depends on the samples: give edges, or range as (lo, hi)")
    # Of a range that is computed later, what has a dtype is of it, and all else a number of Python.
    of_range = None if range is None else tuple(
        end.dtype.type(i) if isinstance(end, (da.Array, np.generic)) else float(i) for i, end in enumerate(range))
    dtype = _found_edges([0, 1], x.dtype, 1, of_range, common).dtype
    edges = dask.delayed(_found_edges)([] if lazy else _ends(x), x.dtype, bins, range, common)
    return da.from_delayed(edges, (int(bins) + 1,), dtype)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """numpy.histogram_bin_edges of a Dask array or a column of a Dask dataframe: a Dask array. weights: not used."""
    return _edges(_samples(a), bins, range)


def _count_block(*operands: Any, naxes: int, weighted: bool, batch: int, summed: int, whole: bool) -> Any:
    """The counts of one block, with a length of 1 along each dimension that is summed."""
    taken = [take(one).decoded() for one in (*operands[:naxes], *operands[2 * naxes :])]
    mask = reduce(both, (one.present for one in taken))
    weights = taken[naxes].values if weighted else None
    counts = sums([one.values for one in taken[:naxes]], operands[naxes : 2 * naxes], weights, mask, batch, threads=1,
                  whole=whole)
    return counts.reshape(counts.shape[:batch] + (1,) * summed + counts.shape[batch:])


def count(arrays: Sequence, edges: Sequence, weights: Any, batch: int, whole: bool = True) -> Any:
    """Counts, or sums of weights, of Dask arrays of one shape, whose first `batch` dimensions are kept. whole: sums of
    integers are integers, as those of counting.sums."""
    arrays = _aligned([_array(a) for a in arrays] + ([] if weights is None else [_array(weights)]))
    ndim, naxes = arrays[0].ndim, len(edges)
    dims = tuple(range(ndim))
    operands: list = []
    for a in arrays[:naxes]:
        operands += [a, dims]
    for k, e in enumerate(edges):
        operands += [e.rechunk(-1), (ndim + naxes + k,)]
    if weights is not None:
        operands += [arrays[naxes], dims]
    bins = dict(zip(range(ndim, ndim + naxes), (e.shape[0] - 1 for e in edges), strict=True))
    dtype = dtype_of_sums(None if weights is None else arrays[naxes])
    if weights is not None and dtype.kind in "iu" and not whole:
        dtype = np.dtype(float)
    summed = np.result_type(dtype, np.float64) if dtype.kind in "fc" else dtype
    counts = da.blockwise(
        _count_block, dims + tuple(bins), *operands, new_axes=bins, adjust_chunks=dict.fromkeys(dims[batch:], 1),
        concatenate=True, align_arrays=not any(map(_is_unknown, arrays)), meta=np.empty((0,) * (ndim + naxes), summed), naxes=naxes, weighted=weights is not None,
        batch=batch, summed=ndim - batch, whole=whole)
    counts = counts.sum(axis=dims[batch:], dtype=summed, split_every=TREE) if dims[batch:] else counts
    return counts.astype(dtype)


def histogram(a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None, *,
              axis: Any = None) -> tuple:
    """numpy.histogram of a Dask array or a column of a Dask dataframe.

    Parameters
    ----------
    a : Dask array, column of a dataframe, or array_like
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
    a = _samples(a)
    edges = _edges(a, bins, range)
    if axis is None:
        counts = count([a], [edges], weights, 0, not density)
        return (rules.densities(counts, [edges]) if density else counts), edges
    batch_dims, dims = rules.axes_of(axis, a.ndim)
    if weights is not None:
        weights = da.broadcast_to(weights, a.shape).transpose(batch_dims + dims)
    counts = count([a.transpose(batch_dims + dims)], [edges], weights, len(batch_dims), not density)
    if density:
        counts = rules.densities(counts, [edges])
    return counts, edges


def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None,
                weights: Any = None) -> tuple:
    """numpy.histogramdd of a Dask array (samples, axes) or dataframe, or of a sequence of arrays or columns, one for each
    axis: counts as float64, and a list of edges."""
    if isinstance(sample, (tuple, list)):
        columns = [_samples(x) for x in sample]
    elif hasattr(sample, "to_dask_array") and sample.ndim == 2:
        columns = [_samples(sample.iloc[:, i]) for i in builtins.range(len(sample.columns))]
    else:
        sample = _samples(sample)
        if sample.ndim != 2:
            raise ValueError("Single array input to histogramdd should be columnar: (samples, axes)")
        columns = list(sample.T)
    bins, range = rules.of_dimensions(len(columns), bins, range)
    numbers = [x.dtype for x in columns if not is_date(x.dtype)]
    common = np.result_type(*numbers) if numbers else np.dtype(float)
    edges = [_edges(x, b, r, common) for x, b, r in zip(columns, bins, range, strict=True)]
    counts = count(columns, edges, weights, 0, False)
    return (rules.densities(counts, edges) if density else counts.astype(np.float64)), edges


def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None,
                weights: Any = None) -> tuple:
    """numpy.histogram2d of Dask arrays or columns: (counts, edges of x, edges of y)."""
    counts, (of_x, of_y) = histogramdd((x, y), rules.bins_of_two(bins), range, density, weights)
    return counts, of_x, of_y


# ---- Histograms ----


def _fill_block(empty: Histogram, naxes: int, named: Sequence, limits: Sequence, *blocks: Any) -> Histogram:
    options = dict(zip(named, blocks[naxes:], strict=True))
    if limits:
        options["where"] = (options["where"], *limits)
    return empty.copy().fill(*blocks[:naxes], threads=1, **options)


def _merge(parts: list) -> Histogram:
    """The sum of partial histograms, which are left as they are: a scheduler may use them again."""
    return reduce(iadd, parts[1:], parts[0].copy())


def _blocks(operands: Sequence) -> Any:
    """The blocks that belong together, of all operands: of arrays, or of columns, as pandas has them."""
    if not any(hasattr(a, "to_dask_array") for a in operands):
        operands = _aligned([da.asarray(a) for a in operands])
        return zip(*(a.to_delayed().ravel() for a in operands), strict=True)
    each = [np.ravel(a.to_delayed()).tolist() if hasattr(a, "to_delayed") else None for a in operands]
    sizes = {len(blocks) for blocks in each if blocks is not None}
    if len(sizes) > 1:
        raise ValueError(f"columns and arrays must have the same number of partitions or chunks, not {sorted(sizes)}")
    if any(np.ndim(a) for a, blocks in zip(operands, each, strict=True) if blocks is None):
        raise TypeError("together with columns of dataframes, samples must be columns, Dask arrays or scalars")
    n = sizes.pop()
    return zip(*([a] * n if blocks is None else blocks for a, blocks in zip(operands, each, strict=True)), strict=True)


def fill(hist: Histogram, *arrays: Any, weight: Any = None, mask: Any = None, where: Any = None, sample: Any = None,
         split_every: int = TREE) -> Any:
    """Add the samples of Dask arrays or dataframes to a copy of a histogram.

        h = histo.dask.fill(Histogram(Regular(100, 0, 1)), x).compute()

    Parameters
    ----------
    hist : Histogram
        Without a batch. It is not changed.
    *arrays, weight, mask, where, sample
        The samples of each axis and the others, as for `Histogram.fill`: Dask arrays, columns of Dask dataframes, arrays
        or scalars. Blocks of columns are counted as pandas has them, nulls and categories included.
    split_every : int, default 8
        The number of partial histograms that are merged at a time.

    Returns
    -------
    A dask.delayed Histogram.
    """
    if hist.batch:
        raise ValueError("a batch is filled by `histogram` with axis=")
    if len(arrays) != hist.ndim:
        raise TypeError(f"fill takes the samples of {hist.ndim} axes, not of {len(arrays)}")
    filtered, *limits = (None,) if where is None else where
    named = {key: a for key, a in (("weight", weight), ("mask", mask), ("where", filtered), ("sample", sample)) if a is not None}
    one, merge = dask.delayed(_fill_block, pure=False), dask.delayed(_merge, pure=False)
    empty = dask.delayed(hist.copy().reset())
    parts = [one(empty, len(arrays), list(named), limits, *block) for block in _blocks([*arrays, *named.values()])]
    parts.insert(0, dask.delayed(hist.copy()))
    while len(parts) > 1:
        parts = [merge(parts[i : i + split_every]) for i in range(0, len(parts), split_every)]
    return parts[0]
