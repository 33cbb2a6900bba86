"""The one step through which samples, weights and masks come in, whatever they are in: a column of NumPy's, and which of
its values are missing.

The extension module counts what is plain numbers where it is: arrays of NumPy, tensors, buffers, columns of Arrow. All
else it has normalised here (`numbers`), as do the functions and axes written in Python (`take`).
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import numbers as numbers_of
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from . import _histo

EXACT = 2**53
"""Integers up to here are doubles."""


class Column(NamedTuple):
    """Samples of any source.

    values: numbers, bool, datetime64, timedelta64, or strings as objects; other dtypes are for the caller to refuse, and
    those that are in the memory of a GPU are not NumPy's. They may be memory of the source, which is not to be written.
    present: a bool array, False where a value is missing and any other is in its place, or None. categories: the values
    are codes of these, or None. objects: the array of objects that values were made of, none of which is missing, or
    None.
    """

    values: Any
    present: Any = None
    categories: Any = None
    objects: Any = None

    def decoded(self) -> Column:
        """Without categories."""
        if self.categories is None:
            return self
        if not len(self.categories):
            return Column(np.zeros(np.shape(self.values)), np.zeros(np.shape(self.values), bool))
        codes = self.values if self.present is None else np.where(self.present, self.values, 0)
        return Column(self.categories[codes], self.present)


def take(x: Any) -> Column:
    """The column of any source but Dask's."""
    if isinstance(x, np.ndarray):
        return _of_array(x)
    if isinstance(x, (list, tuple)):
        return _of_list(x)
    if isinstance(x, (bool, int, float, complex, str, bytes, np.generic)) or x is None:
        return _of_array(np.asarray(x))
    for kind in type(x).__mro__:
        of = _OF_PACKAGE.get(kind.__module__.partition(".")[0])
        if of is not None:
            return of(x)
    if _histo.on_gpu(x):
        return Column(x)
    if not isinstance(getattr(x, "dtype", None), np.dtype) and \
            (hasattr(x, "__arrow_c_array__") or hasattr(x, "__arrow_c_stream__")):
        return _of_capsules(x)
    try:
        return _of_array(np.asarray(x))
    except ValueError as error:
        if "PEP 3118" not in str(error):
            raise
        raise TypeError(f"samples of type {type(x).__name__} are in a buffer whose format NumPy does not know: "
                        f"{memoryview(x).format}") from None


def numbers(x: Any, what: str = "samples") -> Any:
    """Samples as an array of numbers, or a tuple of that and which of them are present. TypeError for all else: dates
    are numbers only in some unit, and so never meet numbers."""
    if isinstance(x, (bytes, bytearray)):
        return np.frombuffer(x, np.uint8)
    column = take(x).decoded()
    values = column.values
    if isinstance(values, np.ndarray):
        if values.dtype.kind == "O":
            check_objects(values, what)
            raise TypeError(f"{what} are numbers that no dtype holds, such as integers beyond 64 bits, or beyond 2^53 among "
                            "floats")
        check_numbers(values.dtype, what)
    return values if column.present is None else (values, column.present)


def check_numbers(dtype: np.dtype, what: str) -> None:
    """Raise TypeError unless the library counts numbers of this dtype."""
    if dtype.kind in "biu" or dtype.kind == "f" and dtype.itemsize <= 8:
        return
    if dtype.kind in "mM":
        raise TypeError(f"{what} are {dtype}, and a date is a number only in a unit: count dates by histo.histogram, or "
                        "pass the numbers of a unit, as x.astype('M8[s]').astype('i8')")
    if dtype.kind in "USTO":
        raise TypeError(f"{what} are strings{' or other objects' if dtype.kind == 'O' else ''}, not numbers")
    raise TypeError(f"{what} of dtype {dtype} cannot be counted")


def as_masked(x: Any) -> np.ndarray:
    """An array, which is masked where values are missing."""
    values, present = take(x).decoded()[:2]
    return values if present is None else np.ma.masked_array(values, ~present)


def mask_of(x: Any) -> Any:
    """A mask of any source: what is missing in it is not kept."""
    found = numbers(x, "masks")
    return both(*found) if isinstance(found, tuple) else found


