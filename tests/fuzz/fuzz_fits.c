/* libFuzzer target for the FITS reader: the first image or table with data, and one by number. */
#define _GNU_SOURCE
#include "drain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    drain_bytes(&reader_fits, data, size, &(read_options){.header = -1});
    drain_bytes(&reader_fits, data, size, &(read_options){.header = -1, .dataset = "1"});
    return 0;
}
