/* Histograms saved and loaded. */
#include "hist/hist.h"
#include "state/unlocked.h"

/* ---- Loading ---- */

static PyObject *loaded(PyObject *type, histo_status status, histo_hist *handle)
{
    if (status != HISTO_OK) return raise_status(status);
    const int64_t batch = histo_hist_batch(handle);
    const hist flat = {.nbatch = batch > 1, .batch = {batch}};
    return hist_like(&flat, (PyTypeObject *)type, handle);
}

PyObject *hist_load(PyObject *type, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 2) return PyErr_Format(PyExc_TypeError, "_load takes 2 arguments");
    const char *name = NULL;
    if (args[1] != Py_None && !(name = PyUnicode_AsUTF8AndSize(args[1], NULL))) return NULL;
    Py_buffer data;
    if (PyObject_GetBuffer(args[0], &data, PyBUF_SIMPLE) != 0) return NULL;
    histo_hist *handle;
    histo_status status;
    UNLOCKED(status, histo_hist_load(data.buf, (size_t)data.len, name, &handle));
    PyBuffer_Release(&data);
    return loaded(type, status, handle);
}

/* _load_outline(document, whether values are counts, values or None, variances or None), contiguous arrays. */
PyObject *hist_load_outline(PyObject *type, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 4) return PyErr_Format(PyExc_TypeError, "_load_outline takes 4 arguments");
    Py_buffer data[4] = {{0}};
    int taken = 0;
    for (int i = 0; i < 4 && taken == 0; i++)
        if (i != 1 && args[i] != Py_None) taken = PyObject_GetBuffer(args[i], &data[i], PyBUF_SIMPLE);
    const bool differ = taken == 0 && data[3].buf && data[3].len != data[2].len;
    const histo_dtype dtype = PyObject_IsTrue(args[1]) == 1 ? HISTO_U64 : HISTO_F64;
    histo_hist *handle = NULL;
    histo_status status = HISTO_OK;
    if (taken == 0 && !differ) {
        UNLOCKED(status, histo_hist_load_outline(data[0].buf, (size_t)data[0].len, data[2].len / 8, dtype, data[2].buf,
                                                 data[3].buf, &handle));
    }
    for (int i = 0; i < 4; i++)
        PyBuffer_Release(&data[i]);
    if (taken != 0) return NULL;
    if (differ) return PyErr_Format(PyExc_ValueError, "there are not as many variances as values");
    return loaded(type, status, handle);
}

/* ---- Saving ---- */

static PyObject *bytes_of(histo_status status, void *data, size_t size)
{
    if (status != HISTO_OK) return raise_status(status);
    PyObject *bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
    histo_free(data);
    return bytes;
}

/* Python keeps the name and the metadata of histograms: the library has them only while it saves or loads. */
static histo_status save_with(histo_hist *handle, histo_format format, const char *name, const char *metadata,
                              void **data, size_t *size)
{
    histo_status status = histo_hist_set_name(handle, name);
    if (status == HISTO_OK) status = histo_hist_set_metadata(handle, metadata);
    if (status == HISTO_OK) status = histo_hist_save(handle, format, NULL, data, size);
    histo_hist_set_name(handle, NULL);
    histo_hist_set_metadata(handle, NULL);
    return status;
}

/* _save(format, name=None, metadata=None), as JSON */
PyObject *hist_save(PyObject *self, PyObject *args)
{
    int format;
    const char *name = NULL, *metadata = NULL;
    if (!PyArg_ParseTuple(args, "i|zz", &format, &name, &metadata)) return NULL;
    hist *h = hist_lock(self);
    if (!h) return NULL;
    void *data = NULL;
    size_t size = 0;
    histo_status status;
    UNLOCKED(status, save_with(h->hist, (histo_format)format, name, metadata, &data, &size));
    hist_unlock(h);
    return bytes_of(status, data, size);
}

/* (name or None, metadata as JSON or None) that were loaded, and are forgotten. */
PyObject *hist_take_texts(PyObject *self, PyObject *unused)
{
    (void)unused;
    hist *h = hist_lock(self);
    if (!h) return NULL;
    PyObject *texts = Py_BuildValue("zz", histo_hist_name(h->hist), histo_hist_metadata(h->hist));
    histo_hist_set_name(h->hist, NULL);
    histo_hist_set_metadata(h->hist, NULL);
    hist_unlock(h);
    return texts;
}

/* flow: for each axis, a tuple of whether it has cells of underflow and of overflow. */
PyObject *hist_save_outline(PyObject *self, PyObject *flow)
{
    hist *h = hist_lock(self);
    if (!h) return NULL;
    bool cells[HISTO_MAX_AXES][2];
    int taken = PyTuple_Size(flow) == h->naxes;
    for (int a = 0; taken && a < h->naxes; a++) {
        int underflow, overflow;
        taken = PyArg_ParseTuple(PyTuple_GetItem(flow, a), "pp", &underflow, &overflow);
        cells[a][0] = taken && underflow;
        cells[a][1] = taken && overflow;
    }
    void *data = NULL;
    size_t size = 0;
    histo_status status = HISTO_OK;
    if (taken) {
        UNLOCKED(status, histo_hist_save_outline(h->hist, (const bool(*)[2])cells, &data, &size));
    }
    hist_unlock(h);
    if (!taken) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "the flow is that of other axes");
    return bytes_of(status, data, size);
}
