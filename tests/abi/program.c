/* A program that calls every function of the library, with every options struct, and prints what it gets: script/abi
 * keeps it beside the headers of a release, and later libraries must run it and print the same. It prints only what the
 * headers promise: no times, no names of strategies, no bytes of files. */
#include <histo/histo.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, BINS = 5, ALL = BINS + 3 };

static float samples[N];
static double weights[N];
static uint8_t bytes[N], bits[N / 8 + 1];

static void ok(histo_status status)
{
    if (status == HISTO_OK) return;
    printf("%s: %s\n", histo_status_name(status), histo_last_error());
    exit(EXIT_FAILURE);
}

static void refused(histo_status status)
{
    printf("refused: %s, %s\n", histo_status_name(status), *histo_last_error() ? "with a sentence" : "without");
}

static void print_counts(const char *what, const uint64_t *counts, int64_t n)
{
    printf("%s:", what);
    for (int64_t i = 0; i < n; i++)
        printf(" %llu", (unsigned long long)counts[i]);
    putchar('\n');
}

static void print_numbers(const char *what, const double *numbers, int64_t n)
{
    printf("%s:", what);
    for (int64_t i = 0; i < n; i++)
        printf(" %.12g", numbers[i]);
    putchar('\n');
}

static void print_tally(const histo_hist *hist)
{
    histo_tally t;
    ok(histo_hist_tally(hist, &t));
    const uint64_t all[] = {t.samples, t.masked, t.bins, t.flow, t.under[0], t.over[0], t.nan[0]};
    print_counts("tally", all, 7);
}

static void print_hist(const char *what, const histo_hist *hist)
{
    uint64_t counts[512];
    const int64_t size = histo_hist_size(hist, HISTO_FLOW);
    if (size > 512) exit(EXIT_FAILURE);
    ok(histo_hist_read_counts(hist, HISTO_FLOW, counts, size, NULL));
    print_counts(what, counts, size);
}

static void *allocate(void *context, size_t size)
{
    ++*(_Atomic int *)context; /* several threads call this */
    return malloc(size);
}

static void release(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

static void make_samples(void)
{
    uint32_t state = 1;
    for (int i = 0; i < N; i++) {
        state = state * 1664525 + 1013904223;
        samples[i] = (float)(state >> 20) / 2048 - 0.5f; /* -0.5 … 1.5 */
        weights[i] = (double)(state >> 28) + 0.25;
        bytes[i] = (uint8_t)(state >> 24);
        bits[i / 8] |= (uint8_t)((state >> 25 & 1) << i % 8);
    }
    samples[7] = NAN;
}

static histo_axis unit(void)
{
    return histo_axis_closed(histo_axis_regular(BINS, 0, 1));
}

static histo_hist *hist_of(histo_axis axis, histo_hist_options options)
{
    histo_hist *hist;
    ok(histo_hist_create(&hist, 1, &axis, &options));
    return hist;
}

/* A histogram of the samples. */
static histo_hist *filled(void)
{
    const histo_view view = histo_view_1d(samples, HISTO_F32, N);
    histo_hist *hist = hist_of(unit(), (histo_hist_options){0});
    ok(histo_hist_fill(hist, &view, NULL));
    return hist;
}

/* Three copies of a histogram of the bytes of each third, in a batch. */
static histo_hist *filled_batch(histo_weighting weighting)
{
    static const int64_t offsets[] = {0, 300, 600, N};
    const histo_view view = histo_view_1d(bytes, HISTO_U8, N), w = histo_view_1d(weights, HISTO_F64, N);
    histo_hist *hist = hist_of(histo_axis_integer(0, 256), (histo_hist_options){.batch = 3, .weighting = weighting});
    const bool weighted = weighting != HISTO_UNWEIGHTED;
    ok(histo_hist_fill(hist, &view, &(histo_fill_options){.offsets = offsets, .weights = weighted ? &w : NULL}));
    return hist;
}

/* ---- Axes and views ---- */

static void axes(void)
{
    static const double edges[] = {-INFINITY, 0, 0.5, 0.5, 1, INFINITY};
    static const int64_t times[] = {-5, 0, INT64_MAX - 2, INT64_MAX - 1};
    static const uint64_t ids[] = {0, 7, UINT64_MAX - 1};
    const histo_axis all[] = {histo_axis_integer(-2, BINS),
                              histo_axis_regular(BINS, 0, 1),
                              histo_axis_variable(BINS, edges),
                              histo_axis_variable_i64(3, times),
                              histo_axis_variable_u64(2, ids),
                              histo_axis_log(BINS, 1, 32),
                              histo_axis_sqrt(BINS, 0, 25),
                              histo_axis_power(BINS, 1, 3, 2),
                              histo_axis_closed(histo_axis_sqrt(BINS, 0, 25))};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
        double found[BINS + 1];
        ok(histo_axis_check(&all[a]));
        ok(histo_axis_edges(&all[a], found));
        printf("%s, %d bins, closed %d, equal %d%d:", histo_axis_kind_name(all[a].kind), (int)all[a].bins,
               all[a].closed, histo_axis_equal(&all[a], &all[a]), histo_axis_equal(&all[a], &all[0]));
        for (int64_t i = 0; i <= all[a].bins; i++)
            printf(" %.9g%s", found[i], found[i] == histo_axis_edge(&all[a], i) ? "" : "?");
        putchar('\n');
    }
    double spaced[BINS + 1];
    ok(histo_linspace(BINS, 0, 1, HISTO_F32, HISTO_F32, spaced));
    print_numbers("linspace", spaced, BINS + 1);
    const histo_axis bad = histo_axis_regular(BINS, 1, 0);
    refused(histo_axis_check(&bad));
}

