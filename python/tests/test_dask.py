"""Histograms of Dask arrays equal those of the whole arrays, whatever the chunks and workers."""

import subprocess
import sys

import dask
import dask.array as da
import numpy as np
import pytest

import histo
import histo.dask as hd

RNG = np.random.default_rng(2)
X = RNG.normal(size=(60, 50, 4))
W = RNG.integers(1, 5, X.shape).astype(float)


@pytest.fixture(params=[(60, 50, 4), (7, 13, 2), (1, 50, 4)], ids=str)
def chunked(request):
    return da.from_array(X, chunks=request.param), da.from_array(W, chunks=request.param)


@pytest.mark.parametrize("bins, limits", [(10, None), (33, (-2, 2)), (np.array([-3, -1, 0, 2.5]), None)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("density", [None, True])
def test_histogram(chunked, bins, limits, weighted, density):
    x, w = chunked
    options = dict(bins=bins, range=limits, density=density)
    ours = dask.compute(*hd.histogram(x, weights=w if weighted else None, **options))
    numpys = np.histogram(X, weights=W if weighted else None, **options)
    assert ours[0].dtype == numpys[0].dtype
    assert np.allclose(ours[0], numpys[0], rtol=1e-15) and np.array_equal(ours[1], numpys[1])
    if not density:
        assert np.array_equal(ours[0], numpys[0])


@pytest.mark.parametrize("axis", [0, -1, (0, 2), (1, 0)])
def test_histogram_along_axes(chunked, axis):
    counts, edges = hd.histogram(chunked[0], 9, (-3, 3), axis=axis)
    want = histo.histogram(X, 9, (-3, 3), axis=axis)[0]
    assert counts.shape == want.shape and np.array_equal(counts.compute(), want)


def test_nothing_is_computed_early():
    def fail(block):
        raise RuntimeError("computed")

    x = da.from_array(X, chunks=10).map_blocks(fail, meta=np.empty((0, 0, 0)))
    hd.histogram(x)
    hd.fill(histo.Histogram(histo.Regular(3, 0, 1)), x)
    with pytest.raises(RuntimeError, match="computed"):
        hd.histogram(x)[0].compute()


def test_two_and_more_dimensions(chunked):
    x, w = (a.ravel() for a in chunked)
    y = x * 2 + 1
    counts, ex, ey = dask.compute(*hd.histogram2d(x, y, [5, np.array([-4, 0, 1, 5.0])], weights=w))
    want = np.histogram2d(X.ravel(), X.ravel() * 2 + 1, [5, np.array([-4, 0, 1, 5.0])], weights=W.ravel())
    assert np.array_equal(counts, want[0]) and np.array_equal(ex, want[1]) and np.array_equal(ey, want[2])
    sample = da.stack([x, y, -x], axis=1)
    counts, edges = hd.histogramdd(sample, 4, [(-2, 2)] * 3, density=True)
    want = np.histogramdd(np.stack([X.ravel(), X.ravel() * 2 + 1, -X.ravel()], axis=1), 4, [(-2, 2)] * 3, density=True)
    assert np.allclose(counts.compute(), want[0], rtol=1e-14)


@pytest.mark.parametrize("split_every", [2, 8])
@pytest.mark.parametrize("storage", ["int64", "weight", "exact_double"])
def test_fill(chunked, storage, split_every):
    x, w = chunked
    before = histo.Histogram(histo.Regular(20, -3, 3, name="x"), histo.Boolean(), storage=storage)
    options = {} if storage == "int64" else {"weight": W}
    before.fill([0.1], [True], **({} if storage == "int64" else {"weight": [2.0]}))
    want = before.copy().fill(X, X > 0, mask=X < 2, **options)
    lazy = hd.fill(before, x, x > 0, mask=x < 2, split_every=split_every, **({} if not options else {"weight": w}))
    assert lazy.compute() == want
    assert before.tally.samples == 1

def test_functions_are_lazy_for_lazy_samples():
    x, w = da.from_array(X, chunks=30), da.from_array(W, chunks=20)
    for call, *args in (
        (histo.histogram, x, 10, (-1, 1)),
        (histo.histogram2d, x.ravel(), 2 * x.ravel(), 5),
        (histo.histogramdd, [x.ravel(), x.ravel()], 5),
    ):
        counts = call(*args, weights=w if call is histo.histogram else w.ravel())[0]
        assert isinstance(counts, da.Array)
        again = dask.compute(*args)
        assert np.array_equal(counts.compute(), call(*again, weights=W if call is histo.histogram else W.ravel())[0])
    with pytest.raises(TypeError, match="threads"):
        histo.histogram(x, threads=1)


@pytest.mark.parametrize("dtype", ["i1", "u2", "f4", "c16"])
def test_sums_have_the_dtype_of_the_weights(dtype):
    w = (W * 50).astype(dtype)
    ours, _ = hd.histogram(da.from_array(X, chunks=20), 6, (-2, 2), weights=da.from_array(w, chunks=20))
    want = histo.histogram(X, 6, (-2, 2), weights=w)[0]
    assert ours.dtype == ours.compute().dtype == want.dtype and np.allclose(ours.compute(), want, rtol=1e-6)


def test_histograms_are_filled_with_lazy_samples():
    x, w = da.from_array(X, chunks=30), da.from_array(W, chunks=20)
    h = histo.Histogram(histo.Regular(20, -3, 3, name="x"), histo.Category(["low"], growth=True, name="kind"))
    kind = x.map_blocks(lambda block: np.where(block > 0, "high", "low"), dtype="U4")
    assert h.fill(x, kind, weight=w, mask=x < 2, where=(x, -1, 1)) is h
    assert h.fill(kind=kind, x=x) is h
    want = histo.Histogram(histo.Regular(20, -3, 3, name="x"), histo.Category(["low"], growth=True, name="kind"))
    want.fill(X, np.where(X > 0, "high", "low"), weight=W, mask=X < 2, where=(X, -1, 1))
    want.fill(X, np.where(X > 0, "high", "low"))
    assert h[:, want.axes[1].categories] == want
    with pytest.raises(ValueError):
        h.fill(x[:10], x[:3])
    with pytest.raises(ValueError, match="axis="):
        histo.Histogram(histo.Regular(20, -3, 3), batch=60).fill(x)


# ---- Dataframes ----


@pytest.fixture
def table():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    n = 1000
    frame = pd.DataFrame({"x": RNG.normal(size=n), "y": RNG.integers(0, 9, n), "w": RNG.random(n),
                          "kind": RNG.choice(list("abc"), n)})
    frame["maybe"] = frame.y.astype("Int64").mask(frame.x > 1)
    frame["labelled"] = frame.kind.astype("category")
    return frame, dd.from_pandas(frame, npartitions=7)


def test_columns(table):
    frame, lazy = table
    counts, edges = dask.compute(*hd.histogram(lazy.x, 10))
    want = np.histogram(frame.x, 10)
    assert np.array_equal(counts, want[0]) and np.array_equal(edges, want[1])
    counts, edges = dask.compute(*hd.histogram(lazy[lazy.y > 3].x, 10, (-1, 1), weights=lazy[lazy.y > 3].w, density=True))
    want = np.histogram(frame[frame.y > 3].x, 10, (-1, 1), weights=frame[frame.y > 3].w, density=True)
    assert np.allclose(counts, want[0], rtol=1e-14)
    assert np.array_equal(hd.histogram2d(lazy.x, lazy.y, 5, weights=2)[0].compute(),
                          np.histogram2d(frame.x, frame.y, 5, weights=np.full(1000, 2))[0])
    assert np.array_equal(hd.histogramdd(lazy[["x", "y"]], 5)[0].compute(), np.histogramdd(frame[["x", "y"]].to_numpy(), 5)[0])
    assert np.array_equal(histo.histogram(lazy.x, 10)[0].compute(), np.histogram(frame.x, 10)[0])


@pytest.mark.parametrize("kind", ["kind", "labelled"])
def test_fill_with_columns(table, kind):
    frame, lazy = table
    axes = histo.Regular(10, -2, 2), histo.Category(growth=True), histo.Integer(0, 9)
    h = histo.Histogram(*axes, storage="exact_weight")
    ours = h.copy().fill(lazy.x, lazy[kind], lazy.maybe, weight=lazy.w)
    want = h.copy().fill(frame.x, frame[kind], frame.maybe, weight=frame.w)
    assert ours.axes[1].size == 3 and ours.tally.masked == (frame.x > 1).sum() > 0
    assert ours[:, ["a", "b", "c"], :] == want[:, ["a", "b", "c"], :]
    with pytest.raises((TypeError, ValueError), match="partitions|columns"):
        h.fill(lazy.x, lazy[kind].repartition(npartitions=2), 1, weight=1)
    with pytest.raises(TypeError, match="columns"):
        h.fill(lazy.x, "a", np.ones(1000), weight=1)


# ---- Workers ----


LOST = """
import os, signal, time
import dask.array as da, numpy as np
from distributed import Client, LocalCluster
import histo, histo.dask as hd

def slow(block, block_info=None):
    time.sleep(0.05)
    return block

if __name__ == "__main__":
    x = np.random.default_rng(7).normal(size=40_000)
    w = x * 10.0 ** np.random.default_rng(8).integers(-20, 20, x.size)
    lazy = [da.from_array(a, chunks=1000).map_blocks(slow) for a in (x, w)]
    empty = histo.Histogram(histo.Regular(50, -3, 3), storage="exact_weight")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        future = client.compute(hd.fill(empty, lazy[0], weight=lazy[1]))
        counts = client.compute(hd.histogram(lazy[0], 50, (-3, 3))[0])
        time.sleep(0.8)
        assert future.status == "pending"
        os.kill(cluster.workers[0].pid, signal.SIGKILL)
        h, counts = future.result(timeout=120), counts.result(timeout=120)
    want = empty.copy().fill(x, weight=w)
    assert h == want and h._save(1) == want._save(1) and h.tally == want.tally
    assert np.array_equal(counts, np.histogram(x, 50, (-3, 3))[0])
    print("equal")
"""


def test_killed_workers(tmp_path):
    """What lost workers had counted is counted again, and once."""
    pytest.importorskip("distributed")
    script = tmp_path / "lost.py"
    script.write_text(LOST)
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert run.stdout == "equal\n", run.stderr[-4000:]


BOUNDED = """
import resource, sys
import dask, dask.array as da, numpy as np
import histo, histo.dask as hd

blocks = int(sys.argv[1])
x = da.random.default_rng(1).random((blocks, 1 << 18), chunks=(1, -1))
with dask.config.set(scheduler="threads", num_workers=2):
    hd.histogram(x, 1 << 18, (0, 1))[0].compute()
    hd.fill(histo.Histogram(histo.Regular(1 << 18, 0, 1)), x).compute()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
"""


def test_memory_does_not_grow_with_the_blocks():
    """128 blocks of 2 MiB and their histograms of 2 MiB take little more memory than 32 of each."""
    few, many = (int(subprocess.run([sys.executable, "-c", BOUNDED, str(n)], capture_output=True, text=True,
                                    check=True).stdout) for n in (32, 128))
    assert many < few + 50, (few, many)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: hd.histogram2d(x.ravel(), x.ravel(), "auto"), TypeError),
        (lambda x: hd.histogramdd((x, x), [3]), ValueError),
        (lambda x: hd.fill(histo.Histogram(histo.Regular(3, 0, 1), batch=2), x), ValueError),
        (lambda x: hd.histogram(x, 5, (2, 1)), ValueError),
    ],
)
def test_refusals(call, error):
    with pytest.raises(error):
        call(da.from_array(X, chunks=20))


