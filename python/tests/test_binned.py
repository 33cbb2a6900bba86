"""binned_statistic and its relatives beside those of scipy.stats."""

import math
import statistics

import numpy as np
import pytest
from scipy import stats

import histo
from histo import _histo

NAMED = ["mean", "std", "median", "count", "sum", "min", "max"]
RNG = np.random.default_rng(34)


def extent(values):
    return np.max(values) - np.min(values) if len(values) else -1


def same(ours, theirs):
    assert ours._fields == theirs._fields
    for mine, other in zip(ours, theirs, strict=True):
        for a, b in zip(mine, other, strict=True) if isinstance(other, list) else [(mine, other)]:
            assert a.dtype == b.dtype.newbyteorder("=")
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


def samples(dtype, n):
    return RNG.normal(40, 15, n).astype(dtype)


@pytest.mark.parametrize("statistic", [*NAMED, np.mean, np.std, np.min, extent, len, lambda v: complex(len(v), 1)])
@pytest.mark.parametrize("dtype", ["f8", "f4", ">f8", "u1", "i4", "i8"])
@pytest.mark.parametrize("n", [1, 50, 40000])
def test_one_axis(statistic, dtype, n):
    x, values = samples(dtype, n), RNG.normal(3, 2, n)
    for bins, limits in ((10, None), (300, (10, 70)), (1, [30, 31]), ([0, 20, 45, 100], None), ([7], None)):
        same(histo.binned_statistic(x, values, statistic, bins, limits),
             stats.binned_statistic(x, values, statistic, bins, limits))


@pytest.mark.parametrize("statistic", [*NAMED, extent])
@pytest.mark.parametrize("dtype", ["f8", "f4", ">f4", "i1", "u2", "i8", "?", "c16"])
def test_values(statistic, dtype):
    x = RNG.random(3000)
    values = RNG.integers(0, 2 if dtype == "?" else 100, 3000).astype(dtype)
    if dtype == "c16":
        values = values + 1j * RNG.random(3000)
    if dtype == "?" and statistic is extent:
        values = values.astype("u1")  # NumPy does not subtract booleans
    if dtype == "?" and statistic == "median":
        return  # test_medians_do_not_wrap
    same(histo.binned_statistic(x, values, statistic, 20), stats.binned_statistic(x, values, statistic, 20))


def test_medians_do_not_wrap():
    """SciPy adds the two values in the middle in their dtype."""
    assert histo.binned_statistic([0, 0], np.array([100, 101], np.int8), "median", 1).statistic.tolist() == [100.5]
    found = histo.binned_statistic([0, 0, 1, 1, 1, 1], [True, True, False, True, True, True], "median", 2)
    assert found.statistic.tolist() == [1, 1]


@pytest.mark.parametrize("statistic", [*NAMED, extent])
@pytest.mark.parametrize("expand", [False, True])
def test_more_axes(statistic, expand):
    x, y, z = RNG.random((3, 5000)) * [[1], [100], [3]]
    several = RNG.normal(size=(3, 5000))
    for bins, limits in ((5, None), ((3, 40), ((0, 1), (10, 90))), (([0, 0.5, 1], [0, 50, 60, 101]), None),
                         ([4, [0, 30, 200]], None), ([0, 1, 50, 80], None)):
        same(histo.binned_statistic_2d(x, y, several, statistic, bins, limits, expand),
             stats.binned_statistic_2d(x, y, several, statistic, bins, limits, expand))
    for sample in ([x, y, z], np.array([x, y, z]).T, np.array([x, y, z], "f4").T):
        same(histo.binned_statistic_dd(sample, several[0], statistic, (3, 7, [0, 1, 3]), None, expand),
             stats.binned_statistic_dd(sample, several[0], statistic, (3, 7, [0, 1, 3]), None, expand))


@pytest.mark.parametrize("statistic", [s for s in NAMED if s != "count"])
def test_nan_and_infinity_among_values(statistic):
    x = np.repeat(np.arange(6), 5)
    values = RNG.normal(size=30)
    values[[1, 2, 8]] = np.nan
    values[[8, 13]] = np.inf
    values[15:20] = np.nan
    with np.errstate(invalid="ignore"):
        same(histo.binned_statistic(x, values, statistic, 6), stats.binned_statistic(x, values, statistic, 6))


