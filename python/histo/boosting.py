"""Histograms of gradient boosting: for each node of a tree, the sums of gradients and Hessians over the bins of every
feature.

    sums = histo.boosting.histograms(bins, gradients, hessians, rows, offsets)

Floats become integers: multiples of a unit, a power of two, of which the largest magnitude is 2^30 to 2^31, or fewer
for more than 2^22 rows. Their sums are exact, and so the same to the bit for any order of rows and any number of
threads; and the histograms of two children add up to that of their parent.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _histo
from .sources import take

__all__ = ["HISTOGRAM_DTYPE", "histograms", "subtract"]

HISTOGRAM_DTYPE = np.dtype([("sum_gradients", np.float64), ("sum_hessians", np.float64), ("count", np.uint32)])
"""What scikit-learn has for each bin."""

_TABLES = ("uint8", "uint16")
_GRADIENTS = ("int8", "uint8", "int16", "uint16", "int32", "float32", "float64")
_CONVERTED = ("uint32", "int64", "uint64", "float16")
_ROWS = ("uint32", "int32", "int64")


def _array(x: Any, name: str, ndim: int, dtypes: tuple[str, ...]) -> np.ndarray:
    """An array of NumPy of one of these dtypes, in the byte order of this machine."""
    values, present = take(x).decoded()[:2]
    if not isinstance(values, np.ndarray):
        raise TypeError(f"{name} is in the memory of a GPU: copy it to the host")
    if present is not None and not np.all(present):
        raise ValueError(f"{name} has missing values")
    if values.ndim != ndim:
        raise ValueError(f"{name} has {values.ndim} dimensions, and needs {ndim}")
    if values.size == 0 and not isinstance(x, np.ndarray):
        values = values.astype(dtypes[-1])  # an empty list has no dtype
    if values.dtype.name not in dtypes:
        wanted = " or ".join(dtypes) if len(dtypes) < 4 else "integers or floats of at most 64 bits"
        raise TypeError(f"{name} must be {wanted}, not {values.dtype}")
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _weights(x: Any, name: str, rows: int) -> np.ndarray:
    """Gradients or Hessians of a dtype that the library takes."""
    values = _array(x, name, 1, _CONVERTED + _GRADIENTS)
    if len(values) != rows:
        raise ValueError(f"{name} has {len(values)} values, and bins {rows} rows")
    if values.dtype.name not in _CONVERTED:
        return values
    if values.dtype == np.float16:
        return values.astype(np.float32)
    limits = np.iinfo(np.int32)
    if len(values) and not limits.min <= values.min() <= values.max() <= limits.max:
        raise ValueError(f"{name} has integers that int32 does not hold")
    return values.astype(np.int32)


def _bins_of_features(features: int, bins_per_feature: Any, given: int | None, largest: Callable[[], int]) -> np.ndarray:
    """How many bins each feature has. given: those of the caller's array. largest: finds the largest bin of all."""
    if bins_per_feature is None:
        one = largest() + 1 if given is None else given
        return np.full(features, one, np.int32)
    bins = np.asarray(bins_per_feature)
    if bins.dtype.kind not in "iu" or bins.ndim > 1:
        raise TypeError("bins_per_feature must be an integer, or one for each feature")
    if bins.ndim and len(bins) != features:
        raise ValueError(f"bins_per_feature has {len(bins)} elements, and bins {features} features")
    if features and not 1 <= bins.min() <= bins.max() <= _histo.MAX_BINS:
        raise ValueError(f"bins_per_feature must be from 1 to {_histo.MAX_BINS}")
    return np.ascontiguousarray(np.broadcast_to(bins, features), np.int32)


def _memory(out: Any) -> np.ndarray:
    """The array of NumPy that is in the memory of out."""
    if not isinstance(out, np.ndarray) and _is_tensor(out):
        out = out.numpy()
    if not isinstance(out, np.ndarray):
        raise TypeError("out must be an array of NumPy or a tensor of PyTorch in host memory")
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise ValueError("out must be C-contiguous, and allow to be written")
    if out.dtype not in (np.dtype(np.float64), HISTOGRAM_DTYPE):
        raise TypeError(f"out must have the dtype float64 or HISTOGRAM_DTYPE, not {out.dtype}")
    return out


