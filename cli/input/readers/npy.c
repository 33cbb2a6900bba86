/* NumPy's .npy: a magic, a version, and a header that is a Python dictionary in text,
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 * then the samples. */
#include "input/readers/npy.h"
#include "input/readers/readers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char magic[6] = "\x93NUMPY";

enum { LONGEST_HEADER = 1 << 20 }; /* only structured types have longer valid headers, and they are unsupported */

/* ---- The dictionary ------------------------------------------------------------------------------------- */

typedef struct parser {
    const char *p; /* NUL-terminated */
} parser;

static void skip_blanks(parser *s)
{
    while (isspace((unsigned char)*s->p))
        s->p++;
}

static bool take(parser *s, char c)
{
    skip_blanks(s);
    if (*s->p != c) return false;
    s->p++;
    return true;
}

/* A quoted string without escapes, which valid keys and types do not need. */
static bool take_string(parser *s, char *text, size_t size)
{
    skip_blanks(s);
    char quote = *s->p;
    if (quote != '\'' && quote != '"') return false;
    const char *begin = ++s->p;
    while (*s->p && *s->p != quote)
        s->p++;
    size_t length = (size_t)(s->p - begin);
    if (*s->p != quote || length >= size) return false;
    memcpy(text, begin, length);
    text[length] = '\0';
    s->p++;
    return true;
}

static bool take_word(parser *s, const char *word)
{
    skip_blanks(s);
    size_t length = strlen(word);
    if (strncmp(s->p, word, length) != 0) return false;
    s->p += length;
    return true;
}

static bool take_dimension(parser *s, int64_t *value)
{
    skip_blanks(s);
    if (!isdigit((unsigned char)*s->p)) return false;
    *value = 0;
    while (isdigit((unsigned char)*s->p)) {
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, *s->p - '0', value))
            return false;
        s->p++;
    }
    if (*s->p == 'L') s->p++; /* suffix of Python 2 */
    return true;
}

/* Counts all dimensions; keeps the first HISTO_MAX_DIMS. */
static bool take_shape(parser *s, int *ndim, int64_t *shape)
{
    if (!take(s, '(')) return false;
    *ndim = 0;
    while (!take(s, ')')) {
        int64_t value;
        if (*ndim > 0 && !take(s, ',')) return false;
        if (*ndim > 0 && take(s, ')')) return true;
        if (!take_dimension(s, &value)) return false;
        if (*ndim < HISTO_MAX_DIMS) shape[*ndim] = value;
        ++*ndim;
    }
    return true;
}

typedef struct dictionary {
    char descr[32];
    bool structured, has_descr, fortran, has_order, has_shape;
    int ndim;
    int64_t shape[HISTO_MAX_DIMS];
} dictionary;

/* False if the text is no such dictionary. Stops at a structured type and records it. */
static bool parse_dictionary(const char *text, dictionary *d)
{
    parser s = {text};
    char key[32];
    *d = (dictionary){0};
    if (!take(&s, '{')) return false;
    while (!take(&s, '}')) {
        if (!take_string(&s, key, sizeof key) || !take(&s, ':')) return false;
        if (strcmp(key, "descr") == 0) {
            skip_blanks(&s);
            d->has_descr = true;
            d->structured = *s.p == '[' || *s.p == '(';
            if (d->structured) return true;
            if (!take_string(&s, d->descr, sizeof d->descr)) return false;
        } else if (strcmp(key, "fortran_order") == 0) {
            d->has_order = true;
            d->fortran = take_word(&s, "True");
            if (!d->fortran && !take_word(&s, "False")) return false;
        } else if (strcmp(key, "shape") == 0) {
            d->has_shape = take_shape(&s, &d->ndim, d->shape);
            if (!d->has_shape) return false;
        } else {
            return false;
        }
        if (!take(&s, ',')) {
            if (!take(&s, '}')) return false;
            break;
        }
    }
    return d->has_descr && d->has_order && d->has_shape;
}

/* ---- The type ------------------------------------------------------------------------------------------- */

static int fault_type(const char *subject, const char *what, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s holds %s, not plain numbers: save the numbers in it as an array of their own",
                     subject, what);
}

