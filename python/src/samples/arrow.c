/* Samples by Arrow's PyCapsules: PyArrow, Polars, DuckDB, pandas' nullable columns. Nulls become a mask. Chunks of
 * numbers are taken as they are, and copied to one place for those who need one; booleans, which are bits, are
 * copied. */
#include "samples/arrow.h"

#include <stdlib.h>
#include <string.h>

#include "samples/describe.h"
#include "samples/numpy_api.h"

static const char protocol[] = "Arrow";

static int refuse(PyObject *exception, const char *what)
{
    PyErr_Format(exception, "%s: %s", protocol, what);
    return -1;
}

/* ---- Types ---- */

/* The type of a column: its dtype, or bits. */
typedef struct column_type {
    histo_dtype dtype;
    bool bits;
} column_type;

/* Whether the values have a meaning of their own, such as spans of time: the metadata, pairs of strings after their
 * number, each of which is after its length, name it. */
static bool is_extension(const char *metadata)
{
    static const char name[] = "ARROW:extension:name";
    int32_t pairs, length;
    if (!metadata) return false;
    memcpy(&pairs, metadata, sizeof pairs);
    const char *at = metadata + sizeof pairs;
    for (int32_t i = 0; i < 2 * pairs; i++) {
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        if (i % 2 == 0 && length == (int32_t)strlen(name) && memcmp(at, name, strlen(name)) == 0) return true;
        at += length;
    }
    return false;
}

/* Whether the type is of numbers: no dates, which have a unit, categories, text or tables. */
static bool type_of(const arrow_schema *schema, column_type *type)
{
    static const char *const dtypes = "cCsSiIlLefg";
    static const histo_dtype of_format[] = {HISTO_I8,  HISTO_U8,  HISTO_I16, HISTO_U16, HISTO_I32, HISTO_U32,
                                            HISTO_I64, HISTO_U64, HISTO_F16, HISTO_F32, HISTO_F64};
    const char *format = schema->format ? schema->format : "";
    const char *at = format[0] && !format[1] ? strchr(dtypes, format[0]) : NULL;
    *type = (column_type){at ? of_format[at - dtypes] : HISTO_U8, strcmp(format, "b") == 0};
    return !schema->dictionary && (at || type->bits) && !is_extension(schema->metadata);
}

static const void *values_of(const arrow_array *a)
{
    return a->buffers ? a->buffers[1] : NULL;
}

static const unsigned char *validity_of(const arrow_array *a)
{
    return a->buffers && a->null_count != 0 ? a->buffers[0] : NULL;
}

static int check(const arrow_array *a, const column_type *type)
{
    const int64_t size = type->bits ? 1 : (int64_t)histo_dtype_size(type->dtype);
    int64_t end, bytes;
    if (a->n_buffers != 2 || !a->buffers) return refuse(PyExc_ValueError, "a column of numbers has two buffers");
    if (a->length < 0 || a->offset < 0 || __builtin_add_overflow(a->length, a->offset, &end) ||
        __builtin_mul_overflow(end, size, &bytes))
        return refuse(PyExc_ValueError, "the length or the offset is out of range");
    if (a->length > 0 && !values_of(a)) return refuse(PyExc_ValueError, "there are no values");
    return 0;
}

/* ---- Chunks ---- */

/* A column, which owns its chunks; samples.memory. */
typedef struct arrow_column {
    column_type type;
    arrow_array *chunks;
    int64_t count, room;
    samples_chunk *views;   /* [count] of several chunks */
    void *copy;             /* of all values */
    unsigned char *present; /* a byte for each value, 0 for nulls */
} arrow_column;

static void free_column(arrow_column *c)
{
    for (int64_t i = 0; i < c->count; i++)
        if (c->chunks[i].release) c->chunks[i].release(&c->chunks[i]);
    free(c->chunks);
    free(c->views);
    free(c->copy);
    free(c->present);
    free(c);
}

static void release_column(python_samples *s)
{
    free_column(s->memory);
}

/* Takes the array, also on failure. */
static int add_chunk(arrow_column *c, arrow_array *array)
{
    if (c->count == c->room) {
        const int64_t room = c->room ? 2 * c->room : 4;
        arrow_array *chunks = realloc(c->chunks, (size_t)room * sizeof *chunks);
        if (!chunks) {
            array->release(array);
            PyErr_NoMemory();
            return -1;
        }
        c->chunks = chunks;
        c->room = room;
    }
    c->chunks[c->count++] = *array;
    array->release = NULL; /* moved */
    return 0;
}

static void copy_values(const arrow_array *a, const column_type *type, char *to)
{
    const size_t size = histo_dtype_size(type->dtype);
    if (a->length == 0) return;
    if (type->bits)
        bits_expand(values_of(a), a->offset, a->length, (unsigned char *)to);
    else
        memcpy(to, (const char *)values_of(a) + (size_t)a->offset * size, (size_t)a->length * size);
}

