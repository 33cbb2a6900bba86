/* NumPy's .npy: a magic, a version, and a header that is a Python dictionary in text,
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 * then the samples. */
#include "input/readers/arrays/npy.h"
#include "input/readers/readers.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[6] = "\x93NUMPY";

enum { LONGEST_HEADER = 1 << 20, LONGEST_NAME = 1024, DEEPEST_FIELD = 16, MOST_READ = 1 << 25 };

/* ---- Python's literals ---------------------------------------------------------------------------------- */

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

/* A quoted string; backslashes escape quotes and backslashes. */
static bool take_string(parser *s, char *text, size_t size)
{
    skip_blanks(s);
    char quote = *s->p;
    size_t length = 0;
    if (quote != '\'' && quote != '"') return false;
    for (s->p++; *s->p && *s->p != quote; s->p++) {
        if (*s->p == '\\' && s->p[1] && strchr("\\'\"", s->p[1])) s->p++;
        if (length + 1 >= size) return false;
        text[length++] = *s->p;
    }
    text[length] = '\0';
    if (*s->p != quote) return false;
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

/* ---- The type ------------------------------------------------------------------------------------------- */

typedef struct sample_type {
    histo_dtype dtype;
    int64_t bytes;
    stored_string string;
    const char *what; /* "strings": what it is, if not a number; NULL: a number */
    bool is_complex;  /* two numbers of the dtype */
    bool swapped, boolean, dated;
    time_epoch epoch;
} sample_type;

/* The size given by the number at the end of a type code: "12" of S12, 8 of M8[ns]. */
static bool parse_bytes(const char *digits, int64_t *bytes)
{
    parser s = {digits};
    return take_dimension(&s, bytes) && (*s.p == '\0' || *s.p == '[');
}

/* The type of a code such as <f4; false if it is invalid. */
static bool parse_code(const char *code, sample_type *type)
{
    static const struct {
        char code[4];
        histo_dtype dtype;
    } types[] = {
        {"u1", HISTO_U8},  {"i1", HISTO_I8},  {"u2", HISTO_U16}, {"i2", HISTO_I16},  {"u4", HISTO_U32},
        {"i4", HISTO_I32}, {"u8", HISTO_U64}, {"i8", HISTO_I64}, {"f2", HISTO_F16},  {"f4", HISTO_F32},
        {"f8", HISTO_F64}, {"b1", HISTO_U8},  {"c8", HISTO_F32}, {"c16", HISTO_F64},
    };
    static const struct {
        char code;
        const char *what;
    } others[] = {
        {'O', "Python objects"},
        {'V', "records without fields"},
        {'c', "complex numbers"},
        {'f', "floats of more than 64 bits"},
    };
    char order = '|';
    if (*code && strchr("<>=|", *code)) order = *code++;
    const bool swapped = order == (LITTLE_ENDIAN_MACHINE ? '>' : '<');
    *type = (sample_type){0};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(code, types[i].code) != 0) continue;
        const int64_t bytes = (int64_t)histo_dtype_size(types[i].dtype);
        type->dtype = types[i].dtype;
        type->boolean = *code == 'b';
        type->is_complex = *code == 'c';
        type->bytes = type->is_complex ? 2 * bytes : bytes;
        type->swapped = bytes > 1 && swapped;
        return true;
    }
    if ((*code == 'M' || *code == 'm') && code[1] == '8' && (code[2] == '\0' || code[2] == '[')) {
        *type = (sample_type){
            .dtype = HISTO_I64, .bytes = 8, .swapped = swapped, .dated = true, .epoch = epoch_of_numpy(code)};
        return true;
    }
    if (*code == 'U' || *code == 'S' || *code == 'a') {
        const bool wide = *code == 'U';
        if (!parse_bytes(code + 1, &type->bytes) || __builtin_mul_overflow(type->bytes, wide ? 4 : 1, &type->bytes))
            return false;
        type->string =
            (stored_string){.kind = wide ? STRING_UCS4 : STRING_BYTES, .bytes = type->bytes, .swapped = swapped};
        if (type->bytes == 0) type->what = "empty strings";
        return true;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (*code != others[i].code) continue;
        type->what = others[i].what;
        type->bytes = 8; /* of a pointer */
        if (*code == 'O' && code[1] == '\0') return true;
        return parse_bytes(code + 1, &type->bytes);
    }
    return false;
}

/* NaT is the smallest integer. */
static packing rule_of(const sample_type *type)
{
    packing rule = {.epoch = type->epoch};
    if (type->dated) unpack_add_missing(&rule, (unpack_number){.i = INT64_MIN});
    return rule;
}

/* The fields of a record, as they are found. */
typedef struct record {
    column_table *columns; /* NULL: only the size is wanted */
    int64_t bytes;         /* so far */
    int depth;
    size_t *read; /* characters parsed, some of them repeatedly */
    const char *subject;
} record;

typedef enum parse_result { PARSED, PARSE_INVALID, PARSE_FAILED /* a fault has been set */ } parse_result;

