/* libFuzzer target for the .npz reader: the only array, and one by name. */
#define _GNU_SOURCE
#include "drain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    drain_bytes(&reader_npz, data, size, &(read_options){.header = -1});
    drain_bytes(&reader_npz, data, size, &(read_options){.header = -1, .dataset = "x"});
    return 0;
}
