"""Samples of all kinds in all that carries them, through all that counts them, beside a model in exact arithmetic: each
sample is in the bin that its value belongs to, and what is missing is masked.

docs/python.md has the table of what is supported, which `test_the_guide_has_the_table` compares with this one.
"""

import array
import decimal
import fractions
import itertools
import pathlib

import dask.array
import dask.dataframe
import duckdb
import jax
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import histo
import histo.dask
import histo.xarray
from histo import Boolean, Category, Histogram, Regular, Variable
from histo.compat import fast_histogram

jax.config.update("jax_enable_x64", True)
B = 2**53
NAN, INF = float("nan"), float("inf")

# ---- The samples ----


class Kind:
    """Samples as Python's objects, None for what is missing, and edges; dates are numbers of a unit."""

    def __init__(self, dtype, values, edges, axis=None, unit=None):
        self.dtype, self.values, self.edges, self.axis = np.dtype(dtype), values, edges, axis
        self.unit = unit  # of the edges
        self.whole = [0 if v is None else v for v in values]
        self.present = [v is not None for v in values]

    def numpy(self, values=None):
        return np.array(self.whole if values is None else values, self.dtype)

    def edge_array(self):
        if self.dtype.kind in "mM":
            return np.array(self.edges, "i8").view(f"{self.dtype.kind}8[{self.unit}]")
        return np.array(self.edges, self.dtype if self.dtype.kind == "u" else None)


SMALL, LARGE = [3, 0, None, 1, 2, 2, None, 5, 4], [B, B + 1, None, B + 2, B + 3, B + 1, B + 5]
NAT = -(2**63)
DATES = [0, 31, None, 59, 31, 90, NAT]
KINDS = {
    "int8": Kind("i1", [-128, 127, *SMALL], [-128, 0, 2, 3, 127], Variable([-128, 0, 2, 3, 127])),
    "uint8": Kind("u1", SMALL, [0, 2, 3, 4], Regular(4, 0, 4)),
    "int32": Kind("i4", [-7, *SMALL], [0, 2, 3, 4], Regular(4, 0, 4)),
    "int64": Kind("i8", LARGE, [B, B + 1, B + 3], Regular(4, B, B + 8)),
    "uint64": Kind("u8", [2**64 - 1, *LARGE], [B + 1, B + 2, 2**64 - 1], Regular(4, B, B + 8)),
    "float16": Kind("f2", [0.5, None, 1.5, NAN, INF, -1, 2], [0, 1, 2], Regular(2, 0, 2)),
    "float32": Kind("f4", [0.5, None, 1.5, NAN, -INF, 2**-149, 2], [0, 2**-149, 2], Variable([0, 2**-149, 2])),
    "float64": Kind("f8", [0.1, None, 0.3, NAN, INF, 0.1 + 0.2, 1], [0, 0.1, 0.3, 1], Variable([0, 0.1, 0.3, 1])),
    "bool": Kind("?", [True, None, False, True], [0, 1, 2], Regular(2, 0, 2)),
    "dates, edges in the same unit": Kind("M8[D]", DATES, [0, 31, 60], unit="D"),
    "dates, edges in a finer unit": Kind("M8[s]", DATES, [0, 31 * 10**9, 31 * 10**9 + 1, 60 * 10**9], unit="ns"),
    "dates, edges in a coarser unit": Kind("M8[ms]", DATES, [0, 1], unit="s"),
    "time spans": Kind("m8[us]", DATES, [0, 31 * 10**3, 59 * 10**3], unit="ns"),
}
UNITS = {"D": 86400 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def exact(kind, value):
    """A sample as a fraction, None if it is NaN or NaT; infinities as they are."""
    if kind.dtype.kind in "mM":
        return None if value == NAT else fractions.Fraction(value * UNITS[np.datetime_data(kind.dtype)[0]])
    if value != value:
        return None
    value = float(np.array(value, kind.dtype)) if kind.dtype.kind == "f" else int(value)
    return value if value in (INF, -INF) else fractions.Fraction(value)


def model(kind, edges, unit=None, closed=True, present=None):
    """(underflow, the bins, overflow, NaN), and how many are masked."""
    edges = [fractions.Fraction(e) * UNITS.get(unit, 1) for e in edges]
    found = [0] * (len(edges) + 2)
    masked = 0
    for value, there in zip(kind.values, present or kind.present, strict=True):
        if value is None or not there:
            masked += 1
            continue
        x = exact(kind, value)
        if x is None:
            found[-1] += 1
        elif closed and x == edges[-1]:
            found[-3] += 1
        else:
            found[sum(e <= x for e in edges)] += 1
    return found, masked


# ---- What carries them ----


class OwnArray(np.ndarray):
    pass


def with_mask(kind):
    return np.ma.masked_array(kind.numpy(), [not p for p in kind.present])


def swapped(kind):
    return with_mask(kind).astype(kind.dtype.newbyteorder())


def strided(kind):
    return np.ma.masked_array(np.repeat(kind.numpy(), 3)[::3], np.repeat([not p for p in kind.present], 2)[::2])


def field(kind):
    records = np.zeros(len(kind.values), [("a", "u1"), ("x", kind.dtype)])
    records["x"] = kind.numpy()
    return np.ma.masked_array(records["x"], [not p for p in kind.present])


def objects(kind):
    values = kind.numpy().astype(object) if kind.dtype.kind not in "mM" else np.array(list(kind.numpy()), object)
    return np.where(kind.present, values, None)


def arrow(kind):
    whole = kind.numpy()
    unit = np.datetime_data(kind.dtype)[0] if kind.dtype.kind in "mM" else ""
    if kind.dtype.kind == "M":
        kind_of = pa.date32() if unit == "D" else pa.timestamp(unit)
    else:
        kind_of = pa.duration(unit) if unit else pa.from_numpy_dtype(kind.dtype)
    if unit:  # Arrow has no NaT: it is a null
        whole, present = whole.view("i8"), np.array(kind.present) & ~np.isnat(whole)
        numbers = pa.array(np.where(present, whole, 0), pa.int32() if unit == "D" else pa.int64(), mask=~present)
        return numbers.view(kind_of)
    return pa.array(whole, kind_of, mask=~np.array(kind.present))


def chunked(kind):
    whole = arrow(kind)
    return pa.chunked_array([whole[:2], whole[2:2], whole[2:]], whole.type)


def nullable(kind):
    name = {"i": "Int", "u": "UInt", "f": "Float", "b": "boolean"}[kind.dtype.kind]
    if kind.dtype.kind == "f":
        return pd.Series(pd.arrays.FloatingArray(kind.numpy(), ~np.array(kind.present)))
    dtype = name if name == "boolean" else f"{name}{8 * kind.dtype.itemsize}"
    return pd.Series(kind.numpy()).astype(dtype).mask(~np.array(kind.present))


def categories(kind):
    """The codes of a dictionary, which any values may have."""
    codes, values = [], []
    for value in kind.values:
        if value is not None and value not in values:
            values.append(value)
        codes.append(None if value is None else values.index(value))
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(kind.numpy(values)))


