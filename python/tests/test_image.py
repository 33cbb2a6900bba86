"""histo.image beside OpenCV, scikit-image and NumPy, and maps beside plain indexing."""

import math

import cv2
import numpy as np
import pytest
from skimage import exposure, filters

import histo
from histo import image as hi

RNG = np.random.default_rng(11)


def picture(shape, dtype, high=None):
    """Two hills of gray, so that there is something to split."""
    dtype = np.dtype(dtype)
    top = 1.0 if dtype.kind == "f" else (high or np.iinfo(dtype).max)
    hills = np.where(RNG.random(shape) < 0.4, RNG.normal(0.25, 0.08, shape), RNG.normal(0.7, 0.1, shape))
    return (np.clip(hills, 0, 1) * top).astype(dtype)


def test_equalize_is_opencv():
    for shape in ((1, 1), (7, 5), (300, 200)):
        x = picture(shape, "u1")
        assert np.array_equal(hi.equalize(x), cv2.equalizeHist(x))


@pytest.mark.parametrize("tiles", [(8, 8), (2, 5)])
@pytest.mark.parametrize("shape", [(64, 80), (61, 83)])
@pytest.mark.parametrize("dtype, options", [("u1", {}), ("u2", {"bits": 16})])
@pytest.mark.parametrize("clip", [0, 2, 40])
def test_clahe_is_opencv(tiles, shape, dtype, options, clip):
    x = picture(shape, dtype)
    want = cv2.createCLAHE(float(clip), tiles[::-1]).apply(x)
    assert np.array_equal(hi.clahe(x, clip=clip, tiles=tiles, **options), want)


def test_clahe_of_a_volume():
    x = picture((8, 24, 24), "u1")
    y = hi.clahe(x, tiles=(2, 3, 3))
    assert y.shape == x.shape and y.dtype == x.dtype and y.std() > 0


@pytest.mark.parametrize("dtype, high", [("u1", None), ("u2", 4095), ("f4", None), ("f8", None)])
def test_match_is_scikit_image(dtype, high):
    x, y = picture((60, 70), dtype, high), picture((50, 40), dtype, high) ** (2 if dtype[0] == "f" else 1)
    ours, theirs = hi.match(x, y), exposure.match_histograms(x, y)
    assert ours.dtype == x.dtype
    if dtype[0] == "u":
        assert np.array_equal(ours, np.rint(theirs).astype(dtype))
    else:
        assert np.array_equal(ours, theirs.astype(dtype))
    assert np.abs(hi.match(x, hi.histogram(y)).astype(float) - ours).mean() < 1e-3  # bins of floats are spread


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "u4", "i8"])
def test_an_outlier_changes_one_sample(dtype):
    rng = np.random.default_rng(3)
    x = (np.concatenate([rng.normal(100, 1, 5000), rng.normal(110, 1, 5000)]) * 64).astype(dtype).reshape(100, 100)
    hot = x.copy()
    hot.flat[0] = 65000 if dtype == "f2" else 10**6
    others = np.arange(x.size).reshape(x.shape) > 0
    if dtype[0] == "f":  # integers go to the largest sample
        assert np.abs(hi.equalize(hot).astype(float) - hi.equalize(x))[others].max() < 2e-3
    reference = (x // 2).astype(dtype)
    moved = np.abs(hi.match(hot, reference).astype(float) - hi.match(x, reference))[others]
    assert np.quantile(moved, 0.999) < 16
    for method in ("triangle", "yen", "minimum", "max-entropy"):
        assert abs(hi.threshold(hot, method) - hi.threshold(x, method)) <= 160, method
    hot.flat[0] = 3 * x.max()
    assert 103 * 64 < hi.threshold(hot) < 107 * 64


@pytest.mark.parametrize("method", ["otsu", "li", "isodata", "mean", "triangle", "yen", "minimum", "max-entropy"])
def test_what_has_no_threshold_is_said_alike(method):
    for dtype in ("u1", "u2", "f4", "u8"):
        with pytest.raises(ValueError, match="no sample is"):
            hi.threshold(np.ones((4, 4), dtype), method, mask=np.zeros((4, 4), bool))
        assert hi.threshold(np.full((4, 4), 7, dtype), method) == 7
        assert not hi.segment(np.full((4, 4), 7, dtype), method).any()


def test_channels_are_mapped_one_by_one():
    x, y = picture((30, 40, 3), "u1"), picture((30, 40, 3), "u1")[::-1] // 2
    for call in (hi.equalize, hi.clahe, hi.stretch):
        whole = call(x, channel_axis=-1)
        for c in range(3):
            assert np.array_equal(whole[..., c], call(np.ascontiguousarray(x[..., c])))
    matched = hi.match(x, y, channel_axis=2)
    for c in range(3):
        assert np.array_equal(matched[..., c], hi.match(x[..., c], y[..., c]))


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_thresholds_are_scikit_images(classes):
    x = picture((100, 100), "u1")
    theirs = filters.threshold_otsu(x) if classes == 2 else filters.threshold_multiotsu(x, classes)
    assert np.array_equal(hi.threshold(x, classes=classes), theirs)
    assert np.array_equal(hi.segment(x, classes=classes), np.digitize(x, np.atleast_1d(theirs), right=True))


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "i4", "i8", "f2", "f4", "f8"])
def test_foreground_is_above_the_threshold(dtype):
    x = picture((50, 60), dtype, 100)
    assert np.array_equal(hi.segment(x), x > hi.threshold(x))
    assert 0.3 < hi.segment(x).mean() < 0.8


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "f4", "f8"])
def test_quantiles_are_numpys(dtype):
    x = picture((31, 41), dtype)
    q = np.array([[0, 0.25], [0.5, 1]])
    for method in ("linear", "lower", "median_unbiased"):
        assert np.array_equal(hi.quantiles(x, q, method=method), np.quantile(x.astype("f8"), q, method=method))
    assert isinstance(hi.quantiles(x, 0.5), float)


