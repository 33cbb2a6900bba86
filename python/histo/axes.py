"""Axes of histograms: where a sample is counted.

Every axis is a `PlottableAxis` of the Unified Histogram Interface (UHI). A sample x is in bin i of a continuous axis
if and only if edges[i] <= x < edges[i + 1], compared by value, whatever the sample's type. Samples below the first edge
are underflow, those above the last one overflow, and NaN is counted apart from both. Arrays with flow have no entry for
NaN and add it to the overflow, as boost-histogram does.
"""

from __future__ import annotations

import bisect
import math
import operator
from array import array
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar, overload
from collections.abc import Iterator

from . import _histo
from ._histo import INTEGER, LOG, POWER, REGULAR, SQRT, VARIABLE

__all__ = ["AxesTuple", "Axis", "Boolean", "Category", "Integer", "Log", "Power", "Regular", "Sqrt", "Traits",
           "Variable"]


_MANY = 1 << 14
"""More samples than this are worth a table, and are processed in chunks of this size."""


class Traits(NamedTuple):
    """What an axis is like, in the words of boost-histogram and UHI."""

    underflow: bool
    overflow: bool
    circular: bool
    growth: bool
    continuous: bool
    ordered: bool

    @property
    def discrete(self) -> bool:
        """Whether each bin is one value."""
        return not self.continuous


def _numpy() -> Any:
    import numpy

    return numpy


def _of_numbers(value: Any) -> tuple[Any, Any]:
    """An array of numbers of any source, and which of them are present, or None."""
    from .sources import numbers

    np = _numpy()
    found = numbers(value, "values")
    values, present = found if isinstance(found, tuple) else (found, None)
    return values.view(np.uint8) if values.dtype == bool else values, present


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str) or getattr(value, "ndim", None) == 0 or not hasattr(value, "__len__")


def _double(edge: Any) -> float:
    """An edge. ValueError for an integer that is none: samples would be compared with another one."""
    if isinstance(edge, (str, bytes)) or edge is None or type(edge).__name__ in ("datetime64", "timedelta64"):
        raise TypeError(f"an edge is a number, not {edge!r}")
    try:
        double = float(edge)
    except OverflowError:
        double = float("inf")
    except TypeError:
        raise TypeError(f"an edge is a number, not {edge!r}") from None
    if not isinstance(edge, float) and hasattr(edge, "__index__") and double != operator.index(edge):
        raise ValueError(f"the edge {edge} is an integer beyond 2^53 that no double holds: histo.histogram takes it")
    return double


class Labelled:
    """The label of an axis or a histogram."""

    __slots__ = ()
    name: str
    _label: str

    @property
    def label(self) -> str:
        """The label in plots: the name, if no label was given."""
        return self._label or self.name

    @label.setter
    def label(self, label: str) -> None:
        self._label = label


