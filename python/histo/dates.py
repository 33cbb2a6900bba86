"""Dates and time spans, which are numbers of a unit: compared exactly with edges of any other unit.

Edges are translated into the unit of the samples: a sample is not below an edge if it is not below the first number of its
unit that is not. This is done with integers of any size, so that nothing overflows.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from . import _histo
from .lookup import bins_among
from .sources import take

_range = range  # `range` is an argument of functions

_DAY = 86400 * 10**18
_SIZES = {"W": 7 * _DAY, "D": _DAY, "h": 3600 * 10**18, "m": 60 * 10**18, "s": 10**18, "ms": 10**15, "us": 10**12,
          "ns": 10**9, "ps": 10**6, "fs": 10**3, "as": 1}
"""In attoseconds."""

_LAST = 2**63 - 1


def is_date(dtype: np.dtype) -> bool:
    """Whether values are dates or time spans."""
    return dtype.kind in "mM"


def check_kinds(a: np.dtype, b: np.dtype, what: str, other: str) -> None:
    """Raise TypeError if dates, time spans and numbers would meet."""
    kinds = [dtype.kind if dtype.kind in "mM" else "" for dtype in (a, b)]
    if kinds[0] != kinds[1]:
        names = {"": "numbers", "M": "dates", "m": "time spans"}
        raise TypeError(f"{what} are {names[kinds[0]]} ({a}), and {other} are {names[kinds[1]]} ({b}): dates, time spans "
                        "and numbers are not compared with each other; give both a unit, datetime64 or timedelta64")


def _scale(dtype: np.dtype) -> tuple[bool, int]:
    """Whether the unit is of months, and its size, in months or in attoseconds."""
    unit, count = np.datetime_data(dtype)
    if unit == "generic":
        raise TypeError(f"{dtype} has no unit: give it one, such as {dtype.name}[s]")
    return (True, count * (12 if unit == "Y" else 1)) if unit in "YM" else (False, count * _SIZES[unit])


def _day_of(month: int) -> int:
    """The first day of a month; both are counted from 1970."""
    year, month = divmod(month, 12)
    year, month = year + 1970 - (month < 2), (month - 2) % 12  # of years that begin in March
    era, year = divmod(year, 400)
    return era * 146097 + year * 365 + year // 4 - year // 100 + (153 * month + 2) // 5 - 719468


def _month_of(day: int) -> int:
    """The month of a day."""
    low = day // 31 - 12 if day >= 0 else day // 28 - 12
    high = day // 28 + 12 if day >= 0 else day // 31 + 12
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _day_of(middle) <= day else (low, middle)
    return low


def _ceil(number: int, size: int, exact: bool = True) -> tuple[int, bool]:
    """number / size, rounded up, and whether nothing was rounded, here and before."""
    return -(-number // size), exact and number % size == 0


def thresholds(edges: np.ndarray, dtype: np.dtype) -> list[tuple[int, bool]]:
    """For each edge, the first number of a dtype that is not below it, and whether it is the edge."""
    of_months, size = _scale(edges.dtype)
    wanted_months, wanted = _scale(dtype)
    numbers = edges.astype(np.int64).tolist()
    if of_months == wanted_months:
        return [_ceil(number * size, wanted) for number in numbers]
    if edges.dtype.kind == "m":
        raise TypeError(f"time spans of {edges.dtype} and {dtype} are not compared: months have no fixed length")
    if of_months:
        return [_ceil(_day_of(number * size) * _DAY, wanted) for number in numbers]
    found = []
    for number in numbers:
        day, exact = _ceil(number * size, _DAY)
        month = _month_of(day)
        if _day_of(month) < day:
            month, exact = month + 1, False
        found.append(_ceil(month, wanted, exact))
    return found


def _as_numbers(a: np.ndarray) -> np.ndarray:
    return a.view(np.dtype(np.int64).newbyteorder(a.dtype.byteorder))


def matched(edges: np.ndarray, a: np.ndarray, flow: bool) -> tuple[Any, np.ndarray]:
    """An axis and samples, of numbers, that are counted as these edges and dates."""
    check_kinds(a.dtype, edges.dtype, "samples", "edges")
    if np.isnat(edges).any():
        raise ValueError("an edge is NaT")
    if edges.dtype == a.dtype and not flow:
        return edges.view(np.int64), a.view(np.int64)
    found = thresholds(edges, a.dtype)
    firsts = [number for number, _ in found]
    last, exact = found[-1]
    if not exact:
        firsts[-1] = last - 1  # of a closed axis
    hold = -_LAST <= firsts[0] and firsts[-1] <= _LAST and firsts[-2] <= firsts[-1]
    numbers = _as_numbers(a)
    nat = np.isnat(a) if flow else None
    if hold and (nat is None or not nat.any()):
        return np.array(firsts, np.int64), numbers
    bins = bins_among(numbers, [number for number, _ in found], last if exact else None).astype(float)
    return (len(edges) - 1, 0), bins if nat is None else np.where(nat, np.nan, bins)


def between(a: np.ndarray, lo: Any, hi: Any) -> np.ndarray:
    """Where dates are in [lo, hi]."""
    ends = [np.asarray(end) for end in (lo, hi)]
    for end in ends:
        check_kinds(a.dtype, end.dtype, "samples", "limits")
    (first, _), (last, exact) = (thresholds(end.reshape(1), a.dtype)[0] for end in ends)
    inside = bins_among(_as_numbers(a), [first, max(first, last + exact)], None) == 0
    return inside & ~np.isnat(a) & ~(np.isnat(ends[0]) | np.isnat(ends[1]))


# ---- Edges


def _finer(dtype: np.dtype, low: int, high: int, bins: int) -> tuple[np.dtype, int, int]:
    """The unit of equal bins, and their ends in it: that of the samples, or the first finer one in which the bins are
    equal, or so narrow that they nearly are."""
    enough = 10**6
    of_months, size = _scale(dtype)
    kind, units = dtype.kind, [(dtype, size)]
    if of_months and kind == "m":
        low, high, finer = low * size, high * size, {"M": 1}
    elif of_months:
        low, high, finer = _day_of(low * size) * _DAY, _day_of(high * size) * _DAY, _SIZES
        units = []
        size = 2 * _DAY
    else:
        low, high, finer = low * size, high * size, _SIZES
    units += [(np.dtype(f"{kind}8[{name}]"), one) for name, one in finer.items() if one < size]
    best = None
    for unit, s in units:
        first, last = low // s, high // s
        if not -_LAST <= first <= last <= _LAST:
            break
        span = last - first
        if span >= bins:
            best = unit, first, last
        if span >= bins and (span % bins == 0 or span >= bins * enough):
            break
    if best is None:
        raise ValueError(f"Too many bins for data range. Cannot create {bins} finite-sized bins.")
    return best


def _ends(a: np.ndarray, limits: Any, mask: Any) -> np.ndarray:
    """The first and the last edge."""
    if limits is not None:
        first, last = limits
        ends = take([first, last]).values
        if ends.dtype.kind == "O":
            raise TypeError(f"the ends of range are dates, not {first!r} and {last!r}")
        check_kinds(a.dtype, ends.dtype, "samples", "the ends of range")
        if np.isnat(ends).any():
            raise ValueError(f"supplied range of [{first}, {last}] is not finite")
        if ends[0] > ends[1]:
            raise ValueError("max must be larger than min in range parameter.")
    else:
        seen = a if mask is None else a[mask.astype(bool)]
        if not seen.size:
            return np.array([0, 1]).astype(a.dtype)
        ends = np.array([seen.min(), seen.max()])
        if np.isnat(ends).any():
            raise ValueError(f"autodetected range of [{ends[0]}, {ends[1]}] is not finite")
    if ends[0] == ends[1]:
        ends = np.array([ends[0] - 1, ends[1] + 1]) if abs(int(ends[0].astype(np.int64))) < _LAST else ends
    return ends


def equal_edges(a: np.ndarray, bins: Any, limits: Any, mask: Any, threads: int) -> np.ndarray:
    """The edges of equal bins of dates, whose number is given, or found by a rule. A single date has bins from one unit
    before it to one after it."""
    ends = _ends(a, limits, mask)
    if isinstance(bins, str):
        bins = _bins_by_rule(a, bins, ends, mask, threads)
    unit, low, high = _finer(ends.dtype, *ends.astype(np.int64).tolist(), operator.index(bins))
    return np.array([low + (high - low) * i // bins for i in _range(bins + 1)], np.int64).view(unit)


def _bins_by_rule(a: np.ndarray, rule: str, ends: np.ndarray, mask: Any, threads: int) -> int:
    (low, _), (high, _) = thresholds(ends, a.dtype)
    above = (_as_numbers(a).astype(np.int64).view(np.uint64) - np.uint64(low % 2**64))  # modulo 2^64, as is meant
    return _histo.bins_by_rule(above, rule, 0.0, float(high - low), mask, threads)


def centers(edges: np.ndarray) -> np.ndarray:
    """The middles of bins, rounded down to the unit of the edges."""
    return edges[:-1] + np.diff(edges) // 2


