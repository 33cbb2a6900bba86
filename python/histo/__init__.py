"""Exact histograms at memory speed."""

from ._histo import version as _version

__version__ = _version()

_FUNCTIONS = ("bincount", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd")


def __getattr__(name):
    """What needs NumPy is imported when it is first asked for."""
    if name not in _FUNCTIONS:
        raise AttributeError(f"module 'histo' has no attribute {name!r}")
    from . import functions

    globals().update({function: getattr(functions, function) for function in _FUNCTIONS})
    return globals()[name]


def __dir__():
    return sorted({*globals(), *_FUNCTIONS})