/* Add the column of a number, or the two of a complex one. */
static parse_result add_number(record *to, const char *name, const sample_type *type, fault *f)
{
    static const char *const parts[] = {".real", ".imag"};
    char full[LONGEST_NAME];
    table_column made = {.what = type->what,
                         .string = type->string,
                         .dtype = type->dtype,
                         .boolean = type->boolean,
                         .swapped = type->swapped,
                         .offset = to->bytes,
                         .rule = rule_of(type)};
    if (!type->is_complex) return columns_add(to->columns, name, &made, to->subject, f) == 0 ? PARSED : PARSE_FAILED;
    for (int i = 0; i < 2; i++) {
        if ((size_t)snprintf(full, sizeof full, "%s%s", name, name[0] ? parts[i] : parts[i] + 1) >= sizeof full)
            return PARSE_INVALID;
        if (columns_add(to->columns, full, &made, to->subject, f) != 0) return PARSE_FAILED;
        made.offset += type->bytes / 2;
    }
    return PARSED;
}

/* Count an array's elements; false if they are too many to number. */
static bool count_elements(int ndim, const int64_t *shape, int64_t *elements)
{
    *elements = 1;
    for (int d = 0; d < ndim; d++)
        if (__builtin_mul_overflow(*elements, shape[d], elements)) return false;
    return ndim <= HISTO_MAX_DIMS;
}

/* Append the indices of an element to the name of its array: .0, .1.2. */
static bool name_element(const char *name, int ndim, const int64_t *shape, int64_t element, char full[LONGEST_NAME])
{
    int64_t stride = 1;
    size_t length = (size_t)snprintf(full, LONGEST_NAME, "%s", name);
    for (int d = 0; d < ndim; d++)
        stride *= shape[d];
    for (int d = 0; d < ndim && length < LONGEST_NAME; d++) {
        stride /= shape[d];
        length += (size_t)snprintf(full + length, LONGEST_NAME - length, ".%" PRId64, element / stride % shape[d]);
    }
    return length < LONGEST_NAME;
}

static parse_result take_fields(parser *s, record *to, const char *outer, fault *f);

/* The type of an element: its size and, for a structured type, where its list of fields begins. */
static parse_result take_type(parser *s, const record *to, sample_type *type, parser *fields, fault *f)
{
    char code[64];
    skip_blanks(s);
    *fields = (parser){0};
    *type = (sample_type){0};
    if (*s->p != '[') return take_string(s, code, sizeof code) && parse_code(code, type) ? PARSED : PARSE_INVALID;
    *fields = *s;
    record measured = {.depth = to->depth + 1, .read = to->read, .subject = to->subject};
    const parse_result result = take_fields(s, &measured, "", f);
    type->bytes = measured.bytes;
    return result;
}

/* Add the columns of `elements` elements, called name.0, name.1, …, or name if there are no dimensions. */
static parse_result add_elements(record *to, const char *name, const sample_type *type, const parser *fields, int ndim,
                                 const int64_t *shape, int64_t elements, fault *f)
{
    char full[LONGEST_NAME];
    const int64_t first = to->bytes;
    parse_result result = PARSED;
    if (elements < 1 || elements > COLUMNS_MOST_ELEMENTS)
        return add_number(to, name, &(sample_type){.what = elements ? "an array of many elements" : "an empty array"},
                          f);
    to->depth++;
    for (int64_t i = 0; i < elements && result == PARSED; i++) {
        to->bytes = first + i * type->bytes;
        parser again = *fields;
        if (!name_element(name, ndim, shape, i, full))
            result = PARSE_INVALID;
        else
            result = fields->p ? take_fields(&again, to, full, f) : add_number(to, full, type, f);
    }
    to->depth--;
    return result;
}

/* Parse a type, of one element or of an array's, for the columns called `name`; without a name it is padding. */
static parse_result take_elements(parser *s, record *to, const char *name, fault *f)
{
    sample_type type;
    parser fields;
    int ndim = 0;
    int64_t shape[HISTO_MAX_DIMS], elements, total;
    parse_result result = take_type(s, to, &type, &fields, f);
    if (result != PARSED) return result;
    if (take(s, ',') && !take_shape(s, &ndim, shape)) return PARSE_INVALID;
    if (!count_elements(ndim, shape, &elements) || __builtin_mul_overflow(elements, type.bytes, &total) ||
        __builtin_add_overflow(to->bytes, total, &total))
        return PARSE_INVALID;
    if (name[0] && to->columns) result = add_elements(to, name, &type, &fields, ndim, shape, elements, f);
    to->bytes = total;
    return result;
}

/* Parse a list of fields: [('x', '<f4'), ('y', '<i2', (3,)), ('z', [('a', '|u1')])]. Those without a name are
 * padding. */
