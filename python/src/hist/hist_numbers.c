/* Numbers from a histogram: quantiles, moments, thresholds, distances, information. */
#include "hist/hist.h"
#include "state/unlocked.h"

PyObject *hist_quantiles(PyObject *self, PyObject *args)
{
    const char *name;
    Py_buffer q;
    histo_quantile_rule rule;
    if (!PyArg_ParseTuple(args, "sy*", &name, &q)) return NULL;
    const int64_t n = q.len / (int64_t)sizeof(double);
    histo_status status = histo_quantile_rule_parse(name, &rule);
    hist *h = status == HISTO_OK ? hist_lock(self) : NULL;
    PyObject *values = NULL;
    if (h) {
        void *data;
        values = hist_new_array(h, HISTO_F64, 1, &n, &data);
        if (values) UNLOCKED_IF(hist_takes_long(h), status, histo_hist_quantiles(h->hist, rule, (int)n, q.buf, data));
        hist_unlock(h);
    }
    PyBuffer_Release(&q);
    return status == HISTO_OK ? values : hist_written(values, status);
}

/* Compute a struct of `size` bytes for each batch entry, and list the tuples of their fields. */
static PyObject *each_entry(PyObject *self, size_t size,
                            histo_status (*compute)(const histo_hist *handle, void *entries),
                            PyObject *(*fields_of)(const void *entry))
{
    hist *h = hist_lock(self);
    if (!h) return NULL;
    const int64_t batch = histo_hist_batch(h->hist);
    char *entries = PyMem_Calloc((size_t)batch, size);
    histo_status status = HISTO_OK;
    if (entries) UNLOCKED_IF(hist_takes_long(h), status, compute(h->hist, entries));
    hist_unlock(h);
    if (!entries) return PyErr_NoMemory();
    PyObject *list = status == HISTO_OK ? PyList_New(0) : raise_status(status);
    for (int64_t b = 0; list && b < batch; b++) {
        PyObject *fields = fields_of(entries + (size_t)b * size);
        if (!fields || PyList_Append(list, fields) != 0) Py_CLEAR(list);
        Py_XDECREF(fields);
    }
    PyMem_Free(entries);
    return list;
}

static histo_status summarize(const histo_hist *handle, void *summaries)
{
    return histo_hist_summarize(handle, summaries);
}

static PyObject *fields_of_summary(const void *summary)
{
    const histo_summary *s = summary;
    return Py_BuildValue("KdddddLLLL", (unsigned long long)s->count, s->mean, s->variance, s->skewness, s->kurtosis,
                         s->entropy, (long long)s->first, (long long)s->last, (long long)s->mode,
                         (long long)s->occupied);
}

/* For each batch entry the tuple of its summary's fields, in the order of the class Summary. */
PyObject *hist_summarize(PyObject *self, PyObject *unused)
{
    (void)unused;
    return each_entry(self, sizeof(histo_summary), summarize, fields_of_summary);
}

static histo_status inform(const histo_hist *handle, void *information)
{
    return histo_hist_inform(handle, information);
}

static PyObject *fields_of_information(const void *information)
{
    const histo_information *i = information;
    return Py_BuildValue("ddddd", i->entropy[0], i->entropy[1], i->joint_entropy, i->mutual, i->normalized);
}

/* For each batch entry the entropies of axis 0, of axis 1 and of both, the mutual information, and that normalized. */
PyObject *hist_inform(PyObject *self, PyObject *unused)
{
    (void)unused;
    return each_entry(self, sizeof(histo_information), inform, fields_of_information);
}

PyObject *hist_split(PyObject *self, PyObject *args)
{
    const char *name;
    int classes;
    histo_split_method method;
    if (!PyArg_ParseTuple(args, "si", &name, &classes)) return NULL;
    histo_status status = histo_split_method_parse(name, &method);
    if (status != HISTO_OK) return raise_status(status);
    if (classes < 2) return PyErr_Format(PyExc_ValueError, "a histogram is split into two classes or more");
    hist *h = hist_lock(self);
    if (!h) return NULL;
    const int64_t n = classes - 1;
    void *data;
    PyObject *last = hist_new_array(h, HISTO_I64, 1, &n, &data);
    if (last) UNLOCKED_IF(hist_takes_long(h), status, histo_hist_split(h->hist, method, classes, data));
    hist_unlock(h);
    return last ? hist_written(last, status) : NULL;
}

PyObject *hist_compare(PyObject *self, PyObject *args)
{
    const char *name;
    PyObject *object;
    histo_metric metric;
    if (!PyArg_ParseTuple(args, "Os", &object, &name)) return NULL;
    histo_status status = histo_metric_parse(name, &metric);
    if (status != HISTO_OK) return raise_status(status);
    hist *h = (hist *)self, *other = (hist *)object;
    if (hist_lock_two(self, object) != 0) return NULL;
    void *data;
    PyObject *values = hist_new_array(h, HISTO_F64, 0, NULL, &data);
    if (values) UNLOCKED_IF(hist_takes_long(h), status, histo_hist_compare(h->hist, other->hist, metric, data));
    hist_unlock_two(self, object);
    return values ? hist_written(values, status) : NULL;
}
