/* A CUDA backend that is loaded: which files are refused, and what a loaded one is on a machine without a GPU. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "plan/registry.h"
#include "support/check.h"

static void not_installed(void **state)
{
    (void)state;
    REFUSED(HISTO_UNSUPPORTED, "libhisto-cuda.so) is not installed", histo_backend_load(NULL));
    REFUSED(HISTO_INVALID, "name its file", histo_backend_load(""));
}

static void no_backends(void **state)
{
    (void)state;
    REFUSED(HISTO_UNSUPPORTED, "/nowhere/of_histo.so", histo_backend_load("/nowhere/of_histo.so"));
    REFUSED(HISTO_UNSUPPORTED, __FILE__, histo_backend_load(__FILE__));
    REFUSED(HISTO_UNSUPPORTED, "is not a CUDA backend of histo", histo_backend_load("libm.so.6"));
    REFUSED(HISTO_UNSUPPORTED, "is of histo 0.0.9 (build 0123456789abcdef), and this is histo ",
            histo_backend_load(TEST_OTHER_BACKEND));
}

/* Plan for the GPU that has not been looked for, or is not there. */
static void plan_there(const char *why)
{
    static const double samples[4] = {0, 1, 2, 3};
    const histo_axis axis = histo_axis_regular(4, 0, 4);
    const histo_view view = histo_view_1d(samples, HISTO_F64, 4);
    const histo_plan_options there = {.device = HISTO_DEVICE_CUDA(0)}, by_name = {.strategy = "cuda/global_atomic"};
    histo_hist *h;
    histo_plan *plan;
    uint64_t counts[4];
    OK(histo_hist_create(&h, 1, &axis, NULL));
    REFUSED(HISTO_UNSUPPORTED, why, histo_plan_create(&plan, h, &view, NULL, &there));
    REFUSED(HISTO_UNSUPPORTED, why, histo_plan_create(&plan, h, &view, NULL, &by_name));
    OK(histo_hist_fill(h, &view, NULL)); /* the CPU counts as ever */
    OK(histo_hist_read_counts(h, HISTO_BINS, counts, 4, NULL));
    for (int b = 0; b < 4; b++)
        assert_int_equal(counts[b], 1);
    histo_hist_destroy(h);
}

static void plans_say_so(void **state)
{
    (void)state;
    plan_there("cuda cannot be used: the CUDA backend (libhisto-cuda.so) is not installed");
}

/* What the shared library finds beside it. */
static void beside_the_library(void **state)
{
    (void)state;
    void *library = dlopen(HISTO_SHARED, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail_msg("%s", dlerror());
    size_t (*describe)(char *, size_t);
    *(void **)&describe = dlsym(library, "histo_machine_describe");
    assert_non_null(describe);
    char text[4096];
    assert_true(describe(text, sizeof text) < sizeof text);
#ifdef TEST_BACKEND
    assert_null(strstr(text, "is not installed"));
#else
    assert_non_null(strstr(text, "cuda: the CUDA backend (libhisto-cuda.so) is not installed\n"));
#endif
}

#ifdef TEST_BACKEND

static int rows_with_strategies(void)
{
    int n = 0;
    for (int i = 0; histo_row_at(i); i++)
        n += histo_row_at(i)->strategy != NULL;
    return n;
}

static pthread_barrier_t together;

static void *load_and_plan(void *failed)
{
    pthread_barrier_wait(&together);
    const histo_row *before = histo_row_find("cuda/global_atomic", NULL);
    histo_plan_create(&(histo_plan *){NULL}, NULL, NULL, NULL, NULL); /* invalid: only a message of this thread */
    if (histo_backend_load(TEST_BACKEND) != HISTO_OK) *(int *)failed = 1;
    const histo_row *after = histo_row_find("cuda/global_atomic", NULL);
    if (!after || !after->strategy || !histo_row_is(before, after)) *(int *)failed = 1;
    return NULL;
}

static void by_many_threads(void **state)
{
    enum { THREADS = 8 };
    (void)state;
    pthread_t thread[THREADS];
    int failed[THREADS] = {0};
    assert_true(rows_with_strategies() < histo_strategy_count());
    pthread_barrier_init(&together, NULL, THREADS);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, load_and_plan, &failed[t]), 0);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        assert_int_equal(failed[t], 0);
    }
    pthread_barrier_destroy(&together);
    assert_int_equal(rows_with_strategies(), histo_strategy_count());
}

static void loaded_once(void **state)
{
    (void)state;
    OK(histo_backend_load(NULL));
    OK(histo_backend_load(TEST_BACKEND));
    OK(histo_backend_load("/nowhere/of_histo.so"));
}

static void without_a_gpu(void **state)
{
    (void)state;
    const char *why = histo_backend_cuda.unavailable();
    if (!why) { /* there is a GPU, for which tests of the GPU plan */
        print_message("there is a GPU\n");
        return;
    }
    assert_null(strstr(why, "installed (libhisto"));
    plan_there(why);
}

/* A failure in the backend is told by the library: the problem is the CPU's, which no GPU has. */
static void one_error_sentence(void **state)
{
    (void)state;
    if (!histo_backend_cuda.unavailable()) return; /* there the call would be right */
    const histo_problem problem = {.device = HISTO_DEVICE_CUDA(0)};
    void *prepared;
    assert_int_not_equal(histo_backend_cuda.prepare(&problem, &prepared), HISTO_OK);
    assert_non_null(strstr(histo_last_error(), "asking for the current device"));
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_installed),   cmocka_unit_test(no_backends),
        cmocka_unit_test(plans_say_so),    cmocka_unit_test(beside_the_library),
#ifdef TEST_BACKEND
        cmocka_unit_test(by_many_threads), cmocka_unit_test(loaded_once),
        cmocka_unit_test(without_a_gpu),   cmocka_unit_test(one_error_sentence),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
