"""torch.histc, torch.histogram, torch.histogramdd and torch.bincount, counted by histo: for tensors in host memory and on
GPUs, of any dtype of real numbers, with results in the same memory, and without waiting for a GPU that is not asked for
the range of the samples.

Samples outside the range and NaN are dropped, and the last bin is closed, as in PyTorch. Samples are compared with the
edges exactly; PyTorch's histc computes the bin in the dtype of the samples, whose rounding puts samples that are next to
an edge into the neighbouring bin. Sums of weights are added as doubles.
"""

import math as _math
from typing import Any

import torch as _torch

from . import _histo

__all__ = ["bincount", "histc", "histogram", "histogramdd"]

_count = _histo.count
_WRITTEN = {_torch.float32: "f32", _torch.float64: "f64", _torch.int32: "i32"}


def _result(n: Any, dtype: Any, out: Any = None) -> Any:
    if n.dtype != dtype:
        n = n.to(dtype)
    if out is None:
        return n
    if out.shape != n.shape:
        out.resize_(n.shape)
    return out.copy_(n)


def _ends(input: Any) -> Any:
    _, infinite, low, high = _histo.extremes(input, None, 0)
    return (_math.nan, _math.nan) if infinite else (low, high)


def histc(input: Any, bins: int = 100, min: float = 0, max: float = 0, *, out: Any = None) -> Any:
    """torch.histc: the counts, in the dtype of the samples, of equal bins from min to max; if these are equal, from the
    smallest to the largest sample."""
    lo, hi = float(min), float(max)
    if lo == hi and input.numel():
        lo, hi = _ends(input)
    if lo == hi:
        lo, hi = lo - 1, hi + 1
    if not (_math.isfinite(lo) and _math.isfinite(hi)):
        raise RuntimeError(f"torch.histc: range of [{lo}, {hi}] is not finite")
    if lo > hi:
        raise RuntimeError("torch.histc: max must be larger than min")
    if bins < 1:
        raise RuntimeError("bins must be > 0")
    dtype = input.dtype
    n = _count((input,), ((bins, lo, hi),), None, None, 0, False, 0, 0, _WRITTEN.get(dtype, ""), True)
    return n if n.dtype == dtype and out is None else _result(n, dtype, out)


def _edges(input: Any, bins: Any, range: Any) -> Any:
    """Edges in the dtype of the samples, in host memory."""
    if isinstance(bins, _torch.Tensor):
        edges = bins.detach().cpu()
        if edges.ndim != 1 or edges.dtype != input.dtype:
            raise RuntimeError("bins must be a tensor of one dimension, of the dtype of the samples")
        return edges
    if bins < 1:
        raise RuntimeError("bins must be > 0")
    lo, hi = range if range is not None else _ends(input) if input.numel() else (0.0, 1.0)
    if lo == hi:
        lo, hi = lo - 0.5, hi + 0.5
    if not (_math.isfinite(lo) and _math.isfinite(hi)):
        raise RuntimeError(f"dimension 0's range [{lo}, {hi}] is not finite")
    if lo > hi:
        raise RuntimeError(f"min {lo} should not exceed max {hi}")
    return _torch.linspace(lo, hi, bins + 1, dtype=input.dtype)


def _sums(columns: Any, edges: Any, weight: Any, density: bool) -> Any:
    first = columns[0]
    dtype = first.dtype
    axes = tuple(e.double().numpy() for e in edges)
    n = _count(columns, axes, weight, None, 0, False, 0, 0, "f64", True)
    if density:
        n = n / n.sum()
        for d, e in enumerate(edges):
            widths = e.double().diff().to(first.device, non_blocking=True)
            n = n / widths.reshape([-1 if i == d else 1 for i in range(len(edges))])
    return n.to(dtype)


def _same_shape(weight: Any, shape: Any) -> None:
    if weight is not None and weight.shape != shape:
        raise RuntimeError("weight must have the shape of the samples")


def histogram(input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False,
              out: Any = None) -> Any:
    """torch.histogram, also on GPUs: the counts, or the sums of weights, and the edges."""
    _same_shape(weight, input.shape)
    edges = _edges(input, bins, range)
    hist = _sums((input,), (edges,), weight, density)
    there = bins if isinstance(bins, _torch.Tensor) else edges.to(input.device, non_blocking=True)
    if out is not None:
        hist, there = _result(hist, hist.dtype, out[0]), _result(there, there.dtype, out[1])
    return _torch.return_types.histogram((hist, there))


def histogramdd(input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """torch.histogramdd, also on GPUs, for up to 8 axes: the last dimension of the samples has their coordinates. range:
    the ends of all axes, one after the other."""
    columns = tuple(c.reshape(-1) for c in input.unbind(-1))
    each = [bins] * len(columns) if isinstance(bins, int) else list(bins)
    if len(each) != len(columns):
        raise RuntimeError("bins must be given for every axis")
    ranges = [None] * len(columns) if range is None else list(zip(range[::2], range[1::2]))
    _same_shape(weight, input.shape[:-1])
    edges = [_edges(c, b, r) for c, b, r in zip(columns, each, ranges)]
    hist = _sums(columns, edges, None if weight is None else weight.reshape(-1), density)
    return _torch.return_types.histogramdd((hist, tuple(e.to(input.device, non_blocking=True) for e in edges)))


def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """torch.bincount: how often each number from 0 on occurs, or the sums of the weights of its samples, in float64, or in
    float32 for weights of that dtype."""
    if input.ndim != 1 or input.is_floating_point() or input.is_complex():
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if weights is not None and weights.shape != input.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if not input.numel():
        return _torch.zeros(minlength, dtype=_torch.int64, device=input.device)
    low, high = _ends(input)
    if low < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    axes = ((max(int(high) + 1, minlength), 0),)
    if weights is None:
        return _count((input,), axes, None, None, 0, False, 0, 0, "", True)
    dtype = "f32" if weights.dtype == _torch.float32 else "f64"
    return _count((input,), axes, weights, None, 0, False, 0, 0, dtype, True)