class Axis(Labelled):
    """The base class of all axes.

    Parameters
    ----------
    name : str, optional
        For `fill(name=…)`, `project("name")` and xarray.
    label : str, optional
        For plots; by default, the name.
    metadata : object, optional
        Anything. It is saved with the histogram if it is a dict of strings, numbers and bools.
    """

    __slots__ = ("name", "_label", "metadata", "_tuple", "_underflow", "_overflow", "_edges")
    _grows: ClassVar[bool] = False
    _discrete: ClassVar[bool] = False

    def _describe(self, numbers: tuple, underflow: bool, overflow: bool, name: str, label: str, metadata: Any) -> None:
        if not isinstance(name, str) or not isinstance(label, str):
            raise TypeError("the name and the label of an axis are strings")
        self.name, self._label, self.metadata = name, label, metadata
        self._tuple = numbers
        self._underflow, self._overflow = bool(underflow), bool(overflow)
        self._edges = None
        _histo.axis_check(numbers)

    @property
    def traits(self) -> Traits:
        """What the axis is like."""
        return Traits(self._underflow, self._overflow, False, self._grows, not self._discrete, True)

    @property
    def size(self) -> int:
        """The number of bins."""
        return self._tuple[2]

    @property
    def extent(self) -> int:
        """The number of bins, underflow and overflow included."""
        return self.size + self._underflow + self._overflow

    @property
    def edges(self) -> Any:
        """The edges of the bins: a read-only float64 array of size + 1 elements."""
        if self._edges is None:
            edges = _histo.axis_edges(self._tuple)
            edges.flags.writeable = False
            self._edges = edges
        return self._edges

    @property
    def centers(self) -> Any:
        """The middle of each bin."""
        edges = self.edges
        return edges[:-1] / 2 + edges[1:] / 2

    @property
    def widths(self) -> Any:
        """The width of each bin."""
        return _numpy().diff(self.edges)

    def index(self, value: Any) -> Any:
        """The bin of a value or of each value of an array: -1 is underflow, `size` is overflow, NaN and what is missing.
        """
        np = _numpy()
        edges = self.edges
        values, present = _of_numbers(value)
        if values.dtype.kind == "f":
            values = values.astype(float, copy=False)
            index = np.searchsorted(edges, values, side="right") - 1
            if self._tuple[1]:
                index = np.where(values == edges[-1], self.size - 1, index)
            index = np.where(np.isnan(values), self.size, index)
        else:
            from .lookup import bins_among, first_integers

            index = bins_among(values, first_integers(edges.tolist()), float(edges[-1]) if self._tuple[1] else None)
        index = index if present is None else np.where(present, index, self.size)
        return int(index) if values.ndim == 0 else index

    def value(self, index: Any) -> Any:
        """The value at an index, which may be between bins: edges[i] at i, and i + 1/2 is the middle of bin i.

        Below 0 it is -inf, above `size` inf.
        """
        np = _numpy()
        edges = self.edges
        at = np.asarray(index, float)
        value = np.interp(at, np.arange(len(edges)), edges, left=-np.inf, right=np.inf)
        return float(value) if at.ndim == 0 else value

    def bin(self, index: int) -> Any:
        """The edges (lower, upper) of a bin, or its value on a discrete axis; -1 is underflow, `size` overflow."""
        index = operator.index(index)
        if index == -1 and self._underflow:
            return (float("-inf"), float(self.edges[0]))
        if index == self.size and self._overflow:
            return (float(self.edges[-1]), float("inf"))
        if not 0 <= index < self.size:
            raise IndexError(f"bin {index} of an axis of {self.size} bins")
        return self._bin(index)

    def _bin(self, index: int) -> Any:
        return (float(self.edges[index]), float(self.edges[index + 1]))

    def __getitem__(self, index: Any) -> Any:
        """A bin, as `bin` gives it; negative numbers count from the end."""
        if callable(index):
            return self.bin(index(self))
        index = operator.index(index)
        if not -self.size <= index < self.size:
            raise IndexError(f"bin {index} of an axis of {self.size} bins")
        return self._bin(index % self.size)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Any]:
        return (self._bin(i) for i in range(self.size))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Axis):
            return NotImplemented
        return self._same_bins(other) and (self.name, self._label, self.metadata) == (other.name, other._label,
                                                                                      other.metadata)

    __hash__ = None  # type: ignore[assignment]

    def _same_bins(self, other: Axis) -> bool:
        """Whether another axis differs in its names at most."""
        form = (type(self), self._underflow, self._overflow)
        return form == (type(other), other._underflow, other._overflow) and \
            _histo.axis_equal(self._tuple, other._tuple)

    def _options(self) -> list[str]:
        options = [f"{key}={value!r}" for key, value in
                   (("name", self.name), ("label", self._label), ("metadata", self.metadata)) if value]
        if self._tuple[1]:
            options.insert(0, "closed=True")
        return options + [f"{key}=False" for key, value in
                          (("underflow", self._underflow), ("overflow", self._overflow)) if not value]

    def _arguments(self) -> list[str]:
        _, _, bins, lo, hi, _, _ = self._tuple
        return [str(bins), f"{lo:g}" if float(f"{lo:g}") == lo else repr(lo),
                f"{hi:g}" if float(f"{hi:g}") == hi else repr(hi)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._arguments() + self._options())})"

    def __getstate__(self) -> dict:
        state = {key: getattr(self, key) for cls in type(self).__mro__ for key in getattr(cls, "__slots__", ())
                 if key not in ("_edges", "__dict__", "__weakref__") and hasattr(self, key)}
        return {**state, **getattr(self, "__dict__", {})}  # which subclasses may have

    def __setstate__(self, state: dict) -> None:
        self._edges = None
        for key, value in state.items():
            setattr(self, key, value)

    # What Histogram asks.

    @property
    def _translated(self) -> bool:
        """Whether samples are not numbers that the library could count as they are."""
        return False

    def _span(self) -> tuple[int, int]:
        """The number of the first bin, and how many there are, by which an axis that has grown is told from before."""
        return 0, self.size

    def _like(self, numbers: tuple) -> Axis:
        """The axis that the library made of this one."""
        return axis_of(numbers, self._underflow, self._overflow, self.name, self._label, self.metadata)


