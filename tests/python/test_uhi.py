"""Saved histograms against the Unified Histogram Interface: its schema, its reader, and boost-histogram, both ways.

HISTO_CASES is the number of random cases (default 300), HISTO_SEED the first seed. A failure prints the seed that
repeats it.
"""
import ctypes
import json
import locale
import os
import pathlib
import shutil
import subprocess
import tempfile

import boost_histogram as bh
import jsonschema
import numpy as np
import referencing
import uhi.io
import uhi.io.json
import uhi.io.ops
import uhi.schema

from libhisto import DENSE, FAST, FAST_SUM, FLOW, SPARSE, UNWEIGHTED, Axis, FillOptions, HistOptions, check, lib, view_of

CASES = int(os.environ.get("HISTO_CASES", 300))
SEED = int(os.environ.get("HISTO_SEED", 1))
KINDS = ("integer", "regular", "variable", "log", "sqrt", "power")
JSON, BINARY = 0, 1

lib.histo_hist_axis.restype = Axis
lib.histo_hist_batch.restype = ctypes.c_int64
lib.histo_free.restype = None


class Hist:
    """A histogram by its handle, destroyed with the object."""

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        lib.histo_hist_destroy(self.handle)

    @classmethod
    def create(cls, axes, batch, weighting, storage=DENSE):
        handle = ctypes.c_void_p()
        options = HistOptions(batch=batch, weighting=weighting, storage=storage)
        check(lib.histo_hist_create(ctypes.byref(handle), len(axes), (Axis * len(axes))(*axes), ctypes.byref(options)))
        return cls(handle)

    @classmethod
    def load(cls, data, name=None):
        handle = ctypes.c_void_p()
        if isinstance(data, str):
            data = data.encode()
        check(lib.histo_hist_load(data, ctypes.c_size_t(len(data)), name, ctypes.byref(handle)))
        return cls(handle)

    def save(self, form=JSON, name=None):
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        check(lib.histo_hist_save(self.handle, form, name, ctypes.byref(data), ctypes.byref(size)))
        saved = ctypes.string_at(data, size.value)
        lib.histo_free(data)
        return saved

    def fill(self, columns, weights, mask):
        views = [view_of(c, "f64") for c in columns]
        others = [view_of(weights, "f64") if weights is not None else None, view_of(mask, "u8")]
        for view in filter(None, views + others):
            view.batch_ndim = 1
        options = FillOptions(weights=others[0] and ctypes.pointer(others[0]), mask=ctypes.pointer(others[1]))
        check(lib.histo_hist_fill(self.handle, (type(views[0]) * len(views))(*views), ctypes.byref(options)))

    def axes(self):
        axes = [lib.histo_hist_axis(self.handle, a) for a in range(lib.histo_hist_naxes(self.handle))]
        for axis in axes:
            axis.all_edges = np.empty(axis.bins + 1)
            check(lib.histo_axis_edges(ctypes.byref(axis), axis.all_edges.ctypes.data_as(ctypes.c_void_p)))
        return axes

    def shape(self):
        return (lib.histo_hist_batch(self.handle), *(axis.bins + 3 for axis in self.axes()))

    def weighting(self):
        return lib.histo_hist_weighting(self.handle)

    def counts(self):
        counts = np.empty(self.shape(), dtype=np.uint64)
        check(lib.histo_hist_read_counts(self.handle, FLOW, ctypes.c_void_p(counts.ctypes.data),
                                         ctypes.c_int64(counts.size), None))
        return counts

    def sums(self):
        sums = np.zeros((2, *self.shape()))
        squares = None if self.weighting() == FAST_SUM else ctypes.c_void_p(sums[1].ctypes.data)
        check(lib.histo_hist_read_weights(self.handle, FLOW, ctypes.c_void_p(sums[0].ctypes.data), squares,
                                          ctypes.c_int64(sums[0].size), None))
        return sums

    def masked(self):
        masked = np.empty(self.shape()[0], dtype=np.uint64)
        check(lib.histo_hist_read_masked(self.handle, ctypes.c_void_p(masked.ctypes.data), ctypes.c_int64(masked.size)))
        return masked


def assert_equal(a, b):
    """Two histograms, to the bit."""
    assert a.weighting() == b.weighting()
    for x, y in zip(a.axes(), b.axes(), strict=True):
        assert (x.kind, x.closed, x.power) == (y.kind, y.closed, y.power)
        np.testing.assert_array_equal(x.all_edges, y.all_edges)
    np.testing.assert_array_equal(a.counts(), b.counts())
    np.testing.assert_array_equal(a.masked(), b.masked())
    np.testing.assert_array_equal(a.sums(), b.sums())


def random_axis(rng):
    kind = int(rng.integers(len(KINDS)))
    bins = int(rng.integers(1, 9))
    lo, hi = rng.uniform(0.1, 1), rng.uniform(1.1, 9)
    axis = Axis(kind=kind, closed=bool(rng.integers(2)), bins=bins, lo=lo, hi=hi)
    if KINDS[kind] == "integer":
        axis.lo, axis.hi = -1, bins - 1
    if KINDS[kind] == "sqrt":
        axis.power = 0.5
    if KINDS[kind] == "power":
        axis.power = float(rng.choice([1 / 3, -1.5]))
    if KINDS[kind] == "variable":
        axis.keep = np.sort(rng.uniform(lo, hi, bins + 1))
        axis.lo, axis.hi = axis.keep[0], axis.keep[-1]
        axis.edges = axis.keep.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    return axis


