/* Images mapped by their own histograms, in one call: count an image, make a map of the counts, apply it to the image.
 * For images in the memory of a GPU all three are enqueued on one stream, without waiting, by what the cache keeps. */
#include <string.h>

#include "functions/plan_cache.h"
#include "hist/hist.h"
#include "maps/map.h"
#include "samples/samples.h"
#include "state/unlocked.h"

typedef enum remap_kind { EQUALIZE, MATCH, CLASSES } remap_kind;

enum { MAX_SOURCES = 6 };

typedef struct remapping {
    PyObject *module;
    int taken;
    python_samples sources[MAX_SOURCES];
    Py_buffer edges[2];
    histo_axis axes[2];
    histo_view image, out, counted[2], masks[2];
    count_request count[2]; /* of the image, and of a reference */
    cache_request request;
    remap_kind kind;
    histo_make_options options;
    histo_split_method method;
    int classes;
    PyObject *model; /* the reference, if it is a Histogram */
    histo_apply_options applying;
} remapping;

/* ---- Operands ---- */

static const python_samples *take(remapping *r, PyObject *object, bool written)
{
    python_samples *s = &r->sources[r->taken];
    const int taken = written ? samples_take_writable(r->module, object, s) : samples_take(r->module, object, s);
    if (taken < 0) return NULL;
    r->taken++;
    return s;
}

/* Move dimensions to the front, in this order: they become those of the batch. */
static int move_to_front(histo_view *v, PyObject *dimensions)
{
    const histo_view from = *v;
    bool moved[HISTO_MAX_DIMS] = {false};
    const Py_ssize_t n = PyTuple_Size(dimensions);
    int next = 0;
    if (n < 0) return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        const long d = PyLong_AsLong(PyTuple_GetItem(dimensions, i));
        if (d < 0 || d >= from.ndim || moved[d]) {
            if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "there is no dimension %ld to move", d);
            return -1;
        }
        moved[d] = true;
        v->shape[next] = from.shape[d];
        v->strides[next++] = from.strides[d];
    }
    for (int d = 0; d < from.ndim; d++) {
        if (moved[d]) continue;
        v->shape[next] = from.shape[d];
        v->strides[next++] = from.strides[d];
    }
    v->batch_ndim = (int)n;
    return 0;
}

static int take_view(remapping *r, PyObject *object, PyObject *front, bool written, histo_view *view)
{
    const python_samples *s = take(r, object, written);
    if (!s) return -1;
    *view = s->view;
    return move_to_front(view, front);
}

/* What is counted, by an axis and a mask that may be None. */
static int take_count(remapping *r, PyObject *mask, PyObject *front, PyObject *axis)
{
    const int i = r->request.counts++;
    if (mask != Py_None && take_view(r, mask, front, false, &r->masks[i]) < 0) return -1;
    if (axis_take(axis, &r->axes[i], &r->edges[i]) < 0) return -1;
    r->count[i] = (count_request){.naxes = 1,
                                  .axes = &r->axes[i],
                                  .views = &r->counted[i],
                                  .mask = mask == Py_None ? NULL : &r->masks[i],
                                  .threads = r->applying.threads,
                                  .home = HISTO_DEVICE_CPU};
    r->request.count[i] = &r->count[i];
    return 0;
}

/* The tiles of images as a batch: from (batch, image) to (batch, tiles, a tile). */
static int cut_into_tiles(histo_view *v, const histo_tiles *tiles)
{
    const histo_view from = *v;
    const int batch = from.batch_ndim, n = tiles->ndim;
    bool whole = from.ndim == batch + n;
    for (int d = 0; d < n && whole; d++)
        whole = from.shape[batch + d] == tiles->count[d] * tiles->size[d];
    if (!whole || batch + 2 * n > HISTO_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError,
                     whole ? "an image has at most %d dimensions, with those of its tiles"
                           : "the image is not a whole number of tiles",
                     HISTO_MAX_DIMS);
        return -1;
    }
    v->ndim = batch + 2 * n;
    v->batch_ndim = batch + n;
    for (int d = 0; d < n; d++) {
        v->shape[batch + d] = tiles->count[d];
        v->strides[batch + d] = tiles->size[d] * from.strides[batch + d];
        v->shape[batch + n + d] = tiles->size[d];
        v->strides[batch + n + d] = from.strides[batch + d];
    }
    return 0;
}

