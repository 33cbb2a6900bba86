/* Lists of row numbers: views of one dimension of HISTO_U32, HISTO_I32 or HISTO_I64. */
#ifndef BOOSTING_ROW_LIST_H
#define BOOSTING_ROW_LIST_H

#include <histo/histo.h>

/* HISTO_INVALID unless all are in 0 … rows - 1, of at most 2^32 rows; HISTO_UNSUPPORTED if the list is not in the
 * memory of this device. Numbers in a GPU's memory are not read. */
histo_status histo_row_list_check(const histo_view *list, int64_t rows, histo_device home, int threads);

/* rows[n] = numbers begin … begin + n - 1 of a list that has been checked. */
void histo_row_list_take(const histo_view *list, int64_t begin, int n, uint32_t *rows);

#endif
