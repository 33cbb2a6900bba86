/* Sparse counts: the occupied slots and their counts. */
#ifndef PLAN_SPARSE_H
#define PLAN_SPARSE_H

#include <histo/histo.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A slot, numbered across all batch entries, and its count. */
typedef struct histo_entry {
    uint64_t slot, count;
} histo_entry;

/* Entries in slot order, without duplicates. */
typedef struct histo_list {
    int64_t n;
    histo_entry *entries; /* NULL if there are none */
} histo_list;

/* Lists, each at least twice as long as the next; a slot may be in several. Adding short lists rarely touches long
 * ones, so a count moves a logarithmic number of times. */
enum { HISTO_SPARSE_LISTS = 64 };
typedef struct histo_sparse {
    int lists;
    histo_list list[HISTO_SPARSE_LISTS];
} histo_sparse;

/* Sort n entries by slot and merge duplicates; *n becomes the number left. room: space for n entries. Fails only if
 * cancelled; the entries are then undefined. */
histo_status histo_entries_sort(histo_entry *entries, int64_t *n, histo_entry *room);

void histo_list_free(histo_list *list);

/* Add a list. Takes ownership on success; on failure, nothing changes. */
histo_status histo_sparse_add(histo_sparse *sparse, histo_list list);
/* Merge all lists into one. On failure, nothing changes. */
histo_status histo_sparse_settle(histo_sparse *sparse);
/* All entries, after histo_sparse_settle. */
histo_list histo_sparse_all(const histo_sparse *sparse);
void histo_sparse_clear(histo_sparse *sparse);

#ifdef __cplusplus
}
#endif

#endif
