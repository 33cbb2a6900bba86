/* Counting into memory, and the functions that histo/functions.py is made of. */
#include "counting.h"

#include "axes.h"
#include "edges.h"
#include "fill.h"
#include "results.h"
#include "samples.h"

int64_t counting_batch(const counting *c)
{
    int64_t batch = 1;
    for (int d = 0; d < c->views[0].batch_ndim; d++)
        batch *= c->views[0].shape[d];
    return batch;
}

/* Fill a histogram in pieces, and read it. */
static int run_in_pieces(const counting *c, const histo_fill_options *with, const histo_plan_options *plan,
                         const histo_count_options *options, void *out, int64_t size)
{
    const histo_hist_options create = {.batch = counting_batch(c),
                                       .weighting = c->weights ? HISTO_WEIGHT_FAST_SUM : HISTO_UNWEIGHTED};
    const histo_read_options read = {.dtype = options->dtype};
    histo_hist *hist;
    histo_status status = histo_hist_create(&hist, c->naxes, c->axes, &create);
    if (status != HISTO_OK) return raise_status(status), -1;
    const int done = fill(NULL, &hist, c->naxes, c->views, with, plan);
    if (done == 0)
        status = c->weights ? histo_hist_read_weights(hist, c->slots, out, NULL, size, &read)
                            : histo_hist_read_counts(hist, c->slots, out, size, &read);
    if (status != HISTO_OK) raise_status(status);
    histo_hist_destroy(hist);
    return status == HISTO_OK ? done : -1;
}

int counting_run(const counting *c, histo_dtype dtype, void *out, int64_t size)
{
    const histo_fill_options with = {.weights = c->weights, .mask = c->mask, .threads = c->threads};
    const histo_plan_options device = {.device = c->device}, *plan = c->device ? &device : NULL;
    const histo_count_options options = {.slots = c->slots, .dtype = dtype, .plan = plan};
    const int64_t n = histo_view_size(&c->views[0]);
    if (fills_in_pieces(n)) return run_in_pieces(c, &with, plan, &options, out, size);
    histo_status status;
    if (releases_gil(n + size)) {
        Py_BEGIN_ALLOW_THREADS status = histo_count(c->naxes, c->axes, c->views, &with, out, size, NULL, &options);
        Py_END_ALLOW_THREADS
    } else {
        status = histo_count(c->naxes, c->axes, c->views, &with, out, size, NULL, &options);
    }
    return status == HISTO_OK ? 0 : (raise_status(status), -1);
}

