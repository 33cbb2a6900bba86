/* Plans: chosen, forced, measured, remembered and explained; and invalid requests. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plan/plan.h"
#include "support/check.h"
#include "support/data.h"

typedef struct fixture {
    histo_hist *hist;
    float *data;
    histo_view view;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    rng r = {.state = 3};
    histo_axis axis = histo_axis_regular(64, 0, 1);
    const int64_t n = 100000;
    f->data = make_samples(&r, HISTO_F32, UNIFORM, &axis, n);
    f->view = histo_view_1d(f->data, HISTO_F32, n);
    if (histo_hist_create(&f->hist, 1, &axis, NULL) != HISTO_OK) return -1;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    histo_hist_destroy(f->hist);
    free(f->data);
    free(f);
    histo_wisdom_forget();
    return 0;
}

static char *explanation(const histo_plan *plan)
{
    size_t length = histo_plan_explain(plan, NULL, 0);
    char *text = malloc(length + 1);
    assert_int_equal(histo_plan_explain(plan, text, length + 1), length);
    assert_int_equal(strlen(text), length);
    return text;
}

static void forced(void **state)
{
    fixture *f = *state;
    histo_strategy_info info;
    histo_plan *plan;
    int made = 0;
    for (int i = 0; i < histo_strategy_count(); i++) {
        OK(histo_strategy_describe(i, &info));
        assert_true(*info.name && *info.summary && *info.limits && *info.source);
        if (strcmp(info.backend, "cpu") != 0) continue;
        histo_status status =
            histo_plan_create(&plan, f->hist, &f->view, NULL, &(histo_plan_options){.strategy = info.name});
        if (status != HISTO_OK) { /* does not support these samples, and says why */
            assert_int_equal(status, HISTO_UNSUPPORTED);
            assert_non_null(strstr(histo_last_error(), info.name));
            continue;
        }
        made++;
        assert_non_null(strstr(histo_plan_strategy(plan), info.name));
        char *text = explanation(plan);
        assert_non_null(strstr(text, "asked for by name"));
        free(text);
        histo_plan_destroy(plan);
    }
    assert_true(made >= 3);
    REFUSED(HISTO_INVALID, "no strategy", histo_strategy_describe(-1, &info));
    REFUSED(HISTO_INVALID, "no strategy", histo_strategy_describe(histo_strategy_count(), &info));
    setenv("HISTO_STRATEGY", "sort_search", 1);
    OK(histo_plan_create(&plan, f->hist, &f->view, NULL, NULL));
    assert_string_equal(histo_plan_strategy(plan), "cpu/sort_search");
    histo_plan_destroy(plan);
    setenv("HISTO_STRATEGY", "nonsense", 1);
    REFUSED(HISTO_UNSUPPORTED, "nonsense", histo_hist_fill(f->hist, &f->view, NULL));
    unsetenv("HISTO_STRATEGY");
}

