"""Kinds of faults that people have reported of libraries of histograms, each with its right value, or what a refusal says."""

import io
import json

import boost_histogram as bh
import dask
import dask.array as da
import dask.dataframe as dd
import jax.numpy as jnp
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

import histo
import histo.dask
import histo.xarray
from histo.compat import cv2, skimage
from histo import Boolean, Category, Histogram, Integer, Regular, Variable

B = 2**53
ZEROS = np.zeros(100_000)
MONTHS = np.array(["2020-01-01", "2020-02-01", "2020-03-01"], "M8[D]")
DAYS = np.array(["2020-01-05", "NaT", "2020-02-05"], "M8[ns]")
MASKED = np.ma.masked_array([1.0, 2, 3, 4, 5], [0, 1, 1, 1, 0])
PAIR = np.ma.masked_array([0.5, 1.5, 1.5], [0, 0, 1])
LARGE = np.full(6, 2**61)
F4 = np.array([0.1, 0.2, 0.3, 0.7, 1], "f4")


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return np.asarray(value).tolist()


def counts(found):
    return found[0]


def filled(axis, *samples, **named):
    return Histogram(axis, **{k: named.pop(k) for k in ("storage",) if k in named}).fill(*samples, **named)


def tallied(axis, *samples, **named):
    h = filled(axis, *samples, **named)
    return h.values(), h.tally.masked


def weighted():
    return Histogram(Integer(0, 10), storage="double").fill([1, 2, 4, 8], weight=[100.0, 0, 0, 1])


def of_boost():
    b = bh.Histogram(bh.axis.Integer(0, 10), storage=bh.storage.Double())
    b.fill([1, 2], weight=[0.5, 0.25])
    return Histogram(b)


def assigned():
    a = Histogram(Regular(3, 0, 3), storage="weight").fill([0.5, 1.5, 1.5, 9, -1], weight=[2.0, 3, 4, 5, 6])
    b = Histogram(Regular(3, 0, 3), storage="weight")
    b[...] = a
    return b.variances()


def full(*values):
    h = Histogram(Regular(len(values), 0, 1))
    h[...] = values
    return h


def lazy_edges():
    edges = histo.histogram(da.from_array(F4, chunks=1), 10, (dask.delayed(0.0), dask.delayed(1.0)))[1]
    return edges.dtype == edges.compute().dtype


def beyond():
    numbers = np.array([B + 1 + 2 * i for i in range(1000)])
    edges = np.array([B + 1 + 2 * i for i in range(1001)])
    return set(histo.histogram(numbers, edges.astype(">i8"))[0].tolist())


def strict(h):
    file = io.BytesIO()
    h.save(file, "json")

    def refuse(word):
        raise ValueError(f"not JSON: {word}")

    json.loads(file.getvalue(), parse_constant=refuse)
    return Histogram.load(io.BytesIO(file.getvalue())) == h


