"""How axes of numbers grow, and how circular ones wrap."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from . import _histo
from ._histo import REGULAR, VARIABLE


MOST = 1 << 26
"""Axes do not grow to more bins than this: a single sample far away should not take all memory."""


class Steps(NamedTuple):
    """Edges of equal steps that go on beyond the axis that they were first those of: edge i is lo + i * (hi - lo) / bins,
    and hi for i = bins, as numpy.linspace has them. So edges stay what they are, to the bit, while an axis grows."""

    lo: float
    hi: float
    bins: int
    first: int = 0
    """The number of the axis' first edge."""

    def edge(self, i: int) -> float:
        return self.hi if i == self.bins else self.lo + i * ((self.hi - self.lo) / self.bins)

    def below(self, x: int | float) -> int:
        """The number of the last edge that is not above x."""
        i = math.floor((x - self.lo) / ((self.hi - self.lo) / self.bins))
        while self.edge(i) > x:
            i -= 1
        while self.edge(i + 1) <= x:
            i += 1
        return i

    def reach(self, size: int, low: int | float, high: int | float) -> tuple[Steps, int]:
        """The steps, and the number of bins, of an axis of `size` bins that has grown to what is between two samples."""
        step = (self.hi - self.lo) / self.bins
        check_size(max(abs((x - self.lo) / step) for x in (low, high)), high if high > self.edge(self.first + size) else low)
        first = min(self.first, self.below(low))
        size = max(self.first + size, self.below(high) + 1) - first
        check_size(size, high)
        return self._replace(first=first), size

    def numbers(self, size: int) -> tuple[Any, ...]:
        """The axis as the library has it: regular if that has the same edges, else with these edges."""
        edges = self.lo + np.arange(self.first, self.first + size + 1) * ((self.hi - self.lo) / self.bins)
        if self.first <= self.bins <= self.first + size:
            edges[self.bins - self.first] = self.hi
        if not (edges[:-1] < edges[1:]).all():
            raise ValueError(f"an axis cannot grow to {float(edges[0])} … {float(edges[-1])}: its bins are too narrow there")
        regular = (REGULAR, False, size, float(edges[0]), float(edges[-1]), 0.0, None)
        if np.array_equal(_histo.axis_edges(regular), edges):
            return regular
        return (VARIABLE, False, size, float(edges[0]), float(edges[-1]), 0.0, edges.tobytes())


def check_size(size: float, x: int | float) -> None:
    """Raise MemoryError if an axis would have too many bins."""
    if size > MOST:
        raise MemoryError(f"an axis does not grow to {x}: it would have more than {MOST} bins")


def ends(values: np.ndarray, kept: Any) -> tuple[int | float, int | float] | None:
    """The smallest and the largest finite sample that is kept; None if there is none."""
    if values.dtype == bool:
        values = values.view(np.uint8)
    if kept is not None:
        values, kept = np.broadcast_arrays(values, kept)
    samples, infinite, low, high = _histo.extremes(values, kept, 0)
    return None if samples == infinite else (low, high)


def _modulo(values: np.ndarray, period: float) -> np.ndarray:
    """What is left of samples after whole periods, exactly, with the sign of the samples or not below 0."""
    if values.dtype.kind in "biu":
        if values.dtype.kind == "b":
            values = values.astype(np.uint8)
        if period == math.floor(period) and period < 2.0**63:
            kind = np.uint64 if values.dtype.kind == "u" else np.int64
            return np.mod(values.astype(kind), kind(int(period))).astype(np.float64)
        if values.size and max(abs(int(values.min())), int(values.max())) > 2**53:
            raise ValueError("integers beyond 2^53 are not counted on a circular axis whose period is not a whole number")
    return np.fmod(values.astype(np.float64), period)


def wrapped(values: np.ndarray, lo: float, hi: float) -> np.ndarray:
    """Samples, moved by whole periods into lo … hi, as doubles: the largest that are not above what they exactly are, so
    that they are in the same bin. Infinities are above."""
    flat = np.atleast_1d(values)
    if flat.dtype.kind == "f":
        flat = flat.astype(np.float64, copy=False)
    with np.errstate(invalid="ignore"):
        inside = (flat >= lo) & (flat < hi)
        result = flat.astype(np.float64)
        others = np.flatnonzero(~inside.ravel())
        if others.size:
            result.ravel()[others] = _moved(flat.ravel()[others], lo, hi)
    return result.reshape(values.shape)


def _moved(values: np.ndarray, lo: float, hi: float) -> np.ndarray:
    period = hi - lo
    rest = _modulo(values, period)
    moved = np.full(rest.shape, np.nan)
    # Below the first period that lo is in, in it, or above.
    base = math.floor(lo / period) * period
    for k in (-1, 0, 1, 2):
        add = base + k * period
        total = rest + add
        part = total - rest
        off = (rest - (total - part)) + (add - part)  # what rounding took
        total = np.where(off < 0, np.nextafter(total, -np.inf), total)
        moved = np.where((total >= lo) & (total < hi), total, moved)
    # Only rounding of the period can leave a finite sample beside all of them.
    moved = np.where(np.isnan(moved) & np.isfinite(rest), np.nextafter(hi, -np.inf), moved)
    infinite = np.isinf(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)
    return np.where(infinite, np.inf, moved)
