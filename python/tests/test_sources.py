"""Samples from other libraries: DLPack, Arrow, the CUDA array interface; well-formed and malformed."""

import ctypes
import gc
import weakref

import numpy as np
import pyarrow as pa
import pytest

import histo

EDGES = np.linspace(-4.25, 3.75, 9)  # no integer
X = np.random.default_rng(3).normal(size=1000)


def counted(samples, **options):
    return histo.Histogram(histo.Regular(8, -4.25, 3.75)).fill(samples, **options)


def expected(x=X):
    return np.histogram(x, EDGES)[0]


class OnlyDLPack:
    """An array that offers nothing but DLPack; old: without max_version, as before version 1."""

    def __init__(self, array, old=False):
        self.array, self.old, self.asked = array, old, None

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        self.asked = options
        if self.old and "max_version" in options:
            raise TypeError("unexpected keyword argument 'max_version'")
        return self.array.__dlpack__(**options)


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "?"])
def test_dlpack(dtype, old):
    x = (X * 10).astype(dtype) if dtype != "?" else X > 0
    source = OnlyDLPack(x, old)
    assert np.array_equal(counted(source).values(), expected(x.astype("f8")))
    assert source.asked["stream"] is None


def test_dlpack_strides():
    x = np.arange(24.0).reshape(2, 3, 4)[:, ::-1, ::2] / 6 - 2
    assert np.array_equal(counted(OnlyDLPack(x)).values(), expected(x))


def test_dlpack_lets_go():
    x = X.copy()
    gone = weakref.ref(x)
    counted(OnlyDLPack(x))
    del x
    gc.collect()
    assert gone() is None


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ]


class Crafted:
    """A tensor from before version 1 whose fields a test sets; counts how often it is deleted."""

    def __init__(self, **fields):
        self.values = np.zeros(8)
        self.shape = (ctypes.c_int64 * 4)(8, 1, 1, 1)
        self.strides = (ctypes.c_int64 * 4)(1, 1, 1, 1)
        self.deleted = 0

        def delete(_):
            self.deleted += 1

        self.delete = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(delete)
        default = dict(data=self.values.ctypes.data, device_type=1, ndim=1, code=2, bits=64, lanes=1)
        self.tensor = DLTensor(**(default | {k: v for k, v in fields.items() if k not in ("shape", "strides")}))
        self.tensor.shape = fields.get("shape", self.shape)
        self.tensor.strides = fields.get("strides", self.strides)
        self.tensor.deleter = self.delete
        self.name = b"dltensor"

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, stream=None, max_version=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), self.name, None)


def shape(*sizes):
    return (ctypes.c_int64 * len(sizes))(*sizes)


def test_crafted_tensor_is_counted_and_deleted_once():
    tensor = Crafted()
    assert counted(tensor).values().sum() == 8
    assert tensor.deleted == 1


def test_a_tensor_without_dimensions_needs_no_shape():
    none = ctypes.POINTER(ctypes.c_int64)()
    assert counted(Crafted(ndim=0, shape=none, strides=none)).values().sum() == 1


@pytest.mark.parametrize(
    "fields, error",
    [
        (dict(ndim=-1), BufferError),
        (dict(ndim=1000), BufferError),
        (dict(shape=shape(-8)), ValueError),
        (dict(ndim=2, shape=shape(2**62, 2**62)), ValueError),
        (dict(ndim=2, shape=shape(2**62, 4), strides=shape(2**62, 1)), (ValueError, BufferError)),
        (dict(shape=ctypes.POINTER(ctypes.c_int64)()), BufferError),
        (dict(data=None), ValueError),
        (dict(lanes=4), TypeError),
        (dict(code=5, bits=128), TypeError),
        (dict(code=200), TypeError),
        (dict(bits=7), TypeError),
        (dict(device_type=99), BufferError),
        (dict(device_type=2), BufferError),
    ],
)
def test_malformed_tensor(fields, error):
    tensor = Crafted(**fields)
    with pytest.raises(error):
        counted(tensor)
    assert tensor.deleted == 1


def test_used_capsule_is_refused():
    class Used(Crafted):
        def __dlpack__(self, **options):
            self.name = b"used_dltensor"
            return super().__dlpack__()

    with pytest.raises(BufferError):
        counted(Used())


