/* Reading the axes of a UHI document. */
#include <math.h>

#include "axis/whole.h"
#include "base/memory.h"
#include "counts/saved/uhi_loader.h"

/* Slots without a cell in the file (missing flow) stay 0. */
static void add_dimension(histo_uhi_loader *l, size_t at, const histo_axis *axis, bool underflow, bool overflow)
{
    l->axis_at[l->naxes] = at;
    l->axes[l->naxes++] = *axis;
    l->dims[l->ndims++] = (histo_uhi_dimension){axis->bins + underflow + overflow, !underflow, axis->bins + 3};
}

/* Edges that are integers of a type, all written in digits only; false if one is not. */
static bool read_whole(const histo_uhi_loader *l, size_t at, bool is_signed, uint64_t *whole)
{
    bool all = true;
    histo_json_walk walk = histo_json_enter(&l->doc, at);
    for (int64_t i = 0; histo_json_next(&walk) && all; i++)
        all = histo_json_whole(&l->doc, walk.value, is_signed, &whole[i]);
    return all;
}

static histo_status read_edges(const histo_uhi_loader *l, size_t at, histo_axis *axis)
{
    histo_status status = histo_uhi_check_array(l, at);
    if (status != HISTO_OK) return status;
    int64_t count = 0;
    for (histo_json_walk walk = histo_json_enter(&l->doc, at); histo_json_next(&walk);)
        count++;
    if (l->doc.pace->status != HISTO_OK) return l->doc.pace->status;
    if (count < 2) return FAIL(at, "an axis needs two edges or more");
    uint64_t *edges = histo_malloc((size_t)count * sizeof *edges);
    if (!edges) return histo_fail_memory((size_t)count * sizeof *edges, "the edges of an axis");
    *axis = histo_axis_variable_i64(count - 1, (const int64_t *)edges);
    bool is_whole = read_whole(l, at, true, edges);
    if (!is_whole) {
        *axis = histo_axis_variable_u64(count - 1, edges);
        is_whole = read_whole(l, at, false, edges);
    }
    if (!is_whole || histo_whole_are_doubles(axis)) {
        double *numbers = (double *)(void *)edges;
        histo_json_walk walk = histo_json_enter(&l->doc, at);
        for (int64_t i = 0; histo_json_next(&walk) && status == HISTO_OK; i++)
            status = histo_json_number(&l->doc, walk.value, &numbers[i]);
        if (status == HISTO_OK) *axis = histo_axis_variable(count - 1, numbers);
    }
    if (status == HISTO_OK) status = l->doc.pace->status;
    if (status != HISTO_OK) histo_free(edges);
    return status;
}

/* Read the range and the number of bins of a regular axis. */
static histo_status read_range(const histo_uhi_loader *l, size_t lower, size_t upper, size_t at_bins, histo_axis *axis)
{
    uint64_t bins;
    histo_status status = histo_json_number(&l->doc, lower, &axis->lo);
    if (status == HISTO_OK) status = histo_json_number(&l->doc, upper, &axis->hi);
    if (status == HISTO_OK) status = histo_json_count(&l->doc, at_bins, &bins);
    if (status != HISTO_OK) return status;
    if (bins > (uint64_t)HISTO_MAX_BINS)
        return FAIL(at_bins, "an axis has at most %lld bins", (long long)HISTO_MAX_BINS);
    axis->bins = (int64_t)bins;
    return HISTO_OK;
}