static void set_nulls(python_samples *out, histo_view present, int64_t offset)
{
    out->has_nulls = true;
    out->present = present;
    out->present_offset = offset;
}

/* Copy all chunks into one. */
static int join_chunks(arrow_column *c, const column_type *type, python_samples *out)
{
    const size_t size = histo_dtype_size(type->dtype);
    int64_t n = 0, at = 0;
    bool nulls = false;
    for (int64_t i = 0; i < c->count; i++) {
        if (__builtin_add_overflow(n, c->chunks[i].length, &n)) return refuse(PyExc_ValueError, "too many values");
        nulls = nulls || validity_of(&c->chunks[i]);
    }
    if ((size_t)n > PY_SSIZE_T_MAX / size || !(c->copy = malloc((size_t)n * size + 1)) ||
        (nulls && !(c->present = malloc((size_t)n + 1)))) {
        PyErr_NoMemory();
        return -1;
    }
    for (int64_t i = 0; i < c->count; at += c->chunks[i++].length) {
        const arrow_array *a = &c->chunks[i];
        copy_values(a, type, (char *)c->copy + (size_t)at * size);
        if (nulls && validity_of(a))
            bits_expand(validity_of(a), a->offset, a->length, c->present + at);
        else if (nulls)
            memset(c->present + at, 1, (size_t)a->length);
    }
    if (nulls) set_nulls(out, histo_view_1d(c->present, HISTO_U8, n), 0);
    return describe_view(out, protocol, c->copy, type->dtype, 1, &n, NULL);
}

int samples_join_arrow(python_samples *s)
{
    const arrow_column *c = s->memory;
    s->chunks = 0;
    return join_chunks(s->memory, &c->type, s);
}

static int view_chunk(const arrow_array *a, const column_type *type, python_samples *out)
{
    const char *values = values_of(a);
    if (validity_of(a)) set_nulls(out, histo_view_1d(validity_of(a), HISTO_BIT, a->length), a->offset);
    if (values) values += (size_t)a->offset * histo_dtype_size(type->dtype);
    return describe_view(out, protocol, values, type->dtype, 1, &a->length, NULL);
}

static int view_chunks(arrow_column *c, python_samples *out)
{
    c->views = calloc((size_t)c->count, sizeof *c->views);
    if (!c->views) {
        PyErr_NoMemory();
        return -1;
    }
    for (int64_t i = 0; i < c->count; i++) {
        python_samples one = {0};
        if (view_chunk(&c->chunks[i], &c->type, &one) < 0) return -1;
        c->views[i] = (samples_chunk){one.view, one.has_nulls, one.present, one.present_offset};
    }
    out->chunks = c->count;
    out->chunk = c->views;
    return 0;
}

static int view_of(arrow_column *c, python_samples *out)
{
    for (int64_t i = 0; i < c->count; i++)
        if (check(&c->chunks[i], &c->type) < 0) return -1;
    if (c->count == 0 || c->type.bits) return join_chunks(c, &c->type, out);
    return c->count == 1 ? view_chunk(&c->chunks[0], &c->type, out) : view_chunks(c, out);
}

/* ---- Capsules ---- */

static arrow_column *new_column(python_samples *out, const column_type *type)
{
    arrow_column *c = calloc(1, sizeof *c);
    if (c)
        c->type = *type;
    else
        PyErr_NoMemory();
    out->memory = c;
    out->release = c ? release_column : NULL;
    return c;
}

/* Take the array of a tuple (schema, array) of capsules. */
static int take_array(PyObject *pair, python_samples *out)
{
    PyObject *first, *second;
    column_type type;
    if (!PyTuple_Check(pair) || !PyArg_ParseTuple(pair, "OO", &first, &second))
        return refuse(PyExc_TypeError, "__arrow_c_array__ must return two capsules");
    const arrow_schema *schema = PyCapsule_GetPointer(first, "arrow_schema");
    arrow_array *array = schema ? PyCapsule_GetPointer(second, "arrow_array") : NULL;
    if (!array) return -1;
    if (!schema->release || !array->release) return refuse(PyExc_ValueError, "the array was released");
    if (!type_of(schema, &type)) return OF_OTHERS;
    arrow_column *c = new_column(out, &type);
    return c && add_chunk(c, array) == 0 ? view_of(c, out) : -1;
}

static int fail_stream(arrow_stream *stream)
{
    const char *why = stream->get_last_error ? stream->get_last_error(stream) : NULL;
    PyErr_Format(PyExc_OSError, "%s: the stream failed: %s", protocol, why ? why : "it does not say why");
    return -1;
}

static int read_chunks(arrow_stream *stream, arrow_column *c)
{
    for (;;) {
        arrow_array array = {0};
        if (stream->get_next(stream, &array) != 0) return fail_stream(stream);
        if (!array.release) return 0;
        if (add_chunk(c, &array) < 0 || PyErr_CheckSignals() < 0) return -1;
    }
}

