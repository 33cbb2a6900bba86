"""The functions of fast-histogram: bins of equal width, half-open ranges, counts as float64.

    from histo.compat.fast_histogram import histogram1d

Edges are those of numpy.linspace and compared exactly. Sums of weights are in double, as there, but added in another
order.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ..axes import Regular
from ..hist import Histogram
from ..sources import as_masked

__all__ = ["histogram1d", "histogram2d", "histogramdd"]


def _numbers(a: Any, what: str) -> Any:
    a = np.atleast_1d(as_masked(a))
    if a.dtype.kind not in "fiu":
        raise TypeError(f"{what} is not or cannot be converted to a numerical array")
    return a


def _axis(bins: Any, limits: Any, name: str) -> Regular:
    lo, hi = limits
    for end, value in (("min", lo), ("max", hi)):
        if not np.isfinite(value):
            raise ValueError(f"{name}{end} should be finite")
    if hi <= lo:
        raise ValueError(f"{name}max should be greater than {name}min")
    if bins <= 0:
        raise ValueError(f"n{name} should be strictly positive")
    return Regular(bins, lo, hi)


def _sums(axes: list, arrays: list, weights: Any) -> Any:
    if weights is not None:
        weights = _numbers(weights, "weights")
    for a in arrays[1:] + ([] if weights is None else [weights]):
        if a.shape != arrays[0].shape:
            raise ValueError("input arrays should have the same shape")
    h = Histogram(*axes, storage="int64" if weights is None else "double")
    return h.fill(*arrays, weight=weights).values().astype(float)


def histogram1d(x: Any, bins: int, range: Any, weights: Any = None) -> Any:
    """Counts, or sums of weights, of samples in `bins` bins of equal width in range = (xmin, xmax)."""
    if not np.isscalar(bins):
        raise TypeError("bins should be an integer")
    return _sums([_axis(bins, range, "x")], [_numbers(x, "x")], weights)


def histogram2d(x: Any, y: Any, bins: Any, range: Any, weights: Any = None) -> Any:
    """As `histogram1d`, of pairs: bins is a number or (nx, ny), range is ((xmin, xmax), (ymin, ymax))."""
    nx, ny = (bins, bins) if isinstance(bins, numbers.Integral) else bins
    if not np.isscalar(nx) or not np.isscalar(ny):
        raise TypeError("bins should be an iterable of two integers")
    of_x, of_y = range
    return _sums([_axis(nx, of_x, "x"), _axis(ny, of_y, "y")], [_numbers(x, "x"), _numbers(y, "y")], weights)


def histogramdd(sample: Any, bins: Any, range: Any, weights: Any = None) -> Any:
    """As `histogram1d`, of points: sample is an array (points, axes), or a sequence of arrays, one for each axis."""
    if isinstance(sample, np.ndarray):
        columns = list(np.atleast_2d(sample.T))
    else:
        columns = [sample] if isinstance(sample[0], numbers.Real) else list(sample)
    columns = [_numbers(x, "input") for x in columns]
    each = [bins] * len(columns) if isinstance(bins, numbers.Integral) else list(bins)
    if len(each) != len(columns):
        raise ValueError("number of bin counts does not match number of dimensions")
    if len(range) != len(columns):
        raise ValueError("number of ranges does not equal number of dimensions")
    return _sums([_axis(n, limits, "x") for n, limits in zip(each, range, strict=True)], columns, weights)