@pytest.mark.parametrize("result", [None, 3, "capsule", object()])
def test_no_capsule(result):
    class Bad:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **options):
            return result

    with pytest.raises(BufferError):
        counted(Bad())


def test_no_device_or_too_many_dimensions():
    class Half:
        def __dlpack__(self, **options):
            return X.__dlpack__()

    with pytest.raises(BufferError, match="__dlpack_device__"):
        counted(Half())
    with pytest.raises((BufferError, NotImplementedError), match="dimensions"):
        counted(OnlyDLPack(np.zeros((3,) * 12)[(slice(None, None, 2),) * 12]))


def test_exceptions_of_producers_pass():
    class Refuses:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **options):
            raise BufferError("it requires a gradient")

    with pytest.raises(BufferError, match="gradient"):
        counted(Refuses())


# ---- Arrow ----


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
                                  "float32", "float64"])
def test_arrow_types(kind):
    x = (np.abs(X) * 3).astype(kind)
    assert np.array_equal(counted(pa.array(x)).values(), expected(x.astype("f8")))


def with_nulls(n=1000):
    rng = np.random.default_rng(5)
    x, present = rng.normal(size=n), rng.random(n) < 0.7
    return x, present, pa.array(x, mask=~present)


@pytest.mark.parametrize("offset, length", [(0, 1000), (3, 500), (8, 100), (997, 3), (5, 0)])
def test_arrow_nulls_are_masked(offset, length):
    x, present, array = with_nulls()
    part = slice(offset, offset + length)
    h = counted(array.slice(offset, length))
    assert np.array_equal(h.values(), expected(x[part][present[part]]))
    assert h.tally.masked == length - present[part].sum()


def test_arrow_nulls_and_a_mask():
    x, present, array = with_nulls()
    keep = np.arange(1000) % 3 == 0
    assert np.array_equal(counted(array, mask=keep).values(), expected(x[present & keep]))


def test_arrow_nulls_in_weights():
    x, present, array = with_nulls()
    h = histo.Histogram(histo.Regular(8, -4.25, 3.75), storage="weight").fill(X, weight=array)
    assert np.allclose(h.values(), np.histogram(X[present], EDGES, weights=x[present])[0])


@pytest.mark.parametrize("chunks", [0, 1, 3])
def test_arrow_chunks(chunks):
    x, present, array = with_nulls()
    parts = [array.slice(i * 300 + i, 300) for i in range(chunks)]
    h = counted(pa.chunked_array(parts, type=pa.float64()))
    at = np.concatenate([np.arange(i * 300 + i, i * 300 + i + 300) for i in range(chunks)] or [[]]).astype(int)
    assert np.array_equal(h.values(), expected(x[at][present[at]]))


def cut(values, ends, nulls=()):
    """A column of chunks that end there; some values are null."""
    kept = [None if i in nulls else x for i, x in enumerate(values.tolist())]
    begins = [0, *ends[:-1]]
    return pa.chunked_array([kept[b:e] for b, e in zip(begins, ends)], type=pa.float64())


@pytest.mark.parametrize("storage", ["int64", "sparse", "weight", "exact_weight"])
@pytest.mark.parametrize("ends, others", [([300, 300, 301, 1000], [300, 300, 301, 1000]), ([300, 1000], [301, 1000]),
                                          ([200, 1000], [1000])])
@pytest.mark.parametrize("x_nulls, y_nulls", [((), ()), ((3, 299, 300, 999), ()), ((3,), (3, 500))])
def test_arrow_chunks_of_several_columns(storage, ends, others, x_nulls, y_nulls):
    """Of equal chunks and of others, with nulls in none, one or both: as one array, by a mask."""
    x, y, w = (np.random.default_rng(i).integers(0, 64, 1000) / 8 for i in range(3))
    present = ~np.isin(np.arange(1000), [*x_nulls, *y_nulls])
    given = {"weight": cut(w, ends)} if "weight" in storage else {}
    plain = {"weight": w} if "weight" in storage else {}
    make = lambda: histo.Histogram(histo.Regular(8, 0, 8), histo.Regular(4, 0, 6), storage=storage)
    h, expected = make(), make().fill(x, y, mask=present, **plain)
    h.fill(cut(x, ends, x_nulls), cut(y, others, y_nulls), **given)
    assert h == expected and h.tally == expected.tally
    where = {"where": (cut(w, ends), 1, 6)}
    assert make().fill(cut(x, ends, x_nulls), 2.5, **where, **given) == \
        make().fill(x, 2.5, mask=~np.isin(np.arange(1000), x_nulls), where=(w, 1, 6), **plain)
    mask = np.arange(1000) % 3 > 0
    assert make().fill(cut(x, ends, x_nulls), cut(y, others, y_nulls), mask=mask, **given) == \
        make().fill(x, y, mask=mask & present, **plain)


