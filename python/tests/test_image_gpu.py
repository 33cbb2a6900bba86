"""histo.image and histo.Map on arrays in the memory of a GPU. Without one all of these are skipped, or fail, as in
test_gpu.py."""

import threading

import numpy as np
import pytest
from image_calls import CASES, STACKS, assert_same, calls, host, picture
from test_gpu import LIBRARIES, OnlyDLPack, OnlyInterface, get, is_there, put

import histo
from histo import image as hi

if "torch" in LIBRARIES:
    import torch
if "cupy" in LIBRARIES:
    import cupy

each_library = pytest.mark.parametrize("library", LIBRARIES)
needs_torch = pytest.mark.skipif("torch" not in LIBRARIES, reason="needs PyTorch with a GPU")

# Calls that wait for nothing.
QUIET = {
    "equalize": lambda x, y, out: hi.equalize(x, out=out),
    "equalize by cdf, masked": lambda x, y, out: hi.equalize(x, rule="cdf", mask=y > 100, out=out),
    "equalize channels": lambda x, y, out: hi.equalize(x, channel_axis=-1, out=out),
    "equalize a batch": lambda x, y, out: hi.equalize(x, batch_axis=0, out=out),
    "clahe": lambda x, y, out: hi.clahe(x, tiles=(4, 4), channel_axis=-1, out=out),
    "clahe of few bins": lambda x, y, out: hi.clahe(x, tiles=(4, 4), bins=32, channel_axis=-1, out=out),
    "clahe, continued": lambda x, y, out: hi.clahe(x, tiles=(7, 9), channel_axis=-1, out=out),
    "match": lambda x, y, out: hi.match(x, y, out=out),
    "match channels": lambda x, y, out: hi.match(x, y, channel_axis=-1, out=out),
    "stretch": lambda x, y, out: hi.stretch(x, limits=(20, 150), out=out),
    "segment": lambda x, y, out: hi.segment(x),
    "segment a batch": lambda x, y, out: hi.segment(x, batch_axis=0),
}


def picture_there(library, seed=0, shape=(64, 80, 3)):
    return put(library, picture(shape, "u1", seed))


def expected_of(call, x, y):
    return call(get(x), get(y), None)


# ---- Results are those of the host, byte for byte


@each_library
@pytest.mark.parametrize("dtype, stack", CASES)
def test_results_are_those_of_the_host(library, dtype, stack):
    shape, of_reference, options = STACKS[stack]
    x, y, mask = picture(shape, dtype), picture(of_reference, dtype, 1), picture(shape, "u1", 2) > 90
    there = [put(library, a) for a in (x, y, mask)]
    for name, call in calls(dtype, shape, options):
        found = call(*there)
        if getattr(found, "ndim", 0) and not isinstance(found, (histo.Histogram, np.ndarray)):
            assert is_there(library, found), name
        assert_same(host(found, lambda a: get(a) if hasattr(a, "device") else a), host(call(x, y, mask), np.asarray),
                    (name, dtype, stack))


VIEWS = {
    "a slice": lambda a: a[3:-5, 2:-1],
    "every second": lambda a: a[::2, ::3],
    "swapped": lambda a: a.swapaxes(0, 1),
    "a channel": lambda a: a[..., 1],
    "spread out": lambda a: a[:, :1],
}


@each_library
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4"])
def test_views(library, dtype, view):
    x, of = picture((64, 80, 3), dtype), VIEWS[view]
    there, bins = put(library, x), {} if dtype[0] in "iu" else {"bins": 50}
    def turned(a):
        return a.flip(0) if library == "torch" and not isinstance(a, np.ndarray) else a[::-1]

    for call in (lambda a: hi.equalize(a, **bins), hi.stretch, lambda a: hi.match(a, turned(a), **bins)):
        assert_same(get(call(of(there))), call(of(x)), view)
    out, expected = put(library, np.zeros_like(x)), np.zeros_like(x)
    hi.equalize(of(there), out=of(out), **bins)
    hi.equalize(of(x), out=of(expected), **bins)
    assert_same(get(out), expected, view)