def relation(kind):
    return duckdb.from_arrow(pa.table({"x": chunked(kind)}))


def lazy(kind):
    return dask.array.from_array(with_mask(kind), chunks=2)


def lazy_column(kind):
    return dask.dataframe.from_pandas(pd.DataFrame({"x": of_arrow(kind)}), npartitions=2).x


def of_arrow(kind):
    return pd.Series(pd.arrays.ArrowExtensionArray(arrow(kind)))


class Carrier:
    def __init__(self, make, kinds="iufbmM", missing=True, sizes=(1, 2, 4, 8), lazy=False, nested=False):
        self.make, self.kinds, self.missing, self.sizes = make, kinds, missing, sizes
        self.lazy, self.nested = lazy, nested

    def holds(self, kind):
        return kind.dtype.kind in self.kinds and kind.dtype.itemsize in self.sizes


CARRIERS = {
    "numpy array": Carrier(lambda k: k.numpy(), missing=False),
    "masked array": Carrier(with_mask),
    "masked array of the other byte order": Carrier(swapped),
    "masked array of strides": Carrier(strided),
    "field of a structured array": Carrier(field),
    "subclass of ndarray": Carrier(lambda k: k.numpy().view(OwnArray), missing=False),
    "objects": Carrier(objects, sizes=(8,), kinds="iumMf"),
    "list": Carrier(lambda k: objects(k).tolist(), sizes=(1, 4, 8), kinds="iub"),
    "list of masked arrays": Carrier(lambda k: list(with_mask(k).reshape(-1, 1)), nested=True),
    "buffer": Carrier(lambda k: array.array({"i": "q", "u": "Q", "f": "d"}[k.dtype.kind], k.whole), kinds="iuf",
                      sizes=(8,), missing=False),
    "pandas Series": Carrier(lambda k: pd.Series(k.numpy()), kinds="iufb", missing=False),
    "pandas nullable": Carrier(nullable, kinds="iufb", sizes=(1, 4, 8)),
    "pandas with Arrow": Carrier(of_arrow),
    "pandas Categorical": Carrier(lambda k: of_dictionary(k), kinds="iub"),
    "Polars": Carrier(lambda k: pl.from_arrow(chunked(k)), sizes=(1, 4, 8)),
    "Arrow": Carrier(arrow),
    "Arrow, sliced": Carrier(lambda k: pa.concat_arrays([arrow(k)[:3], arrow(k)])[3:]),
    "Arrow, chunked": Carrier(chunked),
    "Arrow dictionary": Carrier(categories, kinds="iub"),
    "DuckDB": Carrier(relation, kinds="iufbM", sizes=(1, 4, 8)),
    "Dask array": Carrier(lazy, lazy=True),
    "Dask column": Carrier(lazy_column, lazy=True),
    "xarray": Carrier(lambda k: xr.DataArray(k.numpy(), dims="t"), missing=False),
    "JAX": Carrier(lambda k: jax.numpy.array(k.numpy()), kinds="iufb", missing=False),
}