/* Read what writer_info says about an axis that the file stores as regular or variable. */
static histo_status read_axis_details(const histo_uhi_loader *l, size_t writer_info, bool regular, histo_axis *axis)
{
    enum { KIND, POWER, CLOSED, KEYS };
    static const char *const keys[] = {"kind", "power", "closed"};
    size_t members[KEYS];
    histo_status status = histo_uhi_find_details(l, writer_info, KEYS, keys, members);
    if (status == HISTO_OK && members[CLOSED]) status = histo_json_bool(&l->doc, members[CLOSED], &axis->closed);
    int kind = regular ? HISTO_REGULAR : HISTO_VARIABLE;
    if (status == HISTO_OK && members[KIND]) {
        kind = histo_uhi_choice(l, members[KIND], HISTO_UHI_KINDS, histo_uhi_kinds);
        if (kind < 0 || (regular && kind != HISTO_REGULAR && kind != HISTO_INTEGER))
            return FAIL(members[KIND], "this is not a kind that the axis can be");
    }
    axis->kind = (histo_axis_kind)kind;
    if (kind == HISTO_SQRT) axis->power = 0.5;
    if (status != HISTO_OK || kind != HISTO_POWER) return status;
    if (!members[POWER]) return FAIL(members[KIND], "a power axis needs its power");
    return histo_json_number(&l->doc, members[POWER], &axis->power);
}

static histo_status read_numeric_axis(histo_uhi_loader *l, size_t at, bool regular)
{
    enum { HAS_UNDERFLOW, HAS_OVERFLOW, CIRCULAR, NEEDED, LOWER = NEEDED, UPPER, BINS, EDGES, WRITER, KEYS };
    static const char *const keys[] = {"underflow", "overflow", "circular", "lower",
                                       "upper",     "bins",     "edges",    "writer_info"};
    size_t members[KEYS];
    bool underflow, overflow, circular;
    histo_axis axis = {.kind = HISTO_REGULAR};
    histo_status status = histo_json_find(&l->doc, at, KEYS, keys, NEEDED, members);
    if (status == HISTO_OK) status = histo_json_bool(&l->doc, members[HAS_UNDERFLOW], &underflow);
    if (status == HISTO_OK) status = histo_json_bool(&l->doc, members[HAS_OVERFLOW], &overflow);
    if (status == HISTO_OK) status = histo_json_bool(&l->doc, members[CIRCULAR], &circular);
    if (status != HISTO_OK) return status;
    if (circular) return FAIL_UNSUPPORTED(members[CIRCULAR], "circular axes are not supported");
    if (regular && !(members[LOWER] && members[UPPER] && members[BINS]))
        return FAIL(at, "a regular axis needs \"lower\", \"upper\" and \"bins\"");
    if (!regular && !members[EDGES]) return FAIL(at, "a variable axis needs \"edges\"");
    status = regular ? read_range(l, members[LOWER], members[UPPER], members[BINS], &axis)
                     : read_edges(l, members[EDGES], &axis);
    if (status != HISTO_OK) return status;
    status = read_axis_details(l, members[WRITER], regular, &axis);
    add_dimension(l, at, &axis, underflow, overflow); /* takes the edges, which the loader frees with its axes */
    return status;
}

static histo_status read_category_axis(histo_uhi_loader *l, size_t at)
{
    enum { CATEGORIES, FLOW, WRITER, KEYS };
    static const char *const keys[] = {"categories", "flow", "writer_info"};
    static const char *const detail_keys[] = {"kind"};
    size_t members[KEYS], kind;
    bool flow;
    histo_status status = histo_json_find(&l->doc, at, KEYS, keys, 2, members);
    if (status == HISTO_OK) status = histo_json_bool(&l->doc, members[FLOW], &flow);
    if (status == HISTO_OK) status = histo_uhi_find_details(l, members[WRITER], 1, detail_keys, &kind);
    if (status == HISTO_OK) status = histo_uhi_check_array(l, members[CATEGORIES]);
    if (status != HISTO_OK) return status;
    int64_t n = 0;
    double first = 0;
    for (histo_json_walk walk = histo_json_enter(&l->doc, members[CATEGORIES]); histo_json_next(&walk); n++) {
        double category;
        status = histo_json_number(&l->doc, walk.value, &category);
        if (status != HISTO_OK) return status;
        if (n == 0) first = category;
        if (category != first + (double)n || fabs(category) > 0x1p53)
            return FAIL_UNSUPPORTED(walk.value, "integer categories must be consecutive, and within 2^53");
    }
    if (l->doc.pace->status != HISTO_OK) return l->doc.pace->status;
    if (kind && histo_json_is(&l->doc, kind, "batch")) {
        if (l->ndims > 0 || flow || n == 0) return FAIL(at, "the axis of a batch comes first, and has no flow");
        l->batch = n;
        l->dims[l->ndims++] = (histo_uhi_dimension){n, 0, n};
        return HISTO_OK;
    }
    histo_axis axis = {.kind = HISTO_INTEGER, .bins = n, .lo = first, .hi = first + (double)n};
    add_dimension(l, at, &axis, false, flow);
    return HISTO_OK;
}

