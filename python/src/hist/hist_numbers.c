/* Numbers from a histogram: quantiles, moments, thresholds, distances, information. */
#include "hist/hist.h"

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
        if (values) status = histo_hist_quantiles(h->hist, rule, (int)n, q.buf, data);
        hist_unlock(h);
    }
    PyBuffer_Release(&q);
    return status == HISTO_OK ? values : hist_written(values, status);
}

/* A tuple of the fields of each batch entry's summary, in a list. */
PyObject *hist_summarize(PyObject *self, PyObject *unused)
{
    (void)unused;
    hist *h = hist_lock(self);
    if (!h) return NULL;
    const int64_t batch = histo_hist_batch(h->hist);
    histo_summary *summaries = PyMem_Calloc((size_t)batch, sizeof *summaries);
    const histo_status status = summaries ? histo_hist_summarize(h->hist, summaries) : HISTO_OK;
    hist_unlock(h);
    if (!summaries) return PyErr_NoMemory();
    PyObject *list = status == HISTO_OK ? PyList_New(0) : raise_status(status);
    for (int64_t b = 0; list && b < batch; b++) {
        const histo_summary *s = &summaries[b];
        PyObject *fields = Py_BuildValue("KdddddLLLL", (unsigned long long)s->count, s->mean, s->variance, s->skewness,
                                         s->kurtosis, s->entropy, (long long)s->first, (long long)s->last,
                                         (long long)s->mode, (long long)s->occupied);
        if (!fields || PyList_Append(list, fields) != 0) Py_CLEAR(list);
        Py_XDECREF(fields);
    }
    PyMem_Free(summaries);
    return list;
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
    if (last) status = histo_hist_split(h->hist, method, classes, data);
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
    if (values) status = histo_hist_compare(h->hist, other->hist, metric, data);
    hist_unlock_two(self, object);
    return values ? hist_written(values, status) : NULL;
}

/* A tuple (entropy of axis 0, of axis 1, of both, mutual, normalized) of each batch entry, in a list. */
PyObject *hist_inform(PyObject *self, PyObject *unused)
{
    (void)unused;
    hist *h = hist_lock(self);
    if (!h) return NULL;
    const int64_t batch = histo_hist_batch(h->hist);
    histo_information *information = PyMem_Calloc((size_t)batch, sizeof *information);
    const histo_status status = information ? histo_hist_inform(h->hist, information) : HISTO_OK;
    hist_unlock(h);
    if (!information) return PyErr_NoMemory();
    PyObject *list = status == HISTO_OK ? PyList_New(0) : raise_status(status);
    for (int64_t b = 0; list && b < batch; b++) {
        const histo_information *i = &information[b];
        PyObject *fields =
            Py_BuildValue("ddddd", i->entropy[0], i->entropy[1], i->joint_entropy, i->mutual, i->normalized);
        if (!fields || PyList_Append(list, fields) != 0) Py_CLEAR(list);
        Py_XDECREF(fields);
    }
    PyMem_Free(information);
    return list;
}