static int parse_type(const dictionary *d, const char *subject, array_info *info, fault *f)
{
    static const struct {
        char code[3];
        histo_dtype dtype;
    } types[] = {
        {"u1", HISTO_U8},  {"i1", HISTO_I8},  {"u2", HISTO_U16}, {"i2", HISTO_I16},
        {"u4", HISTO_U32}, {"i4", HISTO_I32}, {"u8", HISTO_U64}, {"i8", HISTO_I64},
        {"f2", HISTO_F16}, {"f4", HISTO_F32}, {"f8", HISTO_F64}, {"b1", HISTO_U8},
    };
    static const struct {
        char code;
        const char *what;
    } others[] = {
        {'O', "Python objects"},  {'U', "strings"}, {'S', "strings"},    {'a', "strings"},
        {'c', "complex numbers"}, {'M', "dates"},   {'m', "time spans"}, {'V', "records without fields"},
    };
    if (d->structured) return fault_type(subject, "records with fields", f);
    const char *code = d->descr;
    char order = '|';
    if (*code && strchr("<>=|", *code)) order = *code++;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(code, types[i].code) != 0) continue;
        info->dtype = types[i].dtype;
        info->boolean = *code == 'b';
        info->swapped = histo_dtype_size(info->dtype) > 1 && order == (LITTLE_ENDIAN_MACHINE ? '>' : '<');
        return 0;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (*code == others[i].code) return fault_type(subject, others[i].what, f);
    return fault_set(f, EXIT_DATA, "%s holds samples of type '%s', which is not supported: convert it to float64",
                     subject, d->descr);
}

/* ---- The header ----------------------------------------------------------------------------------------- */

static int fault_header(const char *subject, const char *what, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s is not a readable .npy array: %s; save it again", subject, what);
}

/* Parse the text after magic, version and length. */
static int interpret(const char *text, const char *subject, array_info *info, fault *f)
{
    dictionary d;
    *info = (array_info){0};
    if (!parse_dictionary(text, &d)) return fault_header(subject, "its header is invalid", f);
    if (parse_type(&d, subject, info, f) != 0) return -1;
    if (d.ndim > HISTO_MAX_DIMS)
        return fault_set(f, EXIT_DATA, "%s has %d dimensions, and %d are the most: save it reshaped", subject, d.ndim,
                         HISTO_MAX_DIMS);
    info->fortran = d.fortran;
    info->ndim = d.ndim;
    memcpy(info->shape, d.shape, sizeof info->shape);
    return 0;
}

int npy_read_header(const byte_source *source, const char *subject, array_info *info, int64_t *length, fault *f)
{
    unsigned char fixed[12];
    int64_t got = byte_source_read_full(source, fixed, 8, f);
    if (got < 0) return -1;
    if (got < 8 || memcmp(fixed, magic, sizeof magic) != 0) return fault_header(subject, "its signature is wrong", f);
    int version = fixed[6];
    if (version < 1 || version > 3) return fault_header(subject, "it is of a version later than 3", f);
    int width = version == 1 ? 2 : 4;
    got = byte_source_read_full(source, fixed + 8, (size_t)width, f);
    if (got < 0) return -1;
    if (got < width) return fault_header(subject, "it ends within its header", f);
    uint32_t size = (uint32_t)fixed[8] | (uint32_t)fixed[9] << 8;
    if (version > 1) size |= (uint32_t)fixed[10] << 16 | (uint32_t)fixed[11] << 24;
    if (size > LONGEST_HEADER) return fault_header(subject, "its header is longer than 1 MiB", f);
    char *text = malloc((size_t)size + 1);
    if (!text) return fault_set(f, EXIT_DATA, "no memory to read the header of %s", subject);
    got = byte_source_read_full(source, text, size, f);
    int result = got < 0 ? -1 : 0;
    if (got >= 0 && got < size) result = fault_header(subject, "it ends within its header", f);
    if (result == 0) {
        text[size] = '\0';
        result = interpret(text, subject, info, f);
    }
    free(text);
    *length = 8 + width + (int64_t)size;
    return result;
}

/* ---- The reader of .npy files ----------------------------------------------------------------------------- */

static bool npy_recognize(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    return size >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

static reader *npy_open(input *in, const read_options *options, fault *f)
{
    (void)options;
    array_info info;
    byte_source source = byte_source_of_input(in);
    array_place place = {.size = input_data_size(in),
                         .subject = input_name(in),
                         .described = "its header describes",
                         .remedy = "save it again, one array a file"};
    if (npy_read_header(&source, place.subject, &info, &place.start, f) != 0) {
        input_close(in);
        return NULL;
    }
    if (place.size >= 0) place.size -= place.start;
    return array_reader_open(&reader_npy, in, source, &info, &place, f);
}

const reader_kind reader_npy = {
    .name = "npy",
    .formats = "NumPy .npy, every numeric type, either byte order, C and Fortran order",
    .recognize = npy_recognize,
    .open = npy_open,
};
