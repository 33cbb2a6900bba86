/* Histograms of gradient boosting. A table of bins and the gradients of its rows are capsules: they outlive the calls
 * for the nodes of a tree, each of which is short. */
#include "boosting/boosting.h"

#include <math.h>

#include "samples/numpy_api.h"
#include "samples/samples.h"
#include "state/unlocked.h"

/* Calls that read fewer bins than this keep the GIL. */
enum { SHORT_CALL = 1 << 16 };

/* ---- Capsules ---- */

typedef struct table_of_bins {
    python_samples table; /* shape: rows, features */
    histo_features *features;
    int64_t width;  /* bins of each feature in results, of which the last ones may be empty */
    int64_t *first; /* bin of each feature in results */
} table_of_bins;

static const char name_of_table[] = "histo._histo.features", name_of_gradients[] = "histo._histo.gradients";

static void table_free(table_of_bins *t)
{
    histo_features_destroy(t->features);
    samples_release(&t->table);
    PyMem_Free(t->first);
    PyMem_Free(t);
}

static void table_drop(PyObject *capsule)
{
    table_free(PyCapsule_GetPointer(capsule, name_of_table));
}

static void gradients_drop(PyObject *capsule)
{
    histo_gradients_destroy(PyCapsule_GetPointer(capsule, name_of_gradients));
}

/* ---- Arguments ---- */

/* A view of one dimension, of a dtype that the library takes, which the caller has checked. */
static int take_line(PyObject *module, PyObject *object, python_samples *out)
{
    if (samples_take(module, object, out) < 0) return -1;
    if (out->view.ndim == 1) return 0;
    samples_release(out);
    PyErr_SetString(PyExc_ValueError, "gradients, hessians, rows and offsets have one dimension");
    return -1;
}

/* A contiguous array of NumPy with n elements of this type number; NULL with an exception. */
static void *numbers_of(PyObject *object, int type, int64_t n)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (PyArray_Check(object) && PyArray_TYPE(array) == type && PyArray_ISCARRAY_RO(array) && PyArray_SIZE(array) == n)
        return PyArray_DATA(array);
    PyErr_SetString(PyExc_TypeError, "this is not an array of that many numbers of that type");
    return NULL;
}

/* ---- Tables ---- */

static int table_make(table_of_bins *t, const int32_t *bins, bool by_rows, int threads)
{
    const int64_t features = t->table.view.shape[1];
    t->first = PyMem_Calloc((size_t)features + 1, sizeof *t->first);
    if (!t->first) return PyErr_NoMemory(), -1;
    for (int64_t f = 0; f < features; f++)
        t->first[f] = f * t->width;
    const histo_features_options options = {
        .by_rows = by_rows, .threads = threads, .stream = t->table.on_gpu ? t->table.stream : NULL};
    histo_status status;
    UNLOCKED(status, histo_features_create(&t->features, &t->table.view, bins, &options));
    return status == HISTO_OK ? 0 : (raise_status(status), -1);
}

/* features(table, bins, by_rows, threads) */
static PyObject *features(PyObject *module, PyObject *args)
{
    PyObject *array, *bins_of;
    int by_rows, threads;
    if (!PyArg_ParseTuple(args, "OOpi", &array, &bins_of, &by_rows, &threads) || numpy_import(module) < 0) return NULL;
    table_of_bins *t = PyMem_Calloc(1, sizeof *t);
    if (!t) return PyErr_NoMemory();
    const bool taken = samples_take(module, array, &t->table) == 0;
    if (taken && t->table.view.ndim != 2) PyErr_SetString(PyExc_ValueError, "bins has two dimensions: rows, features");
    const int32_t *bins = NULL;
    if (!PyErr_Occurred()) bins = numbers_of(bins_of, NPY_INT32, t->table.view.shape[1]);
    for (int64_t f = 0; bins && f < t->table.view.shape[1]; f++)
        if (bins[f] > t->width) t->width = bins[f];
    if (bins && table_make(t, bins, by_rows, threads) == 0) {
        PyObject *capsule = PyCapsule_New(t, name_of_table, table_drop);
        if (capsule) return capsule;
    }
    table_free(t);
    return NULL;
}

/* ---- Gradients ---- */

/* gradients(rows, weights) */
static PyObject *gradients(PyObject *module, PyObject *args)
{
    (void)module;
    long long rows;
    int weights;
    histo_gradients *g;
    if (!PyArg_ParseTuple(args, "Li", &rows, &weights)) return NULL;
    const histo_status status = histo_gradients_create(&g, rows, weights);
    if (status != HISTO_OK) return raise_status(status);
    PyObject *capsule = PyCapsule_New(g, name_of_gradients, gradients_drop);
    if (!capsule) histo_gradients_destroy(g);
    return capsule;
}