def of_dictionary(kind):
    return pd.Series(categories(kind).to_pandas())


def cases():
    for (carrier, c), (name, kind) in itertools.product(CARRIERS.items(), KINDS.items()):
        if c.holds(kind):
            yield pytest.param(c, kind, id=f"{carrier}-{name}")


def expected(carrier, kind, *args, **named):
    """The model of what this carrier holds."""
    if carrier.missing:
        if not hasattr(carrier.make(kind), "__len__") or kind.dtype.kind not in "mM" or isinstance(
                carrier.make(kind), (np.ndarray, list)) or carrier.make is lazy:
            return model(kind, *args, **named)
        # Columns have nulls in the place of NaT.
        return model(Kind(kind.dtype, [None if v == NAT else v for v in kind.values], kind.edges), *args, **named)
    return model(Kind(kind.dtype, kind.whole, kind.edges), *args, **named)


def flat(counts):
    return np.asarray(counts).ravel().tolist()


# ---- Through the functions ----


@pytest.mark.filterwarnings("ignore:Converting input from bool")
@pytest.mark.parametrize("carrier, kind", list(cases()))
def test_functions(carrier, kind):
    x, e = carrier.make(kind), kind.edge_array()
    want, _ = expected(carrier, kind, kind.edges, kind.unit)
    counts, edges = histo.histogram(x, e)
    assert flat(counts) == want[1:-2] and np.array_equal(np.asarray(edges), e)
    assert flat(histo.histogram(x, e, density=False, weights=None)[0]) == want[1:-2]
    if carrier.lazy:
        assert flat(histo.histogram2d(x, x, [e, e])[0].sum(axis=0)) == want[1:-2]
        return
    assert flat(histo.histogram(x, e, flow=True)[0]) == want
    if not carrier.nested:
        two = histo.histogram2d(x, x, [e, e])[0]
        assert flat(np.diag(two)) == want[1:-2] and two.sum() == sum(want[1:-2])
        assert flat(histo.histogramdd([x, x], [e, e], flow=True)[0].sum(axis=0)) == want
        assert flat(histo.histogramdd([x], [e])[0]) == want[1:-2]
    if kind.dtype.kind in "iu" and not isinstance(x, np.ndarray) or kind.dtype == bool:
        values = [v for v in (kind.values if carrier.missing else kind.whole) if v is not None]
        if not carrier.nested and 0 <= min(values) and max(values) < 100:
            assert flat(histo.bincount(x)) == np.bincount(np.array(values, int)).tolist()


