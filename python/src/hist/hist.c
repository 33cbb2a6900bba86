#include "hist/hist.h"

#include <string.h>

#include "functions/fill.h"
#include "samples/results.h"
#include "samples/samples.h"
#include "state/unlocked.h"

/* ---- The object ---- */

static void hist_dealloc(PyObject *self)
{
    histo_hist_destroy(((hist *)self)->hist);
    means_destroy(((hist *)self)->means);
    locked_free(self);
}

hist *hist_lock_form(PyObject *self)
{
    hist *h = (hist *)self;
    if (locked_take(&h->base) < 0) return NULL;
    if (h->hist) return h;
    locked_drop(&h->base);
    PyErr_SetString(PyExc_ValueError, "this histogram was never made: __init__ did not run");
    return NULL;
}

hist *hist_lock(PyObject *self)
{
    hist *h = hist_lock_form(self);
    if (!h || !h->means) return h;
    histo_status status;
    if (releases_gil(histo_hist_size(h->hist, HISTO_FLOW))) {
        Py_BEGIN_ALLOW_THREADS status = means_settle(h->means, h->hist);
        Py_END_ALLOW_THREADS
    } else {
        status = means_settle(h->means, h->hist);
    }
    if (status == HISTO_OK) return h;
    hist_unlock(h);
    raise_status(status);
    return NULL;
}

void hist_unlock(hist *h)
{
    locked_drop(&h->base);
}

int hist_lock_two(PyObject *self, PyObject *other)
{
    const int is = PyObject_IsInstance(other, (PyObject *)state_of_module(((hist *)self)->base.module)->hist_type);
    if (is == 0) PyErr_SetString(PyExc_TypeError, "the other operand is not a histogram");
    if (is != 1) return -1;
    PyObject *first = self < other ? self : other, *second = self < other ? other : self;
    if (!hist_lock(first)) return -1;
    if (first == second || hist_lock(second)) return 0;
    hist_unlock((hist *)first);
    return -1;
}

void hist_unlock_two(PyObject *self, PyObject *other)
{
    hist_unlock((hist *)self);
    if (other != self) hist_unlock((hist *)other);
}

bool hist_takes_long(const hist *h)
{
    return h->on_gpu || releases_gil(histo_hist_size(h->hist, HISTO_FLOW));
}

void hist_give(hist *h, histo_hist *handle)
{
    means_destroy(h->means);
    h->means = NULL;
    h->hist = handle;
    h->naxes = histo_hist_naxes(handle);
    h->weighted = histo_hist_weighting(handle) != HISTO_UNWEIGHTED;
}

PyObject *hist_like(const hist *h, PyTypeObject *type, histo_hist *handle)
{
    hist *made = (hist *)locked_new(type, NULL, NULL);
    if (!made) {
        histo_hist_destroy(handle);
        return NULL;
    }
    hist_give(made, handle);
    made->nbatch = h->nbatch;
    made->taking = h->taking;
    for (int d = 0; d < h->nbatch; d++)
        made->batch[d] = h->batch[d];
    return (PyObject *)made;
}

/* ---- Making ---- */

static int take_batch(hist *h, PyObject *tuple, int64_t *size)
{
    const Py_ssize_t n = PyTuple_Size(tuple);
    *size = 1;
    if (n < 0) return -1;
    if (n >= HISTO_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "a batch has at most %d dimensions", HISTO_MAX_DIMS - 1);
        return -1;
    }
    for (Py_ssize_t d = 0; d < n; d++) {
        h->batch[d] = PyLong_AsLongLong(PyTuple_GetItem(tuple, d));
        if (h->batch[d] == -1 && PyErr_Occurred()) return -1;
        if (h->batch[d] < 1 || *size > HISTO_MAX_SLOTS / h->batch[d]) {
            PyErr_SetString(PyExc_ValueError, "the batch is not a positive number of histograms that fits into memory");
            return -1;
        }
        *size *= h->batch[d];
    }
    h->nbatch = (int)n;
    return 0;
}

