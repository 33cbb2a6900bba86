/* Every parameter of every GPU strategy, at its default, at both limits and between, gives the oracle's counts: for few
 * and many bins, equal samples, several axes, batches, masks. HISTO_TEST_ROWS=cuda/NAME selects one strategy,
 * HISTO_TEST_EVERY=n every n-th comparison. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/strategy.h"
#include "support/check.h"
#include "support/data.h"
#include "support/device.h"

enum { SAMPLES = 120000, VIEWS = 3 /* two axes and the mask */ };

typedef struct problem {
    const char *name;
    int naxes;
    histo_axis axes[2];
    histo_dtype dtype;
    distribution distribution;
    int64_t batch;
    bool masked;
} problem;

/* Its samples in host and in device memory, and the oracle's counts for each batch entry. */
typedef struct instance {
    const problem *p;
    histo_view host[VIEWS], device[VIEWS];
    void *in_host[VIEWS], *on_device[VIEWS];
    size_t slots;
    uint64_t *counts, *left_out;
} instance;

static long made, unsupported;

/* Fill twice, because the second run may find leftovers of the first. False if the strategy does not support this. */
static bool count(const instance *it, const char *strategy, const char *params, const histo_view *views,
                  uint64_t *counts, uint64_t *left_out)
{
    histo_fill_options fill = {.mask = it->p->masked ? &views[2] : NULL};
    histo_plan_options options = {.strategy = strategy, .params = params};
    histo_hist *h;
    histo_plan *plan;
    OK(histo_hist_create(&h, it->p->naxes, it->p->axes,
                         &(histo_hist_options){.batch = it->p->batch, .storage = storage_for(strategy)}));
    histo_status status = histo_plan_create(&plan, h, views, &fill, &options);
    if (status != HISTO_OK && status != HISTO_UNSUPPORTED)
        fail_msg("%s with '%s', %s: %s", strategy, params, it->p->name, histo_last_error());
    if (status == HISTO_OK) {
        OK(histo_plan_fill(plan, h, views, &fill));
        OK(histo_plan_fill(plan, h, views, &fill));
        OK(histo_hist_read_counts(h, HISTO_FLOW, counts, (int64_t)it->slots, NULL));
        OK(histo_hist_read_masked(h, left_out, it->p->batch));
        histo_plan_destroy(plan);
    }
    histo_hist_destroy(h);
    return status == HISTO_OK;
}

static void compare(const instance *it, const char *strategy, const char *params)
{
    static long cases;
    const char *every = getenv("HISTO_TEST_EVERY");
    if (cases++ % (every ? atol(every) : 1) != 0) return;
    uint64_t *counts = malloc(it->slots * sizeof *counts);
    uint64_t *left_out = malloc((size_t)it->p->batch * sizeof *left_out);
    bool counted = count(it, strategy, params, it->device, counts, left_out);
    for (size_t s = 0; counted && s < it->slots; s++)
        if (counts[s] != it->counts[s])
            fail_msg("%s with '%s', %s: slot %zu has %llu, should have %llu", strategy, params, it->p->name, s,
                     (unsigned long long)counts[s], (unsigned long long)it->counts[s]);
    if (counted) assert_memory_equal(left_out, it->left_out, (size_t)it->p->batch * sizeof *left_out);
    *(counted ? &made : &unsupported) += 1;
    free(counts);
    free(left_out);
}

/* The default parameters; then each parameter alone at other values. */
static void every_parameter(const instance *it, const histo_row *row)
{
    char strategy[64], params[64];
    const char *chosen = getenv("HISTO_TEST_ROWS");
    snprintf(strategy, sizeof strategy, "cuda/%s", row->name);
    if (chosen && strncmp(strategy, chosen, strlen(chosen)) != 0) return;
    compare(it, strategy, "");
    for (const histo_param *param = row->strategy->params; param->name; param++) {
        int64_t values[] = {param->min, param->min + 1, param->default_value / 2, param->default_value + 3, param->max};
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            if (values[v] < param->min || values[v] > param->max) continue;
            snprintf(params, sizeof params, "%s=%lld", param->name, (long long)values[v]);
            compare(it, strategy, params);
        }
    }
}

static void prepare(instance *it, const problem *p, rng *r)
{
    *it = (instance){.p = p};
    for (int v = 0; v < VIEWS; v++) {
        histo_dtype dtype = v < 2 ? p->dtype : HISTO_U8;
        histo_axis bits = histo_axis_integer(0, 1);
        it->in_host[v] =
            v < 2 ? make_samples(r, dtype, v ? UNIFORM : p->distribution, &p->axes[v < p->naxes ? v : 0], SAMPLES)
                  : make_samples(r, dtype, TWO_VALUES, &bits, SAMPLES);
        it->host[v] = histo_view_1d(it->in_host[v], dtype, SAMPLES);
        if (p->batch > 1) {
            it->host[v].ndim = 2;
            it->host[v].batch_ndim = 1;
            it->host[v].shape[0] = p->batch;
            it->host[v].shape[1] = SAMPLES / p->batch;
            it->host[v].strides[1] = (int64_t)histo_dtype_size(dtype);
            it->host[v].strides[0] = it->host[v].shape[1] * it->host[v].strides[1];
        }
        it->on_device[v] = device_copy(&it->host[v], &it->device[v]);
        assert_non_null(it->on_device[v]);
    }
    it->slots = (size_t)p->batch;
    for (int a = 0; a < p->naxes; a++)
        it->slots *= (size_t)p->axes[a].bins + 3;
    it->counts = malloc(it->slots * sizeof *it->counts);
    it->left_out = malloc((size_t)p->batch * sizeof *it->left_out);
    assert_true(count(it, "cpu/sequential", "", it->host, it->counts, it->left_out));
}