class _Stretched(Axis):
    """An axis of numbers that may grow, or be circular."""

    __slots__ = ("_circular", "_grows", "_steps")
    _steps: Any
    """Of a growing axis of equal steps: see histo.stretching."""

    def _describe(self, numbers: tuple, underflow: bool, overflow: bool, name: str, label: str, metadata: Any,
                  growth: bool = False, circular: bool = False) -> None:
        if growth and circular:
            raise ValueError("an axis grows or is circular, not both")
        if (growth or circular) and numbers[1]:
            raise ValueError(f"the last bin of {'a growing' if growth else 'a circular'} axis is not closed")
        self._grows, self._circular, self._steps = bool(growth), bool(circular), None
        super()._describe(numbers, underflow and not circular, overflow, name, label, metadata)
        if circular and not float("-inf") < numbers[3] < numbers[4] < float("inf"):
            raise ValueError("the period of a circular axis is finite and positive")

    @property
    def traits(self) -> Traits:
        return super().traits._replace(circular=self._circular)

    def index(self, value: Any) -> Any:
        if not self._circular:
            return super().index(value)
        np = _numpy()
        values, present = self._numbers(value, False)
        return super().index(values if present is None else np.where(present, values, np.nan))

    def _same_bins(self, other: Axis) -> bool:
        return super()._same_bins(other) and isinstance(other, _Stretched) and \
            (self._grows, self._circular) == (other._grows, other._circular)

    def _options(self) -> list[str]:
        kept = [option for option in super()._options() if not (self._circular and option == "underflow=False")]
        return kept + ["growth=True"] * self._grows + ["circular=True"] * self._circular

    @property
    def _translated(self) -> bool:
        return self._grows or self._circular

    def _numbers(self, samples: Any, grows: bool) -> tuple[Any, Any]:
        """The samples in the period of a circular axis, else as they are; and which are present."""
        values, present = _of_numbers(samples)
        if not isinstance(values, _numpy().ndarray):
            raise TypeError("growing and circular axes take samples in host memory")
        if self._circular:
            from .stretching import wrapped

            values = wrapped(values, *self._tuple[3:5])
        return values, present

    def _like(self, numbers: tuple) -> Axis:
        """Of a growing axis, one that does not grow: what was cut is in the flow. Circular ones are not cut."""
        shows = self._grows
        made = axis_of(numbers, shows or self._underflow, shows or self._overflow, self.name, self._label, self.metadata)
        if self._circular and isinstance(made, _Stretched):
            made._circular = True
        return made

    def _span(self) -> tuple[int, int]:
        return (self._steps.first if self._steps else int(self._tuple[3]) if self._grows else 0), self.size

    def _grow_to(self, steps: Any, numbers: tuple) -> None:
        self._steps, self._tuple, self._edges = steps, numbers, None


class _EqualSteps(Axis):
    """Bins whose edges have equal steps after a transformation."""

    __slots__ = ()
    _kind: ClassVar[int] = REGULAR
    _power: ClassVar[float] = 0.0

    def __init__(self, bins: int, lo: float, hi: float, *, closed: bool = False, underflow: bool = True,
                 overflow: bool = True, name: str = "", label: str = "", metadata: Any = None) -> None:
        self._describe((self._kind, bool(closed), operator.index(bins), _double(lo), _double(hi), self._power, None),
                       underflow, overflow, name, label, metadata)


class Regular(_Stretched):
    """Bins of equal width from lo to hi: the edges are numpy.linspace(lo, hi, bins + 1).

    Parameters
    ----------
    bins : int
        The number of bins.
    lo, hi : float
        The first and the last edge, lo < hi.
    closed : bool, default False
        The last bin includes hi, as in NumPy.
    underflow, overflow : bool, default True
        Whether arrays with flow show what is below and above the bins. It is counted in any case.
    growth : bool, default False
        Fills add bins of the same width for finite samples below and above the axis, which are not masked. The edges
        that it has stay as they are. MemoryError for more than 2^26 bins.
    circular : bool, default False
        Samples are moved by whole periods, hi - lo, into lo … hi. There is no underflow; infinities are overflow.
    name, label, metadata
        As in `Axis`.
    """

    __slots__ = ()

    def __init__(self, bins: int, lo: float, hi: float, *, closed: bool = False, underflow: bool = True,
                 overflow: bool = True, growth: bool = False, circular: bool = False, name: str = "", label: str = "",
                 metadata: Any = None) -> None:
        self._describe((REGULAR, bool(closed), operator.index(bins), _double(lo), _double(hi), 0.0, None), underflow,
                       overflow, name, label, metadata, growth, circular)
        if growth:
            self._start()

    def _start(self, first: int = 0) -> None:
        """Grow in the steps that the axis has now."""
        from .stretching import Steps

        _, _, bins, lo, hi, _, _ = self._tuple
        self._steps = Steps(lo, hi, bins, first)

    def _reach(self, low: int | float, high: int | float) -> None:
        """Grow to samples."""
        if not (low < self._tuple[3] or high >= self._tuple[4]):
            return
        steps, size = self._steps.reach(self.size, low, high)
        self._grow_to(steps, steps.numbers(size))

    def _shrink_to(self, span: tuple[int, int]) -> None:
        steps = self._steps._replace(first=span[0])
        self._grow_to(steps, steps.numbers(span[1]))

    def _meets(self, other: Axis) -> bool:
        """Whether both are of the same steps, so that one can grow to have the bins of the other."""
        return isinstance(other, Regular) and self._grows and other._grows and self._steps[:3] == other._steps[:3] and \
            (self._underflow, self._overflow) == (other._underflow, other._overflow)


