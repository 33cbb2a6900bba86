"""Exact histograms at memory speed."""

from importlib import import_module as _import_module

from ._histo import bincount, histogram, histogram2d, histogram_bin_edges, histogramdd
from ._histo import version as _version

_LAZY = {
    **dict.fromkeys(("Axis", "AxesTuple", "Boolean", "Category", "Integer", "Log", "Power", "Regular", "Sqrt", "Traits",
                     "Variable"), "axes"),
    **dict.fromkeys(("Histogram", "Information", "Plan", "Summary", "Tally", "WeightedSum"), "hist"),
    **dict.fromkeys(("Map", "Moments"), "maps"),
    **dict.fromkeys(("Mean", "WeightedMean"), "statistics.means"),
    **dict.fromkeys(("binned_statistic", "binned_statistic_2d", "binned_statistic_dd"), "statistics.binned"),
    **dict.fromkeys(("at", "loc", "overflow", "rebin", "sum", "underflow"), "indexing"),
}
"""The modules of what is imported when it is first asked for."""

__all__ = ["bincount", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd", *_LAZY]

__version__ = _version()

_MODULES = ("boosting", "compat", "cupy", "dask", "devices", "image", "torch", "xarray")


def __getattr__(name):
    if name in _MODULES:
        return _import_module("." + name, __name__)
    if name not in _LAZY:
        raise AttributeError(f"module 'histo' has no attribute {name!r}")
    value = getattr(_import_module("." + _LAZY[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__, *_MODULES})
