"""Arrays in the memory of GPUs, of CuPy and PyTorch. Without a GPU all of these are skipped, which pytest's summary says;
with HISTO_TEST_GPU=1 they fail instead."""

import gc
import os
import pathlib
import re
import threading
import time
import warnings

import numpy as np
import pytest

import histo

LIBRARIES = []
WHY = []
try:
    import torch

    if torch.cuda.is_available():
        import torch_calls

        LIBRARIES.append("torch")
    else:
        WHY.append("PyTorch finds no GPU")
except ImportError:
    WHY.append("PyTorch is not installed")
try:
    import cupy

    cupy.cuda.runtime.getDeviceCount()
    LIBRARIES.append("cupy")
except ImportError:
    WHY.append("CuPy is not installed")
except Exception:  # of CUDA: there is no driver
    WHY.append("CuPy finds no GPU")

if not LIBRARIES and os.environ.get("HISTO_TEST_GPU") != "1":
    warnings.warn(f"NOTHING IS TESTED ON A GPU: {', '.join(WHY)}", stacklevel=1)
    pytest.skip(f"nothing is tested on a GPU: {', '.join(WHY)}", allow_module_level=True)

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=100_000)
Y = RANDOM.normal(size=X.size)
W = RANDOM.integers(0, 8, X.size) / 4  # sums are exact
MASK = X > -0.5
RANGE = (-2.0, 2.5)
EDGES = np.array([-3, -1, 0, 0.25, 2.0])
DTYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1"]


def test_libraries():
    assert LIBRARIES == ["torch", "cupy"], WHY


def put(library, array, device=0):
    if library == "torch":
        return torch.from_numpy(np.ascontiguousarray(array)).to(f"cuda:{device}")
    with cupy.cuda.Device(device):
        return cupy.asarray(array)


def get(array):
    if isinstance(array, np.ndarray):
        return array
    return array.get() if hasattr(array, "get") else array.cpu().numpy()


def is_there(library, array):
    return isinstance(array, torch.Tensor) and array.is_cuda if library == "torch" else isinstance(array, cupy.ndarray)


def check(library, found, expected):
    assert len(found) == len(expected)
    for f, e in zip(found, expected):
        if isinstance(e, (list, tuple)):
            check(library, f, e)
            continue
        assert is_there(library, f)
        f = get(f)
        assert f.dtype == e.dtype and f.shape == e.shape
        assert np.allclose(f, e, rtol=1e-12, atol=0) if f.dtype.kind == "f" else np.array_equal(f, e)


def samples(dtype):
    scaled = X * 20 if np.dtype(dtype).kind in "iu" else X
    return (np.abs(scaled) if dtype == "u1" else scaled).astype(dtype)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_histogram_of_a_dtype(library, dtype):
    x = samples(dtype)
    there = put(library, x)
    check(library, histo.histogram(there, 30, RANGE), np.histogram(x, 30, RANGE))
    check(library, histo.histogram(there, EDGES), np.histogram(x, EDGES))
    if dtype != "f2":
        check(library, histo.histogram(there, 30), np.histogram(x, 30))


OPTIONS = {
    "plain": {},
    "range": {"range": RANGE},
    "bins": {"bins": 50, "range": RANGE},
    "edges": {"bins": EDGES},
    "list of edges": {"bins": [-1, 0, 1]},
    "density": {"density": True, "range": RANGE},
    "weights": {"weights": W, "range": RANGE},
    "float32 weights": {"weights": W.astype("f4"), "range": RANGE},
    "integer weights": {"weights": (W * 4).astype("i4"), "range": RANGE},
    "complex weights": {"weights": W + 2j * W, "range": RANGE},
    "density of weights": {"weights": W, "density": True, "bins": EDGES},
}


def there_of(library, options):
    return {k: put(library, v) if k in ("weights", "mask") else v for k, v in options.items()}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", OPTIONS)
def test_options_of_histogram(library, name):
    options = OPTIONS[name]
    expected = np.histogram(X, **options)
    if "integer" in name:  # summed in 64 bits
        expected = histo.histogram(X, **options)
    check(library, histo.histogram(put(library, X), **there_of(library, options)), expected)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("rule", ["auto", "fd", "sturges", "sqrt"])