class Log(_EqualSteps):
    """Bins of equal width in log(x); lo > 0. The keywords are those of `Regular`."""

    __slots__ = ()
    _kind = LOG


class Sqrt(_EqualSteps):
    """Bins of equal width in sqrt(x); lo >= 0. The keywords are those of `Regular`."""

    __slots__ = ()
    _kind = SQRT
    _power = 0.5


class Power(Axis):
    """Bins of equal width in x**power; lo >= 0, and lo > 0 for a negative power. The keywords are `Regular`'s."""

    __slots__ = ()

    def __init__(self, bins: int, lo: float, hi: float, power: float, *, closed: bool = False, underflow: bool = True,
                 overflow: bool = True, name: str = "", label: str = "", metadata: Any = None) -> None:
        self._describe((POWER, bool(closed), operator.index(bins), _double(lo), _double(hi), float(power), None),
                       underflow, overflow, name, label, metadata)

    def _arguments(self) -> list[str]:
        return [*super()._arguments(), repr(self._tuple[5])]


class Variable(_Stretched):
    """Bins between the given edges, which must not decrease: they may be equal, and infinite. The keywords are those of
    `Regular`, but for growth."""

    __slots__ = ()

    def __init__(self, edges: Any, *, closed: bool = False, underflow: bool = True, overflow: bool = True,
                 circular: bool = False, name: str = "", label: str = "", metadata: Any = None) -> None:
        if getattr(getattr(edges, "dtype", None), "kind", "") in ("m", "M"):
            raise TypeError(f"edges are {edges.dtype}, and axes have numbers: count dates by histo.histogram, or give the "
                            "numbers of a unit")
        doubles = array("d", map(_double, edges.tolist() if hasattr(edges, "tolist") else edges))
        if len(doubles) < 2:
            raise ValueError("an axis needs two edges or more")
        self._describe((VARIABLE, bool(closed), len(doubles) - 1, doubles[0], doubles[-1], 0.0, doubles.tobytes()),
                       underflow, overflow, name, label, metadata, False, circular)

    def _arguments(self) -> list[str]:
        edges = array("d")
        edges.frombytes(self._tuple[6])
        shown = [f"{x:g}" if float(f"{x:g}") == x else repr(x) for x in edges]
        return ["[" + ", ".join(shown if len(shown) <= 20 else [*shown[:9], "...", *shown[-9:]]) + "]"]


