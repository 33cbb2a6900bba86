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

import torch_calls

import histo.torch as ours
from histo import rules

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


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
def test_histc_of_integers_does_not_wrap(dtype):
    x = torch.arange(200_000).remainder(2).to(dtype)
    for call in ours.histc, torch.compile(ours.histc, backend="eager", fullgraph=True):
        found = call(x, 2, 0, 2)
        assert found.dtype == (dtype if dtype in (torch.int32, torch.int64) else torch.int64)
        assert found.tolist() == [100_000, 100_000]
    torch.library.opcheck(torch.ops.histo.histc, (x, 2, 0.0, 2.0))


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


@pytest.mark.parametrize("weights", [None, torch.arange(5.0), torch.arange(5)])
def test_bincount_of_length(weights):
    x = torch.tensor([3, 1, 3, 0, 7])
    for length in (8, 20):
        for minlength in (0, 8):
            found = ours.bincount(x, weights, minlength, length=length)
            expected = torch.bincount(x, weights, length)
            assert found.dtype == expected.dtype and torch.equal(found, expected)
    for wrong, length, said in ((x, 7, "length is 7"), (x, 0, "length is 0"), (x, -1, "length should be"),
                                (x - 1, 20, "non-negative")):
        with pytest.raises(RuntimeError, match=said):
            ours.bincount(wrong, weights, length=length)
    with pytest.raises(RuntimeError, match="minlength"):
        ours.bincount(x, weights, 9, length=8)
    assert ours.bincount(x[:0], length=3).tolist() == [0, 0, 0]
    assert ours.bincount(x[:0], length=0).tolist() == []


def test_bincount_of_no_numbers():
    """Its dtype does not depend on how many there are."""
    none = torch.zeros(0, dtype=torch.int64)
    for dtype in (torch.float32, torch.float64, torch.int64):
        some, no_weights = torch.zeros(4, dtype=dtype), torch.zeros(0, dtype=dtype)
        assert ours.bincount(none, no_weights, 3).dtype == torch.bincount(torch.arange(4), some).dtype


# ---- fill_


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.float64])
@pytest.mark.parametrize("of", FLOATS)
def test_fill(dtype, of):
    hist, x, y = torch.full((10,), 7, dtype=dtype), normal(1000, of), normal(10, of).reshape(5, 2)
    at = hist.data_ptr()
    assert ours.fill_(hist, x, range=(-1, 1)) is hist and hist.data_ptr() == at
    ours.fill_(hist, y, torch.linspace(-1, 1, 11, dtype=torch.float64).to(of))
    expected = 7 + torch.histc(x.double(), 10, -1, 1)
    expected += torch.histogram(y.double(), torch.linspace(-1, 1, 11, dtype=torch.float64).to(of).double()).hist
    assert torch.equal(hist.double(), expected)


def test_fill_with_weights_and_axes():
    sample, w = normal(2000).reshape(20, 50, 2), torch.rand(20, 50, dtype=torch.float64)
    hist = torch.zeros(6, 8, dtype=torch.float64)[::2, ::2]  # strides do not matter
    for _ in range(2):
        ours.fill_(hist, sample, range=(-1, 1, 0, 2), weight=w)
    expected = torch.histogramdd(sample, [3, 4], range=(-1, 1, 0, 2), weight=w).hist
    assert torch.allclose(hist, 2 * expected)
    edges = [torch.linspace(-1, 1, 4, dtype=torch.float64), torch.linspace(0, 2, 5, dtype=torch.float64)]
    ours.fill_(hist, sample, edges, weight=w)
    assert torch.allclose(hist, 3 * expected)
    confusion = torch.zeros(3, 3, dtype=torch.int64)
    ours.fill_(confusion, torch.tensor([[0, 0], [2, 1], [2, 1], [3, 0]]), range=(-0.5, 2.5) * 2)
    assert confusion.tolist() == [[1, 0, 0], [0, 0, 0], [0, 2, 0]]


