"""Indices of the Unified Histogram Interface: where in an axis, and what to do with a range of it.

`loc`, `at`, `underflow`, `overflow`, `rebin` and `sum` work in the brackets of a histogram. Those of boost-histogram,
hist and uhi.tag do, too: anything that is called with an axis and returns a bin, and any step with a `factor`.
"""

from __future__ import annotations

import builtins
import copy
import operator
from typing import Any, NamedTuple

__all__ = ["at", "loc", "overflow", "rebin", "sum", "underflow"]

sum = builtins.sum
"""The builtin: h[::sum] sums over an axis, underflow and overflow included; h[0:len:sum] over its bins."""


class _Locator:
    """Something that is called with an axis and returns a bin. Integers may be added to it."""

    __slots__ = ("offset",)

    def __init__(self, offset: int = 0) -> None:
        self.offset = operator.index(offset)

    def __add__(self, offset: int) -> _Locator:
        moved = copy.copy(self)
        moved.offset += operator.index(offset)
        return moved

    def __sub__(self, offset: int) -> _Locator:
        return self + -operator.index(offset)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def _name(self) -> str:
        return type(self).__name__.lower().strip("_")

    def __repr__(self) -> str:
        return self._name() + (f" {'+' if self.offset > 0 else '-'} {abs(self.offset)}" if self.offset else "")


class loc(_Locator):
    """The bin of a value: h[loc(0.5)], h[loc("a")], h[loc(1.5) + 2:]."""

    __slots__ = ("value",)

    def __init__(self, value: Any, offset: int = 0) -> None:
        super().__init__(offset)
        self.value = value

    def __call__(self, axis: Any) -> int:
        index = axis.index(self.value)
        if isinstance(self.value, str) and index == len(axis):
            raise KeyError(f"no category {self.value!r}")
        return index + self.offset

    def _name(self) -> str:
        return f"loc({self.value!r})"


class _Underflow(_Locator):
    __slots__ = ()

    def __call__(self, axis: Any) -> int:
        return -1 + self.offset


class _Overflow(_Locator):
    __slots__ = ()

    def __call__(self, axis: Any) -> int:
        return len(axis) + self.offset


underflow = _Underflow()
"""The slot below the first bin: h[underflow]."""

overflow = _Overflow()
"""The slot above the last bin, with the NaN: h[overflow]."""


class at(_Locator):
    """A bin by its number, where -1 is underflow and not the last bin: h[at(-1)]."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        super().__init__()
        self.value = operator.index(value)

    def __call__(self, axis: Any) -> int:
        return self.value + self.offset

    def _name(self) -> str:
        return f"at({self.value})"


class rebin:
    """Merge bins, as the step of a slice: h[::rebin(2)], h[::rebin(groups=[1, 2, 3])], h[::rebin(edges=[0, 1, 5])].

    factor: the number of bins that become one. What is left over at the upper end is added to the overflow.
    groups: the number of bins that become one, for each new bin.
    edges: the edges that remain: some of the axis' edges, the first and the last among them.
    """

    __slots__ = ("edges", "factor", "groups")

    def __init__(self, factor: int | None = None, *, groups: Any = None, edges: Any = None) -> None:
        if (factor is not None) + (groups is not None) + (edges is not None) != 1:
            raise TypeError("rebin takes a factor, groups or edges")
        self.factor = None if factor is None else operator.index(factor)
        if self.factor is not None and self.factor < 1:
            raise ValueError("the factor of rebin must be positive")
        self.groups = None if groups is None else [operator.index(group) for group in groups]
        self.edges = None if edges is None else list(edges)

    def __repr__(self) -> str:
        given = self.factor or (f"groups={self.groups}" if self.groups is not None else f"edges={self.edges}")
        return f"rebin({given})"

    def _groups_of(self, axis: Any) -> list[int]:
        if self.groups is not None:
            return self.groups
        edges = axis.edges.tolist()
        try:
            places = [edges.index(edge) for edge in self.edges]
        except ValueError:
            raise ValueError("rebin(edges=…) takes edges that the axis has") from None
        if len(places) < 2 or places[0] != 0 or places[-1] != len(edges) - 1:
            raise ValueError("rebin(edges=…) takes the first and the last edge, too")
        return [b - a for a, b in zip(places, places[1:])]


# What an index asks of one axis.


class Pick(NamedTuple):
    """One bin, -1 for underflow, the number of bins for overflow; the axis goes."""

    bin: int


class Range(NamedTuple):
    """Bins begin … end - 1, which stay; the others go to underflow and overflow. Then the bins are merged."""

    begin: int
    end: int
    factor: int
    groups: list | None


class Total(NamedTuple):
    """The sum of bins begin … end - 1 and of the flow; the axis goes."""

    begin: int
    end: int
    underflow: bool
    overflow: bool


class Choice(NamedTuple):
    """Bins in any order; the axis stays."""

    bins: list


def resolve(index: Any, axes: Any) -> list:
    """What an index of a histogram asks of each axis: None (it stays as it is), Pick, Range, Total, Choice, or an array
    of bins."""
    return [_resolve_one(one, axis) for one, axis in zip(spread(index, axes), axes, strict=True)]


def spread(index: Any, axes: Any) -> list:
    """The index of each axis, from a tuple, a dict by name or number, that of one axis, or an array of bools for all."""
    if len(axes) > 1 and _is_bools(index):
        if index.shape != axes.size:
            raise IndexError(f"the array of bools has the shape {index.shape}, and the bins {axes.size}")
        return list(index.nonzero())
    if not hasattr(index, "items"):
        return _expand(index if isinstance(index, tuple) else (index,), len(axes))
    asked: list = [slice(None)] * len(axes)
    for axis, one in index.items():
        asked[axes._position(axis)] = one
    return asked


def _expand(index: tuple, naxes: int) -> list:
    places = [i for i, one in enumerate(index) if one is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index has at most one ellipsis")
    if places:
        rest = naxes - len(index) + 1
        if rest < 0:
            raise IndexError(f"{len(index) - 1} indices for a histogram of {naxes} axes")
        return [*index[: places[0]], *[slice(None)] * rest, *index[places[0] + 1 :]]
    if len(index) != naxes:
        raise IndexError(f"{len(index)} indices for a histogram of {naxes} axes")
    return list(index)


def _shorthand(one: Any) -> Any:
    """hist's: a string is that category, 0.5j is the value 0.5, and 1 + 0.5j a bin above it."""
    if isinstance(one, str):
        return loc(one)
    if isinstance(one, complex):
        if one.real % 1:
            raise ValueError("the real part of a complex index is a whole number of bins")
        return loc(one.imag, int(one.real))
    return one