static void refused(void **state)
{
    fixture *f = *state;
    histo_plan *plan = NULL;
    const struct {
        histo_status status;
        const char *words;
        histo_plan_options options;
    } cases[] = {
        {HISTO_UNSUPPORTED, "no strategy is called 'fast'", {.strategy = "fast"}},
        {HISTO_UNSUPPORTED, "no strategy", {.strategy = "gpu/sequential"}},
        {HISTO_INVALID, "no parameter 'x'", {.strategy = "privatized", .params = "x=1"}},
        {HISTO_INVALID, "no parameter 'sub'", {.strategy = "privatized", .params = "sub=1"}},
        {HISTO_INVALID, "0 to 8", {.strategy = "privatized", .params = "subtables=9"}},
        {HISTO_INVALID, "whole number", {.strategy = "privatized", .params = "subtables="}},
        {HISTO_INVALID, "whole number", {.strategy = "privatized", .params = "subtables=2x"}},
        {HISTO_INVALID, "no parameter", {.strategy = "privatized", .params = "subtables"}},
        {HISTO_INVALID, "threads", {.threads = -1}},
        {HISTO_INVALID, "unknown effort 3", {.effort = (histo_effort)3}},
        {HISTO_INVALID, "unknown effort -1", {.effort = (histo_effort)-1}},
        {HISTO_INVALID, "no device -1: use HISTO_DEVICE_AUTO", {.device = -1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        REFUSED(cases[i].status, cases[i].words, histo_plan_create(&plan, f->hist, &f->view, NULL, &cases[i].options));
    assert_null(plan);
    /* sort_search does not support weights. */
    histo_hist *weighted;
    histo_axis axis = histo_hist_axis(f->hist, 0);
    OK(histo_hist_create(&weighted, 1, &axis, &(histo_hist_options){.weighting = HISTO_WEIGHT_FAST}));
    REFUSED(HISTO_UNSUPPORTED, "weights",
            histo_plan_create(&plan, weighted, &f->view, NULL, &(histo_plan_options){.strategy = "sort_search"}));
    /* A plan for other dtypes or axes is rejected. */
    OK(histo_plan_create(&plan, f->hist, &f->view, NULL, NULL));
    histo_view other = f->view;
    other.dtype = HISTO_I32;
    REFUSED(HISTO_INVALID, "other axes, dtypes", histo_plan_fill(plan, f->hist, &other, NULL));
    REFUSED(HISTO_INVALID, "weighting", histo_plan_fill(plan, weighted, &f->view, NULL));
    histo_plan_destroy(plan);
    histo_hist_destroy(weighted);
}

static void measured_and_remembered(void **state)
{
    fixture *f = *state;
    char path[] = "/tmp/histo-wisdom-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    histo_plan *plan;
    OK(histo_plan_create(&plan, f->hist, &f->view, NULL, &(histo_plan_options){.effort = HISTO_MEASURE}));
    char measured[64];
    snprintf(measured, sizeof measured, "%s", histo_plan_strategy(plan));
    char *text = explanation(plan);
    assert_non_null(strstr(text, "by measurement"));
    free(text);
    histo_plan_destroy(plan);
    /* Measuring leaves the histogram empty. */
    histo_tally tally;
    OK(histo_hist_tally(f->hist, &tally));
    assert_int_equal(tally.samples, 0);
    OK(histo_wisdom_save(path));
    histo_wisdom_forget();
    OK(histo_plan_create(&plan, f->hist, &f->view, NULL, NULL));
    text = explanation(plan);
    assert_null(strstr(text, "by wisdom"));
    free(text);
    histo_plan_destroy(plan);
    /* Unknown strategies and malformed lines are skipped. */
    FILE *file = fopen(path, "a");
    fputs("cpu-x u8/uniform/1;counts cpu/of_tomorrow 1\nbroken\n\n", file);
    fclose(file);
    OK(histo_wisdom_load(path));
    OK(histo_plan_create(&plan, f->hist, &f->view, NULL, NULL));
    assert_string_equal(histo_plan_strategy(plan), measured);
    text = explanation(plan);
    assert_non_null(strstr(text, "by wisdom"));
    free(text);
    histo_plan_destroy(plan);
    file = fopen(path, "w");
    fputs("something else\n", file);
    fclose(file);
    REFUSED(HISTO_CORRUPT, "not a wisdom file", histo_wisdom_load(path));
    unlink(path);
    REFUSED(HISTO_IO, "cannot read", histo_wisdom_load(path));
    REFUSED(HISTO_IO, "cannot write", histo_wisdom_save("/nonexistent/wisdom"));
}

/* Other parameters are tried, of the strategy that was asked for or of the fastest, kept in files, and used again. */
static void varied_and_remembered(void **state)
{
    fixture *f = *state;
    static const char *const asked[] = {"cpu/privatized", NULL};
    char path[] = "/tmp/histo-wisdom-XXXXXX", line[1024], signature[HISTO_SIGNATURE_BYTES];
    close(mkstemp(path));
    histo_plan *plan;
    for (int a = 0; a < 2; a++) {
        const histo_plan_options options = {
            .effort = HISTO_MEASURE, .vary = true, .strategy = asked[a], .device = HISTO_DEVICE_CPU};
        OK(histo_plan_create(&plan, f->hist, &f->view, NULL, &options));
        for (int p = 0; plan->row->strategy->params[p].name; p++)
            assert_in_range(plan->params[p], plan->row->strategy->params[p].min, plan->row->strategy->params[p].max);
        OK(histo_plan_fill(plan, f->hist, &f->view, NULL));
        histo_plan_signature(plan, 0, signature);
        histo_plan_destroy(plan);
    }
    const histo_row *row = histo_row_find("cpu/privatized", NULL);
    int64_t params[HISTO_MAX_PARAMS] = {0}, found[HISTO_MAX_PARAMS];
    histo_params_default(row, params);
    params[0] = row->strategy->params[0].max;
    double us;
    OK(histo_wisdom_add(HISTO_DEVICE_CPU, signature, row, params, 1.5));
    OK(histo_wisdom_save(path));
    FILE *file = fopen(path, "r");
    bool named = false;
    while (fgets(line, sizeof line, file))
        named |= strstr(line, " cpu/privatized:") && strstr(line, row->strategy->params[0].name);
    fclose(file);
    assert_true(named);
    histo_wisdom_forget();
    /* A parameter that the strategy does not have leaves a line out. */
    file = fopen(path, "a");
    fputs("x y cpu/privatized:wings=2 1\n", file);
    fclose(file);
    OK(histo_wisdom_load(path));
    unlink(path);
    assert_ptr_equal(histo_wisdom_find(HISTO_DEVICE_CPU, signature, found, &us), row);
    assert_memory_equal(found, params, sizeof params);
    OK(histo_plan_create(&plan, f->hist, &f->view, NULL, &(histo_plan_options){.device = HISTO_DEVICE_CPU}));
    assert_ptr_equal(plan->row, row);
    assert_int_equal(plan->params[0], params[0]);
    histo_plan_destroy(plan);
}

static void remember_one(void)
{
    OK(histo_wisdom_add(HISTO_DEVICE_CPU, "problem", histo_row_find("cpu/sequential", NULL), NULL, 1.5));
}

/* The file must contain exactly one line of wisdom. */
static void assert_saved(const char *path)
{
    char text[512] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_memory_equal(text, "histo-wisdom 1\n", 15);
    static const char end[] = " problem cpu/sequential 1.5\n";
    assert_true(size > sizeof end && strcmp(text + size - (sizeof end - 1), end) == 0);
}

static void wisdom_files(void **state)
{
    (void)state;
    char directory[] = "/tmp/histo-wisdom-XXXXXX", path[64], link[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/wisdom", directory);
    snprintf(link, sizeof link, "%s/link", directory);
    REFUSED(HISTO_INVALID, "is NULL", histo_wisdom_save(NULL));
    REFUSED(HISTO_INVALID, "is NULL", histo_wisdom_load(NULL));
    REFUSED(HISTO_IO, "Is a directory", histo_wisdom_load(directory));
    REFUSED(HISTO_IO, "Is a directory", histo_wisdom_save(directory));
    if (access("/dev/full", W_OK) == 0) REFUSED(HISTO_IO, "No space", histo_wisdom_save("/dev/full"));
    remember_one();
    /* Saving keeps links and permissions; a reader that has the old file open still reads it. */
    FILE *before = fopen(path, "w");
    fputs("before", before);
    fclose(before);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink(path, link), 0);
    before = fopen(path, "r");
    OK(histo_wisdom_save(link));
    assert_int_equal(fgetc(before), 'b');
    fclose(before);
    assert_saved(path);
    struct stat found;
    assert_int_equal(lstat(link, &found), 0);
    assert_true(S_ISLNK(found.st_mode));
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0640);
    OK(histo_wisdom_load(path));
    /* Invalid times are skipped. */
    histo_wisdom_forget();
    FILE *wrong = fopen(path, "w");
    fputs("histo-wisdom 1\n", wrong);
    static const char *const times[] = {"nan", "inf", "-1e9"};
    for (int i = 0; i < 3; i++)
        fprintf(wrong, "device%d problem cpu/sequential %s\n", i, times[i]);
    fclose(wrong);
    OK(histo_wisdom_load(path));
    OK(histo_wisdom_save(path));
    char left[64];
    wrong = fopen(path, "r");
    size_t size = fread(left, 1, sizeof left, wrong);
    fclose(wrong);
    assert_int_equal(size, strlen("histo-wisdom 1\n"));
    unlink(link);
    unlink(path);
    assert_int_equal(rmdir(directory), 0); /* no other files are left */
}

static void wisdom_in_another_locale(void **state)
{
    (void)state;
    if (!use_decimal_comma()) skip();
    char path[] = "/tmp/histo-wisdom-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    remember_one();
    OK(histo_wisdom_save(path));
    assert_saved(path);
    histo_wisdom_forget();
    OK(histo_wisdom_load(path));
    double us = 0;
    int64_t params[HISTO_MAX_PARAMS];
    assert_non_null(histo_wisdom_find(HISTO_DEVICE_CPU, "problem", params, &us));
    assert_true(us == 1.5);
    setlocale(LC_NUMERIC, "C");
    unlink(path);
}

static int forget(void **state)
{
    (void)state;
    histo_wisdom_forget();
    return 0;
}

/* A fill keeps its plan for similar fills. */
static void kept(void **state)
{
    fixture *f = *state;
    assert_null(histo_hist_last_plan(f->hist));
    OK(histo_hist_fill(f->hist, &f->view, NULL));
    const histo_plan *first = histo_hist_last_plan(f->hist);
    assert_non_null(first);
    histo_view half = f->view;
    half.shape[0] /= 2;
    OK(histo_hist_fill(f->hist, &half, NULL));
    assert_ptr_equal(histo_hist_last_plan(f->hist), first);
    half.dtype = HISTO_I32;
    OK(histo_hist_fill(f->hist, &half, NULL));
    histo_tally tally;
    OK(histo_hist_tally(f->hist, &tally));
    assert_int_equal(tally.samples, 200000);
}

static void machine(void **state)
{
    (void)state;
    char text[4096];
    assert_true(histo_machine_describe(text, sizeof text) < sizeof text);
    assert_non_null(strstr(text, "cpu: "));
    assert_non_null(strstr(text, "thread"));
}

static void host_memory_is_of_no_gpu(void **state)
{
    (void)state;
    const int here = 0;
    assert_int_equal(histo_memory_device(&here), HISTO_DEVICE_CPU);
    assert_int_equal(histo_memory_device(NULL), HISTO_DEVICE_CPU);
    assert_int_equal(histo_memory_device((const void *)(uintptr_t)4096), HISTO_DEVICE_CPU);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(forced, setup, teardown),
        cmocka_unit_test_setup_teardown(refused, setup, teardown),
        cmocka_unit_test_setup_teardown(measured_and_remembered, setup, teardown),
        cmocka_unit_test_setup_teardown(varied_and_remembered, setup, teardown),
        cmocka_unit_test_teardown(wisdom_files, forget),
        cmocka_unit_test_teardown(wisdom_in_another_locale, forget),
        cmocka_unit_test_setup_teardown(kept, setup, teardown),
        cmocka_unit_test(machine),
        cmocka_unit_test(host_memory_is_of_no_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
