/* Functions of the module: what histo/functions.py is made of. */
#include "axes.h"
#include "fill.h"
#include "results.h"
#include "samples.h"

#include <math.h>

static PyObject *version(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(histo_version());
}

/* The operands of a count, and what Python has to keep for them. */
typedef struct operands {
    int naxes;
    histo_axis axes[HISTO_MAX_AXES];
    double *edges[HISTO_MAX_AXES];
    samples samples[HISTO_MAX_AXES], weights, mask;
    histo_view views[HISTO_MAX_AXES];
} operands;

static void operands_release(operands *o)
{
    for (int a = 0; a < o->naxes; a++) {
        PyMem_Free(o->edges[a]);
        samples_release(&o->samples[a]);
    }
    samples_release(&o->weights);
    samples_release(&o->mask);
}

static int take_or_none(PyObject *module, PyObject *object, int batch_ndim, samples *out)
{
    if (object == Py_None) return 0;
    if (samples_take(module, object, out) < 0) return -1;
    out->view.batch_ndim = batch_ndim;
    return 0;
}

static int operands_take(PyObject *module, PyObject *arrays, PyObject *axes, PyObject *weights, PyObject *mask,
                         int batch_ndim, operands *o)
{
    *o = (operands){.naxes = (int)PyTuple_Size(axes)};
    if (o->naxes < 1 || o->naxes > HISTO_MAX_AXES || PyTuple_Size(arrays) != o->naxes) {
        o->naxes = 0;
        PyErr_Format(PyExc_ValueError, "a histogram has 1 to %d axes, and an array of samples for each",
                     HISTO_MAX_AXES);
        return -1;
    }
    for (int a = 0; a < o->naxes; a++) {
        if (samples_take(module, PyTuple_GetItem(arrays, a), &o->samples[a]) < 0) return -1;
        if (axis_of(module, PyTuple_GetItem(axes, a), &o->axes[a], &o->edges[a]) < 0) return -1;
        o->views[a] = o->samples[a].view;
        o->views[a].batch_ndim = batch_ndim;
    }
    if (batch_ndim > o->views[0].ndim) {
        PyErr_SetString(PyExc_ValueError, "there are more batch dimensions than dimensions");
        return -1;
    }
    if (take_or_none(module, weights, batch_ndim, &o->weights) < 0) return -1;
    return take_or_none(module, mask, batch_ndim, &o->mask);
}

/* The counts or sums of a histogram, of the shape of its batch dimensions and axes. */
static PyObject *result_of(PyObject *module, histo_hist *hist, const histo_view *view, bool flow, bool weighted)
{
    const histo_slots slots = flow ? HISTO_FLOW : HISTO_BINS;
    int64_t shape[2 * HISTO_MAX_DIMS];
    int ndim = 0;
    for (; ndim < view->batch_ndim; ndim++)
        shape[ndim] = view->shape[ndim];
    for (int a = 0; a < histo_hist_naxes(hist); a++)
        shape[ndim++] = histo_hist_axis(hist, a).bins + (flow ? 3 : 0);
    void *data;
    PyObject *result = result_new(module, weighted ? HISTO_F64 : HISTO_I64, ndim, shape, &data);
    if (!result) return NULL;
    const int64_t size = histo_hist_size(hist, slots);
    const histo_status status = weighted ? histo_hist_read_weights(hist, slots, data, NULL, size, NULL)
                                         : histo_hist_read_counts(hist, slots, data, size, NULL);
    if (status == HISTO_OK) return result;
    Py_DECREF(result);
    return raise_status(status);
}

static PyObject *count_operands(PyObject *module, const operands *o, bool flow, const histo_plan_options *plan)
{
    const bool weighted = o->weights.release != NULL;
    histo_hist_options options = {.batch = 1, .weighting = weighted ? HISTO_WEIGHT_FAST_SUM : HISTO_UNWEIGHTED};
    for (int d = 0; d < o->views[0].batch_ndim; d++)
        options.batch *= o->views[0].shape[d];
    histo_hist *hist;
    const histo_status status = histo_hist_create(&hist, o->naxes, o->axes, &options);
    if (status != HISTO_OK) return raise_status(status);
    const histo_fill_options with = {.weights = weighted ? &o->weights.view : NULL,
                                     .mask = o->mask.release ? &o->mask.view : NULL};
    const bool planned = plan->threads || plan->device;
    PyObject *result = NULL;
    if (fill(hist, o->naxes, o->views, &with, planned ? plan : NULL) == 0)
        result = result_of(module, hist, &o->views[0], flow, weighted);
    histo_hist_destroy(hist);
    return result;
}

