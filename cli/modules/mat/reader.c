/* MATLAB's .mat, versions 4 to 7, by matio: a variable of numbers, column-major. (Version 7.3 is HDF5.) */
#include <matio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/failure.h"
#include "input/readers/arrays/array.h"
#include "input/readers/isolated_process.h"
#include "input/readers/names.h"
#include "input/readers/readers.h"

typedef struct mat_about {
    array_info info;
    int64_t bytes;
    char name[128];
} mat_about;

typedef struct mat_variable {
    const char *file, *path, *wanted;
    isolated_process *process;
    mat_about about;
    int64_t at; /* the next byte to read */
    /* Used in the process in which matio reads the file: */
    mat_t *mat;
    matvar_t *variable;
    int before; /* variables before it in the file */
} mat_variable;

enum { DESCRIBE, READ };

/* ---- In the process of matio ---- */

/* The kind of a variable that does not hold numbers; NULL: numbers. */
static const char *describe_type(const matvar_t *v, histo_dtype *dtype)
{
    static const histo_dtype dtypes[] = {
        [MAT_C_DOUBLE] = HISTO_F64, [MAT_C_SINGLE] = HISTO_F32, [MAT_C_INT8] = HISTO_I8,   [MAT_C_UINT8] = HISTO_U8,
        [MAT_C_INT16] = HISTO_I16,  [MAT_C_UINT16] = HISTO_U16, [MAT_C_INT32] = HISTO_I32, [MAT_C_UINT32] = HISTO_U32,
        [MAT_C_INT64] = HISTO_I64,  [MAT_C_UINT64] = HISTO_U64};
    const int type = (int)v->class_type;
    if (type == MAT_C_CHAR) return "text";
    if (type == MAT_C_SPARSE) return "a sparse matrix";
    if (type < MAT_C_DOUBLE || type > MAT_C_UINT64) return "cells, structures or objects";
    if (v->isComplex) return "complex numbers";
    if (v->rank < 1 || v->rank > HISTO_MAX_DIMS) return "more than 8 dimensions";
    *dtype = dtypes[type];
    return NULL;
}

static int describe_variable(mat_variable *m, mat_about *about, fault *f)
{
    const matvar_t *v = m->variable;
    histo_dtype dtype = HISTO_F64;
    const char *what = describe_type(v, &dtype);
    if (what)
        return fault_set(f, EXIT_DATA, "%s: variable %.100s holds %s, not plain numbers: choose another with --dataset",
                         m->file, v->name, what);
    *about = (mat_about){.info = {.dtype = dtype, .boolean = v->isLogical, .fortran = true, .ndim = v->rank},
                         .bytes = (int64_t)histo_dtype_size(dtype)};
    for (int d = 0; d < v->rank; d++) {
        about->info.shape[d] = (int64_t)v->dims[d];
        if (v->dims[d] > INT64_MAX || __builtin_mul_overflow(about->bytes, about->info.shape[d], &about->bytes))
            return fault_set(f, EXIT_DATA, "%s is damaged: variable %.100s is too large", m->file, v->name);
    }
    snprintf(about->name, sizeof about->name, "%s", v->name);
    m->about = *about;
    return 0;
}

/* Scan the variables up to the wanted one; without a name, find the only one with numbers. */
static int choose(mat_variable *m, const char *wanted, char only[128], fault *f)
{
    name_list numbers = {0};
    matvar_t *v;
    histo_dtype dtype;
    for (m->before = 0; (v = Mat_VarReadNextInfo(m->mat)); m->before++) {
        if (v->name && wanted && strcmp(v->name, wanted) == 0) {
            m->variable = v;
            return 0;
        }
        if (v->name && !describe_type(v, &dtype)) {
            if (numbers.count == 0) snprintf(only, 128, "%s", v->name);
            name_list_add(&numbers, v->name);
        }
        Mat_VarFree(v);
    }
    if (!wanted && numbers.count == 1) return 0;
    if (wanted)
        return fault_set(f, EXIT_DATA,
                         "%s has no variable '%.60s': its variables of numbers are %s; choose one with --dataset",
                         m->file, wanted, name_list_text(&numbers));
    if (numbers.count == 0) return fault_set(f, EXIT_DATA, "%s holds no variable of plain numbers", m->file);
    return fault_set(f, EXIT_DATA, "%s holds %d variables of numbers: choose one with --dataset: %s", m->file,
                     numbers.count, name_list_text(&numbers));
}

static int describe(mat_variable *m, mat_about *about, fault *f)
{
    char only[128] = "";
    m->mat = Mat_Open(m->path, MAT_ACC_RDONLY);
    if (!m->mat) return fault_set(f, EXIT_DATA, "%s cannot be read by matio: it is truncated or damaged", m->file);
    if (choose(m, m->wanted, only, f) != 0) return -1;
    if (!m->variable) {
        Mat_Rewind(m->mat);
        if (choose(m, only, only, f) != 0) return -1;
    }
    return describe_variable(m, about, f);
}

/* Whether a zlib stream ends properly, with its checksum. */
static bool inflates(FILE *file, uint32_t left)
{
    z_stream z = {0};
    unsigned char stored[1 << 14], samples[1 << 16];
    int state = inflateInit(&z);
    while (state == Z_OK && (left || z.avail_in)) {
        if (!z.avail_in) {
            z.next_in = stored;
            z.avail_in = (uInt)fread(stored, 1, left < sizeof stored ? left : sizeof stored, file);
            if (!z.avail_in) break;
            left -= z.avail_in;
        }
        z.next_out = samples;
        z.avail_out = sizeof samples;
        state = inflate(&z, Z_NO_FLUSH);
    }
    inflateEnd(&z);
    return state == Z_STREAM_END;
}

