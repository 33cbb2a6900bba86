/* libFuzzer target for the reader of Parquet. */
#define _GNU_SOURCE
#include "drain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    drain_bytes(&reader_parquet, data, size, &(read_options){.header = -1});
    return 0;
}
