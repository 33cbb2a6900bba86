/* Where the numbers of bins are written (histo_node_sums), and writing them. */
#ifndef BOOSTING_WRITTEN_H
#define BOOSTING_WRITTEN_H

#include <string.h>

#include "boosting/boosting.h"

/* One number of each bin. */
typedef struct histo_bin_array {
    char *at; /* NULL: nowhere */
    histo_dtype dtype;
    int64_t bin_stride, node_stride; /* in bytes */
    double unit;
} histo_bin_array;

typedef struct histo_written {
    histo_bin_array arrays[1 + HISTO_MAX_GRADIENTS]; /* counts first */
    int weights;
    const int64_t *first; /* [features]: the position of bin 0 */
    char *structs;        /* the first, if the arrays are fields of structs without gaps */
} histo_written;

/* Check the reserved fields and the dtypes, and say what these are. */
histo_status histo_sums_check(const histo_node_sums *sums, histo_dtype *sum, histo_dtype *count);

/* The array of one number in sums of nodes that have so many bins in total. */
histo_bin_array histo_bin_array_at(void *at, histo_dtype dtype, const histo_node_sums *sums, int64_t total,
                                   double unit);

/* Write a number of units. */
static inline __attribute__((always_inline)) void histo_write_number(char *at, int64_t number, double unit,
                                                                     histo_dtype dtype)
{
    if (dtype == HISTO_F64) {
        const double sum = (double)number * unit;
        memcpy(at, &sum, sizeof sum);
    } else if (dtype == HISTO_U32) {
        const uint32_t count = (uint32_t)number;
        memcpy(at, &count, sizeof count);
    } else {
        memcpy(at, &number, sizeof number);
    }
}

#endif