@needs_torch
def test_channels_last_stays():
    x = torch.from_numpy(picture((2, 3, 40, 50), "u1")).cuda().to(memory_format=torch.channels_last)
    y = hi.equalize(x, batch_axis=0, channel_axis=1)
    assert y.is_contiguous(memory_format=torch.channels_last)
    assert np.array_equal(get(y), hi.equalize(get(x), batch_axis=0, channel_axis=1))


@needs_torch
def test_bfloat16_is_counted_as_it_is():
    x = torch.from_numpy(picture((64, 64), "f4")).cuda().bfloat16()
    for call in (lambda a: hi.equalize(a, bins=100), lambda a: hi.clahe(a, tiles=(4, 4)), lambda a: hi.match(a, a, bins=50),
                 hi.stretch):
        found = call(x)
        assert found.dtype == torch.bfloat16
        assert np.abs(get(found.float()) - call(get(x.float()))).max() < 2**-8
    assert hi.quantiles(x, 0.3) == hi.quantiles(get(x.float()), 0.3)


@each_library
@pytest.mark.parametrize("shape, options", [((1080, 1920), {}), ((8, 512, 768), {"batch_axis": 0}),
                                            ((1080, 1920, 3), {"channel_axis": -1})])
def test_large_images(library, shape, options):
    x, y = picture(shape, "u1"), picture(shape, "u1", 1)
    there, model = put(library, x), put(library, y)
    for name, call in {"equalize": hi.equalize, "clahe": hi.clahe,
                       "match": lambda a, **o: hi.match(a, y if isinstance(a, np.ndarray) else model, **o)}.items():
        assert_same(get(call(there, **options)), call(x, **options), name)
    assert_same(get(hi.segment(there)), hi.segment(x), "segment")


# ---- Streams, threads, graphs


def streams(library, n):
    return [torch.cuda.Stream() if library == "torch" else cupy.cuda.Stream(non_blocking=True) for _ in range(n)]


def on_stream(library, stream):
    return torch.cuda.stream(stream) if library == "torch" else stream


@each_library
@pytest.mark.parametrize("name", QUIET)
def test_the_current_stream(library, name):
    """Images that a stream computes late are mapped, and then overwritten and freed."""
    call, y = QUIET[name], picture_there(library, 1)
    get(y), get(call(picture_there(library), y, None))
    for stream in streams(library, 2):
        with on_stream(library, stream):
            results = []
            for i in range(6):
                x = picture_there(library, 7)
                for _ in range(20):
                    x = x * 3 + 1  # wraps
                x = x // (i + 1)
                results.append((call(x, y, None), get(x)))
                x *= 0
                del x
            for found, x in results:
                assert_same(get(found), call(x, get(y), None), name)


@each_library
def test_threads_share_what_is_kept(library):
    images = [picture((64, 80), "u1", seed) // (seed + 1) for seed in range(6)]
    expected = [(hi.equalize(x), hi.segment(x), hi.match(x, images[0])) for x in images]
    wrong = []

    def work(k):
        stream = streams(library, 1)[0]
        with on_stream(library, stream):
            x, y = put(library, images[k]), put(library, images[0])
            for _ in range(40):
                found = hi.equalize(x), hi.segment(x), hi.match(x, y)
                if not all(np.array_equal(get(f), e) for f, e in zip(found, expected[k], strict=True)):
                    wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(images))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@needs_torch
