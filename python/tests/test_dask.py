"""Histograms of Dask arrays equal those of the whole arrays, whatever the chunks and workers."""

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


def test_processes():
    distributed = pytest.importorskip("distributed")
    x = da.from_array(X, chunks=17)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, \
            distributed.Client(cluster):
        h = hd.fill(histo.Histogram(histo.Regular(20, -3, 3)), x).compute()
        counts, edges = dask.compute(*hd.histogram(x, 20, (-3, 3)))
    assert np.array_equal(counts, np.histogram(X, edges)[0])
    assert h == histo.Histogram(histo.Regular(20, -3, 3)).fill(X)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: hd.histogram(x, "auto"), TypeError),
        (lambda x: hd.histogramdd((x, x), [3]), ValueError),
        (lambda x: hd.fill(histo.Histogram(histo.Regular(3, 0, 1), batch=2), x), ValueError),
        (lambda x: hd.histogram(x, 5, (2, 1)), ValueError),
    ],
)
def test_refusals(call, error):
    with pytest.raises(error):
        call(da.from_array(X, chunks=20))
