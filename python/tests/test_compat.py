"""histo.compat beside the libraries that it stands in for, where their own tests are not run."""

import cv2
import numpy as np
import pytest
from skimage import exposure

from histo.compat import cv2 as ours
from histo.compat import skimage as ours_of_skimage

RNG = np.random.default_rng(6)
IMAGE = RNG.integers(0, 256, (40, 60, 3), np.uint8)
GRAY = np.ascontiguousarray(IMAGE[..., 0])


@pytest.mark.parametrize(
    "images, channels, sizes, ranges",
    [
        ([GRAY], [0], [256], [0, 256]),
        ([GRAY], [0], [17], [20, 200]),
        ([IMAGE], [2], [32], [0, 256]),
        ([IMAGE], [0, 2], [8, 16], [0, 256, 0, 256]),
        ([GRAY, IMAGE], [0, 1, 3], [4, 5, 6], [0, 256, 0, 256, 0, 256]),
        ([GRAY.astype(np.uint16) * 100], [0], [50], [0, 25600]),
        ([GRAY.astype(np.float32)], [0], [50], [0, 256]),
    ],
)
@pytest.mark.parametrize("masked", [False, True])
def test_histograms_and_back_projection(images, channels, sizes, ranges, masked):
    mask = (GRAY > 50).astype(np.uint8) if masked else None
    want = cv2.calcHist(images, channels, mask, sizes, ranges)
    h = ours.calcHist(images, channels, mask, sizes, ranges)
    assert h.dtype == want.dtype and np.array_equal(h.reshape(want.shape), want)
    if len(channels) < 3 and all(image.dtype == np.uint8 for image in images):  # OpenCV takes the third for channels
        scaled = cv2.normalize(want, None, 0, 255, cv2.NORM_MINMAX)
        want = cv2.calcBackProject(images, channels, scaled, ranges, 1)
        assert np.array_equal(ours.calcBackProject(images, channels, scaled, ranges, 1), want)


def test_accumulate():
    h = ours.calcHist([GRAY], [0], None, [16], [0, 256])
    assert np.array_equal(ours.calcHist([GRAY], [0], None, [16], [0, 256], h, True), 2 * h)


def test_equalization():
    assert np.array_equal(ours.equalizeHist(GRAY), cv2.equalizeHist(GRAY))
    for image in (GRAY, GRAY.astype(np.uint16) * 200):
        args = dict(clipLimit=3.0, tileGridSize=(5, 4))
        assert np.array_equal(ours.createCLAHE(**args).apply(image), cv2.createCLAHE(**args).apply(image))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (3, 2), (5, 40), (8, 7)])
@pytest.mark.parametrize("grid", [(8, 8), (3, 11)])
def test_clahe_of_images_smaller_than_the_grid(dtype, shape, grid):
    image = RNG.integers(0, 256, shape).astype(dtype)
    want = cv2.createCLAHE(4.0, grid).apply(image)
    assert np.array_equal(ours.createCLAHE(4.0, grid).apply(image), want.reshape(shape))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("scale", [1, 1.5, 300])
def test_back_projection_has_the_depth_of_the_image(dtype, scale):
    image, hist = GRAY.astype(dtype), (RNG.random((16, 1)) * 300).astype(np.float32)
    want = cv2.calcBackProject([image], [0], hist, [0, 256], scale)
    found = ours.calcBackProject([image], [0], hist, [0, 256], scale)
    assert found.dtype == want.dtype == dtype
    assert np.array_equal(found, want)
    with pytest.raises(TypeError, match="not float64"):
        ours.calcBackProject([GRAY.astype(float)], [0], hist, [0, 256], 1)


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.float32, np.float64])
def test_thresholds(kind, dtype):
    image = (RNG.normal(size=(20, 30)) * 300).astype(dtype)
    image[0, :5] = [0, 255, 7, 8, 9]
    for thresh in (-40000, -32768.5, -3.5, -1, 0, 7.9, 100, 254.5, 255, 32767, 65535, 7e4):
        for maxval in (255, 0.5, 2.5, -3, 1e5):
            want, result = cv2.threshold(image, thresh, maxval, kind)
            assert ours.threshold(image, thresh, maxval, kind)[0] == want
            assert np.array_equal(ours.threshold(image, thresh, maxval, kind)[1], result)
    out = np.empty_like(image)
    assert ours.threshold(image, 3, 255, kind, out)[1] is out
    assert np.array_equal(out, cv2.threshold(image, 3, 255, kind)[1])


def test_thresholds_that_are_found():
    for _ in range(200):
        image = (RNG.beta(*RNG.random(2) * 5 + 0.1, size=(20, 20)) * RNG.integers(1, 256)).astype(np.uint8)
        for kind in (cv2.THRESH_OTSU, cv2.THRESH_TRIANGLE + cv2.THRESH_TOZERO):
            want, result = cv2.threshold(image, 0, 200, kind)
            found, mine = ours.threshold(image, 0, 200, kind)
            assert found == want
            assert np.array_equal(mine, result)
        large = image.astype(np.uint16) * 257
        assert ours.threshold(large, 0, 255, ours.THRESH_OTSU)[0] == cv2.threshold(large, 0, 255, cv2.THRESH_OTSU)[0]
    for value in (0, 5, 255):
        image = np.full((3, 4), value, np.uint8)
        for kind in (cv2.THRESH_OTSU, cv2.THRESH_TRIANGLE):
            assert ours.threshold(image, 0, 255, kind)[0] == cv2.threshold(image, 0, 255, kind)[0]
    # Two thresholds are equally good.
    assert ours.threshold(np.array([[0, 1, 1, 2]], np.uint8), 0, 255, ours.THRESH_OTSU)[0] == 0


