/* libFuzzer target for the text reader: the detected format, and formats forced by options. */
#define _GNU_SOURCE
#include "drain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const read_options options[] = {
        {.header = -1},
        {.header = -1, .skip_bad = true},
        {.header = 1, .skip_bad = true, .delimiter = ','},
        {.header = 0, .skip_bad = true, .delimiter = ' '},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        drain_bytes(&reader_text, data, size, &options[i]);
    return 0;
}