def both(a: Any, b: Any) -> Any:
    """What two masks keep; None keeps all."""
    return b if a is None else a if b is None else np.logical_and(a, b)


def check_objects(values: np.ndarray, what: str) -> None:
    """Raise TypeError if objects are no numbers."""
    for one in values.ravel().tolist():
        if not isinstance(one, numbers_of.Number):
            kind = "strings" if isinstance(one, (str, bytes)) else type(one).__name__
            raise TypeError(f"{what} are {kind}, not numbers")


# ---- NumPy


def _of_array(array: np.ndarray) -> Column:
    """Of NumPy's arrays: masked ones, and other subclasses that have a mask, miss what that hides."""
    present = None
    if type(array) is not np.ndarray:
        mask = getattr(array, "mask", None)
        if isinstance(array, np.ma.MaskedArray):
            mask = None if np.ma.getmask(array) is np.ma.nomask else np.ma.getmaskarray(array)
            if mask is not None and mask.dtype.names:
                mask = None  # the fields have masks of their own
        elif mask is not None:
            array = getattr(array, "unmasked", array)
        if isinstance(mask, (np.ndarray, np.bool_)):
            present = np.logical_not(np.broadcast_to(mask, array.shape))
        array = np.asarray(np.ma.getdata(array))
    dtype = array.dtype
    if dtype.names:
        raise TypeError(f"a structured array has the fields {', '.join(dtype.names)}: pass one, as "
                        f"samples[{dtype.names[0]!r}]")
    if dtype.kind == "O":
        return _of_objects(array, present)
    if dtype.kind == "T":
        return _of_objects(array.astype(object), present)
    if dtype.type.__module__ == "ml_dtypes":  # float8, bfloat16, int4: other types hold all of their values
        whole = dtype.name.partition("int")[1] == "int"
        array = array.astype((np.int8 if dtype.name.startswith("i") else np.uint8) if whole else np.float32)
    return Column(array, present)


def _of_list(items: Any) -> Column:
    """A list may have columns, of which numpy.asarray drops what they miss, or None."""
    simple = (np.generic, int, float, str, bytes, list, tuple, type(None))
    if any(type(one) is not np.ndarray and not isinstance(one, simple) and hasattr(one, "__len__") for one in items):
        each = [as_masked(one) for one in items]
        if len({one.shape for one in each}) > 1:
            raise ValueError(f"the arrays in a list have different shapes: {', '.join(str(one.shape) for one in each)}")
        return _of_array(np.ma.stack(each))
    array = np.asarray(items)
    rounded = array.dtype == np.float64 and (np.isfinite(array) & (np.abs(array) >= EXACT)).any()
    if array.dtype.kind in "US" or rounded:  # which lose NUL at the end and make strings of numbers, and round integers
        of_objects = _of_array(np.asarray(items, object))
        if not rounded or of_objects.values.dtype.kind in "iuO":
            return of_objects._replace(objects=None)
    return _of_array(array)


# ---- Objects


def _is_missing(one: Any) -> bool:
    """None, pandas.NA, numpy.ma.masked."""
    return one is None or one is np.ma.masked or type(one).__name__ == "NAType"


def _is_nat(one: Any) -> bool:
    return type(one).__name__ == "NaTType" or isinstance(one, (np.datetime64, np.timedelta64)) and bool(np.isnat(one))


def _of_objects(array: np.ndarray, present: Any) -> Column:
    """Objects of one kind as an array of it: those of other kinds stay objects."""
    flat = array.ravel().tolist() if array.ndim else [array.item()]
    kinds = set(map(type, flat))
    if str in kinds and kinds <= {str, type(None)}:  # most columns of words
        if type(None) in kinds:
            there = np.array([one is not None for one in flat], bool).reshape(array.shape)
            array, present = np.where(there, array, ""), both(present, there)
        return Column(array, present)
    shown = [True] * len(flat) if present is None else present.ravel().tolist()
    shown = [is_shown and not _is_missing(one) for is_shown, one in zip(shown, flat, strict=True)]
    seen = [one for one, is_shown in zip(flat, shown, strict=True) if is_shown]
    if any(isinstance(one, str) for one in seen):  # among which pandas has NaN for what is missing
        shown = [is_shown and one == one for is_shown, one in zip(shown, flat, strict=True)]
        seen = [one for one, is_shown in zip(flat, shown, strict=True) if is_shown]
    made = _made_of(seen)
    whole = all(shown)
    if made is None:
        return Column(array, None if whole else np.array(shown, bool).reshape(array.shape))
    if whole:
        return Column(made.reshape(array.shape), None, None, array)
    there = np.array(shown, bool)
    values = np.zeros(len(flat), made.dtype)
    if made.dtype.kind == "O":
        values[:] = ""
    values[there] = made
    return Column(values.reshape(array.shape), there.reshape(array.shape))


