/* Samples of one floating-point type -> slots and codes on a uniform axis, or one whose stored edges are nearly
 * regular. slots.c includes this once for each type: NAME(function) is the function's name for the type, TYPE is float
 * or double. */
#include "cpu/kernels/slots/fixed_template.h"

/* Slots by the guess and one comparison with an edge. edges: stored ones, or NULL. */
static void NAME(guessed_slots)(const histo_lookup *l, const double *restrict edges, const TYPE *restrict samples,
                                int n, uint32_t *restrict out)
{
    const double lo = l->lo, step = l->step, per_step = l->per_step, bins = l->bins, top = l->over;
    if (edges)
        for (int i = 0; i < n; i++)
            out[i] = uniform_slot(samples[i], lo, step, per_step, bins, top, edges);
    else
        for (int i = 0; i < n; i++)
            out[i] = uniform_slot(samples[i], lo, step, per_step, bins, top, NULL);
}

/* Slots by the nearest edge, if all samples are inside the axis; else false. */
static bool NAME(inside_slots)(const histo_lookup *l, const TYPE *restrict samples, int n, uint32_t *restrict out)
{
    const double lo = l->lo, step = l->step, per_step = l->per_step;
    const TYPE first = (TYPE)NAME(first)(l->lo), end = (TYPE)NAME(first)(l->hi);
    const uint32_t bins = (uint32_t)l->bins;
    uint32_t outside = 0;
    for (int i = 0; i < n; i++) {
        double x = (double)samples[i], rounded = (x - lo) * per_step + ROUND;
        double edge = lo + (rounded - ROUND) * step;
        uint32_t slot = (uint32_t)histo_bits_of(rounded) + (uint32_t)(x >= edge);
        outside |= (uint32_t) !(samples[i] >= first) | (uint32_t) !(samples[i] < end);
        out[i] = slot < bins ? slot : bins; /* hi is the last edge, however the edges are rounded */
    }
    return !outside;
}

/* Slots in double; samples inside the axis take fewer operations. near: the spans if the stored edges are nearly
 * regular, else NULL. */
static void NAME(exact_slots)(const histo_lookup *l, const histo_spans *near, const TYPE *samples, int n, uint32_t *out)
{
    const double *edges = near ? near->edges : NULL;
    const int first = n < BATCH ? n : BATCH; /* if one of these is outside, others probably are, too */
    if (edges || !NAME(inside_slots)(l, samples, first, out))
        NAME(guessed_slots)(l, edges, samples, n, out);
    else if (!NAME(inside_slots)(l, samples + first, n - first, out + first))
        NAME(guessed_slots)(l, NULL, samples + first, n - first, out + first);
}

/* Set up fixed point for slots; false if so many samples would be in doubt that it does not pay off. */
static bool NAME(slots_in_fixed)(const histo_lookup *l, const histo_spans *near, fixed_point *f)
{
    enum { FEW_DOUBTS = 2 };
    int bits = MAX_BITS;
    while (bits > 1 && (uint32_t)l->bins > 1U << (30 - bits))
        bits--;
    const double off = near ? near->off : 0;
    return fixed_of(l, off, (double)(TYPE)l->lo, sizeof(TYPE) == sizeof(uint32_t), bits, f) &&
           f->doubtful * (FEW_DOUBTS * BATCH) < 1U << bits;
}

static void NAME(uniform_slots)(const histo_lookup *l, const histo_spans *near, const TYPE *samples, int n,
                                uint32_t *out)
{
    fixed_point f;
    bool usable = n >= BATCH && NAME(slots_in_fixed)(l, near, &f);
    for (int i = 0, doubts = 0; i < n;) {
        int done = usable && doubts < 2 ? NAME(fixed_slots_run)(&f, samples + i, n - i, out + i) : 0;
        doubts = done ? 1 : doubts + 1; /* after two in a row, give up fixed point */
        i += done;
        int some = usable && doubts < 2 && n - i > BATCH ? BATCH : n - i;
        if (some) NAME(exact_slots)(l, near, samples + i, some, out + i);
        i += some;
    }
}

/* The slots of a piece, produced while those of the previous piece are counted. */
static void NAME(produce)(const histo_lookup *l, const histo_spans *spans, const void *from, uint32_t *out,
                          histo_consumer to)
{
    const TYPE *samples = from;
    const histo_spans *near = l->kind == HISTO_SEARCH ? spans : NULL;
    fixed_point f = {.exact = false};
    bool usable = NAME(slots_in_fixed)(l, near, &f);
    for (int i = 0, doubts = 0; i < HISTO_PIECE; i += BATCH) {
        histo_prefetch_l1(samples + i, BATCH * sizeof *samples);
        bool done = usable && doubts < 2 &&
                    (f.exact ? NAME(fixed_slots)(&f, true, samples + i, out + i)
                             : NAME(fixed_slots)(&f, false, samples + i, out + i));
        doubts = done ? 0 : doubts + 1;
        if (!done) NAME(exact_slots)(l, near, samples + i, BATCH, out + i);
        histo_consume(&to, i / BATCH);
    }
}

/* Codes in fixed point, except for batches that are in doubt or have samples outside the axis. */
static void NAME(codes)(const histo_lookup *l, const histo_spans *near, const TYPE *samples, int n, uint8_t *codes,
                        uint64_t flow[3])
{
    fixed_point f;
    const double off = near ? near->off : 0;
    bool usable = fixed_of(l, off, (double)(TYPE)l->lo, sizeof(TYPE) == sizeof(uint32_t), CODE_BITS, &f);
    uint32_t slots[HISTO_PIECE];
    for (int i = 0, doubts = 0; i < n;) {
        int done = usable && doubts < 2 ? NAME(fixed_codes_run)(&f, samples + i, n - i, codes + i) : 0;
        doubts = done ? 1 : doubts + 1;
        i += done;
        int some = usable && doubts < 2 && n - i > BATCH ? BATCH : n - i;
        if (some == 0) break;
        histo_prefetch_l2(samples + i, (size_t)some * sizeof *samples);
        /* If the only problem was a sample outside the axis, slots are still found in fixed point. */
        NAME(uniform_slots)(l, near, samples + i, some, slots);
        codes_of_slots(slots, some, (uint32_t)l->bins, codes + i, flow);
        i += some;
    }
}

#undef NAME
#undef TYPE
