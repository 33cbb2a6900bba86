"""Numbers of histograms that hold sums of weights: those that the library computes of counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .hist import Histogram


def _sums(h: Histogram, flow: bool) -> Any:
    """The sums of weights of each batch entry, which are no shares if one is negative; with flow, without NaN."""
    if h.ndim != 1:
        raise ValueError(f"this is for histograms with one axis, not with {h.ndim}")
    sums = h._slots().sum_w.reshape(-1, h.axes[0]._tuple[2] + 3)
    sums = sums[:, :-1] if flow else sums[:, 1:-2]
    if not (sums >= 0).all():
        raise ValueError("a sum of weights is negative or NaN: these are no shares, which statistics are of")
    if not np.isfinite(sums).all():
        raise ValueError("a sum of weights is infinite: these are no shares, which statistics are of")
    return sums


def _values(h: Histogram) -> Any:
    """The value of each bin: its integer, or its centre."""
    axis = h.axes[0]
    if axis._discrete:
        return np.arange(axis._tuple[2]) + float(axis._tuple[3])
    if not np.isfinite(axis.edges).all():
        raise ValueError("a bin with an infinite edge has no centre, and moments are of centres")
    return axis.centers


def _moment(sums: Any, total: float, deviations: Any, power: int) -> float:
    return math.fsum((sums * deviations**power).tolist()) / total


def summarize(h: Histogram) -> list[tuple[Any, ...]]:
    """For each batch entry the fields of its Summary."""
    sums, x = _sums(h, False), _values(h)
    entries = h.entries().reshape(len(sums), -1)[:, : len(x)]
    rows = []
    for w, n in zip(sums, entries, strict=True):
        total = math.fsum(w.tolist())
        there = np.flatnonzero(w)
        if not there.size:
            rows.append((int(n.sum()), *[math.nan] * 5, -1, -1, -1, 0))
            continue
        mean = math.fsum((w * x).tolist()) / total
        off = x - mean
        variance, third, fourth = (_moment(w, total, off, power) for power in (2, 3, 4))
        shares = w[there] / total
        entropy = -math.fsum((shares * np.log2(shares)).tolist()) + 0.0
        skewness, kurtosis = (third / variance**1.5, fourth / variance**2 - 3) if variance else (math.nan, math.nan)
        rows.append((int(n.sum()), mean, variance, skewness, kurtosis, entropy, int(there[0]), int(there[-1]),
                     int(w.argmax()), len(there)))
    return rows


def quantiles(h: Histogram, asked: Any, method: str | None) -> Any:
    """The quantiles of each batch entry: values where the distribution of the weights reaches them, which are spread evenly
    over the width of a bin of a continuous axis."""
    if method not in (None, "inverted_cdf"):
        raise ValueError(f"method {method!r} takes counts, and this histogram has sums of weights: theirs is 'inverted_cdf'")
    if not ((asked >= 0) & (asked <= 1)).all():
        raise ValueError("quantiles are from 0 to 1")
    axis = h.axes[0]
    sums = _sums(h, True)
    lows = _values(h) if axis._discrete else axis.edges[:-1]
    widths = np.zeros(len(lows)) if axis._discrete else np.diff(axis.edges)
    lows = np.concatenate([[-np.inf], lows, [np.inf]])
    widths = np.concatenate([[0.0], widths, [0.0]])
    found = np.full((len(sums), len(asked)), np.nan)
    for row, w in zip(found, sums, strict=True):
        ends = np.cumsum(w)
        if not ends[-1]:
            continue
        wanted = asked * ends[-1]
        at = np.searchsorted(ends / ends[-1], asked)  # as in NumPy: 0.07 * 100 is above 7
        at = np.maximum(at, np.flatnonzero(w)[0])  # of 0, and the first that has a weight
        with np.errstate(invalid="ignore"):
            inside = np.clip((wanted - (ends[at] - w[at])) / w[at], 0, 1) * widths[at]
            row[:] = lows[at] + np.where(widths[at] > 0, inside, 0.0)
        row[np.isnan(row)] = np.inf  # of a bin with an infinite edge
    return found
