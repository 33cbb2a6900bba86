/* NIfTI-1 and NIfTI-2: a header of 348 or 540 bytes in either byte order, then the samples, x first; in one file (.nii)
 * or two (.hdr and .img). Either may be gzipped. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "input/readers/arrays/nifti_header.h"
#include "input/readers/arrays/plain.h"
#include "input/readers/readers.h"

typedef struct header {
    unsigned char bytes[NIFTI_2_BYTES];
    bool two, swapped, pair;
    int64_t dim[8], offset;
    int type;
    double slope, intercept;
} header;

/* ---- The header ------------------------------------------------------------------------------------------- */

static uint64_t field(const header *h, size_t at, size_t size)
{
    uint64_t value = 0;
    unsigned char bytes[8];
    memcpy(bytes, h->bytes + at, size);
    if (h->swapped) array_swap_bytes(bytes, size, 1);
    memcpy((char *)&value + (LITTLE_ENDIAN_MACHINE ? 0 : 8 - size), bytes, size);
    return value;
}

static double field_f32(const header *h, size_t at)
{
    const uint32_t bits = (uint32_t)field(h, at, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double field_f64(const header *h, size_t at)
{
    const uint64_t bits = field(h, at, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The header size at the start of the file, in native or swapped byte order; 0 if it is neither valid value. */
static int begins(const unsigned char *head, bool *swapped)
{
    static const uint32_t sizes[] = {NIFTI_1_BYTES, NIFTI_2_BYTES};
    uint32_t size;
    memcpy(&size, head, sizeof size);
    for (int i = 0; i < 4; i++) {
        *swapped = i >= 2;
        if (size == (i >= 2 ? __builtin_bswap32(sizes[i % 2]) : sizes[i % 2])) return (int)sizes[i % 2];
    }
    return 0;
}

bool nifti_recognise(const unsigned char *head, size_t size, const char *path)
{
    bool swapped;
    if (size < NIFTI_1_BYTES) return false;
    const int is = begins(head, &swapped);
    const char *magic = (const char *)head + (is == NIFTI_1_BYTES ? 344 : 4);
    if (is && (memcmp(magic, "n+", 2) == 0 || memcmp(magic, "ni", 2) == 0)) return true;
    return is == NIFTI_1_BYTES && (text_has_suffix(path, ".hdr") || text_has_suffix(path, ".hdr.gz"));
}

static int fault_header(const char *name, const char *what, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s is damaged: its NIfTI header %s; copy or download it again", name, what);
}

static int read_header(header *h, input *in, fault *f)
{
    const char *name = input_name(in);
    size_t size;
    const unsigned char *head = input_peek(in, &size, f);
    if (!head) return -1;
    *h = (header){0};
    const int is = size >= 4 ? begins(head, &h->swapped) : 0;
    if (!is) return fault_header(name, "does not begin with its size, 348 or 540", f);
    if (size < (size_t)is) return fault_header(name, "is cut off", f);
    memcpy(h->bytes, head, (size_t)is);
    h->two = is == NIFTI_2_BYTES;
    const char *magic = (const char *)h->bytes + (h->two ? 4 : 344);
    if (magic[0] != 'n' || (magic[1] != '+' && magic[1] != 'i'))
        return fault_set(f, EXIT_DATA, "%s is in ANALYZE 7.5, the format before NIfTI: convert it to NIfTI", name);
    h->pair = magic[1] == 'i';
    for (size_t d = 0; d < 8; d++)
        h->dim[d] = h->two ? (int64_t)field(h, 16 + 8 * d, 8) : (int16_t)field(h, 40 + 2 * d, 2);
    h->type = (int16_t)field(h, h->two ? 12 : 70, 2);
    const double offset = h->two ? (double)(int64_t)field(h, 168, 8) : field_f32(h, 108);
    h->slope = h->two ? field_f64(h, 176) : field_f32(h, 112);
    h->intercept = h->two ? field_f64(h, 184) : field_f32(h, 116);
    if (!(offset >= 0 && offset < 0x1p53)) return fault_header(name, "has samples at a position that is not one", f);
    h->offset = (int64_t)offset;
    if (!h->pair && h->offset < is) h->offset = is + 4;
    if (h->dim[0] < 1 || h->dim[0] > 7) return fault_header(name, "has not 1 to 7 dimensions", f);
    for (int d = 1; d <= h->dim[0]; d++)
        if (h->dim[d] < 1) return fault_header(name, "has a dimension that is not positive", f);
    return 0;
}

/* ---- Also used for writing NIfTI ----------------------------------------------------------------------------- */

const nifti_layout nifti_1 = {
    .bytes = NIFTI_1_BYTES,
    .magic = 344,
    .dim = {40, 2},
    .pixdim = {76, 4},
    .type = {70, 2},
    .bits = {72, 2},
    .offset = {108, 4},
    .slope = {112, 4},
    .intercept = {116, 4},
    .shown_most = {124, 4},
    .shown_least = {128, 4},
    .units = {123, 1},
    .space_by_turn = {252, 2},
    .space_by_rows = {254, 2},
    .rows = {280, 4},
};

const nifti_layout nifti_2 = {
    .bytes = NIFTI_2_BYTES,
    .magic = 4,
    .dim = {16, 8},
    .pixdim = {104, 8},
    .type = {12, 2},
    .bits = {14, 2},
    .offset = {168, 8},
    .slope = {176, 8},
    .intercept = {184, 8},
    .shown_most = {192, 8},
    .shown_least = {200, 8},
    .units = {500, 4},
    .space_by_turn = {344, 4},
    .space_by_rows = {348, 4},
    .rows = {400, 8},
};

static const struct {
    int code;
    histo_dtype dtype;
    int channels;
} types[] = {
    {2, HISTO_U8, 1},    {256, HISTO_I8, 1}, {512, HISTO_U16, 1},  {4, HISTO_I16, 1},
    {768, HISTO_U32, 1}, {8, HISTO_I32, 1},  {1280, HISTO_U64, 1}, {1024, HISTO_I64, 1},
    {16, HISTO_F32, 1},  {64, HISTO_F64, 1}, {128, HISTO_U8, 3},   {2304, HISTO_U8, 4},
};

int nifti_code(histo_dtype dtype, int channels)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].dtype == dtype && types[i].channels == channels) return types[i].code;
    return 0;
}

bool nifti_type(int code, histo_dtype *dtype, int *channels)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].code == code) {
            *dtype = types[i].dtype;
            *channels = types[i].channels;
            return true;
        }
    return false;
}

