"""How a histogram keeps its slots: the storages by name, and copies of all slots.

A slot is a bin, underflow, overflow or NaN of each axis; a cell, as arrays with flow have them, counts NaN as overflow.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ._histo import DENSE, SPARSE, TAKING_BY_PYTHON, TAKING_EXACT_MEANS, TAKING_MEANS, TAKING_NUMBERS, UNWEIGHTED
from ._histo import WEIGHT_FAST, WEIGHT_FAST_SUM
from ._histo import WEIGHT_REPRODUCIBLE, WEIGHT_REPRODUCIBLE_SUM

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .axes import Axis
    from .hist import Histogram

_AnyHistogram = TypeVar("_AnyHistogram", bound="Histogram")

Kind = tuple[int, int]
"""A weighting and a storage of the library."""

STORAGES: dict[str, Kind] = {
    "int64": (UNWEIGHTED, DENSE),
    "double": (WEIGHT_FAST_SUM, DENSE),
    "weight": (WEIGHT_FAST, DENSE),
    "exact_double": (WEIGHT_REPRODUCIBLE_SUM, DENSE),
    "exact_weight": (WEIGHT_REPRODUCIBLE, DENSE),
    "sparse": (UNWEIGHTED, SPARSE),
}
STORAGE_NAMES = {kind: name for name, kind in STORAGES.items()}
MEANS = {"mean": 5, "weighted_mean": 6, "exact_mean": 5, "exact_weighted_mean": 6}
"""The storages of means (see histo.statistics.means), and how many exact sums they have."""
_STORAGES_OF_BOOST = {"Int64": "int64", "AtomicInt64": "int64", "Double": "double", "Weight": "weight", "Mean": "mean",
                      "WeightedMean": "weighted_mean"}
HAS_SQUARES = (WEIGHT_FAST, WEIGHT_REPRODUCIBLE)
EXACT = (WEIGHT_REPRODUCIBLE, WEIGHT_REPRODUCIBLE_SUM)


def storage_name(storage: Any) -> str:
    """The name of a storage that is given by its name, or as an object or class of boost-histogram; None: counts."""
    if storage is None:
        return "int64"
    name = storage.lower() if isinstance(storage, str) else _STORAGES_OF_BOOST.get(
        (storage if isinstance(storage, type) else type(storage)).__name__)
    if name not in STORAGES and name not in MEANS:
        raise ValueError(f"no storage {storage!r}: it is one of {', '.join([*STORAGES, *MEANS])}")
    return name


def taking(axes: Sequence[Axis], mean: str | None = None) -> int:
    """How Histogram.fill takes samples: as numbers, as what Python turns into numbers, or with values for means."""
    if any(axis._translated for axis in axes):
        return TAKING_BY_PYTHON
    if mean:
        return TAKING_EXACT_MEANS if mean.startswith("exact") else TAKING_MEANS
    return TAKING_NUMBERS


class Slots(NamedTuple):
    """All slots of a histogram, underflow, bins, overflow and NaN on each axis, after the dimensions of the batch; None
    for the sums that it does not keep."""

    counts: NDArray[Any]
    sum_w: NDArray[Any] | None
    sum_w2: NDArray[Any] | None


def nan_sets(naxes: int) -> Iterator[list[int]]:
    """The sets of axes on which a slot may be NaN, none excluded, in the library's order."""
    for chosen in range(1, 1 << naxes):
        yield [naxes - 1 - i for i in range(naxes) if chosen >> i & 1]


def _nan_slots(naxes: int, nbatch: int, nan: Sequence[int], cells: bool) -> tuple[slice, ...]:
    """Where the slots are NaN on these axes and not on the others, or where the cells are that they are added to."""
    of_nan, of_others = slice(-1, None), slice(0, None if cells else -1)
    return (slice(None),) * nbatch + tuple(of_nan if axis in nan else of_others for axis in range(naxes))


def fold(slots: NDArray[Any], naxes: int) -> NDArray[Any]:
    """Cells of underflow, bins and overflow from slots: NaN is added to overflow."""
    nbatch = slots.ndim - naxes
    cells = slots[(slice(None),) * nbatch + (slice(None, -1),) * naxes].copy()
    for nan in nan_sets(naxes):
        cells[_nan_slots(naxes, nbatch, nan, True)] += slots[_nan_slots(naxes, nbatch, nan, False)]
    return cells


def contiguous(slots: Slots) -> list[NDArray[Any] | None]:
    """The arrays as the library takes them."""
    import numpy as np

    types = (np.int64, np.float64, np.float64)
    return [None if a is None else np.ascontiguousarray(a, t) for a, t in zip(slots, types, strict=True)]


def made_of(cls: type[_AnyHistogram], axes: Sequence[Axis], batch: tuple[int, ...], kind: Kind, slots: Slots,
            masked: NDArray[Any], may_weigh: bool, name: str, label: str, metadata: Any) -> _AnyHistogram:
    """A histogram with these slots; its axes are copies."""
    import numpy as np

    made = cls.__new__(cls)
    made._make(tuple(axis._tuple for axis in axes), batch, *kind, taking(axes))
    made._write(*contiguous(slots), np.ascontiguousarray(masked))
    made._describe([copy.copy(axis) for axis in axes], may_weigh, name, label, metadata)
    return made
