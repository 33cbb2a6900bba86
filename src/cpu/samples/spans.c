#include "cpu/samples/spans.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "axis/whole.h"
#include "base/bits.h"
#include "base/memory.h"

enum { FEWEST_SPANS = 1 << 4, MAX_SPANS = 1 << 16, SPANS_A_BIN = 16, SAMPLES_A_SPAN = 4 };

/* The span of an edge, computed as slots.c computes that of a sample. */
static uint32_t span_of(const histo_spans *c, double x)
{
    x = x > c->lo ? x : c->lo; /* fmax would be a function call */
    x = x < c->hi ? x : c->hi;
    if (c->by_bits) return (uint32_t)((histo_bits_of(x) - c->first_bits) >> c->shift);
    return (uint32_t)(int32_t)((x - c->lo) * c->per_span);
}

/* Spans lie between the first and last finite edge. If there is none, or their distance is infinite, one span has all
 * edges. */
static void choose_range(histo_spans *c, const histo_lookup *l)
{
    int32_t first = 0, last = l->bins;
    while (first < last && isinf(l->edges[first]))
        first++;
    while (last > first && isinf(l->edges[last]))
        last--;
    c->lo = isinf(l->edges[first]) ? 0 : l->edges[first];
    c->hi = isfinite(l->edges[last] - c->lo) ? l->edges[last] : c->lo;
}

/* The maximum number of edges in a span. */
static int32_t crowd(const histo_spans *c, const double *edges, int32_t bins)
{
    int32_t most = 0, in_span = 0;
    for (uint32_t e = 0, before = 0; e <= (uint32_t)bins; e++) {
        const uint32_t span = span_of(c, edges[e]);
        in_span = span == before ? in_span + 1 : 1;
        if (in_span > most) most = in_span;
        before = span;
    }
    return most;
}

static uint32_t spans_wanted(int64_t edges, int64_t samples)
{
    uint32_t wanted = FEWEST_SPANS;
    while (wanted < MAX_SPANS && wanted / SPANS_A_BIN < edges && wanted < samples / SAMPLES_A_SPAN)
        wanted *= 2;
    return wanted;
}

/* Choose spans of equal width, or with equally many bit patterns if these hold fewer edges; bit patterns increase with
 * the value only if lo is positive. Returns the number of spans. */
static uint32_t choose(histo_spans *c, const histo_lookup *l, int64_t samples)
{
    const uint32_t wanted = spans_wanted(l->bins, samples);
    /* The width of an axis is finite, but may be tiny, or 0 with either sign: from 0 to -0. */
    c->per_span = c->hi > c->lo ? fmin(wanted / (c->hi - c->lo), DBL_MAX) : 0;
    c->first_bits = histo_bits_of(c->lo);
    uint64_t patterns = histo_bits_of(c->hi) - c->first_bits;
    while (c->lo > 0 && patterns >> c->shift >= wanted)
        c->shift++;
    c->most = crowd(c, l->edges, l->bins);
    histo_spans by_bits = *c;
    by_bits.by_bits = true;
    if (c->lo > 0 && (by_bits.most = crowd(&by_bits, l->edges, l->bins)) < c->most) *c = by_bits;
    return span_of(c, c->hi) + 1;
}

static uint32_t span_of_key(const histo_spans *c, uint64_t key)
{
    return (uint32_t)((key - c->first_bits) >> c->shift);
}

static histo_status make_whole(histo_spans *spans, const histo_edge_keys *t, int64_t samples)
{
    histo_spans c = {.nan = (uint32_t)t->n};
    if (t->n > 0) c.first_bits = t->at[0], c.last_key = t->at[t->n - 1];
    const uint32_t wanted = spans_wanted(t->n, samples);
    while ((c.last_key - c.first_bits) >> c.shift >= wanted)
        c.shift++;
    for (int64_t i = 0, in_span = 0; i < t->n; i++) {
        in_span = i > 0 && span_of_key(&c, t->at[i]) == span_of_key(&c, t->at[i - 1]) ? in_span + 1 : 1;
        if (in_span > c.most) c.most = (int32_t)in_span;
    }
    const uint32_t count = span_of_key(&c, c.last_key) + 1;
    const size_t key_bytes = (size_t)(t->n + c.most) * sizeof(uint64_t), bytes = key_bytes + count * sizeof(int32_t);
    uint64_t *keys = histo_malloc(bytes);
    if (!keys) return histo_fail_memory(bytes, "the spans of an axis");
    int32_t *first = (int32_t *)((char *)keys + key_bytes), below = 0;
    memcpy(keys, t->at, (size_t)t->n * sizeof *keys);
    for (int32_t i = 0; i < c.most; i++)
        keys[t->n + i] = UINT64_MAX;
    for (uint32_t span = 0; span < count; span++) {
        first[span] = below;
        while (below < t->n && span_of_key(&c, t->at[below]) == span)
            below++;
    }
    c.memory = keys;
    c.keys = keys;
    c.first = first;
    *spans = c;
    return HISTO_OK;
}

histo_status histo_spans_make(histo_spans *spans, const histo_lookup *l, double off, int64_t samples)
{
    if (l->kind == HISTO_SEARCH_WHOLE) return make_whole(spans, l->thresholds, samples);
    if (off <= HISTO_NEAR) {
        *spans = (histo_spans){.near = true, .off = off, .edges = off > 0 ? l->edges : NULL};
        return HISTO_OK;
    }
    histo_spans c = {.nan = (uint32_t)l->bins + 2};
    choose_range(&c, l);
    uint32_t count = choose(&c, l, samples);
    size_t edge_bytes = (size_t)(l->bins + 1 + c.most) * sizeof(double), first_bytes = count * sizeof(int32_t);
    double *edges = histo_malloc(edge_bytes + first_bytes);
    if (!edges) return histo_fail_memory(edge_bytes + first_bytes, "the spans of an axis");
    int32_t *first = (int32_t *)((char *)edges + edge_bytes);
    memcpy(edges, l->edges, ((size_t)l->bins + 1) * sizeof *edges);
    edges[l->bins] = l->over;
    for (int32_t e = 0; e < c.most; e++)
        edges[l->bins + 1 + e] = NAN;
    uint32_t begun = 0;
    for (int32_t e = 0; e <= l->bins; e++)
        for (const uint32_t span = span_of(&c, l->edges[e]); begun <= span; begun++)
            first[begun] = e;
    c.memory = edges;
    c.edges = edges;
    c.first = first;
    *spans = c;
    return HISTO_OK;
}

void histo_spans_free(histo_spans *spans)
{
    histo_free(spans->memory);
    *spans = (histo_spans){.near = false};
}
