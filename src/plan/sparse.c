/* Lists of occupied slots: sorting, merging, storing. */
#include "plan/sparse.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads/monitor.h"
#include "base/threads/pool.h"

enum { DIGIT = 8, DIGITS = 1 << DIGIT, CHUNK = 1 << 16 };

static int64_t end_of_chunk(int64_t begin, int64_t n)
{
    return n - begin < CHUNK ? n : begin + CHUNK;
}

/* Sort by one digit of the slots into the other array. Returns false, and moves nothing, if all entries have the same
 * digit, or if the call has been cancelled. */
static bool sort_by_digit(const histo_entry *restrict from, histo_entry *restrict to, int64_t n, int shift,
                          bool *stopped)
{
    int64_t at[DIGITS] = {0};
    for (int64_t begin = 0; begin < n && !*stopped; begin += CHUNK) {
        *stopped = histo_stops("sorting", CHUNK, 0, 0);
        for (int64_t i = begin; i < end_of_chunk(begin, n); i++)
            at[from[i].slot >> shift & (DIGITS - 1)]++;
    }
    if (*stopped || at[from[0].slot >> shift & (DIGITS - 1)] == n) return false;
    int64_t before = 0;
    for (int d = 0; d < DIGITS; d++) {
        int64_t count = at[d];
        at[d] = before;
        before += count;
    }
    for (int64_t begin = 0; begin < n && !*stopped; begin += CHUNK) {
        *stopped = histo_stops("sorting", CHUNK, 0, 0);
        for (int64_t i = begin; i < end_of_chunk(begin, n); i++)
            to[at[from[i].slot >> shift & (DIGITS - 1)]++] = from[i];
    }
    return true;
}

histo_status histo_entries_sort(histo_entry *entries, int64_t *all, histo_entry *room)
{
    const int64_t n = *all;
    histo_entry *from = entries, *to = room;
    uint64_t any = 0;
    int64_t merged = 0;
    bool stopped = false;
    for (int64_t i = 0; i < n; i++)
        any |= entries[i].slot;
    for (int shift = 0; shift < 64 && any >> shift && !stopped; shift += DIGIT) {
        if (!sort_by_digit(from, to, n, shift, &stopped)) continue;
        histo_entry *sorted = to;
        to = from;
        from = sorted;
    }
    for (int64_t i = 0; i < n; i++) {
        if (merged && entries[merged - 1].slot == from[i].slot)
            entries[merged - 1].count += from[i].count;
        else
            entries[merged++] = from[i];
    }
    *all = merged;
    return stopped ? histo_fail_cancelled("sorting") : HISTO_OK;
}

/* Merge two lists into a third. */
static histo_status merge(const histo_list *a, const histo_list *b, histo_list *merged)
{
    const size_t bytes = (size_t)(a->n + b->n) * sizeof(histo_entry);
    histo_entry *out = histo_malloc(bytes);
    if (!out) return histo_fail_memory(bytes, "the occupied slots of a sparse histogram");
    int64_t i = 0, j = 0, n = 0;
    while (i < a->n && j < b->n) {
        if (histo_stops("merging", CHUNK, i + j, a->n + b->n)) {
            histo_free(out);
            return histo_fail_cancelled("merging");
        }
        for (int k = 0; k < CHUNK && i < a->n && j < b->n; k++) { /* branch-free: the comparison is unpredictable */
            const histo_entry *x = &a->entries[i], *y = &b->entries[j];
            bool first = x->slot <= y->slot, second = y->slot <= x->slot;
            out[n++] = (histo_entry){first ? x->slot : y->slot, (first ? x->count : 0) + (second ? y->count : 0)};
            i += first;
            j += second;
        }
    }
    for (; i < a->n; i++)
        out[n++] = a->entries[i];
    for (; j < b->n; j++)
        out[n++] = b->entries[j];
    histo_entry *entries = n < a->n + b->n ? histo_realloc(out, (size_t)n * sizeof *out) : out;
    if (!entries) histo_free(out);
    *merged = (histo_list){n, entries};
    return entries ? HISTO_OK : histo_fail_memory(bytes, "the occupied slots of a sparse histogram");
}

void histo_list_free(histo_list *list)
{
    histo_free(list->entries);
    *list = (histo_list){0};
}

/* Merge `last` with the preceding lists while they are shorter than twice the result, or with all of them; append the
 * result. */
static histo_status merge_last(histo_sparse *s, histo_list last, bool all)
{
    histo_list merged = last;
    int left = s->lists;
    while (left > 0 && (all || s->list[left - 1].n < 2 * merged.n)) {
        histo_list more = {0};
        const histo_status status = merge(&s->list[left - 1], &merged, &more);
        if (merged.entries != last.entries) histo_list_free(&merged);
        if (status != HISTO_OK) return status;
        merged = more;
        left--;
    }
    if (merged.entries != last.entries) histo_list_free(&last);
    for (int i = left; i < s->lists; i++)
        histo_list_free(&s->list[i]);
    s->list[left] = merged;
    s->lists = left + 1;
    return HISTO_OK;
}

histo_status histo_sparse_add(histo_sparse *sparse, histo_list list)
{
    if (list.n) return merge_last(sparse, list, false);
    histo_list_free(&list);
    return HISTO_OK;
}

histo_status histo_sparse_settle(histo_sparse *sparse)
{
    if (sparse->lists < 2) return HISTO_OK;
    histo_list last = sparse->list[--sparse->lists];
    histo_status status = merge_last(sparse, last, true);
    if (status != HISTO_OK) sparse->lists++; /* `last` is still there */
    return status;
}

histo_list histo_sparse_all(const histo_sparse *sparse)
{
    return sparse->lists ? sparse->list[0] : (histo_list){0};
}

void histo_sparse_clear(histo_sparse *sparse)
{
    while (sparse->lists)
        histo_list_free(&sparse->list[--sparse->lists]);
}
