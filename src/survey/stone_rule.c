/* As in NumPy, the candidates are 1 to max(100, sqrt(n)) bins. Each candidate counts the samples with its own exact
 * edges, so a pass handles as many candidates as fit in memory. Samples of 8 and 16 bits are counted once by value; all
 * candidates are computed from these counts. */
#include "survey/stone_rule.h"

#include <math.h>
#include <string.h>

#include "axis/axis.h"
#include "axis/filter.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads/monitor.h"
#include "survey/device.h"
#include "view/dtype.h"

enum {
    ROOM = 1 << 20,   /* total bins of all candidates of a pass; also the number of their edges */
    VALUES = 1 << 16, /* of 16-bit samples */
};

struct histo_stone_rule {
    histo_dtype dtype;
    uint64_t n;
    double lo, hi;
    int64_t last;       /* the largest candidate */
    int64_t begin, end; /* candidates of this pass: begin … end - 1 bins */
    int64_t best;
    double best_error;  /* estimated */
    uint64_t *counts;   /* [ROOM]: bins of the first candidate, of the second, … */
    double *edges;      /* [ROOM]: likewise, for candidates that need stored edges */
    uint64_t *of_value; /* [VALUES]: occurrences of each bit pattern of 8- or 16-bit samples; else NULL */
};

histo_status histo_stone_rule_create(histo_stone_rule **stone, histo_dtype dtype)
{
    histo_stone_rule *s = histo_calloc(1, sizeof *s);
    if (!s) return histo_fail_memory(sizeof *s, "Stone's rule");
    s->dtype = dtype;
    bool few = histo_dtype_size(dtype) <= 2;
    s->counts = histo_malloc(ROOM * sizeof *s->counts);
    s->edges = histo_malloc(ROOM * sizeof *s->edges);
    s->of_value = few ? histo_malloc(VALUES * sizeof *s->of_value) : NULL;
    if (!s->counts || !s->edges || (few && !s->of_value)) {
        histo_stone_rule_destroy(s);
        return histo_fail_memory(ROOM * (sizeof *s->counts + sizeof *s->edges), "Stone's rule");
    }
    *stone = s;
    return HISTO_OK;
}

void histo_stone_rule_destroy(histo_stone_rule *stone)
{
    if (!stone) return;
    histo_free(stone->counts);
    histo_free(stone->edges);
    histo_free(stone->of_value);
    histo_free(stone);
}

static histo_axis candidate(const histo_stone_rule *s, int64_t bins)
{
    return histo_axis_closed(histo_axis_regular(bins, s->lo, s->hi));
}

/* Select the candidates of the next pass, as many as fit, and store their edges where needed. */
static void take_candidates(histo_stone_rule *s)
{
    s->begin = s->end;
    int64_t used = 0;
    while (s->end <= s->last && used + s->end + 1 <= ROOM) {
        histo_axis axis = candidate(s, s->end);
        if (!histo_axis_is_uniform(&axis) && histo_axis_edges(&axis, s->edges + used) != HISTO_OK) {
            s->last = s->end - 1; /* the range is too narrow for more bins */
            break;
        }
        used += s->end + 1;
        s->end++;
    }
    memset(s->counts, 0, (size_t)used * sizeof *s->counts);
}

void histo_stone_rule_start(histo_stone_rule *s, uint64_t n, double lo, double hi)
{
    s->n = n;
    s->lo = lo;
    s->hi = hi;
    s->last = (int64_t)fmin(fmax(100, sqrt((double)n)), ROOM - 1);
    s->end = 1;
    s->best = 1;
    s->best_error = INFINITY;
    if (s->of_value) memset(s->of_value, 0, VALUES * sizeof *s->of_value);
    take_candidates(s);
}

