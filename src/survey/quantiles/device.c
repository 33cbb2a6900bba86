/* Samples in a GPU's memory are not collected. Fills count the digits of their keys: their bits as unsigned integers on
 * a regular axis. */
#include <math.h>

#include "axis/axis.h"
#include "base/error.h"
#include "base/memory.h"
#include "survey/device.h"
#include "survey/quantiles/radix.h"
#include "view/dtype.h"

/* An axis over the samples' bits with a bin for each digit of a set. If doubles may not represent all edges,
 * edges[digits + 1] are integers. If the last one would be 2^64, the last bin is the overflow. */
static histo_axis axis_of_digits(uint64_t first, int shift, int64_t digits, uint64_t *edges)
{
    const double lo = (double)first, width = ldexp(1, shift);
    if (lo + (double)digits * width <= 0x1p53 || shift >= HISTO_RADIX_BITS)
        return histo_axis_regular(digits, lo, lo + (double)digits * width);
    for (int64_t i = 0; i <= digits; i++)
        edges[i] = first + ((uint64_t)i << shift);
    return histo_axis_variable_u64(digits - (edges[digits] == 0), edges);
}

/* counts[digit]: the keys of a set with this digit. edges: room for axis_of_digits. */
static histo_status count_digits(const histo_selection *s, const histo_key_set *set, const histo_source *source,
                                 uint64_t *edges, uint64_t *counts)
{
    const int bits = histo_digit_bits(s);
    const int64_t digits = (int64_t)1 << bits;
    const histo_key_flip of_key = histo_key_flip_of(s->dtype),
                         of_digit = {bits - 1, of_key.sign ? (uint64_t)digits / 2 : 0,
                                     of_key.rest ? (uint64_t)digits / 2 - 1 : 0};
    uint64_t first = 0; /* the smallest bit pattern of a sample */
    bool is_reversed = false;
    if (!s->radix.is_first_digit) {
        const uint64_t key = set->prefix << set->shift;
        is_reversed = of_key.rest && !(key >> of_key.sign_shift); /* negative floats */
        first = (key ^ of_key.sign ^ (is_reversed ? of_key.rest : 0)) >> set->shift << set->shift;
    }
    const histo_axis axis = axis_of_digits(first, set->shift - bits, digits, edges);
    const size_t size = (size_t)(digits + 3) * sizeof(uint64_t);
    uint64_t *slots = histo_malloc(size);
    if (!slots) return histo_fail_memory(size, "quantiles");
    const histo_status status = histo_source_fill(source, &axis, true, slots);
    for (int64_t i = 0; i < digits && status == HISTO_OK; i++) {
        const uint64_t digit = s->radix.is_first_digit ? histo_key_of((uint64_t)i, of_digit)
                                                       : (uint64_t)(is_reversed ? digits - 1 - i : i);
        counts[digit] = slots[i + 1];
    }
    histo_free(slots);
    return status;
}

/* Nothing changes unless all sets are counted. */
static histo_status count_sets(histo_selection *s, const histo_source *source)
{
    const histo_radix *r = &s->radix;
    const size_t digits = (size_t)1 << histo_digit_bits(s), size = (size_t)r->tables_count * digits * sizeof(uint64_t);
    uint64_t *counts = histo_malloc(size), *edges = histo_malloc((digits + 1) * sizeof *edges);
    histo_status status = counts && edges ? HISTO_OK : histo_fail_memory(size, "quantiles");
    for (int step = 0; step < 2; step++) { /* first count, then add the counts */
        uint64_t *of_set = counts;
        for (int b = 0; b < r->open && status == HISTO_OK; b++) {
            const histo_key_set *set = &r->sets[b];
            if (!set->counts) continue;
            if (step == 0) status = count_digits(s, set, source, edges, of_set);
            for (size_t i = 0; i < digits && step == 1; i++)
                set->counts[i] += of_set[i];
            of_set += digits;
        }
    }
    histo_free(counts);
    histo_free(edges);
    return status;
}

static bool collects_keys(const histo_selection *s)
{
    if (s->method == HISTO_USE_BRACKETS) return true;
    for (int b = 0; b < s->radix.open && s->method == HISTO_COUNT_DIGITS; b++)
        if (s->radix.sets[b].keys) return true;
    return false;
}

histo_status histo_selection_add_on_device(histo_selection *s, const histo_source *source, const histo_found *extremes)
{
    if (s->in_parts && s->store.keys)
        return histo_fail(HISTO_UNSUPPORTED,
                          "parts of a survey that finds quantiles are in host memory: copy those of "
                          "GPU %d there",
                          source->home - HISTO_DEVICE_CUDA(0));
    if (collects_keys(s))
        return histo_fail(HISTO_UNSUPPORTED,
                          "the samples of a pass are in host memory or in that of GPUs, not in both");
    if (s->method == HISTO_KEEP_KEYS) histo_radix_start_with_kept(s);
    s->on_device = true;
    const bool add_beyond = s->radix.is_first_digit && s->store.keys; /* otherwise the counts of values include them */
    const histo_status status = extremes->samples ? count_sets(s, source) : HISTO_OK;
    for (int sign = 0; sign < 2 && add_beyond && status == HISTO_OK; sign++)
        s->beyond[sign] += extremes->nan[sign] + (s->finite ? extremes->infinite[sign] : 0);
    return status;
}
