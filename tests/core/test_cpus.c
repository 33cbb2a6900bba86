/* The number of CPUs and threads: cgroup quotas and the environment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/threads/cpus.h"
#include "cpu/backend/features.h"
#include "support/check.h"

static char root[] = "/tmp/histo-cpus-XXXXXX";

static char *in_root(const char *name)
{
    static char paths[2][256];
    static int last;
    last = !last;
    snprintf(paths[last], sizeof paths[last], "%s/%s", root, name);
    return paths[last];
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(in_root(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_root(void **state)
{
    (void)state;
    return mkdtemp(root) && mkdir(in_root("outer"), 0777) == 0 && mkdir(in_root("outer/inner"), 0777) == 0 &&
                   mkdir(in_root("cpu,cpuacct"), 0777) == 0 && mkdir(in_root("cpu,cpuacct/job"), 0777) == 0
               ? 0
               : -1;
}

static int make_root_again(void **state)
{
    strcpy(root, "/tmp/histo-cpus-XXXXXX");
    return make_root(state);
}

static int remove_root(void **state)
{
    (void)state;
    static const char *const files[] = {"membership",
                                        "cpu.max",
                                        "outer/cpu.max",
                                        "outer/inner/cpu.max",
                                        "cpu,cpuacct/cpu.cfs_quota_us",
                                        "cpu,cpuacct/cpu.cfs_period_us",
                                        "cpu,cpuacct/job/cpu.cfs_quota_us",
                                        "cpu,cpuacct/job/cpu.cfs_period_us"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(in_root(files[i]));
    rmdir(in_root("outer/inner"));
    rmdir(in_root("cpu,cpuacct/job"));
    rmdir(in_root("cpu,cpuacct"));
    rmdir(in_root("outer"));
    return rmdir(root);
}

static int cpus(void)
{
    return histo_cpus_in_cgroup(in_root("membership"), root, 64);
}

/* A step of a test: write a file, then expect so many CPUs. */
typedef struct quota_step {
    const char *file, *text; /* NULL: none is written */
    int cpus;                /* 0: not looked at yet */
} quota_step;

static void check_quotas(const quota_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (steps[i].file) put(steps[i].file, steps[i].text);
        if (steps[i].cpus) assert_int_equal(cpus(), steps[i].cpus);
    }
}

static void the_smallest_quota_counts(void **state)
{
    (void)state;
    static const quota_step steps[] = {
        {NULL, NULL, 64}, /* unknown membership */
        {"membership", "9:cpu:/outer\n0::/outer/inner\n", 64},
        {"outer/inner/cpu.max", "max 100000\n", 64},
        {"outer/cpu.max", "250000 100000\n", 3},
        {"outer/inner/cpu.max", "100000 100000\n", 1},
        {"outer/inner/cpu.max", "400000 100000\n", 3},
        {"cpu.max", "150000 100000\n", 2},
        {"cpu.max", "1 100000\n", 1},
        {"cpu.max", "9000000000000000000 1\n", 3},
        {"membership", "0::/\n", 0},
        {"cpu.max", "700000 100000\n", 7},
        {"membership", "0::/../elsewhere\n", 7},
        {"membership", "1:cpu:/outer\n", 64},
    };
    check_quotas(steps, sizeof steps / sizeof *steps);
    assert_true(histo_cpus_usable() >= 1);
}

static void quotas_of_version_1(void **state)
{
    (void)state;
    static const quota_step steps[] = {
        {"membership", "5:cpuset:/job\n4:cpu,cpuacct:/job\n3:memory:/job\n", 64},
        {"cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n", 0},
        {"cpu,cpuacct/job/cpu.cfs_period_us", "100000\n", 64},
        {"cpu,cpuacct/cpu.cfs_quota_us", "450000\n", 0},
        {"cpu,cpuacct/cpu.cfs_period_us", "100000\n", 5},
        {"cpu,cpuacct/job/cpu.cfs_quota_us", "200000\n", 2},
        {"membership", "4:cpu,cpuacct:/elsewhere\n", 5}, /* as in a container, which sees the host's path */
        {"membership", "4:cpuacct:/job\nnonsense\n4:cpu\n", 64},
    };
    check_quotas(steps, sizeof steps / sizeof *steps);
}

