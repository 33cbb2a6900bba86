/* NRRD (teem, ITK, 3D Slicer): lines of text that describe the samples, an empty line, and the samples, first axis
 * fastest; or, detached, the name of the file with the samples. Samples are raw, compressed, or text. */
#define _GNU_SOURCE
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "input/readers/arrays/encoded.h"
#include "input/readers/readers.h"

typedef struct description {
    int64_t length; /* of the header, including its empty line; 0: there is no empty line */
    histo_dtype dtype;
    bool typed, encoded, big, ordered;
    encoding encoding;
    int ndim;
    int64_t sizes[GRID_MAX_DIMS];
    char kind[32];        /* of the first axis */
    char file[1024];      /* file with the samples; "": this one */
    int64_t lines, bytes; /* to skip; bytes -1: the samples end where the file ends */
    enum nrrd_space { NO_SPACE, RIGHT_ANTERIOR, LEFT_POSTERIOR } space;
    int steps; /* number known */
    double first[3], step[3][3];
} description;

/* ---- The header ------------------------------------------------------------------------------------------- */

static int fault_header(const char *name, const char *what, const char *value, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s has a NRRD header that cannot be read: %s%.60s; save it again", name, what,
                     value);
}

static bool parse_type(const char *value, histo_dtype *dtype)
{
    static const struct {
        const char *names[7];
        histo_dtype dtype;
    } types[] = {
        {{"int8", "int8_t", "signed char"}, HISTO_I8},
        {{"uint8", "uint8_t", "uchar", "unsigned char"}, HISTO_U8},
        {{"int16", "int16_t", "short", "short int", "signed short", "signed short int"}, HISTO_I16},
        {{"uint16", "uint16_t", "ushort", "unsigned short", "unsigned short int"}, HISTO_U16},
        {{"int32", "int32_t", "int", "signed int"}, HISTO_I32},
        {{"uint32", "uint32_t", "uint", "unsigned int"}, HISTO_U32},
        {{"int64", "int64_t", "longlong", "long long", "long long int", "signed long long", "signed long long int"},
         HISTO_I64},
        {{"uint64", "uint64_t", "ulonglong", "unsigned long long", "unsigned long long int"}, HISTO_U64},
        {{"float"}, HISTO_F32},
        {{"double"}, HISTO_F64},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (size_t k = 0; k < 7 && types[i].names[k]; k++)
            if (strcasecmp(value, types[i].names[k]) == 0) {
                *dtype = types[i].dtype;
                return true;
            }
    return false;
}

static int parse_sizes(description *d, const char *value, const char *name, fault *f)
{
    char *end;
    int n = 0;
    for (const char *p = value; *p; p = end) {
        const long long size = strtoll(p, &end, 10);
        if (end == p && strspn(p, " \t") == strlen(p)) break;
        if (end == p || size < 1 || n == GRID_MAX_DIMS)
            return fault_header(name, "its sizes are not 1 to 16 positive numbers: ", value, f);
        d->sizes[n++] = size;
    }
    if (n == 0 || (d->ndim && n != d->ndim))
        return fault_header(name, "its sizes are not as many as its dimensions: ", value, f);
    d->ndim = n;
    return 0;
}

static bool parse_number(const char *value, int64_t minimum, int64_t *number)
{
    char *end;
    *number = strtoll(value, &end, 10);
    return end > value && *end == '\0' && *number >= minimum;
}

static int parse_encoding(description *d, const char *value, const char *name, fault *f)
{
    static const struct {
        const char *name;
        encoding is;
    } encodings[] = {{"raw", ENCODED_RAW},          {"gzip", ENCODED_COMPRESSED}, {"gz", ENCODED_COMPRESSED},
                     {"bzip2", ENCODED_COMPRESSED}, {"bz2", ENCODED_COMPRESSED},  {"zstd", ENCODED_COMPRESSED},
                     {"ascii", ENCODED_TEXT},       {"text", ENCODED_TEXT},       {"txt", ENCODED_TEXT},
                     {"hex", ENCODED_HEX}};
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
        if (strcasecmp(value, encodings[i].name) == 0) {
            d->encoding = encodings[i].is;
            d->encoded = true;
            return 0;
        }
    return fault_set(
        f, EXIT_DATA,
        "%s has the encoding '%.40s', and raw, gzip, bzip2, text and hex are read: convert it with unu save", name,
        value);
}

/* "(1,0,0) (0,1,0) none": up to `most` vectors of three numbers, excluding those of non-spatial axes. */
static int parse_vectors(const char *value, double vectors[][3], int most)
{
    int n = 0;
    for (const char *at = strchr(value, '('); at && n < most; at = strchr(at + 1, '('))
        if (sscanf(at, "(%lf ,%lf ,%lf", &vectors[n][0], &vectors[n][1], &vectors[n][2]) == 3) n++;
    return n;
}

static void parse_space(description *d, const char *value)
{
    static const struct {
        const char *name;
        enum nrrd_space is;
    } spaces[] = {{"right-anterior-superior", RIGHT_ANTERIOR},
                  {"RAS", RIGHT_ANTERIOR},
                  {"left-posterior-superior", LEFT_POSTERIOR},
                  {"LPS", LEFT_POSTERIOR}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (strcasecmp(value, spaces[i].name) == 0) d->space = spaces[i].is;
}

static int parse_field(description *d, const char *key, const char *value, const char *name, fault *f)
{
    int64_t number;
    if (strcasecmp(key, "type") == 0) {
        d->typed = parse_type(value, &d->dtype);
        return d->typed ? 0 : fault_header(name, "its samples are not numbers of a known type: ", value, f);
    }
    if (strcasecmp(key, "dimension") == 0) {
        if (!parse_number(value, 1, &number) || number > GRID_MAX_DIMS || (d->ndim && d->ndim != number))
            return fault_header(name, "it has not 1 to 16 dimensions: ", value, f);
        d->ndim = (int)number;
    } else if (strcasecmp(key, "sizes") == 0) {
        return parse_sizes(d, value, name, f);
    } else if (strcasecmp(key, "encoding") == 0) {
        return parse_encoding(d, value, name, f);
    } else if (strcasecmp(key, "endian") == 0) {
        d->big = strcasecmp(value, "big") == 0;
        d->ordered = d->big || strcasecmp(value, "little") == 0;
        if (!d->ordered) return fault_header(name, "its byte order is neither little nor big: ", value, f);
    } else if (strcasecmp(key, "space") == 0) {
        parse_space(d, value);
    } else if (strcasecmp(key, "space directions") == 0) {
        d->steps += parse_vectors(value, d->step, 3);
    } else if (strcasecmp(key, "space origin") == 0) {
        d->steps += parse_vectors(value, &d->first, 1);
    } else if (strcasecmp(key, "kinds") == 0) {
        snprintf(d->kind, sizeof d->kind, "%.*s", (int)strcspn(value, " \t"), value);
    } else if (strcasecmp(key, "data file") == 0 || strcasecmp(key, "datafile") == 0) {
        if (strncmp(value, "LIST", 4) == 0 || strchr(value, '%'))
            return fault_set(f, EXIT_DATA, "%s has its samples in several files: join them with unu save", name);
        snprintf(d->file, sizeof d->file, "%s", value);
    } else if (strcasecmp(key, "line skip") == 0 || strcasecmp(key, "lineskip") == 0) {
        if (!parse_number(value, 0, &d->lines)) return fault_header(name, "its line skip is not a number: ", value, f);
    } else if (strcasecmp(key, "byte skip") == 0 || strcasecmp(key, "byteskip") == 0) {
        if (!parse_number(value, -1, &d->bytes)) return fault_header(name, "its byte skip is not a number: ", value, f);
    }
    return 0;
}

/* Parse a line, which is modified: "field: value"; others are comments and user-defined keys. */
static int parse_line(description *d, char *line, const char *name, fault *f)
{
    char *colon = strchr(line, ':');
    if (line[0] == '#' || !colon || colon[1] == '=') return 0;
    *colon = '\0';
    char *value = colon + 1 + strspn(colon + 1, " \t");
    for (size_t n = strlen(value); n > 0 && isspace((unsigned char)value[n - 1]); n--)
        value[n - 1] = '\0';
    return parse_field(d, line, value, name, f);
}

static int check(const description *d, const char *name, fault *f)
{
    if (!d->typed) return fault_header(name, "the type is missing", "", f);
    if (!d->ndim || d->sizes[0] == 0) return fault_header(name, "the sizes are missing", "", f);
    if (!d->encoded) return fault_header(name, "the encoding is missing", "", f);
    if (!d->length && !d->file[0]) return fault_header(name, "it does not end in an empty line", "", f);
    if (!d->ordered && histo_dtype_size(d->dtype) > 1 &&
        (d->encoding == ENCODED_RAW || d->encoding == ENCODED_COMPRESSED))
        return fault_header(name, "the byte order (endian) is missing", "", f);
    if (d->bytes < 0 && d->encoding != ENCODED_RAW)
        return fault_header(name, "a byte skip of -1 is for raw samples", "", f);
    return 0;
}

static int read_header(description *d, input *in, fault *f)
{
    size_t size;
    const char *name = input_name(in), *head = (const char *)input_peek(in, &size, f);
    if (!head) return -1;
    *d = (description){0};
    for (size_t at = 0; at < size;) {
        const char *end = memchr(head + at, '\n', size - at);
        size_t length = end ? (size_t)(end - head) - at : size - at;
        char line[2048];
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), head + at);
        at += length + (end != NULL);
        line[strcspn(line, "\r")] = '\0';
        if (!line[0]) {
            d->length = (int64_t)at;
            break;
        }
        if (parse_line(d, line, name, f) != 0) return -1;
    }
    return check(d, name, f);
}