static void discard(instance *it)
{
    for (int v = 0; v < VIEWS; v++) {
        device_free(it->on_device[v]);
        free(it->in_host[v]);
    }
    free(it->counts);
    free(it->left_out);
}

static void parameters(void **state)
{
    (void)state;
    NEEDS_GPU();
    static const double edges[] = {-2, 0, 1, 1.5, 7, 40, 41, 100, 255};
    const histo_axis few = histo_axis_variable(8, edges), bytes = histo_axis_integer(0, 256);
    const problem problems[] = {
        {"400 bins, all samples in one", 1, {histo_axis_integer(-200, 400)}, HISTO_I8, DEGENERATE, 1, false},
        {"bytes", 1, {bytes}, HISTO_U8, GAUSSIAN, 1, false},
        {"bytes, all alike", 1, {bytes}, HISTO_U8, DEGENERATE, 1, false},
        {"few bins by their edges", 1, {few}, HISTO_F32, SPECIAL, 1, false},
        {"a batch of 3", 1, {histo_axis_regular(60, 0, 1)}, HISTO_F64, UNIFORM, 3, false},
        {"a batch of 8, a few steps of a block each", 1, {histo_axis_regular(60, 0, 1)}, HISTO_F64, UNIFORM, 8, false},
        {"a batch of 60", 1, {histo_axis_integer(0, 100)}, HISTO_U16, UNIFORM, 60, false},
        {"a batch of 500, masked", 1, {few}, HISTO_U32, ZIPF, 500, true},
        {"two axes", 2, {few, histo_axis_regular(9, 0, 200)}, HISTO_I16, UNIFORM, 1, false},
        {"2000 bins, masked", 1, {histo_axis_regular(2000, 0, 1)}, HISTO_F32, GAUSSIAN, 1, true},
        {"70000 bins", 1, {histo_axis_integer(0, 70000)}, HISTO_U32, UNIFORM, 1, false},
        {"200000 bins, skewed", 1, {histo_axis_integer(0, 200000)}, HISTO_U32, ZIPF, 1, false},
    };
    rng r = {.state = 20};
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        instance it;
        prepare(&it, &problems[i], &r);
        const histo_row *row;
        for (int s = 0; (row = histo_row_at(s)); s++)
            if (row->backend == &histo_backend_cuda) every_parameter(&it, row);
        discard(&it);
    }
    print_message("CUDA strategies: %ld comparisons made, %ld unsupported, 0 SKIPPED\n", made, unsupported);
    assert_true(made > 0);
}

/* One block with few threads counts so many samples in one bin that every counter of less than 28 bits would wrap.
 * Takes seconds: only with HISTO_TEST_LARGE=1. */
static void all_alike_in_one_block(void **state)
{
    (void)state;
    if (device_missing() || !getenv("HISTO_TEST_LARGE")) skip();
    const int64_t n = (INT64_C(1) << 27) + 12345;
    histo_axis axis = histo_axis_integer(-2, 6);
    void *zeros = calloc((size_t)n, 1);
    histo_view host = histo_view_1d(zeros, HISTO_U8, n), device;
    void *memory = device_copy(&host, &device);
    assert_non_null(memory);
    const histo_row *row;
    for (int s = 0; (row = histo_row_at(s)); s++) {
        if (row->backend != &histo_backend_cuda) continue;
        char params[64] = "", strategy[64];
        for (const histo_param *param = row->strategy->params; param->name; param++) {
            int64_t least = param->min ? param->min : 1;
            if (strcmp(param->name, "blocks") == 0 || strcmp(param->name, "threads") == 0)
                snprintf(params + strlen(params), sizeof params - strlen(params), "%s%s=%lld", *params ? "," : "",
                         param->name, (long long)(param->name[0] == 't' && least < 32 ? 32 : least));
        }
        snprintf(strategy, sizeof strategy, "cuda/%s", row->name);
        histo_hist *h;
        histo_plan *plan;
        OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.storage = storage_for(strategy)}));
        histo_plan_options options = {.strategy = strategy, .params = params};
        histo_status status = histo_plan_create(&plan, h, &device, NULL, &options);
        assert_true(status == HISTO_OK || status == HISTO_UNSUPPORTED);
        if (status == HISTO_OK) {
            uint64_t counts[9], expected[9] = {0, 0, 0, (uint64_t)n};
            OK(histo_plan_fill(plan, h, &device, NULL));
            OK(histo_hist_read_counts(h, HISTO_FLOW, counts, 9, NULL));
            if (memcmp(counts, expected, sizeof counts) != 0)
                fail_msg("%s with '%s' counted %llu of %lld", strategy, params, (unsigned long long)counts[3],
                         (long long)n);
            histo_plan_destroy(plan);
        }
        histo_hist_destroy(h);
    }
    device_free(memory);
    free(zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parameters), cmocka_unit_test(all_alike_in_one_block)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