@pytest.mark.filterwarnings("ignore:Converting input from bool")
@pytest.mark.parametrize("carrier, kind", list(cases()))
def test_weights_and_masks(carrier, kind):
    """Of a sample that is always in the bin."""
    if carrier.lazy or kind.dtype.kind in "mM":
        return
    given, ones = carrier.make(kind), np.full(np.shape(with_mask(kind)), 0.5)
    values = kind.values if carrier.missing else kind.whole
    if carrier.nested:
        ones = ones.reshape(-1, 1)
    if all(v is None or np.isfinite(v) for v in values):
        want = float(sum(fractions.Fraction(v) for v in values if v is not None))
        whole = kind.dtype.kind in "iub"
        sums = histo.histogram(ones, [0.0, 1.0], weights=given)[0]
        assert sums[0] == (int(want) if not whole else sum(int(v) for v in values if v is not None) % 2**64 - (
            0 if kind.dtype.kind == "u" or sum(int(v) for v in values if v is not None) % 2**64 < 2**63 else 2**64))
        h = Histogram(Regular(1, 0, 1), storage="exact_double").fill(ones, weight=given)
        assert h.values()[0] == want
        assert h.tally.masked == sum(v is None for v in values)
        if not carrier.nested:
            assert histo.histogram2d(ones, ones, [[0, 1], [0, 1]], weights=given)[0][0, 0] == pytest.approx(want, rel=1e-15)
    want = sum(v is not None and bool(v) for v in values)
    assert histo.histogram(ones, [0.0, 1.0], mask=given)[0][0] == want
    assert Histogram(Regular(1, 0, 1)).fill(ones, mask=given).tally.masked == len(values) - want


# ---- Through histograms ----


@pytest.mark.parametrize("carrier, kind", list(cases()))
def test_fill(carrier, kind):
    x = carrier.make(kind)
    if kind.dtype.kind in "mM":
        with pytest.raises(TypeError, match="date"):
            Histogram(Regular(2, 0, 60)).fill(x)
        return
    edges = kind.axis.edges.tolist()
    want, masked = expected(carrier, kind, edges, closed=False)
    h = Histogram(kind.axis).fill(x)
    assert h.values(flow=True).tolist() == [*want[:-2], want[-2] + want[-1]]
    assert h.tally.nan == (want[-1],) and h.tally.masked == masked and h.tally.samples == len(kind.values)
    two = Histogram(kind.axis, Boolean()).fill(x, x)
    assert two.tally.masked == masked and two.tally.samples == len(kind.values)
    if not carrier.lazy:
        again = Histogram(kind.axis).fill(x, mask=np.ones(np.shape(with_mask(kind)) + (1,) * (carrier.nested), bool))
        assert again == h
        inside = Histogram(Boolean()).fill(True, where=(x, edges[0], edges[1]))
        values = [exact(kind, v) for v in (kind.values if carrier.missing else kind.whole) if v is not None]
        assert inside.tally.bins == sum(v is not None and edges[0] <= v <= edges[1] for v in values)


@pytest.mark.parametrize("carrier, kind", list(cases()))
def test_discrete_axes(carrier, kind):
    x = carrier.make(kind)
    values = kind.values if carrier.missing else kind.whole
    there = [v for v in values if v is not None]
    if kind.dtype.kind in "mM":
        for axis in (Category([1, 2]), Boolean()):
            with pytest.raises(TypeError):
                Histogram(axis).fill(x)
        return
    h = Histogram(Boolean()).fill(x)
    assert h.values().tolist() == [sum(v == 0 for v in there), sum(v != 0 and v == v for v in there)]
    assert h.tally.masked == sum(v is None for v in values) and h.tally.nan == (sum(v != v for v in there),)
    if kind.dtype.kind not in "iu":
        return
    known = sorted(set(there))[1:]
    h = Histogram(Category(known)).fill(x)
    assert h.values().tolist() == [there.count(v) for v in known] and h.tally.masked == len(values) - len(there)
    assert h.tally.over == (there.count(min(there)),)
    grown = Histogram(Category(growth=True)).fill(x)
    if not carrier.lazy:  # whose partitions come in any order
        assert grown.axes[0].categories == list(dict.fromkeys(there))
    assert {c: n for c, n in zip(grown.axes[0].categories, grown.values().tolist(), strict=True)} == {
        v: there.count(v) for v in there}


