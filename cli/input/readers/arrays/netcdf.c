/* NetCDF-3: the classic format, its 64-bit offset variant, and CDF-5 (netCDF-4 files are HDF5). One variable is read,
 * by the array reader, from a source of its bytes: a variable with an unlimited dimension is stored as a slab in each
 * record. Numbers are big-endian. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "input/readers/arrays/array.h"
#include "input/readers/names.h"
#include "input/readers/readers.h"

enum { LONGEST_NAME = 1024, HEADER_BYTES = 1 << 16 };
#define LARGEST_HEADER (INT64_C(1) << 28)

enum { TAG_DIMENSION = 10, TAG_VARIABLE = 11, TAG_ATTRIBUTE = 12 };

typedef struct dimension {
    char *name;
    int64_t length; /* 0: unlimited */
} dimension;

typedef struct variable {
    char *name;
    int type;
    bool has_records; /* the first dimension is unlimited */
    bool is_scale;    /* of the dimension with its name */
    bool too_many_dims;
    int ndim;
    int64_t shape[HISTO_MAX_DIMS];
    int64_t slab;       /* size in each record; of a variable without records, the total */
    int64_t begin;      /* of its data in the file */
    int64_t attributes; /* where their list begins */
} variable;

typedef struct netcdf_file {
    input *in;
    const char *name;
    int version; /* 1: classic, 2: 64-bit offsets, 5: CDF-5 */
    /* The header, as far as it has been read. */
    unsigned char bytes[HEADER_BYTES];
    int64_t at, end, used; /* the buffer holds bytes at … end - 1 of the file, of which the next is `used` */
    int64_t records, record_bytes;
    int dimensions_count, variables_count;
    dimension *dimensions;
    variable *variables;
    /* The source of a variable's bytes. */
    variable source;
    int64_t position, total;
} netcdf_file;

/* ---- The header ----------------------------------------------------------------------------------------- */

static int fault_header(const netcdf_file *n, const char *what, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s is a damaged netCDF file: %s; check it with ncdump -h", n->name, what);
}

static int go_to(netcdf_file *n, int64_t position, fault *f)
{
    n->at = n->end = n->used = position;
    return input_seek(n->in, position, f);
}

static int take_bytes(netcdf_file *n, void *to, int64_t size, fault *f)
{
    unsigned char *next = to;
    while (size > 0) {
        if (n->used == n->end) {
            const int64_t got = input_read(n->in, n->bytes, sizeof n->bytes, f);
            if (got < 0) return -1;
            if (got == 0) return fault_header(n, "it ends within its header", f);
            n->at = n->end;
            n->end += got;
        }
        if (n->used > LARGEST_HEADER) return fault_header(n, "its header has more than 256 MiB", f);
        const int64_t part = size < n->end - n->used ? size : n->end - n->used;
        if (next) {
            memcpy(next, n->bytes + (n->used - n->at), (size_t)part);
            next += part;
        }
        n->used += part;
        size -= part;
    }
    return 0;
}

static int take_whole(netcdf_file *n, int size, int64_t *value, fault *f)
{
    unsigned char bytes[8];
    uint64_t bits = 0;
    if (take_bytes(n, bytes, size, f) != 0) return -1;
    for (int i = 0; i < size; i++)
        bits = bits << 8 | bytes[i];
    if (bits > INT64_MAX) return fault_header(n, "a size in its header is negative", f);
    *value = (int64_t)bits;
    return 0;
}

static int take_tag(netcdf_file *n, int64_t *value, fault *f)
{
    return take_whole(n, 4, value, f);
}

/* A count or size: 4 bytes, non-negative, or 8 in CDF-5. */
static int take_size(netcdf_file *n, int64_t *value, fault *f)
{
    if (take_whole(n, n->version == 5 ? 8 : 4, value, f) != 0) return -1;
    return n->version < 5 && *value > INT32_MAX ? fault_header(n, "a size in its header is negative", f) : 0;
}

/* The padding to a multiple of 4. */
static int64_t padding(int64_t size)
{
    return (4 - size % 4) % 4;
}