CASES = {
    "edges 0, -0": (lambda: counts(histo.histogram(ZEROS, [0.0, -0.0])), [100_000]),
    "edges 0, 0": (lambda: counts(histo.histogram(ZEROS, [0.0, 0.0])), [100_000]),
    "edges 0, -0 of others": (lambda: counts(histo.histogram(np.arange(100_000), [0.0, -0.0])), [1]),
    "edges 0, -0 of float32": (
        lambda: counts(histo.histogram(ZEROS.astype("f4"), np.array([0, -0.0], "f4"))), [100_000]),
    "edges 0, -0, -0": (lambda: counts(histo.histogram(ZEROS, [0.0, -0.0, -0.0])), [0, 100_000]),
    "edges 0, -0 of an axis": (lambda: filled(Variable([0.0, -0.0]), ZEROS).tally.over, [100_000]),
    "edges 0, -0 and weights": (lambda: counts(histo.histogram(ZEROS, [0.0, -0.0], weights=ZEROS + 1)), [100_000]),
    "words of Polars": (
        lambda: filled(Category(["a", "b"]), pl.Series(["a", "b", "a"])).values(flow=True), [2, 1, 0]),
    "integers of Polars": (lambda: filled(Category([1, 2]), pl.Series([1, 2, 1, 3])).values(flow=True), [2, 1, 1]),
    "words of Polars with weights": (
        lambda: filled(Category(["a", "b"]), pl.Series(["a", "b", "a"]), storage="double", weight=[1, 2, 3]).values(),
        [4, 2]),
    "dates of Dask in another unit": (
        lambda: counts(histo.histogram(da.from_array(DAYS[[0, 2]], chunks=1), MONTHS)), [1, 1]),
    "time spans of xarray": (
        lambda: histo.xarray.histogram(xr.DataArray(np.array([1, 2, 3], "m8[s]"), dims="t", name="t"),
                                       bins=np.array([0, 2500, 4000], "m8[ms]")).values, [2, 1]),
    "a null of Arrow on a Boolean axis": (lambda: tallied(Boolean(), pa.array([True, None, False])), [[1, 1], 1]),
    "a null of Polars on a Boolean axis": (lambda: tallied(Boolean(), pl.Series([True, None, False])), [[1, 1], 1]),
    "None on a Boolean axis": (lambda: tallied(Boolean(), [True, None, False]), [[1, 1], 1]),
    "a null of pandas on a Boolean axis": (
        lambda: tallied(Boolean(), pd.Series([True, None, False], dtype="boolean")), [[1, 1], 1]),
    "uint64 in categories": (
        lambda: filled(Category([B, B + 1, B + 2]), np.array([B, B + 1, B + 2, B + 3], "u8")).values(flow=True),
        [1, 1, 1, 1]),
    "uint64 beyond categories": (
        lambda: filled(Category([1, 2]), np.array([1, 2**64 - 1, 2], "u8")).values(flow=True), [1, 1, 1]),
    "sums of integers on two axes": (
        lambda: counts(histo.histogram2d(np.zeros(6), np.zeros(6), 1, weights=LARGE)), [[6.0 * 2**61]]),
    "sums of integers as floats": (
        lambda: counts(histo.histogram(np.zeros(6), 1, weights=LARGE, dtype=float)), [6.0 * 2**61]),
    "sums of integers into floats": (
        lambda: counts(histo.histogram(np.zeros(6), 1, weights=LARGE, out=np.zeros(1))), [6.0 * 2**61]),
    "sums of integers of xarray": (
        lambda: histo.xarray.histogram(xr.DataArray(np.zeros(6), dims="t", name="t"), bins=1,
                                       weights=xr.DataArray(LARGE, dims="t")).values, [6.0 * 2**61]),
    "densities of integers by Dask": (
        lambda: counts(histo.histogram(da.zeros(6, chunks=2), 1, (-1, 1), density=True,
                                       weights=da.from_array(LARGE, chunks=2))), [0.5]),
    "a map of a masked array": (
        lambda: np.ma.getmaskarray(histo.Map(Integer(0, 4))(np.ma.masked_array([1, 2], [0, 1]))), [False, True]),
    "a masked image of OpenCV": (
        lambda: cv2.calcHist([np.ma.masked_array([[0, 1]], [[0, 1]], dtype="u1")], [0], None, [2], [0, 2]).ravel(),
        [1, 0]),
    "a masked image of scikit-image": (
        lambda: skimage.histogram(np.ma.masked_array([[0, 1, 2]], [[0, 1, 0]], dtype="u1"))[0], [1, 0, 1]),
    "densities of integer weights": (
        lambda: counts(histo.histogram([0.0, 0, 0, 0, 0, 0, 1], 2, (0, 1), weights=np.full(7, 2**61), density=True)),
        [pytest.approx(12 / 7), pytest.approx(2 / 7)]),
    "sums of integers by Dask": (
        lambda: counts(histo.histogramdd([da.zeros(6, chunks=2)], 1, weights=da.from_array(LARGE, chunks=2))),
        [6.0 * 2**61]),
    "a histogram assigned to a histogram": (assigned, [4, 25, 0]),
    "density over int8": (
        lambda: counts(histo.histogram(np.array([0], "i1"), np.array([-128, 127], "i1"), density=True)),
        [pytest.approx(1 / 255)]),
    "density over int32": (
        lambda: counts(histo.histogram(np.array([0], "i4"), np.array([-(2**31), 2**31 - 1], "i4"), density=True)),
        [pytest.approx(1 / (2**32 - 1))]),
    "density over float16": (
        lambda: counts(histo.histogram(np.array([0], "f2"), np.array([-60000, 60000], "f2"), density=True)),
        [pytest.approx(1 / 120000, rel=1e-3)]),
    "densities over int8": (
        lambda: counts(histo.histogram(np.array([-100, 50, 120], "i1"), np.array([-128, 0, 127], "i1"), density=True)),
        [pytest.approx(1 / 384), pytest.approx(2 / 381)]),
    "a masked array filled": (lambda: filled(Regular(5, 0.5, 5.5), MASKED).values(), [1, 0, 0, 0, 1]),
    "a masked array": (lambda: counts(histo.histogram(MASKED, 5, (0.5, 5.5))), [1, 0, 0, 0, 1]),
    "bincount of a masked array": (lambda: histo.bincount(np.ma.masked_array([1, 2, 3], [0, 1, 0])), [0, 1, 0, 1]),
    "the range of a masked NaN": (lambda: counts(histo.histogram(np.ma.masked_invalid([1.0, np.nan, 3]), 2)), [1, 1]),
    "pairs of masked arrays": (
        lambda: counts(histo.histogram2d(PAIR, PAIR, [[0, 1, 2], [0, 1, 2]])), [[1, 0], [0, 1]]),
    "edges at 2^53": (lambda: counts(histo.histogram(np.array([B + 1]), np.array([2**52, B + 1]))), [1]),
    "edges beyond 2^53 in the other byte order": (lambda: sorted(beyond()), [1]),
    "a list with integers of 64 bits": (lambda: counts(histo.histogram([1, B + 1, 2**64 - 1], [0, B + 1, 2**64 - 1])),
                                        [1, 2]),
    "float32 of Dask": (
        lambda: counts(histo.histogram(da.from_array(F4, chunks=2), 10, (0, 1))),
        np.histogram(F4, 10, (0, 1))[0].tolist()),
    "the dtype of lazy edges": (lazy_edges, True),
    "NaT in flow": (lambda: counts(histo.histogram(DAYS, MONTHS, flow=True)), [0, 1, 1, 0, 1]),
    "days beyond nanoseconds": (
        lambda: counts(histo.histogram(np.array([213504], "m8[D]"), np.array([0, 3600 * 10**9], "m8[ns]"), flow=True)),
        [0, 0, 1, 0]),
    "the year 9999": (
        lambda: counts(histo.histogram(np.array(["9999-12-31", "2020-01-05"], "M8[D]"), MONTHS.astype("M8[ns]"),
                                       flow=True)), [0, 1, 0, 1, 0]),
    "an edge in the year 9999": (
        lambda: counts(histo.histogram(DAYS[[0, 2]], np.array(["2020-01-01", "2020-02-01", "9999-12-31"], "M8[D]"))),
        [1, 1]),
    "the median of weights": (lambda: weighted().quantiles(0.5), 1),
    "the mean of weights": (lambda: weighted().summarize().mean, pytest.approx(108 / 101)),
    "the mean of weights of boost-histogram": (lambda: of_boost().summarize().mean, pytest.approx(4 / 3)),
    "the index of large integers": (lambda: Regular(4, B, B + 8).index(np.array([B + 1, B + 2, B + 3])), [0, 1, 1]),
    "the index below an Integer axis": (lambda: Integer(-B, -B + 5).index(np.array([-B - 1])), [-1]),
    "the index of float16": (
        lambda: Integer(0, 100_000).index(np.array([np.nan, np.inf, -np.inf], "f2")), [100_000, 100_000, -1]),
    "limits of where beyond 2^53": (
        lambda: filled(Regular(1, 0, 2), [1.0, 1, 1], where=(np.array([B, B + 1, B + 2]), B + 1, B + 2)).tally.masked,
        1),
    "a sum beyond int64": (lambda: full(2**63 - 1, 5).sum(), 2**63 + 4),
    "a density beyond int64": (
        lambda: full(2**63 - 1, 5).density(), [pytest.approx(2), pytest.approx(10 / (2**63 + 4))]),
    "an array of JAX": (lambda: counts(histo.histogram(jnp.array([0.1, 0.2, 0.7]), 2, (0, 1))), [2, 1]),
    "bincount of JAX": (lambda: histo.bincount(jnp.array([1, 2, 2])), [0, 1, 2]),
    "edges of a Dask array": (lambda: histo.histogram_bin_edges(da.arange(10, chunks=5), 3), [0, 3, 6, 9]),
    "a null of pandas on categories": (
        lambda: tallied(Category([1, 2]), pd.Series([1, None, 2], dtype="Int64")), [[1, 1], 1]),
    "a null of Arrow on growing categories": (
        lambda: tallied(Category(growth=True), pa.array(["a", None, "b"])), [[1, 1], 1]),
    "a null of pandas on growing categories": (
        lambda: tallied(Category(growth=True), pd.Series(["a", None, "b"])), [[1, 1], 1]),
    "a nullable column of Dask": (
        lambda: counts(histo.histogram(
            dd.from_pandas(pd.DataFrame({"k": pd.Series([1, None, 2], dtype="Int64")}), npartitions=1).k, 2, (0, 3))),
        [1, 1]),
    "bins of dates": (lambda: counts(histo.histogram(DAYS[[0, 2]], 3)), [1, 0, 1]),
    "infinite edges in JSON": (lambda: strict(filled(Variable([-np.inf, 0, np.inf]), [1.0])), True),
    "NaN in JSON": (lambda: strict(filled(Regular(2, 0, 1), [0.1], storage="weight", weight=np.nan)), True),
    "exact sums in the flow": (
        lambda: filled(Regular(1, 0, 1), [2.0, 2, np.nan], storage="exact_weight", weight=[1, B**-1, B**-1])
        .values(flow=True)[-1], 1 + 2**-52),
    "all exact sums": (
        lambda: filled(Regular(2, 0, 1), [0.1, 0.6, 0.6], storage="exact_double", weight=[1, B**-1, B**-1]).sum(),
        1 + 2**-52),
}


