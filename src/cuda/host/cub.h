/* CUB: sorting, finding runs, and joining pairs. Only cub.cu includes its templates, because each file that does takes
 * seconds to compile, and they would make the same kernels. */
#ifndef CUDA_HOST_CUB_H
#define CUDA_HOST_CUB_H

#include <cuda_runtime.h>
#include <stdint.h>

typedef unsigned long long histo_cub_word; /* a slot or a count */

/* What CUB works with. */
typedef struct histo_cub_call {
    void *memory; /* NULL: say in `bytes` how much is needed */
    size_t bytes;
    cudaStream_t stream;
} histo_cub_call;

/* Sort n keys of `size` bytes, 4 or 8, by bits [low, high), from arrays[*which]; *which is then where they are. */
cudaError_t histo_cub_sort(histo_cub_call *call, size_t size, void *const arrays[2], int *which, int64_t n, int low,
                           int high);

/* Sort n keys of `size` bytes, 1, 2, 4 or 8, by bits [0, high), to another array; the first stays as it is. */
cudaError_t histo_cub_sort_from(histo_cub_call *call, size_t size, const void *from, void *to, int64_t n, int high);

/* Where the runs of n keys begin, and how many there are. */
cudaError_t histo_cub_find_runs(histo_cub_call *call, size_t size, const void *keys, int64_t n, uint32_t *begins,
                                histo_cub_word *runs);

/* Sort n pairs by the lowest `bits` bits of their slots, from the first arrays; *which is then where they are. */
cudaError_t histo_cub_sort_pairs(histo_cub_call *call, histo_cub_word *const slots[2], histo_cub_word *const counts[2],
                                 int *which, int64_t n, int bits);

/* Join neighbouring pairs of one slot; *left is how many are left. */
cudaError_t histo_cub_join_pairs(histo_cub_call *call, const histo_cub_word *from_slots,
                                 const histo_cub_word *from_counts, int64_t n, histo_cub_word *slots,
                                 histo_cub_word *counts, histo_cub_word *left);

#endif
