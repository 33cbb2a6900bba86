/* The specialised kernels of a plan: see specialised.h. */
#include "cuda/jit/specialised.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/host/device.h"
#include "cuda/jit/builtin.h"
#include "cuda/jit/compile.h"
#include "cuda/jit/nvrtc.h"
#include "cuda/jit/records.h"
#include "cuda/launch/prepared.h"
#include "cuda/memory/stream_order.h"

/* Does the library have kernels of everyday problems for a device? Most plans are of those. */
static bool has_builtin(histo_device device)
{
    const histo_cuda_device *it = histo_cuda_device_of(device);
    return histo_builtin_has(it->major * 10 + it->minor);
}

bool histo_cuda_expects_compiled(const histo_problem *problem)
{
    enum { MANY = 1 << 24 };
    if (has_builtin(problem->device) && !problem->records) return true;
    const bool soon = problem->effort != HISTO_ESTIMATE || problem->samples >= MANY || problem->records;
    return soon && !histo_nvrtc_unavailable();
}

/* Compiling takes some tenths of a second. With HISTO_ESTIMATE, a plan compiles a kernel when counting without it has
 * lost about as much time. */
static const int64_t WORTH = INT64_C(1) << 32; /* samples */

/* What a plan knows of one specialised kernel. Entries are only added; they are freed with the plan. */
typedef struct histo_cuda_specialised_entry {
    struct histo_cuda_specialised_entry *next;
    histo_cuda_class constants;
    const char *kernel;
    histo_compiled *compiled; /* NULL: this build cannot load kernels */
    int64_t slow;             /* samples of fills for which it was not in memory, of plans with HISTO_ESTIMATE */
    bool is_refused;          /* it is compiled, but the device could not load it */
    char records[];           /* what it calls to read records: histo_cuda_records_text */
} histo_cuda_specialised_entry;

static histo_compiled *compiled_of(histo_device device, const histo_cuda_class *constants, const char *records,
                                   const char *header, const char *kernel)
{
    enum { INCLUDES = 256, CLASS = 4096 };
    char includes[INCLUDES];
    const size_t capacity = strlen(records) + CLASS;
    histo_text list = {.out = includes, .capacity = sizeof includes};
    histo_text text = {.out = (char *)malloc(capacity), .capacity = capacity};
    if (!text.out) return NULL;
    histo_text_add(&list, "#include \"%s\"\n" HISTO_SPECIALISED_READERS, header);
    histo_text_add(&text, "%s", records);
    histo_cuda_class_write(constants, &text);
    const histo_kernel_source source = {includes, text.out, kernel};
    histo_compiled *compiled = histo_cuda_compiled_of(device, &source);
    free(text.out);
    return compiled;
}

static histo_cuda_specialised_entry *find(histo_cuda_specialised_entry *first, const histo_cuda_class *constants,
                                          const char *records, const char *kernel)
{
    histo_cuda_specialised_entry *entry = first;
    while (entry && !(strcmp(entry->kernel, kernel) == 0 && strcmp(entry->records, records) == 0 &&
                      histo_cuda_class_equals(&entry->constants, constants)))
        entry = entry->next;
    return entry;
}

static histo_cuda_specialised_entry *entry_of(histo_cuda_prepared *prepared, histo_device device,
                                              const histo_cuda_class *constants, const char *records,
                                              const char *header, const char *kernel)
{
    histo_cuda_specialised_entry *first = __atomic_load_n(&prepared->specialised, __ATOMIC_ACQUIRE);
    histo_cuda_specialised_entry *entry = find(first, constants, records, kernel);
    if (entry) return entry;
    const size_t bytes = strlen(records) + 1;
    histo_cuda_specialised_entry *added = (histo_cuda_specialised_entry *)calloc(1, sizeof *added + bytes);
    if (!added) return NULL;
    added->constants = *constants;
    added->kernel = kernel;
    memcpy(added->records, records, bytes);
    added->compiled = compiled_of(device, constants, records, header, kernel);
    do { /* unless another thread has added it meanwhile */
        entry = find(first, constants, records, kernel);
        added->next = first;
    } while (!entry && !__atomic_compare_exchange_n(&prepared->specialised, &first, added, false, __ATOMIC_RELEASE,
                                                    __ATOMIC_ACQUIRE));
    if (!entry) return added;
    free(added);
    return entry;
}