/* ---- The reader ------------------------------------------------------------------------------------------- */

bool nrrd_recognise(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    return size > 8 && memcmp(head, "NRRD", 4) == 0 && isdigit(head[4]) && isdigit(head[7]);
}

static void describe(const description *d, grid_info *info)
{
    static const char *const colors[] = {"RGB-color", "RGBA-color", "3-color", "4-color"};
    *info = (grid_info){.dtype = d->dtype, .channels = 1, .ndim = d->ndim};
    for (int i = 0; i < d->ndim; i++)
        info->shape[i] = d->sizes[d->ndim - 1 - i];
    const int64_t first = d->sizes[0];
    bool color = false;
    for (size_t i = 0; i < sizeof colors / sizeof *colors; i++)
        color = color || strcasecmp(d->kind, colors[i]) == 0;
    const bool vector = strcasestr(d->kind, "vector") || strcasecmp(d->kind, "list") == 0;
    if (d->ndim < 2 || first > 4 || !(color || vector || (d->ndim == 3 && !d->kind[0]))) return;
    info->channels = (int)first;
    info->ndim--;
    if (color && (first == 3 || first == 4)) info->model = first == 3 ? CHANNELS_RGB : CHANNELS_RGBA;
}

/* Find the first sample: after this many lines and bytes, or counted from the end. For compressed samples, the bytes
 * are skipped after decompression. */
