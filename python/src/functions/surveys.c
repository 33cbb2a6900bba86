/* Surveys in parts, for samples that are in several processes. */
#include "functions/functions.h"
#include "samples/samples.h"
#include "state/unlocked.h"

/* A survey that has made these passes, of which bytes say what all parts have found, and is in the next one if there is
 * one more. */
static histo_status resume(const char *dtype_name, const char *rule_name, double lo, double hi, PyObject *passes,
                           histo_survey **survey, bool *more)
{
    histo_dtype dtype;
    histo_survey_options options = {.range = HISTO_RANGE_FIXED, .lo = lo, .hi = hi, .in_parts = true};
    histo_status status = histo_dtype_parse(dtype_name, &dtype);
    if (status == HISTO_OK) status = histo_rule_parse(rule_name, &options.rule);
    if (status == HISTO_OK) status = histo_survey_create(survey, dtype, &options);
    if (status != HISTO_OK) return status;
    status = histo_survey_next_pass(*survey, more);
    for (Py_ssize_t i = 0; i < PyTuple_Size(passes) && status == HISTO_OK && *more; i++) {
        char *data;
        Py_ssize_t size;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(passes, i), &data, &size) < 0) return HISTO_INVALID;
        status = histo_survey_replace(*survey, data, (size_t)size);
        if (status == HISTO_OK) status = histo_survey_next_pass(*survey, more);
    }
    return status;
}

/* What the survey has found in this pass, as bytes; None if it makes no more. */
static PyObject *saved(histo_survey *survey, histo_status status, bool more)
{
    void *data = NULL;
    size_t size = 0;
    if (status == HISTO_OK && more) status = histo_survey_save(survey, &data, &size);
    PyObject *result = NULL;
    if (status == HISTO_OK) result = more ? PyBytes_FromStringAndSize(data, (Py_ssize_t)size) : Py_NewRef(Py_None);
    if (status != HISTO_OK && !PyErr_Occurred()) raise_status(status);
    histo_free(data);
    histo_survey_destroy(survey);
    return result;
}

static PyObject *survey_part(PyObject *module, PyObject *args)
{
    const char *dtype, *rule;
    double lo, hi;
    PyObject *passes, *array, *mask;
    python_samples samples = {0}, kept = {0};
    if (!PyArg_ParseTuple(args, "ssddO!OO", &dtype, &rule, &lo, &hi, &PyTuple_Type, &passes, &array, &mask))
        return NULL;
    histo_survey *survey = NULL;
    bool more = false;
    histo_status status = resume(dtype, rule, lo, hi, passes, &survey, &more);
    if (status == HISTO_OK && more) {
        const bool taken = samples_take_here(module, array, &samples) == 0 &&
                           (mask == Py_None || samples_take_here(module, mask, &kept) == 0);
        const histo_fill_options options = {.mask = kept.release ? &kept.view : NULL, .threads = 1};
        if (taken) {
            UNLOCKED(status, histo_survey_add(survey, &samples.view, &options));
        } else {
            status = HISTO_INVALID;
        }
        samples_release(&kept);
        samples_release(&samples);
    }
    return saved(survey, status, more);
}

static PyObject *survey_merge(PyObject *module, PyObject *args)
{
    (void)module;
    const char *dtype, *rule;
    double lo, hi;
    PyObject *passes, *parts;
    if (!PyArg_ParseTuple(args, "ssddO!O!", &dtype, &rule, &lo, &hi, &PyTuple_Type, &passes, &PyTuple_Type, &parts))
        return NULL;
    histo_survey *survey = NULL;
    bool more = false;
    histo_status status = resume(dtype, rule, lo, hi, passes, &survey, &more);
    for (Py_ssize_t i = 0; i < PyTuple_Size(parts) && status == HISTO_OK && more; i++) {
        char *data;
        Py_ssize_t size;
        status = PyBytes_AsStringAndSize(PyTuple_GetItem(parts, i), &data, &size) < 0
                     ? HISTO_INVALID
                     : histo_survey_merge(survey, data, (size_t)size);
    }
    return saved(survey, status, more);
}

static PyObject *survey_bins(PyObject *module, PyObject *args)
{
    (void)module;
    const char *dtype, *rule;
    double lo, hi;
    PyObject *passes, *bins = NULL;
    if (!PyArg_ParseTuple(args, "ssddO!", &dtype, &rule, &lo, &hi, &PyTuple_Type, &passes)) return NULL;
    histo_survey *survey = NULL;
    bool more = false;
    histo_axis axis;
    histo_status status = resume(dtype, rule, lo, hi, passes, &survey, &more);
    if (status == HISTO_OK && !more) status = histo_survey_axis(survey, &axis);
    if (status == HISTO_OK) bins = more ? Py_NewRef(Py_None) : PyLong_FromLongLong(axis.bins);
    if (status != HISTO_OK && !PyErr_Occurred()) raise_status(status);
    histo_survey_destroy(survey);
    return bins;
}

static PyMethodDef functions[] = {
    {"survey_part", survey_part, METH_VARARGS,
     "survey_part(dtype, rule, lo, hi, passes, array, mask)\n--\n\n"
     "What the next pass of a survey in parts finds in an array of this dtype, a name of the library's, as bytes; "
     "None\n"
     "if there is no such pass. passes: for each before, what all parts have found in it."},
    {"survey_merge", survey_merge, METH_VARARGS,
     "survey_merge(dtype, rule, lo, hi, passes, parts)\n--\n\nWhat several parts have found in the next pass, as one."},
    {"survey_bins", survey_bins, METH_VARARGS,
     "survey_bins(dtype, rule, lo, hi, passes)\n--\n\nThe number of bins that a rule gives for the samples in [lo, "
     "hi];\n"
     "None if the survey makes more passes."},
    {0},
};

int surveys_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