def test_stretch():
    x = picture((100, 100), "u1")
    low, high = np.percentile(x, (2, 98))
    want = np.rint(np.clip((x - low) / (high - low), 0, 1) * 255)
    assert np.abs(hi.stretch(x).astype(float) - want).max() <= 1
    assert np.array_equal(hi.stretch(x, limits=(0, 255), to=(255, 0)), 255 - x)
    with pytest.raises(ValueError, match="is empty"):
        hi.stretch(np.full((3, 3), 7, "u1"))


def test_mutual_information():
    a, b = picture((64, 64), "u2"), picture((64, 64), "f4")
    found = hi.mutual_information(a, b, 32)
    p = np.histogram2d(a.ravel(), b.ravel(), 32)[0] / a.size
    h = [-sum(v * math.log(v) for v in m.ravel() if v) for m in (p.sum(1), p.sum(0), p)]
    assert found.mutual == pytest.approx(h[0] + h[1] - h[2], abs=1e-12)
    same = hi.mutual_information(a, a)
    assert same.mutual == pytest.approx(same.entropy0)
    b.flat[7] = 1e6  # is counted in the bin at its end
    hot = hi.mutual_information(a, b, 32)
    assert hot.mutual == pytest.approx(found.mutual, rel=0.02)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i2", "u4", "i8", "f2", "f4", "f8"])
def test_every_dtype_keeps_itself(dtype):
    x = picture((40, 40), "u1") > 128 if dtype == "?" else picture((40, 40), dtype, 100)
    for call in (hi.equalize, hi.clahe, hi.stretch):
        y = call(x)
        assert y.shape == x.shape and (y.dtype == x.dtype or dtype == "?")


def test_masks_and_out():
    x = picture((50, 50), "u1")
    mask = x > 100
    h = hi.histogram(x, mask=mask)
    assert np.array_equal(h.values(), np.bincount(x[mask], minlength=256))
    out = np.empty_like(x)
    assert hi.equalize(x, mask=mask, out=out) is out
    in_place = x.copy()
    hi.equalize(in_place, mask=mask, out=in_place)
    assert np.array_equal(in_place, out)
    with pytest.raises(ValueError, match="shape"):
        hi.equalize(x, out=np.empty((3, 3), "u1"))
    with pytest.raises(ValueError, match="no sample"):
        hi.equalize(x, mask=np.zeros_like(x))


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: hi.equalize(x.astype(complex)), TypeError),
        (lambda x: hi.equalize(x, rule="other"), ValueError),
        (lambda x: hi.equalize(x, bits=12), ValueError),
        (lambda x: hi.clahe(x, tiles=(8,)), ValueError),
        (lambda x: hi.clahe(x, tiles=(0, 1)), ValueError),
        (lambda x: hi.threshold(x, "best"), ValueError),
        (lambda x: hi.segment(x, classes=300), ValueError),
        (lambda x: hi.quantiles(x, 1.5), ValueError),
        (lambda x: hi.equalize(np.full((4, 4), np.nan)), ValueError),
        (lambda x: hi.match(x, np.empty((0, 3), "u1")), ValueError),
    ],
)
def test_refusals(call, error):
    with pytest.raises(error):
        call(picture((32, 32), "u1"))


@pytest.mark.parametrize("dtype", [">u2", ">i4", ">f4", ">f8"])
def test_other_byte_orders(dtype):
    x = picture((30, 30), np.dtype(dtype).newbyteorder("="), 1000)
    for call in (hi.equalize, hi.clahe, hi.stretch, hi.segment):
        assert np.array_equal(call(x.astype(dtype)), call(x))
    assert hi.threshold(x.astype(dtype)) == hi.threshold(x)