static void views(void)
{
    static const int64_t shape[] = {2, 1, 3}, row[] = {24, 24, 8};
    const int64_t *strides[] = {row};
    histo_view view = histo_view_nd(weights, HISTO_F64, 3, shape);
    histo_dtype parsed;
    ok(histo_dtype_parse("bf16", &parsed));
    printf("%s %s %d %d %lld", histo_dtype_name(parsed), histo_dtype_name(HISTO_F32 | HISTO_SWAPPED),
           (int)histo_dtype_size(HISTO_U16), (int)histo_dtype_size(HISTO_BIT), (long long)histo_view_size(&view));
    ok(histo_view_coalesce(1, &view, 3, 0, shape, strides));
    printf(" %d %lld %.12g\n", view.ndim, (long long)view.shape[0], histo_sample_value(&weights[3], HISTO_F64));
}

/* ---- Fills and reads ---- */

static void numbers_of(const void *context, const void *records, int64_t stride, int64_t n, void *numbers)
{
    for (int64_t i = 0; i < n; i++)
        ((float *)numbers)[i] = *(const float *)((const char *)records + i * stride) * *(const float *)context;
}

static void fills(void)
{
    static const float half = 0.5f;
    const histo_view view = histo_view_1d(samples, HISTO_F32, N), mask = histo_view_1d(bytes, HISTO_U8, N),
                     some = histo_view_1d(bits, HISTO_BIT, N - 3);
    const histo_view fewer = histo_view_1d(samples, HISTO_F32, N - 3);
    const histo_function scaled = {.numbers_of = numbers_of, .context = &half, .alignment = sizeof(float)};
    histo_hist *hist = filled();
    print_hist("filled", hist);
    ok(histo_hist_fill(hist, &view, &(histo_fill_options){.mask = &mask, .threads = 2}));
    ok(histo_hist_fill(hist, &view, &(histo_fill_options){.where = &mask, .where_lo = 10, .where_hi = 99}));
    ok(histo_hist_fill(hist, &fewer, &(histo_fill_options){.mask = &some, .mask_offset = 3}));
    print_tally(hist);
    ok(histo_hist_fill(hist, &view, &(histo_fill_options){.functions = &scaled, .replace = true}));
    print_hist("records", hist);
    const histo_fill_chunk chunks[] = {{.views = &view, .mask = &mask}, {.views = &fewer, .mask = &mask}};
    const histo_view shorter = histo_view_1d(bytes, HISTO_U8, N - 3);
    const histo_fill_chunk right[] = {chunks[0], {.views = &fewer, .mask = &shorter}};
    refused(histo_hist_fill_chunks(hist, 2, chunks, NULL));
    ok(histo_hist_fill_chunks(hist, 2, right, &(histo_fill_options){.threads = 1}));
    print_tally(hist);
    printf("planned: %d\n", histo_plan_threads(histo_hist_last_plan(hist)) > 0);
    ok(histo_hist_reset(hist, NULL));
    print_tally(hist);
    histo_hist_destroy(hist);
}