class Integer(_Stretched):
    """A bin for each integer from lo to hi - 1. The keywords are those of `Regular`. Arrays show no flow of a growing axis,
    and none of a circular one unless overflow=True: only NaN and infinities are there."""

    __slots__ = ()
    _discrete = True

    def __init__(self, lo: int, hi: int, *, underflow: bool = True, overflow: bool | None = None, growth: bool = False,
                 circular: bool = False, name: str = "", label: str = "", metadata: Any = None) -> None:
        lo, hi = operator.index(lo), operator.index(hi)
        for which, end in ("lo", lo), ("hi", hi):
            if abs(end) > 2**53:  # where doubles do not hold every integer
                raise ValueError(f"{which} of an integer axis is from -2^53 to 2^53, not {end}")
        shows = not (growth or circular) if overflow is None else bool(overflow) and not growth
        self._describe((INTEGER, False, hi - lo, float(lo), float(hi), 0.0, None), underflow and not growth, shows, name,
                       label, metadata, growth, circular)

    def _options(self) -> list[str]:
        shown = {"underflow=False", "overflow=False"} if self._grows or self._circular else set()
        return [option for option in super()._options() if option not in shown] + \
            ["overflow=True"] * (self._circular and self._overflow)

    def _take(self, indices: Any) -> Category:
        return Category([self._bin(i) for i in indices], overflow=self._overflow or self._underflow, name=self.name,
                        label=self._label, metadata=self.metadata)

    def _reach(self, low: int | float, high: int | float) -> None:
        """Grow to samples."""
        _, _, _, lo, hi, _, _ = self._tuple
        if low >= lo and high < hi:
            return
        from .stretching import check_size

        first, end = min(int(lo), math.floor(low)), max(int(hi), math.floor(high) + 1)
        check_size(end - first, high if high >= hi else low)
        self._shrink_to((first, end - first))

    def _shrink_to(self, span: tuple[int, int]) -> None:
        first, size = span
        if max(abs(first), abs(first + size)) > 2**53:
            raise ValueError("an integer axis does not grow beyond 2^53")
        self._grow_to(None, (INTEGER, False, size, float(first), float(first + size), 0.0, None))

    def _meets(self, other: Axis) -> bool:
        return isinstance(other, Integer) and self._grows and other._grows

    def index(self, value: Any) -> Any:
        np = _numpy()
        values, present = self._numbers(value, False) if self._circular else _of_numbers(value)
        lo, hi = int(self._tuple[3]), int(self._tuple[4])
        if values.dtype.kind == "f":
            values = np.floor(values.astype(float))
            values = np.where(values != values, hi, values)
        below, above = values < lo, values >= hi
        index = np.where(below | above, lo, values).astype(np.int64) - lo
        index = np.where(below, -1, np.where(above if present is None else above | ~present, self.size, index))
        return int(index) if values.ndim == 0 else index

    def bin(self, index: int) -> Any:
        if index == -1 and self._underflow or index == self.size and self._overflow:
            return int(self._tuple[3]) + index
        return super().bin(index)

    def value(self, index: Any) -> Any:
        """The integer of a bin."""
        np = _numpy()
        at = np.asarray(index)
        value = at + int(self._tuple[3])
        return value.item() if at.ndim == 0 else value

    def _bin(self, index: int) -> int:
        return int(self._tuple[3]) + index

    def _arguments(self) -> list[str]:
        return [str(int(self._tuple[3])), str(int(self._tuple[4]))]


class Boolean(Axis):
    """Two bins, for False and True. Samples that are not zero count as True, and NaN as NaN."""

    __slots__ = ()
    _discrete = True

    def __init__(self, *, name: str = "", label: str = "", metadata: Any = None) -> None:
        self._describe((INTEGER, False, 2, 0.0, 2.0, 0.0, None), False, False, name, label, metadata)

    def index(self, value: Any) -> Any:
        np = _numpy()
        values, present = self._numbers(value, False)
        index = np.where(np.isnan(values), 2, values).astype(int)
        index = index if present is None else np.where(present, index, 2)
        return int(index) if values.ndim == 0 else index

    def value(self, index: Any) -> Any:
        """False for 0, True for 1."""
        return _numpy().asarray(index) != 0

    def _bin(self, index: int) -> bool:
        return bool(index)

    def _arguments(self) -> list[str]:
        return []

    def _options(self) -> list[str]:
        return [option for option in super()._options() if not option.endswith("flow=False")]

    @property
    def _translated(self) -> bool:
        return True

    def _numbers(self, samples: Any, grows: bool) -> tuple[Any, Any]:
        """0 or 1 or NaN of each sample, and which are present."""
        np = _numpy()
        values, present = _of_numbers(samples)
        is_true = values != 0
        return np.where(np.isnan(values), np.nan, is_true) if values.dtype.kind == "f" else is_true, present


