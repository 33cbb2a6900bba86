/* Records in a GPU's memory, whose functors become part of compiled kernels: counts are those of the CPU, to the bit.
 */
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include <cuda_runtime_api.h>

#include <histo/histo.hpp>

extern "C" {
#include "support/device.h"
#include "support/same.h"
}
#include "support/data.h"

static const float known_to_the_host = 1;

/* clang-format off */
HISTO_SOURCE(sources,

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

struct hit {
    float x, y;
    double energy;
    std::int32_t detector;
    std::uint8_t is_good;
};

struct radius {
    float operator()(const hit &h) const { return sqrtf(h.x * h.x + h.y * h.y); }
};

/* The bin itself, by a template argument. */
template <int width>
struct group {
    int operator()(const hit &h) const { return h.detector / width; }
};

struct energy {
    double operator()(const hit &h) const { return h.is_good ? h.energy : NAN; }
};

enum class side : std::uint8_t { left, right };

struct side_of {
    side operator()(const hit &h) const { return h.x < 0 ? side::left : side::right; }
};

/* Three bytes, read as one number. */
struct triple {
    std::uint8_t bytes[3];
};

struct whole {
    std::uint32_t operator()(const triple &t) const { return t.bytes[0] | t.bytes[1] << 8 | t.bytes[2] << 16; }
};

);

HISTO_SOURCE(wrong_sources,

struct point {
    float x;
};

struct shifted {
    float operator()(const point &p) const { return p.x + known_to_the_host; }
};

);
/* clang-format on */

