/* After each pass, every statistic is known to lie among the keys that share the digits counted so far: a set, whose
 * size is known. If the sets fit into memory, the next pass collects their keys, from which the statistics are
 * selected; otherwise it counts their next digit, for as many sets as there are tables. */
#include "survey/quantiles/radix.h"

#include <string.h>

#include "view/dtype.h"

void histo_radix_start(histo_selection *s)
{
    histo_radix *r = &s->radix;
    s->method = HISTO_COUNT_DIGITS;
    s->beyond[0] = s->beyond[1] = 0;
    r->is_first_digit = true;
    r->open = 1;
    r->sets[0] = (histo_key_set){.shift = s->bits, .counts = r->tables};
    memset(r->tables, 0, ((size_t)1 << histo_digit_bits(s)) * sizeof *r->tables);
}

void histo_radix_start_with_kept(histo_selection *s)
{
    const histo_key_store *store = &s->store;
    histo_radix_start(s);
    for (uint64_t i = 0; i < store->count; i++)
        s->radix.tables[store->keys[i] >> (s->bits - HISTO_RADIX_BITS)]++;
    histo_keys_count_beyond(s->limits, store->keys, (int64_t)store->count, s->beyond);
    s->store.count = 0;
}

static void add_key(histo_key_set *set, uint64_t key)
{
    if (key >> set->shift != set->prefix) return;
    if (set->counts) set->counts[key >> (set->shift - HISTO_RADIX_BITS) & (HISTO_RADIX - 1)]++;
    if (set->keys && set->seen < set->size) set->keys[set->seen] = key;
    set->seen++;
}

static void add_to_sets(histo_selection *s, const uint64_t *keys, int64_t n)
{
    const int shift = s->bits - HISTO_RADIX_BITS;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t digit = keys[i] >> shift;
        for (int b = s->radix.set_of[digit]; b < s->radix.set_of[digit + 1]; b++)
            add_key(&s->radix.sets[b], keys[i]);
    }
}

void histo_radix_add(histo_selection *s, const void *block, int64_t n)
{
    uint64_t keys[HISTO_KEYS_AT_ONCE];
    const size_t size = histo_dtype_size(s->dtype);
    const int shift = s->bits - HISTO_RADIX_BITS;
    for (int64_t begin = 0; begin < n; begin += HISTO_KEYS_AT_ONCE) {
        const int64_t length = n - begin < HISTO_KEYS_AT_ONCE ? n - begin : HISTO_KEYS_AT_ONCE;
        histo_keys_make(s->dtype, (const char *)block + (size_t)begin * size, length, keys);
        if (!s->radix.is_first_digit) {
            add_to_sets(s, keys, length);
            continue;
        }
        histo_keys_count_beyond(s->limits, keys, length, s->beyond);
        for (int64_t i = 0; i < length; i++)
            s->radix.tables[keys[i] >> shift]++;
    }
}

/* Append to the next pass the subsets of `set`, by one more digit, that contain statistics. */
static void divide(histo_selection *s, const histo_key_set *set, int *next)
{
    histo_key_set *sets = s->radix.next;
    const int bits = histo_digit_bits(s);
    uint64_t digit = 0, before = 0;
    for (int i = set->first; i < set->end; i++) {
        histo_order_statistic *statistic = &s->statistics[i];
        while (digit + 1 < UINT64_C(1) << bits && statistic->rank >= before + set->counts[digit])
            before += set->counts[digit++];
        const uint64_t prefix = set->prefix << bits | digit;
        statistic->rank -= before;
        statistic->key = prefix;
        if (set->shift == bits) continue;
        if (i > set->first && sets[*next - 1].prefix == prefix && sets[*next - 1].shift == set->shift - bits)
            sets[*next - 1].end = i + 1;
        else
            sets[(*next)++] = (histo_key_set){
                .prefix = prefix, .shift = set->shift - bits, .first = i, .end = i + 1, .size = set->counts[digit]};
    }
}

/* Decide what the next pass does with each set. */
static void plan_pass(histo_selection *s)
{
    histo_radix *r = &s->radix;
    uint64_t used = 0;
    int tables = 0, digits_done = 0;
    for (int b = 0; b < r->open; b++) {
        histo_key_set *set = &r->sets[b];
        set->keys = set->counts = NULL;
        set->seen = 0;
        if (!s->on_device && set->size <= s->store.room - used) {
            set->keys = s->store.keys + used;
            used += set->size;
        } else if (tables < r->tables_count) {
            set->counts = r->tables + (size_t)tables++ * HISTO_RADIX;
            memset(set->counts, 0, HISTO_RADIX * sizeof *set->counts);
        }
        const int digit = (int)(set->prefix >> (s->bits - HISTO_RADIX_BITS - set->shift));
        while (digits_done <= digit)
            r->set_of[digits_done++] = b;
    }
    while (digits_done <= HISTO_RADIX)
        r->set_of[digits_done++] = r->open;
}

/* Rank the statistics, which are all in the set of all keys. False if there are no samples. */
static bool end_first_digit(histo_selection *s)
{
    uint64_t all = 0;
    s->radix.is_first_digit = false;
    for (int digit = 0; digit < 1 << histo_digit_bits(s); digit++)
        all += s->radix.tables[digit];
    if (!s->store.keys) histo_values_count_beyond(s);
    const bool any = histo_selection_rank(s, all);
    s->radix.sets[0].end = s->statistics_count;
    return any;
}

bool histo_radix_end_pass(histo_selection *s)
{
    histo_radix *r = &s->radix;
    int next = 0;
    if (r->is_first_digit && !end_first_digit(s)) return true;
    for (int b = 0; b < r->open; b++) {
        const histo_key_set *set = &r->sets[b];
        if (set->counts)
            divide(s, set, &next);
        else if (set->keys)
            histo_quickselect(s->statistics + set->first, set->end - set->first, set->keys,
                              set->seen < set->size ? set->seen : set->size, 0);
        else
            r->next[next++] = *set;
    }
    histo_key_set *done = r->sets;
    r->sets = r->next;
    r->next = done;
    r->open = next;
    if (next > 0) plan_pass(s);
    return next == 0;
}