static int find_start(plain_place *place, const description *d, int64_t bytes, fault *f)
{
    if (d->lines > 0 && byte_source_skip(&place->bytes, place->start, f) < 0) return -1;
    for (int64_t lines = d->lines; lines > 0;) {
        char c;
        const int64_t got = place->bytes.read(place->bytes.self, &c, 1, f);
        if (got < 0) return -1;
        if (got == 0) return fault_set(f, EXIT_DATA, "%s ends within the lines to skip", place->name);
        place->start++;
        lines -= c == '\n';
    }
    if (d->lines > 0 && place->bytes.rewind(place->bytes.self, f) != 0) return -1;
    if (d->bytes > 0 && d->encoding != ENCODED_COMPRESSED &&
        __builtin_add_overflow(place->start, d->bytes, &place->start))
        return fault_header(place->name, "its byte skip is too large", "", f);
    if (d->bytes >= 0) return 0;
    return plain_take_end(place, bytes, f);
}

reader *nrrd_open(input *in, const read_options *options, fault *f)
{
    description d;
    grid_info info;
    if (read_header(&d, in, f) != 0) return NULL;
    plain_place place = {.bytes = byte_source_of_input(in, options),
                         .size = input_data_size(in),
                         .start = d.length,
                         .swapped = histo_dtype_size(d.dtype) > 1 && d.big == LITTLE_ENDIAN_MACHINE,
                         .scaling = scaling_of(d.dtype, 0, 1, 0),
                         .name = input_name(in)};
    if (d.file[0]) {
        if (plain_take_beside(&place, d.file, options, f) != 0) return NULL;
        if (d.encoding == ENCODED_COMPRESSED && d.lines == 0)
            d.encoding = ENCODED_RAW; /* inputs are already
                                       * decompressed */
    }
    describe(&d, &info);
    const int64_t bytes = encoded_bytes(&info, d.dtype), skip = d.encoding == ENCODED_COMPRESSED ? d.bytes : 0;
    if (bytes < 0) fault_set(f, EXIT_DATA, "%s is damaged: its header describes more than 2^63 bytes", place.name);
    if (bytes < 0 || find_start(&place, &d, bytes, f) != 0 || encoded_decode(&place, d.encoding, bytes, skip, f) != 0) {
        place.bytes.close(place.bytes.self);
        return NULL;
    }
    reader *r = plain_open(in, options, &info, &place, f);
    if (r && d.space && d.steps == 4) metadata_place(r->about, d.first, d.step, d.space == LEFT_POSTERIOR);
    return r;
}