/* The addresses of a view: from *low up to *high. */
static void range_of(const histo_view *v, const char **low, const char **high)
{
    *low = v->data;
    *high = *low + histo_dtype_size(v->dtype);
    for (int d = 0; d < v->ndim; d++) {
        const int64_t reach = (v->shape[d] - 1) * v->strides[d];
        *(reach < 0 ? low : high) += reach;
    }
}

static bool are_same(const histo_view *a, const histo_view *b)
{
    bool same = a->data == b->data && a->ndim == b->ndim && histo_dtype_size(a->dtype) == histo_dtype_size(b->dtype);
    for (int d = 0; same && d < a->ndim; d++)
        same = a->shape[d] == b->shape[d] && (a->strides[d] == b->strides[d] || a->shape[d] == 1);
    return same;
}

int map_check_overlap(const histo_view *samples, const histo_view *out)
{
    const char *low[2], *high[2];
    if (histo_view_size(samples) == 0 || histo_view_size(out) == 0 || are_same(samples, out)) return 0;
    range_of(samples, &low[0], &high[0]);
    range_of(out, &low[1], &high[1]);
    if (high[0] <= low[1] || high[1] <= low[0]) return 0;
    PyErr_SetString(PyExc_ValueError, "out overlaps the samples: pass the samples' own array, or other memory");
    return -1;
}

/* All operands are in one memory; if it is a GPU's, they are ready on one stream. */
static int meet(remapping *r, const python_samples **all)
{
    const python_samples *on_gpu;
    for (int i = 0; i < r->taken; i++)
        all[i] = &r->sources[i];
    if (samples_meet(r->taken, all, &on_gpu) < 0) return -1;
    if (map_check_overlap(&r->image, &r->out) < 0) return -1;
    if (!on_gpu) return 0;
    for (int i = 0; i < r->request.counts; i++) {
        r->count[i].home = on_gpu->home;
        r->count[i].stream = on_gpu->stream;
    }
    r->options.stream = r->applying.stream = on_gpu->stream;
    return 0;
}

/* ---- The call ---- */

static histo_status make(const remapping *r, const cached_objects *objects)
{
    const histo_hist *const counts = objects->hist[0];
    switch (r->kind) {
    case EQUALIZE:
        return histo_map_equalize(objects->map, counts, &r->options);
    case MATCH:
        return histo_map_match(objects->map, counts, r->model ? ((hist *)r->model)->hist : objects->hist[1],
                               r->options.stream);
    case CLASSES:
        break;
    }
    return histo_map_classes(objects->map, counts, r->method, r->classes, &r->options);
}

static histo_status work(const cached_objects *objects, void *state)
{
    const remapping *r = state;
    histo_status status = HISTO_OK;
    for (int i = 0; i < r->request.counts && status == HISTO_OK; i++) {
        const histo_fill_options fill = plan_cache_fill_options(&r->count[i]);
        status = histo_plan_fill(objects->plan[i], objects->hist[i], &r->counted[i], &fill);
    }
    if (status == HISTO_OK) status = make(r, objects);
    return status == HISTO_OK ? histo_map_apply(objects->map, &r->image, &r->out, &r->applying) : status;
}

static PyObject *run(remapping *r)
{
    const python_samples *all[MAX_SOURCES];
    histo_status status;
    if (meet(r, all) < 0 || (r->model && !hist_lock(r->model))) return NULL;
    UNLOCKED(status, plan_cache_use(&r->request, work, r));
    if (r->model) hist_unlock((hist *)r->model);
    if (status != HISTO_OK) return raise_status(status);
    return samples_settle(r->taken, all) < 0 ? NULL : Py_NewRef(Py_None);
}

/* ---- Arguments ---- */

