/* Fills of records, from C++: counts are those of the array of numbers that the functors make, to the bit, for records
 * of any size, numbers of any dtype, all strategies of the CPU and any number of threads. */
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>

#include <histo/histo.hpp>

extern "C" {
#include "support/check.h"
#include "support/same.h"
}
#include "support/data.h"

namespace
{

/* ---- Records ---- */

/* A number with bytes before and behind it. */
template <class type, int before, int behind>
struct padded {
    using number = type;
    unsigned char first[before];
    type value;
    unsigned char last[behind];
};

template <class record>
struct value_of {
    typename record::number operator()(const record &r) const { return r.value; }
};

/* Random bytes, with these numbers. */
template <class record>
std::vector<record> records_with(const typename record::number *numbers, std::size_t n)
{
    std::vector<record> all(n);
    rng r = {n + 1};
    for (std::size_t i = 0; i < n; i++) {
        unsigned char *bytes = reinterpret_cast<unsigned char *>(&all[i]);
        for (std::size_t b = 0; b < sizeof(record); b++)
            bytes[b] = static_cast<unsigned char>(rng_next(&r) >> 32);
        std::memcpy(static_cast<void *>(&all[i].value), static_cast<const void *>(&numbers[i]), sizeof numbers[i]);
    }
    return all;
}

template <class number>
struct array {
    number *data;
    std::size_t n;
    histo_view view;
    array(rng *r, distribution d, const histo_axis &axis, std::size_t size)
        : data(static_cast<number *>(
              make_samples(r, histo::dtype_of<number>(), d, &axis, static_cast<std::int64_t>(size)))),
          n(size), view(histo_view_1d(data, histo::dtype_of<number>(), static_cast<std::int64_t>(size)))
    {
    }
    array(const array &) = delete;
    array &operator=(const array &) = delete;
    ~array() { std::free(data); }
};

/* ---- Every dtype, size and strategy ---- */

/* By the histogram's own plan, and by a plan for each strategy of the CPU. */
template <class records>
void assert_counted(const histo_axis &axis, const histo_view &numbers, const records &all, histo_storage storage)
{
    histo_hist_options kind{};
    kind.storage = storage;
    histo::histogram expected(axis, kind), counted(axis, kind);
    const histo_fill_options fill = all.with({});
    OK(histo_hist_fill(expected.get(), &numbers, nullptr));
    OK(histo_hist_fill(counted.get(), all.views(), &fill));
    assert_same(expected.get(), counted.get());
    for (int i = 0; i < histo_strategy_count(); i++) {
        histo_strategy_info info;
        histo_plan *plan;
        OK(histo_strategy_describe(i, &info));
        if (std::string(info.backend) != "cpu") continue;
        const std::string name = std::string(info.backend) + "/" + info.name;
        histo_plan_options options{};
        options.strategy = name.c_str();
        options.threads = 1 + i % 4;
        if (histo_plan_create(&plan, counted.get(), all.views(), &fill, &options) != HISTO_OK) continue;
        histo_fill_options again = fill;
        again.replace = true;
        OK(histo_plan_fill(plan, counted.get(), all.views(), &again));
        assert_same(expected.get(), counted.get());
        histo_plan_destroy(plan);
    }
}

template <class record>
void check_records(rng *r)
{
    const std::size_t sizes[] = {0, 1, 77, 5000, 70000};
    const histo_dtype dtype = histo::dtype_of<typename record::number>();
    histo_axis axis;
    for (int a = 0; test_axis(a, dtype, &axis); a++) {
        if (axis.bins > 1 << 20) continue;
        const distribution d = static_cast<distribution>(rng_below(r, DISTRIBUTIONS));
        const array<typename record::number> numbers(r, d, axis, sizes[rng_below(r, 5)]);
        const std::vector<record> all = records_with<record>(numbers.data, numbers.n);
        const value_of<record> f;
        const histo::records<record, value_of<record>> records(all.data(), all.size(), f);
        assert_counted(axis, numbers.view, records, rng_below(r, 4) ? HISTO_DENSE : HISTO_SPARSE);
    }
}

template <class number>
void check_number(rng *r)
{
    check_records<padded<number, sizeof(number), sizeof(number)>>(r); /* 3 bytes and more */
    check_records<padded<number, 1, 1>>(r);
    check_records<padded<number, 4, 7>>(r);
    check_records<padded<number, 24, 8>>(r); /* up to 40 bytes */
}

void test_dtypes(void **)
{
    rng r = {1};
    static_assert(sizeof(padded<std::uint8_t, 1, 1>) == 3 && sizeof(padded<std::int32_t, 4, 4>) == 12);
    static_assert(sizeof(padded<double, 24, 8>) == 40);
    check_number<std::uint8_t>(&r);
    check_number<std::int8_t>(&r);
    check_number<std::uint16_t>(&r);
    check_number<std::int16_t>(&r);
    check_number<std::uint32_t>(&r);
    check_number<std::int32_t>(&r);
    check_number<std::uint64_t>(&r);
    check_number<std::int64_t>(&r);
    check_number<float>(&r);
    check_number<double>(&r);
}

/* Types that are spelt otherwise have the dtype of their size. */
void test_types(void **)
{
    enum class colour : std::uint16_t { red };
    static_assert(histo::dtype_of<bool>() == HISTO_U8 && histo::dtype_of<signed char>() == HISTO_I8);
    static_assert(histo::dtype_of<long long>() == HISTO_I64 && histo::dtype_of<unsigned long long>() == HISTO_U64);
    static_assert(histo::dtype_of<colour>() == HISTO_U16);
    const std::vector<int> numbers = {1, 2, 3, 3, -1, 9};
    histo::histogram even(histo_axis_integer(0, 2)), colours(histo_axis_integer(0, 4));
    even.fill(numbers, [](int x) { return x % 2 == 0; });
    assert_true((even.counts() == std::vector<std::uint64_t>{5, 1}));
    colours.fill(numbers, [](int x) { return static_cast<colour>(x); });
    assert_true((colours.counts() == std::vector<std::uint64_t>{0, 1, 1, 2}));
}

/* ---- Functors ---- */

struct hit {
    float x, y;
    double energy;
    std::int32_t detector;
    std::uint8_t is_good;
};

float radius(const hit &h)
{
    return std::sqrt(h.x * h.x + h.y * h.y);
}

std::vector<hit> make_hits(std::size_t n)
{
    std::vector<hit> hits(n);
    rng r = {n};
    for (hit &h : hits) {
        h.x = static_cast<float>(rng_uniform(&r)) * 2 - 1;
        h.y = static_cast<float>(rng_uniform(&r)) * 2 - 1;
        h.energy = rng_below(&r, 50) ? rng_uniform(&r) * 110 - 5 : rng_below(&r, 2) ? NAN : INFINITY;
        h.detector = static_cast<std::int32_t>(rng_below(&r, 70)) - 3;
        h.is_good = rng_below(&r, 3) > 0;
    }
    return hits;
}

/* Functions, lambdas with and without captures, members, and a bin that the functor computes itself. */
void test_functors(void **)
{
    const std::vector<hit> hits = make_hits(10007);
    std::vector<float> radii;
    std::vector<double> scaled, energies;
    std::vector<std::int32_t> bins;
    const double scale = 3;
    const auto scaled_energy = [scale](const hit &h) { return h.energy * scale; };
    const auto bin = [](const hit &h) { return h.detector / 7; };
    for (const hit &h : hits) {
        radii.push_back(radius(h));
        scaled.push_back(scaled_energy(h));
        energies.push_back(h.energy);
        bins.push_back(bin(h));
    }
    const histo_axis axis = histo_axis_regular(50, 0, 1.25), energy = histo_axis_closed(histo_axis_log(30, 1, 300));
    const histo_axis numbers = histo_axis_integer(0, 9);
    const auto assert_counts_of = [](const histo_axis &on, const void *data, histo_dtype dtype, std::size_t n,
                                     const histo::histogram &counted) {
        histo::histogram expected(on);
        const histo_view view = histo_view_1d(data, dtype, static_cast<std::int64_t>(n));
        OK(histo_hist_fill(expected.get(), &view, nullptr));
        assert_same(expected.get(), counted.get());
    };
    histo::histogram of_radii(axis), of_scaled(energy), of_members(energy), of_bins(numbers);
    of_radii.fill(hits, radius);
    assert_counts_of(axis, radii.data(), HISTO_F32, radii.size(), of_radii);
    of_scaled.fill(hits.data(), hits.size(), scaled_energy);
    assert_counts_of(energy, scaled.data(), HISTO_F64, scaled.size(), of_scaled);
    of_members.fill(hits, &hit::energy);
    assert_counts_of(energy, energies.data(), HISTO_F64, energies.size(), of_members);
    of_bins.fill(hits, bin);
    assert_counts_of(numbers, bins.data(), HISTO_I32, bins.size(), of_bins);
    assert_int_equal(of_members.tally().samples, hits.size());
    assert_true(of_members.tally().nan[0] > 0 && of_members.tally().over[0] > 0);
}

/* ---- With masks, weights, ranges and several axes ---- */

void test_options(void **)
{
    const std::vector<hit> hits = make_hits(40000);
    std::vector<float> radii;
    std::vector<std::int32_t> bins;
    for (const hit &h : hits) {
        radii.push_back(radius(h));
        bins.push_back(h.detector);
    }
    const std::int64_t n = static_cast<std::int64_t>(hits.size());
    const auto member = [n](const void *first, histo_dtype dtype) {
        histo_view view = histo_view_1d(first, dtype, n);
        view.strides[0] = sizeof(hit);
        return view;
    };
    const histo_view mask = member(&hits[0].is_good, HISTO_U8), weights = member(&hits[0].energy, HISTO_F64);
    const histo_view where = member(&hits[0].x, HISTO_F32);
    const histo_axis axes[] = {histo_axis_regular(20, 0, 1.2), histo_axis_integer(0, 64)};
    const histo_view views[] = {histo_view_1d(radii.data(), HISTO_F32, n), histo_view_1d(bins.data(), HISTO_I32, n)};
    for (int which = 0; which < 16; which++) {
        histo_hist_options kind{};
        kind.weighting = which & 1 ? HISTO_WEIGHT_REPRODUCIBLE : HISTO_UNWEIGHTED;
        histo_fill_options fill{};
        fill.weights = which & 1 ? &weights : nullptr;
        fill.mask = which & 2 ? &mask : nullptr;
        fill.where = which & 4 ? &where : nullptr;
        fill.where_lo = which & 4 ? -0.5 : 0;
        fill.where_hi = which & 4 ? 0.75 : 0;
        fill.threads = which & 8 ? 7 : 1;
        histo::histogram expected({axes[0], axes[1]}, kind), counted({axes[0], axes[1]}, kind);
        OK(histo_hist_fill(expected.get(), views, &fill));
        histo::fill(counted.get(), hits.data(), hits.size(), fill, radius, &hit::detector);
        assert_same(expected.get(), counted.get());

        /* One axis of records, and one of an ordinary array. */
        const histo::records<hit, float (*)(const hit &)> first(hits.data(), hits.size(), radius);
        const histo_view mixed[] = {first.views()[0], views[1]};
        const histo_function functions[] = {first.with({}).functions[0], {}};
        fill.functions = functions;
        fill.replace = true;
        OK(histo_hist_fill(counted.get(), mixed, &fill));
        assert_same(expected.get(), counted.get());
    }
}

/* Batches, segments and records in any order are those of views. */
void test_layouts(void **)
{
    enum { ENTRIES = 6, EACH = 1000 };
    const std::vector<hit> hits = make_hits(ENTRIES * EACH);
    std::vector<std::uint8_t> good;
    for (const hit &h : hits)
        good.push_back(h.is_good);
    const auto is_good = [](const hit &h) { return h.is_good; };
    const histo::records<hit, decltype(is_good)> all(hits.data(), hits.size(), is_good);
    const histo_axis axis = histo_axis_integer(0, 2);
    histo_hist_options kind{};
    kind.batch = ENTRIES;
    const std::int64_t offsets[ENTRIES + 1] = {0, 10, 10, 1500, 1501, 4000, ENTRIES * EACH};
    for (int layout = 0; layout < 4; layout++) {
        histo_view records = all.views()[0], bytes = histo_view_1d(good.data(), HISTO_U8, ENTRIES * EACH);
        histo_fill_options fill{};
        fill.threads = 3;
        for (histo_view *view : {&records, &bytes}) {
            const std::int64_t size = view->strides[0];
            if (layout == 3) continue; /* segments */
            view->ndim = 2;
            view->batch_ndim = 1;
            view->shape[0] = ENTRIES;
            view->shape[1] = EACH;
            view->strides[0] = layout == 1 ? size : size * EACH; /* entries side by side */
            view->strides[1] = layout == 1 ? size * ENTRIES : size;
            if (layout != 2) continue;
            view->data = static_cast<const char *>(view->data) + (EACH - 1) * size;
            view->strides[1] = -size;
        }
        if (layout == 3) fill.offsets = offsets;
        histo::histogram expected(axis, kind), counted(axis, kind);
        OK(histo_hist_fill(expected.get(), &bytes, &fill));
        const histo_fill_options filling = all.with(fill);
        OK(histo_hist_fill(counted.get(), &records, &filling));
        assert_same(expected.get(), counted.get());
    }
}

/* Many records, by many threads, and again, by the plan that the histogram has kept. */
void test_many(void **)
{
    const std::vector<hit> hits = make_hits(3000017);
    std::vector<double> energies;
    for (const hit &h : hits)
        energies.push_back(h.energy);
    const histo_axis axis = histo_axis_regular(100000, 0, 100);
    const histo_view view = histo_view_1d(energies.data(), HISTO_F64, static_cast<std::int64_t>(energies.size()));
    for (int threads : {1, 2, 16}) {
        histo_fill_options fill{};
        fill.threads = threads;
        histo::histogram expected(axis), counted(axis);
        for (int fills = 0; fills < 2; fills++) {
            OK(histo_hist_fill(expected.get(), &view, nullptr));
            histo::fill(counted.get(), hits.data(), hits.size(), fill, &hit::energy);
            assert_same(expected.get(), counted.get());
        }
    }
    histo_plan_options measure{};
    measure.effort = HISTO_MEASURE;
    histo_plan *plan;
    const auto energy = &hit::energy;
    const histo::records<hit, double hit::*> all(hits.data(), hits.size(), energy);
    const histo_fill_options fill = all.with({});
    histo::histogram expected(axis), counted(axis);
    OK(histo_plan_create(&plan, counted.get(), all.views(), &fill, &measure));
    OK(histo_plan_fill(plan, counted.get(), all.views(), &fill));
    OK(histo_hist_fill(expected.get(), &view, nullptr));
    assert_same(expected.get(), counted.get());
    REFUSED(HISTO_INVALID, "the plan was made for other", histo_plan_fill(plan, counted.get(), &view, nullptr));
    histo_plan_destroy(plan);
}

/* Few records make no plan; another functor of the same dtype may follow. */
void test_few(void **)
{
    const std::vector<hit> hits = make_hits(50);
    histo::histogram h(histo_axis_regular(5, -1, 1));
    h.fill(hits, &hit::x);
    assert_true(histo_hist_last_plan(h.get()) != nullptr);
    h.fill(hits, &hit::y);
    std::uint64_t counts[5], of_y[5];
    histo::histogram x(histo_axis_regular(5, -1, 1)), y(histo_axis_regular(5, -1, 1));
    x.fill(hits, &hit::x);
    OK(histo_hist_read_counts(x.get(), HISTO_BINS, counts, 5, nullptr));
    const auto y_of = &hit::y;
    const histo::records<hit, float hit::*> all(hits.data(), hits.size(), y_of);
    const histo_fill_options fill = all.with({});
    const histo_axis axis = histo_axis_regular(5, -1, 1);
    OK(histo_count(1, &axis, all.views(), &fill, of_y, 5, nullptr, nullptr));
    for (std::size_t b = 0; b < 5; b++)
        assert_int_equal(h.counts()[b], counts[b] + of_y[b]);
    h.fill(hits.data(), 0, radius);
    h.fill(static_cast<const hit *>(nullptr), 0, radius);
    assert_int_equal(h.tally().samples, 100);
}

/* ---- Surveys ---- */

void test_surveys(void **)
{
    const std::vector<hit> hits = make_hits(300000);
    std::vector<double> energies;
    for (const hit &h : hits)
        energies.push_back(h.energy);
    const histo_view view = histo_view_1d(energies.data(), HISTO_F64, static_cast<std::int64_t>(energies.size()));
    const histo_view mask_of = {&hits[0].is_good, HISTO_U8, 1, 0, {view.shape[0]}, {sizeof(hit)}};
    const auto energy = &hit::energy;
    const histo::records<hit, double hit::*> all(hits.data(), hits.size(), energy);
    for (const histo_view *mask : {static_cast<const histo_view *>(nullptr), &mask_of}) {
        histo_fill_options fill{};
        fill.mask = mask;
        const histo_fill_options of_records = all.with(fill);
        for (histo_range range : {HISTO_RANGE_MINMAX, HISTO_RANGE_PERCENTILE}) {
            histo_survey_options options{};
            options.range = range;
            options.lo = 2;
            options.hi = 98;
            options.rule = HISTO_RULE_FD;
            histo_axis axes[2];
            OK(histo_axis_from_data(&view, &fill, &options, &axes[0]));
            OK(histo_axis_from_data(all.views(), &of_records, &options, &axes[1]));
            assert_int_equal(axes[0].bins, axes[1].bins);
            assert_true(axes[0].lo == axes[1].lo && axes[0].hi == axes[1].hi);
        }
        histo_extremes extremes[2];
        OK(histo_find_extremes(&view, &fill, &extremes[0], 1));
        OK(histo_find_extremes(all.views(), &of_records, &extremes[1], 1));
        assert_memory_equal(&extremes[0], &extremes[1], sizeof extremes[0]);
        histo_power_sums sums[2] = {};
        OK(histo_power_sums_add(&sums[0], &view, &fill));
        OK(histo_power_sums_add(&sums[1], all.views(), &of_records));
        assert_memory_equal(&sums[0], &sums[1], sizeof sums[0]);
        const double q[] = {0.25, 0.5};
        double values[2][2];
        for (int i = 0; i < 2; i++) {
            histo_quantiles *quantiles;
            OK(histo_quantiles_create(&quantiles, HISTO_F64, HISTO_QUANTILE_LINEAR, 2, q));
            while (quantiles_next_pass(quantiles))
                OK(histo_quantiles_add(quantiles, i ? all.views() : &view, i ? &of_records : &fill));
            OK(histo_quantiles_read(quantiles, values[i]));
            histo_quantiles_destroy(quantiles);
        }
        assert_memory_equal(values[0], values[1], sizeof values[0]);
    }
}

/* ---- Refusals ---- */

void test_refusals(void **)
{
    const std::vector<hit> hits = make_hits(10);
    histo::histogram h(histo_axis_regular(5, -1, 1));
    const auto x = &hit::x;
    const histo::records<hit, float hit::*> all(hits.data(), hits.size(), x);
    const histo_fill_options fill = all.with({});
    histo_view view = all.views()[0];
    view.data = static_cast<const char *>(view.data) + 1;
    REFUSED(HISTO_INVALID, "multiples of 8 bytes", histo_hist_fill(h.get(), &view, &fill));
    view = all.views()[0];
    view.strides[0] += 4;
    REFUSED(HISTO_INVALID, "multiples of 8 bytes", histo_hist_fill(h.get(), &view, &fill));
    view.strides[0] -= 4;
    view.dtype = static_cast<histo_dtype>(HISTO_F32 | HISTO_SWAPPED);
    REFUSED(HISTO_INVALID, "this machine's byte order", histo_hist_fill(h.get(), &view, &fill));
    histo_survey_options survey{};
    survey.bins = 10;
    histo_axis axis;
    assert_true(histo_axis_from_data(&view, &fill, &survey, &axis) == HISTO_INVALID);

    histo::histogram pairs({histo_axis_regular(5, -1, 1), histo_axis_integer(0, 256)});
    const std::int64_t shape[] = {2, 3};
    const histo_view stack = histo_view_nd(hits.data(), HISTO_U8, 2, shape);
    histo_pairs ring{};
    ring.pairing = HISTO_PAIRS_RING;
    REFUSED(HISTO_INVALID, "without weights, mask, where, offsets and functions",
            histo_hist_fill_pairs(pairs.get(), &stack, &ring, &fill));

    histo_plan_options gpu{};
    gpu.device = HISTO_DEVICE_CUDA(0);
    histo_plan *plan;
    assert_int_equal(histo_plan_create(&plan, h.get(), all.views(), &fill, &gpu), HISTO_UNSUPPORTED);
    bool thrown = false;
    try {
        h.fill(hits, &hit::x, &hit::y);
    } catch (const histo::error &error) {
        thrown = error.status() == HISTO_INVALID && std::strstr(error.what(), "as many functors");
    }
    assert_true(thrown);
    try {
        histo::histogram bad(histo_axis_regular(0, 0, 1));
    } catch (const histo::error &error) {
        thrown = error.status() == HISTO_INVALID && *error.what();
    }
    assert_true(thrown);
    assert_int_equal(h.tally().samples, 0);
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_dtypes),  cmocka_unit_test(test_types),   cmocka_unit_test(test_functors),
        cmocka_unit_test(test_options), cmocka_unit_test(test_layouts), cmocka_unit_test(test_many),
        cmocka_unit_test(test_few),     cmocka_unit_test(test_surveys), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