# ---- Maps ----


def test_map_is_a_lookup_table():
    table = histo.Map(histo.Regular(10, 0, 1))
    table.values = np.arange(13.0)
    x = np.array([-1, 0, 0.05, 0.95, 1, 5, np.nan])
    assert table(x).tolist() == [0, 1, 1, 10, 11, 11, 12]
    assert table(x, dtype="u1").tolist() == [0, 1, 1, 10, 11, 11, 12]
    assert np.array_equal(table.values, np.arange(13))


def test_linear_map():
    line = histo.Map(histo.Variable([0, 1, 3]), linear=True)
    line.values = [0, 10, 20]
    assert line(np.array([-1, 0, 0.5, 2, 3, 9])).tolist() == [0, 0, 5, 15, 20, 20]


def test_map_of_two_axes_and_a_batch():
    table = histo.Map(histo.Integer(0, 2), histo.Integer(0, 3), batch=2)
    table.values = RNG.integers(0, 100, table.values.shape)
    a, b = RNG.integers(0, 2, (2, 50)), RNG.integers(0, 3, (2, 50))
    k = np.arange(2)[:, None]
    assert np.array_equal(table(a, b), table.values[k, a + 1, b + 1].astype(a.dtype))


def test_back_projection_is_opencvs():
    x = picture((40, 50), "u1")
    model = hi.histogram(x[10:20, 10:20])
    counts = cv2.calcHist([x[10:20, 10:20].copy()], [0], None, [256], [0, 256])
    counts = cv2.normalize(counts, None, 0, 255, cv2.NORM_MINMAX)
    table = histo.Map(*model.axes).project(model, hi=255)
    want = cv2.calcBackProject([x], [0], counts, [0, 256], 1)
    assert np.array_equal(table(x), want)
    m, w = table.moments(x, window=(5, 6, 20, 10)), cv2.moments(want[6:16, 5:25])
    assert (m.m00, m.m10, m.m01, m.m20, m.m11, m.m02) == tuple(w[k] for k in ("m00", "m10", "m01", "m20", "m11", "m02"))


def test_projection_against_itself():
    h = hi.histogram(np.array([[1, 1, 5]], np.uint8))
    assert np.flatnonzero(histo.Map(*h.axes).project(h, h).values == 1).tolist() == [2, 6]


def test_landmarks():
    x = picture((50, 50), "u2", 4095)
    h = hi.histogram(x)
    table = histo.Map(*h.axes).landmarks(h, [0.1, 0.9], [100, 200])
    ends = np.quantile(x, [0.1, 0.9])
    want = np.interp(x, ends, [100, 200])
    assert np.abs(table(x, dtype=float) - want).max() < 0.5 + 100 / (ends[1] - ends[0])


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda t: t(np.zeros(3), np.zeros(3)), TypeError),
        (lambda t: t(), TypeError),
        (lambda t: t(np.zeros(3), out=[1, 2, 3]), TypeError),
        (lambda t: t(np.zeros(3), out=np.zeros(4)), ValueError),
        (lambda t: t.equalize(3), TypeError),
        (lambda t: t.equalize(histo.Histogram(histo.Regular(4, 0, 1))), ValueError),
        (lambda t: t.landmarks(histo.Histogram(histo.Regular(10, 0, 1)), [0.1], [1, 2]), ValueError),
        (lambda t: histo.Map(), ValueError),
        (lambda t: histo.Map(3), TypeError),
        (lambda t: histo.Map(histo.Regular(10, 0, 1), batch=-1), ValueError),
        (lambda t: histo.Map.__new__(histo.Map)(np.zeros(3)), (TypeError, ValueError, AttributeError)),
        (lambda t: setattr(t, "values", np.zeros(5)), ValueError),
        (lambda t: t.moments(np.zeros(3)), ValueError),
        (lambda t: t.moments(np.zeros((3, 3)), window=(0, 0, 9, 9)), ValueError),
    ],
)
def test_refusals_of_maps(call, error):
    with pytest.raises(error):
        call(histo.Map(histo.Regular(10, 0, 1)))


@pytest.mark.parametrize("mask", [None, [1, 0, 1]])
def test_results_of_the_other_byte_order(mask):
    table = histo.Map(histo.Integer(0, 3))
    table.values = [0, 300, 500, 700, 0, 0]
    swapped, native = (np.full(3, 9, order + "i4") for order in "><")
    assert table(np.arange(3), out=swapped, mask=mask) is swapped
    assert swapped.tolist() == table(np.arange(3), out=native, mask=mask).tolist() == [300, 500 if mask is None else 9, 700]


def test_read_only_results_are_refused():
    out = np.zeros(3)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        histo.Map(histo.Regular(10, 0, 1))(np.zeros(3), out=out)
