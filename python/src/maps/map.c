#include "maps/map.h"

#include "functions/fill.h"
#include "hist/hist.h"
#include "samples/results.h"
#include "samples/samples.h"
#include "state/unlocked.h"

typedef struct map {
    locked base;
    histo_map *map; /* NULL until it is made */
    int naxes;
    atomic_bool on_gpu; /* a GPU may have its values, and be making them */
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
    histo_status status = HISTO_OK;
    if (array) UNLOCKED_IF(m->on_gpu, status, histo_map_read(m->map, values, size));
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
        m->on_gpu = m->on_gpu || ((hist *)hist_of)->on_gpu;
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

/* The stream on which the values are made if a GPU has counted; -1 with an exception. */
static int stream_for(PyObject *hist_of, PyObject *other_of, void **stream)
{
    const hist *h = (hist *)(((hist *)hist_of)->on_gpu ? hist_of : other_of);
    *stream = NULL;
    return h->on_gpu ? samples_stream(((hist *)hist_of)->base.module, h->exchange, h->home, stream) : 0;
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
    if (stream_for(h, h, &options.stream) < 0) return NULL;
    return make_values(self, h, h, &options, equalize);
}

static histo_status match(histo_map *m, const histo_hist *h, const histo_hist *reference, const void *stream)
{
    return histo_map_match(m, h, reference, *(void *const *)stream);
}

/* _match(hist, reference) */
static PyObject *map_match(PyObject *self, PyObject *args)
{
    PyObject *h, *reference;
    void *stream;
    if (!PyArg_ParseTuple(args, "OO", &h, &reference) || !is_hist(self, h) || !is_hist(self, reference)) return NULL;
    if (stream_for(h, reference, &stream) < 0) return NULL;
    return make_values(self, h, reference, &stream, match);
}

typedef struct landmark_buffers {
    Py_buffer q, target;
    int extend;
    void *stream;
} landmark_buffers;

static histo_status draw_lines(histo_map *m, const histo_hist *h, const histo_hist *other, const void *arguments)
{
    const landmark_buffers *l = arguments;
    (void)other;
    return histo_map_landmarks(m, h, (int)(l->q.len / (Py_ssize_t)sizeof(double)), l->q.buf, l->target.buf, l->extend,
                               l->stream);
}

/* _landmarks(hist, q, target, extend), with buffers of doubles of one length */
static PyObject *map_landmarks(PyObject *self, PyObject *args)
{
    PyObject *h, *result = NULL;
    landmark_buffers l;
    if (!PyArg_ParseTuple(args, "Oy*y*p", &h, &l.q, &l.target, &l.extend)) return NULL;
    if (l.q.len != l.target.len)
        PyErr_SetString(PyExc_ValueError, "each landmark has a quantile and a value");
    else if (is_hist(self, h) && stream_for(h, h, &l.stream) == 0)
        result = make_values(self, h, h, &l, draw_lines);
    PyBuffer_Release(&l.q);
    PyBuffer_Release(&l.target);
    return result;
}

typedef struct projection {
    bool alone; /* not against another histogram */
    histo_make_options options;
} projection;

static histo_status project(histo_map *m, const histo_hist *h, const histo_hist *against, const void *arguments)
{
    const projection *p = arguments;
    return histo_map_project(m, h, p->alone ? NULL : against, &p->options);
}

/* _project(hist, against or None, lo, hi) */
static PyObject *map_project(PyObject *self, PyObject *args)
{
    PyObject *h, *against;
    projection p = {0};
    if (!PyArg_ParseTuple(args, "OOdd", &h, &against, &p.options.lo, &p.options.hi) || !is_hist(self, h)) return NULL;
    p.alone = against == Py_None;
    if (p.alone) against = h;
    if (!is_hist(self, against) || stream_for(h, against, &p.options.stream) < 0) return NULL;
    return make_values(self, h, against, &p, project);
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
    if (status == HISTO_OK && stream_for(h, h, &s.options.stream) < 0) return NULL;
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

static int take(map_operands *o, PyObject *object, bool written)
{
    python_samples *s = &o->sources[o->taken];
    if ((written ? samples_take_writable : samples_take)(o->m->base.module, object, s) < 0) return -1;
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
        if (take(o, PyTuple_GetItem(arrays, a), false) < 0) return -1;
    if (out && take(o, out, true) < 0) return -1;
    if (mask == Py_None) return 0;
    o->options.mask = &o->views[o->taken];
    return take(o, mask, false);
}

static int list(const map_operands *o, const python_samples **all)
{
    for (int i = 0; i < o->taken; i++)
        all[i] = &o->sources[i];
    return o->taken;
}

/* All operands are in one memory; if it is a GPU's, they are ready on one stream, for which the map is used there. */
static int meet(map_operands *o, const histo_view *out)
{
    const python_samples *all[MAX_VIEWS], *on_gpu;
    if (samples_meet(list(o, all), all, &on_gpu) < 0) return -1;
    if (!on_gpu) return 0;
    o->options.stream = on_gpu->stream;
    o->m->on_gpu = true;
    for (int i = 0; out && i < o->taken; i++)
        if (&o->views[i] != out && map_check_overlap(&o->views[i], out) < 0) return -1;
    return 0;
}

static int settle(const map_operands *o)
{
    const python_samples *all[MAX_VIEWS];
    return samples_settle(list(o, all), all);
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
    if (status != HISTO_OK) return raise_status(status);
    return settle(o) < 0 ? NULL : Py_NewRef(Py_None);
}

int map_take_tiles(histo_tiles *tiles, PyObject *counts, PyObject *sizes)
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

/* _apply(arrays, out, mask or None, batch_ndim, tile counts, tile sizes, threads) */
static PyObject *map_apply(PyObject *self, PyObject *args)
{
    PyObject *arrays, *out, *mask, *counts, *sizes, *result = NULL;
    int batch_ndim;
    map_operands o = {.taken = 0};
    if (!PyArg_ParseTuple(args, "O!OOiO!O!i", &PyTuple_Type, &arrays, &out, &mask, &batch_ndim, &PyTuple_Type, &counts,
                          &PyTuple_Type, &sizes, &o.options.threads) ||
        map_take_tiles(&o.options.tiles, counts, sizes) < 0)
        return NULL;
    if (take_all(&o, self, arrays, out, mask) == 0 && meet(&o, &o.views[o.m->naxes]) == 0) {
        for (int i = 0; i < o.taken; i++)
            o.views[i].batch_ndim = batch_ndim;
        result = apply(&o);
    }
    release(&o);
    return result;
}

/* The memory of six doubles; NULL with an exception. */
static histo_moments *moments_place(map_operands *o, PyObject *out)
{
    if (samples_take_writable(o->m->base.module, out, &o->sources[o->taken]) < 0) return NULL;
    const python_samples *s = &o->sources[o->taken++];
    const histo_view *v = &s->view;
    const bool fits =
        v->dtype == HISTO_F64 && v->ndim == 1 && v->shape[0] == 6 && v->strides[0] == (int64_t)sizeof(double);
    if (!fits) PyErr_SetString(PyExc_ValueError, "out must be six float64, side by side");
    return fits ? (histo_moments *)v->data : NULL;
}

/* _moments(arrays, (x, y, width, height) or None, mask or None, threads, out=None) */
static PyObject *map_moments(PyObject *self, PyObject *args)
{
    PyObject *arrays, *window, *mask, *out = Py_None, *result = NULL;
    long long box[4] = {0};
    map_operands o = {.taken = 0};
    if (!PyArg_ParseTuple(args, "O!OOi|O", &PyTuple_Type, &arrays, &window, &mask, &o.options.threads, &out))
        return NULL;
    if (window != Py_None &&
        !PyArg_ParseTuple(window, "LLLL;a window is (x, y, width, height)", &box[0], &box[1], &box[2], &box[3]))
        return NULL;
    histo_moments s = {0}, *to = take_all(&o, self, arrays, NULL, mask) < 0 ? NULL
                                 : out == Py_None                           ? &s
                                                                            : moments_place(&o, out);
    map *m = to && meet(&o, NULL) == 0 ? map_lock(self) : NULL;
    if (m) {
        const int64_t within[] = {box[0], box[1], box[2], box[3]};
        histo_status status;
        const int64_t pixels = window == Py_None ? histo_view_size(&o.views[0]) : box[2] * box[3];
        UNLOCKED_IF(releases_gil(pixels) || m->on_gpu, status,
                    histo_map_moments(m->map, o.views, window == Py_None ? NULL : within, &o.options, to));
        locked_drop(&m->base);
        if (status != HISTO_OK)
            raise_status(status);
        else if (settle(&o) == 0)
            result = to == &s ? Py_BuildValue("dddddd", s.m00, s.m10, s.m01, s.m20, s.m11, s.m02) : Py_NewRef(Py_None);
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
