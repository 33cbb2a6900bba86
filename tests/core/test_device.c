/* Choosing a device, on machines with and without a GPU: errors, their messages, and what works afterwards. */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/device.h"

static float samples[] = {0.1f, 0.5f, 0.9f, 0.5f};

static histo_hist *make(histo_view *view)
{
    histo_axis axis = histo_axis_regular(4, 0, 1);
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    *view = histo_view_1d(samples, HISTO_F32, 4);
    return h;
}

static void refused_devices(void **state)
{
    (void)state;
    histo_view view;
    histo_hist *h = make(&view);
    histo_plan *plan = NULL;
    histo_plan_options options = {.device = -1};
    REFUSED(HISTO_INVALID, "no device -1", histo_plan_create(&plan, h, &view, NULL, &options));
    options.device = HISTO_DEVICE_CUDA(4000);
    REFUSED(HISTO_UNSUPPORTED, device_missing() ? "cuda cannot be used" : "no GPU 4000",
            histo_plan_create(&plan, h, &view, NULL, &options));
    assert_null(plan);
    histo_hist_destroy(h);
}

static void without_a_gpu(void **state)
{
    (void)state;
    if (!device_missing()) skip();
    histo_view view;
    histo_hist *h = make(&view);
    histo_plan *plan = NULL;
    histo_plan_options options = {.strategy = "global_atomic"};
    REFUSED(HISTO_UNSUPPORTED, "cuda cannot be used", histo_plan_create(&plan, h, &view, NULL, &options));
    options = (histo_plan_options){.device = HISTO_DEVICE_CUDA(0)};
    REFUSED(HISTO_UNSUPPORTED, "cuda cannot be used", histo_plan_create(&plan, h, &view, NULL, &options));
    /* Everything else works. */
    OK(histo_hist_fill(h, &view, NULL));
    assert_memory_equal(histo_plan_strategy(histo_hist_last_plan(h)), "cpu/", 4);
    uint64_t counts[4], expected[4] = {1, 0, 2, 1};
    OK(histo_hist_read_counts(h, HISTO_BINS, counts, 4, NULL));
    assert_memory_equal(counts, expected, sizeof counts);
    histo_hist_destroy(h);
}

/* Strategies of one backend do not match the other's names. */
static void named_for_the_wrong_device(void **state)
{
    (void)state;
    histo_view view;
    histo_hist *h = make(&view);
    histo_plan *plan = NULL;
    histo_plan_options options = {.strategy = "cuda/global_atomic", .device = HISTO_DEVICE_CPU};
    REFUSED(HISTO_UNSUPPORTED, "the counting is on the CPU", histo_plan_create(&plan, h, &view, NULL, &options));
    histo_hist_destroy(h);
}

static void described(void **state)
{
    (void)state;
    char text[8192];
    assert_true(histo_machine_describe(text, sizeof text) < sizeof text);
    assert_non_null(strstr(text, "cpu: "));
    assert_non_null(strstr(text, device_missing() ? "\ncuda: " : "\ncuda:0: "));
    bool listed = false;
    histo_strategy_info info;
    for (int i = 0; histo_strategy_describe(i, &info) == HISTO_OK; i++)
        listed |= strcmp(info.backend, "cuda") == 0;
    assert_true(listed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_devices),
        cmocka_unit_test(without_a_gpu),
        cmocka_unit_test(named_for_the_wrong_device),
        cmocka_unit_test(described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
