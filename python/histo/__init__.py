"""Exact histograms at memory speed."""

from ._histo import version as _version

__version__ = _version()