/* Count each value times[i] times, or once if `times` is NULL, for all candidates of this pass. */
#define DEFINE_COUNT(name, type, axis_dtype)                                                                           \
    static void count_##name(histo_stone_rule *s, const type *values, const uint64_t *times, int64_t n)                \
    {                                                                                                                  \
        int64_t used = 0;                                                                                              \
        for (int64_t bins = s->begin; bins < s->end; bins++) {                                                         \
            histo_axis axis = candidate(s, bins);                                                                      \
            if (!histo_axis_is_uniform(&axis)) axis.edges = s->edges + used;                                           \
            histo_lookup lookup;                                                                                       \
            histo_lookup_start(&lookup, &axis, axis_dtype); /* the edges are not those of an owned axis */             \
            for (int64_t i = 0; i < n; i++)                                                                            \
                s->counts[used + histo_slot_##name(&lookup, values[i]) - 1] += times ? times[i] : 1;                   \
            used += bins + 1;                                                                                          \
        }                                                                                                              \
    }
DEFINE_COUNT(f64, double, HISTO_F64)
DEFINE_COUNT(i64, int64_t, HISTO_I64)
DEFINE_COUNT(u64, uint64_t, HISTO_U64)

static void count_values(histo_stone_rule *s, const void *block, int64_t count)
{
    if (histo_dtype_size(s->dtype) == 1)
        for (int64_t i = 0; i < count; i++)
            s->of_value[((const uint8_t *)block)[i]]++;
    else
        for (int64_t i = 0; i < count; i++)
            s->of_value[((const uint16_t *)block)[i]]++;
}

enum { PIECE = 2048 };

void histo_stone_rule_add(histo_stone_rule *s, const void *block, int64_t count)
{
    if (s->of_value) {
        count_values(s, block, count);
        return;
    }
    size_t size = histo_dtype_size(s->dtype);
    for (int64_t begin = 0; begin < count; begin += PIECE) {
        int64_t length = count - begin < PIECE ? count - begin : PIECE;
        const void *piece = (const char *)block + (size_t)begin * size;
        double widened[PIECE];
        switch (s->dtype) {
        case HISTO_I64:
            count_i64(s, piece, NULL, length);
            break;
        case HISTO_U64:
            count_u64(s, piece, NULL, length);
            break;
        default:
            histo_widen(s->dtype, piece, length, widened);
            count_f64(s, widened, NULL, length);
        }
    }
}

/* Nothing changes unless all candidates are counted. */
static histo_status count_candidates(histo_stone_rule *s, const histo_source *source, uint64_t *counts)
{
    histo_status status = HISTO_OK;
    uint64_t *at = counts;
    for (int64_t bins = s->begin; bins < s->end && status == HISTO_OK; bins++) {
        const histo_axis axis = candidate(s, bins);
        status = histo_source_fill(source, &axis, false, at);
        memmove(at, at + 1, (size_t)bins * sizeof *at); /* drop the underflow */
        at += bins;
        *at++ = 0;
    }
    for (int64_t i = 0; i < at - counts && status == HISTO_OK; i++)
        s->counts[i] += counts[i];
    return status;
}

static histo_status count_each_value(histo_stone_rule *s, const histo_source *source, uint64_t *counts)
{
    const int64_t values = (int64_t)1 << 8 * histo_dtype_size(s->dtype);
    const histo_axis axis = histo_axis_regular(values, 0, (double)values);
    const histo_status status = histo_source_fill(source, &axis, true, counts);
    for (int64_t i = 0; i < values && status == HISTO_OK; i++)
        s->of_value[i] += counts[i + 1];
    return status;
}

histo_status histo_stone_rule_count(histo_stone_rule *s, const histo_source *source)
{
    const size_t size = (ROOM + 3) * sizeof(uint64_t);
    uint64_t *counts = histo_malloc(size);
    if (!counts) return histo_fail_memory(size, "Stone's rule");
    const histo_status status = s->of_value ? count_each_value(s, source, counts) : count_candidates(s, source, counts);
    histo_free(counts);
    return status;
}

/* Fill the candidates of this pass from the counts of values. */
static void count_from_values(histo_stone_rule *s)
{
    double values[PIECE];
    uint64_t times[PIECE];
    int64_t n = 0;
    for (int pattern = 0; pattern < VALUES; pattern++) {
        if (s->of_value[pattern]) {
            uint8_t one = (uint8_t)pattern;
            uint16_t two = (uint16_t)pattern;
            values[n] =
                histo_sample_value(histo_dtype_size(s->dtype) == 1 ? (const void *)&one : (const void *)&two, s->dtype);
            times[n++] = s->of_value[pattern];
        }
        if (n == PIECE || pattern == VALUES - 1) {
            count_f64(s, values, times, n);
            n = 0;
        }
    }
}

/* The cross-validation estimate of the integrated squared error is bins * (2 - (n + 1) * sum of (count/n)^2) / spread.
 * We compare it times n^2 * spread: an integer, so ties are exact up to 2^53, and the smaller number of bins wins
 * them. */
static void judge_candidates(histo_stone_rule *s)
{
    const uint64_t *counts = s->counts;
    double n = (double)s->n;
    for (int64_t bins = s->begin; bins < s->end; bins++) {
        double squares = 0;
        for (int64_t i = 0; i < bins; i++)
            squares += (double)counts[i] * (double)counts[i];
        double error = (double)bins * (2 * n * n - (n + 1) * squares);
        if (error < s->best_error) {
            s->best_error = error;
            s->best = bins;
        }
        counts += bins + 1;
    }
}

histo_status histo_stone_rule_end_pass(histo_stone_rule *s, bool *done)
{
    do {
        const histo_status status = histo_go_on("surveying", HISTO_MUCH_WORK, s->begin, s->last);
        if (status != HISTO_OK) return status;
        if (s->of_value) count_from_values(s);
        judge_candidates(s);
        take_candidates(s);
    } while (s->of_value && s->begin < s->end);
    *done = s->begin == s->end;
    return HISTO_OK;
}

/* The counts of this pass; *n is their number. */
static uint64_t *counts_of(const histo_stone_rule *s, int64_t *n)
{
    *n = VALUES;
    if (s->of_value) return s->of_value;
    *n = 0;
    for (int64_t bins = s->begin; bins < s->end; bins++)
        *n += bins + 1;
    return s->counts;
}

void histo_stone_rule_save(const histo_stone_rule *stone, histo_bytes *out)
{
    int64_t n;
    const uint64_t *counts = counts_of(stone, &n);
    histo_save_u64(out, stone->n);
    histo_save_u64(out, (uint64_t)stone->begin);
    for (int64_t i = 0; i < n; i++)
        histo_save_u64(out, counts[i]);
}

void histo_stone_rule_forget(histo_stone_rule *stone)
{
    int64_t n;
    uint64_t *counts = counts_of(stone, &n);
    memset(counts, 0, (size_t)n * sizeof *counts);
}

void histo_stone_rule_merge(histo_stone_rule *stone, histo_saved *from, bool add)
{
    int64_t n;
    uint64_t *counts = counts_of(stone, &n);
    histo_saved_expect(from, stone->n);
    histo_saved_expect(from, (uint64_t)stone->begin);
    for (int64_t i = 0; i < n && !from->failed; i++) {
        uint64_t left = from->samples;
        const uint64_t count = histo_saved_share(from, &left);
        if (add) counts[i] += count;
    }
}

int64_t histo_stone_rule_bins(const histo_stone_rule *stone)
{
    return stone->best;
}