WORDS = ["a", None, "b", "ccc", "a", "", None]
OF_WORDS = {
    "list": lambda: WORDS,
    "objects": lambda: np.array(WORDS, object),
    "NaN for what is missing": lambda: np.array([np.nan if w is None else w for w in WORDS], object),
    "masked array": lambda: np.ma.masked_array([w or "" for w in WORDS], [w is None for w in WORDS]),
    "StringDType": lambda: np.array(WORDS, np.dtypes.StringDType(na_object=None)),
    "pandas": lambda: pd.Series(WORDS),
    "pandas, Python's strings": lambda: pd.Series(WORDS, dtype="string[python]"),
    "pandas, Arrow's": lambda: pd.Series(WORDS, dtype=pd.ArrowDtype(pa.string())),
    "pandas Categorical": lambda: pd.Series(WORDS, dtype="category"),
    "Categorical": lambda: pd.Categorical(WORDS, ["ccc", "x", "a", "b", ""]),
    "pandas Index": lambda: pd.Index(WORDS),
    "Polars": lambda: pl.Series(WORDS),
    "Polars Categorical": lambda: pl.Series(WORDS, dtype=pl.Categorical),
    "Polars Enum": lambda: pl.Series(WORDS, dtype=pl.Enum(["", "ccc", "b", "a"])),
    "Arrow": lambda: pa.array(WORDS),
    "Arrow, large": lambda: pa.array(WORDS, pa.large_string()),
    "Arrow, views": lambda: pa.array(WORDS, pa.string_view()),
    "Arrow, chunked": lambda: pa.chunked_array([WORDS[:3], WORDS[3:]]),
    "Arrow dictionary": lambda: pa.array(WORDS).dictionary_encode(),
    "Arrow dictionaries": lambda: pa.chunked_array([pa.array(w).dictionary_encode() for w in (WORDS[:2], WORDS[2:])]),
    "DuckDB": lambda: duckdb.from_arrow(pa.table({"w": WORDS})),
    "Dask": lambda: dask.dataframe.from_pandas(pd.DataFrame({"w": pd.Series(WORDS)}), npartitions=3).w,
}


@pytest.mark.parametrize("make", OF_WORDS.values(), ids=OF_WORDS.keys())
def test_words(make):
    h = Histogram(Category(["a", "b"])).fill(make())
    assert h.values(flow=True).tolist() == [2, 1, 2] and h.tally.masked == 2 and h.tally.samples == 7
    weighted = Histogram(Category(["a", "b"]), Regular(1, 0, 7), storage="double")
    if not hasattr(make(), "dask"):
        weighted.fill(make(), np.arange(7.0), weight=np.arange(7))
        assert weighted.values().ravel().tolist() == [4, 2]
    grown = Histogram(Category(growth=True)).fill(make())
    assert dict(zip(grown.axes[0].categories, grown.values().tolist(), strict=True)) == {"a": 2, "b": 1, "ccc": 1, "": 1}
    for numbers in (Regular(2, 0, 1), Boolean(), Category([1, 2])):
        with pytest.raises(TypeError):
            Histogram(numbers).fill(make())


# ---- Through what is built on both ----


@pytest.mark.filterwarnings("ignore:Converting input from bool")
@pytest.mark.parametrize("carrier, kind", list(cases()))
def test_dask(carrier, kind):
    x, e = carrier.make(kind), kind.edge_array()
    if carrier.nested:
        return
    want, masked = expected(carrier, kind, kind.edges, kind.unit)
    assert flat(histo.dask.histogram(x, e)[0]) == want[1:-2]
    assert flat(histo.dask.histogramdd((x, x), [e, e])[0].sum(axis=1)) == want[1:-2]


@pytest.mark.parametrize("name, kind", KINDS.items(), ids=KINDS.keys())
def test_xarray(name, kind):
    plain = Kind(kind.dtype, kind.whole, kind.edges)
    want, _ = model(plain, kind.edges, kind.unit)
    for values in (plain.numpy(), dask.array.from_array(plain.numpy(), chunks=2)):
        x = xr.DataArray(values, dims="t", name="x")
        found = histo.xarray.histogram(x, bins=kind.edge_array())
        assert flat(found) == want[1:-2]
        centers = found.coords["x_bin"].values
        assert all(kind.edge_array()[:-1] <= centers) and all(centers <= kind.edge_array()[1:])