/* How many values are within `limit` of zero, but not zero. */
static int64_t count_small(const histo_view *v, float limit)
{
    if (v->dtype != HISTO_F32 || v->strides[0] != (int64_t)sizeof(float)) return 0;
    const float *values = v->data;
    int64_t small = 0;
    for (int64_t i = 0; i < v->shape[0]; i++)
        small += fabsf(values[i]) < limit && values[i] != 0.0F;
    return small;
}

/* Set both weights, or the only one. *small: see set_gradients. */
static histo_status set_weights(histo_gradients *g, const histo_view *values, int weights, double units, int64_t *small,
                                const histo_gradients_options *options)
{
    const histo_status status = histo_gradients_set(g, values, options);
    for (int w = 0; status == HISTO_OK && units > 0 && w < weights; w++) {
        const int64_t found = count_small(&values[w], (float)(units * histo_gradients_unit(g, w)));
        if (found > *small) *small = found;
    }
    return status;
}

/* set_gradients(gradients, values, hessians, units, threads) */
static PyObject *set_gradients(PyObject *module, PyObject *args)
{
    PyObject *capsule, *values_of, *hessians_of;
    double units;
    int threads;
    if (!PyArg_ParseTuple(args, "OOOdi", &capsule, &values_of, &hessians_of, &units, &threads)) return NULL;
    histo_gradients *g = PyCapsule_GetPointer(capsule, name_of_gradients);
    python_samples values = {0}, hessians = {0};
    int64_t nonfinite = 0, small = 0;
    bool taken = g && take_line(module, values_of, &values) == 0 &&
                 (hessians_of == Py_None || take_line(module, hessians_of, &hessians) == 0);
    const python_samples *both[] = {&values, &hessians}, *on_gpu = NULL;
    taken = taken && samples_meet(hessians.release ? 2 : 1, both, &on_gpu) == 0;
    if (taken) {
        const histo_gradients_options options = {
            .nonfinite = &nonfinite, .threads = threads, .stream = on_gpu ? on_gpu->stream : NULL};
        const histo_view views[] = {values.view, hessians.view};
        histo_status status;
        UNLOCKED(status, set_weights(g, views, hessians.release ? 2 : 1, units, &small, &options));
        taken = status == HISTO_OK || raise_status(status);
    }
    samples_release(&hessians);
    samples_release(&values);
    return taken ? Py_BuildValue("LL", (long long)nonfinite, (long long)small) : NULL;
}

/* ---- Nodes ---- */

/* Where the fields of a bin are in the memory of results. */
typedef struct bin_layout {
    int gradients, hessians, count; /* offsets in bytes */
    int size;
    int count_is_double;
} bin_layout;

/* The memory of an array with this many bins; NULL with an exception. */
static char *memory_of(PyObject *object, int64_t bins, const bin_layout *layout)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (PyArray_Check(object) && PyArray_IS_C_CONTIGUOUS(array) && PyArray_ISWRITEABLE(array) &&
        PyArray_NBYTES(array) == bins * layout->size)
        return PyArray_BYTES(array);
    PyErr_SetString(PyExc_ValueError, "out must be a C-contiguous array that can be written, of the histograms' size");
    return NULL;
}

/* The sums that are in memory with this layout. */
static histo_node_sums sums_in(char *memory, const bin_layout *l)
{
    return (histo_node_sums){
        .sums = {memory + l->gradients, l->hessians < 0 ? NULL : memory + l->hessians},
        .counts = memory + l->count,
        .count_dtype = l->count_is_double ? HISTO_F64 : HISTO_U32,
        .bin_stride = l->size,
    };
}

/* Whether a view is of n contiguous numbers. */
static bool is_plain(const histo_view *view, histo_dtype dtype, int64_t n)
{
    int64_t stride = (int64_t)histo_dtype_size(dtype);
    for (int d = view->ndim - 1; d >= 0; stride *= view->shape[d--])
        if (view->shape[d] > 1 && view->strides[d] != stride) return false;
    return view->dtype == dtype && stride == n * (int64_t)histo_dtype_size(dtype);
}

/* The memory of an array of doubles on a GPU, with this many bins; NULL with an exception. */
static char *memory_there(PyObject *module, PyObject *object, int64_t bins, const bin_layout *layout,
                          python_samples *out)
{
    if (samples_take_writable(module, object, out) < 0) return NULL;
    if (is_plain(&out->view, HISTO_F64, bins * layout->size / (int64_t)sizeof(double))) return (char *)out->view.data;
    PyErr_SetString(PyExc_ValueError, "out must be C-contiguous float64 of the histograms' size");
    return NULL;
}