def test_edges_beyond_float64():
    x = torch.tensor([2**53, 2**53 + 1, 2**53 + 2])
    edges = torch.tensor([2**53, 2**53 + 1, 2**53 + 3])
    assert ours.histogram(x, edges).hist.tolist() == ours.fill_(torch.zeros(2), x, edges).tolist() == [1, 2]


def test_errors_of_fill():
    x, xy, e = normal(10), normal(10).reshape(5, 2), torch.arange(4).double()
    hist = {d: torch.zeros(3, dtype=d) for d in (torch.int64, torch.float32, torch.int32, torch.float16)}
    whole, real = hist[torch.int64], hist[torch.float32]
    for call, said in (
        (lambda: ours.fill_(hist[torch.int32], x, range=(0, 1)), "float32 or float64, or of int64"),
        (lambda: ours.fill_(hist[torch.float16], x, range=(0, 1)), "float32 or float64, or of int64"),
        (lambda: ours.fill_(whole, x, range=(0, 1), weight=x), "int64 without weight"),
        (lambda: ours.fill_(real, x), "either bins or range"),
        (lambda: ours.fill_(real, x, e, range=(0, 1)), "either bins or range"),
        (lambda: ours.fill_(real, x, range=(1, 1)), "two finite ends"),
        (lambda: ours.fill_(real, x, range=(0, float("inf"))), "two finite ends"),
        (lambda: ours.fill_(real, x, range=(0, 1, 2, 3)), "two finite ends"),
        (lambda: ours.fill_(real, x, e[:3]), "one edge more"),
        (lambda: ours.fill_(real, x, [e, e]), "one edge more"),
        (lambda: ours.fill_(real, x, e.float()), "dtype of the samples"),
        (lambda: ours.fill_(real, x, [3]), "tensors of edges"),
        (lambda: ours.fill_(real, x, range=(0, 1), weight=x[:5]), "shape of the samples"),
        (lambda: ours.fill_(torch.zeros(3, 3, 3), xy, range=(0, 1) * 3), "a coordinate for every dimension"),
        (lambda: ours.fill_(torch.zeros(()), x, range=(0, 1)), "a coordinate for every dimension"),
        (lambda: ours.fill_(real.to("meta"), x, range=(0, 1)), "hist is on meta"),
        (lambda: ours.fill_(real, x, e.flip(0)), "must not decrease"),
    ):
        with pytest.raises((RuntimeError, ValueError), match=said):
            call()
    assert not any(h.any() for h in hist.values())


# ---- torch.compile


@pytest.mark.parametrize("name", torch_calls.CALLS)
def test_compiled(name):
    torch_calls.check_compiled(name, "cpu", "aot_eager")


@pytest.mark.parametrize("case", torch_calls.OPERATORS, ids=lambda case: case[0])
def test_operators(case):
    torch_calls.check_operator(case, "cpu")


def test_compiled_by_inductor():
    """One graph, since it takes a minute without a cache."""
    def step(hist, x, i):
        ours.fill_(hist, x * 2, range=(-1, 1))
        n, m = ours.bincount(i), ours.bincount(i, length=60)
        return ours.histc(x, 4, -1, 1) + 1, ours.histogram(x, 4).hist, n * 2, n.sum(), m, hist + 1

    x, i = normal(100), torch.randint(0, 50, (100,))
    hists = torch.zeros(2, 5, dtype=torch.int64)
    torch._dynamo.reset()
    compiled = torch.compile(step, fullgraph=True)
    for _ in range(2):
        for f, e in zip(compiled(hists[0], x, i), step(hists[1], x, i), strict=True):
            assert f.dtype == e.dtype and torch.equal(f, e)
        assert torch.equal(hists[0], hists[1]) and hists[0].any()