def _made_of(seen: list) -> np.ndarray | None:
    """An array of objects that are all numbers, strings, dates or time spans; else None."""
    kinds = set(map(type, seen))
    if not seen:
        return np.zeros(0)
    if kinds <= {bool, np.bool_}:
        return np.array(seen, bool)
    if all(issubclass(kind, str) for kind in kinds):
        return np.array(seen, object)
    if all(issubclass(kind, bytes) for kind in kinds):
        return np.array([one.decode() for one in seen], object)
    dates = [one for one in seen if not _is_nat(one)]
    if len(dates) < len(seen) or dates and isinstance(dates[0], (datetime.date, datetime.timedelta, np.datetime64,
                                                                 np.timedelta64)):
        return _made_of_dates(seen, dates)
    return _made_of_numbers(seen)


def _made_of_numbers(seen: list) -> np.ndarray | None:
    plain = [one.item() if isinstance(one, (np.generic, np.ndarray)) and one.ndim == 0 else one for one in seen]
    rational = (decimal.Decimal, fractions.Fraction)
    if not all(isinstance(one, (bool, int, float, *rational)) for one in plain):
        return None
    if any(isinstance(one, rational) for one in plain) and \
            all(one - one == 0 and one == int(one) for one in plain):
        plain = [int(one) for one in plain]
    if all(isinstance(one, int) for one in plain):
        low, high = min(plain), max(plain)
        if -(2**63) <= low and high < 2**63:
            return np.array(plain, np.int64)
        return np.array(plain, np.uint64) if low >= 0 and high < 2**64 else None
    if any(isinstance(one, int) and int(float(one)) != one for one in plain if abs(one) <= 2**64):
        return None
    return np.array([float(one) for one in plain])


def _made_of_dates(seen: list, dates: list) -> np.ndarray | None:
    """Those with a zone as UTC."""
    spans = (datetime.timedelta, np.timedelta64)
    of_spans = bool(dates) and isinstance(dates[0], spans)
    if any(isinstance(one, spans) != of_spans or
           not isinstance(one, (*spans, datetime.date, np.datetime64)) for one in dates):
        return None

    def plain(one: Any) -> Any:
        if _is_nat(one):
            return np.timedelta64("NaT") if of_spans else np.datetime64("NaT")
        if hasattr(one, "to_numpy") and hasattr(one, "value"):  # pandas' are finer than datetime's
            return (one.tz_convert(None) if getattr(one, "tzinfo", None) else one).to_numpy()
        if isinstance(one, datetime.datetime) and one.tzinfo is not None:
            one = one.astimezone(datetime.UTC).replace(tzinfo=None)
        return one if isinstance(one, np.generic) else np.timedelta64(one) if of_spans else np.datetime64(one)

    return np.array([plain(one) for one in seen])


# ---- pandas


def _of_frame(columns: Iterable[Any]) -> Column:
    """The columns of a table beside each other."""
    each = [take(one).decoded() for one in columns]
    if not each:
        raise TypeError("a table without columns has no samples")
    if len(each) > 1:
        kinds = {"number" if one.values.dtype.kind in "biuf" else one.values.dtype.kind for one in each}
        if len(kinds) > 1:
            raise TypeError("the columns of this table are of several kinds: pass one of them")
        common = np.result_type(*(one.values.dtype for one in each))
        for one in each:
            whole = one.values if one.present is None else one.values[one.present]
            if common.kind == "f" and whole.dtype.kind in "iu" and whole.dtype.itemsize == 8 and whole.size and \
                    not -EXACT <= whole.min() <= whole.max() <= EXACT:
                raise TypeError("integers beyond 2^53 and floats are not of one dtype: pass one column")
    present = None
    if any(one.present is not None for one in each):
        present = np.stack([np.ones(one.values.shape, bool) if one.present is None else one.present for one in each], 1)
    return Column(np.stack([one.values for one in each], 1), present)