static int take_stream(PyObject *capsule, python_samples *out)
{
    arrow_stream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    arrow_schema schema = {0};
    column_type type;
    if (!stream) return -1;
    if (!stream->release) return refuse(PyExc_ValueError, "the stream was released");
    if (stream->get_schema(stream, &schema) != 0) return fail_stream(stream);
    const bool typed = type_of(&schema, &type);
    if (schema.release) schema.release(&schema);
    if (!typed) return OF_OTHERS;
    arrow_column *c = new_column(out, &type);
    return c && read_chunks(stream, c) == 0 ? view_of(c, out) : -1;
}

/* Take what a method without arguments returns: 1, 0 if the object does not have it, OF_OTHERS, -1 with an
 * exception. */
static int take_by(PyObject *object, const char *name, int (*take)(PyObject *, python_samples *), python_samples *out)
{
    PyObject *method = PyObject_GetAttrString(object, name);
    if (!method) return describe_missing();
    PyObject *result = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    if (!result && PyErr_ExceptionMatches(PyExc_TypeError)) { /* pandas has it for types that Arrow does not have */
        PyErr_Clear();
        return OF_OTHERS;
    }
    const int failed = result ? take(result, out) : -1;
    Py_XDECREF(result);
    return failed < 0 ? -1 : failed == OF_OTHERS ? OF_OTHERS : 1;
}

int samples_of_arrow(PyObject *object, python_samples *out)
{
    int taken = take_by(object, "__arrow_c_array__", take_array, out);
    if (taken == 0) taken = take_by(object, "__arrow_c_stream__", take_stream, out);
    return taken;
}

/* ---- As arrays ---- */

static void free_owner(PyObject *capsule)
{
    python_samples *s = PyCapsule_GetPointer(capsule, protocol);
    samples_release(s);
    free(s);
}

/* An array in the memory of samples, which it keeps. */
static PyObject *array_of(PyObject *owner, const python_samples *s)
{
    static const int numbers[HISTO_DTYPE_COUNT] = {
        [HISTO_U8] = NPY_UINT8,   [HISTO_I8] = NPY_INT8,     [HISTO_U16] = NPY_UINT16, [HISTO_I16] = NPY_INT16,
        [HISTO_U32] = NPY_UINT32, [HISTO_I32] = NPY_INT32,   [HISTO_U64] = NPY_UINT64, [HISTO_I64] = NPY_INT64,
        [HISTO_F16] = NPY_HALF,   [HISTO_F32] = NPY_FLOAT32, [HISTO_F64] = NPY_FLOAT64};
    const arrow_column *c = s->memory;
    npy_intp n = (npy_intp)s->view.shape[0];
    static const double nothing;
    const union {
        const void *read_only;
        void *as_numpy_takes_it;
    } data = {s->view.data ? s->view.data : &nothing};
    PyObject *array = PyArray_New(&PyArray_Type, 1, &n, c->type.bits ? NPY_BOOL : numbers[s->view.dtype], NULL,
                                  data.as_numpy_takes_it, 0, NPY_ARRAY_C_CONTIGUOUS, NULL);
    if (array) PyArray_UpdateFlags((PyArrayObject *)array, NPY_ARRAY_ALIGNED);
    if (array && PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(owner)) < 0) Py_CLEAR(array);
    return array;
}

/* Which samples have a value, as an array of bools; None if all have one. */
static PyObject *present_in(const python_samples *s)
{
    if (!s->has_nulls) return Py_NewRef(Py_None);
    npy_intp n = (npy_intp)s->view.shape[0];
    PyObject *array = PyArray_SimpleNew(1, &n, NPY_BOOL);
    if (!array) return NULL;
    unsigned char *to = PyArray_DATA((PyArrayObject *)array);
    if (s->present.dtype == HISTO_BIT)
        bits_expand(s->present.data, s->present_offset, n, to);
    else
        memcpy(to, s->present.data, (size_t)n);
    return array;
}

PyObject *samples_arrow_arrays(PyObject *module, PyObject *object)
{
    if (numpy_import(module) < 0) return NULL;
    python_samples *s = calloc(1, sizeof *s);
    PyObject *owner = s ? PyCapsule_New(s, protocol, free_owner) : NULL, *values = NULL, *present = NULL;
    if (!s) PyErr_NoMemory();
    if (s && !owner) free(s);
    if (!owner) return NULL;
    const int taken = samples_of_arrow(object, s);
    if (taken == 1 && samples_join(s) == 0) {
        values = array_of(owner, s);
        present = values ? present_in(s) : NULL;
    }
    Py_DECREF(owner);
    PyObject *pair = present ? PyTuple_Pack(2, values, present) : NULL;
    Py_XDECREF(values);
    Py_XDECREF(present);
    return taken == 0 || taken == OF_OTHERS ? Py_NewRef(Py_None) : pair;
}