def _is_tensor(x: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def _layout(out: np.ndarray, hessians: bool = True) -> tuple[int, int, int, int, bool]:
    """Where the numbers of a bin are."""
    of_fields = out.dtype.names is not None
    return 0, 8 if hessians else -1, 16, out.itemsize if of_fields else 24, not of_fields


def _fill(table: Any, per_feature: np.ndarray, weights: list, rows: Any, offsets: Any, written: Any, layout: tuple,
          threads: int) -> None:
    try:
        features = _histo.features(table, per_feature, False, threads)
    except ValueError as error:
        raise ValueError(str(error).replace("table:", "bins:")) from None
    sums = _histo.gradients(table.shape[0], len(weights))
    bad = _histo.set_gradients(sums, weights[0], weights[1] if len(weights) > 1 else None, 0.0, threads)[0]
    if bad:
        raise ValueError(f"gradients or hessians of {bad} rows are NaN or infinite")
    _histo.fill_nodes(features, sums, rows, offsets, None, written, layout, threads)


def _there(x: Any, name: str, ndim: int, dtypes: tuple[str, ...]) -> Any:
    """An array in the memory of a GPU, as its library has it."""
    from . import devices

    if not _histo.on_gpu(x):
        raise TypeError(f"{name} is in host memory, and bins in that of a GPU")
    samples = devices.Samples(x)
    if samples.ndim != ndim:
        raise ValueError(f"{name} has {samples.ndim} dimensions, and needs {ndim}")
    if samples.dtype.name not in dtypes:
        raise TypeError(f"{name} must be {' or '.join(dtypes)}, not {samples.dtype}")
    return samples


def _offsets(offsets: Any) -> Any:
    """int64 in host memory, or in that of a GPU."""
    if _histo.on_gpu(offsets):
        return _there(offsets, "offsets", 1, ("int64",)).array
    return np.ascontiguousarray(_array(offsets, "offsets", 1, _ROWS), np.int64)


def _histograms_there(bins: Any, gradients: Any, hessians: Any, rows: Any, offsets: Any, bins_per_feature: Any,
                      out: Any) -> Any:
    """Likewise of arrays in the memory of a GPU."""
    table = _there(bins, "bins", 2, _TABLES)
    weights = [_there(gradients, "gradients", 1, _GRADIENTS)]
    if hessians is not None:
        weights.append(_there(hessians, "hessians", 1, _GRADIENTS))
    for name, one in zip(("gradients", "hessians"), weights, strict=False):
        if one.size != table.shape[0]:
            raise ValueError(f"{name} has {one.size} values, and bins {table.shape[0]} rows")
    listed = None if rows is None else _there(rows, "rows", 1, _ROWS).array
    nodes = 1
    if offsets is not None:
        offsets = _offsets(offsets)
        nodes = offsets.shape[0] - 1
        if nodes < 1:
            raise ValueError("offsets needs at least two elements")
    given = None if out is None else _there(out, "out", 4, ("float64",))
    per_feature = _bins_of_features(table.shape[1], bins_per_feature, given.shape[2] if given else None,
                                    lambda: int(_histo.extremes(table.array, None, 0)[3]) if table.size else 0)
    shape = (nodes, table.shape[1], int(per_feature.max(initial=1)), 3)
    if given is not None and given.shape != shape:
        raise ValueError(f"out has the shape {given.shape}, and needs {shape}")
    written = table.library.zeros(shape, np.float64, table.array) if given is None else given.array
    if given is not None:
        written[...] = 0  # bins that a feature does not have
    layout = (0, 8 if hessians is not None else -1, 16, 24, True)
    if table.size:
        _fill(table.array, per_feature, [one.array for one in weights], listed, offsets, written, layout, 0)
    if hessians is None:
        written[..., 1] = written[..., 2]
    return written if out is None else out


def histograms(bins: Any, gradients: Any, hessians: Any = None, rows: Any = None, offsets: Any = None, *,
               bins_per_feature: Any = None, out: Any = None, threads: int | None = None) -> Any:
    """Sum the gradients and Hessians of rows over the bins of each feature.

    Parameters
    ----------
    bins : array_like of uint8 or uint16, shape (rows, features)
        The bin of each row on each feature, in C or Fortran order; missing values have a bin, too.
    gradients, hessians : array_like, shape (rows,)
        Integers that int32 holds, or floats. Without Hessians all are 1, and their sums are counts.
    rows : array_like of uint32, int32 or int64, optional
        Count only these rows, which may repeat; by default, all.
    offsets : array_like of integers, optional
        Node s has the rows from offsets[s] up to offsets[s + 1]; by default, all are of one node.
    bins_per_feature : int or sequence of int, optional
        By default, one more than the largest number in `bins`, or as many as `out` has.
    out : ndarray or tensor, optional
        Write into this array and return it.
    threads : int, optional
        The number of threads; by default, all CPUs.

    Returns
    -------
    float64, shape (nodes, features, bins, 3)
        Sums of gradients and of Hessians, and the number of rows; zero in bins that a feature does not have. A tensor
        if `bins` is one. If `bins` is in the memory of a GPU, so are all other arrays, but for offsets, which may be in
        host memory, and so is the result, an array of the library of `bins`. With `out` of HISTOGRAM_DTYPE, which is scikit-learn's: shape (nodes, features, bins).
    """
    if _histo.on_gpu(bins):
        return _histograms_there(bins, gradients, hessians, rows, offsets, bins_per_feature, out)
    table = _array(bins, "bins", 2, _TABLES)
    weights = [_weights(gradients, "gradients", len(table))]
    if hessians is not None:
        weights.append(_weights(hessians, "hessians", len(table)))
    if rows is not None:
        rows = _array(rows, "rows", 1, _ROWS)
    nodes = 1
    if offsets is not None:
        offsets = np.ascontiguousarray(_array(offsets, "offsets", 1, _ROWS), np.int64)
        nodes = len(offsets) - 1
        if nodes < 1:
            raise ValueError("offsets needs at least two elements")
    written = None if out is None else _memory(out)
    given = written.shape[2] if written is not None and written.ndim > 2 else None
    per_feature = _bins_of_features(table.shape[1], bins_per_feature, given, lambda: int(table.max(initial=0)))
    shape = (nodes, table.shape[1], int(per_feature.max(initial=1)))
    if written is None:
        written = np.empty((*shape, 3))
    of_fields = written.dtype.names is not None
    if written.shape != (shape if of_fields else (*shape, 3)):
        raise ValueError(f"out has the shape {written.shape}, and needs {shape if of_fields else (*shape, 3)}")
    _fill(table, per_feature, weights, rows, offsets, written, _layout(written, len(weights) > 1), threads or 0)
    if len(weights) == 1:
        if of_fields:
            written["sum_hessians"] = written["count"]
        else:
            written[..., 1] = written[..., 2]
    for f in np.flatnonzero(per_feature < shape[2]):
        written[:, f, per_feature[f]:] = np.zeros((), written.dtype)
    if out is None and _is_tensor(bins):
        return sys.modules["torch"].from_numpy(written)
    return written if out is None else out


def subtract(parents: Any, children: Any, *, out: Any = None) -> Any:
    """Subtract the histograms of a child of each node from the node's own, which leaves those of the other children.

    Sums are exact, and so have the same bits as `histograms` of the other children.

    Parameters
    ----------
    parents, children : ndarray or tensor, shape (nodes, features, bins, 3) or (nodes, features, bins)
        Results of `histograms`, of float64 or HISTOGRAM_DTYPE. ValueError if a node has fewer rows than its child.
    out : ndarray or tensor, optional
        Write into this array and return it; it may be `parents`.

    Returns
    -------
    An array like `parents`.
    """
    from_, less = _sums(parents, "parents"), _sums(children, "children")
    if from_.shape != less.shape or from_.dtype != less.dtype:
        raise ValueError(f"parents are {from_.dtype} of the shape {from_.shape}, children {less.dtype} of {less.shape}")
    written = np.empty_like(from_) if out is None else _memory(out)
    if written.shape != from_.shape or written.dtype != from_.dtype:
        raise ValueError(f"out is {written.dtype} of the shape {written.shape}, and needs {from_.dtype} of {from_.shape}")
    difference = from_.copy()
    _histo.subtract_nodes(difference, np.require(less, requirements=["C", "W"]), len(from_), _layout(from_))
    written[...] = difference
    if out is None and _is_tensor(parents):
        return sys.modules["torch"].from_numpy(written)
    return written if out is None else out


def _sums(x: Any, name: str) -> np.ndarray:
    """An array of sums, as histograms returns them."""
    if _is_tensor(x):
        if x.device.type != "cpu":
            raise TypeError(f"{name} is in the memory of a GPU: copy it to the host")
        x = x.numpy()
    if not isinstance(x, np.ndarray) or x.dtype not in (np.dtype(np.float64), HISTOGRAM_DTYPE):
        raise TypeError(f"{name} must be an array of float64 or HISTOGRAM_DTYPE")
    shape = (3,) if x.dtype.names is None else ()
    if x.ndim != 3 + len(shape) or x.shape[3:] != shape:
        raise ValueError(f"{name} has the shape {x.shape}, and needs nodes, features and bins{', 3' if shape else ''}")
    return np.ascontiguousarray(x)