def _of_masked(array: Any, dtype: np.dtype) -> Column:
    """Of an array of pandas that has numbers of this dtype, and a mask: pandas offers copies only, of what it keeps."""
    values, missing = getattr(array, "_data", None), getattr(array, "_mask", None)
    if not isinstance(values, np.ndarray) or not isinstance(missing, np.ndarray):
        missing = np.asarray(array.isna())
        values = array.to_numpy(dtype=dtype, na_value=dtype.type(0))
    return Column(values, ~missing if missing.any() else None)


def _of_pandas(x: Any) -> Column:
    import pandas as pd

    if isinstance(x, pd.DataFrame):
        return _of_frame(x.iloc[:, i] for i in range(x.shape[1]))
    dtype = getattr(x, "dtype", None)
    if dtype is None:  # NA, Timestamp and others, one by one
        return _of_objects(np.array(x, object), None)
    if isinstance(dtype, np.dtype):
        return _of_array(np.asarray(x))
    series = pd.Series(x, copy=False)
    if isinstance(dtype, pd.CategoricalDtype):
        codes = np.asarray(series.cat.codes)
        categories = take(series.cat.categories)
        return Column(codes, None if (codes >= 0).all() else codes >= 0, categories.values)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return Column(series.dt.tz_convert(None).to_numpy())
    if isinstance(dtype, pd.ArrowDtype):
        return _of_arrow(series.array.__arrow_array__())
    if isinstance(dtype, (pd.PeriodDtype, pd.IntervalDtype)):
        raise TypeError(f"samples of dtype {dtype} are spans between two values: count their begins, as "
                        f"x.{'dt.start_time' if isinstance(dtype, pd.PeriodDtype) else 'array.left'}")
    if isinstance(dtype, pd.StringDtype):
        missing = np.asarray(series.isna())
        return Column(np.asarray(series.fillna(""), object), ~missing if missing.any() else None)
    if isinstance(dtype, pd.SparseDtype):
        return _of_array(np.asarray(series.array.to_dense()))
    plain = getattr(dtype, "numpy_dtype", None)
    if isinstance(plain, np.dtype) and plain.kind in "biuf":  # Int64, Float64, boolean
        return _of_masked(series.array, plain)
    missing = np.asarray(series.array.isna())
    return _of_objects(np.asarray(series, object), ~missing if missing.any() else None)


# ---- Polars


def _of_polars(x: Any) -> Column:
    import polars as pl

    if isinstance(x, pl.DataFrame):
        return _of_frame(x.get_columns())
    if isinstance(x, (pl.LazyFrame, pl.Expr)):
        raise TypeError(f"a polars.{type(x).__name__} has no samples yet: collect it")
    dtype = x.dtype
    plain = _histo.arrow_arrays(x) if dtype == pl.Boolean or dtype.is_numeric() else None
    if plain is not None:
        return Column(*plain)
    if dtype.is_temporal():
        present = x.is_not_null().to_numpy() if x.null_count() else None
        numbers = x.to_physical().cast(pl.Int64)
        unit = "D" if dtype == pl.Date else "ns" if dtype == pl.Time else dtype.time_unit
        values = np.asarray((numbers.fill_null(0) if present is not None else numbers).to_numpy())
        return Column(values.view(f"{'M8' if dtype in (pl.Date, pl.Datetime) else 'm8'}[{unit}]"), present)
    if dtype in (pl.Categorical, pl.Enum):
        x = x.cast(pl.String)
    if dtype.is_nested() and not isinstance(dtype, pl.Array):
        raise TypeError(f"samples of Polars' type {dtype} cannot be counted")
    return _of_objects(np.array(x.to_list(), object), None)._replace(objects=None)


# ---- Arrow


def _of_capsules(x: Any) -> Column:
    """Of any object that has Arrow's interface."""
    try:
        import pyarrow as pa
    except ImportError:
        raise TypeError(f"samples of {type(x).__name__} need PyArrow: install it, or pass a NumPy array") from None
    return _of_arrow(pa.array(x) if hasattr(x, "__arrow_c_array__") else pa.chunked_array(x))


