/* Values by their groups: in the order of these, and sums of their powers. */
#include <string.h>

#include "functions/functions.h"
#include "functions/powers.h"

/* Groups are widened to 32 bits, a block of samples at a time. */
enum { BLOCK = 1024 };

typedef struct sample_groups {
    Py_buffer buffer;
    int64_t samples, count; /* of samples, and of groups */
    size_t size;            /* bytes of a group's number */
} sample_groups;

static int block_at(const sample_groups *g, int64_t first)
{
    return g->samples - first < BLOCK ? (int)(g->samples - first) : BLOCK;
}

static void widen(const sample_groups *g, int64_t first, int n, uint32_t *to)
{
    const char *from = (const char *)g->buffer.buf + (size_t)first * g->size;
    switch (g->size) {
    case 1:
        for (int i = 0; i < n; i++)
            to[i] = ((const uint8_t *)from)[i];
        return;
    case 2:
        for (int i = 0; i < n; i++)
            to[i] = ((const uint16_t *)from)[i];
        return;
    default:
        memcpy(to, from, (size_t)n * sizeof *to);
    }
}

/* The groups of the n samples from `first` on; false if one of them does not exist. */
static bool take_block(const sample_groups *g, int64_t first, int n, uint32_t *groups)
{
    const uint32_t last = (uint32_t)(g->count - 1);
    uint32_t beyond = g->count <= 0 || g->count - 1 > UINT32_MAX;
    widen(g, first, n, groups);
    for (int i = 0; i < n; i++)
        beyond |= groups[i] > last;
    return !beyond;
}

static bool is_size(Py_ssize_t size)
{
    return size == 1 || size == 2 || size == 4;
}

/* ---- A stable counting sort ---- */

typedef struct sorting {
    sample_groups groups;
    Py_buffer values, sorted, ends;
    size_t value_size;
} sorting;

static inline void scatter(const uint32_t *groups, const char *from, int n, int64_t *ends, char *to, size_t size)
{
    for (int i = 0; i < n; i++)
        memcpy(to + (size_t)ends[groups[i]]++ * size, from + (size_t)i * size, size);
}

/* Where the size is known, a value is moved by one instruction. */
static void scatter_block(const uint32_t *groups, const char *from, int n, int64_t *ends, char *to, size_t size)
{
    switch (size) {
    case 1:
        scatter(groups, from, n, ends, to, 1);
        return;
    case 2:
        scatter(groups, from, n, ends, to, 2);
        return;
    case 4:
        scatter(groups, from, n, ends, to, 4);
        return;
    case 8:
        scatter(groups, from, n, ends, to, 8);
        return;
    default:
        scatter(groups, from, n, ends, to, size);
    }
}

/* Let ends[group] be the place of the group's first value; false if a sample's group does not exist. */
static bool find_places(const sample_groups *g, int64_t *ends)
{
    uint32_t groups[BLOCK];
    memset(ends, 0, (size_t)g->count * sizeof *ends);
    for (int64_t first = 0; first < g->samples; first += BLOCK) {
        const int n = block_at(g, first);
        if (!take_block(g, first, n, groups)) return false;
        for (int i = 0; i < n; i++)
            ends[groups[i]]++;
    }
    int64_t before = 0;
    for (int64_t k = 0; k < g->count; k++) {
        const int64_t n = ends[k];
        ends[k] = before;
        before += n;
    }
    return true;
}

static bool sort(const sorting *s)
{
    const sample_groups *g = &s->groups;
    uint32_t groups[BLOCK];
    int64_t *ends = s->ends.buf;
    if (!find_places(g, ends)) return false;
    for (int64_t first = 0; first < g->samples; first += BLOCK) {
        const int n = block_at(g, first);
        widen(g, first, n, groups);
        scatter_block(groups, (const char *)s->values.buf + (size_t)first * s->value_size, n, ends, s->sorted.buf,
                      s->value_size);
    }
    return true;
}

static PyObject *group(PyObject *module, PyObject *args)
{
    (void)module;
    sorting s;
    sample_groups *const g = &s.groups;
    Py_ssize_t group_size, value_size;
    if (!PyArg_ParseTuple(args, "y*y*w*w*nn", &g->buffer, &s.values, &s.sorted, &s.ends, &group_size, &value_size))
        return NULL;
    bool fits = is_size(group_size) && value_size > 0;
    if (fits) {
        g->size = (size_t)group_size;
        g->samples = g->buffer.len / group_size;
        g->count = s.ends.len / (int64_t)sizeof(int64_t);
        s.value_size = (size_t)value_size;
        fits = s.values.len == g->samples * value_size && s.sorted.len == s.values.len;
    }
    if (fits) {
        Py_BEGIN_ALLOW_THREADS fits = sort(&s);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&g->buffer);
    PyBuffer_Release(&s.values);
    PyBuffer_Release(&s.sorted);
    PyBuffer_Release(&s.ends);
    return fits ? Py_NewRef(Py_None)
                : PyErr_Format(PyExc_ValueError, "the groups do not belong to the values, or to the ends");
}

/* ---- Sums of powers ---- */

typedef struct adding {
    sample_groups groups;
    Py_buffer values, totals, sums;
    double origin;
} adding;

/* False if a sample's group does not exist; the sums have then been added to. */
static bool add_all(const adding *a)
{
    const sample_groups *g = &a->groups;
    const double *values = a->values.buf;
    uint32_t groups[BLOCK];
    for (int64_t first = 0; first < g->samples; first += BLOCK) {
        const int n = block_at(g, first);
        if (!take_block(g, first, n, groups)) return false;
        add_powers_of(a->totals.buf, a->sums.buf, groups, values + first, n, a->origin);
    }
    return true;
}

static PyObject *add_powers(PyObject *module, PyObject *args)
{
    (void)module;
    adding a;
    sample_groups *const g = &a.groups;
    Py_ssize_t group_size;
    if (!PyArg_ParseTuple(args, "y*y*dw*w*n", &g->buffer, &a.values, &a.origin, &a.totals, &a.sums, &group_size))
        return NULL;
    bool fits = is_size(group_size);
    if (fits) {
        g->size = (size_t)group_size;
        g->samples = g->buffer.len / group_size;
        g->count = a.totals.len / (Py_ssize_t)sizeof(int64_t);
        fits = a.values.len == g->samples * (Py_ssize_t)sizeof(double) &&
               a.sums.len == g->count * (Py_ssize_t)sizeof(sums_pair);
    }
    if (fits) {
        Py_BEGIN_ALLOW_THREADS fits = add_all(&a);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&g->buffer);
    PyBuffer_Release(&a.values);
    PyBuffer_Release(&a.totals);
    PyBuffer_Release(&a.sums);
    return fits ? Py_NewRef(Py_None)
                : PyErr_Format(PyExc_ValueError, "the groups do not belong to the values, or to the sums");
}

static PyMethodDef functions[] = {
    {"group", group, METH_VARARGS,
     "group(groups, values, sorted, ends, group_size, value_size)\n--\n\n"
     "Write values to sorted in the order of their groups, those of a group in the order in which they are given, and\n"
     "the place behind the last value of each group to ends, of int64. Groups are unsigned integers of 1, 2 or 4\n"
     "bytes. All are contiguous buffers; sizes are in bytes."},
    {"add_powers", add_powers, METH_VARARGS,
     "add_powers(groups, values, origin, totals, sums, group_size)\n--\n\n"
     "Add the number of values in each group to totals, of int64, and those of d and d**2 to the sums of each group,\n"
     "where d is what a value is off the origin. Values and sums are buffers of doubles; groups are as for group."},
    {0},
};

int groups_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