static int parse_kind(remapping *r, const char *name, PyObject *arguments)
{
    const char *method;
    int cdf;
    if (strcmp(name, "equalize") == 0) {
        r->kind = EQUALIZE;
        if (!PyArg_ParseTuple(arguments, "ddpd", &r->options.lo, &r->options.hi, &cdf, &r->options.clip)) return -1;
        r->options.rule = cdf ? HISTO_EQUALIZE_CDF : HISTO_EQUALIZE_MINIMUM;
        return 0;
    }
    if (strcmp(name, "match") == 0) {
        r->kind = MATCH;
        return 0;
    }
    r->kind = CLASSES;
    if (!PyArg_ParseTuple(arguments, "si", &method, &r->classes)) return -1;
    if (histo_split_method_parse(method, &r->method) == HISTO_OK) return 0;
    raise_status(HISTO_INVALID);
    return -1;
}

/* A Histogram, or (array, mask or None, dimensions to move to the front, axis). */
static int take_reference(remapping *r, PyObject *reference)
{
    PyObject *array, *mask, *front, *axis;
    if (reference == Py_None) return 0;
    if (PyObject_IsInstance(reference, (PyObject *)state_of_module(r->module)->hist_type) == 1) {
        r->model = reference;
        return 0;
    }
    if (!PyArg_ParseTuple(reference, "OOO!O", &array, &mask, &PyTuple_Type, &front, &axis)) return -1;
    if (take_view(r, array, front, false, &r->counted[1]) < 0) return -1;
    return take_count(r, mask, front, axis);
}

static int take_tiles(histo_tiles *tiles, PyObject *counts, PyObject *sizes)
{
    if (map_take_tiles(tiles, counts, sizes) < 0) return -1;
    for (int d = 0; d < tiles->ndim; d++) {
        if (tiles->count[d] > 0 && tiles->size[d] > 0 && tiles->count[d] <= INT64_MAX / tiles->size[d]) continue;
        PyErr_SetString(PyExc_ValueError, "the tiles have a number and a size");
        return -1;
    }
    return 0;
}

static int take_all(remapping *r, PyObject *args)
{
    PyObject *arguments, *image, *counted, *out, *mask, *front, *axis, *counts, *sizes, *reference;
    const char *kind;
    int linear;
    if (!PyArg_ParseTuple(args, "sO!OOOOO!OpO!O!Oi", &kind, &PyTuple_Type, &arguments, &image, &counted, &out, &mask,
                          &PyTuple_Type, &front, &axis, &linear, &PyTuple_Type, &counts, &PyTuple_Type, &sizes,
                          &reference, &r->applying.threads))
        return -1;
    histo_tiles *tiles = &r->applying.tiles;
    r->request.maps = true;
    r->request.within = linear ? HISTO_MAP_LINEAR : HISTO_MAP_STEP;
    if (parse_kind(r, kind, arguments) < 0 || take_tiles(tiles, counts, sizes) < 0) return -1;
    if (take_view(r, image, front, false, &r->image) < 0 || take_view(r, out, front, true, &r->out) < 0) return -1;
    r->counted[0] = r->image;
    if (counted != Py_None && take_view(r, counted, front, false, &r->counted[0]) < 0) return -1;
    if (tiles->ndim && cut_into_tiles(&r->counted[0], tiles) < 0) return -1;
    if (take_count(r, mask, front, axis) < 0) return -1;
    return take_reference(r, reference);
}

static PyObject *remap(PyObject *module, PyObject *args)
{
    remapping r = {.module = module};
    PyObject *result = take_all(&r, args) == 0 ? run(&r) : NULL;
    for (int i = 0; i < 2; i++)
        PyBuffer_Release(&r.edges[i]);
    for (int i = 0; i < r.taken; i++)
        samples_release(&r.sources[i]);
    return result;
}

static PyMethodDef functions[] = {
    {"remap", remap, METH_VARARGS,
     "remap(kind, arguments, image, counted, out, mask, front, axis, linear, tiles, sizes, reference, threads)\n--\n\n"
     "Write to `out` the image, mapped by its histogram: \"equalize\" with (lo, hi, whether by cdf, clip), \"match\" "
     "with\n"
     "() and a reference, \"classes\" with (method, classes). front: dimensions that become those of a batch, of "
     "which\n"
     "each image has a map of its own. counted: what is counted instead of the image, or None. tiles, sizes: () or, "
     "for\n"
     "each dimension of an image, how many tiles it has, and how large they are; each has a map. reference: None, a\n"
     "Histogram, or (array, mask, front, axis). Nothing waits for a GPU, unless the host makes the map."},
    {0},
};

int remap_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
