"""Uses of the package whose types mypy checks; not run."""

from typing import Any, assert_type

import numpy as np

import histo
from histo.compat.sklearn import accelerated

samples = np.zeros(3)
assert_type(histo.histogram(samples, 10, (0, 1))[1], np.ndarray[tuple[Any, ...], np.dtype[Any]])
histo.histogram(samples, bins="auto", threads=2, flow=True, mask=samples > 0)
histo.histogram2d(samples, samples, [3, 4])
histo.histogramdd([samples, samples], 3, weights=samples)
histo.bincount([1, 2], minlength=3)
of_bins = histo.binned_statistic(samples, samples, "std", bins=[0, 1, 2])
assert_type(of_bins.binnumber, np.ndarray[tuple[Any, ...], np.dtype[np.int64]])
histo.binned_statistic_2d(samples, samples, samples, lambda values: values[0], expand_binnumbers=True)
histo.binned_statistic_dd([samples] * 3, samples, np.median, binned_statistic_result=of_bins)
histo.binned_statistic(samples, samples, "mode")  # type: ignore[arg-type]
h = histo.Histogram(histo.Regular(10, 0, 1, name="x"), histo.Variable([1.0, 2.0]))
assert_type(h.fill(samples, samples, weight=samples), histo.Histogram)
assert_type(h + h, histo.Histogram)
assert_type(h.copy(), histo.Histogram)
assert_type(h.ndim, int)
histo.histogram(samples, nothing=3)  # type: ignore[call-arg]
counts = np.zeros(10)
assert_type(h.values(out=counts), np.ndarray[tuple[int], np.dtype[np.float64]])
assert_type(h.values(flow=True), np.ndarray[tuple[Any, ...], np.dtype[Any]])
assert_type(h.entries(), np.ndarray[tuple[Any, ...], np.dtype[np.int64]])
assert_type(h.shape, tuple[int, ...])
assert_type(h.to_numpy(dd=True)[1], list[np.ndarray[tuple[Any, ...], np.dtype[np.float64]]])
assert_type((h * 2).project("x"), histo.Histogram)
assert_type(histo.Histogram(h._to_uhi_(), name="again"), histo.Histogram)
of_values = histo.Histogram(histo.Regular(10, 0, 1), storage="mean").fill(samples, sample=samples)
assert_type(of_values, histo.Histogram)
assert_type(of_values.means(flow=True), histo.Mean | histo.WeightedMean)
histo.Histogram(histo.Regular(4, 0, 1, growth=True), histo.Integer(0, 7, circular=True))
histo.Variable([0, 1, 3], growth=True)  # type: ignore[call-arg]
h.save("h.json", format="text")  # type: ignore[arg-type]
histo.Histogram(3)  # type: ignore[call-overload]
table = histo.Map(histo.Integer(0, 256), batch=2).equalize(h, hi=255)
assert_type(table, histo.Map)
assert_type(table.moments(samples, window=(0, 0, 1, 1)), histo.Moments)
assert_type(table.moments(samples, out=counts), np.ndarray[tuple[int], np.dtype[np.float64]])
assert_type(histo.image.histogram(samples, batch_axis=(0, 1), channel_axis=2), histo.Histogram)
histo.image.equalize(samples, batch_axis="0")  # type: ignore[arg-type]


class Named(histo.Histogram):
    """A subclass, whose methods return its instances."""


assert_type(Named(histo.Regular(10, 0, 1)).copy(), Named)
histo.boosting.histograms(np.zeros((3, 2), np.uint8), samples, bins_per_feature=[1, 2], threads=2)
with accelerated() as context:
    assert_type(context, accelerated)