static PyObject *hist_make(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    hist *h = (hist *)self;
    if (nargs != 5) return PyErr_Format(PyExc_TypeError, "_make takes 5 arguments");
    if (h->hist) return PyErr_Format(PyExc_ValueError, "this histogram is made already");
    const Py_ssize_t naxes = PyTuple_Size(args[0]);
    if (naxes < 0) return NULL;
    if (naxes > HISTO_MAX_AXES)
        return PyErr_Format(PyExc_ValueError, "a histogram has at most %d axes", HISTO_MAX_AXES);
    histo_hist_options options = {.weighting = (histo_weighting)PyLong_AsLong(args[2]),
                                  .storage = (histo_storage)PyLong_AsLong(args[3])};
    const int taking = (int)PyLong_AsLong(args[4]);
    if (PyErr_Occurred() || take_batch(h, args[1], &options.batch) != 0) return NULL;
    histo_axis axes[HISTO_MAX_AXES];
    Py_buffer edges[HISTO_MAX_AXES] = {{0}};
    int taken = 0;
    for (Py_ssize_t a = 0; a < naxes && taken == 0; a++)
        taken = axis_take(PyTuple_GetItem(args[0], a), &axes[a], &edges[a]);
    histo_hist *handle = NULL;
    const histo_status status = taken == 0 ? histo_hist_create(&handle, (int)naxes, axes, &options) : HISTO_OK;
    for (Py_ssize_t a = 0; a < naxes; a++)
        PyBuffer_Release(&edges[a]);
    if (taken != 0) return NULL;
    if (status != HISTO_OK) return raise_status(status);
    hist_give(h, handle);
    h->taking = taking;
    return Py_NewRef(Py_None);
}

static bool same_form(const hist *a, const hist *b)
{
    return a->naxes == b->naxes && a->nbatch == b->nbatch &&
           memcmp(a->batch, b->batch, (size_t)a->nbatch * sizeof *a->batch) == 0;
}

/* Take the contents of another object, which is left without. An object that has contents already keeps its axes'
 * number and batch: a fill may be under way, whose samples have these. */
static PyObject *hist_take(PyObject *self, PyObject *other)
{
    hist *h = (hist *)self, *from = (hist *)other;
    if (self == other) return Py_NewRef(Py_None);
    if (PyObject_IsInstance(other, (PyObject *)state_of_module(h->base.module)->hist_type) != 1 || !hist_lock(other))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "this is not a histogram");
    if (h->naxes && !same_form(h, from)) {
        hist_unlock(from);
        return PyErr_Format(PyExc_ValueError, "this histogram is made already, with other axes or another batch");
    }
    histo_hist *handle = from->hist;
    from->hist = NULL;
    from->naxes = 0;
    hist_unlock(from);
    if (locked_take(&h->base) < 0) {
        histo_hist_destroy(handle);
        return NULL;
    }
    histo_hist *old = h->hist;
    hist_give(h, handle);
    h->taking = from->taking;
    h->nbatch = from->nbatch;
    for (int d = 0; d < from->nbatch; d++)
        h->batch[d] = from->batch[d];
    hist_unlock(h);
    histo_hist_destroy(old);
    return Py_NewRef(Py_None);
}

/* ---- What it is ---- */

static PyObject *hist_kind(PyObject *self, PyObject *unused)
{
    (void)unused;
    hist *h = hist_lock_form(self);
    if (!h) return NULL;
    const int weighting = (int)histo_hist_weighting(h->hist), storage = (int)histo_hist_storage(h->hist);
    hist_unlock(h);
    return Py_BuildValue("ii", weighting, storage);
}

