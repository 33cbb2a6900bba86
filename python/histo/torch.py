"""torch.histc, torch.histogram, torch.histogramdd and torch.bincount, counted by histo: for tensors in host memory and
on GPUs, of any dtype of real numbers, with results in the same memory, and without waiting for a GPU that is not asked
for the range of the samples. fill_ adds counts to a tensor.

Samples outside the range and NaN are dropped, and the last bin is closed, as in PyTorch. Samples are compared with the
edges exactly; PyTorch's histc computes the bin in the dtype of the samples, whose rounding puts samples next to an edge
into the neighbouring bin. Sums of weights are added as doubles. Results have no gradients.

torch.compile makes no graph break at these functions: what traces them sees the operators of torch.ops.histo. Other
calls bypass PyTorch's dispatcher, which takes longer than counting a thousand samples.
"""

import math as _math
from typing import Any

import torch as _torch

from . import _histo

__all__ = ["bincount", "fill_", "histc", "histogram", "histogramdd"]

_count, _extremes = _histo.count, _histo.extremes
_inf = _math.inf
_WRITTEN = {_torch.float32: "f32", _torch.float64: "f64", _torch.int32: "i32", _torch.int64: "i64"}
"""The dtypes in which counts are written."""
_COUNTERS = {_torch.int64: "i64", _torch.float32: "f64", _torch.float64: "f64"}
"""The dtypes that fill_ adds to, and the dtype in which it counts for each."""

# Something records or imitates the call: torch.compile if _dynamo(), and torch.export, make_fx, FakeTensorMode and the
# like if _modes(). torch.compiler.is_compiling() does not know all of these, and takes as long as both.
_dynamo = _torch.compiler.is_dynamo_compiling
_modes = _torch._C._len_torch_dispatch_stack


def _result(n: Any, out: Any) -> Any:
    if out.shape != n.shape:
        out.resize_(n.shape)
    return out.copy_(n)


def _ends(input: Any) -> Any:
    _, infinite, low, high = _extremes(input, None, 0)
    return (_math.nan, _math.nan) if infinite else (low, high)


def _detach(tensor: Any) -> Any:
    return None if tensor is None else tensor.detach()


# ---- histc


def _histc_ends(input: Any, bins: int, lo: float, hi: float) -> tuple[float, float]:
    """The range, from the samples if lo is hi."""
    if lo == hi and input.numel():
        _, infinite, lo, hi = _extremes(input, None, 0)
        if infinite:
            raise RuntimeError("torch.histc: range of the samples is not finite")
    if lo == hi:
        lo, hi = lo - 1, hi + 1
    if not (-_inf < lo < _inf and -_inf < hi < _inf):
        raise RuntimeError(f"torch.histc: range of [{lo}, {hi}] is not finite")
    if lo > hi:
        raise RuntimeError("torch.histc: max must be larger than min")
    if bins < 1:
        raise RuntimeError("bins must be > 0")
    return lo, hi


def _dtype_of_histc(dtype: Any) -> Any:
    """That of the samples, but for integers of 8 and 16 bits, in which counts would wrap."""
    return dtype if dtype in _WRITTEN or dtype.is_floating_point else _torch.int64


def _histc(input: Any, bins: int, lo: float, hi: float) -> Any:
    if bins < 1 or not -_inf < lo < hi < _inf:
        lo, hi = _histc_ends(input, bins, lo, hi)
    dtype = input.dtype
    written = _WRITTEN.get(dtype)
    n = _count((input,), ((bins, lo, hi),), None, None, 0, False, 0, 0, written or "i64", True)
    return n if written else n.to(_dtype_of_histc(dtype))


