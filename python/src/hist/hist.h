/* The type Hist, under the class Histogram of hist.py. */
#ifndef PYTHON_HIST_H
#define PYTHON_HIST_H

#include "hist/means.h"
#include "state/locked.h"

typedef struct hist {
    locked base;
    histo_hist *hist; /* NULL until it is made */
    int naxes;        /* 0 until it is made */
    bool weighted;
    atomic_bool on_gpu;                           /* a GPU may have counts, and be counting */
    atomic_int home;                              /* the GPU that has counted last */
    _Atomic(const struct dl_exchange *) exchange; /* of the library of what it has counted; NULL if that has none */
    int nbatch;
    int64_t batch[HISTO_MAX_DIMS];
    int taking;   /* how fill takes samples */
    means *means; /* what fills have added and is not in the sums; NULL before the first */
} hist;

/* TAKING_NUMBERS: as they are. TAKING_BY_PYTHON: Histogram._fill turns the samples of some axis into numbers.
 * TAKING_MEANS, TAKING_EXACT_MEANS: with the values whose means are kept. histo._histo has these constants. */
enum { TAKING_NUMBERS, TAKING_BY_PYTHON, TAKING_MEANS, TAKING_EXACT_MEANS };

/* What is read of the slots: histo._histo has these constants. */
enum { COUNTS, SUM_W, SUM_W2 };

/* The object with its lock taken; NULL with an exception if it was never made. Waits without the GIL, which the thread
 * that has the lock may need to release it. */
hist *hist_lock(PyObject *self);
/* Likewise, for what fills do not change: what they have added need not be in the histogram. */
hist *hist_lock_form(PyObject *self);
void hist_unlock(hist *h);

/* The locks of two objects, which may be one; -1 with an exception, such as TypeError if `other` is not a Hist. The
 * order is that of addresses, so that threads cannot wait for each other. */
int hist_lock_two(PyObject *self, PyObject *other);
void hist_unlock_two(PyObject *self, PyObject *other);

/* Whether a call that looks at all slots is to release the GIL. */
bool hist_takes_long(const hist *h);

/* Give the object a handle, which has no other owner. */
void hist_give(hist *h, histo_hist *handle);

/* An object of a class and of the batch of `h` with this handle, which it takes in any case. Its __init__ does not run.
 */
PyObject *hist_like(const hist *h, PyTypeObject *type, histo_hist *handle);

/* A new array of the shape of the batch and then shape[ndim], whose memory is in *data. */
PyObject *hist_new_array(const hist *h, histo_dtype dtype, int ndim, const int64_t *shape, void **data);

/* An array that the library has written: itself if the status is HISTO_OK, else NULL with an exception. */
PyObject *hist_written(PyObject *array, histo_status status);

/* The axis of a tuple (kind, closed, bins, lo, hi, power, edges), whose edges are None or a buffer of doubles that
 * `edges` keeps; -1 with an exception. */
int axis_take(PyObject *tuple, histo_axis *axis, Py_buffer *edges);
PyObject *axis_tuple(const histo_axis *axis);

/* Methods of Hist, in files of their own. */
PyObject *hist_fill(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *hist_fill_numbers(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
/* fill of means, or NULL without an exception if Histogram._fill is to normalise what is given. */
PyObject *hist_fill_means(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *hist_fill_values(PyObject *self, PyObject *args);
PyObject *hist_absorb(PyObject *self, PyObject *other);
PyObject *hist_regroup(PyObject *self, PyObject *args);
PyObject *hist_regrow(PyObject *self, PyObject *args);
PyObject *hist_write(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *hist_put(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *hist_load(PyObject *type, PyObject *const *args, Py_ssize_t nargs);
PyObject *hist_load_outline(PyObject *type, PyObject *const *args, Py_ssize_t nargs);
PyObject *hist_save(PyObject *self, PyObject *args);
PyObject *hist_take_texts(PyObject *self, PyObject *unused);
PyObject *hist_save_outline(PyObject *self, PyObject *flow);
PyObject *hist_quantiles(PyObject *self, PyObject *args);
PyObject *hist_summarize(PyObject *self, PyObject *unused);
PyObject *hist_split(PyObject *self, PyObject *args);
PyObject *hist_compare(PyObject *self, PyObject *args);
PyObject *hist_inform(PyObject *self, PyObject *unused);

/* Add the functions of axes, and the type, to the module; -1 with an exception. */
int axis_add(PyObject *module);
int hist_add(PyObject *module);

#endif
