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
from typing import TYPE_CHECKING, Any, NamedTuple

import dask
import dask.array as da
import numpy as np

from . import _histo, rules
from .counting import dtype_of_sums, sums
from .dates import is_date
from .lazy import is_dask
from .sources import as_masked, both, check_numbers, mask_of, take

if TYPE_CHECKING:
    from .hist import Histogram

__all__ = ["fill", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]

TREE = 8
"""The number of partial histograms that are added at a time."""

_PASSES = {"auto": 6, "fd": 6, "stone": 3}
"""The most passes over the samples that a rule may need; others need one."""


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


def _mask(mask: Any, a: Any) -> Any:
    """A Dask array of a mask for samples; None for none."""
    if mask is None:
        return None
    mask = _array(mask)
    return mask if _is_unknown(mask) or _is_unknown(a) else da.broadcast_to(mask, a.shape)


def _kept(values: Any, present: Any, mask: Any) -> Any:
    """Which of the samples of a block are counted; None for all."""
    kept = both(present, None if mask is None else mask_of(mask))
    return None if kept is None else np.broadcast_to(kept, values.shape)


# ---- NumPy's functions ----


def _check_bins(bins: Any, range: Any) -> None:
    if bins is None:
        raise TypeError("bins must be a number, edges, or the name of a rule")
    if np.ndim(bins) > 1:
        raise ValueError("the edges of bins must have one dimension")
    if range is not None and (not np.iterable(range) or len(range) != 2 or
                              isinstance(range, (np.ndarray, da.Array)) and range.ndim != 1):
        raise ValueError("range must be (lo, hi)")


def _ends_of_block(block: Any, mask: Any = None) -> Any:
    """The smallest and the largest value, or an empty array."""
    values, present = take(block).decoded()[:2]
    if not is_date(values.dtype):
        check_numbers(values.dtype, "samples")
    kept = _kept(values, present, mask)
    values = values.ravel() if kept is None else values[kept]
    return np.array([values.min(), values.max()]) if values.size else values


def _joined_ends(parts: list) -> Any:
    return _ends_of_block(np.concatenate(parts))


def _blocks_with(x: Any, mask: Any) -> list:
    """The blocks of samples and of their mask, which may be None, that belong together, computed later."""
    if mask is None:
        return [(block, None) for block in x.to_delayed().ravel()]
    x, mask = _aligned([x, mask])
    return list(zip(x.to_delayed().ravel(), mask.to_delayed().ravel(), strict=True))


def _tree(merge: Any, parts: list) -> Any:
    """One of all parts, of which `merge`, a function of a list, makes one of some at a time; computed later."""
    while len(parts) > 1:
        parts = [dask.delayed(merge)(parts[i : i + TREE]) for i in builtins.range(0, len(parts), TREE)]
    return parts[0]


def _ends(x: Any, mask: Any) -> Any:
    """The smallest and the largest sample, computed later."""
    return _tree(_joined_ends, [dask.delayed(_ends_of_block)(*pair) for pair in _blocks_with(x, mask)])


def _found_edges(ends: Any, dtype: Any, bins: int, range: Any, common: Any) -> Any:
    """The edges that NumPy's functions find for samples of a dtype with these ends; common: that of all axes of
    histogramdd, or None."""
    samples = np.asarray(ends, dtype)
    if range is not None:
        range = tuple(end.item() if isinstance(end, np.ndarray) else end for end in range)
    if common is None:
        return rules.edges_of(samples, bins, range, None, None, 1)
    return rules.edges_of_dimension(0, samples, common, bins, range, None, 1)


class _Survey(NamedTuple):
    """A rule for the number of bins of samples of a dtype, which are between these ends unless a range is given."""

    rule: str
    dtype: Any
    ends: Any
    range: Any

    def options(self) -> tuple:
        """What the extension module takes."""
        given = None if self.range is None else tuple(map(float, self.range))
        first, last = rules.outer_edges(np.asarray(self.ends, self.dtype), given, None, 1)
        return f"{self.dtype.kind}{8 * self.dtype.itemsize}", self.rule, float(first), float(last)

    def part(self, passes: tuple, block: Any, mask: Any) -> bytes | None:
        """What the next pass finds in a block."""
        values, present = take(block).decoded()[:2]
        return None if None in passes else _histo.survey_part(*self.options(), passes, values, _kept(values, present, mask))

    def merged(self, passes: tuple, parts: list) -> bytes | None:
        return None if None in parts else _histo.survey_merge(*self.options(), passes, tuple(parts))

    def edges(self, passes: tuple) -> Any:
        bins = _histo.survey_bins(*self.options(), tuple(one for one in passes if one is not None))
        return _found_edges(self.ends, self.dtype, bins, self.range, None)


def _survey(rule: str, dtype: Any, ends: Any, range: Any) -> _Survey:
    return _Survey(rule, dtype, ends, None if range is None else tuple(range))


