/* libFuzzer target for the HDF5 reader: the only dataset, and one by name. */
#define _GNU_SOURCE
#include "drain.h"

/* libhdf5 leaks when it rejects a damaged file, and allocates whatever size the file states. Neither is our fault; the
 * latter fails cleanly. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

/* Damaged files make it copy from beyond its memory. */
const char *__asan_default_suppressions(void);
const char *__asan_default_suppressions(void)
{
    return "interceptor_via_lib:libhdf5";
}

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static char no_limit[] = "-malloc_limit_mb=1000000000";
    static char *arguments[256];
    if (*argc > 254) return 0;
    for (int i = 0; i < *argc; i++)
        arguments[i] = (*argv)[i];
    arguments[(*argc)++] = no_limit;
    *argv = arguments;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    drain_bytes(&reader_hdf5, data, size, &(read_options){.header = -1});
    drain_bytes(&reader_hdf5, data, size, &(read_options){.header = -1, .dataset = "x"});
    return 0;
}
