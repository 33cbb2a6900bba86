/* Samples of 8 and 16 bits are counted by value, in one pass. Each thread has 32-bit counts of its own or, if there is
 * no memory for them, adds to the shared ones. */

#include "base/memory.h"
#include "survey/quantiles/radix.h"
#include "view/dtype.h"

void histo_values_start_part(histo_selection_part *part)
{
    part->uncounted = 0;
    part->counts = part->is_alone ? NULL : histo_calloc((size_t)1 << part->selection->bits, sizeof *part->counts);
}

static void flush(histo_selection_part *part)
{
    for (size_t i = 0; i < (size_t)1 << part->selection->bits; i++)
        if (part->counts[i]) {
            __atomic_fetch_add(&part->selection->radix.tables[i], part->counts[i], __ATOMIC_RELAXED);
            part->counts[i] = 0;
        }
    part->uncounted = 0;
}

void histo_values_add(histo_selection_part *part, const void *block, int64_t n)
{
    const histo_selection *s = part->selection;
    uint64_t keys[HISTO_KEYS_AT_ONCE];
    if (part->counts && part->uncounted + n > (int64_t)UINT32_MAX) flush(part);
    for (int64_t begin = 0; begin < n; begin += HISTO_KEYS_AT_ONCE) {
        const int64_t length = n - begin < HISTO_KEYS_AT_ONCE ? n - begin : HISTO_KEYS_AT_ONCE;
        histo_keys_make(s->dtype, (const char *)block + (size_t)begin * histo_dtype_size(s->dtype), length, keys);
        if (part->is_alone)
            for (int64_t i = 0; i < length; i++)
                s->radix.tables[keys[i]]++;
        else if (part->counts)
            for (int64_t i = 0; i < length; i++)
                part->counts[keys[i]]++;
        else
            for (int64_t i = 0; i < length; i++)
                __atomic_fetch_add(&s->radix.tables[keys[i]], 1, __ATOMIC_RELAXED);
    }
    part->uncounted += n;
}

void histo_values_end_part(histo_selection_part *part)
{
    if (part->counts) flush(part);
    histo_free(part->counts);
}

void histo_values_count_beyond(histo_selection *s)
{
    s->beyond[0] = s->beyond[1] = 0;
    for (uint64_t key = 0; key < s->limits.least; key++)
        s->beyond[0] += s->radix.tables[key];
    for (uint64_t key = s->limits.most + 1; key < UINT64_C(1) << s->bits; key++)
        s->beyond[1] += s->radix.tables[key];
}
