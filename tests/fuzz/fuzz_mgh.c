/* libFuzzer target for the MGH reader: a volume as a whole, and its slices. */
#define _GNU_SOURCE
#include "drain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    drain_bytes(&reader_mgh, data, size, &(read_options){.header = -1});
    drain_bytes(&reader_mgh, data, size, &(read_options){.header = -1, .has_page = true, .page = -1});
    return 0;
}