static void reads(void)
{
    histo_hist *batch = filled_batch(HISTO_UNWEIGHTED);
    uint32_t part[2 * 4];
    uint64_t masked[3], occupied_counts[800];
    int64_t occupied, index[800], at[1];
    const uint64_t *counts;
    const double *sum_w;
    const histo_read_options some = {
        .dtype = HISTO_U32, .cumulative = true, .first_entry = 1, .entries = 2, .begin = {16}, .end = {20}};
    ok(histo_hist_read_counts(batch, HISTO_BINS, part, 8, &some));
    for (int i = 0; i < 8; i++)
        printf("%u ", (unsigned)part[i]);
    ok(histo_hist_occupied(batch, HISTO_FLOW, &occupied));
    if (occupied > 800) exit(EXIT_FAILURE);
    ok(histo_hist_read_occupied(batch, HISTO_FLOW, index, occupied_counts, occupied));
    const int64_t entry = histo_hist_unravel(batch, HISTO_FLOW, index[occupied - 1], at);
    printf("%lld occupied, the last one %lld of entry %lld\n", (long long)occupied, (long long)at[0], (long long)entry);
    ok(histo_hist_borrow(batch, &counts, &sum_w, NULL));
    print_counts("borrowed", counts, 12);
    ok(histo_hist_read_masked(batch, masked, 3));
    print_counts("masked", masked, 3);
    const histo_axis axis = histo_hist_axis(batch, 0);
    printf("%d axes, %lld bins, batch %lld, storage %u, weighting %s\n", histo_hist_naxes(batch), (long long)axis.bins,
           (long long)histo_hist_batch(batch), (unsigned)histo_hist_storage(batch),
           histo_weighting_name(histo_hist_weighting(batch)));
    histo_hist_destroy(batch);
}

static void weighted(void)
{
    static const histo_weighting all[] = {HISTO_WEIGHT_REPRODUCIBLE, HISTO_WEIGHT_REPRODUCIBLE_SUM, HISTO_WEIGHT_FAST,
                                          HISTO_WEIGHT_FAST_SUM};
    for (int k = 0; k < 4; k++) { /* weights are multiples of 1/4, so that all sums are exact */
        double sums[ALL], squares[ALL];
        histo_hist *hist = hist_of(unit(), (histo_hist_options){.weighting = all[k]});
        const histo_view view = histo_view_1d(samples, HISTO_F32, N), w = histo_view_1d(weights, HISTO_F64, N);
        ok(histo_hist_fill(hist, &view, &(histo_fill_options){.weights = &w}));
        ok(histo_hist_scale(hist, 0.5));
        ok(histo_hist_read_weights(hist, HISTO_FLOW, sums, k % 2 ? NULL : squares, ALL, NULL));
        print_numbers(histo_weighting_name(all[k]), sums, ALL);
        if (k % 2 == 0) print_numbers("squares", squares, ALL);
        histo_hist_destroy(hist);
    }
}

/* ---- Histograms from histograms ---- */

static void changes(void)
{
    static const uint64_t counts[] = {1, 2, 3, 4, 5}, masked[] = {6};
    static const int64_t second[] = {2};
    static const uint64_t more[] = {70};
    histo_hist *hist = filled(), *copy, *other = hist_of(unit(), (histo_hist_options){0});
    bool equal;
    uint64_t prints[2];
    ok(histo_hist_clone(hist, &copy));
    ok(histo_hist_write(other, HISTO_BINS, counts, NULL, NULL, BINS, masked));
    ok(histo_hist_put(other, 1, second, more, NULL, NULL));
    ok(histo_hist_merge(hist, other));
    print_hist("merged", hist);
    ok(histo_hist_subtract(hist, other));
    ok(histo_hist_equal(hist, copy, &equal));
    ok(histo_hist_fingerprint(hist, &prints[0]));
    ok(histo_hist_fingerprint(other, &prints[1]));
    printf("equal %d, mergeable %d\n", equal, prints[0] == prints[1]);
    refused(histo_hist_subtract(other, hist));
    histo_hist_swap(hist, other);
    ok(histo_hist_scale(hist, 3));
    ok(histo_hist_add_occupied(hist, HISTO_BINS, second, more, 1));
    ok(histo_hist_add_masked(hist, masked, 1));
    print_hist("swapped, scaled and added to", hist);
    print_tally(hist);
    ok(histo_hist_set_name(hist, "energy"));
    ok(histo_hist_set_metadata(hist, "{\"run\": 7}"));
    printf("%s %s\n", histo_hist_name(hist), histo_hist_metadata(hist));
    histo_hist_destroy(copy);
    histo_hist_destroy(other);
    histo_hist_destroy(hist);
}