@pytest.mark.parametrize("call, expected", CASES.values(), ids=CASES.keys())
def test_values(call, expected):
    assert plain(call()) == expected


REFUSED = {
    "axis of Dask": (
        lambda: histo.histogram(da.from_array(np.zeros((2, 3))), 3, (0, 6), axis=2), np.exceptions.AxisError, "axis 2"),
    "edges that no double holds": (lambda: Variable([B + 1, B + 3]), ValueError, "2\\^53"),
    "an end that no double holds": (lambda: Regular(2, B + 1, B + 5), ValueError, "2\\^53"),
    "dates as edges of an axis": (lambda: Variable(MONTHS), TypeError, "date"),
    "dates in a histogram": (lambda: filled(Regular(2, 0, 4e18), DAYS), TypeError, "date"),
    "counts beyond int64": (lambda: (full(2**63 - 1) + full(2**63 - 1)).values(), ValueError, "beyond 2\\^63 - 1"),
    "infinity as a factor": (lambda: full(1) * np.inf, ValueError, "finite"),
    "edges that are NaN": (lambda: histo.histogram([1.0], [0, np.nan]), ValueError, "NaN"),
    "edges that are NaT": (lambda: histo.histogram(DAYS, DAYS), ValueError, "NaT"),
    "edges that are missing": (lambda: histo.histogram([1.0], [0, None, 1]), ValueError, "missing"),
    "words as edges": (lambda: histo.histogram([1.0], ["a", "b"]), TypeError, "strings"),
    "a rule that is none, by Dask": (lambda: histo.histogram_bin_edges(da.arange(10), "best"), ValueError, "estimator"),
    "a method for weights": (lambda: weighted().quantiles(0.5, "linear"), ValueError, "weights"),
    "a threshold of weights": (lambda: weighted().threshold(), ValueError, "weights"),
    "a comparison of weights": (lambda: weighted().compare(weighted()), ValueError, "weights"),
    "information of weights": (
        lambda: Histogram(Integer(0, 2), Integer(0, 2), storage="double").inform(), ValueError, "weights"),
    "a map of weights": (lambda: histo.Map(Integer(0, 10)).equalize(weighted()), ValueError, "weights"),
    "moments of negative weights": (
        lambda: filled(Regular(2, 0, 1), [0.1], storage="double", weight=-1).summarize(), ValueError, "negative"),
    "variances that there are not": (
        lambda: Histogram(Integer(0, 10), storage="weight").__setitem__(..., weighted()), ValueError, "variances"),
    "sums beyond the integers that are asked for": (
        lambda: histo.histogramdd([np.zeros(6)], 1, weights=LARGE, dtype="i8"), ValueError, "beyond int64"),
    "statistics of dates": (lambda: histo.binned_statistic([0.5], DAYS[:1], "mean", 1, (0, 1)), TypeError, "datetime64"),
    "words in bincount": (lambda: histo.bincount(["1"]), TypeError, "strings"),
    "words as weights": (lambda: histo.histogram([1.0], 2, weights=["a"]), TypeError, "weights are strings"),
    "words as a mask": (lambda: histo.histogram([1.0], 2, mask=["a"]), TypeError, "masks are strings"),
    "words as a range": (lambda: histo.histogram([1.0], 2, ("a", "b")), TypeError, "range"),
    "a range of three": (lambda: histo.histogram([1.0], 2, (1, 2, 3)), ValueError, "range is \\(lo, hi\\)"),
    "words of Dask": (
        lambda: histo.histogram(dd.from_pandas(pd.DataFrame({"k": ["a", "b"]}), npartitions=1).k, 2), TypeError,
        "strings"),
    "integers beyond 64 bits": (lambda: filled(Regular(1, 0, 1), [10**30, 0]), TypeError, "64 bits"),
    "what is set, and missing": (
        lambda: full(1, 2).__setitem__(..., np.ma.masked_array([1, 2], [0, 1])), ValueError, "missing"),
    "a structured array": (
        lambda: histo.histogram(np.zeros(2, [("a", "f8"), ("b", "f8")])), TypeError, "fields a, b"),
    "a table of several columns": (
        lambda: filled(Regular(1, 0, 1), pa.table({"a": [1], "b": [2]})), TypeError, "2 columns"),
}