static PyObject *hist_axis(PyObject *self, PyObject *number)
{
    const long a = PyLong_AsLong(number);
    if (a == -1 && PyErr_Occurred()) return NULL;
    hist *h = hist_lock_form(self);
    if (!h) return NULL;
    const histo_axis axis = a >= 0 && a < h->naxes ? histo_hist_axis(h->hist, (int)a) : (histo_axis){0};
    PyObject *tuple = axis.bins ? axis_tuple(&axis) : PyErr_Format(PyExc_IndexError, "axis %ld of %d", a, h->naxes);
    hist_unlock(h);
    return tuple;
}

static PyObject *hist_naxes(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromLong(((hist *)self)->naxes);
}

static PyObject *hist_batch(PyObject *self, PyObject *unused)
{
    (void)unused;
    const hist *h = (hist *)self;
    PyObject *batch = PyTuple_New(h->nbatch);
    for (int d = 0; batch && d < h->nbatch; d++) {
        PyObject *n = PyLong_FromLongLong(h->batch[d]);
        if (!n || PyTuple_SetItem(batch, d, n) != 0) Py_CLEAR(batch);
    }
    return batch;
}

/* Set the shape of the batch, and how fill takes samples. */
static PyObject *hist_dress(PyObject *self, PyObject *args)
{
    PyObject *tuple;
    int taking;
    hist *h = (hist *)self, other = *h;
    int64_t size;
    if (!PyArg_ParseTuple(args, "Oi", &tuple, &taking) || take_batch(&other, tuple, &size) != 0) return NULL;
    if (!hist_lock_form(self)) return NULL;
    const bool fits = size == histo_hist_batch(h->hist);
    if (fits) {
        h->taking = taking;
        h->nbatch = other.nbatch;
    }
    for (int d = 0; fits && d < other.nbatch; d++)
        h->batch[d] = other.batch[d];
    hist_unlock(h);
    return fits ? Py_NewRef(Py_None) : PyErr_Format(PyExc_ValueError, "the batch has another number of histograms");
}