static void words(void)
{
    histo_hist *hist = filled(), *sum = hist_of(unit(), (histo_hist_options){0});
    histo_word_layout layout;
    int64_t integers, doubles;
    uint64_t some[64], *inside;
    ok(histo_hist_word_layout(hist, &layout));
    ok(histo_hist_count_words(hist, &layout, &integers, &doubles));
    if (integers + doubles > 64) exit(EXIT_FAILURE);
    ok(histo_hist_read_words(hist, &layout, 0, integers, some));
    ok(histo_hist_write_words(sum, &layout, 0, integers, some));
    ok(histo_hist_add_words(sum, &layout, 0, integers, some));
    ok(histo_hist_borrow_words(sum, &layout, 0, ALL, &inside));
    printf("%lld words, %d\n", (long long)integers, inside && inside[1] == 2 * some[1]);
    print_hist("added up", sum);
    histo_hist_destroy(sum);
    histo_hist_destroy(hist);
}

static void other_axes(void)
{
    static const int last[] = {1};
    static const uint32_t map[] = {HISTO_NOWHERE, 1, 1, 2, 2, 2, 3, 4};
    const histo_axis two[] = {unit(), histo_axis_integer(0, 4)}, wide = histo_axis_regular(2, 0, 1);
    const histo_view views[] = {histo_view_1d(samples, HISTO_F32, N), histo_view_1d(bytes, HISTO_U8, N)};
    histo_hist *joint, *made;
    ok(histo_hist_create(&joint, 2, two, &(histo_hist_options){.storage = HISTO_SPARSE}));
    ok(histo_hist_fill(joint, views, NULL));
    ok(histo_hist_project(joint, 1, last, &made));
    print_hist("projected", made);
    histo_hist_destroy(made);
    ok(histo_hist_rebin(joint, 1, 2, &made));
    print_hist("rebinned", made);
    histo_hist_destroy(made);
    ok(histo_hist_slice(joint, 0, 1, 3, &made));
    print_hist("sliced", made);
    histo_hist_destroy(made);
    const histo_regrouping by = {.naxes = 1, .axes = &wide, .targets = {0, -1}, .maps = {map}, .entry = -1};
    ok(histo_hist_regroup(joint, &by, &made));
    print_hist("regrouped", made);
    histo_hist_destroy(made);
    histo_hist_destroy(joint);
}

/* ---- Numbers and maps ---- */

static void numbers(void)
{
    static const double q[] = {0.1, 0.5, 0.9};
    const histo_view view = histo_view_1d(samples, HISTO_F32, N);
    histo_hist *batch = filled_batch(HISTO_UNWEIGHTED), *first;
    double found[9];
    int64_t last[3];
    histo_summary s[3];
    histo_quantile_rule rule;
    histo_split_method method;
    histo_metric metric;
    histo_quantiles *quantiles;
    bool more;
    ok(histo_quantile_rule_parse("hazen", &rule));
    ok(histo_split_method_parse("otsu", &method));
    ok(histo_metric_parse("kolmogorov", &metric));
    ok(histo_hist_quantiles(batch, rule, 3, q, found));
    print_numbers("quantiles", found, 9);
    ok(histo_hist_summarize(batch, s));
    const double summary[] = {s[2].mean, s[2].variance, s[2].skewness, s[2].kurtosis, s[2].entropy};
    print_numbers("summary", summary, 5);
    printf("%llu %lld %lld %lld %lld\n", (unsigned long long)s[2].count, (long long)s[2].first, (long long)s[2].last,
           (long long)s[2].mode, (long long)s[2].occupied);
    ok(histo_hist_split(batch, method, 2, last));
    printf("split: %lld %lld %lld\n", (long long)last[0], (long long)last[1], (long long)last[2]);
    ok(histo_hist_clone(batch, &first));
    ok(histo_hist_compare(batch, first, metric, found));
    print_numbers("distances", found, 3);
    ok(histo_quantiles_create(&quantiles, HISTO_F32, rule, 3, q));
    while (histo_quantiles_next_pass(quantiles, &more) == HISTO_OK && more)
        ok(histo_quantiles_add(quantiles, &view, &(histo_fill_options){.threads = 1}));
    ok(histo_quantiles_read(quantiles, found));
    print_numbers("exact quantiles", found, 3);
    histo_quantiles_destroy(quantiles);
    histo_thresholds *thresholds;
    histo_number threshold;
    ok(histo_thresholds_create(&thresholds, HISTO_F32, method, 2, 0));
    while (histo_thresholds_next_pass(thresholds, &more) == HISTO_OK && more)
        ok(histo_thresholds_add(thresholds, &view, &(histo_fill_options){.threads = 1}));
    ok(histo_thresholds_read(thresholds, &threshold));
    print_numbers("exact threshold", &threshold.f64, 1);
    histo_thresholds_destroy(thresholds);
    histo_ranks *ranks;
    int64_t ranks_size;
    ok(histo_ranks_create(&ranks, HISTO_F32));
    while (histo_ranks_next_pass(ranks, &more) == HISTO_OK && more)
        ok(histo_ranks_add(ranks, &view, &(histo_fill_options){.threads = 1}));
    ok(histo_ranks_size(ranks, &ranks_size));
    ok(histo_ranks_read(ranks, NULL, NULL, &ranks_size));
    printf("ranks: %lld\n", (long long)ranks_size);
    histo_ranks_destroy(ranks);
    histo_hist_destroy(first);
    histo_hist_destroy(batch);
}

