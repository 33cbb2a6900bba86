"""NumPy's functions for arrays in the memory of GPUs: these are counted there, on the stream on which their library
works, and the results are arrays of that library in the same memory. Nothing waits for the GPU, unless it has to find the
range of the samples. The functions of the package come here with such arrays.

An array that a call has read may be freed or overwritten at once by work on the same stream, as PyTorch and CuPy do it.
"""

import contextlib as _contextlib
import ctypes as _ctypes
import importlib as _importlib
import importlib.util as _importlib_util
import math as _math
import sys as _sys
from pathlib import Path as _Path
from typing import Any

import numpy as np

from . import _histo
from . import rules as _rules

__all__ = ["bincount", "compile_kernels", "empty_cache", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]

_range = range  # `range` is an argument of most functions


# ---- Libraries of arrays


class _Torch:
    """What these functions need of PyTorch."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.uint8 = torch.uint8
        self.dtypes: dict = {}
        self.by_size = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}

    def dtype(self, array: Any) -> np.dtype:
        found = self.dtypes.get(array.dtype)
        if found is None:
            name = str(array.dtype).removeprefix("torch.")
            found = self.dtypes[array.dtype] = np.dtype(np.float32 if name == "bfloat16" else name)
        return found

    def plain(self, array: Any) -> Any:
        return array.detach() if array.requires_grad else array

    def empty_like(self, array: Any, dtype: Any = None) -> Any:
        return self.torch.empty_like(array, dtype=self.named(dtype))

    def zeros_like(self, array: Any, dtype: Any = None) -> Any:
        return self.torch.zeros_like(array, dtype=self.named(dtype))

    def named(self, dtype: Any) -> Any:
        if dtype is None or isinstance(dtype, self.torch.dtype):
            return dtype
        return getattr(self.torch, np.dtype(dtype).name)

    def taken(self, array: Any, index: Any, d: int) -> Any:
        same_size = self.by_size[array.element_size()]  # not all dtypes have a kernel
        return array.view(same_size).index_select(d, index).view(array.dtype)

    def finite(self, array: Any) -> Any:
        return self.torch.isfinite(array)

    def both(self, a: Any, b: Any) -> Any:
        return self.torch.logical_and(a, b)

    def cast(self, array: Any, dtype: Any) -> Any:
        return array.to(getattr(self.torch, np.dtype(dtype).name))

    def put(self, array: Any, like: Any) -> Any:
        """A NumPy array as one beside `like`, on the stream."""
        return self.torch.from_numpy(np.ascontiguousarray(array)).to(like.device, non_blocking=True)

    def device_of(self, array: Any) -> Any:
        return array.device

    def copy(self, array: Any) -> Any:
        return array.mul(1)  # a kernel, which is faster than the copy of clone

    def synchronize(self, like: Any) -> None:
        if like.is_cuda:
            self.torch.cuda.current_stream(like.device).synchronize()

    def get(self, array: Any) -> Any:
        return array.detach().cpu().numpy()

    def zeros(self, shape: Any, dtype: Any, like: Any) -> Any:
        return self.torch.zeros(shape, dtype=getattr(self.torch, np.dtype(dtype).name), device=like.device)

    def complex(self, real: Any, imag: Any) -> Any:
        return self.torch.complex(real, imag)

    def transposed(self, array: Any, order: Any) -> Any:
        return array.permute(order)

    def stretched(self, array: Any, shape: Any) -> Any:
        return array.expand(shape)

    def stream(self, array: Any) -> int:
        return self.torch.cuda.current_stream(array.device).cuda_stream

    def stream_on(self, device: int) -> int:
        return self.torch.cuda.current_stream(device).cuda_stream if self.torch.cuda.is_initialized() else 0

    def empty(self, shape: Any, dtype: str, device: int) -> tuple:
        there = self.torch.empty(shape, dtype=getattr(self.torch, _NAMES[dtype]), device=f"cuda:{device}")
        return there, there.data_ptr()


class _Cupy:
    """Likewise of CuPy."""

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy
        self.uint8 = np.uint8
        self.device = cupy.cuda.runtime.getDevice

    def dtype(self, array: Any) -> np.dtype:
        return array.dtype

    def plain(self, array: Any) -> Any:
        return array

    def empty_like(self, array: Any, dtype: Any = None) -> Any:
        with array.device:
            return self.cupy.empty_like(array, dtype)

    def zeros_like(self, array: Any, dtype: Any = None) -> Any:
        with array.device:
            return self.cupy.zeros_like(array, dtype)

    def taken(self, array: Any, index: Any, d: int) -> Any:
        with array.device:
            return self.cupy.take(array, index, axis=d)

    def finite(self, array: Any) -> Any:
        with array.device:
            return self.cupy.isfinite(array)

    def both(self, a: Any, b: Any) -> Any:
        with a.device:
            return self.cupy.logical_and(a, b)

    def cast(self, array: Any, dtype: Any) -> Any:
        return array.astype(dtype, copy=False)

    def put(self, array: Any, like: Any) -> Any:
        with like.device:
            return self.cupy.asarray(array)

    def device_of(self, array: Any) -> Any:
        return array.device.id

    def copy(self, array: Any) -> Any:
        if self.device_of(array) == self.device():
            return self.cupy.multiply(array, 1)
        with array.device:
            return self.cupy.multiply(array, 1)

    def synchronize(self, like: Any) -> None:
        self.cupy.cuda.get_current_stream().synchronize()

    def get(self, array: Any) -> Any:
        return array.get()

    def zeros(self, shape: Any, dtype: Any, like: Any) -> Any:
        with like.device:
            return self.cupy.zeros(shape, dtype)

    def complex(self, real: Any, imag: Any) -> Any:
        return real + 1j * imag

    def transposed(self, array: Any, order: Any) -> Any:
        return array.transpose(order)

    def stretched(self, array: Any, shape: Any) -> Any:
        return self.cupy.broadcast_to(array, shape)

    def stream(self, array: Any) -> int:
        return self.stream_on(array.device.id)

    def stream_on(self, device: int) -> int:
        with self.cupy.cuda.Device(device):
            return self.cupy.cuda.get_current_stream().ptr

    def empty(self, shape: Any, dtype: str, device: int) -> tuple:
        if device == self.device():
            there = self.cupy.empty(shape, _NAMES[dtype])
        else:
            with self.cupy.cuda.Device(device):
                there = self.cupy.empty(shape, _NAMES[dtype])
        return there, there.data.ptr


_NAMES = {"i64": "int64", "u64": "uint64", "f32": "float32", "f64": "float64"}


_LIBRARIES: dict = {}


_ADAPTERS = (("torch", "Tensor", _Torch), ("cupy", "ndarray", _Cupy))


def library_of(array: Any) -> Any:
    """That of an array; None for others that it cannot make arrays of."""
    for name, array_type, adapter in _ADAPTERS:
        module = _sys.modules.get(name)
        kind = getattr(module, array_type, None)  # None also while the module is being imported
        if kind is not None and isinstance(array, kind):
            return _LIBRARIES.get(name) or _LIBRARIES.setdefault(name, adapter(module))
    return None


def current_stream(array: Any) -> int | None:
    """The cudaStream_t on which the library of an array works now; None if it is not known."""
    library = library_of(array)
    return None if library is None else library.stream(array)


def stream_on(device: int) -> int:
    """The cudaStream_t on which PyTorch or CuPy works now on this GPU: of two, one that is not the default stream."""
    for name, array_type, adapter in _ADAPTERS:
        module = _sys.modules.get(name)
        if getattr(module, array_type, None) is not None:
            library = _LIBRARIES.get(name) or _LIBRARIES.setdefault(name, adapter(module))
            stream = library.stream_on(device)
            if stream:
                return stream
    return 0


def empty_beside(array: Any, device: int, shape: Any, dtype: str) -> tuple:
    """A new array of the same library on this GPU, in host memory if histo does not know the library; and its address."""
    library = library_of(array)
    if library is not None:
        return library.empty(shape, dtype, device)
    there = np.empty(shape, _NAMES[dtype])
    return there, there.ctypes.data


_EDGES: dict = {}
"""Edges that arrays on GPUs have been given before."""


def put_beside(edges: Any, array: Any) -> Any:
    """A NumPy array as one beside `array`, on the stream."""
    library = library_of(array)
    return edges if library is None else library.put(edges, array)


def edges_beside(edges: Any, array: Any) -> Any:
    """A NumPy array as one beside `array`, on the stream. Copies on the GPU are faster than from the host."""
    library = library_of(array)
    if library is None or len(edges) > 4096:
        return edges if library is None else library.put(edges, array)
    key = (library, library.device_of(array), edges.dtype.char, edges.tobytes())
    beside = _EDGES.get(key)
    if beside is None:
        beside = library.put(edges, array)
        if len(_EDGES) >= 256:  # none is dropped, since graphs may copy it
            return beside
        library.synchronize(array)  # other streams copy it, too
        _EDGES[key] = beside
    return library.copy(beside)


def empty_cache() -> None:
    """Free the memory of GPUs that histo keeps for further calls of its functions."""
    _EDGES.clear()
    images = _sys.modules.get("histo.image.on_gpu")
    if images:
        images.forget()
    _histo.forget()


def compile_kernels(wanted: bool = True) -> None:
    """From now on, have kernels compiled for exactly the bins and layout of the samples of each new kind of call, which
    then waits about a second, where that makes the following calls faster: those of few samples above all. Without
    this, they are compiled beside the calls if these go on. It needs NVIDIA's NVRTC, which PyTorch and CuPy bring
    along."""
    _histo.compile_kernels(wanted)


def _load_nvrtc() -> None:
    """The backend finds it in the process, or where the system has its libraries."""
    found = _importlib_util.find_spec("nvidia")
    folders = found.submodule_search_locations if found else ()
    for name in ("libnvrtc.so.13", "libnvrtc.so.12"):
        places = [path for folder in folders or () for path in _Path(folder).glob(f"*/lib/{name}")]
        for place in (name, *places):
            with _contextlib.suppress(OSError):
                _ctypes.CDLL(str(place))
                return


# ---- Operands


def _adopted(array: Any) -> Any:
    """An array of any library on a GPU as one of CuPy or PyTorch, without a copy."""
    has_interface = hasattr(array, "__cuda_array_interface__")
    if not has_interface and (not hasattr(array, "__dlpack_device__") or array.__dlpack_device__()[0] not in (2, 13)):
        raise ValueError("samples must be in one memory: some are in that of a GPU, others in that of the host")
    if has_interface:
        with _contextlib.suppress(ImportError):
            return _importlib.import_module("cupy").asarray(array)
        with _contextlib.suppress(ImportError):
            return _importlib.import_module("torch").as_tensor(array)
    for library in ("cupy", "torch"):
        with _contextlib.suppress(ImportError):
            return _importlib.import_module(library).from_dlpack(array)
    raise TypeError(
        f"histo cannot make arrays of {type(array).__module__} on a GPU: install CuPy or PyTorch, of which the results "
        "are then, or fill a Histogram"
    )


class Samples:
    """An array as histo.rules sees it."""

    def __init__(self, array: Any) -> None:
        library = library_of(array)
        self.adopted = library is None
        if self.adopted:
            array = _adopted(array)
            library = library_of(array)
        self.array = array = library.plain(array)
        self.library = library
        self.dtype = self.library.dtype(array)
        self.shape = tuple(array.shape)
        self.ndim = len(self.shape)

    @property
    def size(self) -> int:
        return _math.prod(self.shape)

    def extremes(self, mask: Any) -> Any:
        """As rules.extremes_of."""
        samples, infinite, low, high = _histo.extremes(self.array, mask, 0)
        if infinite:
            return np.nan, np.nan
        return _rules.ends_of(self.dtype, low, high) if samples else None


def _samples_of(a: Any) -> Samples:
    samples = Samples(a)
    if samples.dtype == bool:
        _rules.warn_of_bool(samples.dtype, stacklevel=3)
        samples.array, samples.dtype = samples.array.view(samples.library.uint8), np.dtype(np.uint8)
    return samples


def _here(values: Any) -> Any:
    """Bins or a range, which may be arrays on a GPU, as the host reads them."""
    if isinstance(values, (list, tuple)):
        return type(values)(map(_here, values))
    library = library_of(values)
    return values if library is None else library.get(values)


def _shape_of(array: Any) -> tuple:
    """Without NumPy's dispatch to the array's library."""
    shape = getattr(array, "shape", None)
    return np.shape(array) if shape is None else tuple(shape)


def mask_for(mask: Any, samples: Samples) -> Any:
    if mask is None or _shape_of(mask) == samples.shape:
        return mask
    if library_of(mask) is not samples.library:
        raise ValueError("a mask that is broadcast must be an array of the samples' library")
    return samples.library.stretched(mask, samples.shape)


def _weights_for(weights: Any, samples: Samples) -> Any:
    if weights is not None:
        _rules.check_weights(_shape_of(weights), samples.shape)
    return weights


def _kind_of(weights: Any) -> str:
    library = library_of(weights)
    return (np.asarray(weights).dtype if library is None else library.dtype(weights)).kind


# ---- Counting


class _Call:
    """What the functions have in common: how samples are counted, and what becomes of the counts."""

    def __init__(self, samples: Samples, threads: Any, flow: Any, device: Any, out: Any, dtype: Any) -> None:
        self.library, self.like, self.adopted = samples.library, samples.array, samples.adopted
        self.threads = _rules.threads_of(threads)
        self.flow = bool(flow)
        self.device = _rules.device_of(device)
        self.on_host = self.device == _histo.DEVICE_CPU
        self.out, self.dtype = out, dtype

    def put(self, edges: Any) -> Any:
        return edges if self.on_host else edges_beside(edges, self.like)

    def zeros(self, shape: Any, dtype: Any) -> Any:
        return np.zeros(shape, dtype) if self.on_host else self.library.zeros(shape, dtype, self.like)

    def cast(self, n: Any, dtype: Any) -> Any:
        return n.astype(dtype, copy=False) if isinstance(n, np.ndarray) else self.library.cast(n, dtype)

    def _count(self, arrays: Any, axes: Any, weights: Any, mask: Any, batch: int, dtype: str, into: Any) -> Any:
        n = _histo.count(arrays, axes, weights, mask, batch, self.flow, self.threads, self.device, dtype, into)
        if self.adopted:  # the library of the samples does not know on which stream they are read
            self.library.synchronize(self.like)
        return n

    def count(self, arrays: Any, axes: Any, weights: Any, mask: Any, batch: int, dtype: Any = None) -> Any:
        """The counts or sums of weights, in the dtype that NumPy's sums of such weights have, or in this one."""
        into = not self.on_host
        kind = "" if weights is None else _kind_of(weights)
        if kind == "c":
            parts = [self._count(arrays, axes, w, mask, batch, "f64", into) for w in (weights.real, weights.imag)]
            return parts[0] + 1j * parts[1] if self.on_host else self.library.complex(*parts)
        narrow = kind == "f" and self.library.dtype(weights) == np.float32
        n = self._count(arrays, axes, weights, mask, batch, dtype or ("f32" if narrow else ""), into)
        if dtype is None and kind in ("b", "i", "u") and kind:
            return self.cast(n, np.uint64 if kind == "u" else np.int64)
        if dtype is None and kind == "f" and not narrow:
            return self.cast(n, self.library.dtype(weights))
        return n

    def counted_into_out(self, arrays: Any, axes: Any, weights: Any, mask: Any, batch: int, shape: Any) -> bool:
        """Whether the counts could be written to `out` at once."""
        if self.out is None or self.dtype is not None:
            return False
        self.check_out(shape)
        kind = "" if weights is None else _kind_of(weights)
        return kind in ("", "f") and self._count(arrays, axes, weights, mask, batch, "", self.out)

    def check_out(self, shape: Any) -> None:
        if tuple(self.out.shape) != tuple(shape):
            raise ValueError(f"out has the shape {tuple(self.out.shape)}; the result has {tuple(shape)}")

    def deliver(self, n: Any, dtype: Any = None) -> Any:
        dtype = self.dtype if self.dtype is not None else dtype
        if dtype is not None:
            n = self.cast(n, dtype)
        if self.out is None:
            return n
        self.check_out(n.shape)
        if isinstance(self.out, np.ndarray):
            np.copyto(self.out, n if isinstance(n, np.ndarray) else self.library.get(n), casting="same_kind")
        else:
            self.out[...] = n if not isinstance(n, np.ndarray) else self.library.put(n, self.like)
        return self.out


