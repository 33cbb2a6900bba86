/* The shared library is loaded, used by several threads, and closed: it stays mapped, since its worker threads wait in
 * it. */
#include <dlfcn.h>
#include <stdlib.h>

#include "support/check.h"

enum { N = 1000000 };

/* Fill by two threads through the library named by HISTO_SHARED. */
static void fill_through(void *library, const double *samples)
{
    histo_status (*create)(histo_hist **, int, const histo_axis *, const histo_hist_options *);
    histo_status (*fill)(histo_hist *, const histo_view *, const histo_fill_options *);
    histo_status (*tally)(const histo_hist *, histo_tally *);
    void (*destroy)(histo_hist *);
    *(void **)&create = dlsym(library, "histo_hist_create");
    *(void **)&fill = dlsym(library, "histo_hist_fill");
    *(void **)&tally = dlsym(library, "histo_hist_tally");
    *(void **)&destroy = dlsym(library, "histo_hist_destroy");
    assert_true(create && fill && tally && destroy);
    histo_axis axis = histo_axis_regular(4, 0, 1);
    histo_view view = histo_view_1d(samples, HISTO_F64, N);
    histo_hist *h;
    histo_tally found;
    assert_int_equal(create(&h, 1, &axis, NULL), HISTO_OK);
    assert_int_equal(fill(h, &view, NULL), HISTO_OK);
    assert_int_equal(tally(h, &found), HISTO_OK);
    assert_int_equal(found.bins, N);
    destroy(h);
}

static void loaded_used_and_given_back(void **state)
{
    (void)state;
    setenv("HISTO_THREADS", "2", 1);
    double *samples = calloc(N, sizeof *samples);
    for (int times = 0; times < 3; times++) {
        void *library = dlopen(HISTO_SHARED, RTLD_NOW | RTLD_LOCAL);
        if (!library) fail_msg("%s", dlerror());
        fill_through(library, samples);
        assert_int_equal(dlclose(library), 0);
        void *still = dlopen(HISTO_SHARED, RTLD_NOW | RTLD_NOLOAD);
        assert_non_null(still);
        dlclose(still);
    }
    free(samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loaded_used_and_given_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