def random_histogram(rng, storage=DENSE):
    axes = [random_axis(rng) for _ in range(rng.integers(1, 4))]
    weighting = int(rng.integers(3)) if storage == DENSE else UNWEIGHTED
    h = Hist.create(axes, int(rng.integers(1, 4)), weighting, storage)
    shape = h.shape()[0], 200
    columns = [rng.normal(3, 3, shape) for _ in axes]
    for c in columns:
        c[rng.random(shape) < 0.05] = np.nan
    weights = rng.normal(0, 1, shape) * 10.0 ** rng.integers(-9, 9, shape)
    h.fill(columns, weights if weighting else None, (rng.random(shape) < 0.9).astype(np.uint8))
    return h


def fold(values):
    """NaN joins overflow on every axis but the batch; an axis of one batch goes."""
    for axis in range(1, values.ndim):
        parts = np.moveaxis(values, axis, 0)
        values = np.moveaxis(np.concatenate([parts[:-2], parts[-2:-1] + parts[-1:]]), 0, axis)
    return values[0] if len(values) == 1 else values


def make_validator():
    """The schema that uhi has, by another implementation of JSON Schema."""
    one, many = (json.loads(f.read_text()) for f in (uhi.schema.histogram_file, uhi.schema.histograms_file))
    registry = referencing.Registry().with_contents([(one["$id"], one), (many["$id"], many)])
    return jsonschema.Draft7Validator(many, registry=registry)


def check_ours(rng, validator):
    """What we save is valid, means the same to boost-histogram, and loads as it was, from either format."""
    h = random_histogram(rng)
    text = h.save()
    validator.validate(json.loads(text))
    read = json.loads(text, object_hook=uhi.io.json.object_hook)["histogram"]
    theirs = bh.Histogram(read)
    if h.weighting() == UNWEIGHTED:
        np.testing.assert_array_equal(theirs.view(flow=True), fold(h.counts()))
    else:
        for got, sums in zip((theirs.view(flow=True).value, theirs.view(flow=True).variance), h.sums()):
            assert np.all(np.abs(got - fold(sums)) <= 1e-15 * fold(np.abs(sums)))
    for axis, other in zip(reversed(h.axes()), reversed(theirs.axes)):
        np.testing.assert_allclose(axis.all_edges, other.edges, rtol=1e-14, atol=1e-14)
    for axis, plain in zip(reversed(h.axes()), reversed(read["axes"])):
        assert plain["writer_info"]["histo"]["kind"] == KINDS[axis.kind]
        if plain["type"] == "variable":
            np.testing.assert_array_equal(axis.all_edges, plain["edges"])
    for saved in (text, h.save(BINARY)):
        assert_equal(h, Hist.load(saved))

    # uhi's own way of writing the same: sparse, and other white space.
    sparse = json.dumps({"histogram": uhi.io.to_sparse(read)}, default=uhi.io.json.default, indent=1)
    assert_equal(h, Hist.load(sparse))

    # Added up by software that does not know of our lists, they would be wrong.
    added = json.dumps(uhi.io.ops.add(read, read), default=uhi.io.json.default)
    if np.any(fold(h.counts())):
        try:
            Hist.load(added)
            raise AssertionError("stale lists were believed")
        except RuntimeError as error:
            assert "checksum" in str(error)
    stripped = uhi.io.remove_writer_info(json.loads(added), library="histo")
    again = Hist.load(json.dumps(stripped))
    values, wanted = again.sums()[0], np.asarray(stripped["storage"]["values"])
    np.testing.assert_array_equal(values[values != 0], wanted[wanted != 0])

    # Digits: as few as Python's repr.
    for token in numbers_of(text):
        assert len(token) <= len(repr(float(token))) or "e" in token, token
        assert len(digits_of(token)) <= len(digits_of(repr(float(token)))), token


def check_sparse(rng, validator):
    """Sparse ones are what uhi makes of dense ones, and load as they were."""
    h = random_histogram(rng, SPARSE)
    text = h.save()
    validator.validate(json.loads(text))
    read = json.loads(text, object_hook=uhi.io.json.object_hook)["histogram"]
    dense = uhi.io.from_sparse(read)
    np.testing.assert_array_equal(dense["storage"]["values"], fold(h.counts()))
    again = uhi.io.to_sparse(dense)["storage"]
    for key in ("index", "values"):
        np.testing.assert_array_equal(again[key], read["storage"][key])
    loaded = Hist.load(text)
    assert_equal(h, loaded)
    assert loaded.save() == text


def numbers_of(text):
    tokens = []
    json.loads(text, parse_float=tokens.append)
    return tokens


def digits_of(token):
    return token.lstrip("-").partition("e")[0].replace(".", "").strip("0")