def test_arrow_chunks_of_other_sizes():
    with pytest.raises(ValueError, match="broadcast"):
        histo.Histogram(histo.Regular(2, 0, 1), histo.Regular(2, 0, 1)).fill(cut(X[:9], [4, 9]), cut(X[:8], [4, 8]))
    with pytest.raises(TypeError, match="has no weights"):
        histo.Histogram(histo.Regular(2, 0, 1), storage="int64").fill(cut(X[:9], [4, 9]), weight=cut(X[:9], [4, 9]))


def test_arrow_booleans():
    bits = [True, False, None, True, True] * 7
    h = histo.Histogram(histo.Integer(0, 2)).fill(pa.array(bits).slice(1, 30))
    assert h.values().tolist() == [bits[1:31].count(False), bits[1:31].count(True)]


def hidden(kind, n=1000):
    """Values, which are present, and a column of Arrow that has values of no meaning where they are missing."""
    present = np.random.default_rng(5).random(n) < 0.8
    values = (np.random.default_rng(6).random(n) * 100).astype(kind)
    with np.errstate(over="ignore"):
        anything = np.where(present, values, np.array(np.nan if kind.startswith("f") else np.iinfo(kind).max, kind))
    bits = np.packbits(present, bitorder="little")
    column = pa.Array.from_buffers(pa.from_numpy_dtype(np.dtype(kind)), n, [pa.py_buffer(bits), pa.py_buffer(anything)])
    return values, present, column


@pytest.mark.parametrize("kind", ["i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8"])
@pytest.mark.parametrize("offset, length", [(0, 1000), (3, 500), (8, 100), (997, 3), (5, 0)])
def test_what_missing_values_are_does_not_matter(kind, offset, length):
    values, present, column = hidden(kind)
    values, present = values[offset : offset + length], present[offset : offset + length]
    part = column.slice(offset, length)
    kept = values[present].astype("f8")
    for source in (part, pa.chunked_array([part.slice(0, 7), part.slice(7)])):
        for bins, limits in ((10, None), (7, (0, 100)), ("sturges", None)):
            found, edges = histo.histogram(source, bins, limits)
            asked, its_edges = np.histogram(values[present], bins, limits)
            assert (found == asked).all()
            np.testing.assert_array_equal(edges, its_edges)
        if length:
            means = histo.binned_statistic(source, source, bins=5).statistic
            own = histo.binned_statistic(kept, kept, bins=5, range=(kept.min(), kept.max())).statistic
            np.testing.assert_allclose(means, own)
        h = histo.Histogram(histo.Regular(5, 0, 100), storage="mean").fill(source, sample=source, weight=source)
        assert h.masked == length - present.sum()


def test_missing_values_of_pandas_are_not_looked_at():
    pd = pytest.importorskip("pandas")
    values, present, _ = hidden("i8")
    column = pd.Series(pd.arrays.IntegerArray(np.where(present, values, 2**62), ~present))
    assert (histo.histogram(column, 10)[0] == np.histogram(values[present], 10)[0]).all()
    assert histo.Histogram(histo.Regular(5, 0, 100)).fill(column).masked == (~present).sum()
    table = pd.DataFrame({"a": column, "b": pd.Series(np.linspace(0, 1, 1000))})
    counts, _ = histo.histogramdd(table, 4)
    assert counts.sum() == present.sum()


