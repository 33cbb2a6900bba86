/* libFuzzer target for the reader of YUV4MPEG2 video. */
#define _GNU_SOURCE
#include "drain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    drain_bytes(&reader_y4m, data, size, &(read_options){.header = -1});
    return 0;
}