def _batch_first(samples: Samples, axis: Any, weights: Any, mask: Any) -> Any:
    """The shape of the dimensions that are not counted, and the arrays with those that are moved to their end."""
    arrays = (samples.array, weights, mask)
    if axis is None:
        return (), arrays
    batch_dims, axes = _rules.axes_of(axis, samples.ndim)
    moved = [a if a is None else samples.library.transposed(a, batch_dims + axes) for a in arrays]
    return tuple(samples.shape[d] for d in batch_dims), moved


def _edges_of(samples: Samples, bins: Any, range: Any, weights: Any, mask: Any, threads: Any) -> Any:
    return _rules.edges_of(samples, _here(bins), _here(range), weights, mask, threads)


def _returned(call: _Call, bins: Any, edges: Any) -> Any:
    """The edges that a function returns: the caller's own, if it gave an array."""
    given = library_of(bins) is call.library and not call.on_host and len(bins.shape) == 1
    return bins if given else call.put(edges)


def histogram(
    a, bins=10, range=None, density=None, weights=None, *, axis=None, mask=None, out=None, threads=None, flow=False,
    device=None, dtype=None, missing="mask",
):
    samples = _samples_of(a)
    weights = _weights_for(weights, samples)
    mask = mask_for(mask, samples)
    call = _Call(samples, threads, flow, device, out, dtype)
    _rules.check_flow(density, flow)
    edges = _edges_of(samples, bins, range, weights, mask, call.threads)
    shown = _returned(call, bins, edges)
    if len(edges) < 2:
        return call.zeros(0, np.int64), shown
    batch, (array, weights, mask) = _batch_first(samples, axis, weights, mask)
    operands = ((array,), (edges,), weights, mask, len(batch))
    if not density and call.counted_into_out(*operands, (*batch, len(edges) - 1 + 3 * call.flow)):
        return out, shown
    n = call.count(*operands)
    return call.deliver(_rules.densities(n, [edges], call.put) if density else n), shown


