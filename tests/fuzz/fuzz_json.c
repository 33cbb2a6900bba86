/* libFuzzer target for the reader of JSON. */
#define _GNU_SOURCE
#include "drain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    drain_bytes(&reader_json, data, size, &(read_options){.header = -1});
    drain_bytes(&reader_json, data, size, &(read_options){.header = -1, .skip_bad = true});
    return 0;
}