def histc(input: Any, bins: int = 100, min: float = 0, max: float = 0, *, out: Any = None) -> Any:
    """torch.histc: the counts of equal bins from min to max; if these are equal, from the smallest to the largest
    sample. They are in the dtype of the samples, but of integers of 8 and 16 bits in int64: PyTorch's wrap."""
    if _dynamo() or _modes():
        op = _op_histc_of_data if min == max else _op_histc
        n = op(input.detach(), bins, float(min), float(max))
    else:
        n = _histc(input, bins, float(min), float(max))
    return n if out is None else _result(n, out)


# ---- histogram and histogramdd


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
    n = _count(columns, edges, weight, None, 0, False, 0, 0, "f64", True)
    if density:
        n = n / n.sum()
        for d, e in enumerate(edges):
            widths = e.double().diff().to(first.device, non_blocking=True)
            n = n / widths.reshape([-1 if i == d else 1 for i in range(len(edges))])
    return n.to(first.dtype)


def _same_shape(weight: Any, shape: Any) -> None:
    if weight is not None and weight.shape != shape:
        raise RuntimeError("weight must have the shape of the samples")


def _columns(input: Any) -> Any:
    return tuple(c.reshape(-1) for c in input.unbind(-1))


def _ranges(range: Any, axes: int) -> Any:
    return [None] * axes if range is None else list(zip(range[::2], range[1::2]))


def _there(bins: Any, edges: Any, input: Any) -> Any:
    """Edges in the memory of the samples."""
    return bins if isinstance(bins, _torch.Tensor) else edges.to(input.device, non_blocking=True)


def _histogramdd(input: Any, bins: Any, range: Any, weight: Any, density: bool) -> Any:
    columns = _columns(input)
    if len(bins) != len(columns):
        raise RuntimeError("bins must be given for every axis")
    _same_shape(weight, input.shape[:-1])
    edges = tuple(_edges(c, b, r) for c, b, r in zip(columns, bins, _ranges(range, len(columns))))
    hist = _sums(columns, edges, None if weight is None else weight.reshape(-1), density)
    return hist, [_there(b, e, input) for b, e in zip(bins, edges)]


def _traced_histogramdd(input: Any, bins: Any, range: Any, weight: Any, density: bool) -> Any:
    numbers = [0 if isinstance(b, _torch.Tensor) else b for b in bins]
    given = [b.detach() for b in bins if isinstance(b, _torch.Tensor)]
    hist, made = _op_histogramdd(input.detach(), numbers, given, range, _detach(weight), density)
    each = iter(made)
    return hist, [b if isinstance(b, _torch.Tensor) else next(each) for b in bins]


def histogram(input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False,
              out: Any = None) -> Any:
    """torch.histogram, also on GPUs: the counts, or the sums of weights, and the edges."""
    if _dynamo() or _modes():
        hist, (there,) = _traced_histogramdd(input.unsqueeze(-1), (bins,), range, weight, density)
    else:
        _same_shape(weight, input.shape)
        edges = _edges(input, bins, range)
        hist, there = _sums((input,), (edges,), weight, density), _there(bins, edges, input)
    if out is not None:
        hist, there = _result(hist, out[0]), _result(there, out[1])
    return _torch.return_types.histogram((hist, there))


