/* The list of everyday problems, and the kernels that are built in for them, on GPUs that are only described: no
 * kernel runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/builtin/described_gpus.h"
#include "cuda/builtin/sources.h"
#include "cuda/jit/builtin.h"
#include "plan/registry.h"
#include "support/check.h"
#include "view/dtype.h"

enum { MAX_GPUS = 16, NAME = 128 };

static int capabilities[MAX_GPUS], misfits;

/* The list's sources for all GPUs, noted once. */
static void note_list(void)
{
    if (histo_noted_count()) return;
    for (int i = 0; i < described_gpu_count; i++)
        capabilities[i] = described_gpus[i].capability;
    histo_note_sources(described_gpu_count, capabilities);
}

static void check_launch(const described_launch *launch)
{
    if (launch->fits) return;
    misfits++;
    print_message("%s: %s: %d threads, clusters of %d, %zu bytes of shared memory\n", launch->gpu->name,
                  launch->kernel ? launch->kernel : "a compiled kernel", launch->threads, launch->cluster,
                  launch->shared);
}

/* Problems of other sizes and numbers of bins ask for kernels of the list, but for a few. */
static void covers_other_sizes(void **state)
{
    (void)state;
    static const int64_t samples[] = {200000, 3000000, 8000000, 100000000};
    static const int bins[] = {8, 50, 300, 700, 1500};
    note_list();
    int asked = 0, missed = 0;
    for (int gpu = 0; gpu < described_gpu_count; gpu += 2)
        for (int i = 0; i < everyday_count(); i += 11) {
            everyday_problem p = everyday_at(i);
            p.samples = samples[asked % 4];
            if (!histo_dtype_is_integer(p.dtype) && p.bins > 64) p.bins = bins[asked % 5];
            const int before = histo_noted_count();
            histo_note_problem(&p, gpu);
            asked++;
            if (histo_noted_count() == before) continue;
            char name[NAME];
            everyday_name(&p, name, sizeof name);
            print_message("not in the list for %s: %s\n", described_gpus[gpu].name, name);
            missed++;
        }
    print_message("%d of %d problems are not in the list\n", missed, asked);
    assert_true(asked > 500 && missed * 20 <= asked);
}

/* Every strategy, where it takes a problem at all, launches what the GPU can launch. */
static void fits_all_gpus(void **state)
{
    (void)state;
    note_list();
    described_launched = check_launch;
    int fills = 0;
    for (int gpu = 0; gpu < described_gpu_count; gpu++)
        for (int i = 0; i < everyday_count(); i += 23) {
            const everyday_problem p = everyday_at(i);
            everyday_fill its;
            histo_hist *h;
            const histo_row *row;
            everyday_describe(&p, described_gpu_memory(gpu), &its);
            OK(histo_hist_create(&h, its.naxes, its.axes, &its.hist));
            for (int r = 0; (row = histo_row_at(r)); r++) {
                char strategy[NAME];
                histo_plan *plan;
                if (strcmp(row->backend->name, "cuda") != 0) continue;
                /* CUB chooses the kernels of a sort by what it asks of them, which is not described. */
                if (strcmp(row->name, "sort_search") == 0) continue;
                snprintf(strategy, sizeof strategy, "cuda/%s", row->name);
                const histo_plan_options options = {.strategy = strategy};
                if (histo_plan_create(&plan, h, its.views, &its.fill, &options) != HISTO_OK) continue;
                if (histo_plan_fill(plan, h, its.views, &its.fill) != HISTO_OK) {
                    char name[NAME];
                    everyday_name(&p, name, sizeof name);
                    print_message("%s, %s: %s\n", strategy, name, histo_last_error());
                    OK(histo_hist_reset(h, NULL));
                    misfits++;
                }
                histo_plan_destroy(plan);
                fills++;
            }
            histo_hist_destroy(h);
        }
    described_launched = NULL;
    assert_true(fills > 1000);
    assert_int_equal(misfits, 0);
}

/* Every source of the list is found for each architecture that kernels are built in for, and for no other. */
static void is_built_in(void **state)
{
    (void)state;
    enum { FATBIN = 0xba55ed50, MOST_BYTES = 6 << 20 };
    note_list();
    for (const int *code = histo_builtin_architectures; *code; code++) {
        size_t bytes = 0;
        for (int i = 0; i < histo_builtin_count; i++)
            bytes += histo_builtins[i].architecture == *code ? histo_builtins[i].size : 0;
        print_message("%d: %zu bytes\n", *code, bytes);
        assert_in_range(bytes, 1, MOST_BYTES);
    }
    int found = 0;
    for (int i = 0; i < histo_noted_count(); i++) {
        const histo_noted_source *noted = histo_noted_at(i);
        histo_kernel_image image;
        bool built = false;
        if (noted->problem < 0) continue; /* not of the list */
        for (const int *code = histo_builtin_architectures; *code; code++)
            built = built || *code == noted->architecture;
        if (!built) continue;
        assert_true(histo_builtin_find(noted->architecture, &noted->source, &image));
        uint32_t magic;
        memcpy(&magic, image.bytes + image.code_at, sizeof magic);
        assert_int_equal(magic, FATBIN);
        assert_int_equal((uintptr_t)(image.bytes + image.code_at) % HISTO_BUILTIN_ALIGNMENT, 0);
        /* Its symbol has the kernel's name. */
        const char *begin = strstr(noted->source.kernel, "::") + 2;
        begin = strstr(begin, "::") ? strstr(begin, "::") + 2 : begin;
        char name[NAME];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(begin, "<"), begin);
        assert_non_null(strstr(image.bytes, name));
        /* No other source has an image; a later GPU of the same kind runs this one. */
        histo_kernel_source other = noted->source;
        other.kernel = "other";
        assert_false(histo_builtin_find(noted->architecture, &other, &image));
        assert_true(histo_builtin_find(noted->architecture / 10 * 10 + 9, &noted->source, &image));
        assert_false(histo_builtin_find(noted->architecture + 100, &noted->source, &image));
        found++;
    }
    assert_int_equal(found, histo_builtin_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(covers_other_sizes),
        cmocka_unit_test(fits_all_gpus),
        cmocka_unit_test(is_built_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
