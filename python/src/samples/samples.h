/* Samples in: any array-like Python object becomes a view, without a copy wherever its memory allows. */
#ifndef PYTHON_SAMPLES_H
#define PYTHON_SAMPLES_H

#include "state/state.h"

typedef struct python_samples python_samples;

/* Some of the samples of a column, which are contiguous; `present` is a mask of bits. */
typedef struct samples_chunk {
    histo_view view;
    bool has_nulls;
    histo_view present;
    int64_t present_offset;
} samples_chunk;

struct python_samples {
    histo_view view;
    void (*release)(python_samples *); /* lets go of the memory; called with the GIL */
    Py_buffer buffer;                  /* of the source that has one */
    PyObject *owner;                   /* the object, or NULL; keeps the memory alive, if that is Python's */
    void *memory;                      /* of the source, which keeps it alive */
    bool on_gpu;                       /* in the memory of a GPU, `home`, ready on this cudaStream_t */
    histo_device home;
    void *stream;
    bool is_bool;   /* said by DLPack and __cuda_array_interface__ */
    bool read_only; /* its library says that the memory must not be written; of host memory, only some say it */
    bool unordered; /* its library may give the memory away before work on the stream has read it */
    const struct dl_exchange *exchange; /* its library's, or NULL */
    bool has_nulls;                     /* samples without a value, as a mask; a mask of bits begins at this one */
    histo_view present;
    int64_t present_offset;
    int64_t chunks; /* of samples_take_in_chunks: they are in so many places, and the view describes none; else 0 */
    const samples_chunk *chunk;
};

/* A dtype without its byte order. */
static inline histo_dtype native(histo_dtype dtype)
{
    return dtype & ~(histo_dtype)HISTO_SWAPPED;
}

/* Take the samples of an object that has plain numbers: a NumPy array without a mask; an object with the buffer
 * protocol, `__cuda_array_interface__`, `__dlpack__`, `__arrow_c_array__` or `__arrow_c_stream__`; a list. All else is
 * normalised by histo.sources, which knows masks, missing values, units, categories and the libraries that have them.
 * Arrays of more than HISTO_MAX_DIMS dimensions become one-dimensional in C order. What views cannot describe is
 * copied. The view is valid until samples_release, also without the GIL. -1 with TypeError (no array, or a dtype that
 * has no order), BufferError or ValueError (malformed); *out is then zeroed. */
int samples_take(PyObject *module, PyObject *object, python_samples *out);
/* Likewise, for a caller that honours out->has_nulls, where samples_take raises ValueError. */
int samples_take_with_nulls(PyObject *module, PyObject *object, python_samples *out);
/* Likewise, for a caller that honours out->chunks, too: what has several chunks is not copied. */
int samples_take_in_chunks(PyObject *module, PyObject *object, python_samples *out);
/* Copy the chunks to one place; does nothing if there are none. -1 with an exception. */
int samples_join(python_samples *s);
/* Likewise, for a caller that reads them itself: ValueError if they are in the memory of a GPU. */
int samples_take_here(PyObject *module, PyObject *object, python_samples *out);
/* Likewise, for a caller that writes to the memory: TypeError if it must not, or if that cannot be known. */
int samples_take_writable(PyObject *module, PyObject *object, python_samples *out);
/* Does nothing for zeroed samples. */
void samples_release(python_samples *s);

/* A new array of the library of `like`, which has an exchange API, in the memory that `like` is in; *data is its
 * memory. dtype: of 32 or 64 bits. NULL with an exception. */
PyObject *dlpack_new(const python_samples *like, histo_dtype dtype, int ndim, int64_t *shape, void **data);

/* Whether an array with an exchange API is in the memory of such a GPU; -1 if it has none. */
int exchanged_on_gpu(PyObject *module, PyObject *object);
/* Whether __dlpack_device__ names a GPU that histo counts on, or the host. */
bool dlpack_on_gpu(PyObject *object);
bool dlpack_on_host(PyObject *object);

/* A list or tuple as an array, if numpy.asarray takes it without loss: it drops masks of arrays, and may round large
 * integers. Else NULL, with an exception only if NumPy cannot be imported or has no memory. */
PyObject *samples_of_list(PyObject *module, PyObject *list);

/* A source of samples takes an object that is of its kind: 1 if it has filled in *out, 0 if the object is of another
 * kind, OF_OTHERS if its numbers are none that are known here, so that histo.sources takes them, -1 with an
 * exception. */
enum { OF_OTHERS = 2 };
int samples_of_array(PyObject *array, python_samples *out); /* of NumPy; 0 if it has a mask, or no numbers */
int samples_of_buffer(PyObject *object, python_samples *out);
int samples_of_exchange(PyObject *module, PyObject *object, python_samples *out);
int samples_of_cuda_array(PyObject *module, PyObject *object, python_samples *out);
int samples_of_dlpack(PyObject *object, python_samples *out);
int samples_of_arrow(PyObject *object, python_samples *out);
int samples_join_arrow(python_samples *s);

/* A column of numbers or bools that has Arrow's interface as a tuple of NumPy arrays: the values, in the column's
 * memory unless it has several chunks, and which of them are present, or None for all. None for all other objects. */
PyObject *samples_arrow_arrays(PyObject *module, PyObject *object);

/* Whether an object, or the first item of a list or tuple, says that it is in the memory of a GPU. */
bool samples_on_gpu(PyObject *module, PyObject *object);

/* The first of all[n] that is in the memory of a GPU, on whose stream all of them are ready afterwards; *found is NULL
 * if there is none. -1 with ValueError if others are elsewhere. */
int samples_meet(int n, const python_samples *const *all, const python_samples **found);
/* Wait for the stream of the first of all[n] in the memory of a GPU, if that of another could otherwise be given away,
 * or read, by its library before the work that was enqueued there is done with it. -1 with an exception. */
int samples_settle(int n, const python_samples *const *all);

/* The cudaStream_t on which a library works now on a GPU: that with this exchange API or, if it is NULL, that which
 * histo.devices finds. -1 with an exception. */
int samples_stream(PyObject *module, const struct dl_exchange *exchange, histo_device home, void **stream);

/* A mask of a fill; that of bits begins at this one. */
typedef struct fill_mask {
    histo_view view;
    int64_t offset;
} fill_mask;

/* The n bits from `offset` on as bytes of 0 or 1. */
void bits_expand(const unsigned char *bits, int64_t offset, int64_t n, unsigned char *bytes);

/* What all of masks[n], n > 0, keep, whose shapes are equal: one of them, or bytes that the caller frees with
 * PyMem_Free. -1 with an exception. */
int masks_join(int n, const fill_mask *masks, fill_mask *joined, void **bytes);

#endif
