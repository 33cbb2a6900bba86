/* The specialised kernels of a plan: see specialised.h. */
#include "cuda/jit/specialised.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/host/device.h"
#include "cuda/jit/builtin.h"
#include "cuda/jit/compile.h"
#include "cuda/jit/expected.h"
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
    if (problem->records) return !histo_nvrtc_unavailable();
    switch (histo_expected_of(problem)) {
    case HISTO_EXPECTED_COMPILED:
        return true;
    case HISTO_EXPECTED_GENERAL:
        return false;
    case HISTO_EXPECTED_UNKNOWN:
        if (has_builtin(problem->device)) return true;
        break;
    case HISTO_EXPECTED_LATER:
        break;
    }
    const bool soon = problem->effort != HISTO_ESTIMATE || problem->samples >= MANY; /* these are filled often */
    return soon && !histo_nvrtc_unavailable();
}

/* What a plan knows of one specialised kernel. Entries are only added; they are freed with the plan. */
typedef struct histo_cuda_specialised_entry {
    struct histo_cuda_specialised_entry *next;
    histo_cuda_class constants;
    const char *kernel;
    histo_compiled *compiled; /* NULL: this build cannot load kernels */
    bool is_refused;          /* it is compiled, but the device could not load it */
    histo_expected noted;     /* by this entry, for further plans */
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

static histo_compile_effort effort_for(const histo_job *job, histo_compiled *compiled)
{
    if (histo_cuda_is_captured((cudaStream_t)job->stream)) return HISTO_COMPILE_NONE;
    if (job->problem->effort != HISTO_ESTIMATE || job->problem->records) return HISTO_COMPILE_NOW;
    return histo_compiled_lacked(compiled, job->end - job->begin) ? HISTO_COMPILE_BESIDE : HISTO_COMPILE_CACHED;
}

/* Tell further plans, once. */
static void note(const histo_problem *problem, histo_cuda_specialised_entry *entry, histo_expected what)
{
    if (__atomic_load_n(&entry->noted, __ATOMIC_RELAXED) == what) return;
    __atomic_store_n(&entry->noted, what, __ATOMIC_RELAXED);
    histo_expected_note(problem, what);
}

static const void *kernel_of(const histo_job *job, const histo_cuda_class *constants, const char *records,
                             const char *header, const char *kernel)
{
    histo_cuda_prepared *prepared = (histo_cuda_prepared *)job->prepared;
    histo_cuda_specialised_entry *entry = entry_of(prepared, job->problem->device, constants, records, header, kernel);
    if (!entry || !entry->compiled) return NULL;
    const void *function = histo_cuda_compiled_kernel(entry->compiled, HISTO_COMPILE_NONE);
    if (!function) function = histo_cuda_compiled_kernel(entry->compiled, effort_for(job, entry->compiled));
    if (!function && histo_compiled_image(entry->compiled, HISTO_COMPILE_NONE))
        __atomic_store_n(&entry->is_refused, true, __ATOMIC_RELAXED);
    if (function)
        note(job->problem, entry, HISTO_EXPECTED_COMPILED);
    else if (__atomic_load_n(&entry->is_refused, __ATOMIC_RELAXED) ||
             histo_compiled_state(entry->compiled) == HISTO_COMPILE_FAILED)
        note(job->problem, entry, HISTO_EXPECTED_GENERAL);
    else
        note(job->problem, entry, HISTO_EXPECTED_LATER);
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

static void explain_kernel(const histo_cuda_specialised_entry *entry, histo_text *text)
{
    const char *unavailable = histo_nvrtc_unavailable();
    const histo_compile_report report =
        entry->compiled ? histo_compiled_report(entry->compiled) : histo_compile_report{};
    if (__atomic_load_n(&entry->is_refused, __ATOMIC_RELAXED)) {
        histo_text_add(text, "general, because the one compiled for such samples could not be loaded");
        return;
    }
    switch (report.state) {
    case HISTO_COMPILE_DONE:
        if (report.builtin)
            histo_text_add(text, "compiled for such samples, built in");
        else
            histo_text_add(text, "compiled for such samples, %s in %.3g ms",
                           report.cached ? "read from the kernel cache" : "compiled", report.us * 1e-3);
        break;
    case HISTO_COMPILE_FAILED:
        histo_text_add(text, "general, because none could be compiled for such samples");
        break;
    case HISTO_COMPILE_WAITING:
    case HISTO_COMPILE_RUNNING:
        histo_text_add(text, "general, until the one for such samples is compiled");
        break;
    default:
        if (unavailable)
            histo_text_add(text, "general, because none can be compiled: %s", unavailable);
        else if (!entry->compiled)
            histo_text_add(text, "general, because this build of the library cannot load compiled kernels");
        else
            histo_text_add(text, "general; if such fills go on, one is compiled for them");
    }
}

void histo_cuda_specialised_explain(const void *prepared, histo_text *text)
{
    const histo_cuda_prepared *its = (const histo_cuda_prepared *)prepared;
    for (const histo_cuda_specialised_entry *entry = its->specialised; entry; entry = entry->next) {
        const bool is_compiled = entry->compiled && histo_compiled_state(entry->compiled) == HISTO_COMPILE_DONE;
        histo_text_add(text, "  kernel: ");
        explain_kernel(entry, text);
        if (is_compiled != its->expects_compiled)
            histo_text_add(text, "; predicted with %s kernel", its->expects_compiled ? "a compiled" : "the general");
        histo_text_add(text, "\n");
    }
}