static int take_name(netcdf_file *n, char name[LONGEST_NAME], fault *f)
{
    int64_t length;
    if (take_size(n, &length, f) != 0) return -1;
    if (length >= LONGEST_NAME) return fault_header(n, "a name in its header is too long", f);
    if (take_bytes(n, name, length, f) != 0 || take_bytes(n, NULL, padding(length), f) != 0) return -1;
    name[length] = '\0';
    return 0;
}

/* The number of entries in a list, which begins with a tag; an empty list may lack it. */
static int take_list(netcdf_file *n, int tag, int64_t *entries, fault *f)
{
    int64_t stored_tag;
    if (take_tag(n, &stored_tag, f) != 0 || take_size(n, entries, f) != 0) return -1;
    return stored_tag == tag || (stored_tag == 0 && *entries == 0) ? 0 : fault_header(n, "its header is invalid", f);
}

static const struct {
    int bytes;
    histo_dtype dtype;
} types[] = {{0, 0},         {1, HISTO_I8}, {1, HISTO_U8},  {2, HISTO_I16}, {4, HISTO_I32}, {4, HISTO_F32},
             {8, HISTO_F64}, {1, HISTO_U8}, {2, HISTO_U16}, {4, HISTO_U32}, {8, HISTO_I64}, {8, HISTO_U64}};

enum { TYPE_CHAR = 2, TYPES = sizeof types / sizeof *types };

static int take_type(netcdf_file *n, int *type, fault *f)
{
    int64_t code;
    if (take_tag(n, &code, f) != 0) return -1;
    if (code < 1 || code >= TYPES) return fault_header(n, "a type in its header is unknown", f);
    *type = (int)code;
    return 0;
}

/* Read an attribute: its first numbers or characters. */
static int take_attribute(netcdf_file *n, char name[LONGEST_NAME], attribute *to, fault *f)
{
    unsigned char values[UNPACK_MAX_MISSING * 8];
    int type = 0;
    int64_t count = 0, size;
    if (take_name(n, name, f) != 0 || take_type(n, &type, f) != 0 || take_size(n, &count, f) != 0) return -1;
    const int bytes = types[type].bytes;
    if (count > LARGEST_HEADER) return fault_header(n, "an attribute in its header is too long", f);
    size = count * bytes;
    const int64_t stored = size < (int64_t)sizeof values ? size : (int64_t)sizeof values;
    if (take_bytes(n, values, stored, f) != 0 || take_bytes(n, NULL, size - stored + padding(size), f) != 0) return -1;
    *to = (attribute){.dtype = types[type].dtype};
    if (type == TYPE_CHAR) {
        snprintf(to->text, sizeof to->text, "%.*s", (int)stored, (const char *)values);
        return 0;
    }
    to->count = count < UNPACK_MAX_MISSING ? (int)count : UNPACK_MAX_MISSING;
    if (LITTLE_ENDIAN_MACHINE) array_swap_bytes(values, (size_t)bytes, (size_t)to->count);
    for (int i = 0; i < to->count; i++)
        to->values[i] = unpack_load(values + i * bytes, to->dtype);
    return 0;
}

static int skip_attributes(netcdf_file *n, fault *f)
{
    char name[LONGEST_NAME];
    attribute ignored;
    int64_t entries;
    if (take_list(n, TAG_ATTRIBUTE, &entries, f) != 0) return -1;
    for (int64_t i = 0; i < entries; i++)
        if (take_attribute(n, name, &ignored, f) != 0) return -1;
    return 0;
}

static int fault_memory(const netcdf_file *n, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory to read %s", n->name);
}

static int take_dimensions(netcdf_file *n, fault *f)
{
    char name[LONGEST_NAME];
    int64_t entries;
    if (take_list(n, TAG_DIMENSION, &entries, f) != 0) return -1;
    for (int64_t i = 0; i < entries; i++) {
        dimension d;
        if (take_name(n, name, f) != 0 || take_size(n, &d.length, f) != 0) return -1;
        dimension *dimensions = list_grown(n->dimensions, n->dimensions_count, sizeof d);
        if (dimensions) n->dimensions = dimensions;
        if (!dimensions || !(d.name = strdup(name))) return fault_memory(n, f);
        n->dimensions[n->dimensions_count++] = d;
    }
    return 0;
}