/* matio does not verify the checksums of compressed variables. Without a name, all were examined to find the only one
 * with numbers. */
static bool is_whole(const mat_variable *m)
{
    enum { COMPRESSED = 15 };
    bool whole = true;
    unsigned char head[128];
    uint32_t element[2] = {0}; /* type, bytes */
    if (Mat_GetVersion(m->mat) != MAT_FT_MAT5) return true;
    FILE *file = fopen(m->path, "rb");
    if (!file) return true;
    const bool swapped =
        fread(head, 1, sizeof head, file) == sizeof head && head[126] == (LITTLE_ENDIAN_MACHINE ? 'M' : 'I');
    off_t at = sizeof head;
    for (int i = 0; whole && fseeko(file, at, SEEK_SET) == 0 && fread(element, sizeof element, 1, file) == 1; i++) {
        for (int k = 0; swapped && k < 2; k++)
            element[k] = __builtin_bswap32(element[k]);
        if ((i == m->before || !m->wanted) && element[0] == COMPRESSED) whole = inflates(file, element[1]);
        at += (off_t)sizeof element + element[1];
    }
    fclose(file);
    return whole;
}

/* Decompress the variable once, and deliver its bytes. */
static int read_bytes(mat_variable *m, const isolated_request *q, void *room, fault *f)
{
    if (!m->variable->data && !is_whole(m))
        return fault_set(f, EXIT_DATA, "%s is damaged: the checksum of a variable does not fit", m->file);
    if (!m->variable->data && Mat_VarReadDataAll(m->mat, m->variable) != 0)
        return fault_set(f, EXIT_DATA, "%s: variable %.100s cannot be read: it is truncated or damaged", m->file,
                         m->about.name);
    if (!m->variable->data || (int64_t)m->variable->nbytes < q->first + q->count)
        return fault_set(f, EXIT_DATA, "%s: variable %.100s is truncated", m->file, m->about.name);
    memcpy(room, (const char *)m->variable->data + q->first, (size_t)q->count);
    return 0;
}

static int answer(void *self, const isolated_request *q, void *room, fault *f)
{
    return q->what == DESCRIBE ? describe(self, room, f) : read_bytes(self, q, room, f);
}

/* ---- Here: a source of bytes ---- */

static int64_t source_read(void *self, void *buffer, size_t size, fault *f)
{
    mat_variable *m = self;
    int64_t count = m->about.bytes - m->at;
    if (count > BAND_BYTES) count = BAND_BYTES;
    if (count > (int64_t)size) count = (int64_t)size;
    if (count == 0) return 0;
    const isolated_request q = {.what = READ, .first = m->at, .count = count};
    if (isolated_read(m->process, &q, buffer, (size_t)count, NULL, 0, f) != 0) return -1;
    m->at += count;
    return count;
}

static int source_seek(void *self, int64_t position, fault *f)
{
    (void)f;
    ((mat_variable *)self)->at = position;
    return 0;
}

static int source_rewind(void *self, fault *f)
{
    return source_seek(self, 0, f);
}

static void source_close(void *self)
{
    mat_variable *m = self;
    isolated_close(m->process);
    free(m);
}

/* matio reads zeros if a file of version 5 or 7 is truncated: its variables, one after the other, must end at the end
 * of the file. */
static int check_length(const mat_variable *m, fault *f)
{
    char head[128] = "";
    uint32_t tag[2];
    FILE *file = fopen(m->path, "rb");
    int64_t at = sizeof head, size = -1;
    if (file && fread(head, 1, sizeof head, file) == sizeof head && memcmp(head, "MATLAB 5.0", 10) == 0 &&
        fseeko(file, 0, SEEK_END) == 0)
        size = ftello(file);
    const bool swapped = LITTLE_ENDIAN_MACHINE != (head[126] == 'I');
    while (at < size && fseeko(file, at, SEEK_SET) == 0 && fread(tag, 1, sizeof tag, file) == sizeof tag) {
        if (swapped) array_swap_bytes(tag, sizeof *tag, 2);
        at += (int64_t)sizeof tag + tag[1];
    }
    if (file) fclose(file);
    if (size < 0 || at == size) return 0;
    return fault_set(f, EXIT_DATA, "%s is truncated or damaged: its variables do not end where it does", m->file);
}

reader *mat_open(input *in, const read_options *options, fault *f)
{
    mat_variable *m = calloc(1, sizeof *m);
    if (!m) fault_set(f, EXIT_DATA, "no memory to read %s", input_name(in));
    if (!m || !(m->path = input_path(in, f))) goto fail;
    m->file = input_name(in);
    m->wanted = options->dataset;
    if (check_length(m, f) != 0) goto fail;
    m->process = isolated_open(m->file, m->path, "matio", answer, m, f);
    if (!m->process || isolated_call(m->process, &(isolated_request){.what = DESCRIBE}, f) != 0) goto fail;
    memcpy(&m->about, isolated_memory(m->process), sizeof m->about);
    if (fault_beyond_memory(f, (double)m->about.bytes, m->file, "save the variable with -v7.3, which is HDF5") != 0)
        goto fail;
    const byte_source source = {
        .self = m, .read = source_read, .seek = source_seek, .rewind = source_rewind, .close = source_close};
    const array_place place = {
        .size = m->about.bytes, .subject = m->file, .described = "its header describes", .remedy = "save it again"};
    return array_reader_open(in, source, &m->about.info, &place, f);

fail:
    if (m) source_close(m);
    return NULL;
}