def test_nothing_cancels():
    values = 1e9 + RNG.random(100_000)
    x = RNG.random(100_000)
    found = histo.binned_statistic(x, values, "std", 4, (0, 1)).statistic
    for k, (low, high) in enumerate([(0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1)]):
        exact = statistics.pstdev(values[(x >= low) & (x < high)].tolist())
        assert math.isclose(found[k], exact, rel_tol=1e-6)


@pytest.mark.parametrize("scale", [1e-200, 1, 1e150, 1e200])
@pytest.mark.parametrize("means", [[0, 0, 0], [5, 0, -5], [0, 1e6, 3], [1e6, 1e6, 1e6]])
def test_deviations_of_groups_far_from_each_other(scale, means):
    """One pass over the values is enough only where the groups are close."""
    x = RNG.integers(0, 3, 3000)
    values = (np.array(means)[x] + RNG.normal(size=3000)) * scale
    with np.errstate(over="ignore", invalid="ignore"):
        same(histo.binned_statistic(x, values, "std", 3), stats.binned_statistic(x, values, "std", 3))


def test_samples_are_compared_by_value():
    """SciPy rounds the integers to floats, and takes what is just above the last edge into the last bin."""
    big = np.array([2**53, 2**53 + 1], np.int64)
    found = histo.binned_statistic(big, [1, 2], "sum", [0, 2**53, 2**54])
    assert found.binnumber.tolist() == [2, 2]
    found = histo.binned_statistic([0.5, 1.0, np.nextafter(1, 2)], [1, 2, 4], "sum", [0, 0.5, 1])
    assert found.statistic.tolist() == [0, 3]
    assert found.binnumber.tolist() == [2, 2, 3]


def test_samples_that_scipy_does_not_take():
    """It refuses booleans, and loses the largest sample of float16 to an overflow."""
    assert histo.binned_statistic([False, True, True], [1, 2, 4], "sum", 2).statistic.tolist() == [1, 6]
    half = np.array([1, 2, 3], np.float16)
    found = histo.binned_statistic(half, [1, 2, 4], "sum", 2)
    assert found.statistic.tolist() == [1, 6]
    assert found.bin_edges.dtype == np.float16


def test_what_is_outside_is_counted_nowhere():
    x = [-1, 0, 0.3, 2, np.nan, np.inf, -np.inf]
    found = histo.binned_statistic(x, np.ones(7), "sum", [0, 0.5, 1])
    assert found.statistic.tolist() == [2, 0]
    assert found.binnumber.tolist() == [0, 1, 1, 3, 3, 3, 0]
    same(found, stats.binned_statistic(x, np.ones(7), "sum", [0, 0.5, 1]))


@pytest.mark.parametrize("statistic", [*NAMED, extent])
def test_masked_samples_and_values_are_left_out(statistic):
    x = np.ma.array(RNG.random(200), mask=RNG.random(200) < 0.2)
    values = np.ma.array(RNG.normal(size=200), mask=RNG.random(200) < 0.3)
    found = histo.binned_statistic(x, values, statistic, 5)
    keep = ~x.mask if statistic == "count" else ~(x.mask | values.mask)
    expected = stats.binned_statistic(x.data[keep], values.data[keep], statistic, found.bin_edges)
    np.testing.assert_allclose(found.statistic, expected.statistic, rtol=1e-12)
    assert (found.binnumber[x.mask] == -1).all()
    assert (found.binnumber[~x.mask] > 0).all()
    assert found.bin_edges[[0, -1]].tolist() == [x.min(), x.max()]
    both = np.ma.array(np.stack([x.data, x.data], 1), mask=np.stack([x.mask, x.mask], 1))
    numbers = histo.binned_statistic_dd(both, values, statistic, 5, None, True).binnumber
    assert (numbers == found.binnumber).all()
    two = np.ma.array([values.data, values.data], mask=[values.mask, ~values.mask])
    assert np.array_equal(histo.binned_statistic(x, two, statistic, 5).statistic[0], found.statistic, equal_nan=True)