static void information(void)
{
    const histo_axis two[] = {unit(), histo_axis_regular(4, 0, 256)};
    const histo_view views[] = {histo_view_1d(samples, HISTO_F32, N), histo_view_1d(bytes, HISTO_U8, N)};
    histo_hist *joint;
    histo_information i;
    ok(histo_hist_create(&joint, 2, two, NULL));
    ok(histo_hist_fill(joint, views, NULL));
    ok(histo_hist_inform(joint, &i));
    const double all[] = {i.entropy[0], i.entropy[1], i.joint_entropy, i.mutual, i.normalized};
    print_numbers("information", all, 5);
    histo_hist_destroy(joint);
}

static void maps(void)
{
    static const double q[] = {0.1, 0.9}, target[] = {10, 200};
    static uint8_t out[N];
    const int64_t shape[] = {20, 50}, window[] = {1, 2, 30, 10};
    const histo_view image = histo_view_nd(bytes, HISTO_U8, 2, shape), result = histo_view_nd(out, HISTO_U8, 2, shape);
    const histo_axis levels = histo_axis_integer(0, 256);
    const histo_make_options to_bytes = {.lo = 0, .hi = 255};
    const histo_view first = histo_view_nd(bytes, HISTO_U8, 2, (int64_t[]){19, 50});
    histo_hist *hist = hist_of(levels, (histo_hist_options){0});
    histo_map *map, *line;
    histo_moments m;
    double values[259];
    ok(histo_hist_fill(hist, &image, NULL));
    ok(histo_map_create(&map, 1, &levels, &(histo_map_options){.batch = 1}));
    ok(histo_map_create(&line, 1, &levels, &(histo_map_options){.within = HISTO_MAP_LINEAR}));
    printf("sizes %lld %lld\n", (long long)histo_map_size(map), (long long)histo_map_size(line));
    const histo_make_options clipped = {.lo = 0, .hi = 255, .rule = HISTO_EQUALIZE_CDF, .clip = 4};
    ok(histo_map_equalize(map, hist, &clipped));
    ok(histo_map_read(map, values, 259));
    print_numbers("clipped", values + 100, 8);
    ok(histo_map_equalize(map, hist, &to_bytes));
    const histo_apply_options tiled = {.tiles = {2, {1, 1}, {20, 50}}, .threads = 1, .origin = {0, 0}};
    ok(histo_map_apply(map, &image, &result, &tiled));
    printf("equalized: %d %d %d\n", out[0], out[500], out[999]);
    ok(histo_map_moments(map, &image, window, &(histo_apply_options){.threads = 2, .mask = &image}, &m));
    const double moments[] = {m.m00, m.m10, m.m01, m.m20, m.m11, m.m02};
    print_numbers("moments", moments, 6);
    ok(histo_map_match(map, hist, hist, NULL));
    ok(histo_map_classes(map, hist, HISTO_SPLIT_OTSU, 2, &to_bytes));
    ok(histo_map_apply(map, &image, &result, NULL));
    printf("binary: %d %d %d\n", out[0], out[500], out[999]);
    ok(histo_map_project(map, hist, NULL, &to_bytes));
    ok(histo_map_landmarks(line, hist, 2, q, target, false, NULL));
    ok(histo_map_apply(line, &first, &(histo_view){out, HISTO_U8, 2, 0, {19, 50}, {50, 1}}, NULL));
    printf("stretched: %d %d %d\n", out[0], out[500], out[900]);
    for (int i = 0; i < 259; i++)
        values[i] = i;
    ok(histo_map_write(map, values, 259));
    ok(histo_map_apply(map, &image, &result, NULL));
    printf("written: %d %d\n", out[1] - bytes[1], out[999] - bytes[999]);
    histo_map_destroy(line);
    histo_map_destroy(map);
    histo_hist_destroy(hist);
}