static void threads_of_the_environment(void **state)
{
    (void)state;
    double x[] = {0.5};
    histo_view view = histo_view_1d(x, HISTO_F64, 1);
    histo_axis axis = histo_axis_regular(2, 0, 1);
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    int usable = histo_cpus_usable() < 1024 ? histo_cpus_usable() : 1024;
    const struct {
        const char *text;
        int threads;
    } cases[] = {{"7", 7},
                 {"1024", 1024},
                 {"", usable},
                 {"0", usable},
                 {"-1", usable},
                 {"1025", usable},
                 {"abc", usable},
                 {"3 threads", usable},
                 {"99999999999999999999", usable},
                 {"4294967298", usable}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        histo_plan *plan;
        setenv("HISTO_THREADS", cases[i].text, 1);
        OK(histo_plan_create(&plan, h, &view, NULL, NULL));
        assert_int_equal(histo_plan_threads(plan), cases[i].threads);
        histo_plan_destroy(plan);
    }
    unsetenv("HISTO_THREADS");
    histo_hist_destroy(h);
}

/* A call's own number, that of the process, that of the environment. */
static void precedence(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    static uint8_t samples[N];
    histo_axis axis = histo_axis_integer(0, 256);
    histo_view view = histo_view_1d(samples, HISTO_U8, N);
    histo_fill_options fill = {0};
    histo_hist *h;
    histo_plan *plan;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    setenv("HISTO_THREADS", "3", 1);
    assert_int_equal(histo_threads(), 3);
    OK(histo_set_threads(5));
    assert_int_equal(histo_threads(), 5);
    OK(histo_hist_fill(h, &view, &fill));
    assert_int_equal(histo_plan_threads(histo_hist_last_plan(h)), 5);
    OK(histo_set_threads(6)); /* the kept plan is for another number */
    OK(histo_hist_fill(h, &view, &fill));
    assert_int_equal(histo_plan_threads(histo_hist_last_plan(h)), 6);
    fill.threads = 2;
    OK(histo_hist_fill(h, &view, &fill));
    assert_int_equal(histo_plan_threads(histo_hist_last_plan(h)), 2);
    OK(histo_plan_create(&plan, h, &view, &fill, NULL));
    assert_int_equal(histo_plan_threads(plan), 2);
    fill.threads = 1024;
    OK(histo_plan_fill(plan, h, &view, &fill));
    histo_plan_destroy(plan);
    OK(histo_plan_create(&plan, h, &view, &fill, &(histo_plan_options){.threads = 7}));
    assert_int_equal(histo_plan_threads(plan), 7);
    histo_plan_destroy(plan);
    fill.threads = -1;
    REFUSED(HISTO_INVALID, "-1 threads", histo_hist_fill(h, &view, &fill));
    REFUSED(HISTO_INVALID, "-1 threads", histo_set_threads(-1));
    REFUSED(HISTO_INVALID, "1025 threads", histo_set_threads(1025));
    assert_int_equal(histo_threads(), 6);
    OK(histo_set_threads(0));
    assert_int_equal(histo_threads(), 3);
    unsetenv("HISTO_THREADS");
    histo_tally tally;
    OK(histo_hist_tally(h, &tally));
    assert_int_equal(tally.samples, 4 * N);
    histo_hist_destroy(h);
}

/* As the compiler's own detection says. */
static void instruction_set(void **state)
{
    (void)state;
    unsetenv("HISTO_CPU");
    histo_isa isa = HISTO_ISA_BASELINE;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) isa = HISTO_ISA_AVX2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        isa = __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") ? HISTO_ISA_AVX512VBMI2
                                                                                            : HISTO_ISA_AVX512;
#endif
    assert_int_equal(histo_isa_usable(), isa);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instruction_set), /* first: HISTO_CPU is read once */
        cmocka_unit_test_setup_teardown(the_smallest_quota_counts, make_root, remove_root),
        cmocka_unit_test_setup_teardown(quotas_of_version_1, make_root_again, remove_root),
        cmocka_unit_test(threads_of_the_environment),
        cmocka_unit_test(precedence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
