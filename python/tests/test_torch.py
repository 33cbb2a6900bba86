"""histo.torch beside PyTorch, and tensors in host memory. Skipped, which pytest's summary says, without PyTorch."""

import warnings

import numpy as np
import pytest

import histo

try:
    import torch
except ImportError:
    warnings.warn("NOTHING OF histo.torch IS TESTED: PyTorch is not installed", stacklevel=1)
    pytest.skip("PyTorch is not installed", allow_module_level=True)

import histo.torch as ours

RANDOM = np.random.default_rng(4)
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def normal(n, dtype=torch.float64):
    return torch.from_numpy(RANDOM.normal(size=n)).to(dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [0, 1, 5, 1000])
@pytest.mark.parametrize("arguments", [(10,), (7, -1, 1), (5, 0.25, 0.25), (3, 2, 2), (4, -0.5)])
def test_histc(dtype, n, arguments):
    x = normal(n, dtype)
    found = ours.histc(x, *arguments)
    # In these dtypes, PyTorch rounds the bins of samples; in halves, also the counts.
    expected = torch.histc(x.double(), *arguments).to(dtype)
    assert found.dtype == dtype and found.shape == expected.shape
    assert (found.double() - expected.double()).abs().sum() <= (2 if dtype == torch.float32 else 0)


def test_histc_into_out():
    x, out = normal(1000), torch.zeros(3, dtype=torch.float64)
    assert ours.histc(x, 10, -1, 1, out=out) is out
    assert torch.equal(out, torch.histc(x, 10, -1, 1))


@pytest.mark.parametrize("arguments", [(0,), (10, 1, 0), (10, 0, float("inf"))])
def test_errors_of_histc(arguments):
    with pytest.raises(RuntimeError):
        torch.histc(normal(5), *arguments)
    with pytest.raises(RuntimeError):
        ours.histc(normal(5), *arguments)


def test_nan():
    x = torch.tensor([1.0, float("nan"), 2.0])
    assert ours.histc(x, 2, 0, 2).tolist() == [0, 2]
    with pytest.raises(RuntimeError, match="not finite"):
        ours.histc(x)


@pytest.mark.parametrize("dtype", FLOATS[:2])
@pytest.mark.parametrize("n", [0, 1, 2, 1000])
@pytest.mark.parametrize("options", [
    {}, {"range": (-1.0, 1.0)}, {"range": (0.5, 0.5)}, {"density": True}, {"weight": True},
    {"weight": True, "density": True}, {"bins": [-1.0, 0.0, 0.1, 3.0]},
], ids=str)
def test_histogram(dtype, n, options):
    x, options = normal(n, dtype), dict(options)
    bins = torch.tensor(options.pop("bins"), dtype=dtype) if "bins" in options else 5
    if "weight" in options:
        options["weight"] = torch.from_numpy(RANDOM.random(n)).to(dtype)
    found, expected = ours.histogram(x, bins, **options), torch.histogram(x, bins, **options)
    assert found.hist.dtype == dtype and torch.equal(found.bin_edges, expected.bin_edges)
    assert torch.allclose(found.hist, expected.hist, equal_nan=True)


@pytest.mark.parametrize("options", [{}, {"range": (-1.0, 1.0, 0.0, 2.0)}, {"density": True}, {"weight": True}], ids=str)
def test_histogramdd(options):
    x, options = normal(2000).reshape(1000, 2), dict(options)
    if "weight" in options:
        options["weight"] = torch.from_numpy(RANDOM.random(1000))
    for bins in ([4, 5], [torch.tensor([-1.0, 0.0, 2.0]).double(), torch.tensor([-2.0, 2.0]).double()]):
        if "range" in options and not isinstance(bins[0], int):
            continue
        found, expected = ours.histogramdd(x, bins, **options), torch.histogramdd(x, bins, **options)
        assert all(torch.equal(f, e) for f, e in zip(found.bin_edges, expected.bin_edges))
        assert torch.allclose(found.hist, expected.hist)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