/* ---- Saving ---- */

static void saving(void)
{
    static const bool flow[1][2] = {{true, true}};
    histo_hist *hist = filled(), *loaded;
    uint64_t counts[ALL];
    void *data;
    size_t size;
    bool equal;
    for (histo_format format = HISTO_JSON; format <= HISTO_BINARY; format++) {
        ok(histo_hist_save(hist, format, "it", &data, &size));
        ok(histo_hist_load(data, size, "it", &loaded));
        ok(histo_hist_equal(hist, loaded, &equal));
        printf("format %u: equal %d\n", (unsigned)format, equal);
        refused(histo_hist_load(data, size / 2, NULL, &(histo_hist *){NULL}));
        histo_hist_destroy(loaded);
        histo_free(data);
    }
    ok(histo_hist_save_outline(hist, flow, &data, &size));
    ok(histo_hist_read_counts(hist, HISTO_FLOW, counts, ALL, NULL));
    counts[ALL - 2] += counts[ALL - 1]; /* NaN is in the cell of overflow */
    ok(histo_hist_load_outline(data, size, BINS + 2, HISTO_U64, counts, NULL, &loaded));
    print_hist("outline", loaded);
    histo_hist_destroy(loaded);
    histo_free(data);
    histo_hist_destroy(hist);
}

/* ---- Plans ---- */

static void plans(const char *scratch)
{
    const histo_view view = histo_view_1d(samples, HISTO_F32, N);
    const histo_plan_options options = {
        .effort = HISTO_MEASURE, .device = HISTO_DEVICE_CPU, .threads = 1, .vary = true};
    const histo_fill_options one = {.threads = 1};
    histo_hist *hist = filled();
    histo_plan *plan;
    uint64_t counts[BINS];
    double sums[BINS];
    char text[64];
    ok(histo_plan_create(&plan, hist, &view, &one, &options));
    histo_sequence_begin(NULL);
    ok(histo_plan_fill(plan, hist, &view, &one));
    ok(histo_sequence_end());
    const histo_fill_options anew = {.threads = 1, .replace = true};
    ok(histo_plan_fill_read(plan, hist, &view, &anew, HISTO_BINS, counts, BINS, &(histo_read_options){0}));
    print_counts("planned", counts, BINS);
    printf("%d thread, %d\n", histo_plan_threads(plan), histo_plan_explain(plan, text, sizeof text) > 64);
    size_t of_fill, of_hist;
    ok(histo_plan_memory(plan, &of_fill, &of_hist));
    printf("memory of a histogram: %d\n", of_hist >= ALL * sizeof(uint64_t));
    char name[64];
    snprintf(name, sizeof name, "%s", histo_plan_strategy(plan));
    histo_plan_destroy(plan);
    ok(histo_plan_create(&plan, hist, &view, NULL, &(histo_plan_options){.strategy = name, .params = ""}));
    printf("asked for: %d\n", !strcmp(name, histo_plan_strategy(plan)));
    histo_plan_destroy(plan);

    const histo_axis axis = unit();
    const histo_view w = histo_view_1d(weights, HISTO_F64, N);
    const histo_plan_options cpu = {.device = HISTO_DEVICE_CPU};
    const histo_count_options counting = {
        .slots = HISTO_BINS, .dtype = HISTO_F64, .weighting = HISTO_WEIGHT_REPRODUCIBLE, .plan = &cpu};
    histo_tally tally;
    ok(histo_count(1, &axis, &view, &(histo_fill_options){.weights = &w}, sums, BINS, &tally, &counting));
    print_numbers("counted", sums, BINS);
    print_counts("of", &tally.samples, 1);
    ok(histo_wisdom_save(scratch));
    histo_wisdom_forget();
    ok(histo_wisdom_load(scratch));
    histo_hist_destroy(hist);
}