class Category(Axis):
    """A bin for each of several strings or integers, in any order.

    Parameters
    ----------
    categories : sequence of str or of int
        The categories, in the order of their bins.
    growth : bool, default False
        Fills add categories that the axis does not have yet.
    overflow : bool, default True
        Whether arrays with flow show the samples of no category. There are none with growth.
    name, label, metadata
        As in `Axis`.
    """

    __slots__ = ("_categories", "_table", "_grows", "_sorted")
    _discrete = True

    def __init__(self, categories: Any = (), *, growth: bool = False, overflow: bool = True, name: str = "",
                 label: str = "", metadata: Any = None) -> None:
        if isinstance(categories, str):
            categories = list(categories)
        self._categories: list = []
        self._table: dict = {}
        self._grows = bool(growth)
        self._sorted = None
        for category in categories:
            if not isinstance(category, str):
                category = operator.index(category)
            if category in self._table:
                raise ValueError(f"the category {category!r} is given twice")
            self._add(category)
        if not self._categories and not growth:
            raise ValueError("an axis without growth needs a category")
        size = max(1, len(self._categories))
        self._describe((INTEGER, False, size, 0.0, float(size), 0.0, None), False, overflow and not growth, name,
                       label, metadata)

    def __getstate__(self) -> dict:
        """What copies are made of: they grow by themselves."""
        categories = self._categories.copy()
        return {**super().__getstate__(), "_categories": categories, "_table": {c: i for i, c in enumerate(categories)}}

    def _add(self, category: str | int) -> None:
        if self._categories and isinstance(category, str) != isinstance(self._categories[0], str):
            raise TypeError("the categories of an axis are all strings or all integers")
        self._table[category] = len(self._categories)
        self._categories.append(category)
        self._sorted = None

    @property
    def traits(self) -> Traits:
        return Traits(False, self._overflow, False, self._grows, False, False)

    @property
    def categories(self) -> list:
        """The strings or integers, in the order of their bins."""
        return list(self._categories)

    @property
    def size(self) -> int:
        return len(self._categories)

    @property
    def edges(self) -> Any:
        """0, 1, … size."""
        return _numpy().arange(self.size + 1, dtype=float)

    def index(self, value: Any) -> Any:
        """The bin of a category, or of each of an array; `size` for all others."""
        np = _numpy()
        if isinstance(value, str):
            return self._table.get(value, self.size)
        if isinstance(value, float):
            if not value.is_integer():
                return self.size
            value = int(value)
        index, present = self._numbers(value, False)
        index = index if present is None else np.where(present, index, self.size)
        return int(index) if getattr(index, "ndim", 0) == 0 else index

    def value(self, index: Any) -> Any:
        """The category of a bin, or a list of those of several."""
        if _is_scalar(index):
            return self._categories[index]
        return [self._categories[i] for i in index]

    def bin(self, index: int) -> Any:
        index = operator.index(index)
        if not 0 <= index < self.size:
            raise IndexError(f"bin {index} of an axis of {self.size} categories")
        return self._categories[index]

    def _bin(self, index: int) -> Any:
        return self._categories[index]

    def _same_bins(self, other: Axis) -> bool:
        return type(self) is type(other) and isinstance(other, Category) and \
            (self._categories, self._grows, self._overflow) == (other._categories, other._grows, other._overflow)

    def _arguments(self) -> list[str]:
        shown = [repr(category) for category in self._categories]
        return ["[" + ", ".join(shown if len(shown) <= 20 else [*shown[:9], "...", *shown[-9:]]) + "]"]

    def _options(self) -> list[str]:
        options = [option for option in super()._options() if not option.endswith("flow=False")]
        return options + (["growth=True"] if self._grows else [] if self._overflow else ["overflow=False"])

    @property
    def _translated(self) -> bool:
        return True

    def _numbers(self, samples: Any, grows: bool) -> tuple[Any, Any]:
        """The bin of each sample, and which are present; new categories are added if the axis grows."""
        from .sources import take

        np = _numpy()
        column = take(samples)
        present = column.present
        if column.categories is None:
            return self._of_values(np, column.values, present, grows), present
        codes = column.values if present is None else np.where(present, column.values, -1)
        used = np.arange(len(column.categories))
        if grows:  # new categories are added in the order of the samples
            used, first = np.unique(codes[codes >= 0], return_index=True)
            used = used[np.argsort(first)]
        of_codes = np.full(len(column.categories) + 1, self.size, np.intp)
        of_codes[used] = self._of_values(np, column.categories[used], None, grows)
        return of_codes[codes], present

    def _of_values(self, np: Any, values: Any, present: Any, grows: bool) -> Any:
        if present is not None:
            bins = np.full(values.shape, 0, np.intp)
            bins[present] = self._of_values(np, values[present], None, grows)
            return bins
        if values.dtype.kind in "biu":
            return self._of_integers(np, values, grows)
        if values.dtype.kind == "S":
            values = np.array([text.decode() for text in values.ravel().tolist()], object).reshape(values.shape)
        if values.dtype.kind not in "UO":
            if values.size == 0:
                return np.zeros(values.shape, np.intp)
            raise TypeError(f"categories are strings or integers, not {values.dtype}")
        if values.dtype.kind == "U" and values.size > _MANY:
            return self._of_array(np, values, grows)
        flat = values.ravel().tolist()
        try:
            return self._of_list(np, flat, grows).reshape(values.shape)
        except TypeError:
            for one in flat:
                if not isinstance(one, str) and not hasattr(one, "__index__"):
                    raise TypeError(f"categories are strings or integers, not {type(one).__name__}") from None
            raise

    def _of_list(self, np: Any, flat: list, grows: bool) -> Any:
        if grows:
            for category in dict.fromkeys(flat):
                if category not in self._table:
                    self._grow_by(category)
        if self._categories and not isinstance(self._categories[0], str) and any(isinstance(one, str) for one in flat):
            raise TypeError("the categories of this axis are integers")
        find, other = self._table.get, self.size
        return np.fromiter((find(category, other) for category in flat), np.intp, len(flat))

    def _of_array(self, np: Any, values: Any, grows: bool) -> Any:
        """Strings of one width, whose characters are numbers: found by a hash, and compared."""
        width = values.dtype.itemsize // 4
        rows = np.ascontiguousarray(values).astype(f"=U{width}", copy=False).view(np.uint32).reshape(-1, width)
        known = [i for i, one in enumerate(self._categories) if isinstance(one, str) and len(one) <= width]
        of_known = np.array([self._categories[i] for i in known] or [""], f"U{width}")
        of_known = of_known.view(np.uint32).reshape(-1, width)
        factors = np.random.default_rng(0).integers(1, 2**63, width, np.uint64) | np.uint64(1)
        keys = of_known @ factors
        order = np.argsort(keys)
        keys, of_known = keys[order], of_known[order]
        bins = np.array(known or [self.size], np.intp)[order]
        codes = np.empty(len(rows), np.intp)
        for begin in range(0, len(rows), _MANY):
            part = rows[begin : begin + _MANY]
            at = np.minimum(np.searchsorted(keys, part @ factors), len(keys) - 1)
            codes[begin : begin + _MANY] = np.where((of_known[at] == part).all(axis=1), bins[at], -1)
        missed = np.flatnonzero(codes < 0)  # others, and what shares its key
        codes[missed] = self._of_list(np, values.ravel()[missed].tolist(), grows)
        return codes.reshape(values.shape)

    def _of_integers(self, np: Any, values: Any, grows: bool) -> Any:
        if grows:
            unique, first = np.unique(values, return_index=True)
            for category in unique[np.argsort(first)].tolist():
                if category not in self._table:
                    self._grow_by(category)
        if self._categories and isinstance(self._categories[0], str):
            raise TypeError("the categories of this axis are strings")
        if self._sorted is None or len(self._sorted[0]) != self.size:
            order = sorted(range(self.size), key=self._categories.__getitem__)
            self._sorted = ([self._categories[i] for i in order], np.array(order, np.intp))
        values = values.astype(np.uint8 if values.dtype.kind == "b" else values.dtype.newbyteorder("="), copy=False)
        limits = np.iinfo(values.dtype)
        known, bins = self._sorted
        begin, end = bisect.bisect_left(known, limits.min), bisect.bisect_right(known, limits.max)
        if begin == end:
            return np.full(values.shape, self.size, np.intp)
        table, bins = np.array(known[begin:end], values.dtype), bins[begin:end]  # others no such sample equals
        low, high = known[begin], known[end - 1]
        if values.size > _MANY and high - low < _MANY:
            of_value = np.full(high - low + 1, self.size, np.intp)
            of_value[[one - low for one in known[begin:end]]] = bins
            inside = (values >= low) & (values <= high)
            distance = np.where(inside, values, low).view(f"u{values.dtype.itemsize}") - \
                np.array(low, values.dtype).view(f"u{values.dtype.itemsize}")
            return np.where(inside, of_value[distance], self.size)
        at = np.minimum(np.searchsorted(table, values), len(table) - 1)
        return np.where(table[at] == values, bins[at], self.size)

    def _grow_by(self, category: Any) -> None:
        if not isinstance(category, str):
            category = operator.index(category)
        self._add(category)
        size = self.size
        self._tuple = (INTEGER, False, size, 0.0, float(size), 0.0, None)

    def _meets(self, other: Axis) -> bool:
        return isinstance(other, Category) and self._grows

    def _shrink_to(self, span: tuple[int, int]) -> None:
        """Forget the last categories."""
        size = span[1]
        for category in self._categories[size:]:
            del self._table[category]
        del self._categories[size:]
        self._sorted = None
        size = max(1, size)
        self._tuple = (INTEGER, False, size, 0.0, float(size), 0.0, None)

    def _take(self, indices: Any) -> Category:
        return Category([self._categories[i] for i in indices], growth=self._grows, overflow=self._overflow,
                        name=self.name, label=self._label, metadata=self.metadata)


