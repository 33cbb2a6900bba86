/* Raw binary samples, described by --dtype, --shape, --offset and --endian, and the bytes of any file. */
#include <inttypes.h>
#include <string.h>

#include "input/readers/arrays/array.h"
#include "input/readers/readers.h"

static int skip(const byte_source *source, int64_t bytes, const char *name, fault *f)
{
    const int64_t skipped = byte_source_skip(source, bytes, f);
    if (skipped < 0) return -1;
    if (skipped < bytes)
        return fault_set(f, EXIT_DATA, "%s ends after %" PRId64 " bytes, before --offset %" PRId64 ": lower the offset",
                         name, skipped, bytes);
    return 0;
}

static int check(const read_options *o, const char *name, fault *f)
{
    if (!o->has_dtype) return fault_set(f, EXIT_USAGE, "%s is read as raw samples of unknown type: add --dtype", name);
    if (o->offset < 0) return fault_set(f, EXIT_USAGE, "--offset %" PRId64 " is negative", o->offset);
    if (o->ndim < 0 || o->ndim > HISTO_MAX_DIMS)
        return fault_set(f, EXIT_USAGE, "--shape takes 1 to %d dimensions, not %d", HISTO_MAX_DIMS, o->ndim);
    for (int d = 0; d < o->ndim; d++)
        if (o->shape[d] < 1)
            return fault_set(f, EXIT_USAGE, "--shape has a dimension of %" PRId64 ": each is at least 1", o->shape[d]);
    return 0;
}

reader *raw_open(input *in, const read_options *o, fault *f)
{
    const char *name = input_name(in);
    byte_source source = byte_source_of_input(in, o);
    if (check(o, name, f) != 0 || skip(&source, o->offset, name, f) != 0) return NULL;
    array_info info = {.dtype = o->dtype, .swapped = o->big_endian == LITTLE_ENDIAN_MACHINE, .ndim = 1, .shape = {-1}};
    array_place place = {.start = o->offset,
                         .size = input_data_size(in),
                         .subject = name,
                         .described = "it first had",
                         .remedy = "correct --dtype or --offset"};
    if (place.size >= 0) place.size -= o->offset;
    if (o->ndim) {
        info.ndim = o->ndim;
        memcpy(info.shape, o->shape, sizeof info.shape);
        place.described = "--dtype and --shape describe";
        place.remedy = "correct --dtype, --shape or --offset";
    }
    return array_reader_open(in, source, &info, &place, f);
}

/* ---- Bytes ---- */

/* Read an input's bytes, converted to upper case. */
static int64_t read_capitals(void *self, void *buffer, size_t size, fault *f)
{
    unsigned char *text = buffer;
    int64_t got = input_read(self, buffer, size, f);
    for (int64_t i = 0; i < got; i++)
        text[i] = (unsigned char)(text[i] - (text[i] >= 'a' && text[i] <= 'z' ? 'a' - 'A' : 0));
    return got;
}

reader *bytes_open(input *in, const read_options *options, fault *f)
{
    byte_source source = byte_source_of_input(in, options);
    if (options->letters) {
        source.read = read_capitals;
        source.map = NULL;
    }
    array_info info = {.dtype = HISTO_U8, .ndim = 1, .shape = {-1}};
    array_place place = {
        .size = input_data_size(in), .subject = input_name(in), .described = "it first had", .remedy = "try again"};
    return array_reader_open(in, source, &info, &place, f);
}
