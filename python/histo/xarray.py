"""Histograms of xarray's DataArrays along named dimensions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import reduce
from typing import Any

import numpy as np
import xarray as xr

from ._histo import histogram_bin_edges
from . import dates
from .counting import sums
from .rules import densities
from .sources import both, take
from .lazy import is_dask

__all__ = ["histogram"]


def _each(what: Any, n: int, is_one: Any, name: str) -> list:
    """What is given for each array, or once for all."""
    if is_one(what):
        return [what] * n
    each = list(what)
    if len(each) != n:
        raise ValueError(f"{len(each)} {name} for {n} arrays")
    return each


def _is_one_of_bins(bins: Any) -> bool:
    return not isinstance(bins, (list, tuple)) or not any(np.ndim(b) or isinstance(b, str) for b in bins) and \
        not all(isinstance(b, (int, np.integer)) for b in bins)


def _is_one_range(limits: Any) -> bool:
    return limits is None or not isinstance(limits[0], (list, tuple, np.ndarray, type(None)))


def _count(arrays: list, bins: list, ranges: list, weights: Any, batch: int) -> tuple:
    """Counts, or sums of weights, and the edges of each axis."""
    if any(map(is_dask, arrays if weights is None else [*arrays, weights])):
        from . import dask

        found = [dask.histogram_bin_edges(a.data, b, r, weights) for a, b, r in zip(arrays, bins, ranges, strict=True)]
        edges = [np.asarray(e) for e in found]
        of_bins = [dask.da.from_array(e, chunks=-1) for e in edges]
        counts = dask.count([a.data for a in arrays], of_bins, None if weights is None else weights.data, batch, False)
        return counts, edges
    taken = [take(a.to_numpy()).decoded() for a in ([*arrays] if weights is None else [*arrays, weights])]
    mask = reduce(both, (one.present for one in taken))
    samples, of_weights = [one.values for one in taken[: len(arrays)]], None if weights is None else taken[-1].values
    edges = [histogram_bin_edges(a, b, r, of_weights, mask=mask) for a, b, r in zip(samples, bins, ranges, strict=True)]
    return sums(samples, edges, of_weights, mask, batch, whole=False), edges


def _centers(edges: Any) -> Any:
    """The middles of bins, which small types of NumPy do not hold."""
    if dates.is_date(edges.dtype):
        return dates.centers(edges)
    wide = edges.astype(np.result_type(edges.dtype, np.float32) if edges.dtype.kind == "f" else float)
    return 0.5 * wide[:-1] + 0.5 * wide[1:]


def histogram(*args: xr.DataArray, bins: Any = 10, range: Any = None, dim: Hashable | Iterable[Hashable] | None = None,
              weights: xr.DataArray | None = None, density: bool = False, keep_coords: bool = False,
              bin_dim_suffix: str = "_bin") -> xr.DataArray:
    """Count along dimensions of DataArrays, one for each axis of the histogram, that broadcast together.

    bins: a number, the edges as an array, or a rule of numpy.histogram_bin_edges; or a list with one of these for each
        array.
    range: (lo, hi), or a list of these; by default, from the smallest to the largest sample.
    dim: the dimensions that are counted, by default all. The result has the others, and then one for each array, which
        has the array's name with `bin_dim_suffix` appended and the bins' centers as coordinates.
    weights: a DataArray; the result holds sums of weights.
    density: divide by the sum of the counts and by the sizes of the bins.
    keep_coords: keep all coordinates that still fit, not only those of the remaining dimensions.

    Dask arrays are counted block by block; edges that depend on the samples are computed at once. Arguments and results
    are those of xhistogram.
    """
    for a in args:
        if not isinstance(a, xr.DataArray):
            raise TypeError(f"samples are DataArrays, not {type(a).__name__}")
        if a.name is None:
            raise ValueError("every array needs a name")
    if not args:
        raise TypeError("there are no samples")
    n = len(args)
    arrays = [*args] if weights is None else [*args, weights]
    arrays = xr.align(*(a if keep_coords else a.reset_coords(drop=True) for a in arrays), join="exact")
    arrays = xr.broadcast(*arrays)
    dims = arrays[0].dims
    counted = dims if dim is None else (dim,) if isinstance(dim, str) or not isinstance(dim, Iterable) else tuple(dim)
    if missing := [d for d in counted if d not in dims]:
        raise ValueError(f"no array has the dimension {missing[0]!r}")
    kept = tuple(d for d in dims if d not in counted)
    arrays = [a.transpose(*kept, *counted) for a in arrays]
    counts, edges = _count(arrays[:n], _each(bins, n, _is_one_of_bins, "bins"),
                           _each(range, n, _is_one_range, "ranges"), None if weights is None else arrays[n], len(kept))
    if density:
        counts = densities(counts, edges)
    names = [f"{a.name}{bin_dim_suffix}" for a in args]
    coords: dict = {d: arrays[0][d] for d in kept if d in arrays[0].coords}
    for name, e, a in zip(names, edges, args, strict=True):
        coords[name] = ((name,), _centers(e), a.attrs)
    if keep_coords:
        for c in arrays[0].coords:
            if c not in coords and set(arrays[0][c].dims) <= set(kept):
                coords[c] = arrays[0][c]
    return xr.DataArray(counts, dims=[*kept, *names], coords=coords,
                        name="_".join(["histogram", *(str(a.name) for a in args)]))