def test_rules(library, rule):
    check(library, histo.histogram(put(library, X), rule), np.histogram(X, rule))
    masked = histo.histogram(put(library, X), rule, mask=put(library, MASK))
    check(library, masked, np.histogram(X[MASK], rule))


@pytest.mark.parametrize("library", LIBRARIES)
def test_rules_of_moments(library):
    with pytest.raises(NotImplementedError, match="copy them from GPU"):
        histo.histogram(put(library, X), "scott")


@pytest.mark.parametrize("library", LIBRARIES)
def test_edges_of_the_caller(library):
    edges = put(library, EDGES)
    counts, returned = histo.histogram(put(library, X), edges)
    assert returned is edges
    assert np.array_equal(get(counts), np.histogram(X, EDGES)[0])


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("options", [{"mask": MASK}, {"mask": MASK, "weights": W}, {"flow": True}, {"threads": 2}])
def test_options_of_ours(library, options):
    options = {**options, "range": RANGE}
    expected = histo.histogram(X, **options)
    check(library, histo.histogram(put(library, X), **there_of(library, options)), expected)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("axis", [0, 1, -1, (0, 2), (0, 1, 2)])
def test_batches(library, axis):
    x = X[:60_000].reshape(10, 60, 100)
    check(library, histo.histogram(put(library, x), 20, RANGE, axis=axis), histo.histogram(x, 20, RANGE, axis=axis))
    density = {"axis": axis, "density": True}
    check(library, histo.histogram(put(library, x), 20, RANGE, **density), histo.histogram(x, 20, RANGE, **density))


@pytest.mark.parametrize("library", LIBRARIES)
def test_strides(library):
    x = X[:60_000].reshape(10, 60, 100)
    for view in (lambda a: a[::2, 1:, 3::4], lambda a: a.swapaxes(0, 2)):
        check(library, histo.histogram(view(put(library, x)), 20, RANGE), np.histogram(view(x), 20, RANGE))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_few(library, n):
    there = put(library, X[:n])
    check(library, histo.histogram(there, 7, (-1, 1)), np.histogram(X[:n], 7, (-1, 1)))
    check(library, histo.histogram(there, 7), np.histogram(X[:n], 7))
    check(library, [histo.bincount(put(library, np.arange(n)))], [np.bincount(np.arange(n))])


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("options", [
    {}, {"range": [RANGE, (-1, 1)]}, {"bins": (20, 30)}, {"bins": [EDGES, EDGES + 1]}, {"bins": EDGES},
    {"weights": W, "range": [RANGE, None]}, {"density": True, "bins": 8}, {"density": True, "bins": [EDGES, EDGES]},
])
def test_two_axes(library, options):
    found = histo.histogram2d(put(library, X), put(library, Y), **there_of(library, options))
    check(library, found, np.histogram2d(X, Y, **options))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("options", [{}, {"range": [RANGE] * 3}, {"weights": W, "bins": (3, 4, 5)}, {"density": True}])
def test_three_axes(library, options):
    sample = np.stack([X, Y, X * Y], axis=-1)
    check(library, histo.histogramdd(put(library, sample), **there_of(library, options)), np.histogramdd(sample, **options))
    columns = [put(library, c) for c in sample.T]
    check(library, histo.histogramdd(columns, **there_of(library, options)), np.histogramdd(sample, **options))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", ["i8", "i4", "i2", "u1"])
def test_bincount(library, dtype):
    x = RANDOM.integers(0, 100, 50_000).astype(dtype)
    there = put(library, x)
    check(library, [histo.bincount(there)], [np.bincount(x)])
    check(library, [histo.bincount(there, minlength=300)], [np.bincount(x, minlength=300)])
    w = W[: x.size]
    check(library, [histo.bincount(there, put(library, w))], [np.bincount(x, w)])
    with pytest.raises(ValueError, match="no negative"):
        histo.bincount(put(library, np.array([1, -1])))