@pytest.mark.parametrize("carrier, kind", list(cases()))
def test_images_and_compatible_functions(carrier, kind):
    x = carrier.make(kind)
    if carrier.lazy or kind.dtype.kind in "mMb" or not set(map(type, kind.values)) <= {int, type(None)} or \
            max(kind.whole) > 2**31:
        return
    values = kind.values if carrier.missing else kind.whole
    there = [v for v in values if v is not None]
    h = histo.image.histogram(x)
    assert h.sum() == len(there) and h.tally.masked == len(values) - len(there)
    assert histo.image.quantiles(x, [0, 1]).tolist() == [min(there), max(there)]
    if not carrier.nested:
        assert fast_histogram.histogram1d(x, 2, (0, 4)).tolist() == [
            sum(0 <= v < 2 for v in there), sum(2 <= v < 4 for v in there)]
        counts, _, _ = histo.binned_statistic(x, np.arange(len(values)), "count", [0, 2, 4])
        assert counts.tolist() == [sum(0 <= v < 2 for v in there), sum(2 <= v <= 4 for v in there)]


# ---- Rules ----


def test_decimals_and_fractions_are_the_nearest_doubles():
    tenths = [decimal.Decimal("0.1"), None, decimal.Decimal("0.3")]
    edges = [0, 0.1, 0.3, 1]
    for x in (tenths, np.array(tenths, object), pa.array(tenths), pl.Series(tenths),
              pd.Series(tenths, dtype=pd.ArrowDtype(pa.decimal128(3, 1))), [fractions.Fraction(1, 10), None, 0.3]):
        assert flat(histo.histogram(x, edges)[0]) == [0, 1, 1]
        assert Histogram(Variable(edges)).fill(x).values(flow=True).tolist() == [0, 0, 1, 1, 0]
    large = pa.array([decimal.Decimal(B + 1), None], pa.decimal128(38, 0))
    assert Histogram(Category([B, B + 1])).fill(large).values().tolist() == [0, 1]


def test_numpys_own_behaviour_has_a_keyword():
    x = np.ma.masked_array([1.0, 2, 3], [0, 1, 0])
    n = np.ma.masked_array([1, 2, 3], [0, 1, 0])
    pairs = np.ma.stack([x, x], 1)
    for missing, want in (("mask", [1, 0, 1]), ("numpy", [1, 1, 1])):
        assert flat(histo.histogram(x, 3, (0.5, 3.5), missing=missing)[0]) == want
        assert flat(np.diag(histo.histogram2d(x, x, 3, missing=missing)[0])) == want
        assert flat(np.diag(histo.histogramdd(pairs, 3, missing=missing)[0])) == want
        assert flat(histo.bincount(n, missing=missing)) == [0, *want]
        assert histo.histogram_bin_edges(x[1:], 1, missing=missing)[0] == (2.5 if missing == "mask" else 2)
    with pytest.raises(ValueError, match="missing="):
        histo.histogram(x, missing="drop")
    lazy = dask.array.from_array(x, chunks=1)
    assert flat(histo.histogram(lazy, 3, (0.5, 3.5), missing="mask")[0]) == [1, 0, 1]
    with pytest.raises(NotImplementedError):
        histo.histogram(lazy, missing="numpy")


def test_what_is_missing_in_a_weight_or_a_mask_is_not_counted():
    x = np.array([0.5, 0.5, 0.5, 1.5])
    weights, mask = pa.array([1.0, None, 4.0, 8.0]), pd.array([True, True, None, True], dtype="boolean")
    assert flat(histo.histogram(x, 2, (0, 2), weights=weights, mask=mask)[0]) == [1, 8]
    assert flat(histo.histogramdd([x], 2, [(0, 2)], weights=weights, mask=mask)[0]) == [1, 8]
    h = Histogram(Regular(2, 0, 2), storage="double").fill(x, weight=weights, mask=mask)
    assert h.values().tolist() == [1, 8] and h.tally.masked == 2
    two = np.ma.masked_array([[0.5, 1.5], [0.5, 0.5]], [[0, 1], [0, 0]])
    h = Histogram(Regular(2, 0, 2)).fill(two, mask=[[True, True], [False, True]])
    assert h.values().tolist() == [2, 0] and h.tally.masked == 2
    of_each = Histogram(Regular(2, 0, 2), batch=2).fill(two)
    assert of_each.values().tolist() == [[1, 0], [2, 0]] and of_each.masked.tolist() == [1, 0]