@pytest.mark.parametrize("name", QUIET)
def test_graph(name):
    call, x, y = QUIET[name], picture_there("torch"), picture_there("torch", 1)
    out = torch.empty_like(x)
    call(x, y, out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = call(x, y, out)
    for seed in (2, 3):
        x.copy_(picture_there("torch", seed))
        y.copy_(picture_there("torch", seed + 5))
        other = call(picture_there("torch", 9), y, None)  # has maps of its own
        graph.replay()
        assert_same(get(found), expected_of(call, x, y), name)
        assert_same(get(other), expected_of(call, picture_there("torch", 9), y), name)


@needs_torch
def test_a_graph_of_several_images():
    images = [picture_there("torch", k) for k in range(3)]
    hi.equalize(images[0])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = [hi.equalize(x) for x in images]
    for k, x in enumerate(images):
        x.copy_(picture_there("torch", k + 10))
    graph.replay()
    for f, x in zip(found, images, strict=True):
        assert_same(get(f), hi.equalize(get(x)), "graph")


@needs_torch
def test_graph_of_16_bits():
    x = put("torch", picture((64, 80), "u2"))
    call = lambda: (hi.equalize(x, bits=16), hi.clahe(x, bits=16, tiles=(2, 2)), hi.match(x, x))  # noqa: E731
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = call()
    x.copy_(put("torch", picture((64, 80), "u2", 4)))
    graph.replay()
    y = get(x)
    for f, e in zip(found, (hi.equalize(y, bits=16), hi.clahe(y, bits=16, tiles=(2, 2)), hi.match(y, y)), strict=True):
        assert_same(get(f), e, "16 bits")


@pytest.mark.skipif("cupy" not in LIBRARIES, reason="needs CuPy with a GPU")
def test_graph_of_cupy():
    x, y = picture_there("cupy"), picture_there("cupy", 1)
    out = cupy.empty_like(x)
    hi.match(x, y, out=out)
    cupy.cuda.Device().synchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        hi.match(x, y, out=out)
        graph = stream.end_capture()
    x[...] = picture_there("cupy", 4)
    cupy.cuda.Device().synchronize()
    graph.launch(stream)
    stream.synchronize()
    assert_same(get(out), hi.match(get(x), get(y)), "graph")


@needs_torch
@pytest.mark.parametrize("call", [
    lambda x: hi.equalize(x.to(torch.int16)),
    lambda x: hi.equalize(x.view(torch.uint16)),
    lambda x: hi.equalize(x.float(), bins=9),
    lambda x: hi.clahe(x.float(), tiles=(2, 2)),
    lambda x: hi.stretch(x),
    lambda x: hi.threshold(x),
    lambda x: hi.quantiles(x, 0.5),
    lambda x: hi.equalize(x[:5, :7], bins=77),  # was not made before
])
def test_what_a_graph_cannot_capture_is_said(call):
    x = picture_there("torch", shape=(64, 80))
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        y = x + 1
        with pytest.raises(NotImplementedError, match="captured into a graph"):
            call(x)
    graph.replay()
    assert np.array_equal(get(y), get(x) + 1)


@needs_torch
def test_nothing_waits():
    x, y = picture_there("torch"), picture_there("torch", 1)
    for call in QUIET.values():
        for _ in range(2):
            call(x, y, None)
    torch.cuda.synchronize()
    busy = torch.cuda.Event()
    torch.cuda.set_sync_debug_mode("error")
    try:
        torch.cuda._sleep(4_000_000_000)  # two seconds
        busy.record()
        results = [call(x, y, None) for call in QUIET.values()]
        assert not busy.query()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    for (name, call), found in zip(QUIET.items(), results, strict=True):
        assert_same(get(found), expected_of(call, x, y), name)


@each_library
def test_nothing_is_kept_of_images(library):
    used = torch.cuda.memory_allocated if library == "torch" else cupy.get_default_memory_pool().used_bytes
    x = picture_there(library, shape=(512, 512))
    hi.equalize(x), hi.clahe(x), hi.segment(x)
    before = used()
    for _ in range(20):
        hi.equalize(x), hi.clahe(x), hi.segment(x)
    assert used() <= before
    histo.devices.empty_cache()
    assert_same(get(hi.clahe(x)), hi.clahe(get(x)), "after empty_cache")


# ---- out, masks, memories, libraries


@each_library
def test_out(library):
    x, there = picture((64, 80, 3), "u1"), picture_there(library)
    y = picture_there(library, 1)
    for name, call in QUIET.items():
        if "segment" in name:
            continue
        expected = call(x, get(y), None)
        given, in_place = put(library, np.zeros(x.shape, "i4")), put(library, x)
        assert call(there, y, given) is given
        assert_same(get(given), call(x, get(y), np.zeros(x.shape, "i4")), name)
        assert call(in_place, y, in_place) is in_place
        assert_same(get(in_place), expected, name)
    memory = put(library, np.resize(x, 2 * x.size))
    overlapping = [memory[k : k + x.size].reshape(x.shape) for k in (0, 80)]
    with pytest.raises(ValueError, match="out overlaps the samples"):
        hi.equalize(overlapping[0], out=overlapping[1])
    with pytest.raises(ValueError, match="out has the shape"):
        hi.equalize(there, out=there[:5])


@each_library
def test_two_memories_are_refused(library):
    x, there = picture((64, 80), "u1"), picture_there(library, shape=(64, 80))
    table = histo.Map(histo.Integer(0, 256))
    for call in (
        lambda: hi.equalize(there, mask=x > 9), lambda: hi.equalize(x, mask=there), lambda: hi.equalize(there, out=x),
        lambda: hi.equalize(x, out=there), lambda: hi.match(there, x), lambda: hi.match(x, there),
        lambda: hi.mutual_information(there, x), lambda: hi.mutual_information(x, there),
        lambda: hi.segment(there, mask=x), lambda: hi.threshold(there, mask=x), lambda: hi.histogram(there, mask=x),
        lambda: hi.quantiles(there, 0.5, mask=x), lambda: hi.stretch(there, mask=x), lambda: table(x, out=there),
        lambda: table(there, out=x), lambda: table(there, mask=x), lambda: table(x, mask=there),
        lambda: hi.equalize(there, mask=x[0] > 9),
    ):
        with pytest.raises((ValueError, TypeError)) as raised:
            call()
        assert "memory" in str(raised.value) and "\n" not in str(raised.value)


@each_library
def test_the_other_gpu(library):
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU")
    x = picture((64, 80), "u1")
    other = put(library, x, 1)
    found = hi.equalize(other)
    assert (found.device.index if library == "torch" else found.device.id) == 1
    assert_same(get(found), hi.equalize(x), "the other GPU")
    with pytest.raises(ValueError, match="memory"):
        hi.match(other, put(library, x))


@each_library
def test_other_libraries(library):
    there, x = picture_there(library, shape=(64, 80)), picture((64, 80), "u1")
    for array in (OnlyDLPack(there), OnlyInterface(there, None), OnlyInterface(there, 1)):
        for call in (hi.equalize, hi.clahe, hi.segment, lambda a: hi.stretch(a, limits=(3, 200))):
            found = call(array)
            assert not isinstance(found, np.ndarray)
            assert_same(get(found), call(x), "other libraries")


@needs_torch
def test_tensors_of_a_gradient():
    x = torch.rand(64, 64, device="cuda", requires_grad=True)
    found = hi.equalize(x, bins=64)
    assert not found.requires_grad
    assert_same(get(found), hi.equalize(get(x.detach()), bins=64), "gradient")


@each_library
def test_what_the_host_has_to_do_is_said(library):
    x = put(library, picture((64, 80), "f4"))
    for call in (lambda: hi.equalize(x), lambda: hi.match(x, x), lambda: hi.threshold(x), lambda: hi.segment(x)):
        with pytest.raises(TypeError, match="by the host"):
            call()


# ---- Map


@each_library
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "i4", "f2", "f4", "f8"])
def test_maps(library, dtype):
    x = picture((40, 50), dtype)
    there, mask = put(library, x), x > np.median(x)
    axis = histo.Regular(100, float(x.min()), float(x.max()))
    h, counted = (histo.Histogram(axis).fill(a) for a in (x, there))
    reference = histo.Histogram(histo.Regular(70, 0, 1000)).fill(RANDOM)
    for name, make in {
        "equalize": lambda m, h: m.equalize(h, hi=200), "cdf": lambda m, h: m.equalize(h, rule="cdf"),
        "match": lambda m, h: m.match(h, reference), "match itself": lambda m, h: m.match(h, h),
        "landmarks": lambda m, h: m.landmarks(h, [0.1, 0.5, 0.9], [10, 50, 100]),
        "extended": lambda m, h: m.landmarks(h, [0.1, 0.9], [10, 100], extend=True),
        "project": lambda m, h: m.project(h, hi=255), "against": lambda m, h: m.project(h, h),
        "classes": lambda m, h: m.classes(h, hi=255), "three": lambda m, h: m.classes(h, "otsu", 3),
        "li": lambda m, h: m.classes(h, "li"),
    }.items():
        table, other = make(histo.Map(axis), h), make(histo.Map(axis), counted)
        assert_same(get(other(there)), table(x), name)
        assert_same(get(other(there, dtype="f4")), table(x, dtype="f4"), name)
        assert_same(get(table(there)), table(x), name)
        assert np.array_equal(other.values, table.values, equal_nan=True), name
        assert_same(get(table(there, mask=put(library, mask))), table(x, mask=mask), name)
        out = put(library, np.full(x.shape, 7, "i4"))
        assert table(there, out=out, mask=put(library, mask)) is out
        assert_same(get(out), table(x, out=np.full(x.shape, 7, "i4"), mask=mask), name)
        assert table.moments(there) == table.moments(x)
        assert table.moments(there, window=(3, 4, 20, 10), mask=put(library, mask)) == \
            table.moments(x, window=(3, 4, 20, 10), mask=mask)
        sums = put(library, np.zeros(6))
        assert table.moments(there, out=sums) is sums
        assert get(sums).tolist() == list(table.moments(x))
    line = histo.Map(axis, linear=True).equalize(h)
    assert_same(get(line(there, dtype="f8")), line(x, dtype="f8"), "linear")


