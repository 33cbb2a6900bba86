/* Sparse counts: of the slots that samples are in, each with its count. */
#ifndef PLAN_SPARSE_H
#define PLAN_SPARSE_H

#include <histo/histo.h>

/* A slot of the whole histogram, and its count. */
typedef struct histo_entry {
    uint64_t slot, count;
} histo_entry;

/* Entries in the order of their slots, each slot once. */
typedef struct histo_list {
    int64_t n;
    histo_entry *entries; /* NULL if there are none */
} histo_list;

/* Lists, each at least twice as long as the next, of which slots may be in several: so the long ones are seldom touched
 * when short ones are added, and a count is moved a logarithmic number of times. */
enum { HISTO_SPARSE_LISTS = 64 };
typedef struct histo_sparse {
    int lists;
    histo_list list[HISTO_SPARSE_LISTS];
} histo_sparse;

/* Sort entries in any order by their slots, and join those of one; room: for n more. How many are left. */
int64_t histo_entries_sort(histo_entry *entries, int64_t n, histo_entry *room);

/* The entries of both in a list of its own, without a word if there is no memory: false. */
bool histo_list_join(const histo_list *a, const histo_list *b, histo_list *joined);
void histo_list_free(histo_list *list);

/* Add a list, which then belongs to the sparse counts; on failure it does not, and nothing has changed. */
histo_status histo_sparse_add(histo_sparse *sparse, histo_list list);
/* Make all lists one; on failure nothing has changed. */
histo_status histo_sparse_settle(histo_sparse *sparse);
/* All entries, once it is settled. */
histo_list histo_sparse_all(const histo_sparse *sparse);
void histo_sparse_clear(histo_sparse *sparse);

#endif