@pytest.mark.parametrize("library", LIBRARIES)
def test_bool(library):
    with pytest.warns(RuntimeWarning, match="Converting input from bool"):
        counts, _ = histo.histogram(put(library, MASK), 2, (0, 1))
    assert get(counts).tolist() == [int((~MASK).sum()), int(MASK.sum())]


@pytest.mark.parametrize("library", LIBRARIES)
def test_on_the_host_if_asked_for(library):
    found = histo.histogram(put(library, X), 30, RANGE, device="cpu")
    assert all(isinstance(a, np.ndarray) for a in found)
    assert np.array_equal(found[0], np.histogram(X, 30, RANGE)[0])
    out = np.zeros(30)
    assert histo.histogram(put(library, X), 30, RANGE, out=out)[0] is out
    assert np.array_equal(out, found[0])


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", ["i8", "f8", "f4", "i4", "i2"])
def test_out(library, dtype):
    out = put(library, np.zeros(30, dtype))
    assert histo.histogram(put(library, X), 30, RANGE, out=out)[0] is out
    assert np.array_equal(get(out), np.histogram(X, 30, RANGE)[0])
    with pytest.raises(ValueError, match="out has the shape"):
        histo.histogram(put(library, X), 31, RANGE, out=out)


# ---- Histogram


@pytest.mark.parametrize("library", LIBRARIES)
def test_fill(library):
    h = histo.Histogram(histo.Regular(30, -2, 2))
    for _ in range(3):
        h.fill(put(library, X), mask=put(library, MASK))
    assert np.array_equal(h.values(), 3 * np.histogram(X[MASK], h.axes[0].edges)[0])
    weighted = histo.Histogram(histo.Regular(30, -2, 2), storage="weight")
    weighted.fill(put(library, X), weight=put(library, W))
    assert np.array_equal(weighted.values()[:-1], np.histogram(X, h.axes[0].edges, weights=W)[0][:-1])


@pytest.mark.parametrize("library", LIBRARIES)
def test_fill_of_both_memories(library):
    h = histo.Histogram(histo.Regular(30, -2, 2))
    h.fill(X).fill(put(library, X)).fill(X)
    assert np.array_equal(h.values()[:-1], 3 * np.histogram(X, h.axes[0].edges)[0][:-1])


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", ["i8", "f8", "f4"])
def test_values_into_the_gpu(library, dtype):
    h = histo.Histogram(histo.Regular(30, -2, 2))
    h.fill(put(library, X))
    out = put(library, np.zeros(30, dtype))
    assert h.values(out=out) is out
    assert np.array_equal(get(out), h.values())
    with pytest.raises(ValueError, match="out must have the shape"):
        h.values(out=put(library, np.zeros(31, dtype)))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_long_fill(library):
    x = RANDOM.random(40_000_000, dtype="f4")
    h = histo.Histogram(histo.Regular(64, 0, 1)).fill(put(library, x))
    assert np.array_equal(h.values(), histo.histogram(x, 64, (0, 1))[0])
    check(library, histo.histogram(put(library, x), 64, (0, 1)), histo.histogram(x, 64, (0, 1)))


# ---- Streams and memory


def many(library):
    """Samples that a stream computes late, are counted, and then overwritten and freed."""
    counts = []
    for i in range(40):
        if library == "torch":
            x = torch.full((1 << 20,), float(i), device="cuda")
            for _ in range(20):
                x = x + 0
            counts.append(histo.histogram(x, 40, (0, 40))[0])
            x.fill_(7)
        else:
            x = cupy.full(1 << 20, float(i))
            for _ in range(20):
                x = x + 0
            counts.append(histo.histogram(x, 40, (0, 40))[0])
            x.fill(7)
        del x
    return [get(c) for c in counts]


@pytest.mark.parametrize("library", LIBRARIES)
def test_streams(library):
    streams = [torch.cuda.Stream() for _ in range(3)] if library == "torch" else [cupy.cuda.Stream(non_blocking=True)
                                                                                  for _ in range(3)]
    for stream in [None, *streams]:
        if stream is None:
            found = many(library)
        elif library == "torch":
            with torch.cuda.stream(stream):
                found = many(library)
        else:
            with stream:
                found = many(library)
        for i, counts in enumerate(found):
            assert counts[i] == 1 << 20 and counts.sum() == 1 << 20


