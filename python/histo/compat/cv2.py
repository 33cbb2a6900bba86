"""Functions of OpenCV about histograms, with its arguments and, to the bit, its results.

    from histo.compat import cv2
    cv2.equalizeHist(image)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import image as _image
from ..axes import Regular, Variable
from ..hist import Histogram
from ..maps import Map

__all__ = ["calcBackProject", "calcHist", "createCLAHE", "equalizeHist"]


def _channels(images: Any, channels: Any) -> list:
    planes = [plane for image in images
              for plane in (np.moveaxis(np.asarray(image), -1, 0) if np.ndim(image) == 3 else [np.asarray(image)])]
    return [planes[c] for c in channels]


def _axes(sizes: Any, ranges: Any) -> list:
    """OpenCV takes the ends of all ranges in one list, or the edges of each axis."""
    if np.ndim(ranges[0]):
        return [Variable(np.asarray(edges, float)) if len(edges) > 2 else Regular(n, *edges)
                for n, edges in zip(sizes, ranges, strict=True)]
    return [Regular(n, lo, hi) for n, lo, hi in zip(sizes, ranges[::2], ranges[1::2], strict=True)]


def calcHist(images: Any, channels: Any, mask: Any, histSize: Any, ranges: Any, hist: Any = None,
             accumulate: bool = False) -> Any:
    """The joint histogram of channels of images, as float32. Counts are exact before they are rounded to float32."""
    h = Histogram(*_axes(histSize, ranges)).fill(*_channels(images, channels), mask=mask)
    counts = h.values()
    if accumulate and hist is not None:
        counts = counts + np.asarray(hist, np.float64).reshape(counts.shape)
    return counts.astype(np.float32)


def calcBackProject(images: Any, channels: Any, hist: Any, ranges: Any, scale: float, dst: Any = None) -> Any:
    """The value of a histogram at each pixel, times scale, as bytes."""
    hist = np.asarray(hist, np.float32)
    hist = hist.reshape(hist.shape[:1]) if hist.ndim == 2 and hist.shape[1] == 1 and len(channels) == 1 else hist
    table = Map(*_axes(hist.shape, ranges))
    values = np.zeros(table.values.shape)
    values[(slice(1, -2),) * hist.ndim] = hist * np.float32(scale)
    table.values = values
    return table(*_channels(images, channels), dtype=np.uint8, out=dst)


def equalizeHist(src: Any, dst: Any = None) -> Any:
    """Equalize an image of bytes."""
    return _image.equalize(src, out=dst)


class _CLAHE:
    def __init__(self, clip: float, tiles: tuple) -> None:
        self.clip, self.tiles = clip, tiles

    def apply(self, src: Any, dst: Any = None) -> Any:
        src = np.asarray(src)
        bits = 16 if src.dtype == np.uint16 else None
        return _image.clahe(src, clip=max(self.clip, 0), tiles=self.tiles[::-1], bits=bits, out=dst)


def createCLAHE(clipLimit: float = 40.0, tileGridSize: tuple = (8, 8)) -> _CLAHE:
    """Contrast-limited adaptive histogram equalization: an object whose `apply` maps an image of 8 or 16 bits.
    tileGridSize is (columns, rows)."""
    return _CLAHE(clipLimit, tuple(tileGridSize))