typedef struct node_operands {
    python_samples rows, offsets, out; /* offsets and out: in the memory of a GPU */
    histo_node_options options;
    histo_node_sums to;
} node_operands;

static int operands_take(PyObject *module, const table_of_bins *t, PyObject *rows, PyObject *offsets,
                         PyObject *selected, PyObject *out, const bin_layout *layout, node_operands *o)
{
    if (rows != Py_None) {
        if (take_line(module, rows, &o->rows) < 0) return -1;
        o->options.rows = &o->rows.view;
    }
    o->options.nodes = 1;
    if (offsets != Py_None && !PyArray_Check(offsets)) {
        if (take_line(module, offsets, &o->offsets) < 0) return -1;
        if (!is_plain(&o->offsets.view, HISTO_I64, o->offsets.view.shape[0])) {
            PyErr_SetString(PyExc_ValueError, "offsets must be contiguous int64");
            return -1;
        }
        o->options.nodes = o->offsets.view.shape[0] - 1;
        o->options.offsets = o->offsets.view.data;
    } else if (offsets != Py_None) {
        o->options.nodes = PyArray_Check(offsets) ? PyArray_SIZE((PyArrayObject *)offsets) - 1 : 0;
        o->options.offsets = numbers_of(offsets, NPY_INT64, o->options.nodes + 1);
        if (!o->options.offsets) return -1;
    }
    if (selected != Py_None) {
        o->options.selected_count = PyArray_Check(selected) ? (int32_t)PyArray_SIZE((PyArrayObject *)selected) : 0;
        o->options.selected = numbers_of(selected, NPY_INT32, o->options.selected_count);
        if (!o->options.selected) return -1;
    }
    const int64_t bins = t->table.view.shape[1] * t->width;
    const int64_t all = o->options.nodes * bins;
    char *memory = PyArray_Check(out) ? memory_of(out, all, layout) : memory_there(module, out, all, layout, &o->out);
    if (!memory) return -1;
    o->to = sums_in(memory, layout);
    o->to.node_stride = bins * layout->size;
    o->to.first = t->first;
    return 0;
}

/* Have what is in the memory of a GPU ready on one stream, that of the fill. */
static int operands_meet(node_operands *o)
{
    const python_samples *all[3], *on_gpu;
    int n = 0;
    if (o->rows.release) all[n++] = &o->rows;
    if (o->offsets.release) all[n++] = &o->offsets;
    if (o->out.release) all[n++] = &o->out;
    if (samples_meet(n, all, &on_gpu) < 0) return -1;
    if (on_gpu) o->options.stream = on_gpu->stream;
    return 0;
}

/* Fill; on a GPU, wait for it, since only then it is known whether all rows exist. */
static histo_status fill_and_wait(const table_of_bins *t, const histo_gradients *g, const node_operands *o)
{
    const histo_status status = histo_features_fill(t->features, g, &o->options, &o->to);
    return status == HISTO_OK ? histo_features_wait(t->features) : status;
}

/* fill_nodes(features, gradients, rows, offsets, selected, out, layout, threads) */
static PyObject *fill_nodes(PyObject *module, PyObject *args)
{
    PyObject *features_of, *gradients_of, *rows, *offsets, *selected, *out;
    bin_layout l;
    node_operands o = {0};
    if (!PyArg_ParseTuple(args, "OOOOOO(iiiii)i", &features_of, &gradients_of, &rows, &offsets, &selected, &out,
                          &l.gradients, &l.hessians, &l.count, &l.size, &l.count_is_double, &o.options.threads))
        return NULL;
    const table_of_bins *t = PyCapsule_GetPointer(features_of, name_of_table);
    const histo_gradients *g = t ? PyCapsule_GetPointer(gradients_of, name_of_gradients) : NULL;
    PyObject *result = NULL;
    if (g && operands_take(module, t, rows, offsets, selected, out, &l, &o) == 0 && operands_meet(&o) == 0) {
        const histo_view *table = &t->table.view;
        const int64_t count = o.options.rows ? o.rows.view.shape[0] : table->shape[0];
        histo_status status;
        UNLOCKED_IF(count * table->shape[1] >= SHORT_CALL || o.out.on_gpu, status, fill_and_wait(t, g, &o));
        result = none_if_ok(status);
    }
    samples_release(&o.out);
    samples_release(&o.offsets);
    samples_release(&o.rows);
    return result;
}