@pytest.mark.parametrize("library", LIBRARIES)
def test_fill_on_streams(library):
    stream = torch.cuda.Stream() if library == "torch" else cupy.cuda.Stream(non_blocking=True)
    h = histo.Histogram(histo.Integer(0, 50))
    with torch.cuda.stream(stream) if library == "torch" else stream:
        for i in range(50):
            x = torch.full((1 << 20,), i, device="cuda") if library == "torch" else cupy.full(1 << 20, i)
            h.fill(x)
            x += 1
            del x
        out = torch.zeros(50, device="cuda") if library == "torch" else cupy.zeros(50, "f4")
        h.values(out=out)
        assert (get(out) == 1 << 20).all()
    assert (h.values() == 1 << 20).all()


@pytest.mark.parametrize("library", LIBRARIES)
def test_threads(library):
    expected = np.histogram(X, 64, RANGE)[0]
    there = put(library, X)
    wrong = []

    def work():
        for bins in (64, 64, 65, 64) * 10:
            counts = get(histo.histogram(there, bins, RANGE)[0])
            if bins == 64 and not np.array_equal(counts, expected):
                wrong.append(counts)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.parametrize("library", LIBRARIES)
def test_many_problems(library):
    """More than the calls for which the module keeps histograms."""
    there = put(library, X)
    for _ in range(2):
        for bins in range(1, 80):
            assert np.array_equal(get(histo.histogram(there, bins, RANGE)[0]), np.histogram(X, bins, RANGE)[0])
    from histo import devices

    devices.empty_cache()
    assert np.array_equal(get(histo.histogram(there, 7, RANGE)[0]), np.histogram(X, 7, RANGE)[0])


@pytest.mark.parametrize("library", LIBRARIES)
def test_compiled_kernels(library):
    there, expected = put(library, X), np.histogram(X, 37, RANGE)
    histo.devices.compile_kernels()
    try:
        check(library, histo.histogram(there, 37, RANGE), expected)
        check(library, histo.histogram(there[:1000], 37, RANGE), np.histogram(X[:1000], 37, RANGE))
    finally:
        histo.devices.compile_kernels(False)


@pytest.mark.parametrize("library", LIBRARIES)
def test_compiled_beside(library):
    """A histogram for each frame, with default options: after some of them, a compiled kernel counts."""
    there, here = put(library, X)[::2], histo.Histogram(histo.Regular(37, *RANGE))
    here.fill(X[::2])
    end = time.monotonic() + 60
    while time.monotonic() < end:
        h = histo.Histogram(histo.Regular(37, *RANGE))
        h.fill(there)
        assert np.array_equal(h.values(), here.values())
        if "kernel: compiled" in h.explain():
            return
    pytest.fail(h.explain())


@pytest.mark.parametrize("library", LIBRARIES)
def test_nothing_is_kept(library):
    there = put(library, np.zeros(1 << 20))
    free = torch.cuda.memory_allocated if library == "torch" else cupy.get_default_memory_pool().used_bytes
    histo.histogram(there, 10, RANGE)
    gc.collect()
    before = free()
    for _ in range(50):
        histo.histogram(put(library, np.zeros(1 << 20)), 10, RANGE)
        histo.Histogram(histo.Regular(5, 0, 1)).fill(put(library, np.zeros(1 << 20)))
    gc.collect()
    assert free() <= before