def histogramdd(input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """torch.histogramdd, also on GPUs, for up to 8 axes: the last dimension of the samples has their coordinates.
    range: the ends of all axes, one after the other."""
    each = [bins] * input.shape[-1] if isinstance(bins, int) else bins
    count = _traced_histogramdd if _dynamo() or _modes() else _histogramdd
    hist, edges = count(input, each, range, weight, density)
    return _torch.return_types.histogramdd((hist, tuple(edges)))


# ---- bincount


def _kind_of_sums(weights: Any) -> Any:
    """The dtype of bincount's result."""
    return _torch.int64 if weights is None else weights.dtype if weights.dtype == _torch.float32 else _torch.float64


def _bincount(input: Any, weights: Any, minlength: int, length: int | None = None) -> Any:
    if input.ndim != 1 or input.is_floating_point() or input.is_complex():
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if weights is not None and weights.shape != input.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if length is not None and length < minlength:
        raise RuntimeError("length should be >= minlength")
    bins = minlength if length is None else length
    samples = input.numel()
    if samples and (length is None or not input.is_cuda):
        _, _, low, high = _extremes(input, None, 0)
        if low < 0:
            raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
        if high >= bins:
            if length is not None:
                raise RuntimeError(f"bincount: length is {length}, and the largest number of input is {high}")
            bins = high + 1
    dtype = _kind_of_sums(weights)
    if not (samples and bins):
        return _torch.zeros(bins, dtype=dtype, device=input.device)
    return _count((input,), ((bins, 0),), weights, None, 0, False, 0, 0, _WRITTEN[dtype], True)


def bincount(input: Any, weights: Any = None, minlength: int = 0, *, length: int | None = None) -> Any:
    """torch.bincount: how often each number from 0 on occurs, or the sums of the weights of its samples, in float64, or
    in float32 for weights of that dtype.

    length: how many counts the result has, as in jax.numpy.bincount, so that nothing waits for a GPU. Numbers outside
    [0, length) are an error in host memory. On a GPU, where the call returns before they are read, they are dropped:
    then the sum of the counts is less than input.numel().
    """
    if _dynamo() or _modes():
        if length is None:
            return _op_bincount(input, _detach(weights), minlength)
        return _op_bincount_of_length(input, _detach(weights), minlength, length)
    return _bincount(input, weights, minlength, length)


# ---- fill_


def _check_fill(hist: Any, input: Any, weight: Any) -> None:
    axes = hist.ndim
    if hist.dtype not in _COUNTERS or (weight is not None and hist.dtype == _torch.int64):
        raise RuntimeError("fill_: hist must be of float32 or float64, or of int64 without weight")
    if axes < 1 or (axes > 1 and (input.ndim < 1 or input.shape[-1] != axes)):
        raise RuntimeError("fill_: the last dimension of input must have a coordinate for every dimension of hist")
    if hist.device != input.device:
        raise RuntimeError(f"fill_: hist is on {hist.device}, and input on {input.device}")
    _same_shape(weight, input.shape if axes == 1 else input.shape[:-1])


def _add(hist: Any, input: Any, axes: Any, weight: Any) -> None:
    columns = (input,) if hist.ndim == 1 else _columns(input)
    weight = weight if hist.ndim == 1 or weight is None else weight.reshape(-1)
    hist.add_(_count(columns, axes, weight, None, 0, False, 0, 0, _COUNTERS[hist.dtype], True))


def _fill(hist: Any, input: Any, range: Any, weight: Any) -> None:
    _check_fill(hist, input, weight)
    ends = _ranges(range, hist.ndim)
    if len(range) != 2 * hist.ndim or not all(-_inf < lo < hi < _inf for lo, hi in ends):
        raise RuntimeError("fill_: range must have two finite ends for every dimension of hist, the lower one first")
    _add(hist, input, tuple((n, lo, hi) for n, (lo, hi) in zip(hist.shape, ends)), weight)


def _fill_between(hist: Any, input: Any, bins: Any, weight: Any) -> None:
    _check_fill(hist, input, weight)
    if not all(isinstance(b, _torch.Tensor) for b in bins):
        raise RuntimeError("fill_: bins must be tensors of edges")
    edges = tuple(_edges(input, b, None) for b in bins)
    if [len(e) - 1 for e in edges] != list(hist.shape):
        raise RuntimeError("fill_: bins must have one edge more than hist has bins, for each of its dimensions")
    _add(hist, input, edges, weight)


def fill_(hist: Any, input: Any, bins: Any = None, *, range: Any = None, weight: Any = None) -> Any:
    """Add the counts of samples, or the sums of their weights, to hist, and return it. hist is of int64, or, also for
    weights, of float32 or float64.

    range: the ends of as many equal bins as hist has; bins: a tensor of their edges instead, of the dtype of the
    samples. A hist of several dimensions, up to 8, has an axis for each: the last dimension of input has the
    coordinates, range the ends of all axes, one after the other, and bins is a list of tensors, as in
    torch.histogramdd. Samples outside are dropped.

    With range, or edges in host memory, nothing waits for a GPU.
    """
    if (bins is None) == (range is None):
        raise RuntimeError("fill_: give either bins or range")
    fill, between = _fill, _fill_between
    if _dynamo() or _modes():
        fill, between = _op_fill, _op_fill_between
        input, weight = input.detach(), _detach(weight)
    if bins is None:
        fill(hist, input, range, weight)
    else:
        between(hist, input, [bins] if isinstance(bins, _torch.Tensor) else bins, weight)
    return hist


# ---- The operators, and the shapes of their results


def _operator(
    name: str, schema: str, run: Any, fake: Any, *, waits: bool = False, mutates: tuple[str, ...] = ()
) -> Any:
    """waits: for a GPU, or copies edges to it, so that a CUDA graph cannot hold it."""
    tags = (_torch.Tag.cudagraph_unsafe,) if waits else ()
    op = _torch.library.custom_op("histo::" + name, run, mutates_args=mutates, schema=schema, tags=tags)
    op.register_fake(fake)
    return op


def _run_histogramdd(input: Any, bins: Any, edges: Any, range: Any, weight: Any, density: bool) -> Any:
    """bins: 0 for an axis whose edges are given. Returns the edges of the others."""
    each = iter(edges)
    hist, there = _histogramdd(input, [n or next(each) for n in bins], range, weight, density)
    return hist, [e for n, e in zip(bins, there) if n]


def _fake_histogramdd(input: Any, bins: Any, edges: Any, range: Any, weight: Any, density: bool) -> Any:
    each = iter(edges)
    shape = [n or next(each).shape[0] - 1 for n in bins]
    return input.new_empty(shape), [input.new_empty(n + 1) for n in bins if n]


def _fake_bincount(input: Any, weights: Any, minlength: Any) -> Any:
    length = _torch.library.get_ctx().new_dynamic_size()
    _torch._check(length >= minlength)
    return input.new_empty(length, dtype=_kind_of_sums(weights))


_op_histc = _operator(
    "histc", "(Tensor input, SymInt bins, float min, float max) -> Tensor", _histc,
    lambda input, bins, min, max: input.new_empty(bins, dtype=_dtype_of_histc(input.dtype)),
)
_op_histc_of_data = _operator(
    "histc_of_data", "(Tensor input, SymInt bins, float min, float max) -> Tensor", _histc,
    lambda input, bins, min, max: input.new_empty(bins), waits=True,
)
_op_histogramdd = _operator(
    "histogramdd",
    "(Tensor input, SymInt[] bins, Tensor[] edges, float[]? range, Tensor? weight, bool density) -> (Tensor, Tensor[])",
    _run_histogramdd, _fake_histogramdd, waits=True,
)
_op_bincount = _operator(
    "bincount", "(Tensor input, Tensor? weights, SymInt minlength) -> Tensor", _bincount, _fake_bincount, waits=True,
)
_op_bincount_of_length = _operator(
    "bincount_of_length", "(Tensor input, Tensor? weights, SymInt minlength, SymInt length) -> Tensor", _bincount,
    lambda input, weights, minlength, length: input.new_empty(length, dtype=_kind_of_sums(weights)),
)
_op_fill = _operator(
    "fill_", "(Tensor(a!) hist, Tensor input, float[] range, Tensor? weight) -> ()", _fill,
    lambda hist, input, range, weight: None, mutates=("hist",),
)
_op_fill_between = _operator(
    "fill_between_", "(Tensor(a!) hist, Tensor input, Tensor[] bins, Tensor? weight) -> ()", _fill_between,
    lambda hist, input, bins, weight: None, waits=True, mutates=("hist",),
)
