/* The functions of records in kernels: see records.h. */
#include "cuda/jit/records.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cuda/jit/compile.h"
#include "cuda/memory/stream_order.h"
#include "view/dtype.h"

static bool has_records(const histo_job *job, int axis)
{
    return histo_dtype_is_records(job->problem->stored[axis]);
}

/* Has an earlier axis the same source? */
static bool is_written(const histo_job *job, int axis)
{
    for (int a = 0; a < axis; a++)
        if (has_records(job, a) && strcmp(job->functions[a].source, job->functions[axis].source) == 0) return true;
    return false;
}

static void write_calls(const histo_job *job, histo_text *text)
{
    for (int a = 0; a < job->problem->naxes; a++)
        if (has_records(job, a) && !is_written(job, a))
            histo_text_add(text, "#line 1 \"source\"\n%s\n", job->functions[a].source);
    histo_text_add(text, "#line 1 \"call\"\n");
    for (int a = 0; a < job->problem->naxes; a++) {
        const histo_function *f = &job->functions[a];
        if (!has_records(job, a)) continue;
        histo_text_add(text,
                       "template <> struct histo_record_function<%d> {\n"
                       "using record = %s;\n"
                       "static_assert(sizeof(record) == %zu, \"records have another size than on the host\");\n"
                       "static_assert(alignof(record) <= %zu, \"records may be where their type cannot be\");\n"
                       "static HISTO_MEMBER auto number(const char *at)\n"
                       "{ return histo_as_stored<(histo_dtype)%d>(%s(*(const record *)at)); }\n"
                       "};\n",
                       a, f->record, f->size, f->alignment ? f->alignment : 1, (int)job->problem->dtypes[a],
                       f->functor);
    }
}

/* A kernel that does nothing else. */
static void write_small_kernel(const histo_job *job, histo_text *text)
{
    write_calls(job, text);
    histo_text_add(text, "static __global__ void call(const char *at, double *to)\n{\n");
    for (int a = 0; a < job->problem->naxes; a++)
        if (has_records(job, a))
            histo_text_add(text, "to[%d] = (double)histo_record_function<%d>::number(at);\n", a, a);
    histo_text_add(text, "}\n");
}

static char *text_by(void (*write)(const histo_job *job, histo_text *text), const histo_job *job)
{
    histo_text text = {NULL, 0, 0};
    write(job, &text);
    text = {(char *)malloc(text.length + 1), text.length + 1, 0};
    if (text.out) write(job, &text);
    return text.out;
}

char *histo_cuda_records_text(const histo_job *job)
{
    return text_by(write_calls, job);
}

/* It is compiled much faster than a kernel that counts, and the compiler's messages are about the sources alone. */
static histo_compiled *small_kernel_of(const histo_job *job)
{
    char *definitions = text_by(write_small_kernel, job);
    if (!definitions) return NULL;
    const histo_kernel_source source = {"#include \"cuda/jit/record_function.cuh\"\n", definitions, "call"};
    histo_compiled *compiled = histo_cuda_compiled_of(job->problem->device, &source);
    free(definitions);
    return compiled;
}

histo_status histo_cuda_records_check(const histo_job *job)
{
    const char *unavailable = histo_nvrtc_unavailable();
    if (unavailable)
        return histo_fail(HISTO_UNSUPPORTED, "functions of records cannot be compiled for a GPU: %s", unavailable);
    for (int d = job->iter.batch_ndim; d < job->iter.ndim; d++)
        if (job->iter.ndim > job->iter.batch_ndim + 1 && job->iter.shape[d] > INT32_MAX)
            return histo_fail(HISTO_UNSUPPORTED,
                              "of records in several dimensions, a GPU takes at most 2^31 - 1 along each");
    histo_compiled *compiled = small_kernel_of(job);
    if (!compiled)
        return histo_fail(HISTO_UNSUPPORTED,
                          "functions of records cannot be compiled: this build of the library cannot load kernels");
    const bool is_captured = histo_cuda_is_captured((cudaStream_t)job->stream);
    if (histo_compiled_image(compiled, is_captured ? HISTO_COMPILE_CACHED : HISTO_COMPILE_NOW)) return HISTO_OK;
    const histo_compile_report report = histo_compiled_report(compiled);
    if (report.state != HISTO_COMPILE_FAILED) return histo_cuda_records_refuse(job);
    return histo_fail(HISTO_INVALID, "the source of a function of records cannot be compiled for a GPU: %s",
                      report.log ? report.log : "the compiler gives no reason");
}

histo_status histo_cuda_records_refuse(const histo_job *job)
{
    if (histo_cuda_is_captured((cudaStream_t)job->stream))
        return histo_fail(HISTO_UNSUPPORTED, "fill the histogram once before its fills are captured into a graph");
    return histo_fail(HISTO_UNSUPPORTED, "no kernel could be compiled and loaded for these records");
}