/* The dimensions of a variable, and the size of its data, or of one record. */
static int take_shape(netcdf_file *n, variable *v, fault *f)
{
    int64_t ndim = 0, id = 0;
    if (take_size(n, &ndim, f) != 0) return -1;
    int64_t elements = 1;
    for (int64_t d = 0; d < ndim; d++) {
        if (take_size(n, &id, f) != 0) return -1;
        if (id >= n->dimensions_count) return fault_header(n, "a variable has a dimension that is not there", f);
        const dimension *dim = &n->dimensions[id];
        if (d == 0) v->has_records = dim->length == 0;
        if (d == 0) v->is_scale = ndim == 1 && strcmp(dim->name, v->name) == 0;
        if (d > 0 && dim->length == 0) return fault_header(n, "an unlimited dimension is not the first", f);
        if (d < HISTO_MAX_DIMS) v->shape[d] = dim->length;
        if (dim->length > 0 && __builtin_mul_overflow(elements, dim->length, &elements))
            return fault_header(n, "a variable is too large", f);
    }
    v->ndim = ndim <= HISTO_MAX_DIMS ? (int)ndim : HISTO_MAX_DIMS;
    v->too_many_dims = ndim > HISTO_MAX_DIMS;
    v->slab = elements;
    return 0;
}

static int take_variable(netcdf_file *n, variable *v, fault *f)
{
    int64_t stated;
    if (take_shape(n, v, f) != 0) return -1;
    v->attributes = n->used;
    if (skip_attributes(n, f) != 0 || take_type(n, &v->type, f) != 0) return -1;
    /* The stated size is not reliable: the field is too small for large variables. */
    if (take_whole(n, n->version == 5 ? 8 : 4, &stated, f) != 0 ||
        take_whole(n, n->version == 1 ? 4 : 8, &v->begin, f) != 0)
        return -1;
    if (__builtin_mul_overflow(v->slab, types[v->type].bytes, &v->slab) || v->slab > INT64_MAX / 2)
        return fault_header(n, "a variable is too large", f);
    return 0;
}

static int take_variables(netcdf_file *n, fault *f)
{
    char name[LONGEST_NAME];
    int64_t entries;
    if (take_list(n, TAG_VARIABLE, &entries, f) != 0) return -1;
    for (int64_t i = 0; i < entries; i++) {
        variable v = {0};
        if (take_name(n, name, f) != 0) return -1;
        variable *variables = list_grown(n->variables, n->variables_count, sizeof v);
        if (variables) n->variables = variables;
        if (!variables || !(v.name = strdup(name))) return fault_memory(n, f);
        n->variables[n->variables_count++] = v;
        if (take_variable(n, &n->variables[n->variables_count - 1], f) != 0) return -1;
    }
    return 0;
}

/* A record holds a slab of each variable with records, padded to 4 bytes unless it is the only one. */
static int measure_records(netcdf_file *n, bool streamed, fault *f)
{
    int with_records = 0;
    int64_t first = INT64_MAX;
    for (int i = 0; i < n->variables_count; i++) {
        const variable *v = &n->variables[i];
        if (!v->has_records) continue;
        if (__builtin_add_overflow(n->record_bytes, v->slab + padding(v->slab), &n->record_bytes))
            return fault_header(n, "its records are too large", f);
        if (v->begin < first) first = v->begin;
        if (++with_records == 1) n->source.slab = v->slab;
    }
    if (with_records == 1) n->record_bytes = n->source.slab;
    const int64_t size = input_data_size(n->in);
    if (streamed) n->records = n->record_bytes > 0 && size > first ? (size - first) / n->record_bytes : 0;
    for (int i = 0; i < n->variables_count; i++)
        if (n->variables[i].has_records) n->variables[i].shape[0] = n->records;
    return 0;
}