# ---- As of arrays ----


@pytest.mark.parametrize("axis", [None, 0, (0, 2)])
@pytest.mark.parametrize("flow", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_masks_flow_and_dtypes(chunked, axis, flow, weighted):
    x, w = chunked
    for mask, bins, limits in ((X > 0, 7, None), (RNG.random((50, 1)) < 0.5, 7, (-1, 1)),
                               (np.ones(4, bool), [-2, 0, 0.5], None)):
        for lazy in (mask, da.from_array(mask, chunks=30)):
            more = {"axis": axis, "flow": flow, "dtype": "f4"}
            want = histo.histogram(X, bins, limits, weights=W if weighted else None, mask=mask, **more)
            ours = hd.histogram(x, bins, limits, weights=w if weighted else None, mask=lazy, **more)
            assert ours[0].shape == want[0].shape
            assert ours[0].dtype == want[0].dtype == np.float32
            for mine, theirs in zip(dask.compute(*ours, scheduler="sync"), want, strict=True):
                assert np.array_equal(mine, theirs)
    with pytest.raises(ValueError, match="a density has no flow"):
        hd.histogram(x, 3, density=True, flow=True)
    with pytest.raises(ValueError):
        hd.histogram(x, 3, mask=np.ones(7, bool))


def test_masks_and_flow_of_several_axes(chunked):
    x = chunked[0].ravel()
    flat, mask = X.ravel(), RNG.random(X.size) < 0.4
    want = histo.histogram2d(flat, flat * 2, (3, [-1, 0, 1]), mask=mask, flow=True, dtype="i4")
    ours = dask.compute(*hd.histogram2d(x, x * 2, (3, [-1, 0, 1]), mask=mask, flow=True, dtype="i4"))
    for a, b in zip(ours, want, strict=True):
        assert a.dtype == b.dtype and np.array_equal(a, b)
    with pytest.raises(TypeError, match="several axes"):
        hd.histogram2d(x, x, "auto")


RULES = ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", ">f8", "?"])
def test_rules(rule, dtype):
    values = (RNG.normal(size=(70, 30)) * 20 + 100).astype(dtype)
    x = da.from_array(values, chunks=(30, 30))
    mask = values > np.median(values) if dtype != "?" else RNG.random(values.shape) < 0.5
    for limits, kept in ((None, None), (None, mask), ((80, 130), mask), ((da.from_array(np.array(90.0)), 120), None)):
        given = None if limits is None else tuple(float(end) for end in limits)
        want = histo.histogram(values, rule, given, mask=kept, flow=True)
        lazy = *hd.histogram(x, rule, limits, mask=kept, flow=True), hd.histogram_bin_edges(x, rule, limits, mask=kept)
        counts, edges, alone = dask.compute(*lazy, scheduler="sync")
        assert np.array_equal(counts, want[0])
        for found in (edges, alone):
            assert np.array_equal(found, want[1])
            assert found.dtype == want[1].dtype
    density, along = dask.compute(hd.histogram(x, rule, density=True)[0], hd.histogram(x, rule, axis=1)[0],
                                  scheduler="sync")
    assert np.allclose(density, histo.histogram(values, rule, density=True)[0])
    assert np.array_equal(along, histo.histogram(values, rule, axis=1)[0])


def test_rules_of_few_samples():
    for values in ([], [3.0], [5, 5, 5]):
        x = da.from_array(np.array(values), chunks=2)
        for rule in RULES:
            ours = dask.compute(*hd.histogram(x, rule))
            want = histo.histogram(np.array(values), rule)
            assert np.array_equal(ours[0], want[0]) and np.array_equal(ours[1], want[1])
    nothing = hd.histogram(da.from_array(X, chunks=30), 4, mask=X > 1e9)
    assert [a.tolist() for a in dask.compute(*nothing)] == [[0, 0, 0, 0], [0, 0.25, 0.5, 0.75, 1]]


def test_refused_rules():
    x = da.from_array(X, chunks=30)
    for arguments, error, message in (
        ((x, "best"), ValueError, "'best' is not a valid estimator"),
        ((x, "auto", None, None, X), TypeError, "not supported for weighted data"),
        ((x.astype("i8").astype("M8[s]"), "auto"), TypeError, "dates"),
        ((x, None), TypeError, "the name of a rule"),
    ):
        with pytest.raises(error, match=message):
            hd.histogram(*arguments)
    with pytest.raises(ValueError, match="not finite"):
        hd.histogram(da.from_array(np.array([1, np.nan]), chunks=1), "fd")[0].compute()


def test_columns_with_masks_and_rules():
    import dask.dataframe as dd
    import pandas as pd

    values = RNG.normal(size=200)
    table = pd.DataFrame({"x": pd.array(values, "Float64"), "keep": RNG.random(200) < 0.7})
    table.loc[::7, "x"] = pd.NA
    lazy = dd.from_pandas(table, npartitions=3)
    kept = table["keep"].to_numpy() & table["x"].notna().to_numpy()
    for bins in (6, "auto", "stone"):
        ours = dask.compute(*hd.histogram(lazy["x"], bins, mask=lazy["keep"], flow=True))
        want = histo.histogram(values[kept], bins, flow=True)
        assert np.array_equal(ours[0], want[0]) and np.array_equal(ours[1], want[1])


@pytest.mark.parametrize("rule", ["auto", "stone", "scott"])
def test_rules_of_xarray(rule):
    import xarray as xr

    whole = xr.DataArray(X, dims=("a", "b", "c"), name="x")
    lazy = histo.xarray.histogram(whole.chunk(a=7), bins=rule, dim=("a", "b"))
    assert lazy.equals(histo.xarray.histogram(whole, bins=rule, dim=("a", "b")))


def test_surveys_in_parts_refuse_what_is_no_part():
    for passes, parts in (((b"x",), ()), ((), (b"x",)), ((3,), ()), ((), (None,))):
        with pytest.raises((ValueError, TypeError)):
            histo._histo.survey_merge("f64", "fd", 0.0, 1.0, passes, parts)
    with pytest.raises(ValueError, match="rule"):
        histo._histo.survey_part("f64", "best", 0.0, 1.0, (), np.zeros(3), None)
    with pytest.raises(TypeError):
        histo._histo.survey_part("f64", "fd", 0.0, 1.0, (), "x", None)
    assert histo._histo.survey_bins("f64", "fd", 0.0, 1.0, ()) is None
