"""Counts and sums of weights of arrays, of any dtype that NumPy's histograms take, by the extension module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _histo, dates
from .sources import EXACT

_FEW = 1 << 13
"""Fewer complex weights than this are summed by two fills."""


def sums(arrays: Sequence, axes: Sequence, weights: Any = None, mask: Any = None, batch: int = 0, flow: bool = False,
         threads: int = 0, device: int = 0, whole: bool | str = "wrap") -> np.ndarray:
    """Counts, or sums of weights in float64, complex128, int64 or uint64.

    arrays, axes: samples, dates among them, and an axis of the library or an array of edges for each. batch: the number
    of dimensions, the first ones, that are not counted. threads, device: numbers of the library. whole: sums of integers
    are integers, and ValueError if these do not hold them, or, if it is "wrap", modulo 2^64, as NumPy's of one axis are;
    else float64.
    """
    arrays, axes = list(arrays), list(axes)
    for i, axis in enumerate(axes):
        if not isinstance(axis, tuple) and (dates.is_date(axis.dtype) or dates.is_date(arrays[i].dtype)):
            axes[i], arrays[i] = dates.matched(axis, arrays[i], flow)
    samples, described = tuple(arrays), tuple(axes)

    def count(weights: Any) -> np.ndarray:
        return _histo.count(samples, described, weights, mask, batch, flow, threads, device)

    kind = "" if weights is None else weights.dtype.kind
    if kind in ("b", "i", "u"):
        return _integer_sums(count, weights, whole)
    if kind != "c":
        return count(weights)
    if weights.size < _FEW or weights.ndim == _histo.MAX_DIMS:
        real, imaginary = count(weights.real), count(weights.imag)
    else:  # by one fill of a batch of two, which finds bins once
        parts = np.moveaxis(weights[..., np.newaxis].view(weights.real.dtype), -1, 0)
        samples = tuple(np.broadcast_to(a, parts.shape) for a in samples)
        mask = None if mask is None else np.broadcast_to(mask, parts.shape)
        batch += 1
        real, imaginary = count(parts)
    result = np.empty(real.shape, complex)
    result.real, result.imag = real, imaginary
    return result


def _integer_sums(count: Callable[[Any], np.ndarray], weights: np.ndarray, whole: bool | str) -> np.ndarray:
    """Sums of integers are exact, modulo 2^64 or rounded to a double: as doubles if they are below 2^53; else each of some
    bits at a time is."""
    kind: type = np.uint64 if weights.dtype.kind == "u" else np.int64
    widest = 2 ** (8 * weights.dtype.itemsize)
    if weights.size and widest * weights.size > EXACT:
        low, high = int(weights.min()), int(weights.max())
        widest = max(-low, high)
    if widest * weights.size <= EXACT:
        return count(weights).astype(kind if whole else float)
    weights = weights.astype(kind, copy=False)
    bits = min(32, (EXACT // weights.size).bit_length() - 1)
    parts = []
    while len(parts) * bits < 64:
        last = (len(parts) + 1) * bits >= 64
        part = weights if last else weights & kind(2**bits - 1)
        parts.append(count(part if last else part.astype(np.uint32)))  # the last one has the sign
        weights = weights >> kind(bits)
    total = parts[-1]
    for part in parts[-2::-1]:
        total = total * 2.0**bits + part
    if not whole:
        return total
    wrapped = [part.astype(np.int64).view(np.uint64) << np.uint64(bits * i) for i, part in enumerate(parts)]
    made = np.add.reduce(wrapped).view(kind)
    if whole != "wrap" and (abs(total - made) > abs(total) / 2).any():
        raise ValueError(f"a sum of weights is beyond {np.dtype(kind)}: ask for dtype=float")
    return made


def dtype_of_sums(weights: Any) -> np.dtype:
    """The dtype of sums: as NumPy's, that of the weights; integers are summed in 64 bits."""
    if weights is None:
        return np.dtype(np.intp)
    if weights.dtype.kind in "biu":
        return np.dtype(np.uint64 if weights.dtype.kind == "u" else np.int64)
    return weights.dtype