RANDOM = np.random.default_rng(5).integers(0, 1000, 5000)


@each_library
def test_back_projection(library):
    hue, value = picture((60, 70), "u1"), picture((60, 70), "u1", 1)
    axes = histo.Regular(30, 0, 256), histo.Regular(32, 0, 256)
    there = put(library, hue), put(library, value)
    part = (slice(10, 20), slice(10, 30))
    model = histo.Histogram(*axes).fill(hue[part], value[part])
    there_model = histo.Histogram(*axes).fill(there[0][part], there[1][part])
    expected = histo.Map(*axes).project(model, hi=255)
    for table in (histo.Map(*axes).project(there_model, hi=255), expected):
        assert_same(get(table(*there)), expected(hue, value), "back projection")


@each_library
def test_maps_of_batches_and_tiles(library):
    x = picture((3, 40, 60), "u1")
    there, axis = put(library, x), histo.Integer(0, 256)
    of_images = histo.Histogram(axis, batch=3).fill(x)
    table = histo.Map(axis, batch=3).equalize(of_images, hi=255)
    assert_same(get(table(there)), table(x), "a batch")
    tiles = histo.Histogram(axis, batch=(4, 5)).fill(x[0].reshape(4, 10, 5, 12).transpose(0, 2, 1, 3))
    table = histo.Map(axis, batch=(4, 5)).equalize(tiles, hi=255, clip=3)
    assert_same(get(table(there[0], tiles=(10, 12))), table(x[0], tiles=(10, 12)), "tiles")


@needs_torch
def test_graph_of_a_map():
    x = picture_there("torch", shape=(64, 80))
    axis = histo.Integer(0, 256)
    h, table, out, sums = histo.Histogram(axis), histo.Map(axis), torch.empty_like(x), x.new_zeros(6, dtype=torch.float64)

    def step():
        h.fill(x)
        table.equalize(h, hi=255)
        table(x, out=out)
        table.moments(x, out=sums)

    step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    expected = histo.Histogram(axis).fill(get(x))
    for seed in (1, 2):
        x.copy_(picture_there("torch", seed, (64, 80)))
        expected.fill(get(x))
        graph.replay()
        on_host = histo.Map(axis).equalize(expected, hi=255)
        assert_same(get(out), on_host(get(x)), "graph")
        assert get(sums).tolist() == list(on_host.moments(get(x)))
