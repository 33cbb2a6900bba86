"""Histograms as objects of other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from .axes import Axis, Category


def _coordinates(axis: Axis, flow: bool) -> Any:
    if not axis._discrete:
        inside = axis.centers
    else:
        inside = np.array([axis._bin(i) for i in range(axis.size)])
    traits = axis.traits
    if not flow or not (traits.underflow or traits.overflow):
        return inside
    if isinstance(axis, Category):
        return np.array([*inside.tolist(), *[None] * traits.overflow], object)
    return np.concatenate([[-np.inf] * traits.underflow, inside, [np.inf] * traits.overflow])


def to_xarray(h: Any, flow: bool) -> Any:
    """See Histogram.to_xarray."""
    import xarray

    dims = [f"batch_{i}" for i in range(len(h.batch))]
    coords: dict = {}
    for i, axis in enumerate(h.axes):
        dim = axis.name or f"axis_{i}"
        dims.append(dim)
        described = {"long_name": axis.label} if axis.label else {}
        coords[dim] = (dim, _coordinates(axis, flow), described)
        if not axis._discrete and not flow:
            coords[f"{dim}_lower"] = (dim, axis.edges[:-1])
            coords[f"{dim}_upper"] = (dim, axis.edges[1:])
    attributes = {"long_name": h.label} if h.label else {}
    return xarray.DataArray(h.values(flow), coords, dims, name=h.name or None, attrs=attributes)
