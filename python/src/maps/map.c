#include "maps/map.h"

#include "functions/fill.h"
#include "hist/hist.h"
#include "samples/numpy_api.h"
#include "samples/results.h"
#include "samples/samples.h"
#include "state/unlocked.h"

typedef struct map {
    locked base;
    histo_map *map; /* NULL until it is made */
    int naxes;
} map;

/* ---- The object ---- */

static void map_dealloc(PyObject *self)
{
    histo_map_destroy(((map *)self)->map);
    locked_free(self);
}

static map *map_lock(PyObject *self)
{
    map *m = (map *)self;
    if (locked_take(&m->base) < 0) return NULL;
    if (m->map) return m;
    locked_drop(&m->base);
    PyErr_SetString(PyExc_ValueError, "this map was never made: __init__ did not run");
    return NULL;
}

/* _make(axes, tables, within) */
static PyObject *map_make(PyObject *self, PyObject *args)
{
    map *m = (map *)self;
    PyObject *tuples;
    long long tables;
    int within;
    if (!PyArg_ParseTuple(args, "O!Li", &PyTuple_Type, &tuples, &tables, &within)) return NULL;
    if (m->map) return PyErr_Format(PyExc_ValueError, "this map is made already");
    const int naxes = (int)PyTuple_Size(tuples);
    if (naxes < 1 || naxes > HISTO_MAX_AXES)
        return PyErr_Format(PyExc_ValueError, "a map has 1 to %d axes", HISTO_MAX_AXES);
    histo_axis axes[HISTO_MAX_AXES];
    Py_buffer edges[HISTO_MAX_AXES] = {{0}};
    bool taken = true;
    for (int a = 0; a < naxes && taken; a++)
        taken = axis_take(PyTuple_GetItem(tuples, a), &axes[a], &edges[a]) == 0;
    const histo_map_options options = {.batch = tables, .within = (histo_within)within};
    const histo_status status = taken ? histo_map_create(&m->map, naxes, axes, &options) : HISTO_INVALID;
    for (int a = 0; a < naxes; a++)
        PyBuffer_Release(&edges[a]);
    m->naxes = naxes;
    return taken ? none_if_ok(status) : NULL;
}

/* ---- Values ---- */

static PyObject *map_read(PyObject *self, PyObject *unused)
{
    (void)unused;
    map *m = map_lock(self);
    if (!m) return NULL;
    const int64_t size = histo_map_size(m->map);
    void *values;
    PyObject *array = result_new(m->base.module, HISTO_F64, 1, &size, &values);
    const histo_status status = array ? histo_map_read(m->map, values, size) : HISTO_OK;
    locked_drop(&m->base);
    return array ? hist_written(array, status) : NULL;
}

/* _write(buffer of doubles) */
static PyObject *map_write(PyObject *self, PyObject *object)
{
    Py_buffer values;
    if (PyObject_GetBuffer(object, &values, PyBUF_SIMPLE) != 0) return NULL;
    map *m = map_lock(self);
    if (!m) {
        PyBuffer_Release(&values);
        return NULL;
    }
    const histo_status status = histo_map_write(m->map, values.buf, (int64_t)values.len / (int64_t)sizeof(double));
    locked_drop(&m->base);
    PyBuffer_Release(&values);
    return none_if_ok(status);
}

/* Make the values from one histogram, or from two; `with` does so while all are locked. */
static PyObject *make_values(PyObject *self, PyObject *hist_of, PyObject *other_of, const void *arguments,
                             histo_status (*with)(histo_map *map, const histo_hist *h, const histo_hist *other,
                                                  const void *arguments))
{
    if (hist_lock_two(hist_of, other_of) != 0) return NULL;
    map *m = map_lock(self);
    histo_status status = HISTO_OK;
    if (m) {
        const bool is_long = hist_takes_long((hist *)hist_of) || hist_takes_long((hist *)other_of);
        UNLOCKED_IF(is_long, status, with(m->map, ((hist *)hist_of)->hist, ((hist *)other_of)->hist, arguments));
        locked_drop(&m->base);
    }
    hist_unlock_two(hist_of, other_of);
    return m ? none_if_ok(status) : NULL;
}

static bool is_hist(PyObject *self, PyObject *object)
{
    const int is = PyObject_IsInstance(object, (PyObject *)state_of_module(((map *)self)->base.module)->hist_type);
    if (is == 0) PyErr_SetString(PyExc_TypeError, "values are made from a Histogram");
    return is == 1;
}

static histo_status equalize(histo_map *m, const histo_hist *h, const histo_hist *other, const void *options)
{
    (void)other;
    return histo_map_equalize(m, h, options);
}

