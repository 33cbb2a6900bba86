/* The functions that histo/functions.py is made of. */
#include "functions/axes.h"
#include "functions/counting.h"
#include "functions/edges.h"
#include "functions/fill.h"
#include "functions/functions.h"
#include "functions/plan_cache.h"
#include "samples/gpu.h"
#include "samples/results.h"
#include "samples/samples.h"

/* The operands of a count, and what Python has to keep for them. */
typedef struct count_operands {
    int naxes;
    histo_axis axes[HISTO_MAX_AXES];
    void *edges[HISTO_MAX_AXES];
    python_samples samples[HISTO_MAX_AXES], weights, mask;
    histo_view views[HISTO_MAX_AXES];
} count_operands;

static void operands_release(count_operands *o)
{
    for (int a = 0; a < o->naxes; a++) {
        PyMem_Free(o->edges[a]);
        samples_release(&o->samples[a]);
    }
    samples_release(&o->weights);
    samples_release(&o->mask);
}

static int take_or_none(PyObject *module, PyObject *object, int batch_ndim, python_samples *out)
{
    if (object == Py_None) return 0;
    if (samples_take(module, object, out) < 0) return -1;
    out->view.batch_ndim = batch_ndim;
    return 0;
}

static int operands_take(PyObject *module, PyObject *arrays, PyObject *axes, PyObject *weights, PyObject *mask,
                         int batch_ndim, count_operands *o)
{
    *o = (count_operands){.naxes = (int)PyTuple_Size(axes)};
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

/* List all operands, which may be in the memory of a GPU; returns how many. */
static int list_samples(const count_operands *o, const python_samples **all)
{
    int n = 0;
    for (int a = 0; a < o->naxes; a++)
        all[n++] = &o->samples[a];
    all[n++] = &o->weights;
    all[n++] = &o->mask;
    return n;
}

/* The dtype and shape of a result, and where it is. */
typedef struct count_result {
    histo_dtype dtype;
    int ndim;
    int64_t shape[2 * HISTO_MAX_DIMS], size;
    bool beside; /* of the library of the samples, in their memory */
} count_result;

/* Set the shape: the batch dimensions, then the axes. */
static void shape_target(const count_request *c, count_result *t)
{
    t->ndim = 0;
    t->size = counting_batch(c);
    for (; t->ndim < c->views[0].batch_ndim; t->ndim++)
        t->shape[t->ndim] = c->views[0].shape[t->ndim];
    for (int a = 0; a < c->naxes; a++) {
        t->shape[t->ndim] = c->axes[a].bins + (c->slots == HISTO_FLOW ? 3 : 0);
        t->size *= t->shape[t->ndim++];
    }
}

/* Count into memory; the library reads counts as unsigned integers, which have the same bits. */
static int run_into(const count_request *c, const count_result *t, void *data)
{
    const histo_dtype dtype = t->dtype == HISTO_I64 ? HISTO_U64 : t->dtype == HISTO_I32 ? HISTO_U32 : t->dtype;
    return counting_run(c, dtype, data, t->size);
}

static PyObject *count_to_new(PyObject *module, const count_request *c, const python_samples *like,
                              const count_result *t)
{
    void *data;
    PyObject *result = t->beside ? result_beside(module, like, t->dtype, t->ndim, t->shape, &data)
                                 : result_new(module, t->dtype, t->ndim, t->shape, &data);
    if (result && run_into(c, t, data) < 0) Py_CLEAR(result);
    return result;
}

/* Into the caller's array; False if its dtype or layout is none that the library writes. */
static PyObject *count_to_given(PyObject *module, const count_request *c, const count_result *t, PyObject *given)
{
    python_samples out;
    if (samples_take_writable(module, given, &out) < 0) return NULL;
    const histo_view *v = &out.view;
    const bool sums = v->dtype == HISTO_F32 || v->dtype == HISTO_F64;
    bool fits = v->ndim == t->ndim && (sums || (!c->weights && (v->dtype == HISTO_I64 || v->dtype == HISTO_U64)));
    int64_t stride = (int64_t)histo_dtype_size(v->dtype);
    for (int d = t->ndim - 1; d >= 0 && fits; d--) {
        fits = v->shape[d] == t->shape[d] && (v->strides[d] == stride || t->shape[d] == 1);
        stride *= t->shape[d];
    }
    count_result given_result = *t;
    given_result.dtype = v->dtype;
    int done = 0;
    if (fits && out.on_gpu && out.stream != c->stream) done = gpu_wait(v->data, out.stream);
    if (fits && done == 0) done = run_into(c, &given_result, (void *)v->data);
    if (fits && done == 0 && out.on_gpu && out.stream != c->stream) done = gpu_wait(v->data, c->stream);
    samples_release(&out);
    return done < 0 ? NULL : PyBool_FromLong(fits);
}

/* Set where the GPU's samples are, on whose stream the count runs; ValueError if an operand is elsewhere. */
static int meet(const count_operands *o, count_request *c, const python_samples **on_gpu)
{
    const python_samples *all[HISTO_MAX_AXES + 2];
    if (samples_meet(list_samples(o, all), all, on_gpu) < 0) return -1;
    if (!*on_gpu) return 0;
    c->home = (*on_gpu)->home;
    c->stream = (*on_gpu)->stream;
    if (c->device >= HISTO_DEVICE_CUDA(0) && c->device != HISTO_DEVICE_CUDA_ALL && c->device != c->home) {
        PyErr_Format(PyExc_ValueError, "the samples are in the memory of cuda:%d, and device= is cuda:%d",
                     c->home - HISTO_DEVICE_CUDA(0), c->device - HISTO_DEVICE_CUDA(0));
        return -1;
    }
    return 0;
}

static PyObject *count_into(PyObject *module, const count_operands *o, bool flow, int threads, histo_device device,
                            const char *dtype, PyObject *into)
{
    count_request c = {.naxes = o->naxes,
                       .axes = o->axes,
                       .views = o->views,
                       .weights = o->weights.release ? &o->weights.view : NULL,
                       .mask = o->mask.release ? &o->mask.view : NULL,
                       .slots = flow ? HISTO_FLOW : HISTO_BINS,
                       .threads = threads,
                       .device = device};
    count_result t = {.dtype = c.weights ? HISTO_F64 : HISTO_I64};
    const python_samples *on_gpu, *all[HISTO_MAX_AXES + 2];
    if (*dtype && histo_dtype_parse(dtype, &t.dtype) != HISTO_OK) return raise_status(HISTO_INVALID);
    if (meet(o, &c, &on_gpu) < 0) return NULL;
    t.beside = into == Py_True || (on_gpu && device != HISTO_DEVICE_CPU);
    shape_target(&c, &t);
    const bool given = into != Py_None && !PyBool_Check(into);
    PyObject *result =
        given ? count_to_given(module, &c, &t, into) : count_to_new(module, &c, on_gpu ? on_gpu : &o->samples[0], &t);
    if (result && samples_settle(list_samples(o, all), all) < 0) Py_CLEAR(result);
    return result;
}

static PyObject *count(PyObject *module, PyObject *args)
{
    PyObject *arrays, *axes, *weights, *mask, *into = Py_None;
    int batch_ndim, flow, threads;
    histo_device device;
    const char *dtype = "";
    if (!PyArg_ParseTuple(args, "O!O!OOipii|sO", &PyTuple_Type, &arrays, &PyTuple_Type, &axes, &weights, &mask,
                          &batch_ndim, &flow, &threads, &device, &dtype, &into))
        return NULL;
    if (device >= HISTO_DEVICE_CUDA(0) && gpu_load() < 0) return NULL;
    count_operands o;
    PyObject *result = NULL;
    if (operands_take(module, arrays, axes, weights, mask, batch_ndim, &o) == 0)
        result = count_into(module, &o, flow, threads, device, dtype, into);
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

/* Samples and a mask that are read without being counted. */
typedef struct read_operands {
    python_samples samples, mask;
    histo_fill_options options;
} read_operands;

static void reading_release(read_operands *r)
{
    samples_release(&r->mask);
    samples_release(&r->samples);
}

/* Releases what it has taken if it fails. */
static int reading_take(PyObject *module, PyObject *array, PyObject *mask, int threads, read_operands *r)
{
    const python_samples *const both[] = {&r->samples, &r->mask}, *on_gpu;
    *r = (read_operands){.options.threads = threads};
    if (samples_take(module, array, &r->samples) < 0) return -1;
    if (take_or_none(module, mask, 0, &r->mask) < 0 || samples_meet(2, both, &on_gpu) < 0) {
        reading_release(r);
        return -1;
    }
    if (r->mask.release) r->options.mask = &r->mask.view;
    if (on_gpu) r->options.stream = on_gpu->stream;
    return 0;
}

static PyObject *extremes(PyObject *module, PyObject *args)
{
    PyObject *array, *mask, *result = NULL;
    int threads;
    read_operands r;
    histo_extremes found;
    if (!PyArg_ParseTuple(args, "OOi", &array, &mask, &threads) || reading_take(module, array, mask, threads, &r) < 0)
        return NULL;
    const histo_dtype dtype = native(r.samples.view.dtype);
    if (extremes_find(&r.samples.view, &r.options, &found) == 0)
        result = Py_BuildValue("KKNN", (unsigned long long)found.samples,
                               (unsigned long long)(found.nan + found.below + found.above), number(dtype, found.min),
                               number(dtype, found.max));
    reading_release(&r);
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
    bool more;
    while (done == 0 && histo_survey_next_pass(survey, &more) == HISTO_OK && more)
        done = in_pieces(NULL, 1, view, fill, survey_piece, survey);
    if (done == 0) status = histo_survey_axis(survey, axis);
    if (status != HISTO_OK) raise_status(status);
    histo_survey_destroy(survey);
    return status == HISTO_OK ? done : -1;
}

static PyObject *bins_by_rule(PyObject *module, PyObject *args)
{
    PyObject *array, *mask, *bins = NULL;
    const char *name;
    int threads;
    read_operands r;
    histo_axis axis;
    histo_survey_options options = {.range = HISTO_RANGE_FIXED};
    if (!PyArg_ParseTuple(args, "OsddOi", &array, &name, &options.lo, &options.hi, &mask, &threads)) return NULL;
    histo_status status = histo_rule_parse(name, &options.rule);
    if (status != HISTO_OK) return raise_status(status);
    if (reading_take(module, array, mask, threads, &r) < 0) return NULL;
    if (find_axis(&r.samples.view, &r.options, &options, &axis) == 0) bins = PyLong_FromLongLong(axis.bins);
    reading_release(&r);
    return bins;
}

static PyObject *forget(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    {
        Py_BEGIN_ALLOW_THREADS plan_cache_clear();
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

static PyObject *on_gpu(PyObject *module, PyObject *object)
{
    return PyBool_FromLong(samples_on_gpu(module, object));
}

static PyObject *is_captured(PyObject *module, PyObject *object)
{
    python_samples s;
    if (samples_take(module, object, &s) < 0) return NULL;
    const bool is = s.on_gpu && gpu_captures(s.stream);
    samples_release(&s);
    return PyBool_FromLong(is);
}

static PyObject *compile_kernels(PyObject *module, PyObject *wanted)
{
    (void)module;
    const int is = PyObject_IsTrue(wanted);
    if (is < 0) return NULL;
    {
        Py_BEGIN_ALLOW_THREADS plan_cache_compile(is);
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"arrow_arrays", samples_arrow_arrays, METH_O,
     "arrow_arrays(column)\n--\n\n"
     "A column of numbers or bools with Arrow's interface as (values, present), arrays of NumPy; present is None if "
     "no\n"
     "value is missing, and what missing ones are is anything. None for all other objects."},
    {"count", count, METH_VARARGS,
     "count(arrays, axes, weights, mask, batch_ndim, flow, threads, device, dtype=\"\", into=None)\n--\n\n"
     "Counts, or sums of weights, of tuples of arrays and axes. An axis is (bins, lo, hi), (bins, lo) or edges; the\n"
     "last bin is closed. The result has the shape of the batch dimensions, followed by the axes. It is a NumPy "
     "array;\n"
     "for samples in the memory of a GPU, unless the device is the CPU, one of their library in that memory. into:\n"
     "True for an array of the samples' library in any memory; an array, to be written: then the result is whether it\n"
     "could be."},
    {"compile_kernels", compile_kernels, METH_O,
     "compile_kernels(wanted)\n--\n\nWhether functions have kernels for GPUs compiled, and wait for them."},
    {"forget", forget, METH_NOARGS, "forget()\n--\n\nFree what is kept in the memory of GPUs for further calls."},
    {"on_gpu", on_gpu, METH_O, "on_gpu(array)\n--\n\nWhether an object says that it is in the memory of a GPU."},
    {"is_captured", is_captured, METH_O,
     "is_captured(array)\n--\n\nWhether the stream of an array in the memory of a GPU is being captured into a graph."},
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

int primitives_add(PyObject *module)
{
    return plan_cache_init() == 0 ? PyModule_AddFunctions(module, functions) : -1;
}