def test_bins_are_used_again():
    x = RNG.random((1000, 2))
    values = RNG.random(1000)
    for module in (histo, stats):
        for expand in (False,) if module is stats else (False, True):
            first = module.binned_statistic_dd(x, values, "mean", 4, None, expand)
            again = histo.binned_statistic_dd(x, values, "sum", binned_statistic_result=first)
            same(again, stats.binned_statistic_dd(x, values, "sum", 4))
    theirs = stats.binned_statistic_dd(x, values, "sum", binned_statistic_result=first)
    np.testing.assert_allclose(theirs.statistic, again.statistic)
    with pytest.raises(AttributeError, match="another number of samples"):
        histo.binned_statistic_dd(x[:3], values[:3], "sum", binned_statistic_result=first)
    with pytest.raises(ValueError, match="its edges do not have"):
        histo.binned_statistic_dd(x, values, "sum", binned_statistic_result=theirs._replace(
            binnumber=theirs.binnumber * 1000))


def test_functions_get_the_values_of_their_bin_in_order():
    seen = {}

    def first(values):
        seen[len(seen)] = values.tolist()
        return values[0]

    found = histo.binned_statistic([2, 0, 2, 9, 0], [5, 6, 7, 8, 9], first, 3, (0, 3))
    assert list(seen.values()) == [[], [6, 9], [5, 7]]
    assert found.statistic[[0, 2]].tolist() == [6, 5]
    assert math.isnan(found.statistic[1])  # values[0] of no values is an error


def test_errors():
    x, values = np.arange(5.0), np.arange(5.0)
    for arguments, error, message in (
        ((x, values, "mode"), ValueError, "invalid statistic 'mode'"),
        ((x, values[1:]), AttributeError, "must match the length"),
        ((x, values, "mean", 0), ValueError, "positive whole number"),
        ((x, values, "mean", 2.5), ValueError, "positive whole number"),
        ((x, values, "mean", [0, 1, 1, 2]), ValueError, "numerically 0"),
        ((x, values, "mean", [2, 1, 0]), ValueError, "edge"),
        ((x, values, "mean", 3, (2, 1)), ValueError, "start must be <= stop"),
        ((x, values, "mean", 3, (1, 2, 3)), ValueError, "1 required"),
        ((x + [0, 0, np.nan, 0, 0], values), ValueError, "non-finite"),
        ((x + [0, 0, np.inf, 0, 0], values, "mean", 3, (0, 1)), ValueError, "non-finite"),
        (([], []), ValueError, "no samples"),
        ((["a"], [1]), TypeError, "samples are strings"),
        ((x, values.reshape(1, 1, 5)), ValueError, "one dimension, or two"),
    ):
        with pytest.raises(error, match=message):
            histo.binned_statistic(*arguments)
    with pytest.raises(AttributeError, match="dimension of bins"):
        histo.binned_statistic_dd(np.zeros((5, 2)), values, "mean", [3])


@pytest.mark.parametrize("statistic", [*NAMED, len])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_samples_that_are_not_finite_are_refused_with_a_range(statistic, wrong):
    x, y, values = RNG.random(50), RNG.random(50), RNG.normal(size=50)
    x[3] = 7  # outside, but finite
    histo.binned_statistic(x, values, statistic, 4, (0, 1))
    for other in (np.where(np.arange(50) == 20, wrong, x), np.where(np.arange(50) == 3, wrong, x)):
        for f, samples, limits in ((histo.binned_statistic, (other,), (0, 1)),
                                   (histo.binned_statistic_2d, (y, other), ((0, 1), (0, 1)))):
            with pytest.raises(ValueError, match="non-finite"):
                f(*samples, values, statistic, 4, limits)
        hidden = np.ma.masked_invalid(other)
        assert histo.binned_statistic(hidden, values, statistic, 4, (0, 1)).binnumber.min() == -1


def test_no_samples():
    found = histo.binned_statistic([], [], "mean", 3, (0, 1))
    assert np.isnan(found.statistic).all()
    assert found.binnumber.shape == (0,)