static void machine(const char *scratch)
{
    histo_strategy_info info;
    char text[16];
    int cpu = 0;
    for (int i = 0; i < histo_strategy_count(); i++) {
        ok(histo_strategy_describe(i, &info));
        cpu += !strcmp(info.backend, "cpu") && *info.name && *info.summary && *info.limits && *info.source &&
               info.storage <= HISTO_SPARSE;
    }
    refused(histo_strategy_describe(-1, &info));
    ok(histo_kernel_cache(NULL));
    ok(histo_set_threads(2));
    printf("strategies %d, threads %d, described %d, memory %d, device %d, version %d\n", cpu > 0, histo_threads(),
           histo_machine_describe(text, sizeof text) > 16, histo_memory_available() > 0,
           histo_memory_device(samples) == HISTO_DEVICE_CPU, *histo_version() != 0);
    ok(histo_set_threads(0));
    ok(histo_set_device_allocator(NULL));
    printf("memory of devices: %zu\n", histo_device_memory_used(HISTO_DEVICE_CPU));
    printf("no backend: %d\n", histo_backend_load(scratch) != HISTO_OK); /* which is not a library */
    refused(histo_set_error(HISTO_IO, "a sentence"));
}

static void pairs(void)
{
    const histo_axis two[] = {histo_axis_regular(4, -256, 256), histo_axis_integer(0, 256)};
    const histo_view stack = histo_view_nd(bytes, HISTO_U8, 2, (int64_t[]){4, 250});
    const histo_pairs ring = {.pairing = HISTO_PAIRS_RING}, apart = {.pairing = HISTO_PAIRS_APART, .relative = true};
    histo_hist *hist, *first;
    histo_plan *plan;
    ok(histo_hist_create(&hist, 2, two, NULL));
    ok(histo_hist_fill_pairs(hist, &stack, &ring, &(histo_fill_options){.threads = 1}));
    ok(histo_plan_create_pairs(&plan, hist, &stack, &apart, NULL, &(histo_plan_options){.device = HISTO_DEVICE_CPU}));
    ok(histo_plan_fill(plan, hist, &stack, NULL));
    ok(histo_hist_project(hist, 1, (int[]){0}, &first));
    print_hist("pairs", first);
    histo_plan_destroy(plan);
    histo_hist_destroy(first);
    histo_hist_destroy(hist);
}

/* ---- Axes from data ---- */

static void surveys(void)
{
    const histo_view view = histo_view_1d(samples, HISTO_F32, N);
    histo_survey_options options = {
        .range = HISTO_RANGE_PERCENTILE, .lo = 5, .hi = 95, .in_parts = true, .memory = 1 << 22};
    histo_survey *survey, *part;
    histo_power_sums sums = {0};
    histo_axis axis;
    bool more;
    ok(histo_rule_parse("rice", &options.rule));
    ok(histo_survey_create(&survey, HISTO_F32, &options));
    ok(histo_survey_create(&part, HISTO_F32, &options));
    while (histo_survey_next_pass(survey, &more) == HISTO_OK && more) {
        void *data;
        size_t size;
        ok(histo_survey_next_pass(part, &more));
        ok(histo_survey_add(survey, &view, NULL));
        ok(histo_survey_add_sums(part, &view, NULL, &sums));
        ok(histo_survey_save(survey, &data, &size));
        ok(histo_survey_merge(part, data, size));
        histo_free(data);
        ok(histo_survey_save(part, &data, &size));
        ok(histo_survey_replace(survey, data, size));
        histo_free(data);
    }
    ok(histo_survey_axis(survey, &axis));
    printf("surveyed: %lld bins, %.9g to %.9g\n", (long long)axis.bins, axis.lo, axis.hi);
    histo_survey_destroy(part);
    histo_survey_destroy(survey);
    double quartiles[3];
    ok(histo_survey_create(&survey, HISTO_F32, &(histo_survey_options){.bins = 5}));
    ok(histo_survey_ask_quantiles(survey, 3, (double[]){0.25, 0.5, 0.75}));
    while (histo_survey_next_pass(survey, &more) == HISTO_OK && more)
        ok(histo_survey_add(survey, &view, NULL));
    ok(histo_survey_quantiles(survey, quartiles));
    printf("quartiles: %.9g %.9g %.9g\n", quartiles[0], quartiles[1], quartiles[2]);
    histo_survey_destroy(survey);
    ok(histo_axis_from_data(&view, NULL, &(histo_survey_options){.width = 0.25}, &axis));
    printf("from data: %lld bins, %.9g to %.9g\n", (long long)axis.bins, axis.lo, axis.hi);
}

static bool never(void *context, const histo_progress *progress)
{
    (void)context;
    return progress->done > 1;
}

