/* MetaImage (ITK, 3D Slicer, elastix): lines of text that describe the samples, the last of which says where they are:
 * following it (.mha), or in another file (.mhd with .raw or .zraw). First axis fastest, channels interleaved. */
#define _GNU_SOURCE
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "input/readers/arrays/encoded.h"
#include "input/readers/readers.h"

typedef struct description {
    int64_t length; /* of the header; 0: it does not end */
    histo_dtype dtype;
    bool typed, text, big, compressed;
    int ndim, channels;
    int sizes; /* number of sizes given */
    int64_t size[GRID_MAX_DIMS];
    double slope, intercept;
    char file[1024]; /* file with the samples; "LOCAL": this one */
    int64_t skip;    /* bytes to skip in that file; -1: the samples end where it ends */
    int placed;      /* how many numbers the next three have, of three dimensions: 15 */
    double first[3], turn[9], step[3];
} description;

static int fault_header(const char *name, const char *what, const char *value, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s has a MetaImage header that cannot be read: %s%.60s; save it again", name, what,
                     value);
}

bool metaimage_recognise(const unsigned char *head, size_t size, const char *path)
{
    static const char *const begins[] = {"ObjectType", "NDims", "Comment"};
    bool is = text_has_suffix(path, ".mha") || text_has_suffix(path, ".mhd");
    for (size_t i = 0; i < sizeof begins / sizeof *begins && !is; i++)
        is = size > strlen(begins[i]) && memcmp(head, begins[i], strlen(begins[i])) == 0;
    return is && memmem(head, size, "DimSize", 7) && memmem(head, size, "ElementDataFile", 15);
}

/* ---- The header ------------------------------------------------------------------------------------------- */

static bool parse_type(const char *value, histo_dtype *dtype)
{
    static const struct {
        const char *name;
        histo_dtype dtype;
    } types[] = {{"CHAR", HISTO_I8},       {"UCHAR", HISTO_U8},       {"SHORT", HISTO_I16}, {"USHORT", HISTO_U16},
                 {"INT", HISTO_I32},       {"UINT", HISTO_U32},       {"LONG", HISTO_I32},  {"ULONG", HISTO_U32},
                 {"LONG_LONG", HISTO_I64}, {"ULONG_LONG", HISTO_U64}, {"FLOAT", HISTO_F32}, {"DOUBLE", HISTO_F64}};
    char name[32];
    if (strncasecmp(value, "MET_", 4) != 0 || strlen(value) >= sizeof name) return false;
    strcpy(name, value + 4);
    if (text_has_suffix(name, "_ARRAY")) name[strlen(name) - 6] = '\0';
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcasecmp(name, types[i].name) == 0) {
            *dtype = types[i].dtype;
            return true;
        }
    return false;
}

static int parse_sizes(description *d, const char *value, const char *name, fault *f)
{
    char *end;
    d->sizes = 0;
    for (const char *p = value; p[strspn(p, " \t")]; p = end) {
        const long long size = strtoll(p, &end, 10);
        if (end == p || size < 1 || d->sizes == GRID_MAX_DIMS)
            return fault_header(name, "its sizes are not 1 to 16 positive numbers: ", value, f);
        d->size[d->sizes++] = size;
    }
    return 0;
}

static bool parse_whole(const char *value, int64_t least, int64_t most, int64_t *number)
{
    return text_to_i64(value, number) && *number >= least && *number <= most;
}

static bool is_true(const char *value)
{
    return value[0] == 't' || value[0] == 'T' || value[0] == '1';
}

/* Blanks separate numbers; numbers for other than three dimensions are ignored. */
static void parse_place(description *d, const char *value, double *numbers, int count)
{
    char *end;
    int n = 0;
    for (const char *p = value; n <= count; p = end) {
        const double number = strtod(p, &end);
        if (end == p) break;
        if (n < count) numbers[n] = number;
        n++;
    }
    if (n == count) d->placed += count;
}

static int parse_field(description *d, const char *key, const char *value, const char *name, fault *f)
{
    int64_t number;
    if (strcasecmp(key, "NDims") == 0) {
        if (!parse_whole(value, 1, GRID_MAX_DIMS, &number))
            return fault_header(name, "it has not 1 to 16 dimensions: ", value, f);
        d->ndim = (int)number;
    } else if (strcasecmp(key, "DimSize") == 0) {
        return parse_sizes(d, value, name, f);
    } else if (strcasecmp(key, "ElementType") == 0) {
        d->typed = parse_type(value, &d->dtype);
        if (!d->typed) return fault_header(name, "its samples are not numbers of a known type: ", value, f);
    } else if (strcasecmp(key, "ElementNumberOfChannels") == 0) {
        if (!parse_whole(value, 1, 1 << 16, &number))
            return fault_header(name, "its number of channels is not one: ", value, f);
        d->channels = (int)number;
    } else if (strcasecmp(key, "BinaryData") == 0) {
        d->text = !is_true(value);
    } else if (strcasecmp(key, "CompressedData") == 0) {
        d->compressed = is_true(value);
    } else if (strcasecmp(key, "BinaryDataByteOrderMSB") == 0 || strcasecmp(key, "ElementByteOrderMSB") == 0) {
        d->big = is_true(value);
    } else if (strcasecmp(key, "Offset") == 0 || strcasecmp(key, "Position") == 0 || strcasecmp(key, "Origin") == 0) {
        parse_place(d, value, d->first, 3);
    } else if (strcasecmp(key, "TransformMatrix") == 0 || strcasecmp(key, "Rotation") == 0 ||
               strcasecmp(key, "Orientation") == 0) {
        parse_place(d, value, d->turn, 9);
    } else if (strcasecmp(key, "ElementSpacing") == 0) {
        parse_place(d, value, d->step, 3);
    } else if (strcasecmp(key, "HeaderSize") == 0) {
        if (!parse_whole(value, -1, INT64_MAX / 2, &d->skip))
            return fault_header(name, "its header size is not a number: ", value, f);
    } else if (strcasecmp(key, "ElementToIntensityFunctionSlope") == 0) {
        if (!text_to_f64(value, &d->slope) || !isfinite(d->slope) || d->slope == 0)
            return fault_header(name, "its slope is not a number other than 0: ", value, f);
    } else if (strcasecmp(key, "ElementToIntensityFunctionOffset") == 0) {
        if (!text_to_f64(value, &d->intercept) || !isfinite(d->intercept))
            return fault_header(name, "its offset is not a number: ", value, f);
    }
    return 0;
}