@pytest.mark.parametrize("method", range(6))
def test_comparisons(method):
    for _ in range(20):
        a, b = (np.abs(RNG.normal(size=(20, 3))) * 10.0 ** RNG.integers(-5, 5) * (RNG.random((20, 3)) < 0.7) for _ in "ab")
        a, b = a.astype(np.float32), b.astype(np.float32)
        for one, other in ((a, b), (a, a), (a * 0, b), (a, b * 0), (a * 0, b * 0)):
            found = ours.compareHist(one, other, method)
            assert found == pytest.approx(cv2.compareHist(one, other, method), 1e-9, 1e-7)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_tracking(dtype):
    for _ in range(60):
        height, width = RNG.integers(20, 80, 2)
        y, x = np.mgrid[:height, :width] - 25.0
        blob = np.exp(-(x**2 / 200 + y**2 / 50 + x * y / RNG.integers(110, 300)))
        image = (RNG.integers(0, 256, blob.shape) * blob * (RNG.random() < 0.95)).astype(dtype)
        window = tuple(RNG.integers([-20, -20, 1, 1], [80, 80, 60, 60]).tolist())
        criteria = (int(RNG.integers(1, 4)), int(RNG.integers(1, 20)), float(RNG.choice([0.5, 1, 3])))
        assert ours.meanShift(image, window, criteria) == cv2.meanShift(image, window, criteria)
        want, found = cv2.CamShift(image, window, criteria), ours.CamShift(image, window, criteria)
        assert found[1] == want[1]
        for mine, theirs in zip(found[0], want[0], strict=True):
            assert mine == pytest.approx(theirs, 1e-5, 1e-3)


def test_errors_of_opencvs_functions():
    for call, error, message in (
        (lambda: ours.threshold(GRAY, 1, 2, 5), ValueError, "no type 5"),
        (lambda: ours.threshold(GRAY.astype(np.int64), 1, 2, 0), TypeError, "not int64"),
        (lambda: ours.threshold(GRAY.astype(np.float32), 1, 2, 8), ValueError, "THRESH_OTSU"),
        (lambda: ours.threshold(GRAY, 1, 2, 24), ValueError, "never both"),
        (lambda: ours.threshold(IMAGE, 1, 2, 8), ValueError, "one channel"),
        (lambda: ours.compareHist([1, 2], [1, 2, 3], 0), ValueError, "shapes"),
        (lambda: ours.compareHist([1, 2], [1, 2], 6), ValueError, "no method 6"),
        (lambda: ours.meanShift(GRAY, (1, 2, 0, 4), (3, 10, 1)), ValueError, "size 0 x 4"),
        (lambda: ours.CamShift(IMAGE, (1, 2, 3, 4), (3, 10, 1)), TypeError, "one channel"),
    ):
        with pytest.raises(error, match=message):
            call()


@pytest.mark.filterwarnings("ignore:This might be a color image")
@pytest.mark.parametrize("dtype", ["u1", "u2", "i2", "i4", "f2", "f4", "f8"])
@pytest.mark.parametrize("channel_axis", [None, -1])
def test_exposure(dtype, channel_axis):
    for _ in range(5):
        shape = (*RNG.integers(2, 30, 2), 3)
        image, reference = ((RNG.random(shape) if dtype[0] == "f" else RNG.integers(-20 * (dtype[0] == "i"), 200, shape))
                            .astype(dtype) for _ in "ab")
        for source_range in ("image", "dtype") if dtype != "i4" else ("image",):
            for normalize in (False, True):
                arguments = (image, 40, source_range, normalize)
                for mine, theirs in zip(ours_of_skimage.histogram(*arguments, channel_axis=channel_axis),
                                        exposure.histogram(*arguments, channel_axis=channel_axis), strict=True):
                    assert mine.dtype == theirs.dtype
                    assert np.array_equal(mine, theirs)
        for mask in (None, RNG.random(shape) < 0.7):
            mine, theirs = (one.equalize_hist(image, 40, mask) for one in (ours_of_skimage, exposure))
            assert mine.dtype == theirs.dtype
            if dtype[0] == "f":
                np.testing.assert_allclose(mine, theirs, 1e-6 if dtype != "f8" else 1e-13)
            else:
                assert np.array_equal(mine, theirs)
        mine, theirs = (one.match_histograms(image, reference, channel_axis=channel_axis)
                        for one in (ours_of_skimage, exposure))
        assert mine.dtype == theirs.dtype
        assert np.array_equal(mine, theirs)
