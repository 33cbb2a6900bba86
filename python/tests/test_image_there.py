"""What histo.image does with arrays in the memory of a GPU, tried with arrays of the host that are taken for such: all but
the GPU. And batches, which are the same everywhere."""

import numpy as np
import pytest
from image_calls import CASES, STACKS, assert_same, calls, host, picture

import histo
from histo import _histo, devices
from histo import image as hi
from histo.image import on_gpu

try:
    import torch
except ImportError:
    torch = None


class Arrays:
    """What histo.devices needs of a library of arrays."""

    uint8 = np.uint8
    put = staticmethod(lambda array, like: array)
    plain = staticmethod(lambda array: array)
    dtype = staticmethod(lambda array: array.dtype)
    device_of = staticmethod(lambda array: 0)
    empty_like, zeros_like = staticmethod(np.empty_like), staticmethod(np.zeros_like)
    stretched, transposed = staticmethod(np.broadcast_to), staticmethod(np.transpose)
    taken, finite, both = staticmethod(np.take), staticmethod(np.isfinite), staticmethod(np.logical_and)
    synchronize = staticmethod(lambda like: None)


@pytest.fixture(params=["arrays", "torch"])
def put(request, monkeypatch):
    """A function that puts an array where it is taken for one of a GPU."""
    if request.param == "torch" and torch is None:
        pytest.skip("PyTorch is not installed")
    if request.param == "torch":
        monkeypatch.setattr(_histo, "on_gpu", lambda array: isinstance(array, torch.Tensor))
        return lambda x: torch.from_numpy(np.ascontiguousarray(x))
    monkeypatch.setattr(hi, "_there", lambda image: on_gpu)
    arrays = Arrays()
    monkeypatch.setattr(devices, "library_of", lambda array: arrays if isinstance(array, np.ndarray) else None)
    return lambda x: x


def get(x):
    return x.numpy() if torch is not None and isinstance(x, torch.Tensor) else x


@pytest.mark.parametrize("dtype, stack", CASES)
def test_results_are_those_of_the_host(put, monkeypatch, dtype, stack):
    shape, of_reference, options = STACKS[stack]
    x, y = picture(shape, dtype), picture(of_reference, dtype, 1)
    mask = picture(shape, "u1", 2) > 90
    for name, call in calls(dtype, shape, options):
        found = host(call(put(x), put(y), put(mask)), get)
        with monkeypatch.context() as on_host:
            on_host.setattr(hi, "_there", lambda image: None)
            assert_same(found, host(call(x, y, mask), get), (name, dtype, stack))


def test_one_call_maps_a_batch(put, monkeypatch):
    made, remap = [], _histo.remap
    monkeypatch.setattr(_histo, "remap", lambda *args: made.append(args[0]) or remap(*args))
    for dtype, options in (("u1", {}), ("u2", {"bits": 12})):
        x = put(picture((5, 16, 24, 3), dtype))
        for call in (hi.equalize, hi.clahe):
            tiles = {"tiles": (2, 3)} if call is hi.clahe else {}
            call(x, batch_axis=0, channel_axis=-1, **options, **tiles)
        hi.match(x, x, batch_axis=0, channel_axis=-1)
    hi.match(x, x[0], batch_axis=0, channel_axis=-1)  # a call for each channel
    hi.match(x[..., 0], x[0, ..., 0], batch_axis=0)
    hi.segment(put(picture((5, 16, 24), "i2")), batch_axis=0)
    assert made == ["equalize", "equalize", "match"] * 2 + ["match"] * 4 + ["classes"]


def test_masks_of_fewer_dimensions(put, monkeypatch):
    x, stack = picture((2, 20, 30, 3), "u1"), {"batch_axis": 0, "channel_axis": -1}
    masks = [picture(shape, "u1", 5) > 90 for shape in ((2, 20, 30, 3), (2, 20, 30), (20, 30), (1, 30))]
    found = [get(hi.equalize(put(x), mask=put(m), **stack)) for m in masks]
    for mask, result in zip(masks, found, strict=True):
        with monkeypatch.context() as on_host:
            on_host.setattr(hi, "_there", lambda image: None)
            assert_same(result, hi.equalize(x, mask=mask, **stack), mask.shape)
    with pytest.raises(ValueError, match="the mask has the shape"):
        hi.equalize(put(x), mask=put(np.ones((7, 30), bool)), **stack)


def test_out(put):
    x = picture((20, 30), "u1")
    model = put(picture((9, 9), "u1"))
    for call in (hi.equalize, hi.clahe, hi.stretch, lambda x, **options: hi.match(x, model, **options)):
        expected, given, there = get(call(put(x.copy()))), put(np.empty((20, 30), "i8")), put(x.copy())
        assert call(put(x.copy()), out=given) is given and np.array_equal(get(given), expected)
        assert call(there, out=there) is there and np.array_equal(get(there), expected)
        with pytest.raises(ValueError, match="out has the shape"):
            call(there, out=given[:3])