namespace
{

using namespace sources;

/* ---- Memory ---- */

template <class record>
struct device_array {
    record *data = nullptr;
    std::size_t n;
    explicit device_array(const std::vector<record> &all) : n(all.size())
    {
        CUDA_OK(cudaMalloc(reinterpret_cast<void **>(&data), n * sizeof(record)));
        CUDA_OK(cudaMemcpy(data, all.data(), n * sizeof(record), cudaMemcpyHostToDevice));
        CUDA_OK(cudaDeviceSynchronize());
    }
    device_array(const device_array &) = delete;
    device_array &operator=(const device_array &) = delete;
    ~device_array() { cudaFree(data); }
};

template <class record>
std::vector<record> make_records(rng *r, distribution d, const histo_axis &axis, std::size_t n)
{
    using number = typename record::number;
    number *numbers =
        static_cast<number *>(make_samples(r, histo::dtype_of<number>(), d, &axis, static_cast<std::int64_t>(n)));
    std::vector<record> all(n);
    for (std::size_t i = 0; i < n; i++) {
        unsigned char *bytes = reinterpret_cast<unsigned char *>(&all[i]);
        for (std::size_t b = 0; b < sizeof(record); b++)
            bytes[b] = static_cast<unsigned char>(rng_next(r) >> 32);
        std::memcpy(static_cast<void *>(&all[i].value), static_cast<const void *>(&numbers[i]), sizeof numbers[i]);
    }
    std::free(numbers);
    return all;
}

std::vector<hit> make_hits(std::size_t n)
{
    std::vector<hit> hits(n);
    rng r = {n};
    for (hit &h : hits) {
        h.x = static_cast<float>(rng_uniform(&r)) * 2 - 1;
        h.y = static_cast<float>(rng_below(&r, 1 << 20)) / (1 << 20); /* its square is exact */
        h.energy = rng_below(&r, 50) ? rng_uniform(&r) * 110 - 5 : INFINITY;
        h.detector = static_cast<std::int32_t>(rng_below(&r, 70)) - 3;
        h.is_good = rng_below(&r, 3) > 0;
    }
    return hits;
}

/* ---- Comparing ---- */

/* By the histogram's own plan, or by a strategy; which one counted. */
template <class record, class functor>
std::string assert_counted(const histo_axis &axis, const std::vector<record> &all, const device_array<record> &there,
                           const functor &of, const char *strategy)
{
    histo::histogram expected(axis), counted(axis);
    expected.fill(all, of);
    const histo::records<record, functor> records(there.data, there.n, of);
    const histo_fill_options fill = records.with({});
    histo_plan_options options{};
    options.strategy = strategy;
    histo_plan *plan;
    const histo_status status = histo_plan_create(&plan, counted.get(), records.views(), &fill, &options);
    if (status == HISTO_UNSUPPORTED) return "";
    OK(status);
    for (int fills = 0; fills < 2; fills++) {
        histo_fill_options again = fill;
        again.replace = fills > 0;
        OK(histo_plan_fill(plan, counted.get(), records.views(), &again));
        assert_same(expected.get(), counted.get());
    }
    const std::string name = histo_plan_strategy(plan);
    histo_plan_destroy(plan);
    return name;
}

template <class record>
void check_records(rng *r)
{
    const histo_dtype dtype = histo::dtype_of<typename record::number>();
    histo_axis axis;
    int axes = 0;
    while (test_axis(axes, dtype, &axis))
        axes++;
    for (int each = 0; each < (is_sanitized() ? 1 : 4); each++) {
        test_axis(static_cast<int>(rng_below(r, axes)), dtype, &axis);
        const distribution d = static_cast<distribution>(rng_below(r, DISTRIBUTIONS));
        const std::vector<record> all = make_records<record>(r, d, axis, each ? 200003 : 77);
        const device_array<record> there(all);
        const value_of<record> of;
        assert_counted(axis, all, there, of, nullptr);
    }
}

void every_dtype(void **)
{
    NEEDS_GPU();
    rng r = {7};
    static_assert(sizeof(padded<std::uint8_t, 1, 1>) == 3 && sizeof(padded<std::int32_t, 4, 4>) == 12 &&
                  sizeof(padded<double, 24, 8>) == 40);
    check_records<padded<std::uint8_t, 1, 1>>(&r);
    check_records<padded<std::int8_t, 2, 2>>(&r);
    check_records<padded<std::uint16_t, 2, 3>>(&r);
    check_records<padded<std::int16_t, 1, 1>>(&r);
    check_records<padded<std::uint32_t, 4, 7>>(&r);
    check_records<padded<std::int32_t, 4, 4>>(&r);
    check_records<padded<std::uint64_t, 8, 8>>(&r);
    check_records<padded<std::int64_t, 24, 8>>(&r);
    check_records<padded<float, 4, 4>>(&r);
    check_records<padded<double, 24, 8>>(&r);
}

/* Strategies count records, or say that they cannot; and a plan finds one for any number of bins. */
void every_strategy(void **)
{
    NEEDS_GPU();
    const std::vector<hit> hits = make_hits(1000003);
    const device_array<hit> there(hits);
    std::set<std::string> counted;
    const double edges[] = {0, 0.1, 0.11, 0.5, 0.9, 2};
    for (const histo_axis &axis : {histo_axis_regular(300, 0, 1.25), histo_axis_regular(1000000, 0, 1.25),
                                   histo_axis_variable(5, edges), histo_axis_log(5000, 0.001, 2)}) {
        assert_true(assert_counted(axis, hits, there, radius(), nullptr) != "");
        for (int i = 0; i < histo_strategy_count(); i++) {
            histo_strategy_info info;
            OK(histo_strategy_describe(i, &info));
            const std::string name = std::string(info.backend) + "/" + info.name;
            if (name.substr(0, 5) == "cuda/") counted.insert(assert_counted(axis, hits, there, radius(), name.c_str()));
        }
    }
    for (const char *name : {"cuda/global_atomic", "cuda/lane_private", "cuda/partition"})
        assert_true(counted.count(name));
    assert_false(counted.count("cuda/packed_window"));
}

/* As many bins as lane_private holds, beside tables of first floats. */
void many_bins(void **)
{
    NEEDS_GPU();
    const std::vector<hit> hits = make_hits(300007);
    const device_array<hit> there(hits);
    for (std::int64_t bins : {2000, 8192, 30000, 50000, 54000, 56000, 58000})
        assert_counted(histo_axis_regular(bins, 0, 1.25), hits, there, radius(), "cuda/lane_private");
    for (int bins : {220, 230, 232}) { /* joint histograms, whose axes have tables */
        histo::histogram expected({histo_axis_regular(bins, 0, 1.25), histo_axis_regular(bins, 0, 1.25)});
        histo::histogram counted({histo_axis_regular(bins, 0, 1.25), histo_axis_regular(bins, 0, 1.25)});
        expected.fill(hits, radius(), radius());
        counted.fill(there.data, there.n, radius(), radius());
        assert_same(expected.get(), counted.get());
    }
}

/* Functors one after the other on one histogram, whose plan stays; few records; none. */
void several_functors(void **)
{
    NEEDS_GPU();
    for (std::size_t n : {std::size_t(10), std::size_t(500000)}) {
        const std::vector<hit> hits = make_hits(n);
        const device_array<hit> there(hits);
        histo::histogram expected(histo_axis_integer(0, 8)), counted(histo_axis_integer(0, 8));
        expected.fill(hits, group<9>());
        expected.fill(hits, group<2>());
        expected.fill(hits, group<9>());
        counted.fill(there.data, n, group<9>());
        counted.fill(there.data, n, group<2>());
        counted.fill(there.data, n, group<9>());
        counted.fill(there.data, 0, group<9>());
        assert_same(expected.get(), counted.get());
    }
    const std::vector<hit> hits = make_hits(4321);
    const device_array<hit> there(hits);
    histo::histogram expected(histo_axis_integer(0, 2)), counted(histo_axis_integer(0, 2));
    expected.fill(hits, side_of());
    counted.fill(there.data, there.n, side_of());
    assert_same(expected.get(), counted.get());

    std::vector<triple> triples(5000);
    rng r = {5};
    for (triple &t : triples)
        for (std::uint8_t &byte : t.bytes)
            byte = static_cast<std::uint8_t>(rng_next(&r) >> 32);
    const device_array<triple> triples_there(triples);
    assert_true(assert_counted(histo_axis_regular(100, 0, 1 << 24), triples, triples_there, whole(), nullptr) != "");
}

/* Masks, weights and filters that lie in the records; several axes; batches. */
void options(void **)
{
    NEEDS_GPU();
    enum { ENTRIES = 4, EACH = 60000 };
    const std::vector<hit> hits = make_hits(ENTRIES * EACH);
    const device_array<hit> there(hits);
    const auto member = [](const void *first, histo_dtype dtype) {
        histo_view view = histo_view_1d(first, dtype, ENTRIES * EACH);
        view.strides[0] = sizeof(hit);
        return view;
    };
    for (int which = 0; which < 16; which++) {
        histo_hist_options kind{};
        kind.batch = which & 8 ? ENTRIES : 1;
        kind.weighting = which & 1 ? HISTO_WEIGHT_REPRODUCIBLE : HISTO_UNWEIGHTED;
        histo::histogram filled[2] = {
            histo::histogram({histo_axis_regular(40, 0, 1.25), histo_axis_integer(0, 8)}, kind),
            histo::histogram({histo_axis_regular(40, 0, 1.25), histo_axis_integer(0, 8)}, kind)};
        for (int device = 0; device < 2; device++) {
            const hit *first = device ? there.data : hits.data();
            histo_view mask = member(&first->is_good, HISTO_U8), weights = member(&first->energy, HISTO_F64),
                       where = member(&first->x, HISTO_F32);
            const radius r;
            const group<9> g;
            const histo::records<hit, radius, group<9>> records(first, hits.size(), r, g);
            histo_view views[] = {records.views()[0], records.views()[1]};
            for (histo_view *view : {&views[0], &views[1], &mask, &weights, &where}) {
                if (!(which & 8)) continue;
                view->ndim = 2;
                view->batch_ndim = 1;
                view->shape[0] = ENTRIES;
                view->shape[1] = EACH;
                view->strides[1] = sizeof(hit);
                view->strides[0] = EACH * sizeof(hit);
            }
            histo_fill_options fill = records.with({});
            fill.weights = which & 1 ? &weights : nullptr;
            fill.mask = which & 2 ? &mask : nullptr;
            fill.where = which & 4 ? &where : nullptr;
            fill.where_lo = which & 4 ? -0.5 : 0;
            fill.where_hi = which & 4 ? 0.75 : 0;
            OK(histo_hist_fill(filled[device].get(), views, &fill));
        }
        assert_same(filled[0].get(), filled[1].get());
    }
}

/* Fills that a graph repeats. */
void captured(void **)
{
    NEEDS_GPU();
    const std::vector<hit> hits = make_hits(100000);
    const device_array<hit> there(hits);
    const energy of;
    const histo_axis axis = histo_axis_regular(100, 0, 100);
    histo::histogram expected(axis), counted(axis);
    const histo::records<hit, energy> records(there.data, there.n, of);
    histo_plan *plan;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t launched;
    CUDA_OK(cudaStreamCreate(&stream));
    histo_fill_options fill = records.with({});
    fill.stream = stream;
    OK(histo_plan_create(&plan, counted.get(), records.views(), &fill, nullptr));
    OK(histo_plan_fill(plan, counted.get(), records.views(), &fill));
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(histo_plan_fill(plan, counted.get(), records.views(), &fill));
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphInstantiate(&launched, graph, 0));
    CUDA_OK(cudaGraphLaunch(launched, stream));
    CUDA_OK(cudaGraphLaunch(launched, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    for (int fills = 0; fills < 3; fills++)
        expected.fill(hits, of);
    assert_same(expected.get(), counted.get());
    CUDA_OK(cudaGraphExecDestroy(launched));
    CUDA_OK(cudaGraphDestroy(graph));
    histo_plan_destroy(plan);
    CUDA_OK(cudaStreamDestroy(stream));
}

/* What cannot be counted changes nothing, and the message says why. */
void refusals(void **)
{
    NEEDS_GPU();
    const std::vector<hit> hits = make_hits(1000);
    const device_array<hit> there(hits);
    const histo_axis axis = histo_axis_regular(10, -1, 1);
    histo::histogram h(axis), expected(axis);
    expected.fill(hits, radius());
    h.fill(there.data, there.n, radius());

    const device_array<wrong_sources::point> points(std::vector<wrong_sources::point>(1000));
    const wrong_sources::shifted bad;
    const histo::records<wrong_sources::point, wrong_sources::shifted> misspelt(points.data, points.n, bad);
    histo_fill_options fill = misspelt.with({});
    for (int fills = 0; fills < 2; fills++) { /* the second time from memory */
        REFUSED(HISTO_INVALID, "cannot be compiled for a GPU", histo_hist_fill(h.get(), misspelt.views(), &fill));
        assert_non_null(std::strstr(histo_last_error(), "known_to_the_host"));
    }
    fill.replace = true;
    REFUSED(HISTO_INVALID, "cannot be compiled for a GPU", histo_hist_fill(h.get(), misspelt.views(), &fill));
    assert_same(expected.get(), h.get());

    /* Numbers of another dtype, and records of another size. */
    const energy of;
    const histo::records<hit, energy> energies(there.data, there.n, of);
    histo_view view = energies.views()[0];
    view.dtype = HISTO_F32;
    fill = energies.with({});
    REFUSED(HISTO_INVALID, "cannot be compiled for a GPU", histo_hist_fill(h.get(), &view, &fill));
    histo_function larger = *fill.functions;
    larger.size++;
    fill.functions = &larger;
    histo::histogram of_energies(axis);
    REFUSED(HISTO_INVALID, "another size than on the host",
            histo_hist_fill(of_energies.get(), energies.views(), &fill));

    /* A lambda has no source. */
    const auto lambda = [](const hit &hit) { return hit.x; };
    const histo::records<hit, decltype(lambda)> all(there.data, there.n, lambda);
    const histo_fill_options of_lambda = all.with({});
    REFUSED(HISTO_UNSUPPORTED, "have no source", histo_hist_fill(h.get(), all.views(), &of_lambda));

    /* Records in host memory, and other strategies. */
    histo_plan_options gpu{};
    gpu.device = HISTO_DEVICE_CUDA(0);
    histo_plan *plan;
    const radius r;
    const histo::records<hit, radius> here(hits.data(), hits.size(), r), on_device(there.data, there.n, r);
    const histo_fill_options of_radius = here.with({});
    REFUSED(HISTO_UNSUPPORTED, "must be in its memory",
            histo_plan_create(&plan, h.get(), here.views(), &of_radius, &gpu));
    gpu.strategy = "cuda/packed_window";
    REFUSED(HISTO_UNSUPPORTED, "samples of dtypes, not records",
            histo_plan_create(&plan, h.get(), on_device.views(), &of_radius, &gpu));
    histo_extremes extremes;
    REFUSED(HISTO_UNSUPPORTED, "functions of records are called by the CPU",
            histo_find_extremes(on_device.views(), &of_radius, &extremes, 1));
    assert_same(expected.get(), h.get());
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype),      cmocka_unit_test(every_strategy), cmocka_unit_test(many_bins),
        cmocka_unit_test(several_functors), cmocka_unit_test(options),        cmocka_unit_test(captured),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
