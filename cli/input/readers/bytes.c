/* --bytes: any file, as the bytes it is made of. */
#include "input/readers/array.h"
#include "input/readers/readers.h"

static reader *bytes_open(input *in, const read_options *options, fault *f)
{
    (void)options;
    array_info info = {.dtype = HISTO_U8, .ndim = 1, .shape = {-1}};
    array_place place = {
        .size = input_data_size(in), .subject = input_name(in), .described = "it first had", .remedy = "try again"};
    return array_reader_open(&reader_bytes, in, byte_source_of_input(in), &info, &place, f);
}

const reader_kind reader_bytes = {
    .name = "bytes",
    .formats = "the bytes of any file (--bytes)",
    .open = bytes_open,
};
