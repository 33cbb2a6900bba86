/* Kernels compiled for one class of problems: what is constant in the class is constant in the code. A strategy whose
 * own kernel would read samples one by one asks for a compiled kernel (histo_cuda_known_kernel). Where there is none,
 * it uses its own. */
#ifndef CUDA_KNOWN_H
#define CUDA_KNOWN_H

#include "cuda/host/several_axes.h"
#include "cuda/jit/specialised.cuh"

/* A class: the constants of `struct known` in known.cuh. */
typedef struct histo_cuda_known {
    int naxes, operands, weights, mask, where, dims, batch_dims, channels, threads, samples, vector;
    int widest; /* neighbours that a thread could take if all were in one run */
    bool aligned, near, ragged, short_indices, padded, by_value, alternate;
    int swapped;    /* a bit for each operand */
    int log_copies; /* of lane_private's counters */
    bool spreads;
    int column_lanes, column_vector, column_rows; /* of lane_private's kernel for columns; else 0 */
    bool column_private, column_by_value;
    int column_words[HISTO_MAX_OPERANDS];
    histo_dtype dtypes[HISTO_MAX_OPERANDS];
    int strides[HISTO_MAX_OPERANDS];
    histo_known_chunk chunks[HISTO_MAX_OPERANDS];
    histo_known_axis axes[HISTO_MAX_AXES];
} histo_cuda_known;

enum { HISTO_KNOWN_MAX_CHANNELS = 8 };

/* How many interleaved channels are counted together; 1 if there are none. Channels are batch entries whose samples
 * alternate in memory, so that reading them together reads memory once. The columns of an array are counted in groups
 * of up to HISTO_KNOWN_MAX_CHANNELS. */
int histo_cuda_channels_of(const histo_job *job);

/* As histo_cuda_work_of, for a job with so many channels counted together: a group of channels is one batch entry that
 * has the counters of all of them. */
histo_cuda_work histo_cuda_work_of_channels(const histo_job *job, int channels, int64_t wanted, int64_t least,
                                            int64_t most);

/* The same with rows of images padded so that threads can take several neighbours at a time, which are all in one row;
 * false where that does not pay. known: the class without padding. */
bool histo_cuda_pad_rows(const histo_job *job, const histo_cuda_known *known, int channels, int64_t wanted,
                         int64_t least, int64_t most, histo_cuda_work *work);

/* Find the class of a job's work, for blocks of so many threads; false if no kernel can be compiled for it. Sets
 * work->advance. joint: tables of first floats, or NULL. */
bool histo_cuda_known_of(const histo_job *job, histo_cuda_work *work, const histo_joint *joint, int threads,
                         histo_cuda_known *known);

/* Copy the tables of axes to shared memory, from word `at` on, as long as they take at most `most` words there; returns
 * how many they take. joint: knows which axes have tables of first floats, and gets the places; NULL: only count. */
uint32_t histo_cuda_tables_of(const histo_problem *problem, const histo_joint *firsts, uint32_t at, uint32_t most,
                              histo_joint *joint, histo_cuda_known *known);

/* For cost models: can an axis be looked up in fixed point, also by kernels that are not compiled for it? */
bool histo_cuda_has_fixed_point(const histo_lookup *l, histo_dtype dtype);

/* The fixed point of the only axis; NULL if it has none, or is out of memory. */
const histo_fixed_point *histo_cuda_fixed_point_of(const histo_job *job);

/* Write the class as `struct known` (known.cuh). */
void histo_cuda_known_write(const histo_cuda_known *known, histo_text *text);

/* For cost models: will compiled kernels count the fills of this plan, at least after some fills, where the library's
 * own kernels are slow? */
bool histo_cuda_expects_compiled(const histo_problem *problem);

/* The kernel `kernel` of `header`, compiled for a class; NULL if there is none. Its reader is histo_known_reader<known>
 * or histo_known_weighted<known>. May compile it, and then waits. */
const void *histo_cuda_known_kernel(const histo_job *job, const histo_cuda_known *known, const char *header,
                                    const char *kernel);

#endif
