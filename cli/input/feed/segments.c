/* Offsets of segments: see segments.h. */
#include "input/feed/segments.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

/* Load an integer that fits int64_t; false for others. */
static bool load(const void *at, histo_dtype dtype, int64_t *number)
{
    double real = 0.5;
    float narrow;
    switch (dtype) {
#define CASE(constant, type)                                                                                           \
    case constant: {                                                                                                   \
        type stored;                                                                                                   \
        memcpy(&stored, at, sizeof stored);                                                                            \
        *number = (int64_t)stored;                                                                                     \
        return *number >= 0;                                                                                           \
    }
        CASE(HISTO_U8, uint8_t)
        CASE(HISTO_I8, int8_t)
        CASE(HISTO_U16, uint16_t)
        CASE(HISTO_I16, int16_t)
        CASE(HISTO_U32, uint32_t)
        CASE(HISTO_I32, int32_t)
        CASE(HISTO_U64, uint64_t)
        CASE(HISTO_I64, int64_t)
#undef CASE
    case HISTO_F32:
        memcpy(&narrow, at, sizeof narrow);
        real = (double)narrow;
        break;
    case HISTO_F64:
        memcpy(&real, at, sizeof real);
        break;
    default:
        break;
    }
    if (!(real >= 0 && real < 0x1p63)) return false;
    *number = (int64_t)real;
    return (double)*number == real;
}

static int add(segments *s, const histo_view *v, const input *in, fault *f)
{
    for (int64_t i = 0; i < v->shape[0] * v->shape[1]; i++) {
        int64_t *offsets = list_grown(s->offsets, s->have, sizeof *offsets);
        if (!offsets) return fault_set(f, EXIT_DATA, "no memory for the offsets %s", input_name(in));
        s->offsets = offsets;
        const char *at = v->data;
        at += i / v->shape[1] * v->strides[0] + i % v->shape[1] * v->strides[1];
        int64_t *next = &s->offsets[s->have];
        if (!load(at, v->dtype, next) || *next < (s->have ? next[-1] : 0) || (s->have == 0 && *next != 0))
            return fault_set(f, EXIT_DATA,
                             "number %" PRId64
                             " of the offsets %s is wrong: they must be whole, begin with 0 and never "
                             "decrease",
                             s->have + 1, input_name(in));
        s->have++;
    }
    return 0;
}

static int read_all(segments *s, reader *r, fault *f)
{
    const int first = 0;
    band b;
    int more = reader_select(r, &first, NULL, 1, f) == 0 ? 1 : -1;
    while (more > 0 && (more = r->next(r, &b, f)) > 0)
        if (add(s, &b.views[0], r->in, f) != 0) return -1;
    if (more < 0) return -1;
    if (s->have < 2)
        return fault_set(f, EXIT_DATA, "the offsets %s must be two or more: where each segment begins, and the end",
                         input_name(r->in));
    segments_rewind(s);
    s->cut = malloc((size_t)s->have * sizeof *s->cut);
    return s->cut ? 0 : fault_set(f, EXIT_DATA, "no memory for the offsets %s", input_name(r->in));
}

int segments_open(segments *s, const char *path, fault *f)
{
    static const read_options as_found = {.purpose = "offsets", .header = -1};
    reader *r = reader_open(path, &as_found, false, f);
    if (!r) return -1;
    const int failed = read_all(s, r, f);
    reader_close(r);
    return failed;
}

void segments_free(segments *s)
{
    free(s->offsets);
    free(s->cut);
}

int64_t segments_count(const segments *s)
{
    return s->have - 1;
}

const int64_t *segments_next(segments *s, int64_t n)
{
    for (; s->first < s->beyond; s->first++)
        s->cut[s->first] = 0;
    /* Samples after the last offset are an error, reported at the end. */
    for (; s->beyond < s->have - 1 && s->offsets[s->beyond] - s->position < n; s->beyond++)
        s->cut[s->beyond] = s->offsets[s->beyond] - s->position;
    for (int64_t i = s->beyond; i < s->have && n != s->length; i++)
        s->cut[i] = n;
    s->length = n;
    s->position += n;
    return s->cut;
}

void segments_rewind(segments *s)
{
    s->position = s->first = s->beyond = 0;
    s->length = -1;
}

int segments_end(const segments *s, const reader *data, fault *f)
{
    int64_t wanted = s->offsets[s->have - 1];
    if (s->position == wanted) return 0;
    return fault_set(f, EXIT_DATA, "%s has %" PRId64 " samples, and the last offset is %" PRId64 ": they must be equal",
                     input_name(data->in), s->position, wanted);
}