def test_shapes_that_change():
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph

    def step(x, bins):
        hist = torch.zeros(bins, dtype=torch.int64)
        ours.fill_(hist, x, range=(-1, 1))
        n = ours.bincount((x > 0).long(), length=bins)
        return ours.histc(x, bins, -1, 1), ours.histogram(x, bins).hist, n, hist

    compiled = torch.compile(step, fullgraph=True, dynamic=True, backend=backend)
    for samples, bins in ((1000, 10), (500, 7), (33, 5)):
        x = normal(samples)
        assert all(torch.equal(f, e) for f, e in zip(compiled(x, bins), step(x, bins)))
    assert len(graphs) == 1


def test_sizes_that_depend_on_data():
    def step(i, w):
        some = i > 3
        n = ours.bincount(i[some], w[some], 2)
        return n * 2, n.shape[0], n.sum(), ours.histogram(w[some], 5, range=(0, 1), weight=w[some]).hist

    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    for largest in (5, 50, 2):
        i, w = torch.randint(0, largest, (100,)), torch.rand(100, dtype=torch.float64)
        for f, e in zip(compiled(i, w), step(i, w), strict=True):
            assert torch.equal(f, e) if isinstance(e, torch.Tensor) else f == e


def test_errors_of_what_is_compiled():
    compiled = torch.compile(lambda i: ours.bincount(i, length=5), fullgraph=True, backend="aot_eager")
    assert compiled(torch.tensor([4, 1])).tolist() == [0, 1, 0, 0, 1]
    with pytest.raises(RuntimeError, match="length is 5"):
        compiled(torch.tensor([4, 5]))
    hist = torch.zeros(3)
    with pytest.raises(Exception, match="two finite ends"):
        torch.compile(lambda h, x: ours.fill_(h, x, range=(1, 1)), fullgraph=True, backend="aot_eager")(hist, normal(5))
    assert not hist.any()


@pytest.mark.parametrize("compiled", [False, True])
def test_no_gradients(compiled):
    """Those of all else are as they were."""
    def loss(p, q):
        hist = ours.fill_(torch.zeros(5, dtype=torch.float64), p, range=(-1, 1), weight=q)
        counts = ours.histc(p, 5, -1, 1), ours.histogram(p, 5, weight=q).hist, ours.bincount(torch.arange(10), q), hist
        return (p * q).sum() + sum(c.sum() for c in counts), counts

    p, q = normal(10).requires_grad_(), torch.rand(10, dtype=torch.float64, requires_grad=True)
    run = torch.compile(loss, fullgraph=True, backend="aot_eager") if compiled else loss
    value, counts = run(p, q)
    assert not any(c.requires_grad for c in counts)
    value.backward()
    assert torch.equal(p.grad, q) and torch.equal(q.grad, p)


def test_other_tracers():
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    class Module(torch.nn.Module):
        def forward(self, x):
            return ours.histc(x, 10, -1, 1), ours.bincount((x > 0).long(), length=2), ours.histogram(x, 4).hist

    x, other, module = normal(100), normal(100), Module()
    for strict in (False, True):
        program = torch.export.export(module, (x,), strict=strict)
        assert all(torch.equal(f, e) for f, e in zip(program.module()(other), module(other), strict=True))
        assert sum("histo" in str(node.target) for node in program.graph.nodes) == 3
    graph = make_fx(module)(x)
    assert all(torch.equal(f, e) for f, e in zip(graph(other), module(other), strict=True))
    with FakeTensorMode():
        assert ours.histc(torch.randn(5), 7, 0, 1).shape == (7,)
        assert ours.fill_(torch.zeros(3), torch.randn(5), range=(0, 1)).shape == (3,)


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


def test_densities_of_tensors():
    """What histo.histogram makes of counts in the memory of a GPU."""
    edges = np.array([0.0, 1, 3, 7])
    counts = np.array([[1, 2, 3], [4, 5, 0]])
    ours = rules.densities(torch.from_numpy(counts), [edges], torch.from_numpy)
    assert ours.dtype == torch.float64
    np.testing.assert_array_equal(ours.numpy(), rules.densities(counts, [edges]))