def random_boost_axis(rng):
    flow = dict(underflow=bool(rng.integers(2)), overflow=bool(rng.integers(2)))
    bins = int(rng.integers(1, 7))
    return [
        lambda: bh.axis.Regular(bins, -1.5, 6, **flow),
        lambda: bh.axis.Regular(bins, 0.5, 6, transform=bh.axis.transform.log),
        lambda: bh.axis.Variable(np.sort(rng.uniform(-1, 6, bins + 1)), **flow),
        lambda: bh.axis.Integer(-2, -2 + bins, **flow),
        lambda: bh.axis.IntCategory(range(3, 3 + bins), overflow=flow["overflow"]),
        lambda: bh.axis.Boolean(),
    ][rng.integers(6)]()


def check_theirs(rng):
    """What boost-histogram and uhi write, we load: values in the slots that the axes have there."""
    axes = [random_boost_axis(rng) for _ in range(rng.integers(1, 4))]
    storage = (bh.storage.Int64, bh.storage.AtomicInt64, bh.storage.Double, bh.storage.Unlimited, bh.storage.Weight)
    theirs = bh.Histogram(*axes, storage=storage[rng.integers(len(storage))]())
    weighted = isinstance(theirs.storage, bh.storage.Weight) or (
        isinstance(theirs.storage, (bh.storage.Double, bh.storage.Unlimited)) and rng.integers(2))
    columns = [rng.integers(-3, 9, 300) if isinstance(a, (bh.axis.IntCategory, bh.axis.Integer, bh.axis.Boolean))
               else rng.normal(2, 3, 300) for a in axes]
    theirs.fill(*columns, **({"weight": rng.normal(1, 2, 300)} if weighted else {}))
    plain = theirs._to_uhi_()
    forms = {"name": plain}, plain, {"name": uhi.io.to_sparse(plain)}
    for form in forms:
        h = Hist.load(json.dumps(form, default=uhi.io.json.default))
        slots = [slice(None)] + [slice(0 if a.traits.underflow else 1, a.bins_end) for a in map(BoostAxis, axes)]
        ours = h.sums() if h.weighting() else h.counts()[np.newaxis]
        inner = ours[(slice(None), *slots)][:, 0]
        view = theirs.view(flow=True)
        if isinstance(theirs.storage, bh.storage.Weight):
            assert h.weighting() == FAST
            np.testing.assert_array_equal(inner[0], view.value)
            np.testing.assert_array_equal(inner[1], view.variance)
        else:
            np.testing.assert_array_equal(inner[0], view)
            weighted = np.any(view != np.floor(view)) or np.any(view < 0)
            assert h.weighting() == (FAST_SUM if weighted else UNWEIGHTED)
        assert np.sum(ours != 0) == np.sum(inner != 0)  # and nothing anywhere else
        for axis, other in zip(h.axes(), axes):
            if not isinstance(other, (bh.axis.IntCategory, bh.axis.Boolean)):
                np.testing.assert_allclose(axis.all_edges, other.edges, rtol=1e-14, atol=1e-14)
        assert_equal(h, Hist.load(h.save()))


class BoostAxis:
    """The slots that the cells of an axis go to."""

    def __init__(self, axis):
        self.traits = axis.traits
        self.bins_end = 1 + len(axis) + self.traits.overflow


def check_structure_only():
    h = bh.Histogram(bh.axis.Regular(1000, 0, 1), bh.axis.Regular(1000, 0, 1))
    plain = bh.serialization.to_uhi(h, keep_storage=False)
    loaded = Hist.load(json.dumps(plain, default=uhi.io.json.default))
    assert loaded.counts().sum() == 0 and loaded.shape() == (1, 1003, 1003)


def check_decimal_comma(folder):
    """Saving and loading do not depend on the locale. Returns whether there is one to try."""
    if not shutil.which("localedef"):
        return False
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{folder}/de_DE.UTF-8"], capture_output=True)
    if made.returncode > 1 or not pathlib.Path(folder, "de_DE.UTF-8").exists():
        return False
    h = random_histogram(np.random.default_rng(SEED))
    before = h.save()
    os.environ["LOCPATH"] = folder
    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    try:
        assert locale.localeconv()["decimal_point"] == ","
        assert h.save() == before
        assert_equal(h, Hist.load(before))
    finally:
        locale.setlocale(locale.LC_ALL, "C")
        del os.environ["LOCPATH"]
    return True


def main():
    validator = make_validator()
    for case in range(CASES):
        seed = SEED + case
        try:
            check_ours(np.random.default_rng(seed), validator)
            check_sparse(np.random.default_rng(seed), validator)
            check_theirs(np.random.default_rng(seed))
        except Exception:
            print(f"failed with HISTO_SEED={seed} HISTO_CASES=1")
            raise
    check_structure_only()
    with tempfile.TemporaryDirectory() as folder:
        comma = check_decimal_comma(folder)
    locales = "with a decimal comma, too" if comma else "no locale with a decimal comma to try"
    print(f"{CASES} histograms saved for, {CASES} loaded from uhi {uhi.__version__} and boost-histogram "
          f"{bh.__version__}, {locales}: all equal")


main()
