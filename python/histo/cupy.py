"""cupy.histogram, cupy.histogram2d, cupy.histogramdd and cupy.bincount, counted by histo: for CuPy arrays of any dtype of
real numbers, with results in the same memory, and without waiting for the GPU that is not asked for the range of the
samples.

Beyond CuPy's: bins by the name of a rule, and arrays of edges that are NumPy's.
"""

from typing import Any

import cupy as _cupy
import numpy as _np

from . import devices as _devices
from ._histo import bincount as _bincount
from ._histo import histogram as _histogram

__all__ = ["bincount", "histogram", "histogram2d", "histogramdd"]


def _check(*arrays: Any) -> None:
    for array in arrays:
        if array is not None and not isinstance(array, _cupy.ndarray):
            raise ValueError(f"{type(array).__name__} is not a cupy.ndarray")


def histogram(x: Any, bins: Any = 10, range: Any = None, density: bool = False, weights: Any = None) -> Any:
    """cupy.histogram: the counts or sums of weights, and the edges. Sums are int64, float64 or complex128."""
    _check(x, weights)
    if density or weights is None or weights.dtype != _np.float32:
        return _histogram(x, bins, range, density, weights)
    return _histogram(x, bins, range, weights=weights, dtype=_np.float64)


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool | None = None
) -> Any:
    """cupy.histogram2d: the counts or sums of weights as float64, and the edges of both axes."""
    _check(x, y, weights)
    return _devices.histogram2d(x, y, bins, range, density, weights)


def histogramdd(sample: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> Any:
    """cupy.histogramdd: the counts or sums of weights as float64, and the edges of all axes."""
    columns = (sample,) if isinstance(sample, _cupy.ndarray) else tuple(sample)
    _check(*columns, weights)
    return _devices.histogramdd(sample, bins, range, density, weights)


def bincount(x: Any, weights: Any = None, minlength: int | None = None) -> Any:
    """cupy.bincount: how often each number from 0 on occurs, as int64, or the sums of the weights, as float64."""
    _check(x, weights)
    return _bincount(x, weights, minlength or 0)