def _is_sum(step: Any) -> bool:
    return step is builtins.sum or getattr(step, "__name__", "") == "sum" and callable(step)


def _resolve_one(one: Any, axis: Any) -> Any:
    one = _shorthand(one)
    if isinstance(one, slice):
        return _resolve_slice(one, axis)
    if _is_sum(one) or getattr(one, "factor", None) is not None or isinstance(one, rebin):
        return _resolve_slice(slice(None, None, one), axis)
    if isinstance(one, list):
        if not one:
            raise IndexError("the list chooses no bins")
        if all(isinstance(item, bool) or _is_bools(item) for item in one):
            _check_bools(len(one), axis)
            one = [i for i, chosen in enumerate(one) if chosen]
            return resolve((one,), (axis,))[0]
        return Choice([_bin(item, axis) for item in one])
    if getattr(one, "ndim", 0) > 0:
        return _resolve_array(one, axis)
    return Pick(_bin(one, axis, flow=True))


def _is_bools(one: Any) -> bool:
    return getattr(getattr(one, "dtype", None), "kind", "") == "b"


def _check_bools(n: int, axis: Any) -> None:
    if n != len(axis):
        raise IndexError(f"{n} bools do not choose bins of an axis of {len(axis)}")


def _resolve_array(bins: Any, axis: Any) -> Any:
    if _is_bools(bins) and bins.ndim == 1:
        _check_bools(len(bins), axis)
        return bins.nonzero()[0]
    if bins.dtype.kind not in "iu":
        raise IndexError("an array of bins holds integers")
    if bins.size and (bins.max() >= len(axis) or bins.min() < -len(axis)):
        raise IndexError(f"a bin is not on the axis of {len(axis)} bins")
    return bins % max(1, len(axis))


def _bin(one: Any, axis: Any, flow: bool = False) -> int:
    one = _shorthand(one)
    size = len(axis)
    if callable(one):
        found = operator.index(one(axis))
        low = -1 if flow and axis.traits.underflow else 0
        high = size if flow and axis.traits.overflow else size - 1
        if not low <= found <= high:
            raise IndexError(f"{one!r} is not on the axis {axis!r}")
        return found
    if isinstance(one, float):
        raise TypeError(f"an index is a whole number: use loc({one}) for a value")
    found = operator.index(one)
    if not -size <= found < size:
        raise IndexError(f"bin {found} of an axis of {size} bins")
    return found % size


def _end(one: Any, axis: Any, default: int) -> int:
    one = _shorthand(one)
    if one is None:
        return default
    if callable(one):
        return operator.index(one(axis))
    if isinstance(one, (slice, float)):
        raise TypeError(f"a slice goes from bin to bin, not {one!r}: use loc() for values and {{axis: slice}} for axes")
    found = operator.index(one)
    return found + len(axis) if found < 0 else found


def _resolve_slice(one: slice, axis: Any) -> Any:
    size, traits, step = len(axis), axis.traits, one.step
    if isinstance(step, complex):
        step = rebin(int(step.imag))
    begin = _end(one.start, axis, -1)
    end = _end(one.stop, axis, size + 1)
    total = _is_sum(step)
    if step is not None and not total and not hasattr(step, "factor"):
        raise IndexError("the step of a slice is sum or rebin")
    low, high = max(begin, 0), min(end, size)
    if low >= high and (size or one.start is not None or one.stop is not None) and \
            not (total and (begin < 0 or end > size) and begin < end):
        raise IndexError(f"the slice [{one.start}:{one.stop}] has no bins")
    if total:
        return Total(low, high, begin < 0 and traits.underflow, end > size and traits.overflow)
    if one.start is None and one.stop is None and step is None:
        return None
    factor = getattr(step, "factor", None) or 1
    groups = None
    if isinstance(step, rebin) and step.factor is None:
        groups = step._groups_of(_part(axis, low, high))
        if min(groups, default=0) < 1 or builtins.sum(groups) > high - low:
            raise ValueError("groups must be positive, and must not add up to more bins than there are")
    if factor > high - low:
        raise IndexError(f"{high - low} bins cannot be merged by {factor}")
    return Range(low, high, factor, groups)


class _part:
    """The edges of some bins of an axis."""

    def __init__(self, axis: Any, begin: int, end: int) -> None:
        self.edges = axis.edges[begin : end + 1]
