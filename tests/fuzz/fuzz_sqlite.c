/* libFuzzer target for the reader of SQLite: the only table, and one by name. */
#define _GNU_SOURCE
#include "drain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    drain_bytes(&reader_sqlite, data, size, &(read_options){.header = -1});
    drain_bytes(&reader_sqlite, data, size, &(read_options){.header = -1, .dataset = "x", .skip_bad = true});
    return 0;
}
