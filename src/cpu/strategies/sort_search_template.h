/* Sorts a chunk of keys of one TYPE, and counts the sorted keys. sort_search.c includes this once for each:
 * NAME(function) is the function's name for the TYPE. */
static int NAME(compare)(const void *a, const void *b)
{
    TYPE x = *(const TYPE *)a, y = *(const TYPE *)b;
    return (x > y) - (x < y);
}

static void NAME(count)(const histo_lookup *lookup, TYPE *keys, int64_t n, uint64_t *counts)
{
    qsort(keys, (size_t)n, sizeof *keys, NAME(compare));
    int64_t begin = 0;
    while (begin < n) {
        uint32_t slot = NAME(histo_slot)(lookup, keys[begin]);
        int64_t inside = begin, outside = n; /* keys[inside] is in the slot, keys[outside] is not */
        while (outside - inside > 1) {
            int64_t middle = inside + (outside - inside) / 2;
            *(NAME(histo_slot)(lookup, keys[middle]) == slot ? &inside : &outside) = middle;
        }
        histo_add_count(&counts[slot], (uint64_t)(outside - begin), false);
        begin = outside;
    }
}

#undef NAME
#undef TYPE