@pytest.mark.skipif("torch" not in LIBRARIES, reason="needs PyTorch with a GPU")
def test_graph():
    x = torch.zeros(100_000, device="cuda")
    out = torch.zeros(10, device="cuda", dtype=torch.int64)
    histo.histogram(x, 10, (0, 1), out=out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        histo.histogram(x, 10, (0, 1), out=out)
    for k in (1, 3):
        x.copy_(torch.arange(100_000, device="cuda") / 100_000 / k)
        graph.replay()
        assert np.array_equal(get(out), np.histogram(get(x), 10, (0, 1))[0])


# ---- Errors


@pytest.mark.parametrize("library", LIBRARIES)
def test_mixed_memories(library):
    there = put(library, X)
    h = histo.Histogram(histo.Regular(3, 0, 1), storage="weight")
    for call in (
        lambda: histo.histogram(there, 3, RANGE, weights=W),
        lambda: histo.histogram(there, 3, RANGE, mask=MASK),
        lambda: histo.histogram2d(there, Y, 3, [RANGE, RANGE]),
        lambda: h.fill(there, weight=W),
        lambda: h.fill(X, weight=put(library, W)),
        lambda: h.fill(there, mask=MASK),
    ):
        with pytest.raises((ValueError, TypeError)):
            call()
    assert h.fill(there, weight=2.0).sum() is not None  # numbers are of no memory


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_other_gpu(library):
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU")
    other = put(library, X, 1)
    found = histo.histogram(other, 30, RANGE)
    check(library, found, np.histogram(X, 30, RANGE))
    assert (found[0].device.index if library == "torch" else found[0].device.id) == 1
    with pytest.raises(ValueError, match="cuda:"):
        histo.histogram(other, 30, RANGE, weights=put(library, W))
    with pytest.raises(ValueError, match="cuda:"):
        histo.histogram(other, 30, RANGE, device="cuda:0")
    h = histo.Histogram(histo.Regular(30, -2, 2)).fill(other).fill(put(library, X))
    assert np.array_equal(h.values()[:-1], 2 * np.histogram(X, h.axes[0].edges)[0][:-1])
    check(library, histo.histogram(other, 30, RANGE, device="cuda:all"), np.histogram(X, 30, RANGE))


@pytest.mark.parametrize("storage", ["int64", "weight"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_one_histogram_of_several_gpus(library, storage):
    gpus = torch.cuda.device_count()
    if gpus < 2:
        pytest.skip("there is one GPU")
    h, expected = (histo.Histogram(histo.Regular(300, -3, 3), storage=storage) for _ in range(2))
    for _ in range(3):
        for gpu in range(gpus):
            h.fill(put(library, X, gpu), weight=put(library, W, gpu) if storage == "weight" else None)
            expected.fill(X, weight=W if storage == "weight" else None)
        assert np.array_equal(h.values(flow=True), expected.values(flow=True))
        there = put(library, np.zeros(300), gpus - 1)
        h.values(out=there)
        assert np.array_equal(get(there), expected.values())


def test_shared_by_all_gpus():
    pinned = torch.from_numpy(np.tile(X, 100)).pin_memory()
    found = histo.histogram(pinned.numpy(), 30, RANGE, device="cuda:all")
    assert np.array_equal(found[0], np.histogram(np.tile(X, 100), 30, RANGE)[0])


@pytest.mark.parametrize("library", LIBRARIES)
def test_errors(library):
    there = put(library, X)
    for call, error in (
        (lambda: histo.histogram(there, 0), ValueError),
        (lambda: histo.histogram(there, 10, (1, 0)), ValueError),
        (lambda: histo.histogram(put(library, np.array([1.0, np.nan]))), ValueError),
        (lambda: histo.histogram(there, [1, 0]), ValueError),
        (lambda: histo.histogram(put(library, X + 1j), 10, RANGE), TypeError),
        (lambda: histo.histogram(there, 10, weights=there[:5]), ValueError),
        (lambda: histo.bincount(there), TypeError),
        (lambda: histo.Histogram(histo.Regular(3, 0, 1)).fill(there, there), TypeError),
    ):
        with pytest.raises(error):
            call()


class OnlyDLPack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnlyInterface:
    def __init__(self, array, stream):
        self.array, self.stream = array, stream

    @property
    def __cuda_array_interface__(self):
        return {**self.array.__cuda_array_interface__, "stream": self.stream}


@pytest.mark.parametrize("library", LIBRARIES)
def test_other_libraries(library):
    there = put(library, X)
    for array in (OnlyDLPack(there), OnlyInterface(there, None), OnlyInterface(there, 1)):
        assert np.array_equal(get(histo.histogram(array, 30, RANGE)[0]), np.histogram(X, 30, RANGE)[0])
        h = histo.Histogram(histo.Regular(30, *RANGE)).fill(array)
        assert np.array_equal(h.values()[:-1], np.histogram(X, 30, RANGE)[0][:-1])


def test_a_released_capsule():
    class Stale:
        def __init__(self, array):
            self.capsule = array.__dlpack__()

        def __dlpack__(self, **options):
            return self.capsule

        def __dlpack_device__(self):
            return (2, 0)

    stale = Stale(put(LIBRARIES[0], X))
    h = histo.Histogram(histo.Regular(30, *RANGE)).fill(stale)
    with pytest.raises(BufferError, match="no unused tensor"):
        h.fill(stale)


def test_an_address_that_is_no_gpus():
    class Liar:
        __cuda_array_interface__ = {"shape": (3,), "typestr": "<f4", "data": (X.ctypes.data, False), "version": 3}

    with pytest.raises(BufferError, match="no such memory"):
        histo.Histogram(histo.Regular(30, *RANGE)).fill(Liar())


# ---- The guide


@pytest.mark.skipif(len(LIBRARIES) < 2, reason="needs PyTorch and CuPy with a GPU")
def test_guide():
    guide = (pathlib.Path(__file__).parents[2] / "docs" / "python.md").read_text()
    chapter = guide.split("## If you use CuPy or PyTorch")[1].split("\n## ")[0]
    examples = re.findall(r"```python\n(.*?)```", chapter, re.S)
    assert len(examples) == 3
    batches = [torch.randn(1000, device="cuda") for _ in range(3)]
    names = {"cupy": cupy, "torch": torch, "histo": histo, "Histogram": histo.Histogram, "Regular": histo.Regular,
             "batches": batches}
    exec(examples[0], names)
    assert isinstance(names["edges"], cupy.ndarray) and names["counts"].is_cuda
    exec(examples[1], names)
    assert names["hist"].sum() > 9e5 and names["per_class"].sum() == 10**6
    exec(examples[2], names)
    expected = np.histogram(np.concatenate([get(b) for b in batches]), 100, (-4, 4))[0]
    assert abs(get(names["seen"]) - expected).sum() <= 2  # float32 samples next to edges


# ---- histo.torch and histo.cupy


@pytest.mark.skipif("torch" not in LIBRARIES, reason="needs PyTorch with a GPU")
class TestTorch:
    @pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8"])
    @pytest.mark.parametrize("ends", [(), (-1, 2), (3, 3)])
    def test_histc(self, dtype, ends):
        import histo.torch

        x = torch.from_numpy(X).cuda()
        x = (x * 16).abs().to(getattr(torch, dtype)) if dtype in ("int32", "uint8") else x.to(getattr(torch, dtype))
        if dtype == "uint8" and ends == (-1, 2):
            ends = (0, 20)
        for bins in (7, 100):
            found = histo.torch.histc(x, bins, *ends)
            assert found.dtype == (torch.int64 if dtype == "uint8" else x.dtype) and found.device == x.device
            # PyTorch rounds the bin, and counts in the dtype of the samples.
            expected = torch.histc(x.double(), bins, *ends).to(found.dtype)
            assert (found.double() - expected.double()).abs().sum() <= 4

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_histogram(self, dtype):
        import histo.torch

        x, w = torch.from_numpy(X).to(getattr(torch, dtype)), torch.from_numpy(W).to(getattr(torch, dtype))
        for options in ({}, {"range": RANGE}, {"weight": w}, {"density": True}):
            there = {k: v.cuda() if k == "weight" else v for k, v in options.items()}
            found, expected = histo.torch.histogram(x.cuda(), 30, **there), torch.histogram(x, 30, **options)
            for f, e in zip(found, expected):
                assert f.is_cuda and f.dtype == e.dtype and torch.allclose(f.cpu(), e, rtol=1e-5)

    def test_bincount(self):
        import histo.torch

        x = torch.randint(0, 300, (100_000,), device="cuda")
        for weights in (None, torch.ones(100_000, device="cuda"), torch.ones(100_000, device="cuda").double()):
            for minlength in (0, 500):
                found, expected = (f(x, weights, minlength) for f in (histo.torch.bincount, torch.bincount))
                assert found.dtype == expected.dtype and torch.equal(found, expected)

    def test_bincount_of_length(self):
        import histo.torch

        x = torch.randint(0, 300, (100_000,), device="cuda")
        for weights in (None, torch.ones(100_000, device="cuda"), torch.ones(100_000, device="cuda").double()):
            expected = torch.bincount(x, weights, 300)
            found = histo.torch.bincount(x, weights, length=300)
            assert found.dtype == expected.dtype and torch.equal(found, expected)
            assert torch.equal(histo.torch.bincount(x, weights, length=200), expected[:200])
            assert torch.equal(histo.torch.bincount(x - 100, weights, length=100), expected[100:200])
            assert histo.torch.bincount(x, weights, 310, length=320)[300:].eq(0).all()
        assert histo.torch.bincount(x[:0], length=3).tolist() == [0, 0, 0]
        assert histo.torch.bincount(x, length=0).tolist() == []

    def test_fill(self):
        import histo.torch

        x, w = torch.from_numpy(X).cuda(), torch.from_numpy(W).cuda()
        edges = torch.from_numpy(EDGES)
        hist = torch.zeros(30, dtype=torch.int64, device="cuda")
        sums = torch.zeros(30, dtype=torch.float32, device="cuda")
        between = torch.zeros(4, dtype=torch.float64, device="cuda")
        joint = torch.zeros(5, 6, dtype=torch.int64, device="cuda")
        for _ in range(2):
            assert histo.torch.fill_(hist, x, range=RANGE) is hist
            histo.torch.fill_(sums, x, range=RANGE, weight=w)
            for there in (edges, edges.cuda()):
                histo.torch.fill_(between, x, there, weight=w)
            histo.torch.fill_(joint, x.reshape(-1, 2), range=(*RANGE, 0.0, 1.0))
        assert np.array_equal(get(hist), 2 * np.histogram(X, 30, RANGE)[0])
        assert np.array_equal(get(sums), 2 * np.histogram(X, 30, RANGE, weights=W)[0])
        assert np.array_equal(get(between), 4 * np.histogram(X, EDGES, weights=W)[0])
        assert np.array_equal(get(joint), 2 * np.histogramdd(X.reshape(-1, 2), [5, 6], [RANGE, (0, 1)])[0])
        for wrong, of in ((hist.cpu(), x), (hist, x.cpu())):
            with pytest.raises(RuntimeError, match="hist is on"):
                histo.torch.fill_(wrong, of, range=RANGE)

    def calls_that_do_not_wait(self):
        import histo.torch

        x, i = torch.from_numpy(X).float().cuda(), torch.randint(0, 300, (100_000,), device="cuda")
        hist, between = torch.zeros(30, dtype=torch.int64, device="cuda"), torch.zeros(4, device="cuda")
        edges = torch.from_numpy(EDGES).float()
        return x, i, {
            "bincount": lambda: histo.torch.bincount(i, length=300),
            "sums": lambda: histo.torch.bincount(i, x.abs(), length=300),
            "histc": lambda: histo.torch.histc(x, 30, *RANGE),
            "fill_": lambda: histo.torch.fill_(hist, x, range=RANGE).clone(),
            "fill_ between edges": lambda: histo.torch.fill_(between, x, edges).clone(),
        }

    @pytest.mark.parametrize("name", ["bincount", "sums", "histc", "fill_", "fill_ between edges"])
    def test_nothing_waits(self, name):
        call = self.calls_that_do_not_wait()[2][name]
        call()
        torch.cuda.synchronize()
        torch.cuda.set_sync_debug_mode("error")
        try:
            torch.cuda._sleep(2_000_000_000)  # a second
            before = torch.cuda.Event()
            before.record()
            call()
            assert not before.query()
        finally:
            torch.cuda.set_sync_debug_mode("default")
            torch.cuda.synchronize()

    @pytest.mark.parametrize("name", ["bincount", "sums", "histc"])
    def test_graphs(self, name):
        x, i, calls = self.calls_that_do_not_wait()
        call = calls[name]
        call()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            found = call()
        for _ in range(3):
            x.mul_(0.75)
            i.sub_(1).clamp_(min=0)
            graph.replay()
            assert torch.allclose(found, call())

    def test_graph_of_fill(self):
        import histo.torch

        x, hist = torch.from_numpy(X).cuda(), torch.zeros(30, dtype=torch.int64, device="cuda")
        histo.torch.fill_(hist, x, range=RANGE)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            histo.torch.fill_(hist, x, range=RANGE)
        hist.zero_()
        for k in (1, 2, 4):
            x.copy_(torch.from_numpy(X / k))
            graph.replay()
        assert np.array_equal(get(hist), sum(np.histogram(X / k, 30, RANGE)[0] for k in (1, 2, 4)))

    @pytest.mark.parametrize("name", torch_calls.CALLS if "torch" in LIBRARIES else {})
    def test_compiled(self, name):
        torch_calls.check_compiled(name, "cuda", "aot_eager")

    @pytest.mark.parametrize("case", torch_calls.OPERATORS if "torch" in LIBRARIES else [], ids=lambda case: case[0])
    def test_operators(self, case):
        torch_calls.check_operator(case, "cuda")

    def test_compiled_into_graphs(self):
        """By inductor, whose graphs hold what does not wait."""
        import histo.torch

        def step(x, i):
            n = histo.torch.bincount(i + 1, length=301)
            return histo.torch.histc(x * 2, 10, -1, 1) + 1, n * 2, histo.torch.histogram(x, 7).hist

        torch._dynamo.reset()
        compiled = torch.compile(step, fullgraph=True, mode="reduce-overhead")
        for k in range(4):
            x, i = torch.from_numpy(X).float().cuda() / (k + 1), torch.randint(0, 300, (100_000,), device="cuda")
            torch.compiler.cudagraph_mark_step_begin()
            for f, e in zip(compiled(x, i), step(x, i), strict=True):
                assert f.dtype == e.dtype and torch.equal(f, e)


@pytest.mark.skipif("cupy" not in LIBRARIES, reason="needs CuPy with a GPU")
class TestCupy:
    @pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1"])
    def test_histogram(self, dtype):
        import histo.cupy

        x = cupy.asarray(samples(dtype))
        w = cupy.asarray(W)
        for options in ({}, {"range": RANGE}, {"bins": cupy.asarray(EDGES)}, {"weights": w, "range": RANGE},
                        {"weights": w.astype("f4"), "range": RANGE}, {"weights": (4 * w).astype("i4"), "range": RANGE},
                        {"density": True, "range": RANGE}):
            found, expected = histo.cupy.histogram(x, **options), cupy.histogram(x, **options)
            if "range" in options and x.dtype.kind in "iu":  # CuPy counts integers above an end that is none
                expected = np.histogram(get(x), **{k: get(v) if isinstance(v, cupy.ndarray) else v for k, v in options.items()})
                expected = [cupy.asarray(e, f.dtype) for f, e in zip(found, expected)]
            for f, e in zip(found, expected):
                assert isinstance(f, cupy.ndarray) and f.dtype == e.dtype
                assert cupy.allclose(f, e, rtol=1e-6) or float(cupy.abs(f - e).sum()) <= 8  # its edges are rounded

    def test_two_axes(self):
        import histo.cupy

        x, y, w = map(cupy.asarray, (X, Y, W))
        for options in ({}, {"bins": (5, 6)}, {"weights": w}, {"range": (RANGE, RANGE)}):
            for f, e in zip(histo.cupy.histogram2d(x, y, **options), cupy.histogram2d(x, y, **options)):
                assert isinstance(f, cupy.ndarray) and f.dtype == e.dtype and float(cupy.abs(f - e).sum()) <= 4
        sample = cupy.stack((x, y), axis=-1)
        found, expected = histo.cupy.histogramdd(sample, weights=w), cupy.histogramdd(sample, weights=w)
        assert float(cupy.abs(found[0] - expected[0]).sum()) <= 4

    def test_bincount(self):
        import histo.cupy

        x = cupy.asarray(RANDOM.integers(0, 300, 100_000))
        for weights in (None, cupy.ones(100_000)):
            for minlength in (None, 500):
                found, expected = (f(x, weights, minlength) for f in (histo.cupy.bincount, cupy.bincount))
                assert found.dtype == expected.dtype and cupy.array_equal(found, expected)
