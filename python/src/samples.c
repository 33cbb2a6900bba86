#include "samples.h"

#include <string.h>

static const struct {
    char format;
    histo_dtype dtype[4]; /* of 1, 2, 4 and 8 bytes */
} formats[] = {{'i', {HISTO_I8, HISTO_I16, HISTO_I32, HISTO_I64}}, {'u', {HISTO_U8, HISTO_U16, HISTO_U32, HISTO_U64}}};

/* The dtype of a buffer's format (see the struct module), whose items have this size. */
static int dtype_of_format(const char *format, Py_ssize_t size, histo_dtype *dtype)
{
    if (*format == '@' || *format == '=' || *format == '<') format++;
    if (format[0] == '\0' || format[1] != '\0') return -1;
    const int log_size = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
    if (log_size < 0) return -1;
    if (strchr("bhilqn", *format))
        *dtype = formats[0].dtype[log_size];
    else if (strchr("?BHILQN", *format))
        *dtype = formats[1].dtype[log_size];
    else if (strchr("efd", *format))
        *dtype = *format == 'e' ? HISTO_F16 : *format == 'f' ? HISTO_F32 : HISTO_F64;
    else
        return -1;
    return 0;
}

static void release_buffer(samples *s)
{
    PyBuffer_Release(&s->buffer);
}

static int take_buffer(PyObject *object, samples *out)
{
    Py_buffer *b = &out->buffer;
    if (PyObject_GetBuffer(object, b, PyBUF_RECORDS_RO) != 0) return -1;
    out->release = release_buffer;
    histo_view *v = &out->view;
    if (!b->format || dtype_of_format(b->format, b->itemsize, &v->dtype) != 0) {
        PyErr_Format(PyExc_TypeError, "samples of the format '%s' cannot be counted", b->format ? b->format : "B");
        return -1;
    }
    if (b->ndim > HISTO_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "an array of %d dimensions; at most %d are counted", b->ndim, HISTO_MAX_DIMS);
        return -1;
    }
    v->data = b->buf;
    v->ndim = b->ndim;
    for (int d = 0; d < b->ndim; d++) {
        v->shape[d] = b->shape[d];
        v->strides[d] = b->strides[d];
    }
    return 0;
}

int samples_take(PyObject *module, PyObject *object, samples *out)
{
    (void)module;
    *out = (samples){0};
    if (take_buffer(object, out) == 0) return 0;
    samples_release(out);
    return -1;
}

void samples_release(samples *s)
{
    if (s->release) s->release(s);
    s->release = NULL;
}
