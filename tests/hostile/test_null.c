/* NULL for each pointer of each function: HISTO_INVALID with a sentence where it must not be NULL, and otherwise as if
 * nothing had been asked for. Nothing else changes, and places for new objects and numbers are NULL and zero. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/calls.h"

static const uint8_t bytes[1];

/* Call with all arguments but one, or with all if `without` is negative; false if there is no such argument. */
static bool call_without(const call *c, int without)
{
    void *p[CALL_POINTERS];
    unsigned optional;
    call_objects o;
    histo_hist *before;
    call_objects_make(&o);
    OK(histo_hist_clone(o.hist, &before));
    const int n = call_arguments(c, &o, p, &optional);
    const bool may_be_null = without < 0 || optional >> without & 1;
    if (without >= 0) p[without] = NULL;
    if (without < n) {
        histo_set_error(HISTO_INVALID, "");
        const histo_status status = c->function(p);
        if (may_be_null && status != HISTO_OK)
            fail_msg("histo_%s without argument %d: %s, %s", c->name, without, histo_status_name(status),
                     histo_last_error());
        if (!may_be_null && (status != HISTO_INVALID || !*histo_last_error()))
            fail_msg("histo_%s without argument %d: %s, %s", c->name, without, histo_status_name(status),
                     histo_last_error());
        bool same = true;
        if (!may_be_null) OK(histo_hist_equal(before, o.hist, &same));
        if (!same) fail_msg("histo_%s without argument %d changed the histogram", c->name, without);
    }
    histo_hist_destroy(before);
    call_objects_free(&o);
    return without < n;
}

static void test_each_pointer(void **state)
{
    (void)state;
    for (int c = 0; c < calls_size; c++)
        for (int without = -1; call_without(&calls[c], without); without++)
            ;
    remove(CALL_FILE);
}

/* ---- Functions without a status ---- */

static void test_values(void **state)
{
    (void)state;
    int64_t at[HISTO_MAX_AXES];
    histo_axis axis = histo_axis_variable(3, NULL);
    assert_true(isnan(histo_sample_value(NULL, HISTO_F32)));
    assert_int_equal(histo_view_size(NULL), 0);
    REFUSED(HISTO_INVALID, "dimensions",
            histo_axis_from_data(&(histo_view){.ndim = HISTO_MAX_DIMS + 1}, NULL, &(histo_survey_options){.bins = 1},
                                 &axis));
    const histo_view shapeless = histo_view_nd(bytes, HISTO_U8, 2, NULL);
    assert_int_equal(histo_view_size(&shapeless), 0);
    axis = histo_axis_variable(3, NULL);
    assert_true(isnan(histo_axis_edge(NULL, 0)) && isnan(histo_axis_edge(&axis, 0)));
    axis = histo_axis_integer(0, 3);
    assert_true(isnan(histo_axis_edge(&axis, -1)) && isnan(histo_axis_edge(&axis, 4)));
    assert_true(histo_axis_edge(&axis, 3) == 3);
    assert_false(histo_axis_equal(NULL, &axis));
    assert_false(histo_axis_equal(&axis, NULL));
    assert_int_equal(histo_hist_naxes(NULL), 0);
    assert_int_equal(histo_hist_batch(NULL), 0);
    assert_int_equal(histo_hist_weighting(NULL), HISTO_UNWEIGHTED);
    assert_int_equal(histo_hist_storage(NULL), HISTO_DENSE);
    assert_int_equal(histo_hist_axis(NULL, 0).bins, 0);
    assert_int_equal(histo_hist_size(NULL, HISTO_FLOW), 0);
    assert_int_equal(histo_hist_unravel(NULL, HISTO_BINS, 0, at), -1);
    assert_null(histo_hist_name(NULL));
    assert_null(histo_hist_metadata(NULL));
    assert_null(histo_hist_last_plan(NULL));
    assert_int_equal(histo_map_size(NULL), 0);
    assert_null(histo_plan_strategy(NULL));
    assert_int_equal(histo_plan_threads(NULL), 0);
    char text[] = "before";
    assert_int_equal(histo_plan_explain(NULL, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_true(histo_machine_describe(NULL, sizeof text) > 0);
    assert_int_equal(histo_memory_device(NULL), HISTO_DEVICE_CPU);
    for (histo_status status = HISTO_OK; status <= HISTO_CANCELLED; status++)
        assert_non_null(histo_status_name(status));
    assert_null(histo_status_name(HISTO_CANCELLED + 1));
    assert_string_equal(histo_status_name(HISTO_DEVICE), "HISTO_DEVICE");
    assert_null(histo_dtype_name(999));
    assert_null(histo_axis_kind_name(999));
    assert_null(histo_weighting_name(999));
    assert_int_equal(histo_dtype_size(999), 0);
    assert_int_equal(histo_sequence_end(), HISTO_OK);
    histo_hist_swap(NULL, NULL);
    histo_stats_merge(NULL, NULL);
    histo_power_sums_merge(NULL, NULL);
    histo_power_sums_read(NULL, NULL);
    histo_stats stats;
    histo_power_sums_read(NULL, &stats);
    assert_int_equal(stats.samples, 0);
}

/* Index of a sample that is not there. */
static void test_unravel(void **state)
{
    (void)state;
    int64_t at[HISTO_MAX_AXES];
    call_objects o;
    call_objects_make(&o);
    assert_int_equal(histo_hist_unravel(o.joint, HISTO_BINS, CALL_BINS * CALL_BINS - 1, at), 0);
    assert_true(at[0] == CALL_BINS - 1 && at[1] == CALL_BINS - 1);
    assert_int_equal(histo_hist_unravel(o.joint, HISTO_BINS, CALL_BINS * CALL_BINS, at), -1);
    assert_int_equal(histo_hist_unravel(o.joint, HISTO_BINS, -1, at), -1);
    assert_int_equal(histo_hist_unravel(o.joint, HISTO_BINS, 0, NULL), -1);
    call_objects_free(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_pointer),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_unravel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
