"""scikit-learn's HistGradientBoostingClassifier and HistGradientBoostingRegressor with histograms of histo.

    from histo.compat.sklearn import accelerated
    with accelerated():
        model = HistGradientBoostingClassifier().fit(X, y)

or, for the rest of the process, `accelerated()` once. The estimators, their parameters and all that scikit-learn does
with histograms stay as they are.
"""

from __future__ import annotations

import threading
import warnings
import weakref
from types import TracebackType
from typing import Any

import numpy as np

from .. import _histo
from ..boosting import HISTOGRAM_DTYPE

__all__ = ["VERSIONS", "accelerated"]

VERSIONS = ("1.7", "1.8", "1.9")
"""The versions of scikit-learn whose tree grower is known here."""

_LAYOUT = (0, 8, 16, HISTOGRAM_DTYPE.itemsize, False)
_LAYOUT_OF_CONSTANT = (0, -1, 16, HISTOGRAM_DTYPE.itemsize, False)

# Gradients are integers here, multiples of a unit, so that those far below the largest lose digits that the float32 of
# scikit-learn keep. A tree for which more than this share of the rows have gradients or Hessians of less than so many
# units, as outliers of the target cause, gets scikit-learn's builder.
_SHARE, _UNITS = 0.01, 4096


class _Table:
    """The binned features of one fit, the same array for all its trees, and room for the gradients of trees."""

    def __init__(self, binned: Any, bins: int, threads: int) -> None:
        self.binned, self.bins = binned, bins
        self.features = _histo.features(binned, np.full(binned.shape[1], bins, np.int32), True, threads)
        self.free: dict[int, list[Any]] = {1: [], 2: []}  # by the number of weights

    def room(self, rows: int, weights: int) -> Any:
        try:
            return self.free[weights].pop()
        except IndexError:
            return _histo.gradients(rows, weights)


# By the addresses of their arrays. A builder keeps its table, and the grower of a tree its builder until the next tree
# has one; so the table lives as long as the fit.
_tables: weakref.WeakValueDictionary[int, _Table] = weakref.WeakValueDictionary()


def _table_of(binned: Any, bins: int, threads: int) -> _Table:
    table = _tables.get(id(binned))
    if table is None or table.binned is not binned or table.bins != bins:
        table = _tables[id(binned)] = _Table(binned, bins, threads)
    return table


class _Builder:
    """Stands in for scikit-learn's HistogramBuilder."""

    def __init__(self, table: _Table, room: Any, binned: Any, bins: int, gradients: Any, hessians: Any,
                 hessians_are_constant: bool, threads: int) -> None:
        self.X_binned, self.gradients, self.hessians = binned, gradients, hessians
        self.n_features, self.n_bins, self.n_threads = binned.shape[1], bins, threads
        self.hessians_are_constant = hessians_are_constant
        self._table, self._room = table, room
        self._rows = len(binned)
        self._layout = _LAYOUT_OF_CONSTANT if hessians_are_constant else _LAYOUT

    def __del__(self) -> None:
        self._table.free[1 if self.hessians_are_constant else 2].append(self._room)

    def compute_histograms_brute(self, sample_indices: Any, allowed_features: Any = None) -> Any:
        selected = None if allowed_features is None else np.sort(allowed_features).astype(np.int32)
        # The sums of Hessians that are constant are zero: scikit-learn takes the counts instead.
        make = np.zeros if self.hessians_are_constant else np.empty
        out = make((self.n_features, self.n_bins), HISTOGRAM_DTYPE)
        rows = None if sample_indices.shape[0] == self._rows else sample_indices  # the root, which has all
        _histo.fill_nodes(self._table.features, self._room, rows, None, selected, out, self._layout, self.n_threads)
        return out

    def compute_histograms_subtraction(self, parent_histograms: Any, sibling_histograms: Any,
                                       allowed_features: Any = None) -> Any:
        selected = None if allowed_features is None else np.sort(allowed_features).astype(np.int32)
        _histo.subtract_node(self._table.features, parent_histograms, sibling_histograms, selected,
                             self._layout)
        return parent_histograms


def _builder(theirs: Any, X_binned: Any, n_bins: int, gradients: Any, hessians: Any, hessians_are_constant: Any,
             n_threads: int) -> Any:
    """A builder of histo's, or scikit-learn's for gradients that cannot be integers."""
    constant = bool(hessians_are_constant)
    rows = len(X_binned)
    ours = rows > 0 and isinstance(X_binned, np.ndarray) and gradients.shape == (rows,) and \
        gradients.dtype == np.float32 and (constant or hessians.shape == (rows,) and hessians.dtype == np.float32)
    if ours:
        table = _table_of(X_binned, n_bins, n_threads)
        room = table.room(rows, 1 if constant else 2)
        bad, small = _histo.set_gradients(room, gradients, None if constant else hessians, _UNITS, n_threads)
        builder = _Builder(table, room, X_binned, n_bins, gradients, hessians, constant, n_threads)
        if not bad and small <= _SHARE * rows:
            return builder
    return theirs(X_binned, n_bins, gradients, hessians, hessians_are_constant, n_threads)


_lock = threading.Lock()
_active = 0  # contexts that are open, and calls that stay
_replaced: list[tuple[Any, Any]] = []  # modules of scikit-learn, and the builders that they had


def _replace() -> None:
    from sklearn.ensemble._hist_gradient_boosting import grower, histogram

    theirs = histogram.HistogramBuilder

    def builder(X_binned: Any, n_bins: int, gradients: Any, hessians: Any, hessians_are_constant: Any,
                n_threads: int) -> Any:
        return _builder(theirs, X_binned, n_bins, gradients, hessians, hessians_are_constant, n_threads)

    for module in (grower, histogram):
        _replaced.append((module, module.HistogramBuilder))
        module.HistogramBuilder = builder


def _restore() -> None:
    for module, theirs in _replaced:
        module.HistogramBuilder = theirs
    _replaced.clear()


class accelerated:
    """Make scikit-learn's histogram gradient boosting build its histograms here, in all threads of this process: from
    now on, and until the end of the context if it is one.

    Models equal scikit-learn's but for rounding, and have the same bits for any number of threads. The binned features
    are kept a second time while a model is fitted: a byte for each value. If gradients of a tree are infinite or NaN, or
    more than 1 % of them are tiny beside the largest, scikit-learn sums those of this tree. With a version of
    scikit-learn that is not in VERSIONS it sums all, and RuntimeWarning says so.
    """

    def __init__(self) -> None:
        import sklearn

        global _active
        self._open = ".".join(sklearn.__version__.split(".")[:2]) in VERSIONS
        if not self._open:
            warnings.warn(f"scikit-learn {sklearn.__version__} builds its own histograms: histo knows "
                          f"{', '.join(VERSIONS)}", RuntimeWarning, stacklevel=2)
            return
        with _lock:
            if _active == 0:
                _replace()
            _active += 1

    def __enter__(self) -> accelerated:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        global _active
        with _lock:
            if self._open:
                self._open = False
                _active -= 1
                if _active == 0:
                    _restore()