static PyObject *numbers(const uint64_t *values, int n)
{
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple && i < n; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(values[i]);
        if (!number || PyTuple_SetItem(tuple, i, number) != 0) Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *hist_tally(PyObject *self, PyObject *unused)
{
    (void)unused;
    hist *h = hist_lock(self);
    if (!h) return NULL;
    histo_tally t;
    const int naxes = histo_hist_naxes(h->hist);
    histo_status status;
    UNLOCKED_IF(hist_takes_long(h), status, histo_hist_tally(h->hist, &t));
    hist_unlock(h);
    if (status != HISTO_OK) return raise_status(status);
    return Py_BuildValue("KKKKNNN", (unsigned long long)t.samples, (unsigned long long)t.masked,
                         (unsigned long long)t.bins, (unsigned long long)t.flow, numbers(t.under, naxes),
                         numbers(t.over, naxes), numbers(t.nan, naxes));
}

static PyObject *explanation_of(const histo_plan *plan)
{
    const size_t length = histo_plan_explain(plan, NULL, 0);
    char *text = PyMem_Malloc(length + 1);
    if (!text) return PyErr_NoMemory();
    histo_plan_explain(plan, text, length + 1);
    PyObject *result = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
    PyMem_Free(text);
    return result;
}

/* (strategy, threads, explanation) of the plan of the last fill, or None. */
static PyObject *plan_of(PyObject *self, PyObject *unused)
{
    (void)unused;
    hist *h = hist_lock(self);
    if (!h) return NULL;
    const histo_plan *plan = histo_hist_last_plan(h->hist);
    PyObject *result =
        plan ? Py_BuildValue("siN", histo_plan_strategy(plan), histo_plan_threads(plan), explanation_of(plan))
             : Py_NewRef(Py_None);
    hist_unlock(h);
    return result;
}

/* ---- Reading and writing ---- */

PyObject *hist_new_array(const hist *h, histo_dtype dtype, int ndim, const int64_t *shape, void **data)
{
    int64_t all[2 * HISTO_MAX_DIMS];
    for (int d = 0; d < h->nbatch; d++)
        all[d] = h->batch[d];
    for (int d = 0; d < ndim; d++)
        all[h->nbatch + d] = shape[d];
    return result_new(h->base.module, dtype, h->nbatch + ndim, all, data);
}

PyObject *hist_written(PyObject *array, histo_status status)
{
    if (status == HISTO_OK) return array;
    Py_XDECREF(array);
    return raise_status(status);
}

static PyObject *slots_array(const hist *h, histo_slots slots, histo_dtype dtype, void **data)
{
    int64_t shape[HISTO_MAX_AXES];
    const int naxes = histo_hist_naxes(h->hist);
    for (int a = 0; a < naxes; a++)
        shape[a] = histo_hist_axis(h->hist, a).bins + (slots == HISTO_FLOW ? 3 : 0);
    return hist_new_array(h, dtype, naxes, shape, data);
}

/* NumPy's users expect counts of int64. */
static histo_status check_signed(const uint64_t *counts, int64_t n)
{
    uint64_t any = 0;
    for (int64_t i = 0; i < n; i++)
        any |= counts[i];
    return any >> 63 ? histo_set_error(HISTO_INVALID, "a count is beyond 2^63 - 1, the largest int64") : HISTO_OK;
}

static histo_status read_slots(const hist *h, int what, histo_slots slots, void *data, int64_t size)
{
    if (what == COUNTS) {
        const histo_status status = histo_hist_read_counts(h->hist, slots, data, size, NULL);
        return status == HISTO_OK ? check_signed(data, size) : status;
    }
    return histo_hist_read_weights(h->hist, slots, what == SUM_W ? data : NULL, what == SUM_W2 ? data : NULL, size,
                                   NULL);
}

/* Whether a view has the shape of what is read, in C order. */
static bool is_like_read(const hist *h, histo_slots slots, const histo_view *v)
{
    const int naxes = histo_hist_naxes(h->hist);
    bool is = v->ndim == h->nbatch + naxes;
    int64_t stride = (int64_t)histo_dtype_size(v->dtype);
    for (int d = v->ndim - 1; d >= 0 && is; d--) {
        const int64_t n =
            d < h->nbatch ? h->batch[d] : histo_hist_axis(h->hist, d - h->nbatch).bins + (slots == HISTO_FLOW ? 3 : 0);
        is = v->shape[d] == n && (v->strides[d] == stride || n == 1);
        stride *= n;
    }
    return is;
}

static histo_status read_into(const hist *h, int what, histo_slots slots, const python_samples *out)
{
    const histo_view *v = &out->view;
    void *data = (void *)v->data;
    const int64_t size = histo_hist_size(h->hist, slots);
    const histo_read_options options = {.dtype = v->dtype == HISTO_I64 ? HISTO_U64 : v->dtype, .stream = out->stream};
    if (what == COUNTS) {
        const histo_status status = histo_hist_read_counts(h->hist, slots, data, size, &options);
        const bool here = status == HISTO_OK && v->dtype == HISTO_I64 && histo_memory_device(data) == HISTO_DEVICE_CPU;
        return here ? check_signed(data, size) : status;
    }
    return histo_hist_read_weights(h->hist, slots, what == SUM_W ? data : NULL, what == SUM_W2 ? data : NULL, size,
                                   &options);
}

/* _read_into(what, flow, array) */
static PyObject *hist_read_into(PyObject *self, PyObject *args)
{
    int what, flow;
    PyObject *array;
    python_samples out;
    if (!PyArg_ParseTuple(args, "ipO", &what, &flow, &array)) return NULL;
    if (samples_take_writable(((hist *)self)->base.module, array, &out) < 0) return NULL;
    hist *h = hist_lock(self);
    histo_status status = HISTO_INVALID;
    const histo_slots slots = flow ? HISTO_FLOW : HISTO_BINS;
    const bool fits = h && is_like_read(h, slots, &out.view);
    if (fits) {
        UNLOCKED(status, read_into(h, what, slots, &out));
    }
    if (h) hist_unlock(h);
    const python_samples *const all[] = {&out};
    int done = h ? 0 : -1;
    if (h && !fits) {
        PyErr_SetString(PyExc_ValueError, "out must have the shape of the result, in C order");
        done = -1;
    } else if (h && status != HISTO_OK) {
        raise_status(status);
        done = -1;
    } else if (h) {
        done = samples_settle(1, all);
    }
    samples_release(&out);
    return done == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyObject *hist_read(PyObject *self, PyObject *args)
{
    int what, flow;
    if (!PyArg_ParseTuple(args, "ip", &what, &flow)) return NULL;
    hist *h = hist_lock(self);
    if (!h) return NULL;
    const histo_slots slots = flow ? HISTO_FLOW : HISTO_BINS;
    const int64_t size = histo_hist_size(h->hist, slots);
    void *data;
    histo_status status = HISTO_OK;
    PyObject *array = slots_array(h, slots, what == COUNTS ? HISTO_I64 : HISTO_F64, &data);
    if (array) UNLOCKED_IF(hist_takes_long(h), status, read_slots(h, what, slots, data, size));
    hist_unlock(h);
    return array ? hist_written(array, status) : NULL;
}

typedef struct cell_values {
    uint64_t count;
    double sum_w, sum_w2;
} cell_values;

/* Add the slots of a cell, which are two on each axis where it is in the overflow: that, and NaN. */
static void add_slots(const hist *h, const int64_t *bins, const uint64_t *counts, const double *const sums[2],
                      cell_values *to)
{
    int64_t first = 0, stride = 1, to_nan[HISTO_MAX_AXES];
    int over = 0;
    for (int a = h->naxes - 1; a >= 0; a--) {
        const int64_t n = histo_hist_axis(h->hist, a).bins;
        first += (bins[a] + 1) * stride;
        if (bins[a] == n) to_nan[over++] = stride;
        stride *= n + 3;
    }
    for (unsigned set = 0; set < 1U << over; set++) {
        int64_t slot = first;
        for (int i = 0; i < over; i++)
            slot += set >> i & 1 ? to_nan[i] : 0;
        to->count += counts[slot];
        if (sums[0]) to->sum_w += sums[0][slot];
        if (sums[1]) to->sum_w2 += sums[1][slot];
    }
}

static int take_bins(const hist *h, PyObject *tuple, int64_t *bins)
{
    bool fits = PyTuple_Size(tuple) == h->naxes;
    for (int a = 0; fits && a < h->naxes; a++) {
        bins[a] = PyLong_AsLongLong(PyTuple_GetItem(tuple, a));
        fits = bins[a] >= -1 && bins[a] <= histo_hist_axis(h->hist, a).bins;
    }
    if (!fits && !PyErr_Occurred()) PyErr_SetString(PyExc_IndexError, "no such bin");
    return fits ? 0 : -1;
}

/* (count, sum of weights, of their squares) of a cell, -1 being underflow, of a histogram without a batch. None if the
 * histogram keeps them otherwise than as numbers. */
static PyObject *hist_cell(PyObject *self, PyObject *tuple)
{
    hist *h = hist_lock(self);
    if (!h) return NULL;
    int64_t bins[HISTO_MAX_AXES];
    const uint64_t *counts;
    const double *sums[2] = {NULL, NULL};
    cell_values c = {0};
    const int taken = take_bins(h, tuple, bins);
    const bool has = taken == 0 && !h->nbatch && histo_hist_storage(h->hist) == HISTO_DENSE;
    const histo_status status = has ? histo_hist_borrow(h->hist, &counts, &sums[0], &sums[1]) : HISTO_OK;
    const bool readable = has && status == HISTO_OK && (sums[0] || !h->weighted);
    if (readable) add_slots(h, bins, counts, sums, &c);
    hist_unlock(h);
    if (taken != 0) return NULL;
    if (status != HISTO_OK) return raise_status(status);
    return readable ? Py_BuildValue("Kdd", (unsigned long long)c.count, c.sum_w, c.sum_w2) : Py_NewRef(Py_None);
}

/* (index, counts) of the entries that are not zero. */
static PyObject *hist_occupied(PyObject *self, PyObject *flow)
{
    const histo_slots slots = PyObject_IsTrue(flow) == 1 ? HISTO_FLOW : HISTO_BINS;
    hist *h = hist_lock(self);
    if (!h) return NULL;
    int64_t size = 0;
    void *index = NULL, *counts = NULL;
    PyObject *arrays[2] = {NULL, NULL};
    histo_status status;
    UNLOCKED_IF(hist_takes_long(h), status, histo_hist_occupied(h->hist, slots, &size));
    if (status == HISTO_OK) {
        arrays[0] = result_new(h->base.module, HISTO_I64, 1, &size, &index);
        arrays[1] = arrays[0] ? result_new(h->base.module, HISTO_I64, 1, &size, &counts) : NULL;
        if (arrays[1])
            UNLOCKED_IF(hist_takes_long(h), status, histo_hist_read_occupied(h->hist, slots, index, counts, size));
    }
    hist_unlock(h);
    if (arrays[1] && status == HISTO_OK) return Py_BuildValue("NN", arrays[0], arrays[1]);
    Py_XDECREF(arrays[0]);
    Py_XDECREF(arrays[1]);
    return status == HISTO_OK ? NULL : raise_status(status);
}

static PyObject *hist_masked(PyObject *self, PyObject *unused)
{
    (void)unused;
    hist *h = hist_lock(self);
    if (!h) return NULL;
    void *data;
    histo_status status = HISTO_OK;
    PyObject *array = hist_new_array(h, HISTO_I64, 0, NULL, &data);
    if (array) status = histo_hist_read_masked(h->hist, data, histo_hist_batch(h->hist));
    hist_unlock(h);
    return array ? hist_written(array, status) : NULL;
}

static PyObject *hist_reset(PyObject *self, PyObject *unused)
{
    (void)unused;
    hist *h = hist_lock(self);
    if (!h) return NULL;
    const histo_status status = histo_hist_reset(h->hist, NULL);
    hist_unlock(h);
    return status == HISTO_OK ? Py_NewRef(self) : raise_status(status);
}

/* ---- Histograms from histograms ---- */

static histo_status merge(histo_hist *to, const histo_hist *from)
{
    histo_hist *twin = NULL;
    histo_status status = from == to ? histo_hist_clone(to, &twin) : HISTO_OK;
    if (status == HISTO_OK) status = histo_hist_merge(to, twin ? twin : from);
    histo_hist_destroy(twin);
    return status;
}

static PyObject *hist_merge(PyObject *self, PyObject *other)
{
    if (hist_lock_two(self, other) != 0) return NULL;
    histo_status status;
    UNLOCKED_IF(hist_takes_long((hist *)self), status, merge(((hist *)self)->hist, ((hist *)other)->hist));
    hist_unlock_two(self, other);
    return none_if_ok(status);
}

static PyObject *hist_subtract(PyObject *self, PyObject *other)
{
    if (hist_lock_two(self, other) != 0) return NULL;
    histo_status status;
    UNLOCKED_IF(hist_takes_long((hist *)self), status,
                histo_hist_subtract(((hist *)self)->hist, ((hist *)other)->hist));
    hist_unlock_two(self, other);
    return none_if_ok(status);
}

static PyObject *hist_scale(PyObject *self, PyObject *number)
{
    const double factor = PyFloat_AsDouble(number);
    if (factor == -1 && PyErr_Occurred()) return NULL;
    hist *h = hist_lock(self);
    if (!h) return NULL;
    histo_status status;
    UNLOCKED_IF(hist_takes_long(h), status, histo_hist_scale(h->hist, factor));
    hist_unlock(h);
    return none_if_ok(status);
}

static PyObject *hist_equal(PyObject *self, PyObject *other)
{
    if (hist_lock_two(self, other) != 0) return NULL;
    bool equal = false;
    histo_status status;
    UNLOCKED_IF(hist_takes_long((hist *)self), status,
                histo_hist_equal(((hist *)self)->hist, ((hist *)other)->hist, &equal));
    hist_unlock_two(self, other);
    return status == HISTO_OK ? PyBool_FromLong(equal) : raise_status(status);
}

static PyObject *made(const hist *h, histo_status status, histo_hist *handle)
{
    return status == HISTO_OK ? hist_like(h, Py_TYPE((PyObject *)h), handle) : raise_status(status);
}

static PyObject *hist_clone(PyObject *self, PyObject *unused)
{
    (void)unused;
    hist *h = hist_lock(self);
    if (!h) return NULL;
    histo_hist *handle = NULL;
    histo_status status;
    UNLOCKED_IF(hist_takes_long(h), status, histo_hist_clone(h->hist, &handle));
    hist_unlock(h);
    return made(h, status, handle);
}

static PyObject *hist_rebin(PyObject *self, PyObject *args)
{
    int axis;
    long long factor;
    if (!PyArg_ParseTuple(args, "iL", &axis, &factor)) return NULL;
    hist *h = hist_lock(self);
    if (!h) return NULL;
    histo_hist *handle = NULL;
    histo_status status;
    UNLOCKED_IF(hist_takes_long(h), status, histo_hist_rebin(h->hist, axis, factor, &handle));
    hist_unlock(h);
    return made(h, status, handle);
}

static PyObject *hist_slice(PyObject *self, PyObject *args)
{
    int axis;
    long long begin, end;
    if (!PyArg_ParseTuple(args, "iLL", &axis, &begin, &end)) return NULL;
    hist *h = hist_lock(self);
    if (!h) return NULL;
    histo_hist *handle = NULL;
    histo_status status;
    UNLOCKED_IF(hist_takes_long(h), status, histo_hist_slice(h->hist, axis, begin, end, &handle));
    hist_unlock(h);
    return made(h, status, handle);
}

/* ---- The type ---- */

static PyMethodDef methods[] = {
    {"fill", (PyCFunction)(void (*)(void))hist_fill, METH_FASTCALL | METH_KEYWORDS,
     "fill($self, *arrays, weight=None, mask=None, where=None, sample=None, threads=None, **named)\n--\n\n"
     "Count samples and return the histogram.\n\n"
     "Parameters\n"
     "----------\n"
     "*arrays : array_like\n"
     "    The samples of each axis, by position or by the axis' name: NumPy arrays, or objects with the buffer\n"
     "    protocol, DLPack or the Arrow interface, of any shape and dtype. They are not copied. All arrays, scalars\n"
     "    included, are broadcast together. The first dimensions are those of the histogram's batch. Dask arrays and\n"
     "    columns are counted block by block, at once.\n"
     "weight : array_like, optional\n"
     "    A weight for each sample. A histogram made without storage= keeps sums of weights from then on.\n"
     "mask : array_like, optional\n"
     "    Samples where it is zero are left out, and counted in the tally. The masks of masked arrays, whether "
     "samples,\n"
     "    weights or others, have the same effect.\n"
     "where : (array_like, float, float), optional\n"
     "    With (x, lo, hi), count only samples with lo <= x <= hi.\n"
     "sample : array_like, optional\n"
     "    The values whose means storage=\"mean\" and \"weighted_mean\" keep, one for each sample. They are added as\n"
     "    doubles.\n"
     "threads : int, optional\n"
     "    The number of threads; by default, all CPUs if there are enough samples.\n"
     "**named : array_like\n"
     "    The samples of axes, by their names.\n\n"
     "Returns\n"
     "-------\n"
     "The histogram itself.\n\n"
     "Notes\n"
     "-----\n"
     "Several threads may fill one histogram: one counts at a time. A signal such as Ctrl-C interrupts a long fill;\n"
     "what it has counted until then stays."},
    {"_fill_values", hist_fill_values, METH_VARARGS, NULL},
    {"_absorb", hist_absorb, METH_O, NULL},
    {"_fill_numbers", (PyCFunction)(void (*)(void))hist_fill_numbers, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"_make", (PyCFunction)(void (*)(void))hist_make, METH_FASTCALL, NULL},
    {"_load", (PyCFunction)(void (*)(void))hist_load, METH_FASTCALL | METH_CLASS, NULL},
    {"_load_outline", (PyCFunction)(void (*)(void))hist_load_outline, METH_FASTCALL | METH_CLASS, NULL},
    {"_take", hist_take, METH_O, NULL},
    {"_kind", hist_kind, METH_NOARGS, NULL},
    {"_axis", hist_axis, METH_O, NULL},
    {"_naxes", hist_naxes, METH_NOARGS, NULL},
    {"_batch", hist_batch, METH_NOARGS, NULL},
    {"_dress", hist_dress, METH_VARARGS, NULL},
    {"_tally", hist_tally, METH_NOARGS, NULL},
    {"_plan", plan_of, METH_NOARGS, NULL},
    {"_read_into", hist_read_into, METH_VARARGS, NULL},
    {"_read", hist_read, METH_VARARGS, NULL},
    {"_cell", hist_cell, METH_O, NULL},
    {"_occupied", hist_occupied, METH_O, NULL},
    {"_write", (PyCFunction)(void (*)(void))hist_write, METH_FASTCALL, NULL},
    {"_put", (PyCFunction)(void (*)(void))hist_put, METH_FASTCALL, NULL},
    {"_regroup", hist_regroup, METH_VARARGS, NULL},
    {"_regrow", hist_regrow, METH_VARARGS, NULL},
    {"_exclusively", (PyCFunction)(void (*)(void))locked_call, METH_VARARGS | METH_KEYWORDS, NULL},
    {"_masked", hist_masked, METH_NOARGS, NULL},
    {"reset", hist_reset, METH_NOARGS,
     "reset($self)\n--\n\nSet all counts and sums to zero, and return the histogram."},
    {"_save", hist_save, METH_VARARGS, NULL},
    {"_take_texts", hist_take_texts, METH_NOARGS, NULL},
    {"_save_outline", hist_save_outline, METH_O, NULL},
    {"_merge", hist_merge, METH_O, NULL},
    {"_subtract_counts", hist_subtract, METH_O, NULL},
    {"_scale", hist_scale, METH_O, NULL},
    {"_equal", hist_equal, METH_O, NULL},
    {"_clone", hist_clone, METH_NOARGS, NULL},
    {"_rebin", hist_rebin, METH_VARARGS, NULL},
    {"_slice", hist_slice, METH_VARARGS, NULL},
    {"_quantiles", hist_quantiles, METH_VARARGS, NULL},
    {"_summarize", hist_summarize, METH_NOARGS, NULL},
    {"_split", hist_split, METH_VARARGS, NULL},
    {"_compare", hist_compare, METH_VARARGS, NULL},
    {"_inform", hist_inform, METH_NOARGS, NULL},
    {0},
};

int hist_add(PyObject *module)
{
    PyTypeObject *type = locked_add_type(module, "histo._histo.Hist", sizeof(hist), hist_dealloc, methods);
    state_of_module(module)->hist_type = type;
    return type ? axis_add(module) : -1;
}