def test_tables():
    frame = pd.DataFrame({"x": pd.array([0.5, None, 1.5]), "y": pd.array([1, 1, None], dtype="Int64")})
    for sample in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), [frame.x, frame.y]):
        assert histo.histogramdd(sample, [[0, 1, 2], [0, 1, 2]])[0].tolist() == [[0, 1], [0, 0]]
    lazy = dask.dataframe.from_pandas(frame, npartitions=2)
    assert flat(histo.histogramdd(lazy, [[0, 1, 2], [0, 1, 2]])[0]) == [0, 1, 0, 0]
    with pytest.raises(TypeError, match="2 columns"):
        Histogram(Regular(1, 0, 1)).fill(pa.Table.from_pandas(frame))


def test_lists_of_columns():
    column = pd.Series([1, None], dtype="Int64")
    for x in ([column, column], (np.ma.masked_array([1, 5], [0, 1]), [1, None]), [pl.Series([1, None]), column]):
        assert flat(histo.histogram(x, [0, 2, 9])[0]) == [2, 0]
        assert Histogram(Regular(1, 0, 2)).fill(x).tally.masked == 2


def test_times_of_zones_are_those_of_utc():
    naive = np.array(["2020-01-01T23:30", "2020-01-02T00:30"], "M8[s]")
    east = pd.Series(naive).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], "M8[D]")
    for x in (naive, east, pa.array(east), pl.from_pandas(east), list(east), east.array):
        assert flat(histo.histogram(x, days)[0]) == [1, 1]


@pytest.mark.parametrize("call", [
    lambda d, n: histo.histogram(d, n), lambda d, n: histo.histogram(n, d), lambda d, n: histo.histogram(d, 3, (0, 1)),
    lambda d, n: histo.histogram(n, 3, (d[0], d[1])), lambda d, n: histo.histogram2d(d, n, [n, n]),
    lambda d, n: histo.histogram(n, n, weights=d), lambda d, n: histo.histogram(d, np.array([1, 2], "m8[D]")),
    lambda d, n: Histogram(Variable(d)), lambda d, n: Histogram(Regular(1, 0, 1)).fill(n, where=(n, d[0], d[1])),
    lambda d, n: Histogram(Regular(1, 0, 1)).fill(n, weight=d), lambda d, n: Regular(1, 0, 1).index(d),
    lambda d, n: histo.histogram(dask.array.from_array(d), n), lambda d, n: histo.bincount(d),
    lambda d, n: histo.image.threshold(d), lambda d, n: histo.binned_statistic(d, n), lambda d, n: histo.image.quantiles(d, 0.5),
    lambda d, n: histo.xarray.histogram(xr.DataArray(d, dims="t", name="t"), bins=n),
])
def test_dates_never_meet_numbers(call):
    with pytest.raises(TypeError):
        call(np.array(["2020-01-01", "2020-01-02"], "M8[D]"), np.array([0, 1]))


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "25s"])
@pytest.mark.parametrize("of_edges", ["Y", "M", "W", "D", "h", "s", "ns", "7m"])
def test_units(unit, of_edges):
    """Of any two units, compared as Python's calendar compares them."""
    rng = np.random.default_rng(3)
    begin = np.datetime64("2019-11-29T22:58:30", "s")
    moments = begin + rng.integers(0, 5 * 10**7, 60).astype("m8[s]")
    x, e = moments.astype(f"M8[{unit}]"), np.sort(moments[:5].astype(f"M8[{of_edges}]"))

    def seconds(dates):
        return [fractions.Fraction(int(d)) for d in dates.astype("M8[ns]").astype("i8")]

    found = Kind("i8", [int(s) for s in seconds(x)], [])
    want, _ = model(found, seconds(e))
    assert flat(histo.histogram(x, e, flow=True)[0]) == want
    where = Histogram(Boolean()).fill(True, where=(x, e[1], e[3]))
    assert where.tally.bins == sum(seconds(e)[1] <= s <= seconds(e)[3] for s in seconds(x))


