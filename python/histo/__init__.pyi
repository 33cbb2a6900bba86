"""Exact histograms at memory speed."""

from . import boosting as boosting, compat as compat, cupy as cupy, dask as dask, devices as devices, image as image
from . import torch as torch, xarray as xarray
from ._histo import bincount, histogram, histogram2d, histogram_bin_edges, histogramdd
from .axes import AxesTuple, Axis, Boolean, Category, Integer, Log, Power, Regular, Sqrt, Traits, Variable
from .statistics.binned import binned_statistic, binned_statistic_2d, binned_statistic_dd
from .hist import Histogram, Information, Plan, Summary, Tally, WeightedSum
from .indexing import at, loc, overflow, rebin, sum, underflow
from .maps import Map, Moments
from .statistics.means import Mean, WeightedMean

__version__: str

__all__ = [
    "bincount",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "Axis",
    "AxesTuple",
    "Boolean",
    "Category",
    "Integer",
    "Log",
    "Power",
    "Regular",
    "Sqrt",
    "Traits",
    "Variable",
    "Histogram",
    "Information",
    "Plan",
    "Summary",
    "Tally",
    "WeightedSum",
    "Map",
    "Moments",
    "Mean",
    "WeightedMean",
    "binned_statistic",
    "binned_statistic_2d",
    "binned_statistic_dd",
    "at",
    "loc",
    "overflow",
    "rebin",
    "sum",
    "underflow",
]