_KINDS = {REGULAR: Regular, LOG: Log, SQRT: Sqrt, POWER: Power, VARIABLE: Variable, INTEGER: Integer}


def axis_of(numbers: tuple, underflow: bool = True, overflow: bool = True, name: str = "", label: str = "",
            metadata: Any = None) -> Axis:
    """The axis of a tuple (kind, closed, bins, lo, hi, power, edges) of the library."""
    kind, closed, bins, lo, hi, power, edges = numbers
    cls = _KINDS[kind]
    axis = cls.__new__(cls)
    if kind in (REGULAR, INTEGER) or \
            kind != VARIABLE and _histo.axis_edges((kind, closed, bins, lo, hi, power, None)).tobytes() == edges:
        edges = None
    axis._describe((kind, closed, bins, lo, hi, power, edges), underflow, overflow, name, label, metadata)
    return axis


def stretched(axis: Axis, circular: bool, growth: bool, steps: Any = None) -> Axis:
    """The axis as one that is circular or grows, if such axes do; steps: those of `_Stretched`, as a list."""
    if circular and (not isinstance(axis, _Stretched) or axis._underflow):
        raise ValueError("a circular axis is regular, variable or of integers, and has no underflow")
    if not isinstance(axis, _Stretched) or growth and isinstance(axis, Variable) and steps is None:
        return axis
    cls = Regular if growth and isinstance(axis, Variable) else type(axis)
    made = cls.__new__(cls)
    made._describe(axis._tuple, axis._underflow, axis._overflow, axis.name, axis._label, axis.metadata, growth, circular)
    if growth and isinstance(made, Regular):
        made._start()
        if steps is not None:
            made._steps = made._steps._replace(**dict(zip(made._steps._fields, steps, strict=True)))
            if not _histo.axis_equal(made._steps.numbers(made.size), made._tuple):
                raise ValueError("the edges of a growing axis are not of its steps")
    return made