static int take_header(netcdf_file *n, fault *f)
{
    unsigned char magic[4], records[8];
    if (go_to(n, 0, f) != 0 || take_bytes(n, magic, 4, f) != 0) return -1;
    n->version = magic[3];
    const int size = n->version == 5 ? 8 : 4;
    if (take_bytes(n, records, size, f) != 0) return -1;
    static const unsigned char all_ones[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    const bool streamed = memcmp(records, all_ones, (size_t)size) == 0;
    uint64_t bits = 0;
    for (int i = 0; i < size && !streamed; i++)
        bits = bits << 8 | records[i];
    if (bits > INT64_MAX) return fault_header(n, "a size in its header is negative", f);
    n->records = (int64_t)bits;
    if (take_dimensions(n, f) != 0 || skip_attributes(n, f) != 0 || take_variables(n, f) != 0) return -1;
    return measure_records(n, streamed, f);
}

/* ---- The choice of a variable --------------------------------------------------------------------------- */

/* Why a variable cannot be read; NULL if it can. */
static const char *unlike_numbers(const variable *v)
{
    return v->type == TYPE_CHAR ? "characters" : v->too_many_dims ? "an array of too many dimensions" : NULL;
}

static void describe(const variable *v, array_info *info)
{
    *info = (array_info){.dtype = types[v->type].dtype, .ndim = v->ndim};
    info->swapped = LITTLE_ENDIAN_MACHINE && histo_dtype_size(info->dtype) > 1;
    memcpy(info->shape, v->shape, sizeof info->shape);
}

/* The requested variable, or the only one that is not a dimension scale. */
static const variable *choose(const netcdf_file *n, const char *wanted, fault *f)
{
    name_list list = {0};
    const variable *chosen = NULL;
    bool only_scales = true;
    for (int i = 0; i < n->variables_count; i++)
        only_scales = only_scales && (n->variables[i].is_scale || unlike_numbers(&n->variables[i]));
    for (int i = 0; i < n->variables_count; i++) {
        const variable *v = &n->variables[i];
        const char *what = unlike_numbers(v);
        array_info info;
        if (wanted && strcmp(wanted, v->name) == 0) {
            if (!what) return v;
            fault_set(f, EXIT_DATA, "%s: variable %s holds %s, not plain numbers: choose another with --dataset",
                      n->name, wanted, what);
            return NULL;
        }
        if (what || (v->is_scale && !only_scales)) continue;
        describe(v, &info);
        array_info_list(&list, v->name, &info);
        chosen = v;
    }
    if (wanted)
        fault_set(f, EXIT_DATA, "%s has no variable '%s': its variables of numbers are %s; choose one with --dataset",
                  n->name, wanted, name_list_text(&list));
    else if (list.count == 0)
        fault_set(f, EXIT_DATA, "%s holds no variable of numbers: inspect it with ncdump -h", n->name);
    else if (list.count > 1)
        fault_set(f, EXIT_DATA, "%s holds %d variables of numbers: choose one with --dataset: %s", n->name, list.count,
                  name_list_text(&list));
    return wanted || list.count != 1 ? NULL : chosen;
}

typedef struct attribute_search {
    netcdf_file *file;
    fault *f;
    int failed;
} attribute_search;

static bool find_attribute(void *self, const char *wanted, attribute *to)
{
    attribute_search *s = self;
    netcdf_file *n = s->file;
    char name[LONGEST_NAME];
    int64_t entries;
    if (s->failed || (s->failed = go_to(n, n->source.attributes, s->f)) != 0) return false;
    s->failed = take_list(n, TAG_ATTRIBUTE, &entries, s->f);
    for (int64_t i = 0; i < entries && !s->failed; i++) {
        s->failed = take_attribute(n, name, to, s->f);
        if (!s->failed && strcmp(name, wanted) == 0) return true;
    }
    return false;
}

static int find_rule(netcdf_file *n, array_info *info, fault *f)
{
    attribute_search search = {.file = n, .f = f};
    attribute fill;
    const histo_dtype stored = info->dtype;
    info->rule = unpack_rule(find_attribute, &search, &info->dtype);
    if (!find_attribute(&search, "_FillValue", &fill)) unpack_add_default_fill(&info->rule, stored);
    return search.failed;
}

/* ---- The bytes of a variable ---------------------------------------------------------------------------- */

static int seek_bytes(void *self, int64_t position, fault *f)
{
    netcdf_file *n = self;
    const variable *v = &n->source;
    const int64_t record = v->has_records && v->slab > 0 ? position / v->slab : 0;
    n->position = position;
    return input_seek(n->in, v->begin + record * n->record_bytes + (position - record * v->slab), f);
}

static int64_t read_bytes(void *self, void *buffer, size_t size, fault *f)
{
    netcdf_file *n = self;
    const variable *v = &n->source;
    const int64_t left = n->total - n->position, in_slab = v->slab - (v->slab ? n->position % v->slab : 0);
    const int64_t available = left < in_slab ? left : in_slab;
    if (available == 0) return 0;
    const int64_t got = input_read(n->in, buffer, (int64_t)size < available ? size : (size_t)available, f);
    if (got <= 0) return got;
    n->position += got;
    const bool goes_on = v->has_records && got == in_slab && n->position < n->total;
    return goes_on && seek_bytes(n, n->position, f) != 0 ? -1 : got;
}

static int rewind_bytes(void *self, fault *f)
{
    return seek_bytes(self, 0, f);
}

static void close_bytes(void *self)
{
    netcdf_file *n = self;
    for (int i = 0; i < n->dimensions_count; i++)
        free(n->dimensions[i].name);
    for (int i = 0; i < n->variables_count; i++)
        free(n->variables[i].name);
    free(n->dimensions);
    free(n->variables);
    free(n);
}

/* Check that the variable is within the file, and move to its first byte. */
static int begin_bytes(netcdf_file *n, fault *f)
{
    const variable *v = &n->source;
    const int64_t records = v->has_records ? n->records : 1, size = input_data_size(n->in);
    int64_t end = 0;
    if (__builtin_mul_overflow(records, v->slab, &n->total) ||
        (v->has_records && records > 0 && __builtin_mul_overflow(records - 1, n->record_bytes, &end)) ||
        __builtin_add_overflow(end, v->begin, &end) || __builtin_add_overflow(end, v->slab, &end))
        return fault_header(n, "a variable is too large", f);
    if (n->total > 0 && end > size)
        return fault_set(f, EXIT_DATA,
                         "%s is truncated: variable %s reaches to byte %" PRId64 ", and the file has %" PRId64
                         "; copy it again",
                         n->name, v->name, end, size);
    return seek_bytes(n, 0, f);
}

static int prepare(netcdf_file *n, const read_options *options, array_info *info, fault *f)
{
    size_t size;
    if (!input_path(n->in, f) || !input_peek(n->in, &size, f) || take_header(n, f) != 0) return -1;
    const variable *v = choose(n, options->dataset, f);
    if (!v) return -1;
    n->source = *v;
    describe(v, info);
    return (!options->raw && find_rule(n, info, f) != 0) || begin_bytes(n, f) != 0 ? -1 : 0;
}

reader *netcdf_open(input *in, const read_options *options, fault *f)
{
    netcdf_file *n = calloc(1, sizeof *n);
    if (!n) {
        fault_set(f, EXIT_DATA, "no memory to read %s", input_name(in));
        return NULL;
    }
    n->in = in;
    n->name = input_name(in);
    array_info info;
    if (prepare(n, options, &info, f) != 0) {
        close_bytes(n);
        return NULL;
    }
    char subject[LONGEST_NAME + 64];
    snprintf(subject, sizeof subject, "%.*s, variable %s", (int)sizeof subject / 2, n->name, n->source.name);
    const array_place place = {
        .size = n->total, .subject = subject, .described = "its header describes", .remedy = "copy it again"};
    const byte_source source = {.read = read_bytes,
                                .rewind = rewind_bytes,
                                .close = close_bytes,
                                .self = n,
                                .seek = seek_bytes,
                                .in_parts = options->in_parts};
    return array_reader_open(in, source, &info, &place, f);
}
