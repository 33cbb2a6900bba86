"""The bins of integers between edges of any kind, exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def first_integers(edges: Sequence[float]) -> list[int | float]:
    """The first integers that are not below edges, which may be infinite."""
    return [math.ceil(edge) if math.isfinite(edge) else edge for edge in edges]


def bins_among(values: np.ndarray, firsts: Sequence[int | float], closed: int | float | None) -> np.ndarray:
    """The bin of each of an array of integers: -1 below the first bin, the number of bins above the last.

    firsts: the first integer of each bin, of any size, and what is the first above the last bin; they never decrease.
    closed: the value that the last bin includes as its end, or None.
    """
    kind = values.dtype.newbyteorder("=")
    values = values.astype(kind, copy=False)
    limits = np.iinfo(kind)
    reached = [max(one, limits.min) for one in firsts if one <= limits.max]
    at: Any = np.searchsorted(np.array(reached, kind), values, side="right") - 1
    bins = len(firsts) - 1
    if closed is not None and limits.min <= closed <= limits.max:
        at = np.where(values == kind.type(closed), bins - 1, at)
    return at


def between(values: np.ndarray, lo: int | float, hi: int | float) -> np.ndarray:
    """Where lo <= values <= hi, by value."""
    if not lo <= hi:
        return np.zeros(values.shape, bool)
    if values.dtype.kind == "f":  # the doubles next to large integers, inwards
        ends = [float(end) if abs(end) < 2**1024 else math.copysign(math.inf, end) for end in (lo, hi)]
        lo = ends[0] if ends[0] >= lo else math.nextafter(ends[0], math.inf)
        hi = ends[1] if ends[1] <= hi else math.nextafter(ends[1], -math.inf)
        return (values.astype(float) >= lo) & (values.astype(float) <= hi)
    if values.dtype.kind == "b":
        values = values.astype(np.uint8)
    first, last = (end if math.isinf(end) else to(end) for end, to in ((lo, math.ceil), (hi, math.floor)))
    return bins_among(values, [first, max(first, last + 1)], None) == 0