@pytest.mark.parametrize("offset", [0, 1, 8, 13])
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 500])
def test_arrow_arrays(offset, n):
    from histo import _histo

    x, missing = np.random.default_rng(n).integers(0, 2, 600).astype(bool), np.random.default_rng(1).random(600) < 0.5
    for column in (pa.array(x, mask=missing), pa.array(x.astype("f4"), mask=missing)):
        part = column.slice(offset, n)
        for source in (part, pa.chunked_array([part.slice(0, n // 3), part.slice(n // 3)])):
            values, present = _histo.arrow_arrays(source)
            shown = slice(offset, offset + n)
            kept = np.ones(n, bool) if present is None else present
            assert (kept == ~missing[shown]).all()
            assert values.dtype == part.type.to_pandas_dtype()
            assert (values[kept] == x[shown][kept]).all()
            assert values.flags.owndata is False
            assert not values.flags.writeable
    assert _histo.arrow_arrays(pa.array(["a"])) is None
    assert _histo.arrow_arrays(x) is None


def test_arrow_arrays_keep_their_memory():
    from histo import _histo

    buffer = np.arange(1000.0)
    gone = weakref.ref(buffer)
    values, _ = _histo.arrow_arrays(pa.Array.from_buffers(pa.float64(), 1000, [None, pa.py_buffer(buffer)]))
    del buffer
    gc.collect()
    assert values[999] == 999
    del values
    gc.collect()
    assert gone() is None


def test_arrow_arrays_at_any_address():
    from histo import _histo

    values = np.random.default_rng(1).random(100)
    column = pa.Array.from_buffers(pa.float64(), 100, [None, pa.py_buffer(b"x" + values.tobytes()).slice(1)])
    assert not _histo.arrow_arrays(column)[0].flags.aligned
    assert (histo.histogram(column, 10, (0, 1))[0] == np.histogram(values, 10, (0, 1))[0]).all()


def test_arrow_times_are_no_numbers():
    for kind in (pa.duration("ns"), pa.timestamp("us"), pa.date32(), pa.time64("us")):
        with pytest.raises(TypeError, match="a date is a number only in a unit"):
            histo.Histogram(histo.Integer(0, 4)).fill(pa.array([1, 1, 3], kind))


@pytest.mark.parametrize(
    "make",
    [
        lambda: pa.array(["a", "b"]),
        lambda: pa.array(["a", "b"]).dictionary_encode(),
        lambda: pa.array([[1.0], [2.0]]),
        lambda: pa.table({"x": [1.0], "y": [2.0]}),
    ],
)
def test_arrow_types_that_are_no_samples(make):
    with pytest.raises(TypeError):
        counted(make())


def test_arrow_lets_go():
    x = X.copy()
    gone = weakref.ref(x)
    counted(pa.array(x))
    del x
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("result", [None, 3, (), (1, 2), (None,), "xy"])
def test_arrow_malformed(result):
    class Bad:
        def __arrow_c_array__(self):
            return result

    with pytest.raises((TypeError, ValueError)):
        counted(Bad())


def test_arrow_array_is_taken_once():
    class Twice:
        def __init__(self):
            self.pair = pa.array(X).__arrow_c_array__()

        def __arrow_c_array__(self):
            return self.pair

    source = Twice()
    counted(source)
    with pytest.raises(ValueError, match="released"):
        counted(source)


# ---- The CUDA array interface ----


class OnGPU:
    def __init__(self, **fields):
        self.__cuda_array_interface__ = dict(shape=(8,), typestr="<f8", data=(4096, False), version=3) | fields


@pytest.mark.parametrize(
    "fields, error",
    [
        (dict(shape=None), ValueError),
        (dict(shape=[8]), ValueError),
        (dict(shape=("a",)), TypeError),
        (dict(typestr="<c8"), TypeError),
        (dict(typestr=">f8"), TypeError),
        (dict(typestr=7), ValueError),
        (dict(data=None), ValueError),
        (dict(data=(0,)), ValueError),
        (dict(strides=(8, 8)), (ValueError, BufferError)),
        (dict(stream=0), ValueError),
        (dict(mask=object()), ValueError),
    ],
)
def test_malformed_cuda_array(fields, error):
    with pytest.raises(error):
        counted(OnGPU(**fields))


def test_memory_that_is_not_on_a_gpu():
    with pytest.raises(BufferError, match="finds no such memory"):
        counted(OnGPU())


class SaysItIsOnAGpu:
    """An array in host memory that claims another."""

    shape, ndim = (3,), 1

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": (3,), "typestr": "<f4", "data": (array.ctypes.data, False), "version": 3, "stream": 1,
        }

    def __len__(self):
        return 3


@pytest.mark.parametrize("call", [
    lambda a: histo.histogram(a, 3, (0, 1)), lambda a: histo.histogram(a), lambda a: histo.histogram(a, EDGES),
    lambda a: histo.histogram_bin_edges(a), lambda a: histo.histogram2d(a, a), lambda a: histo.histogramdd([a, a]),
    lambda a: histo.bincount(a), lambda a: histo.histogram(X[:3], 3, (0, 1), weights=a),
    lambda a: histo.Histogram(histo.Regular(3, 0, 1)).fill(a), lambda a: histo.Histogram(histo.Regular(3, 0, 1)).values(out=a),
])
def test_functions_refuse_what_only_says_to_be_on_a_gpu(call):
    with pytest.raises((BufferError, TypeError, ValueError, RuntimeError)):
        call(SaysItIsOnAGpu(np.zeros(3, "f4")))


def test_out_that_must_not_be_written():
    h = histo.Histogram(histo.Regular(3, 0, 1))
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    for out in (fixed, bytes(24), memoryview(bytearray(24)), [0.0] * 3, OnlyDLPack(np.zeros(3))):
        with pytest.raises((ValueError, TypeError)):
            h.values(out=out)


def _each_way(samples):
    """The calls that count samples."""
    def fill(*axes, **options):
        return histo.Histogram(*axes, **options).fill

    return [lambda: histo.histogram(samples, 4), lambda: histo.histogram(samples, 4, (0, 4)),
            lambda: histo.histogram(samples, "auto"), lambda: histo.histogram_bin_edges(samples, 4),
            lambda: histo.bincount(samples), lambda: fill(histo.Regular(4, 0, 4))(samples),
            lambda: fill(histo.Integer(0, 4))(samples), lambda: fill(histo.Boolean())(samples),
            lambda: fill(histo.Integer(0, 4))(0, weight=samples), lambda: fill(histo.Integer(0, 4))(0, mask=samples),
            lambda: fill(histo.Integer(0, 4), storage="mean")(0, sample=samples),
            lambda: histo.histogramdd([samples, samples], 2), lambda: histo.binned_statistic(samples, samples)]


def test_what_is_no_number_is_refused_everywhere():
    """Whatever numbers it is stored as."""
    import pandas as pd
    import xarray as xr

    periods, intervals = pd.period_range("2020-01", "2020-06", freq="M"), pd.interval_range(0, 5)
    for samples, message in (
        (pd.Series(periods), "are spans between two values"), (periods, "are spans between two values"),
        (pd.Series(intervals), "are spans between two values"), (intervals, "are spans between two values"),
        (pa.array(periods), "extension type pandas.period"), (pa.table({"a": pa.array(periods)}), "extension type pandas"),
        (pa.chunked_array([pa.array(periods)]), "extension type pandas.period"),
        (xr.Dataset({"a": ("x", [1.0])}), "an xarray.Dataset has several variables"),
        ((ctypes.c_longdouble * 2)(1, 2), "a buffer whose format NumPy does not know: <g"),
        (np.array([b"a", b"b"], object), "strings"), (np.array(["a"], np.dtypes.StringDType()), "strings"),
        (np.zeros(2, "V4"), "V4"),
    ):
        for call in _each_way(samples):
            with pytest.raises(TypeError, match=message):
                call()


def test_extension_types_and_sparse_columns_that_are_numbers():
    import pandas as pd

    for samples in (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0, None, 5], pa.int8())),
                    pd.Series(pd.arrays.SparseArray([0, 1, 1])), pd.Series(pd.arrays.SparseArray([0.0, 1.0, 1.0]))):
        for axis in histo.Regular(2, 0, 2), histo.Integer(0, 2):
            assert histo.Histogram(axis).fill(samples).values().tolist() == [1, 2]
        assert histo.histogram(samples, 2, (0, 2))[0].tolist() == [1, 2]


@pytest.mark.parametrize("samples", [[1.5], [(1, 2)], np.array([{}, {}], object), {1, 2}, np.array([[1.5, None]], object)])
def test_categories_of_other_types(samples):
    h = histo.Histogram(histo.Category([], growth=True))
    if isinstance(samples, list) and isinstance(samples[0], tuple):
        samples = np.array([None, None], object)
        samples[:] = [(1, 2), (3, 4)]
    with pytest.raises(TypeError, match="categories are strings or integers, not"):
        h.fill(samples)
    assert h.axes[0].size == h.tally.samples == 0
