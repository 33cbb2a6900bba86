/* Objects with the buffer protocol: array.array, memoryview, bytes, … */
#include <string.h>

#include "samples/describe.h"

/* The dtype of a buffer's format (see the struct module), whose items have this size; false for all that is not one
 * number. */
static bool dtype_of_format(const char *format, Py_ssize_t size, histo_dtype *dtype)
{
    static const union {
        uint16_t number;
        char first;
    } one = {1};
    const bool little = *format == '<', big = *format == '>' || *format == '!';
    const histo_dtype swapped = size > 1 && (one.first ? big : little) ? HISTO_SWAPPED : HISTO_U8;
    if (little || big || *format == '@' || *format == '=') format++;
    if (format[0] == '\0' || format[1] != '\0') return false;
    const char code = *format;
    const bool is_float = (code == 'e' && size == 2) || (code == 'f' && size == 4) || (code == 'd' && size == 8);
    const char kind = strchr("bhilqn", code) ? 'i' : strchr("?BHILQN", code) ? 'u' : is_float ? 'f' : '\0';
    if (!describe_dtype(kind, size, dtype)) return false;
    *dtype |= swapped;
    return true;
}

static void release_buffer(python_samples *s)
{
    PyBuffer_Release(&s->buffer);
}

int samples_of_buffer(PyObject *object, python_samples *out)
{
    if (!PyObject_CheckBuffer(object)) return 0;
    Py_buffer *b = &out->buffer;
    if (PyObject_GetBuffer(object, b, PyBUF_RECORDS_RO) != 0) {
        if (!PyErr_ExceptionMatches(PyExc_BufferError)) return -1;
        PyErr_Clear(); /* JAX has types that buffers have not */
        return 0;
    }
    histo_view *v = &out->view;
    if (!dtype_of_format(b->format ? b->format : "B", b->itemsize, &v->dtype) || b->ndim > HISTO_MAX_DIMS ||
        (b->ndim > 0 && (!b->shape || !b->strides))) {
        PyBuffer_Release(b);
        return 0; /* NumPy may know it */
    }
    out->release = release_buffer;
    v->data = b->buf;
    v->ndim = b->ndim;
    for (int d = 0; d < b->ndim; d++) {
        v->shape[d] = b->shape[d];
        v->strides[d] = b->strides[d];
    }
    return 1;
}