def test_results_are_like_tuples():
    found = histo.binned_statistic([1, 1, 2], [1, 2, 4], "sum", 2)
    total, edges, numbers = found
    assert len(found) == 3
    assert found[0] is found.statistic is total
    assert found[-1] is found.binnumber is numbers
    assert found[:2] == (total, edges)
    assert repr(found).startswith("BinnedStatisticResult(statistic=array([3., 4.]), bin_edges=array([1. , 1.5, 2. ]),")


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8, 16])
@pytest.mark.parametrize("groups", ["u1", "u2", "u4"])
def test_groups_are_sorted_stably(size, groups):
    numbers = RNG.integers(0, 200, 5000).astype(groups)
    values = RNG.integers(0, 256, (5000, size)).astype("u1")
    to, ends = np.empty_like(values), np.empty(201, np.int64)
    _histo.group(numbers, values, to, ends, numbers.itemsize, size)
    assert (to == values[np.argsort(numbers, kind="stable")]).all()
    assert (ends == np.cumsum(np.bincount(numbers, minlength=201))).all()


def test_groups_that_do_not_fit_are_refused():
    numbers, values = np.array([0, 3], "u1"), np.zeros(2)
    for arguments in ((numbers, values, np.zeros(2), np.zeros(3, np.int64), 1, 8),
                      (numbers, values, np.zeros(3), np.zeros(4, np.int64), 1, 8),
                      (numbers, values, np.zeros(2), np.zeros(4, np.int64), 1, 4),
                      (numbers, values, np.zeros(2), np.zeros(4, np.int64), 3, 8),
                      (numbers, values, np.zeros(2), np.zeros(4, np.int64), 1, 0)):
        with pytest.raises(ValueError, match="do not belong"):
            _histo.group(*arguments)


@pytest.mark.parametrize("groups", ["u1", "u2", "u4"])
def test_powers_are_added_to_their_groups(groups):
    numbers, x = RNG.integers(0, 200, 5000).astype(groups), RNG.normal(size=5000)
    totals, sums = np.zeros(200, np.int64), np.zeros((200, 2))
    _histo.add_powers(numbers, x, 0.5, totals, sums, numbers.itemsize)
    assert (totals == np.bincount(numbers, minlength=200)).all()
    d = x - 0.5
    for column, term in zip(sums.T, (d, d**2), strict=True):
        np.testing.assert_allclose(column, np.bincount(numbers, term, 200), 1e-12, 1e-12)


def test_powers_of_groups_that_do_not_fit_are_refused():
    numbers, x = np.array([0, 3], "u1"), np.zeros(2)
    for arguments in ((numbers, x, 0.0, np.zeros(3, np.int64), np.zeros((3, 2)), 1),
                      (numbers, x, 0.0, np.zeros(4, np.int64), np.zeros((4, 4)), 1),
                      (numbers, np.zeros(3), 0.0, np.zeros(4, np.int64), np.zeros((4, 2)), 1),
                      (numbers, x, 0.0, np.zeros(0, np.int64), np.zeros((0, 2)), 1),
                      (numbers, x, 0.0, np.zeros(4, np.int64), np.zeros((4, 2)), 3)):
        with pytest.raises(ValueError, match="do not belong"):
            _histo.add_powers(*arguments)


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "i2", "f4"])
@pytest.mark.parametrize("last", [0, 5, 6, 5.5, 103, 300, -1, np.nan])
def test_maps_to_the_numbers_of_slots(dtype, last):
    """Which take no table, if results are these, up to the last."""
    x = RNG.normal(0.5, 0.5, 5000)
    x[7] = np.nan
    axis = histo.Regular(100, 0, 1)
    table = histo.Map(axis)
    table.values = np.fmin(np.arange(103.0), last) if last == last else np.append(np.arange(102.0), np.nan)
    slots = np.searchsorted(axis.edges, x, side="right")
    slots[7] = 102
    expected = np.empty(103, dtype)
    for k, sample in enumerate([-1, *((np.arange(100) + 0.5) / 100), 2, np.nan]):
        expected[k] = table(np.array([sample]), dtype=dtype)[0]  # which is too few for a table
    np.testing.assert_array_equal(table(x, dtype=dtype), expected[slots])
