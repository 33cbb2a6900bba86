"""Functions of scikit-image's exposure module, with its arguments and results.

    from histo.compat import skimage as exposure
    exposure.equalize_hist(image)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .. import _histo
from .._histo import histogram as _histogram
from ..axes import Integer, Variable
from ..hist import Histogram
from ..maps import Map
from ..sources import as_masked, mask_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["cumulative_distribution", "equalize_hist", "histogram", "match_histograms"]


def _float_type(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    """The dtype of results that are floats."""
    return np.float32 if dtype in (np.float16, np.float32) else np.float64


def _ends(image: NDArray[Any]) -> tuple[int, int]:
    """The smallest and the largest of integers."""
    shown = ~np.ma.getmaskarray(image) if isinstance(image, np.ma.MaskedArray) else None
    samples, _, low, high = _histo.extremes(np.ma.getdata(image), shown, 0)
    if not samples:
        raise ValueError("an image without samples has no histogram")
    return low, high


def histogram(image: ArrayLike, nbins: int = 256, source_range: Literal["image", "dtype"] = "image",
              normalize: bool = False, *, channel_axis: int | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count the levels of an image: skimage.exposure.histogram.

    Parameters
    ----------
    image : array_like
        Integers, which have a bin for each level, or floats.
    nbins : int, default 256
        The number of bins of floats.
    source_range : {"image", "dtype"}
        The range of the bins: that of the samples, or all of an integer dtype and -1 … 1 of floats.
    normalize : bool, default False
        Divide the counts by their sum.
    channel_axis : int, optional
        The dimension of channels, which are counted one by one, in the same bins.

    Returns
    -------
    counts, centers : ndarrays of shape (bins,); counts of channels: (channels, bins)
    """
    image = as_masked(image)
    if source_range not in ("image", "dtype"):
        raise ValueError(f"Incorrect value for `source_range` argument: {source_range}")
    channels = image[np.newaxis] if channel_axis is None else np.moveaxis(image, channel_axis, 0)
    along = tuple(range(1, channels.ndim))
    if image.dtype.kind in "iu":
        limits = np.iinfo(image.dtype)
        low, high = _ends(image) if source_range == "image" else (int(limits.min), int(limits.max))
        axis = Integer(low, high + 1)
        counts = Histogram(axis, batch=len(channels)).fill(channels).values()
        centers = np.arange(low, high + 1)
    else:
        counts, edges = _histogram(channels, nbins, (-1, 1) if source_range == "dtype" else None, axis=along)
        centers = (edges[:-1] + edges[1:]) / 2
    if normalize:
        counts = counts / counts.sum(axis=1, keepdims=True)
    return counts[0] if channel_axis is None else counts, centers


def cumulative_distribution(image: ArrayLike, nbins: int = 256) -> tuple[NDArray[Any], NDArray[Any]]:
    """The share of samples up to each bin of `histogram`, and the centers of the bins."""
    counts, centers = histogram(image, nbins)
    shares = counts.cumsum()
    return (shares / float(shares[-1])).astype(_float_type(as_masked(image).dtype), copy=False), centers


def equalize_hist(image: ArrayLike, nbins: int = 256, mask: ArrayLike | None = None) -> NDArray[Any]:
    """Equalize the histogram of an image: skimage.exposure.equalize_hist.

    Parameters
    ----------
    image : array_like
        Integers or floats.
    nbins : int, default 256
        The number of bins of floats.
    mask : array_like, optional
        Count only the samples where it is true. All are mapped.

    Returns
    -------
    ndarray
        0 … 1, as float32 for float16 and float32, else as float64.
    """
    image = as_masked(image)
    shares, centers = cumulative_distribution(image if mask is None else image[mask_of(mask) != 0], nbins)
    if image.dtype.kind in "iu":
        table = Map(Integer(int(centers[0]), int(centers[-1]) + 1))
        table.values = np.concatenate([shares[:1], shares, shares[-1:], [0]])
    else:
        table = Map(Variable(centers), linear=True)
        table.values = shares
    return np.asanyarray(table(image, dtype=_float_type(image.dtype)))


def _matched(image: NDArray[Any], reference: NDArray[Any]) -> NDArray[np.float64]:
    """Whose distribution is that of the reference, between whose values it is interpolated."""
    if image.dtype.kind in "iu":
        h, to = (Histogram(Integer(low, high + 1)).fill(one)
                 for one, (low, high) in ((image, _ends(image)), (reference, _ends(reference))))
        return np.asarray(Map(*h.axes).match(h, to)(image, dtype=np.float64))
    _, level, counts = np.unique(image.reshape(-1), return_inverse=True, return_counts=True)
    values, others = np.unique(reference.reshape(-1), return_counts=True)
    found = np.interp(np.cumsum(counts) / image.size, np.cumsum(others) / reference.size, values)
    return found[level].reshape(image.shape)


def match_histograms(image: ArrayLike, reference: ArrayLike, *, channel_axis: int | None = None) -> NDArray[Any]:
    """Give an image the distribution of another: skimage.exposure.match_histograms.

    Parameters
    ----------
    image, reference : array_like
        Integers or floats.
    channel_axis : int, optional
        The dimension of channels, which are matched one by one.

    Returns
    -------
    ndarray
        float32 for float16 and float32, else float64; with channel_axis, the dtype of the image.
    """
    image, reference = as_masked(image), as_masked(reference)
    if any(isinstance(one, np.ma.MaskedArray) for one in (image, reference)):
        raise ValueError("this takes no masked arrays: histo.image.match does")
    if image.ndim != reference.ndim:
        raise ValueError("Image and reference must have the same number of channels.")
    if channel_axis is None:
        return _matched(image, reference).astype(_float_type(image.dtype), copy=False)
    if image.shape[channel_axis] != reference.shape[channel_axis]:
        raise ValueError("Number of channels in the input image and reference image must match!")
    result = np.empty(image.shape, image.dtype)
    of_result, of_reference = np.moveaxis(result, channel_axis, 0), np.moveaxis(reference, channel_axis, 0)
    for to, one, other in zip(of_result, np.moveaxis(image, channel_axis, 0), of_reference, strict=True):
        to[...] = _matched(one, other)
    return result.astype(_float_type(image.dtype), copy=False) if image.dtype.kind == "f" else result
