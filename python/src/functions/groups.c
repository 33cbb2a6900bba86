/* Values in the order of their groups. */
#include <string.h>

#include "functions/functions.h"

/* A stable counting sort, in blocks whose groups are widened to 32 bits. */
enum { BLOCK = 1024 };

typedef struct grouping {
    Py_buffer groups, values, sorted, ends;
    int64_t samples, count; /* of samples, and of groups */
    size_t group_size, value_size;
} grouping;

static void widen(const grouping *g, int64_t first, int n, uint32_t *to)
{
    const char *from = (const char *)g->groups.buf + (size_t)first * g->group_size;
    switch (g->group_size) {
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

static int block_at(const grouping *g, int64_t first)
{
    return g->samples - first < BLOCK ? (int)(g->samples - first) : BLOCK;
}

/* Let ends[group] be the place of the group's first value; false if a sample has a group that is none. */
static bool find_places(const grouping *g, int64_t *ends)
{
    uint32_t groups[BLOCK], largest = 0;
    memset(ends, 0, (size_t)g->count * sizeof *ends);
    for (int64_t first = 0; first < g->samples; first += BLOCK) {
        const int n = block_at(g, first);
        widen(g, first, n, groups);
        for (int i = 0; i < n; i++)
            largest = groups[i] > largest ? groups[i] : largest;
        if (largest >= g->count) return false;
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

static bool sort(const grouping *g)
{
    uint32_t groups[BLOCK];
    int64_t *ends = g->ends.buf;
    if (!find_places(g, ends)) return false;
    for (int64_t first = 0; first < g->samples; first += BLOCK) {
        const int n = block_at(g, first);
        widen(g, first, n, groups);
        scatter_block(groups, (const char *)g->values.buf + (size_t)first * g->value_size, n, ends, g->sorted.buf,
                      g->value_size);
    }
    return true;
}

static PyObject *group(PyObject *module, PyObject *args)
{
    (void)module;
    grouping g;
    Py_ssize_t group_size, value_size;
    if (!PyArg_ParseTuple(args, "y*y*w*w*nn", &g.groups, &g.values, &g.sorted, &g.ends, &group_size, &value_size))
        return NULL;
    bool fits = (group_size == 1 || group_size == 2 || group_size == 4) && value_size > 0;
    if (fits) {
        g.group_size = (size_t)group_size;
        g.value_size = (size_t)value_size;
        g.samples = g.groups.len / group_size;
        g.count = g.ends.len / (int64_t)sizeof(int64_t);
        fits = g.values.len == g.samples * value_size && g.sorted.len == g.values.len;
    }
    if (fits) {
        Py_BEGIN_ALLOW_THREADS fits = sort(&g);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&g.groups);
    PyBuffer_Release(&g.values);
    PyBuffer_Release(&g.sorted);
    PyBuffer_Release(&g.ends);
    return fits ? Py_NewRef(Py_None)
                : PyErr_Format(PyExc_ValueError, "the groups do not belong to the values, or to the ends");
}

static PyMethodDef functions[] = {
    {"group", group, METH_VARARGS,
     "group(groups, values, sorted, ends, group_size, value_size)\n--\n\n"
     "Write values to sorted in the order of their groups, those of a group in the order in which they are given, and\n"
     "the place behind the last value of each group to ends, of int64. Groups are unsigned integers of 1, 2 or 4\n"
     "bytes. All are contiguous buffers; sizes are in bytes."},
    {0},
};

int groups_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