/* _equalize(hist, lo, hi, cdf, clip) */
static PyObject *map_equalize(PyObject *self, PyObject *args)
{
    PyObject *h;
    histo_make_options options = {0};
    int cdf;
    if (!PyArg_ParseTuple(args, "Oddpd", &h, &options.lo, &options.hi, &cdf, &options.clip) || !is_hist(self, h))
        return NULL;
    options.rule = cdf ? HISTO_EQUALIZE_CDF : HISTO_EQUALIZE_MINIMUM;
    return make_values(self, h, h, &options, equalize);
}

static histo_status match(histo_map *m, const histo_hist *h, const histo_hist *reference, const void *unused)
{
    (void)unused;
    return histo_map_match(m, h, reference, NULL);
}

/* _match(hist, reference) */
static PyObject *map_match(PyObject *self, PyObject *args)
{
    PyObject *h, *reference;
    if (!PyArg_ParseTuple(args, "OO", &h, &reference) || !is_hist(self, h) || !is_hist(self, reference)) return NULL;
    return make_values(self, h, reference, NULL, match);
}

typedef struct landmark_buffers {
    Py_buffer q, target;
    int extend;
} landmark_buffers;

static histo_status draw_lines(histo_map *m, const histo_hist *h, const histo_hist *other, const void *arguments)
{
    const landmark_buffers *l = arguments;
    (void)other;
    return histo_map_landmarks(m, h, (int)(l->q.len / (Py_ssize_t)sizeof(double)), l->q.buf, l->target.buf, l->extend,
                               NULL);
}

/* _landmarks(hist, q, target, extend), with buffers of doubles of one length */
static PyObject *map_landmarks(PyObject *self, PyObject *args)
{
    PyObject *h, *result = NULL;
    landmark_buffers l;
    if (!PyArg_ParseTuple(args, "Oy*y*p", &h, &l.q, &l.target, &l.extend)) return NULL;
    if (l.q.len != l.target.len)
        PyErr_SetString(PyExc_ValueError, "each landmark has a quantile and a value");
    else if (is_hist(self, h))
        result = make_values(self, h, h, &l, draw_lines);
    PyBuffer_Release(&l.q);
    PyBuffer_Release(&l.target);
    return result;
}

static histo_status project(histo_map *m, const histo_hist *h, const histo_hist *against, const void *options)
{
    return histo_map_project(m, h, against == h ? NULL : against, options);
}

/* _project(hist, against or None, lo, hi) */
static PyObject *map_project(PyObject *self, PyObject *args)
{
    PyObject *h, *against;
    histo_make_options options = {0};
    if (!PyArg_ParseTuple(args, "OOdd", &h, &against, &options.lo, &options.hi) || !is_hist(self, h)) return NULL;
    if (against == Py_None) against = h;
    return is_hist(self, against) ? make_values(self, h, against, &options, project) : NULL;
}

typedef struct splitting {
    histo_split_method method;
    int classes;
    histo_make_options options;
} splitting;

static histo_status classify(histo_map *m, const histo_hist *h, const histo_hist *other, const void *arguments)
{
    const splitting *s = arguments;
    (void)other;
    return histo_map_classes(m, h, s->method, s->classes, &s->options);
}

/* _classes(hist, method, classes, lo, hi) */
static PyObject *map_classes(PyObject *self, PyObject *args)
{
    PyObject *h;
    const char *name;
    splitting s = {0};
    if (!PyArg_ParseTuple(args, "Osidd", &h, &name, &s.classes, &s.options.lo, &s.options.hi) || !is_hist(self, h))
        return NULL;
    const histo_status status = histo_split_method_parse(name, &s.method);
    return status == HISTO_OK ? make_values(self, h, h, &s, classify) : raise_status(status);
}

/* ---- Applying ---- */

enum { MAX_VIEWS = HISTO_MAX_AXES + 2 }; /* samples, then the result, then a mask */

typedef struct map_operands {
    map *m;
    int taken;
    python_samples sources[MAX_VIEWS];
    histo_view views[MAX_VIEWS];
    histo_apply_options options;
} map_operands;

static int take(map_operands *o, PyObject *object)
{
    if (samples_take(o->m->base.module, object, &o->sources[o->taken]) < 0) return -1;
    o->views[o->taken] = o->sources[o->taken].view;
    o->taken++;
    return 0;
}

/* Before the lock is taken, since objects may run Python to give their samples. out: NULL, or an array. */
static int take_all(map_operands *o, PyObject *self, PyObject *arrays, PyObject *out, PyObject *mask)
{
    o->m = (map *)self;
    o->taken = 0;
    if (PyTuple_Size(arrays) != o->m->naxes) {
        PyErr_Format(PyExc_TypeError, "a map of %d %s takes as many arrays of samples", o->m->naxes,
                     o->m->naxes == 1 ? "axis" : "axes");
        return -1;
    }
    for (int a = 0; a < o->m->naxes; a++)
        if (take(o, PyTuple_GetItem(arrays, a)) < 0) return -1;
    if (out && take(o, out) < 0) return -1;
    if (mask == Py_None) return 0;
    o->options.mask = &o->views[o->taken];
    return take(o, mask);
}