void nifti_swap(unsigned char *bytes, const nifti_layout *layout)
{
    static const struct {
        size_t at, bytes, count;
    } runs_1[] = {{0, 4, 1},   {32, 4, 1},  {36, 2, 1},  {40, 2, 8},  {56, 4, 3},  {68, 2, 4},
                  {76, 4, 11}, {120, 2, 1}, {124, 4, 6}, {252, 2, 2}, {256, 4, 18}},
      runs_2[] = {{0, 4, 1}, {12, 2, 2}, {16, 8, 28}, {344, 4, 2}, {352, 8, 18}, {496, 4, 3}};
    const bool two = layout->bytes == NIFTI_2_BYTES;
    const size_t count = two ? sizeof runs_2 / sizeof *runs_2 : sizeof runs_1 / sizeof *runs_1;
    for (size_t i = 0; i < count; i++) {
        const size_t at = two ? runs_2[i].at : runs_1[i].at, size = two ? runs_2[i].bytes : runs_1[i].bytes;
        array_swap_bytes(bytes + at, size, two ? runs_2[i].count : runs_1[i].count);
    }
}

/* Keep the header with the reader, in native byte order. */
static reader *keep_header(reader *r, header *h, fault *f)
{
    const nifti_layout *layout = h->two ? &nifti_2 : &nifti_1;
    if (!r) return NULL;
    if (h->swapped) nifti_swap(h->bytes, layout);
    if (metadata_keep(&r->about->nifti, h->bytes, (size_t)layout->bytes)) return r;
    fault_set(f, EXIT_DATA, "no memory to read %s", input_name(r->in));
    reader_destroy(r);
    return NULL;
}

/* ---- The samples ------------------------------------------------------------------------------------------ */

static int describe(const header *h, const char *name, bool raw, grid_info *info, scaling *s, fault *f)
{
    static const struct {
        int code;
        const char *what;
    } others[] = {{1, "bits"},
                  {32, "complex numbers"},
                  {1792, "complex numbers"},
                  {2048, "complex numbers"},
                  {1536, "floats of 128 bits"}};
    static const channel_model models[] = {[1] = CHANNELS_PLAIN, [3] = CHANNELS_RGB, [4] = CHANNELS_RGBA};
    *info = (grid_info){.channels = 1, .ndim = (int)h->dim[0]};
    histo_dtype stored = HISTO_U8;
    const bool is_known = nifti_type(h->type, &stored, &info->channels);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].code == h->type)
            return fault_set(f, EXIT_DATA, "%s holds %s, not plain numbers: convert it to float64", name,
                             others[i].what);
    if (!is_known) return fault_header(name, "names no known type of samples", f);
    info->model = models[info->channels];
    for (int d = 0; d < info->ndim; d++)
        info->shape[d] = h->dim[info->ndim - d];
    const bool scaled = isfinite(h->slope) && h->slope != 0 && info->channels == 1 && !raw;
    if (scaled && !isfinite(h->intercept))
        return fault_header(name, "has a slope (scl_slope) without an intercept (scl_inter)", f);
    *s = scaling_of(stored, 0, scaled ? h->slope : 1, scaled ? h->intercept : 0);
    return 0;
}

/* "brain.img" next to "brain.hdr", or the same with ".gz". */
static input *open_image(const char *path, fault *f)
{
    static const char *const suffixes[] = {".img", ".img.gz", ".IMG"};
    const char *file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const int stem = (int)(strlen(file) - (text_has_suffix(file, ".gz") ? 7 : 4));
    if (!text_has_suffix(file, ".hdr") && !text_has_suffix(file, ".hdr.gz")) {
        fault_set(f, EXIT_DATA, "%s is the header of a NIfTI pair: name the file, whose suffix is .hdr", path);
        return NULL;
    }
    fault why[3] = {0};
    for (int i = 0; i < 3; i++) {
        char *name;
        if (asprintf(&name, "%.*s%s", stem, file, suffixes[i]) < 0) break;
        input *in = plain_beside(path, name, &why[i]);
        free(name);
        if (in) return in;
    }
    fault_set(f, EXIT_DATA, "%s is a header whose samples are in an .img file of the same name: %s", path, why[0].text);
    return NULL;
}

reader *nifti_open(input *in, const read_options *options, fault *f)
{
    header h;
    grid_info info;
    plain_place place = {.bytes = byte_source_of_input(in, options), .size = input_data_size(in)};
    place.name = input_name(in);
    if (read_header(&h, in, f) != 0 || describe(&h, place.name, options->raw, &info, &place.scaling, f) != 0)
        return NULL;
    place.swapped = h.swapped;
    place.start = h.offset;
    if (h.pair) {
        input *image = open_image(place.name, f);
        if (!image) return NULL;
        place.bytes = byte_source_owning(image, options);
        place.size = input_data_size(image);
        place.name = input_name(image);
    }
    return keep_header(plain_open(in, options, &info, &place, f), &h, f);
}
