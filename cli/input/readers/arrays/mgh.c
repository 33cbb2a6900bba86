/* MGH (FreeSurfer), usually compressed (.mgz): a header of 284 bytes, then the samples, big-endian, x first. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "input/readers/arrays/plain.h"
#include "input/readers/readers.h"

enum { HEADER = 284, FIELDS = 7 }; /* version, width, height, depth, frames, type, degrees of freedom */

static int32_t field(const unsigned char *head, int i)
{
    const unsigned char *at = head + 4 * i;
    return (int32_t)((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]);
}

/* The version alone could begin any file. */
bool mgh_recognise(const unsigned char *head, size_t size, const char *path)
{
    static const char *const suffixes[] = {".mgz", ".mgh", ".mgh.gz"};
    bool named = false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        named = named || text_has_suffix(path, suffixes[i]);
    return named && size >= (size_t)(4 * FIELDS) && field(head, 0) == 1;
}

static int describe(const unsigned char *head, const char *name, grid_info *info, histo_dtype *dtype, fault *f)
{
    static const struct {
        int type;
        histo_dtype dtype;
    } types[] = {{0, HISTO_U8}, {1, HISTO_I32}, {3, HISTO_F32}, {4, HISTO_I16}, {10, HISTO_U16}};
    size_t is = 0;
    while (is < sizeof types / sizeof *types && types[is].type != field(head, 5))
        is++;
    if (is == sizeof types / sizeof *types)
        return fault_set(f, EXIT_DATA,
                         "%s holds samples of the type %d of MGH, not plain numbers: convert it with "
                         "mri_convert",
                         name, (int)field(head, 5));
    *dtype = types[is].dtype;
    *info = (grid_info){.channels = 1, .ndim = 4};
    for (int d = 0; d < 4; d++) {
        info->shape[d] = field(head, 4 - d);
        if (info->shape[d] < 1)
            return fault_set(f, EXIT_DATA,
                             "%s is damaged: its MGH header has a dimension that is not positive; copy or download it "
                             "again",
                             name);
    }
    return 0;
}

static double field_f32(const unsigned char *at)
{
    const uint32_t bits = (uint32_t)field(at, 0);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* After the fields: whether the rest is present, the size of a sample, the directions of the axes, and the centre. */
static void find_place(const unsigned char *head, metadata *about)
{
    const unsigned char *at = head + 4 * FIELDS;
    double steps[3][3], first[3];
    if (at[0] == 0 && at[1] == 0) return;
    at += 2;
    for (int d = 0; d < 3; d++)
        first[d] = field_f32(at + 4 * (12 + d));
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++) {
            steps[k][d] = field_f32(at + 4 * (3 + 3 * k + d)) * field_f32(at + 4 * k);
            first[d] -= steps[k][d] * field(head, 1 + k) / 2;
        }
    metadata_place(about, first, steps, false);
}

reader *mgh_open(input *in, const read_options *options, fault *f)
{
    size_t size;
    grid_info info;
    histo_dtype dtype = HISTO_U8;
    const char *name = input_name(in);
    const unsigned char *head = input_peek(in, &size, f);
    if (!head) return NULL;
    if (size < HEADER || field(head, 0) != 1) {
        fault_set(f, EXIT_DATA, "%s is damaged: its MGH header is cut off, or of an unknown version", name);
        return NULL;
    }
    if (describe(head, name, &info, &dtype, f) != 0) return NULL;
    const plain_place place = {.bytes = byte_source_of_input(in, options),
                               .size = input_data_size(in),
                               .start = HEADER,
                               .swapped = histo_dtype_size(dtype) > 1 && LITTLE_ENDIAN_MACHINE,
                               .scaling = scaling_of(dtype, 0, 1, 0),
                               .name = name};
    unsigned char copy[HEADER];
    memcpy(copy, head, sizeof copy);
    reader *r = plain_open(in, options, &info, &place, f);
    if (r) find_place(copy, r->about);
    return r;
}
