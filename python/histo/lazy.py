"""Samples that are not computed yet."""

from __future__ import annotations

from typing import Any


def is_dask(operand: Any) -> bool:
    """Whether it is a lazy collection of Dask, or an array of xarray over one."""
    graph = getattr(type(operand), "__dask_graph__", None)
    return graph is not None and graph(operand) is not None