/* subtract_nodes(parent, child, nodes, layout) */
static PyObject *subtract_nodes(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *parent_of, *child_of;
    long long nodes;
    bin_layout l;
    if (!PyArg_ParseTuple(args, "OOL(iiiii)", &parent_of, &child_of, &nodes, &l.gradients, &l.hessians, &l.count,
                          &l.size, &l.count_is_double))
        return NULL;
    const int64_t bins = PyArray_Check(parent_of) ? PyArray_NBYTES((PyArrayObject *)parent_of) / l.size : 0;
    char *parent = memory_of(parent_of, bins, &l), *child = parent ? memory_of(child_of, bins, &l) : NULL;
    if (!child) return NULL;
    const histo_node_sums from = sums_in(parent, &l), less = sums_in(child, &l);
    histo_status status;
    UNLOCKED_IF(bins >= SHORT_CALL, status, histo_node_sums_subtract(&from, &less, nodes, nodes ? bins / nodes : 0));
    return none_if_ok(status);
}

/* subtract_node(features, parent, child, selected, layout) */
static PyObject *subtract_node(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *features_of, *parent_of, *child_of, *selected_of;
    bin_layout l;
    if (!PyArg_ParseTuple(args, "OOOO(iiiii)", &features_of, &parent_of, &child_of, &selected_of, &l.gradients,
                          &l.hessians, &l.count, &l.size, &l.count_is_double))
        return NULL;
    const table_of_bins *t = PyCapsule_GetPointer(features_of, name_of_table);
    if (!t) return NULL;
    const int64_t all = t->table.view.shape[1];
    char *parent = memory_of(parent_of, all * t->width, &l);
    char *child = parent ? memory_of(child_of, all * t->width, &l) : NULL;
    if (!child) return NULL;
    const int64_t count = PyArray_Check(selected_of) ? PyArray_SIZE((PyArrayObject *)selected_of) : 0;
    const int32_t *selected = selected_of == Py_None ? NULL : numbers_of(selected_of, NPY_INT32, count);
    if (!selected && selected_of != Py_None) return NULL;
    const int64_t parts = selected ? count : 1, bins = selected ? t->width : all * t->width;
    for (int64_t k = 0; k < parts; k++) {
        if (selected && (selected[k] < 0 || selected[k] >= all))
            return PyErr_Format(PyExc_ValueError, "there is no feature %d", (int)selected[k]);
        const int64_t at = selected ? t->first[selected[k]] * l.size : 0;
        const histo_node_sums from = sums_in(parent + at, &l), less = sums_in(child + at, &l);
        const histo_status status = histo_node_sums_subtract(&from, &less, 1, bins);
        if (status != HISTO_OK) return raise_status(status);
    }
    return Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"features", features, METH_VARARGS,
     "features(table, bins, by_rows, threads)\n--\n\nA table of bins, of rows and features, which must not change. "
     "bins: "
     "how many each feature has, as int32. by_rows: keep a copy of the table by rows."},
    {"gradients", gradients, METH_VARARGS,
     "gradients(rows, weights)\n--\n\nRoom for the gradients of so many rows, and for their Hessians if there are two "
     "weights."},
    {"set_gradients", set_gradients, METH_VARARGS,
     "set_gradients(gradients, values, hessians, units, threads)\n--\n\nSet the gradients and Hessians, or None, of "
     "all "
     "rows. (rows with a value that is not finite, all of which count as 0; of contiguous float32, how many values are "
     "not zero and less than so many units, in the weight that has more of them)."},
    {"fill_nodes", fill_nodes, METH_VARARGS,
     "fill_nodes(features, gradients, rows, offsets, selected, out, layout, threads)\n--\n\nWrite the histograms of "
     "nodes "
     "into out. rows: None for all; offsets, as int64: of the rows of each node; None for one. selected: features, as "
     "int32, in increasing order; None for all. layout: the offsets of a bin's gradients, Hessians (-1 for none) and "
     "count, its size in bytes, and whether counts are float64 and not uint32."},
    {"subtract_nodes", subtract_nodes, METH_VARARGS,
     "subtract_nodes(parent, child, nodes, layout)\n--\n\nparent -= child, of so many nodes. layout: as in "
     "fill_nodes."},
    {"subtract_node", subtract_node, METH_VARARGS,
     "subtract_node(features, parent, child, selected, layout)\n--\n\nparent -= child, of one node. selected: "
     "features, "
     "as int32; None for all. layout: as in fill_nodes."},
    {0},
};

int boosting_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