@pytest.mark.parametrize("minlength", [0, 100])
def test_bincount(dtype, minlength):
    x = torch.from_numpy(RANDOM.integers(0, 50, 1000)).to(dtype)
    for weights in (None, torch.rand(1000), torch.rand(1000).double(), torch.randint(0, 9, (1000,))):
        found, expected = ours.bincount(x, weights, minlength), torch.bincount(x, weights, minlength)
        assert found.dtype == expected.dtype and torch.allclose(found, expected)
    assert torch.equal(ours.bincount(x[:0], None, minlength), torch.bincount(x[:0], None, minlength))
    for wrong in (torch.tensor([-1, 2]), torch.rand(5), torch.zeros(2, 2, dtype=torch.int64)):
        with pytest.raises(RuntimeError):
            ours.bincount(wrong)


# ---- Tensors in the package's other functions


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool])
def test_tensors_are_read_where_they_are(dtype):
    x = (normal(1000) * 3).to(dtype)
    h = histo.Histogram(histo.Regular(8, -4.3, 3.7)).fill(x)
    assert np.array_equal(h.values(), np.histogram(x.double().numpy(), 8, (-4.3, 3.7))[0])


def test_strides_of_tensors():
    x = normal(6000).reshape(10, 20, 30)
    for view in (x[::2, 1:, 3::4], x.permute(2, 0, 1), x[0, 0, 0], x.expand(3, 10, 20, 30)):
        assert np.array_equal(histo.histogram(view, 5, (-1, 1))[0], np.histogram(view.numpy(), 5, (-1, 1))[0])


def test_values_into_a_tensor():
    h = histo.Histogram(histo.Regular(5, -1, 1)).fill(normal(1000))
    for dtype in (torch.int64, torch.float32, torch.float64):
        out = torch.zeros(5, dtype=dtype)
        assert h.values(out=out) is out and np.array_equal(out.numpy(), h.values())
    for out in (torch.zeros(4), torch.zeros(10)[::2], torch.zeros(5, dtype=torch.int8)):
        with pytest.raises(ValueError):
            h.values(out=out)


@pytest.mark.parametrize("wrong", [
    torch.zeros(3, dtype=torch.complex64), torch.zeros(3, device="meta"), torch.eye(3).to_sparse(),
], ids=["complex", "meta", "sparse"])
def test_tensors_without_numbers(wrong):
    for call in (lambda: histo.Histogram(histo.Regular(5, 0, 1)).fill(wrong), lambda: ours.histc(wrong, 5, 0, 1)):
        with pytest.raises((TypeError, RuntimeError, BufferError)):
            call()


def test_tensors_are_let_go():
    import gc
    import sys

    x = normal(1000)
    count = sys.getrefcount(x)
    for _ in range(50):
        histo.histogram(x, 5, (-1, 1))
        ours.histc(x, 5, -1, 1)
        histo.Histogram(histo.Regular(5, -1, 1)).fill(x, weight=x)
    gc.collect()
    assert sys.getrefcount(x) == count


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float16])
def test_narrow_floats_in_all_functions(dtype):
    """Those that NumPy does not have are counted as float32, which holds all of their values."""
    x = torch.tensor([0, 1, 1, 3, -1]).to(dtype)
    for limits in ((0, 4), None):
        counts, edges = histo.histogram(x, 4, limits)
        assert counts.tolist() == np.histogram(x.float().numpy(), 4, limits)[0].tolist()
        assert edges.dtype == (np.float16 if dtype == torch.float16 else np.float32)
    assert histo.histogram2d(x, x, [[0, 2, 4]] * 2)[0].tolist() == [[3, 0], [0, 1]]
    h = histo.Histogram(histo.Regular(2, 0, 4), histo.Boolean()).fill(x, x, weight=x)
    assert h.values().tolist() == [[0, 2], [0, 3]]


def test_histograms_of_boosting():
    bins, gradients = torch.tensor([[0, 1], [1, 1], [2, 0]], dtype=torch.uint8), torch.tensor([1.5, -2, 4])
    rows, offsets = torch.tensor([2, 0, 0]), torch.tensor([0, 1, 3])
    want = histo.boosting.histograms(bins.numpy(), gradients.numpy(), None, rows.numpy(), offsets.numpy())
    for layout in (bins, bins.t().contiguous().t()):
        found = histo.boosting.histograms(layout, gradients, None, rows, offsets)
        assert torch.equal(found, torch.from_numpy(want))
    out = torch.zeros(want.shape, dtype=torch.float64)
    assert histo.boosting.histograms(bins, gradients.bfloat16(), None, rows, offsets, out=out) is out
    assert torch.equal(out, torch.from_numpy(want))
