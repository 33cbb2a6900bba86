"""Exact histograms at memory speed."""

from ._histo import bincount, histogram, histogram2d, histogram_bin_edges, histogramdd
from ._histo import version as _version

__all__ = ["bincount", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]

__version__ = _version()