def _of_arrow(x: Any) -> Column:
    import pyarrow as pa

    if isinstance(x, pa.Scalar):
        return _of_objects(np.array(x.as_py(), object), None)
    if isinstance(x, (pa.Table, pa.RecordBatch)):
        x = _only(x.columns)
    while pa.types.is_struct(x.type):
        import pyarrow.compute as pc

        x = pc.struct_field(x, _only(range(x.type.num_fields)))
    plain = _histo.arrow_arrays(x)
    if plain is not None:
        return Column(*plain)
    if isinstance(x.type, pa.BaseExtensionType):
        name = x.type.extension_name
        if name == "arrow.bool8":
            return _of_arrow(x.cast(pa.bool_()))
        raise TypeError(f"samples of Arrow's extension type {name} cannot be counted: pass their storage, if that is numbers")
    if isinstance(x, pa.ChunkedArray):
        x = x.unify_dictionaries().combine_chunks() if x.num_chunks else pa.array([], x.type)
        if isinstance(x, pa.ChunkedArray):  # whose offsets would be too large for one
            x = pa.concat_arrays(x.chunks)
    kind = x.type
    present = x.is_valid().to_numpy(zero_copy_only=False) if x.null_count else None
    if pa.types.is_dictionary(kind):
        categories = _of_arrow(x.dictionary)
        codes = _numbers_of_arrow(x.indices, present)
        if categories.present is not None and len(codes):
            present = both(present, categories.present[codes])
        return Column(codes, present, categories.values)
    if pa.types.is_run_end_encoded(kind):
        import pyarrow.compute as pc

        return _of_arrow(pc.run_end_decode(x))
    unit = _unit_of_arrow(kind)
    if unit:
        whole = pa.int32() if kind.bit_width == 32 else pa.int64()
        return Column(_numbers_of_arrow(x.view(whole), present).astype(np.int64, copy=False).view(unit), present)
    if pa.types.is_null(kind):
        return Column(np.zeros(len(x)), np.zeros(len(x), bool))
    if pa.types.is_nested(kind) or not (pa.types.is_decimal(kind) or "string" in str(kind) or "binary" in str(kind)):
        raise TypeError(f"samples of Arrow's type {kind} cannot be counted")
    return _of_objects(np.array(x.to_pylist(), object), None)._replace(objects=None)


def _only(columns: Any) -> Any:
    if len(columns) != 1:
        raise TypeError(f"a table of {len(columns)} columns: pass one of them")
    return columns[0]


def _numbers_of_arrow(x: Any, present: Any) -> np.ndarray:
    if present is not None:
        x = x.fill_null(0)
    return x.to_numpy(zero_copy_only=False)


def _unit_of_arrow(kind: Any) -> str:
    import pyarrow as pa

    if pa.types.is_date32(kind):
        return "M8[D]"
    if pa.types.is_date64(kind):
        return "M8[ms]"
    if pa.types.is_timestamp(kind):
        return f"M8[{kind.unit}]"
    return f"m8[{kind.unit}]" if pa.types.is_duration(kind) or pa.types.is_time(kind) else ""


# ---- Others


def _of_torch(x: Any) -> Column:
    import torch

    if not isinstance(x, torch.Tensor):
        return _of_array(np.asarray(x))
    if x.device.type != "cpu":
        return Column(x)
    x = x.detach()
    if x.is_floating_point() and x.dtype not in (torch.float16, torch.float32, torch.float64):
        x = x.float()  # bfloat16 and float8, all of whose values it has
    return _of_array(x.resolve_conj().resolve_neg().numpy())


def _of_xarray(x: Any) -> Column:
    if not hasattr(x, "to_numpy"):
        raise TypeError(f"an xarray.{type(x).__name__} has several variables: pass one of them")
    return take(x.to_numpy())


_OF_PACKAGE: dict[str, Callable[[Any], Column]] = {
    "pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_arrow, "duckdb": _of_capsules, "_duckdb": _of_capsules,
    "torch": _of_torch, "xarray": _of_xarray,
}