static PyObject *count(PyObject *module, PyObject *args)
{
    PyObject *arrays, *axes, *weights, *mask;
    int batch_ndim, flow;
    histo_plan_options plan = {0};
    if (!PyArg_ParseTuple(args, "O!O!OOipii", &PyTuple_Type, &arrays, &PyTuple_Type, &axes, &weights, &mask,
                          &batch_ndim, &flow, &plan.threads, &plan.device))
        return NULL;
    operands o;
    PyObject *result = NULL;
    if (operands_take(module, arrays, axes, weights, mask, batch_ndim, &o) == 0)
        result = count_operands(module, &o, flow, &plan);
    operands_release(&o);
    return result;
}

/* The statistics of the samples of an array that a mask, which may be None, does not leave out. */
static int stats_of(PyObject *module, PyObject *array, PyObject *mask_of, histo_stats *stats)
{
    samples s, mask = {0};
    if (samples_take(module, array, &s) < 0) return -1;
    int done = take_or_none(module, mask_of, 0, &mask);
    if (done == 0) {
        const histo_fill_options options = {.mask = mask.release ? &mask.view : NULL};
        histo_status status;
        Py_BEGIN_ALLOW_THREADS status = histo_stats_add(stats, &s.view, &options);
        Py_END_ALLOW_THREADS if (status != HISTO_OK)
        {
            raise_status(status);
            done = -1;
        }
    }
    samples_release(&mask);
    samples_release(&s);
    return done;
}

static PyObject *extremes(PyObject *module, PyObject *args)
{
    PyObject *array, *mask;
    histo_stats stats = {0};
    if (!PyArg_ParseTuple(args, "OO", &array, &mask) || stats_of(module, array, mask, &stats) < 0) return NULL;
    const uint64_t finite = stats.samples - stats.nan - stats.infinite;
    return Py_BuildValue("KKKdd", (unsigned long long)finite, (unsigned long long)stats.nan,
                         (unsigned long long)stats.infinite, stats.min, stats.max);
}

static PyObject *bins_by_rule(PyObject *module, PyObject *args)
{
    PyObject *array, *mask_of;
    const char *name;
    histo_survey_options options = {.range = HISTO_RANGE_FIXED};
    if (!PyArg_ParseTuple(args, "OsddO", &array, &name, &options.lo, &options.hi, &mask_of)) return NULL;
    histo_status status = histo_rule_parse(name, &options.rule);
    if (status != HISTO_OK) return raise_status(status);
    samples s, mask = {0};
    if (samples_take(module, array, &s) < 0) return NULL;
    PyObject *bins = NULL;
    if (take_or_none(module, mask_of, 0, &mask) == 0) {
        const histo_fill_options fill = {.mask = mask.release ? &mask.view : NULL};
        histo_axis axis;
        Py_BEGIN_ALLOW_THREADS status = histo_axis_from_data(&s.view, &fill, &options, &axis);
        Py_END_ALLOW_THREADS bins = status == HISTO_OK ? PyLong_FromLongLong(axis.bins) : raise_status(status);
    }
    samples_release(&mask);
    samples_release(&s);
    return bins;
}

static PyMethodDef functions[] = {
    {"version", version, METH_NOARGS, "version()\n--\n\nThe version of libhisto."},
    {"count", count, METH_VARARGS,
     "count(arrays, axes, weights, mask, batch_ndim, flow, threads, device)\n--\n\n"
     "Counts, or sums of weights, of tuples of arrays and axes. An axis is (bins, lo, hi), (bins, lo) or edges; the\n"
     "last bin is closed. The result has the shape of the batch dimensions, followed by the axes."},
    {"extremes", extremes, METH_VARARGS,
     "extremes(array, mask)\n--\n\n"
     "(finite, nan, infinite, min, max): how many samples are finite, NaN and infinite, and the smallest and the\n"
     "largest finite one; integers that are no doubles are rounded outwards."},
    {"bins_by_rule", bins_by_rule, METH_VARARGS,
     "bins_by_rule(array, rule, lo, hi, mask)\n--\n\nThe number of bins that a rule gives for the samples in [lo, "
     "hi]."},
    {0},
};

int functions_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
