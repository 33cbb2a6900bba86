/* Programs link this with
 *     -Wl,--wrap=histo_compiled_of,--wrap=histo_cuda_specialised_kernel,--wrap=histo_cuda_expects_compiled
 *     -Wl,--wrap=histo_driver_is_loaded,--wrap=histo_cuda_probe
 * so that strategies take every kernel that they ask for as compiled. */
#include "cuda/builtin/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/builtin/described_gpus.h"
#include "cuda/builtin/problems.h"
#include "cuda/host/driver.h"
#include "plan/strategy.h"

static histo_noted_source *noted;
static int noted_count, problem_now = -1;
static bool is_clustered; /* samples that are probed */

int histo_noted_count(void)
{
    return noted_count;
}

const histo_noted_source *histo_noted_at(int index)
{
    return &noted[index];
}

static char *copy(const char *text)
{
    char *its = strdup(text);
    if (!its) abort();
    return its;
}

/* ---- What the library calls ---- */

struct histo_cuda_class;
histo_compiled *__wrap_histo_compiled_of(int architecture, const histo_kernel_source *source);
const void *__wrap_histo_cuda_specialised_kernel(const histo_job *job, const struct histo_cuda_class *constants,
                                                 const char *header, const char *kernel);
const void *__real_histo_cuda_specialised_kernel(const histo_job *job, const struct histo_cuda_class *constants,
                                                 const char *header, const char *kernel);
bool __wrap_histo_cuda_expects_compiled(const histo_problem *problem);
bool __wrap_histo_driver_is_loaded(void);
histo_status __wrap_histo_cuda_probe(const histo_job *job, int n, uint32_t *slots);

/* Do GPUs of an architecture run code for this one? */
static bool runs_on(int code, int architecture)
{
    return code / 10 == architecture / 10 && code <= architecture;
}

/* Note the source, and have no kernel: nothing is compiled yet. */
histo_compiled *__wrap_histo_compiled_of(int architecture, const histo_kernel_source *source)
{
    for (int i = 0; i < noted_count; i++)
        if (runs_on(noted[i].architecture, architecture) && strcmp(noted[i].source.kernel, source->kernel) == 0 &&
            strcmp(noted[i].source.definitions, source->definitions) == 0 &&
            strcmp(noted[i].source.includes, source->includes) == 0)
            return NULL;
    histo_noted_source *more = realloc(noted, (size_t)(noted_count + 1) * sizeof *noted);
    if (!more) abort();
    noted = more;
    noted[noted_count++] = (histo_noted_source){
        architecture, {copy(source->includes), copy(source->definitions), copy(source->kernel)}, problem_now};
    return NULL;
}

/* Strategies go on with it, and launch nothing. */
const void *__wrap_histo_cuda_specialised_kernel(const histo_job *job, const struct histo_cuda_class *constants,
                                                 const char *header, const char *kernel)
{
    static const char anything;
    __real_histo_cuda_specialised_kernel(job, constants, header, kernel);
    return &anything;
}

bool __wrap_histo_cuda_expects_compiled(const histo_problem *problem)
{
    (void)problem;
    return true;
}

bool __wrap_histo_driver_is_loaded(void)
{
    return true;
}

histo_status __wrap_histo_cuda_probe(const histo_job *job, int n, uint32_t *slots)
{
    for (int i = 0; i < n; i++)
        slots[i] = (uint32_t)(is_clustered ? job->problem->slots / 2 + i % 8 % job->problem->slots
                                           : i * job->problem->slots / n);
    return HISTO_OK;
}

/* ---- Filling ---- */

static void fill(const everyday_problem *problem, int gpu)
{
    everyday_fill its;
    histo_hist *hist = NULL;
    histo_plan *plan = NULL;
    const histo_plan_options options = {.device = HISTO_DEVICE_CUDA(gpu)};
    everyday_describe(problem, described_gpu_memory(gpu), &its);
    histo_status status = histo_hist_create(&hist, its.naxes, its.axes, &its.hist);
    if (status == HISTO_OK) status = histo_plan_create(&plan, hist, its.views, &its.fill, &options);
    if (status == HISTO_OK) status = histo_plan_fill(plan, hist, its.views, &its.fill);
    if (status != HISTO_OK) {
        char name[128];
        everyday_name(problem, name, sizeof name);
        fprintf(stderr, "%s: %s\n", name, histo_last_error());
        exit(1);
    }
    histo_plan_destroy(plan);
    histo_hist_destroy(hist);
}

void histo_note_problem(const everyday_problem *problem, int gpu)
{
    for (int c = 0; c < 2; c++) {
        is_clustered = c;
        fill(problem, gpu);
    }
}

void histo_note_sources(int gpus, const int *architectures)
{
    described_gpus_show(gpus, architectures);
    for (int gpu = 0; gpu < gpus; gpu++)
        for (problem_now = 0; problem_now < everyday_count(); problem_now++) {
            const everyday_problem problem = everyday_at(problem_now);
            histo_note_problem(&problem, gpu);
        }
    problem_now = -1;
}