def _part(survey: _Survey, passes: tuple, block: Any, mask: Any) -> bytes | None:
    return survey.part(passes, block, mask)


def _merged(survey: _Survey, passes: tuple, parts: list) -> bytes | None:
    return survey.merged(passes, parts)


def _edges_of(survey: _Survey, passes: tuple) -> Any:
    return survey.edges(passes)


def _edges_by_rule(x: Any, rule: str, range: Any, mask: Any) -> Any:
    """The edges that a rule finds in one pass over the blocks or more, of a number that is not known before."""
    if rule not in rules.ESTIMATORS:
        raise ValueError(f"{rule!r} is not a valid estimator for `bins`")
    if is_date(x.dtype):
        raise TypeError("the unit of equal bins of dates depends on the samples: give edges")
    lazy = range is not None and any(map(dask.is_dask_collection, range))
    dtype = _found_edges([0, 1], x.dtype, 1, None if lazy else range, None).dtype
    survey = dask.delayed(_survey)(rule, x.dtype.newbyteorder("="), _ends(x, mask) if range is None else [], range)
    passes: list = []
    for _ in builtins.range(_PASSES.get(rule, 1)):
        parts = [dask.delayed(_part)(survey, tuple(passes), *pair) for pair in _blocks_with(x, mask)]
        while True:
            parts = [dask.delayed(_merged)(survey, tuple(passes), parts[i : i + TREE])
                     for i in builtins.range(0, len(parts), TREE)]
            if len(parts) == 1:
                break
        passes.append(parts[0])
    return da.from_delayed(dask.delayed(_edges_of)(survey, tuple(passes)), (math.nan,), dtype)


def _edges(x: Any, bins: Any, range: Any, mask: Any, common: Any = None) -> Any:
    """The edges of an axis as a Dask array."""
    _check_bins(bins, range)
    if isinstance(bins, str):
        if common is not None:
            raise TypeError("bins of several axes must be numbers or edges")
        return _edges_by_rule(x, bins, range, mask)
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
    edges = dask.delayed(_found_edges)([] if lazy else _ends(x, mask), x.dtype, bins, range, common)
    return da.from_delayed(edges, (int(bins) + 1,), dtype)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None, *, mask: Any = None) -> Any:
    """numpy.histogram_bin_edges of a Dask array or a column of a Dask dataframe: a Dask array. weights: not used.

    bins, range, mask: as for `histogram`.
    """
    a = _samples(a)
    _check_rule(bins, weights)
    return _edges(a, bins, range, _mask(mask, a))


def _check_rule(bins: Any, weights: Any) -> None:
    if isinstance(bins, str) and weights is not None:
        raise TypeError("Automated estimation of the number of bins is not supported for weighted data")


def _count_block(*operands: Any, naxes: int, weighted: bool, masked: bool, batch: int, summed: int, whole: bool | str,
                 flow: bool) -> Any:
    """The counts of one block, with a length of 1 along each dimension that is summed."""
    *operands, mask = operands if masked else (*operands, None)
    taken = [take(one).decoded() for one in (*operands[:naxes], *operands[2 * naxes :])]
    mask = _kept(taken[0].values, reduce(both, (one.present for one in taken)), mask)
    weights = taken[naxes].values if weighted else None
    counts = sums([one.values for one in taken[:naxes]], operands[naxes : 2 * naxes], weights, mask, batch, flow,
                  threads=1, whole=whole)
    return counts.reshape(counts.shape[:batch] + (1,) * summed + counts.shape[batch:])


def count(arrays: Sequence, edges: Sequence, weights: Any, batch: int, whole: bool | str = "wrap", mask: Any = None,
          flow: bool = False) -> Any:
    """Counts, or sums of weights, of Dask arrays of one shape, whose first `batch` dimensions are kept. whole: sums of
    integers are integers, as those of counting.sums. mask: a Dask array. flow: with three more entries along each axis.
    """
    arrays = _aligned([_array(a) for a in (*arrays, *(a for a in (weights, mask) if a is not None))])
    ndim, naxes = arrays[0].ndim, len(edges)
    dims = tuple(range(ndim))
    operands: list = []
    for a in arrays[:naxes]:
        operands += [a, dims]
    for k, e in enumerate(edges):
        operands += [e if e.numblocks == (1,) else e.rechunk(-1), (ndim + naxes + k,)]
    if weights is not None:
        operands += [arrays[naxes], dims]
    if mask is not None:
        operands += [arrays[-1], dims]
    more = 3 if flow else 0
    bins = dict(zip(range(ndim, ndim + naxes), (e.shape[0] - 1 + more for e in edges), strict=True))
    dtype = dtype_of_sums(None if weights is None else arrays[naxes])
    if weights is not None and dtype.kind in "iu" and not whole:
        dtype = np.dtype(float)
    summed = np.result_type(dtype, np.float64) if dtype.kind in "fc" else dtype
    counts = da.blockwise(
        _count_block, dims + tuple(bins), *operands, new_axes=bins, adjust_chunks=dict.fromkeys(dims[batch:], 1),
        concatenate=True, align_arrays=not any(map(_is_unknown, arrays)),
        meta=np.empty((0,) * (ndim + naxes), summed), naxes=naxes, weighted=weights is not None,
        masked=mask is not None, batch=batch, summed=ndim - batch, whole=whole, flow=flow)
    counts = counts.sum(axis=dims[batch:], dtype=summed, split_every=TREE) if dims[batch:] else counts
    return counts.astype(dtype)


