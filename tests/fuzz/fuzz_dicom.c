/* libFuzzer target for the DICOM reader: all frames, them as pages, and as viewers show them. */
#define _GNU_SOURCE
#include "drain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    drain_bytes(&reader_dicom, data, size, &(read_options){.header = -1});
    drain_bytes(&reader_dicom, data, size, &(read_options){.header = -1, .has_page = true, .page = -1});
    drain_bytes(&reader_dicom, data, size, &(read_options){.header = -1, .window = "auto"});
    return 0;
}