static void statistics(void)
{
    const histo_view view = histo_view_1d(samples, HISTO_F32, N), mask = histo_view_1d(bytes, HISTO_U8, N);
    const histo_fill_options masked = {.mask = &mask};
    histo_stats stats = {0}, both = {0}, read;
    histo_power_sums sums = {0}, all = {0};
    histo_extremes e;
    histo_set_monitor(never, NULL);
    ok(histo_stats_add(&stats, &view, &masked));
    histo_stats_merge(&both, &stats);
    histo_stats_merge(&both, &stats);
    ok(histo_power_sums_add(&sums, &view, &masked));
    histo_power_sums_merge(&all, &sums);
    histo_power_sums_merge(&all, &sums);
    histo_power_sums_read(&all, &read);
    ok(histo_find_extremes(&view, &masked, &e, 1));
    histo_set_monitor(NULL, NULL);
    const double found[] = {both.mean, both.m2,   both.m3, both.m4,   both.min,
                            both.max,  read.mean, read.m2, e.min.f64, e.max.f64};
    const uint64_t how_many[] = {both.samples, both.nan, both.infinite, both.masked, read.samples,
                                 e.samples,    e.nan,    e.below,       e.above,     e.masked};
    print_numbers("statistics", found, 10);
    print_counts("of", how_many, 10);
}

/* Two features of ten bins each, and two nodes. */
static void boosting(void)
{
    enum { FEATURES = 2, EACH = 10, ROWS = 100, NODES = 2 };
    static uint8_t table[ROWS][FEATURES];
    static uint32_t order[ROWS], counts[NODES * FEATURES * EACH];
    static double sums[NODES * FEATURES * EACH], none[NODES * FEATURES * EACH];
    static uint32_t no_rows[NODES * FEATURES * EACH];
    const int32_t bins[] = {EACH, EACH};
    const int64_t offsets[] = {0, 30, ROWS}, shape[] = {ROWS, FEATURES};
    for (uint32_t i = 0; i < ROWS; i++) {
        table[i][0] = (uint8_t)(i % EACH);
        table[i][1] = (uint8_t)(i / EACH);
        order[i] = ROWS - 1 - i;
    }
    const histo_view binned = histo_view_nd(table, HISTO_U8, 2, shape), rows = histo_view_1d(order, HISTO_U32, ROWS);
    const histo_view values = histo_view_1d(samples, HISTO_F32, ROWS);
    const histo_node_options nodes = {.rows = &rows, .offsets = offsets, .nodes = NODES};
    const histo_node_sums to = {.sums = {sums}, .counts = counts};
    int64_t nonfinite = -1;
    histo_features *features;
    histo_gradients *gradients;
    ok(histo_features_create(&features, &binned, bins, &(histo_features_options){.by_rows = true}));
    ok(histo_gradients_create(&gradients, ROWS, 1));
    ok(histo_gradients_set(gradients, &values, &(histo_gradients_options){.nonfinite = &nonfinite}));
    const histo_node_sums child = {.sums = {none}, .counts = no_rows};
    ok(histo_features_fill(features, gradients, &nodes, &to));
    ok(histo_features_wait(features));
    ok(histo_node_sums_subtract(&to, &child, NODES, FEATURES * EACH));
    double whole = 0;
    uint64_t each[NODES * FEATURES * EACH];
    for (int i = 0; i < NODES * FEATURES * EACH; i++) {
        whole += sums[i];
        each[i] = counts[i];
    }
    printf("boosting: %lld bins, %lld not finite, unit %.9g, sum %.9g\n", (long long)histo_features_bins(features),
           (long long)nonfinite, histo_gradients_unit(gradients, 0), whole);
    print_counts("rows", each, NODES * FEATURES * EACH);
    histo_gradients_destroy(gradients);
    histo_features_destroy(features);
}

int main(int argc, char **argv)
{
    static _Atomic int allocations;
    const histo_allocator allocator = {.allocate = allocate, .release = release, .context = &allocations};
    const char *scratch = argc > 1 ? argv[1] : "scratch"; /* a file that may be written */
    ok(histo_set_allocator(&allocator));
    histo_set_memory_limit((size_t)1 << 32);
    make_samples();
    axes();
    views();
    fills();
    reads();
    weighted();
    changes();
    words();
    other_axes();
    numbers();
    information();
    maps();
    saving();
    plans(scratch);
    machine(scratch);
    pairs();
    surveys();
    statistics();
    boosting();
    printf("allocated %d, used less %d\n", allocations > 0, histo_memory_used() < (size_t)1 << 32);
    return EXIT_SUCCESS;
}