/* The bins of strings are numbered from 0. */
static histo_status read_words_axis(histo_uhi_loader *l, size_t at)
{
    enum { CATEGORIES, FLOW, KEYS };
    static const char *const keys[] = {"categories", "flow"};
    size_t members[KEYS];
    bool flow;
    int64_t n = 0;
    histo_status status = histo_json_find(&l->doc, at, KEYS, keys, KEYS, members);
    if (status == HISTO_OK) status = histo_json_bool(&l->doc, members[FLOW], &flow);
    if (status == HISTO_OK) status = histo_uhi_check_array(l, members[CATEGORIES]);
    if (status != HISTO_OK) return status;
    for (histo_json_walk walk = histo_json_enter(&l->doc, members[CATEGORIES]); histo_json_next(&walk); n++)
        if (histo_json_type(&l->doc, walk.value) != '"') return FAIL(walk.value, "a string should stand here");
    const histo_axis axis = histo_axis_integer(0, n);
    add_dimension(l, at, &axis, false, flow);
    return l->doc.pace->status;
}

static histo_status read_axis(histo_uhi_loader *l, size_t at)
{
    enum { REGULAR, VARIABLE, BOOLEAN, CATEGORY_INT, CATEGORY_STR, TYPES };
    static const char *const types[] = {"regular", "variable", "boolean", "category_int", "category_str"};
    static const char *const keys[] = {"type"};
    size_t type;
    histo_status status = histo_json_find(&l->doc, at, 1, keys, 1, &type);
    if (status != HISTO_OK) return status;
    if (l->naxes == HISTO_MAX_AXES) return FAIL_UNSUPPORTED(at, "there are more than %d axes", HISTO_MAX_AXES);
    int which = histo_uhi_choice(l, type, TYPES, types);
    switch (which) {
    case REGULAR:
    case VARIABLE:
        return read_numeric_axis(l, at, which == REGULAR);
    case CATEGORY_INT:
        return read_category_axis(l, at);
    case BOOLEAN: {
        histo_axis axis = histo_axis_integer(0, 2);
        add_dimension(l, at, &axis, false, false);
        return HISTO_OK;
    }
    case CATEGORY_STR:
        return read_words_axis(l, at);
    }
    return FAIL(type, "this is not a type of axis in schema 1");
}

histo_status histo_uhi_read_axes(histo_uhi_loader *l, size_t at)
{
    histo_status status = histo_uhi_check_array(l, at);
    l->batch = 1;
    for (histo_json_walk walk = histo_json_enter(&l->doc, at); status == HISTO_OK && histo_json_next(&walk);)
        status = read_axis(l, walk.value);
    if (status == HISTO_OK) status = l->doc.pace->status;
    if (status != HISTO_OK) return status;
    if (l->naxes == 0) return FAIL_UNSUPPORTED(at, "a histogram needs one axis or more");
    int64_t bins, slots;
    const histo_hist_options kind = {.batch = l->batch, .weighting = l->weighting, .storage = l->storage};
    status = histo_slots_count(l->naxes, l->axes, &kind, &bins, &slots);
    if (status != HISTO_OK) return histo_uhi_blame(l, at, status);
    if (l->storage == HISTO_DENSE) status = histo_uhi_check_memory(l, at, l->batch * slots, 3 * sizeof(double));
    for (int a = 0; a < l->naxes && status == HISTO_OK; a++)
        status = histo_uhi_blame(l, l->axis_at[a], histo_axis_check(&l->axes[a]));
    return status;
}
