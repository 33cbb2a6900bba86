/* Exact quantiles of samples. */
#include "functions/functions.h"
#include "samples/results.h"
#include "samples/samples.h"
#include "state/unlocked.h"

/* stream: of samples in the memory of a GPU */
static histo_status read_quantiles(const python_samples *s, const python_samples *mask, void *stream,
                                   histo_quantile_rule rule, int64_t n, const double *q, double *values)
{
    const histo_fill_options options = {.mask = mask->release ? &mask->view : NULL, .stream = stream};
    histo_quantiles *quantiles;
    histo_status status = histo_quantiles_create(&quantiles, s->view.dtype, rule, (int)n, q);
    if (status != HISTO_OK) return status;
    bool more;
    while (status == HISTO_OK && histo_quantiles_next_pass(quantiles, &more) == HISTO_OK && more)
        status = histo_quantiles_add(quantiles, &s->view, &options);
    if (status == HISTO_OK) status = histo_quantiles_read(quantiles, values);
    histo_quantiles_destroy(quantiles);
    return status;
}

static PyObject *quantiles(PyObject *module, PyObject *args)
{
    PyObject *array, *mask_of, *result = NULL;
    const char *name;
    Py_buffer q;
    python_samples s, mask = {0};
    histo_quantile_rule rule;
    if (!PyArg_ParseTuple(args, "Oy*sO", &array, &q, &name, &mask_of)) return NULL;
    histo_status status = histo_quantile_rule_parse(name, &rule);
    if (status != HISTO_OK) {
        raise_status(status);
    } else if (samples_take(module, array, &s) == 0) {
        const int64_t n = q.len / (int64_t)sizeof(double);
        const python_samples *const both[] = {&s, &mask}, *on_gpu;
        void *values;
        if ((mask_of == Py_None || samples_take(module, mask_of, &mask) == 0) && samples_meet(2, both, &on_gpu) == 0)
            result = result_new(module, HISTO_F64, 1, &n, &values);
        if (result) {
            UNLOCKED(status, read_quantiles(&s, &mask, on_gpu ? on_gpu->stream : NULL, rule, n, q.buf, values));
        }
        samples_release(&mask);
        samples_release(&s);
        if (status != HISTO_OK) {
            Py_CLEAR(result);
            raise_status(status);
        }
    }
    PyBuffer_Release(&q);
    return result;
}

static PyMethodDef functions[] = {
    {"quantiles", quantiles, METH_VARARGS,
     "quantiles(array, q, method, mask)\n--\n\nThe quantiles q, a buffer of doubles, of all samples but NaN."},
    {0},
};

int quantiles_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