_T = TypeVar("_T")


class _OfEach(Generic[_T]):
    """An attribute of an AxesTuple: the tuple of that of each axis."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._attribute = name

    @overload
    def __get__(self, axes: None, owner: type) -> Self: ...

    @overload
    def __get__(self, axes: tuple[Any, ...], owner: type) -> tuple[_T, ...]: ...

    def __get__(self, axes: tuple[Any, ...] | None, owner: type) -> Any:
        return self if axes is None else tuple(getattr(axis, self._attribute) for axis in axes)


class _ArrayOfEach(_OfEach[Any]):
    """Likewise for arrays, which get a dimension for each axis and broadcast along the others."""

    def __get__(self, axes: tuple[Any, ...] | None, owner: type) -> Any:
        if axes is None:
            return self
        return tuple(values.reshape([-1 if j == i else 1 for j in range(len(axes))])
                     for i, values in enumerate(super().__get__(axes, owner)))


class AxesTuple(tuple):
    """The axes of a histogram: a tuple that also takes the name of an axis as its index.

    Attributes of axes are tuples of those of each axis. Arrays among them have one dimension for each axis, of length 1
    except along their own, so that they broadcast to the shape of the histogram.
    """

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return super().__getitem__(self._position(index))
        found = super().__getitem__(index)
        return AxesTuple(found) if isinstance(index, slice) else found

    def _position(self, axis: str | int) -> int:
        """The number of an axis that is given by its name or number."""
        if isinstance(axis, str):
            for i, one in enumerate(self):
                if one.name == axis:
                    return i
            raise KeyError(f"no axis has the name {axis!r}")
        position = operator.index(axis)
        if not -len(self) <= position < len(self):
            raise IndexError(f"axis {position} of {len(self)}")
        return position % len(self)

    name = _OfEach[str]("The names.")
    label = _OfEach[str]("The labels.")
    traits = _OfEach[Traits]("The traits.")
    size = _OfEach[int]("The numbers of bins.")
    extent = _OfEach[int]("The numbers of bins, underflow and overflow included.")
    edges = _ArrayOfEach("The edges.")
    centers = _ArrayOfEach("The middles of the bins.")
    widths = _ArrayOfEach("The widths of the bins.")

    def index(self, *values: Any) -> tuple:  # type: ignore[override]
        """The bin of a value on each axis."""
        return tuple(axis.index(value) for axis, value in zip(self, values, strict=True))

    def value(self, *indices: Any) -> tuple:
        """The value at an index on each axis."""
        return tuple(axis.value(index) for axis, index in zip(self, indices, strict=True))

    def bin(self, *indices: int) -> tuple:
        """A bin of each axis."""
        return tuple(axis.bin(index) for axis, index in zip(self, indices, strict=True))
