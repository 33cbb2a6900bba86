"""histo.compat beside the libraries that it stands in for, where their own tests are not run."""

import cv2
import numpy as np
import pytest

from histo.compat import cv2 as ours

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
