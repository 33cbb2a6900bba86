/* Kernels compiled for one class of problems: what is constant in the class is constant in the code. A strategy whose
 * kernels would read samples one by one asks for one (histo_cuda_known_kernel), and counts with its own kernel where
 * there is none. */
#ifndef CUDA_KNOWN_H
#define CUDA_KNOWN_H

#include "cuda/joint.h"
#include "cuda/known.cuh"

/* A class: all that known.cuh wants to know. */
typedef struct histo_cuda_known {
    int naxes, operands, weights, mask, where, dims, batch_dims, channels, threads, samples, vector;
    int pixel_word;
    bool aligned, near, ragged;
    int log_copies; /* of lane_private's counters */
    bool spreads;
    histo_dtype dtypes[HISTO_MAX_OPERANDS];
    int strides[HISTO_MAX_OPERANDS];
    bool vectors[HISTO_MAX_OPERANDS];
    histo_known_axis axes[HISTO_MAX_AXES];
} histo_cuda_known;

enum { HISTO_KNOWN_MAX_CHANNELS = 8 };

/* Interleaved channels: batch entries whose samples alternate, so that reading them together reads memory once. Columns
 * of an array are groups of channels. Their number, 1 if the job is not made of such groups. */
int histo_cuda_channels_of(const histo_job *job);

/* The work of a job whose `channels` are counted together, as histo_cuda_work_of: a group is one entry, of all its
 * counters. */
histo_cuda_work histo_cuda_work_of_channels(const histo_job *job, int channels, int64_t wanted, int64_t least,
                                            int64_t most);

/* The class of the work of a job, for blocks of so many threads; false if no kernel can be compiled for it. Completes
 * the work. joint: tables of first floats, or NULL. */
bool histo_cuda_known_of(const histo_job *job, histo_cuda_work *work, const histo_joint *joint, int threads,
                         histo_cuda_known *known);

/* `struct known` of known.cuh. */
void histo_cuda_known_write(const histo_cuda_known *known, histo_text *text);

/* Will fills of a plan, sooner or later, be counted by compiled kernels where those in the library are slow? */
bool histo_cuda_expects_compiled(const histo_problem *problem);

/* The compiled kernel `kernel` of `header`, whose reader is histo_known_reader<known> or histo_known_weighted<known>;
 * or NULL. */
const void *histo_cuda_known_kernel(const histo_job *job, const histo_cuda_known *known, const char *header,
                                    const char *kernel);

#endif
