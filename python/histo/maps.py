"""Maps: from a sample to its bin to a value."""

from __future__ import annotations

import math
import operator
from array import array
from functools import reduce
from typing import Any, NamedTuple, TypeVar, overload

from . import _histo
from .axes import AxesTuple, Axis

__all__ = ["Map", "Moments"]

_Out = TypeVar("_Out")


class Moments(NamedTuple):
    """Sums over a window of value * x**p * y**q, as mpq: x and y count from the window's corner, x along the last
    dimension."""

    m00: float
    m10: float
    m01: float
    m20: float
    m11: float
    m02: float


def counts_of(hist: Any) -> Any:
    """A histogram whose counts a map is made of."""
    if getattr(hist, "_mean", None):
        raise TypeError("a map is made of counts, not of means")
    if hasattr(hist, "_check_counts"):
        hist._check_counts("a map")
    return hist


def _doubles(values: Any) -> array:
    return array("d", (float(x) for x in values))


class Map(_histo.Map):
    """A lookup table behind axes: a value for each bin. Samples have bins exactly as in a `Histogram`.

        m = Map(Integer(0, 256)).equalize(h, hi=255)
        bright = m(image)

    Parameters
    ----------
    *axes : Axis
        As for `Histogram`.
    batch : int or tuple of ints, optional
        The number or the shape of tables. Samples begin with these dimensions; or, with `tiles`, each tile of one image
        has a table.
    linear : bool, default False
        The values belong to the edges of one axis, and straight lines connect them.

    Notes
    -----
    Values are zero until they are written, or made from histograms with the same axes: each table from its batch entry,
    or all tables from a histogram without a batch. The methods that make values return the map.

    A GPU makes them if it alone has filled the histograms, on the current stream of the library of what they count,
    without waiting: for `classes`, two of "otsu" on an axis of equal bins. Else the host does, and waits for the
    counts. Once a map has been made and applied there, both may be captured into a CUDA graph. Counts that the host
    would refuse are no error then: the values are NaN.
    """

    __slots__ = ("__weakref__", "_axes", "_batch", "_linear")

    def __init__(self, *axes: Axis, batch: Any = (), linear: bool = False) -> None:
        for axis in axes:
            if not isinstance(axis, Axis):
                raise TypeError(f"{axis!r} is not an axis")
            if axis.traits.circular:
                raise ValueError(f"a map has no circular axes: {axis!r}")
        self._batch = tuple(map(operator.index, batch if hasattr(batch, "__iter__") else (batch,)))
        self._axes = AxesTuple(axes)
        self._linear = bool(linear)
        self._make(tuple(axis._tuple for axis in axes), math.prod(self._batch), _histo.MAP_LINEAR if linear else _histo.MAP_STEP)

    @property
    def axes(self) -> AxesTuple:
        """The axes."""
        return self._axes

    @property
    def batch(self) -> tuple:
        """The shape of the tables."""
        return self._batch

    @property
    def values(self) -> Any:
        """The values: an array of the shape of the batch, and then for each axis of n bins n + 3 (underflow, the bins,
        overflow, NaN) or, if the map is linear, n + 1 (the edges). Assign an array that broadcasts to this shape."""
        return self._read().reshape(self._shape())

    @values.setter
    def values(self, values: Any) -> None:
        import numpy as np

        self._write(np.ascontiguousarray(np.broadcast_to(np.asarray(values, float), self._shape())))

    def _shape(self) -> tuple:
        more = 1 if self._linear else 3
        return self._batch + tuple(axis.size + more for axis in self._axes)

    # ---- Making values ----

    def equalize(self, hist: Any, lo: float = 0.0, hi: float = 1.0, *, rule: str = "minimum", clip: float = 0.0) -> Map:
        """Make the values the cumulative distribution of a histogram with one axis, scaled to lo … hi.

        rule: "minimum" gives the lowest occupied bin the lowest value, as OpenCV does; "cdf" gives each bin its share,
            as scikit-image does.
        clip: the contrast limit of CLAHE: counts above clip times the mean count are cut off, and spread over all
            bins. 0: none.

        Where lo and hi are whole numbers, values are whole numbers, halves rounded to even; with 256 bins, 0 and 255
        they are those of cv2.equalizeHist.
        """
        if rule not in ("minimum", "cdf"):
            raise ValueError(f"the rule is 'minimum' or 'cdf', not {rule!r}")
        self._equalize(counts_of(hist), lo, hi, rule == "cdf", clip)
        return self

    def match(self, hist: Any, reference: Any) -> Map:
        """Histogram matching: each bin gets the value at which the reference has the bin's cumulative distribution. The
        reference is a histogram with one axis, of any bins."""
        self._match(counts_of(hist), counts_of(reference))
        return self

    def landmarks(self, hist: Any, q: Any, target: Any, *, extend: bool = False) -> Map:
        """Make the values piecewise linear: the quantile q[k] of the histogram gets the value target[k].

        Outside the first and the last landmark values are constant or, with extend, go on as the lines do.
        """
        self._landmarks(counts_of(hist), _doubles(q), _doubles(target), extend)
        return self

    def project(self, hist: Any, against: Any = None, *, lo: float = 0.0, hi: float = 1.0) -> Map:
        """Make the values of a back projection: the counts of a histogram, scaled to lo … hi; lo in the flow.

        against: a histogram with equal axes, of the background, say: the values are sqrt(p / q), with the shares of a
            bin in both, the weights of mean shift.
        """
        self._project(counts_of(hist), counts_of(against), lo, hi)
        return self

    def classes(self, hist: Any, method: str = "otsu", classes: int = 2, *, lo: float = 0.0, hi: float = 0.0) -> Map:
        """Make the values class numbers, 0 … classes - 1, by the methods of `Histogram.split`; with lo and hi, equal
        steps from lo to hi instead."""
        self._classes(counts_of(hist), method, classes, lo, hi)
        return self

    # ---- Using values ----

    def __call__(self, *arrays: Any, out: Any = None, dtype: Any = None, mask: Any = None, tiles: Any = None,
                 threads: int | None = None) -> Any:
        """The value of each sample.

        Parameters
        ----------
        *arrays : array_like
            The samples of each axis, of one shape, which begins with the map's batch.
        out : ndarray, optional
            An array of this shape for the result, which may be one of the samples' arrays.
            If samples are in the memory of a GPU, all arrays are, and the result is an array of the first one's library.
            The work is enqueued on its current stream. Other arrays with the memory of the samples are refused there.
        dtype : dtype, optional
            Of a new result; by default, that of the samples.
        mask : array_like, optional
            Where it is zero, `out` is left as it is; a new result is zero there.
        tiles : tuple of 1 to 3 ints, optional
            The size of the tiles, (rows, columns) for an image, each of which has a table: values are interpolated
            between the tiles around a sample.
        threads : int, optional
            The number of threads; by default, all CPUs.

        Returns
        -------
        out : ndarray
            Integers are rounded half to even and clamped to the range of the dtype, and NaN becomes 0.
        """
        import numpy as np

        from .sources import both, mask_of, take

        if any(not isinstance(a, np.ndarray) and _histo.on_gpu(a) for a in (*arrays, out, mask)):
            return self._call_there(arrays, out, dtype, mask, tiles, threads)
        taken = [take(a).decoded() for a in arrays]
        present = reduce(both, (one.present for one in taken), None)
        arrays = tuple(np.asarray(one.values) for one in taken)
        arrays = tuple(a if a.dtype.isnative else a.astype(a.dtype.newbyteorder("=")) for a in arrays)
        if not arrays:
            raise TypeError("there are no samples")
        given = out is not None
        if not given:
            make = np.empty if mask is None else np.zeros
            out = make(arrays[0].shape, arrays[0].dtype if dtype is None else dtype)
        elif isinstance(out, np.ndarray) and not out.dtype.isnative:
            out[...] = self(*arrays, out=out.astype(out.dtype.newbyteorder("=")), mask=mask, tiles=tiles, threads=threads)
            return out
        elif any(a is not out and np.may_share_memory(a, out) for a in arrays):
            arrays = tuple(a if a is out else a.copy() for a in arrays)
        if mask is not None:
            mask = np.broadcast_to(mask_of(mask), arrays[0].shape)
        self._apply_to(arrays, out, mask, tiles, threads)
        return out if given or present is None else np.ma.masked_array(out, ~present)

    def _apply_to(self, arrays: tuple, out: Any, mask: Any, tiles: Any, threads: int | None) -> None:
        sizes = () if tiles is None else tuple(map(operator.index, tiles))
        batch = self._batch[len(self._batch) - len(sizes) :] if sizes else ()
        self._apply(arrays, out, mask, len(self._batch) - len(batch), batch, sizes, threads or 0)

    def _call_there(self, arrays: tuple, out: Any, dtype: Any, mask: Any, tiles: Any, threads: int | None) -> Any:
        """__call__, in the memory of a GPU."""
        from . import devices

        if not arrays:
            raise TypeError("there are no samples")
        first = devices.Samples(arrays[0])
        if out is None:
            make = first.library.empty_like if mask is None else first.library.zeros_like
            out = make(first.array, dtype)
        self._apply_to((first.array, *arrays[1:]), out, devices.mask_for(mask, first), tiles, threads)
        if first.adopted:  # the library of the samples does not know on which stream they are read
            first.library.synchronize(first.array)
        return out

    @overload
    def moments(self, *arrays: Any, window: Any = None, mask: Any = None, threads: int | None = None,
                out: None = None) -> Moments: ...
    @overload
    def moments(self, *arrays: Any, window: Any = None, mask: Any = None, threads: int | None = None,
                out: _Out) -> _Out: ...
    def moments(self, *arrays: Any, window: Any = None, mask: Any = None, threads: int | None = None,
                out: Any = None) -> Any:
        """Sum the values of samples in a window (x, y, width, height) of arrays of two dimensions, by default all: one
        step of mean shift or CamShift, without an image of values. The map has one table.

        out: six float64 in the memory of the samples: the moments are written there, and it is returned. In that of a
            GPU this is done on the stream; without `out`, the call waits.
        """
        window = None if window is None else tuple(map(operator.index, window))
        found = self._moments(arrays, window, mask, threads or 0, out)
        return Moments(*found) if out is None else out

    def __repr__(self) -> str:
        axes = ", ".join(map(repr, self._axes))
        batch = f", batch={self._batch}" if self._batch else ""
        return f"Map({axes}{batch}{', linear=True' if self._linear else ''})"