static parse_result take_fields(parser *s, record *to, const char *outer, fault *f)
{
    char name[LONGEST_NAME], full[LONGEST_NAME];
    if (to->depth > DEEPEST_FIELD || !take(s, '[')) return PARSE_INVALID;
    while (!take(s, ']')) {
        const char *begin = s->p;
        if (!take(s, '(')) return PARSE_INVALID;
        const bool titled = take(s, '(');
        if (titled && !(take_string(s, name, sizeof name) && take(s, ','))) return PARSE_INVALID;
        if (!take_string(s, name, sizeof name) || (titled && !take(s, ')')) || !take(s, ',')) return PARSE_INVALID;
        const char *dot = name[0] && outer[0] ? "." : "";
        if ((size_t)snprintf(full, sizeof full, "%s%s%s", name[0] ? outer : "", dot, name) >= sizeof full)
            return PARSE_INVALID;
        const parse_result result = take_elements(s, to, full, f);
        if (result != PARSED) return result;
        *to->read += (size_t)(s->p - begin);
        if (!take(s, ')') || *to->read > MOST_READ) return PARSE_INVALID;
        if (!take(s, ',')) return take(s, ']') ? PARSED : PARSE_INVALID;
    }
    return PARSED;
}

/* ---- The dictionary ------------------------------------------------------------------------------- */

typedef struct dictionary {
    char descr[64];
    parser fields; /* of a structured type; else NULL */
    bool has_descr, fortran, has_order, has_shape;
    int ndim;
    int64_t shape[HISTO_MAX_DIMS];
} dictionary;

/* Skip brackets of any kind with their contents. */
static bool skip_brackets(parser *s)
{
    int depth = 0;
    char text[LONGEST_NAME];
    do {
        skip_blanks(s);
        if (*s->p == '\'' || *s->p == '"') {
            if (!take_string(s, text, sizeof text)) return false;
            continue;
        }
        if (*s->p == '\0') return false;
        depth += (*s->p == '[' || *s->p == '(') - (*s->p == ']' || *s->p == ')');
        s->p++;
    } while (depth > 0);
    return depth == 0;
}

/* False if the text is not such a dictionary. */
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
            if (*s.p == '[') d->fields = s;
            if (d->fields.p ? !skip_brackets(&s) : !take_string(&s, d->descr, sizeof d->descr)) return false;
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

static int fault_type(const char *subject, const char *what, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s holds %s, which cannot be counted: save numbers of at most 64 bits as an array",
                     subject, what);
}

static int fault_header(const char *subject, const char *what, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s is not a readable .npy array: %s; save it again", subject, what);
}

/* The fields of a structured type, or the parts of complex numbers; strings are a table with one column. */
static int find_columns(parser *fields, const sample_type *type, const char *subject, array_info *info, fault *f)
{
    size_t read = 0;
    record to = {.columns = &info->columns, .read = &read, .subject = subject};
    const parse_result result = fields ? take_fields(fields, &to, "", f) : add_number(&to, "", type, f);
    if (result == PARSE_INVALID) return fault_header(subject, "the fields in its header are invalid", f);
    if (result == PARSE_FAILED) return -1;
    info->record_bytes = fields ? to.bytes : type->bytes;
    for (int i = 0; i < info->columns.count && info->record_bytes; i++)
        if (!info->columns.column[i].what) return 0;
    return fault_type(subject, "records without fields of numbers", f);
}

static int parse_type(dictionary *d, const char *subject, array_info *info, fault *f)
{
    sample_type type = {0};
    if (d->fields.p) return find_columns(&d->fields, NULL, subject, info, f);
    if (!parse_code(d->descr, &type))
        return fault_set(f, EXIT_DATA, "%s holds samples of type '%s', which is not supported: convert it to float64",
                         subject, d->descr);
    if (type.what) return fault_type(subject, type.what, f);
    if (type.is_complex || type.string.kind) return find_columns(NULL, &type, subject, info, f);
    info->dtype = type.dtype;
    info->swapped = type.swapped;
    info->boolean = type.boolean;
    info->rule = rule_of(&type);
    return 0;
}

/* ---- The header ----------------------------------------------------------------------------------------- */

/* Parse the text after magic, version and length. */
static int interpret(const char *text, const char *subject, array_info *info, fault *f)
{
    dictionary d;
    *info = (array_info){0};
    if (!parse_dictionary(text, &d)) return fault_header(subject, "its header is invalid", f);
    if (parse_type(&d, subject, info, f) != 0) return -1; /* freed by the caller */
    if (d.ndim > HISTO_MAX_DIMS)
        return fault_set(f, EXIT_DATA, "%s has %d dimensions, more than %d: save it reshaped", subject, d.ndim,
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
        if (result != 0) array_info_free(info);
    }
    free(text);
    *length = 8 + width + (int64_t)size;
    return result;
}

/* ---- The reader of .npy files ----------------------------------------------------------------------------- */

reader *npy_open(input *in, const read_options *options, fault *f)
{
    array_info info;
    byte_source source = byte_source_of_input(in, options);
    array_place place = {.size = input_data_size(in),
                         .subject = input_name(in),
                         .described = "its header describes",
                         .remedy = "save it again, one array a file"};
    if (npy_read_header(&source, place.subject, &info, &place.start, f) != 0) return NULL;
    if (place.size >= 0) place.size -= place.start;
    if (options->raw) array_info_forget_missing(&info);
    return array_reader_open(in, source, &info, &place, f);
}
