/* libFuzzer target for the decoders: compressed text. */
#define _GNU_SOURCE
#include "drain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    drain_bytes(&reader_text, data, size, &(read_options){.header = -1, .skip_bad = true});
    return 0;
}