/* Parse a line, which is modified. */
static int parse_line(description *d, char *line, const char *name, fault *f)
{
    char *sign = strchr(line, '=');
    if (!sign) return 0;
    char *value = sign + 1 + strspn(sign + 1, " \t");
    for (size_t n = strlen(value); n > 0 && isspace((unsigned char)value[n - 1]); n--)
        value[n - 1] = '\0';
    *sign = '\0';
    line[strcspn(line, " \t")] = '\0';
    if (strcasecmp(line, "ElementDataFile") != 0) return parse_field(d, line, value, name, f);
    if (strncmp(value, "LIST", 4) == 0 || strchr(value, '%'))
        return fault_set(f, EXIT_DATA, "%s has its samples in several files: save it as .mha", name);
    snprintf(d->file, sizeof d->file, "%s", value);
    return 0;
}

static int read_header(description *d, input *in, fault *f)
{
    size_t size;
    const char *name = input_name(in), *head = (const char *)input_peek(in, &size, f);
    if (!head) return -1;
    *d = (description){.channels = 1, .slope = 1};
    for (size_t at = 0; at < size && !d->file[0];) {
        const char *end = memchr(head + at, '\n', size - at);
        const size_t length = end ? (size_t)(end - head) - at : size - at;
        char line[2048];
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), head + at);
        at += length + (end != NULL);
        if (parse_line(d, line, name, f) != 0) return -1;
        d->length = (int64_t)at;
    }
    if (!d->file[0]) return fault_header(name, "it does not say where the samples are (ElementDataFile)", "", f);
    if (!d->typed) return fault_header(name, "the type of samples (ElementType) is missing", "", f);
    if (!d->sizes || (d->ndim && d->ndim != d->sizes))
        return fault_header(name, "its sizes (DimSize) are not as many as its dimensions", "", f);
    if (d->skip < 0 && (d->text || d->compressed))
        return fault_header(name, "a header size of -1 is for raw samples", "", f);
    return 0;
}

/* ---- The reader ------------------------------------------------------------------------------------------- */

/* Find the source of the samples, positioned at their first byte. */
static int find_samples(plain_place *place, const description *d, int64_t bytes, fault *f)
{
    const encoding is = d->text ? ENCODED_TEXT : d->compressed ? ENCODED_ZLIB : ENCODED_RAW;
    if (bytes < 0)
        return fault_set(f, EXIT_DATA, "%s is damaged: its header describes more than 2^63 bytes", place->name);
    if (d->skip < 0 && plain_take_end(place, bytes, f) != 0) return -1;
    if (d->skip > 0) place->start += d->skip;
    return encoded_decode(place, is, bytes, 0, f);
}

/* A row of the matrix is the direction of an axis. */
static void find_place(const description *d, metadata *about)
{
    double steps[3][3];
    for (int k = 0; k < 9; k++)
        steps[k / 3][k % 3] = d->turn[k] * d->step[k / 3];
    if (d->placed == 15) metadata_place(about, d->first, steps, true);
}

reader *metaimage_open(input *in, const read_options *options, fault *f)
{
    description d;
    if (read_header(&d, in, f) != 0) return NULL;
    if (options->raw) d.slope = 1;
    if (options->raw) d.intercept = 0;
    plain_place place = {.bytes = byte_source_of_input(in, options),
                         .size = input_data_size(in),
                         .start = d.length,
                         .swapped = histo_dtype_size(d.dtype) > 1 && d.big == LITTLE_ENDIAN_MACHINE,
                         .scaling = scaling_of(d.dtype, 0, d.slope, d.intercept),
                         .name = input_name(in)};
    if (strcasecmp(d.file, "LOCAL") != 0 && plain_take_beside(&place, d.file, options, f) != 0) return NULL;
    grid_info info = {.channels = d.channels, .ndim = d.sizes};
    for (int i = 0; i < d.sizes; i++)
        info.shape[i] = d.size[d.sizes - 1 - i];
    if (find_samples(&place, &d, encoded_bytes(&info, d.dtype), f) != 0) {
        place.bytes.close(place.bytes.self);
        return NULL;
    }
    reader *r = plain_open(in, options, &info, &place, f);
    if (r) find_place(&d, r->about);
    return r;
}