@pytest.mark.parametrize("call, error, message", REFUSED.values(), ids=REFUSED.keys())
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("storage", ["double", "weight", "exact_weight"])
def test_statistics_of_weights(storage):
    """Those of as many samples as the weights say; in an entry of a batch, its own."""
    weights, x = np.array([1, 0, 3, 2, 5]), np.array([0.5, 1.5, 2.5, 2.5, 7.5])
    h = Histogram(Regular(10, 0, 10), batch=2, storage=storage).fill(np.stack([x, x]), weight=np.stack([weights, weights * 2]))
    alike = Histogram(Regular(10, 0, 10)).fill(np.repeat(x, weights))
    for entry in range(2):
        found, expected = h.entry(entry).summarize(), alike.summarize()
        assert found[1:] == pytest.approx(expected[1:]) and found.count == 5
        assert h.summarize().mean[entry] == found.mean
        assert h.quantiles([0, 0.25, 0.5, 1])[entry] == pytest.approx([0, 2.35, 2.9, 8])
    integers = Histogram(Integer(-3, 10), storage=storage).fill([-9, 1, 2, 4, 8], weight=[1, 2, 0, 2, 1])
    q = [0, 0.1, 1 / 6, 0.3, 0.5, 0.7, 0.9, 1]
    expected = np.quantile([-np.inf, 1, 2, 4, 8], q, weights=[1, 2, 0, 2, 1], method="inverted_cdf")
    assert integers.quantiles(q).tolist() == expected.tolist()
    equal = Histogram(Integer(0, 100), storage=storage).fill(np.arange(100), weight=np.ones(100))
    q = np.arange(101) / 100
    expected = np.quantile(np.arange(100), q, weights=np.ones(100), method="inverted_cdf")
    assert equal.quantiles(q).tolist() == expected.tolist()
    assert np.isnan(Histogram(Regular(2, 0, 1), storage=storage).quantiles(0.5))