def histogram_bin_edges(a, bins=10, range=None, weights=None, *, mask=None, threads=None, device=None,
                        missing="mask"):
    samples = _samples_of(a)
    call = _Call(samples, threads, False, device, None, None)
    weights = _weights_for(weights, samples)
    edges = _edges_of(samples, bins, range, weights, mask_for(mask, samples), call.threads)
    return _returned(call, bins, edges)


def _columns(sample: Any) -> list:
    if isinstance(sample, (list, tuple)):
        columns = [Samples(x) for x in sample]
        if any(c.ndim != 1 or c.shape != columns[0].shape for c in columns):
            raise ValueError("the samples of all axes must be arrays of one dimension and one length")
        return columns
    if len(sample.shape) == 1:
        return [Samples(sample)]
    if len(sample.shape) != 2:
        raise ValueError(f"too many values to unpack (expected 2, got {len(sample.shape)})")
    return [Samples(sample[:, d]) for d in _range(sample.shape[1])]


def histogramdd(
    sample, bins=10, range=None, density=None, weights=None, *, mask=None, out=None, threads=None, flow=False,
    device=None, dtype=None, missing="mask",
):
    columns = _columns(sample)
    dimensions = len(columns)
    call = _Call(columns[0], threads, flow, device, out, dtype)
    bins, range = _rules.of_dimensions(dimensions, bins, range)
    _rules.check_flow(density, flow)
    weights = _weights_for(weights, columns[0])
    mask = mask_for(mask, columns[0])
    common = np.result_type(*(c.dtype for c in columns))
    edges = [
        _rules.edges_of_dimension(i, columns[i], common, _here(bins[i]), _here(range[i]), mask, call.threads)
        for i in _range(dimensions)
    ]
    shown = [_returned(call, b, e) for b, e in zip(bins, edges)]
    if any(len(e) < 2 for e in edges):
        return call.deliver(call.zeros([max(len(e) - 1, 0) for e in edges], np.float64)), shown
    operands = (tuple(c.array for c in columns), tuple(edges), weights, mask, 0)
    if not density and call.counted_into_out(*operands, [len(e) - 1 + 3 * call.flow for e in edges]):
        return out, shown
    n = call.count(*operands, dtype="f64")
    return call.deliver(_rules.densities(n, edges, call.put) if density else n), shown


def histogram2d(x, y, bins=10, range=None, density=None, weights=None, **ours):
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    n, (xedges, yedges) = histogramdd([x, y], _rules.bins_of_two(bins), range, density, weights, **ours)
    return n, xedges, yedges


def bincount(
    x, /, weights=None, minlength=0, *, axis=None, mask=None, out=None, threads=None, device=None, dtype=None, missing="mask",
):
    samples = Samples(x)
    if axis is None:
        _rules.check_dimension(samples.ndim)
    _rules.check_numbers(samples.dtype)
    minlength = _rules.minlength_of(minlength)
    if weights is not None:
        _rules.check_weights_of_numbers(_shape_of(weights), samples.shape)
    call = _Call(samples, threads, False, device, out, dtype)
    mask = mask_for(mask, samples)
    length = _rules.length_of(samples.extremes(mask), minlength)
    batch, (array, weights, mask) = _batch_first(samples, axis, weights, mask)
    if length == 0 or samples.size == 0:
        return call.deliver(call.zeros((*batch, length), np.int64))
    operands = ((array,), ((length, 0),), weights, mask, len(batch))
    if call.counted_into_out(*operands, (*batch, length)):
        return out
    return call.deliver(call.count(*operands, dtype=None if weights is None else "f64"))
