"""histo.xarray beside NumPy, and the same for Dask's blocks."""

import numpy as np
import pytest
import xarray as xr

from histo.xarray import histogram

RNG = np.random.default_rng(4)
A = xr.DataArray(RNG.normal(size=(4, 30, 20)), dims=("time", "y", "x"), coords={"time": [1, 2, 3, 5]}, name="a",
                 attrs={"units": "m"})
B = (A * 2).rename("b")
W = xr.DataArray(RNG.random((30, 20)), dims=("y", "x"), name="w")


@pytest.mark.parametrize("chunks", [None, {"time": 2, "y": 7}])
@pytest.mark.parametrize("weights", [None, W])
@pytest.mark.parametrize("density", [False, True])
def test_along_dimensions(chunks, weights, density):
    a = A if chunks is None else A.chunk(chunks)
    h = histogram(a, bins=8, range=(-2, 2), dim=("x", "y"), weights=weights, density=density)
    assert h.dims == ("time", "a_bin") and h.name == "histogram_a"
    assert h.time.values.tolist() == [1, 2, 3, 5] and h.a_bin.attrs == {"units": "m"}
    assert np.allclose(h.a_bin, np.arange(-1.75, 2, 0.5))
    for t in range(4):
        want = np.histogram(A[t], 8, (-2, 2), density=density, weights=None if weights is None else W)[0]
        assert np.allclose(h[t], want, rtol=1e-12)


def test_joint_and_named_bins():
    edges = np.array([-4.0, -1, 0, 5])
    h = histogram(A, B, bins=[6, edges], range=[(-1, 1), None])
    want = np.histogram2d(A.values.ravel(), B.values.ravel(), [np.linspace(-1, 1, 7), edges])[0]
    assert h.dims == ("a_bin", "b_bin") and np.array_equal(h, want)
    assert np.array_equal(histogram(A, bins="fd"), np.histogram(A, "fd")[0])
    assert histogram(A).sum() == A.size


def test_coordinates():
    a = A.assign_coords(site=("time", list("abcd")), depth=("x", np.arange(20.0)))
    assert "site" not in histogram(a, dim="x").coords
    kept = histogram(a, dim=["x"], keep_coords=True)
    assert kept.site.values.tolist() == list("abcd") and "depth" not in kept.coords


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: histogram(), TypeError),
        (lambda: histogram(A.values), TypeError),
        (lambda: histogram(A.rename(None)), ValueError),
        (lambda: histogram(A, dim="z"), ValueError),
        (lambda: histogram(A, B, bins=[3, 4, 5]), ValueError),
        (lambda: histogram(A, B.isel(x=slice(3))), ValueError),
    ],
)
def test_refusals(call, error):
    with pytest.raises(error):
        call()
