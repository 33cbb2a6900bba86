/* libFuzzer target for the netCDF reader: the only variable, and one by name. */
#define _GNU_SOURCE
#include "drain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    drain_bytes(&reader_netcdf, data, size, &(read_options){.header = -1});
    drain_bytes(&reader_netcdf, data, size, &(read_options){.header = -1, .dataset = "temp"});
    return 0;
}
