/* Selections in parts: what a pass has added is saved, forgotten and merged. All parts use the same method, except that
 * one with few samples may still keep its keys while others count their first digit. */
#include <string.h>

#include "survey/quantiles/radix.h"

static int64_t digits_of(const histo_selection *s)
{
    return INT64_C(1) << histo_digit_bits(s);
}

static void save_set(const histo_key_set *set, histo_bytes *out)
{
    histo_save_u64(out, set->prefix);
    histo_save_u64(out, set->size);
    histo_save_u64(out, set->seen);
    for (int64_t i = 0; i < HISTO_RADIX && set->counts; i++)
        histo_save_u64(out, set->counts[i]);
    for (uint64_t i = 0; i < set->seen && set->keys; i++)
        histo_save_u64(out, i < set->size ? set->keys[i] : 0);
}

void histo_selection_save(const histo_selection *s, histo_bytes *out)
{
    const histo_radix *r = &s->radix;
    histo_save_u64(out, s->method);
    if (s->method == HISTO_KEEP_KEYS) {
        histo_save_u64(out, s->store.count);
        for (uint64_t i = 0; i < s->store.count; i++)
            histo_save_u64(out, s->store.keys[i]);
        return;
    }
    histo_save_u64(out, r->is_first_digit);
    for (int64_t i = 0; i < digits_of(s) && r->is_first_digit; i++)
        histo_save_u64(out, r->tables[i]);
    for (int i = 0; i < 2 && r->is_first_digit; i++)
        histo_save_u64(out, s->beyond[i]);
    for (int b = 0; b < r->open && !r->is_first_digit; b++)
        save_set(&r->sets[b], out);
}

void histo_selection_forget(histo_selection *s)
{
    histo_radix *r = &s->radix;
    s->store.count = 0;
    if (s->method == HISTO_KEEP_KEYS) return;
    if (r->is_first_digit) histo_radix_start(s);
    for (int b = 0; b < r->open && !r->is_first_digit; b++) {
        r->sets[b].seen = 0;
        if (r->sets[b].counts) memset(r->sets[b].counts, 0, HISTO_RADIX * sizeof *r->sets[b].counts);
    }
}

/* Merge the keys of a part that kept all of them. */
static void merge_kept(histo_selection *s, histo_saved *from, bool add)
{
    const uint64_t n = histo_saved_count(from, HISTO_MOST_KEPT), largest = UINT64_MAX >> (64 - s->bits);
    if (add && s->method == HISTO_KEEP_KEYS && s->store.count + n > HISTO_MOST_KEPT) histo_radix_start_with_kept(s);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t key = histo_saved_next(from);
        from->failed |= key > largest;
        if (!add) continue;
        if (s->method == HISTO_KEEP_KEYS) {
            s->store.keys[s->store.count++] = key;
        } else {
            s->radix.tables[key >> (s->bits - histo_digit_bits(s))]++;
            histo_keys_count_beyond(s->limits, &key, 1, s->beyond);
        }
    }
}

static void merge_first_digit(histo_selection *s, histo_saved *from, bool add)
{
    uint64_t left = from->samples;
    if (add && s->method == HISTO_KEEP_KEYS) histo_radix_start_with_kept(s);
    for (int64_t i = 0; i < digits_of(s); i++) {
        const uint64_t count = histo_saved_share(from, &left);
        if (add) s->radix.tables[i] += count;
    }
    for (int i = 0; i < 2; i++) {
        left = from->samples;
        const uint64_t count = histo_saved_share(from, &left);
        if (add) s->beyond[i] += count;
    }
}

static void merge_set(histo_key_set *set, histo_saved *from, bool add)
{
    histo_saved_expect(from, set->prefix);
    histo_saved_expect(from, set->size);
    uint64_t all = from->samples;
    const uint64_t seen = histo_saved_share(from, &all);
    uint64_t left = seen;
    for (int64_t i = 0; i < HISTO_RADIX && set->counts; i++) {
        const uint64_t count = histo_saved_share(from, &left);
        if (add) set->counts[i] += count;
    }
    if (set->keys) from->failed |= seen > from->left || seen > set->size;
    for (uint64_t i = 0; set->keys && i < seen && !from->failed; i++) {
        const uint64_t key = histo_saved_next(from);
        from->failed |= key >> set->shift != set->prefix;
        if (add && set->seen + i < set->size) set->keys[set->seen + i] = key;
    }
    if (add) set->seen += seen;
}

void histo_selection_merge(histo_selection *s, histo_saved *from, bool add)
{
    const uint64_t method = histo_saved_next(from);
    const bool is_later = s->method == HISTO_COUNT_DIGITS && !s->radix.is_first_digit; /* in all parts */
    from->failed |= s->method == HISTO_USE_BRACKETS || (method != HISTO_KEEP_KEYS && method != HISTO_COUNT_DIGITS) ||
                    (method == HISTO_KEEP_KEYS && (is_later || !s->store.keys));
    if (from->failed) return;
    if (method == HISTO_KEEP_KEYS) {
        merge_kept(s, from, add);
        return;
    }
    histo_saved_expect(from, !is_later);
    if (!is_later) merge_first_digit(s, from, add);
    for (int b = 0; is_later && b < s->radix.open && !from->failed; b++)
        merge_set(&s->radix.sets[b], from, add);
}