@pytest.mark.parametrize("call, error, says", [
    (lambda x: hi.equalize(x + 0.5), TypeError, "give bins="),
    (lambda x: hi.match(x, x + 0.5), TypeError, "give bins="),
    (lambda x: hi.threshold(x + 0.5), TypeError, "found by the host"),
    (lambda x: hi.segment(x + 0.5), TypeError, "found by the host"),
    (lambda x: hi.equalize(x, rule="other"), ValueError, "rule is"),
    (lambda x: hi.equalize(x, bits=12), ValueError, "bits=12"),
    (lambda x: hi.clahe(x, tiles=(8,)), ValueError, "tiles"),
    (lambda x: hi.clahe(x, tiles=(0, 1)), ValueError, "tiles"),
    (lambda x: hi.threshold(x, "best"), ValueError, "best"),
    (lambda x: hi.segment(x, classes=300), ValueError, "300 classes"),
    (lambda x: hi.equalize(x[:0]), ValueError, "no sample"),
    (lambda x: hi.match(x, x[:0]), ValueError, "no samples"),
    (lambda x: hi.equalize(x, batch_axis=0, channel_axis=-2), ValueError, "twice"),
    (lambda x: hi.equalize(x, batch_axis=2), IndexError, "axis 2"),
    (lambda x: hi.match(x, x[:3], batch_axis=0), ValueError, "the reference has the shape"),
    (lambda x: hi.match(x, histo.Histogram(histo.Integer(0, 9), batch=3), batch_axis=0), ValueError, "a batch of the shape"),
    (lambda x: hi.stretch(x, limits=(3, 3)), ValueError, "is empty"),
])
def test_refusals(put, call, error, says):
    with pytest.raises(error, match=says):
        call(put(picture((16, 16), "u1")))


# ---- How arrays of a GPU are told


class OfGPU:
    """An array that says that it is in the memory of a GPU, and is not."""

    memory = np.zeros((8, 8), np.uint8)

    @property
    def __cuda_array_interface__(self):
        return {"shape": (8, 8), "typestr": "|u1", "data": (self.memory.ctypes.data, False), "version": 3}

    shape, ndim = (8, 8), 2


def test_arrays_of_a_gpu_go_there(monkeypatch):
    seen = []
    monkeypatch.setattr(on_gpu, "equalize", lambda image, *options: seen.append(image))
    there = OfGPU()
    hi.equalize(there)
    assert seen == [there]
    hi.equalize(np.arange(4, dtype=np.uint8).reshape(2, 2))
    hi.equalize([[1, 2], [3, 4]], bins=4)
    assert seen == [there]


@pytest.mark.parametrize("call", [
    lambda x, there: hi.equalize(x, mask=there),
    lambda x, there: hi.equalize(x, out=there),
    lambda x, there: hi.match(x, there),
    lambda x, there: hi.clahe(x, out=there, tiles=(2, 2)),
    lambda x, there: hi.mutual_information(x, there),
    lambda x, there: histo.Map(histo.Integer(0, 256))(x, out=there),
    lambda x, there: histo.Map(histo.Integer(0, 256))(x, mask=there),
    lambda x, there: histo.Map(histo.Integer(0, 256), histo.Integer(0, 256))(x, there),
])
def test_two_memories_are_refused(call):
    with pytest.raises((ValueError, BufferError)):
        call(np.zeros((8, 8), np.uint8), OfGPU())


# ---- Batches of images in host memory


@pytest.mark.parametrize("dtype", ["u1", "u2", "i2", "f4"])
def test_images_of_a_batch_are_processed_one_by_one(dtype):
    x, y = picture((3, 20, 30, 2), dtype), picture((3, 24, 21, 2), dtype, 1)
    for call in (hi.equalize, hi.stretch, lambda image, **options: hi.clahe(image, tiles=(2, 3), **options)):
        whole = call(x, batch_axis=0, channel_axis=-1)
        for b, c in np.ndindex(3, 2):
            assert np.array_equal(whole[b, ..., c], call(np.ascontiguousarray(x[b, ..., c])))
    for reference in (y, y[1]):
        whole = hi.match(x, reference, batch_axis=0, channel_axis=-1)
        for b, c in np.ndindex(3, 2):
            of_one = y[b] if reference is y else reference
            assert np.array_equal(whole[b, ..., c], hi.match(x[b, ..., c], of_one[..., c]))
    for_all = hi.histogram(y[0], channel_axis=-1)
    assert np.array_equal(hi.match(x, for_all, batch_axis=0, channel_axis=-1)[2, ..., 1],
                          hi.match(x[2, ..., 1], for_all.entry(1)))
    h = hi.histogram(x, batch_axis=0, channel_axis=-1)
    assert h.batch == (3, 2) and h.entry(2, 1).sum() == 600
    assert np.array_equal(hi.match(x, h, batch_axis=0, channel_axis=-1), x) or dtype == "f4"
    images = x[..., 0]
    assert hi.threshold(images, batch_axis=0).tolist() == [hi.threshold(image) for image in images]
    assert hi.threshold(images, batch_axis=0, classes=3).shape == (3, 2)
    assert np.array_equal(hi.segment(images, batch_axis=0), [hi.segment(image) for image in images])


def test_masked_images_of_a_batch():
    x, hidden = picture((3, 20, 30), "u1"), picture((3, 20, 30), "u1", 4) > 120
    masked = np.ma.masked_array(x, hidden)
    for call in (hi.equalize, hi.segment, hi.stretch):
        whole = call(masked, batch_axis=0)
        for b in range(3):
            one = call(masked[b])
            assert np.array_equal(whole[b].filled(0), one.filled(0)) and np.array_equal(whole[b].mask, one.mask)