/* The operands of a count, and what Python has to keep for them. */
typedef struct operands {
    int naxes;
    histo_axis axes[HISTO_MAX_AXES];
    void *edges[HISTO_MAX_AXES];
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

/* The counts or sums, of the shape of the batch dimensions and axes. */
static PyObject *count_operands(PyObject *module, const operands *o, bool flow, int threads, histo_device device)
{
    const counting c = {.naxes = o->naxes,
                        .axes = o->axes,
                        .views = o->views,
                        .weights = o->weights.release ? &o->weights.view : NULL,
                        .mask = o->mask.release ? &o->mask.view : NULL,
                        .slots = flow ? HISTO_FLOW : HISTO_BINS,
                        .threads = threads,
                        .device = device};
    int64_t shape[2 * HISTO_MAX_DIMS], size = counting_batch(&c);
    int ndim = 0;
    for (; ndim < o->views[0].batch_ndim; ndim++)
        shape[ndim] = o->views[0].shape[ndim];
    for (int a = 0; a < o->naxes; a++) {
        shape[ndim] = o->axes[a].bins + (flow ? 3 : 0);
        size *= shape[ndim++];
    }
    void *out;
    PyObject *result = result_new(module, c.weights ? HISTO_F64 : HISTO_I64, ndim, shape, &out);
    if (!result) return NULL;
    if (counting_run(&c, c.weights ? HISTO_F64 : HISTO_U64, out, size) == 0) return result;
    Py_DECREF(result);
    return NULL;
}

static PyObject *count(PyObject *module, PyObject *args)
{
    PyObject *arrays, *axes, *weights, *mask;
    int batch_ndim, flow, threads;
    histo_device device;
    if (!PyArg_ParseTuple(args, "O!O!OOipii", &PyTuple_Type, &arrays, &PyTuple_Type, &axes, &weights, &mask,
                          &batch_ndim, &flow, &threads, &device))
        return NULL;
    operands o;
    PyObject *result = NULL;
    if (operands_take(module, arrays, axes, weights, mask, batch_ndim, &o) == 0)
        result = count_operands(module, &o, flow, threads, device);
    operands_release(&o);
    return result;
}

static PyObject *number(histo_dtype dtype, histo_number x)
{
    switch (dtype) {
    case HISTO_U8:
    case HISTO_U16:
    case HISTO_U32:
    case HISTO_U64:
        return PyLong_FromUnsignedLongLong(x.u64);
    case HISTO_I8:
    case HISTO_I16:
    case HISTO_I32:
    case HISTO_I64:
        return PyLong_FromLongLong(x.i64);
    default:
        return PyFloat_FromDouble(x.f64);
    }
}

static PyObject *extremes(PyObject *module, PyObject *args)
{
    PyObject *array, *mask_of, *result = NULL;
    int threads;
    if (!PyArg_ParseTuple(args, "OOi", &array, &mask_of, &threads)) return NULL;
    samples s, mask = {0};
    if (samples_take(module, array, &s) < 0) return NULL;
    if (take_or_none(module, mask_of, 0, &mask) == 0) {
        const histo_fill_options options = {.mask = mask.release ? &mask.view : NULL, .threads = threads};
        histo_extremes found;
        if (extremes_find(&s.view, &options, &found) == 0)
            result = Py_BuildValue("KKNN", (unsigned long long)found.samples,
                                   (unsigned long long)(found.nan + found.below + found.above),
                                   number(native(s.view.dtype), found.min), number(native(s.view.dtype), found.max));
    }
    samples_release(&mask);
    samples_release(&s);
    return result;
}

static histo_status survey_piece(void *state, const histo_view *views, const histo_fill_options *options)
{
    return histo_survey_add(state, views, options);
}

/* histo_axis_from_data in pieces; -1 with an exception. */
static int find_axis(const histo_view *view, const histo_fill_options *fill, const histo_survey_options *options,
                     histo_axis *axis)
{
    histo_survey *survey;
    histo_status status = histo_survey_create(&survey, view->dtype, options);
    if (status != HISTO_OK) return raise_status(status), -1;
    int done = 0;
    while (done == 0 && histo_survey_next_pass(survey))
        done = in_pieces(NULL, 1, view, fill, survey_piece, survey);
    if (done == 0) status = histo_survey_axis(survey, axis);
    if (status != HISTO_OK) raise_status(status);
    histo_survey_destroy(survey);
    return status == HISTO_OK ? done : -1;
}

static PyObject *bins_by_rule(PyObject *module, PyObject *args)
{
    PyObject *array, *mask_of;
    const char *name;
    int threads;
    histo_survey_options options = {.range = HISTO_RANGE_FIXED};
    if (!PyArg_ParseTuple(args, "OsddOi", &array, &name, &options.lo, &options.hi, &mask_of, &threads)) return NULL;
    histo_status status = histo_rule_parse(name, &options.rule);
    if (status != HISTO_OK) return raise_status(status);
    samples s, mask = {0};
    if (samples_take(module, array, &s) < 0) return NULL;
    PyObject *bins = NULL;
    if (take_or_none(module, mask_of, 0, &mask) == 0) {
        const histo_fill_options fill = {.mask = mask.release ? &mask.view : NULL, .threads = threads};
        histo_axis axis;
        if (find_axis(&s.view, &fill, &options, &axis) == 0) bins = PyLong_FromLongLong(axis.bins);
    }
    samples_release(&mask);
    samples_release(&s);
    return bins;
}

static PyMethodDef functions[] = {
    {"count", count, METH_VARARGS,
     "count(arrays, axes, weights, mask, batch_ndim, flow, threads, device)\n--\n\n"
     "Counts, or sums of weights, of tuples of arrays and axes. An axis is (bins, lo, hi), (bins, lo) or edges; the\n"
     "last bin is closed. The result has the shape of the batch dimensions, followed by the axes."},
    {"extremes", extremes, METH_VARARGS,
     "extremes(array, mask, threads)\n--\n\n"
     "(samples, infinite, min, max): how many samples there are, how many of them are NaN or infinite, and the\n"
     "smallest and the largest of the others."},
    {"bins_by_rule", bins_by_rule, METH_VARARGS,
     "bins_by_rule(array, rule, lo, hi, mask, threads)\n--\n\nThe number of bins that a rule gives for the samples in "
     "[lo, "
     "hi]."},
    {0},
};

int counting_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