void histo_cuda_specialised_free(histo_cuda_prepared *prepared)
{
    free(prepared->specialised_axes);
    for (histo_cuda_specialised_entry *next, *entry = prepared->specialised; entry; entry = next) {
        next = entry->next;
        free(entry);
    }
}

static histo_compile_effort effort_for(const histo_job *job, histo_cuda_specialised_entry *entry)
{
    const int64_t least = 1 << 17; /* samples: in the time that a fill of few loses, so many more could be counted */
    const int64_t samples = job->end - job->begin > least ? job->end - job->begin : least;
    if (histo_cuda_is_captured((cudaStream_t)job->stream)) return HISTO_COMPILE_NONE;
    if (job->problem->effort != HISTO_ESTIMATE || job->problem->records) return HISTO_COMPILE_NOW;
    const int64_t slow = __atomic_fetch_add(&entry->slow, samples, __ATOMIC_RELAXED);
    if (slow + samples >= WORTH) return HISTO_COMPILE_NOW;
    return slow == 0 ? HISTO_COMPILE_CACHED : HISTO_COMPILE_NONE;
}

static const void *kernel_of(const histo_job *job, const histo_cuda_class *constants, const char *records,
                             const char *header, const char *kernel)
{
    histo_cuda_prepared *prepared = (histo_cuda_prepared *)job->prepared;
    histo_cuda_specialised_entry *entry = entry_of(prepared, job->problem->device, constants, records, header, kernel);
    if (!entry || !entry->compiled) return NULL;
    const void *function = histo_cuda_compiled_kernel(entry->compiled, HISTO_COMPILE_NONE);
    if (!function && !histo_nvrtc_unavailable())
        function = histo_cuda_compiled_kernel(entry->compiled, effort_for(job, entry));
    if (!function && histo_compiled_image(entry->compiled, HISTO_COMPILE_NONE))
        __atomic_store_n(&entry->is_refused, true, __ATOMIC_RELAXED);
    return function;
}

const void *histo_cuda_specialised_kernel(const histo_job *job, const histo_cuda_class *constants, const char *header,
                                          const char *kernel)
{
    if (!job->problem->records) return kernel_of(job, constants, "", header, kernel);
    char *records = histo_cuda_records_text(job);
    const void *function = records ? kernel_of(job, constants, records, header, kernel) : NULL;
    free(records);
    return function;
}

static void explain(const histo_cuda_specialised_entry *entry, histo_text *text)
{
    const char *unavailable = histo_nvrtc_unavailable();
    const int64_t slow = __atomic_load_n(&entry->slow, __ATOMIC_RELAXED);
    const histo_compile_report report =
        entry->compiled ? histo_compiled_report(entry->compiled) : histo_compile_report{};
    histo_text_add(text, "  kernel: ");
    if (__atomic_load_n(&entry->is_refused, __ATOMIC_RELAXED)) {
        histo_text_add(text, "general, because the one compiled for such samples could not be loaded\n");
        return;
    }
    switch (report.state) {
    case HISTO_COMPILE_DONE:
        if (report.builtin)
            histo_text_add(text, "compiled for such samples, built in\n");
        else
            histo_text_add(text, "compiled for such samples, %s in %.3g ms\n",
                           report.cached ? "read from the kernel cache" : "compiled", report.us * 1e-3);
        break;
    case HISTO_COMPILE_FAILED:
        histo_text_add(text, "general, because none could be compiled for such samples\n");
        break;
    case HISTO_COMPILE_RUNNING:
        histo_text_add(text, "general, until the one for such samples is compiled\n");
        break;
    default:
        if (unavailable)
            histo_text_add(text, "general, because none can be compiled: %s\n", unavailable);
        else if (!entry->compiled)
            histo_text_add(text, "general, because this build of the library cannot load compiled kernels\n");
        else
            histo_text_add(text, "general; after %lld samples more, one is compiled for such samples\n",
                           (long long)(WORTH - slow));
    }
}

void histo_cuda_specialised_explain(const void *prepared, histo_text *text)
{
    const histo_cuda_specialised_entry *entry = ((const histo_cuda_prepared *)prepared)->specialised;
    for (; entry; entry = entry->next)
        explain(entry, text);
}