def test_dates_that_another_unit_cannot_hold():
    far = np.array(["-20000-01-01", "0001-01-01", "2020-06-01", "9999-12-31", "250000-01-01"], "M8[D]")
    near = np.array(["2020-01-01", "2021-01-01"], "M8[ns]")
    assert flat(histo.histogram(far, near, flow=True)[0]) == [2, 1, 2, 0]
    assert flat(histo.histogram(near, far)[0]) == [0, 1, 1, 0]
    assert flat(histo.histogram(far, near, flow=True, weights=np.arange(5))[0]) == [1, 2, 7, 0]
    spans = np.array([-(2**62), 2**62, 1], "m8[D]")
    assert flat(histo.histogram(spans, np.array([0, 2**62], "m8[ns]"), flow=True)[0]) == [1, 1, 1, 0]


@pytest.mark.parametrize("rule", ["auto", "fd", "doane", "scott", "rice", "sturges", "sqrt", 1, 7, 24])
def test_equal_bins_of_dates(rule):
    seconds = np.random.default_rng(5).integers(0, 10**6, 500)
    for x in (seconds.astype("M8[s]"), seconds.astype("m8[s]"), pa.array(seconds.astype("M8[s]"))):
        counts, edges = histo.histogram(x, rule)
        of_numbers = histo.histogram_bin_edges(seconds, rule)
        assert edges.dtype.kind in "mM" and len(edges) == len(of_numbers) and counts.sum() == 500
        distance = edges.astype(f"{edges.dtype.kind}8[ns]").astype("i8") - of_numbers * 1e9
        assert abs(distance).max() <= 1e-6 * (of_numbers[1] - of_numbers[0]) * 1e9 + 1
    low, high = np.array(["2020-01-01", "2020-01-31"], "M8[D]")
    edges = histo.histogram_bin_edges(np.array([low]), 3, (low, high))
    assert edges.tolist() == np.array(["2020-01-01", "2020-01-11", "2020-01-21", "2020-01-31"], "M8[D]").tolist()
    with pytest.raises(ValueError, match="not finite"):
        histo.histogram(np.array(["NaT", "2020-01-01"], "M8[D]"), rule)
    with pytest.raises(ValueError, match="Too many bins"):
        histo.histogram(np.array([0, 1], "M8[as]"), 3)


OF_RANDOM = {
    "i1": st.integers(-128, 127), "u2": st.integers(0, 2**16 - 1), "i8": st.integers(-(2**63), 2**63 - 1),
    "u8": st.integers(0, 2**64 - 1), "f4": st.floats(width=32), "f8": st.floats(), "M8[ms]": st.integers(-(2**50), 2**50),
}


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_random_samples(data):
    dtype = data.draw(st.sampled_from(sorted(OF_RANDOM)))
    values = data.draw(st.lists(st.one_of(st.none(), OF_RANDOM[dtype]), min_size=3, max_size=12))
    assume(values.count(None) < len(values))  # of objects that are all None, nothing tells what they are
    finite = [v for v in values if v is not None and v == v and abs(v) != INF] + [0, 1]
    edges = sorted(data.draw(st.lists(st.sampled_from(finite), min_size=2, max_size=6)))
    kind = Kind(dtype, values, edges, unit="ms" if "M8" in dtype else None)
    name = data.draw(st.sampled_from([c for c in CARRIERS if CARRIERS[c].holds(kind) and not CARRIERS[c].lazy]))
    carrier = CARRIERS[name]
    want, masked = expected(carrier, kind, kind.edges, kind.unit)
    x, e = carrier.make(kind), kind.edge_array()
    assert flat(histo.histogram(x, e, flow=True)[0]) == want, name
    if kind.dtype.kind in "iuf" and all(int(edge) == edge and int(float(edge)) == edge or kind.dtype.kind == "f"
                                        for edge in edges):
        h = Histogram(Variable(edges, closed=True)).fill(x)
        assert h.values().tolist() == want[1:-2] and h.tally.masked == masked, name
        assert (h.tally.under, h.tally.over, h.tally.nan) == ((want[0],), (want[-2],), (want[-1],)), name


SECTION = "What samples come in"


def test_the_guide_has_the_table():
    guide = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
    if not guide.exists():  # a wheel's tests may stand alone
        pytest.skip("the guide is not here")
    text = guide.read_text()
    table = text[text.index(f"## {SECTION}") :]
    for word in ("masked array", "pandas", "Polars", "PyArrow", "DuckDB", "Dask", "xarray", "JAX", "PyTorch"):
        assert word in table, word