def _delivered(counts: Any, edges: list, density: Any, dtype: Any) -> Any:
    """Counts as the functions return them."""
    if density and _is_unknown(edges[-1]):  # those of a rule, of one axis
        widths = edges[-1].map_blocks(rules.widths_of, chunks=((math.nan,),), dtype=float)
        counts = counts / widths / counts.sum(axis=-1, keepdims=True)
    elif density:
        counts = rules.densities(counts, edges)
    return counts if dtype is None else counts.astype(dtype)


def histogram(a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None, *,
              axis: Any = None, mask: Any = None, flow: bool = False, dtype: Any = None) -> tuple:
    """numpy.histogram of a Dask array or a column of a Dask dataframe.

    Parameters
    ----------
    a : Dask array, column of a dataframe, or array_like
        The samples.
    bins : int, sequence of edges or str, default 10
        One of NumPy's rules, such as "auto", makes up to five passes over the blocks ("fd" and "auto"), and the results
        have a length that is not known before they are computed.
    range : (float, float), optional
        By default, from the smallest to the largest sample.
    density : bool, optional
        Divide the counts by their sum and by the widths of the bins.
    weights : array_like, optional
        A weight for each sample; it broadcasts to the shape of `a`.
    axis : int or tuple of ints, optional
        Count along these dimensions, by default all; the others come first in the result.
    mask : array_like, optional
        Count only the samples where it is true. It broadcasts to the shape of `a`; of a dataframe, a column.
    flow : bool, default False
        Underflow in front of the bins, and overflow and NaN after them.
    dtype : dtype, optional
        Of the counts.

    Returns
    -------
    hist, bin_edges : Dask arrays
    """
    a = _samples(a)
    mask = _mask(mask, a)
    rules.check_flow(density, flow)
    _check_rule(bins, weights)
    edges = _edges(a, bins, range, mask)
    batch = 0
    if axis is not None:
        batch_dims, dims = rules.axes_of(axis, a.ndim)
        batch = len(batch_dims)
        if weights is not None:
            weights = da.broadcast_to(weights, a.shape).transpose(batch_dims + dims)
        mask = None if mask is None else mask.transpose(batch_dims + dims)
        a = a.transpose(batch_dims + dims)
    whole = not density and (dtype is None or np.dtype(dtype).kind in "biu")
    counts = count([a], [edges], weights, batch, whole and "wrap", mask, bool(flow))
    return _delivered(counts, [edges], density, dtype), edges


def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None, *,
                mask: Any = None, flow: bool = False, dtype: Any = None) -> tuple:
    """numpy.histogramdd of a Dask array (samples, axes) or dataframe, or of a sequence of arrays or columns, one for
    each axis: counts as float64, and a list of edges. mask, flow, dtype: as for `histogram`."""
    if isinstance(sample, (tuple, list)):
        columns = [_samples(x) for x in sample]
    elif hasattr(sample, "to_dask_array") and sample.ndim == 2:
        columns = [_samples(sample.iloc[:, i]) for i in builtins.range(len(sample.columns))]
    else:
        sample = _samples(sample)
        if sample.ndim != 2:
            raise ValueError("Single array input to histogramdd should be columnar: (samples, axes)")
        columns = list(sample.T)
    if range is not None and len(range) != len(columns):
        raise ValueError("range argument requires one entry, a min max pair, per dimension.")
    if range is not None and any(one is not None and len(one) != 2 for one in range):
        raise ValueError("range argument should be a sequence of pairs")
    bins, range = rules.of_dimensions(len(columns), bins, range)
    numbers = [x.dtype for x in columns if not is_date(x.dtype)]
    common = np.result_type(*numbers) if numbers else np.dtype(float)
    mask = _mask(mask, columns[0])
    rules.check_flow(density, flow)
    edges = [_edges(x, b, r, mask, common) for x, b, r in zip(columns, bins, range, strict=True)]
    counts = count(columns, edges, weights, 0, False, mask, bool(flow))
    return _delivered(counts, edges, density, np.float64 if dtype is None else dtype), edges


def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None, *,
                mask: Any = None, flow: bool = False, dtype: Any = None) -> tuple:
    """numpy.histogram2d of Dask arrays or columns: (counts, edges of x, edges of y). mask, flow, dtype: as for
    `histogram`."""
    more = {"mask": mask, "flow": flow, "dtype": dtype}
    counts, (of_x, of_y) = histogramdd((x, y), rules.bins_of_two(bins), range, density, weights, **more)
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