static void release(map_operands *o)
{
    for (int i = 0; i < o->taken; i++)
        samples_release(&o->sources[i]);
}

static PyObject *apply(const map_operands *o)
{
    map *m = map_lock((PyObject *)o->m);
    histo_status status;
    if (!m) return NULL;
    UNLOCKED_IF(releases_gil(histo_view_size(&o->views[0])), status,
                histo_map_apply(m->map, o->views, &o->views[m->naxes], &o->options));
    locked_drop(&m->base);
    return none_if_ok(status);
}

static int take_tiles(histo_tiles *tiles, PyObject *counts, PyObject *sizes)
{
    tiles->ndim = (int)PyTuple_Size(counts);
    if (tiles->ndim > 3 || PyTuple_Size(sizes) != PyTuple_Size(counts)) {
        PyErr_SetString(PyExc_ValueError, "tiles have up to three dimensions, and a number and a size along each");
        return -1;
    }
    for (int d = 0; d < tiles->ndim; d++) {
        tiles->count[d] = PyLong_AsLongLong(PyTuple_GetItem(counts, d));
        tiles->size[d] = PyLong_AsLongLong(PyTuple_GetItem(sizes, d));
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* _apply(arrays, out, mask or None, batch_ndim, tile counts, tile sizes, threads), out a writable NumPy array */
static PyObject *map_apply(PyObject *self, PyObject *args)
{
    PyObject *arrays, *out, *mask, *counts, *sizes, *result = NULL;
    int batch_ndim;
    map_operands o = {.taken = 0};
    if (!PyArg_ParseTuple(args, "O!OOiO!O!i", &PyTuple_Type, &arrays, &out, &mask, &batch_ndim, &PyTuple_Type, &counts,
                          &PyTuple_Type, &sizes, &o.options.threads) ||
        take_tiles(&o.options.tiles, counts, sizes) < 0)
        return NULL;
    if (!numpy_seen(((map *)self)->base.module) || !PyArray_Check(out))
        return PyErr_Format(PyExc_TypeError, "out must be a NumPy array");
    if (PyArray_FailUnlessWriteable((PyArrayObject *)out, "out") < 0) return NULL;
    if (take_all(&o, self, arrays, out, mask) == 0) {
        for (int i = 0; i < o.taken; i++)
            o.views[i].batch_ndim = batch_ndim;
        result = apply(&o);
    }
    release(&o);
    return result;
}

/* _moments(arrays, (x, y, width, height) or None, mask or None, threads) */
static PyObject *map_moments(PyObject *self, PyObject *args)
{
    PyObject *arrays, *window, *mask, *result = NULL;
    long long box[4] = {0};
    map_operands o = {.taken = 0};
    if (!PyArg_ParseTuple(args, "O!OOi", &PyTuple_Type, &arrays, &window, &mask, &o.options.threads)) return NULL;
    if (window != Py_None &&
        !PyArg_ParseTuple(window, "LLLL;a window is (x, y, width, height)", &box[0], &box[1], &box[2], &box[3]))
        return NULL;
    map *m = take_all(&o, self, arrays, NULL, mask) == 0 ? map_lock(self) : NULL;
    if (m) {
        histo_moments s;
        const int64_t within[] = {box[0], box[1], box[2], box[3]};
        histo_status status;
        const int64_t pixels = window == Py_None ? histo_view_size(&o.views[0]) : box[2] * box[3];
        UNLOCKED_IF(releases_gil(pixels), status,
                    histo_map_moments(m->map, o.views, window == Py_None ? NULL : within, &o.options, &s));
        locked_drop(&m->base);
        result = status == HISTO_OK ? Py_BuildValue("dddddd", s.m00, s.m10, s.m01, s.m20, s.m11, s.m02)
                                    : raise_status(status);
    }
    release(&o);
    return result;
}

static PyMethodDef methods[] = {
    {"_make", map_make, METH_VARARGS, NULL},
    {"_read", map_read, METH_NOARGS, NULL},
    {"_write", map_write, METH_O, NULL},
    {"_equalize", map_equalize, METH_VARARGS, NULL},
    {"_match", map_match, METH_VARARGS, NULL},
    {"_landmarks", map_landmarks, METH_VARARGS, NULL},
    {"_project", map_project, METH_VARARGS, NULL},
    {"_classes", map_classes, METH_VARARGS, NULL},
    {"_apply", map_apply, METH_VARARGS, NULL},
    {"_moments", map_moments, METH_VARARGS, NULL},
    {0},
};

int map_add(PyObject *module)
{
    PyTypeObject *type = locked_add_type(module, "histo._histo.Map", sizeof(map), map_dealloc, methods);
    Py_XDECREF((PyObject *)type);
    return type ? 0 : -1;
}
