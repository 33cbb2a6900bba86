/* Many small images of 8-bit samples, one for each warp.
 *
 * Blocks that share an image spend most of their time on clearing, merging and waiting for each other. A warp has its
 * own counters: of all values, or, if there are fewer slots, of slots, which it finds by a table in shared memory. Rows
 * are read in aligned words of 8 bytes. Bytes of a word that are beyond the row become zeros, which are counted as all
 * others and then subtracted: that takes fewer instructions than to leave them out.
 *
 * Bytes: each sample once; the touched counters. Bound: instructions, about four a sample, and memory bandwidth. Wins
 * on thousands of images of at most some kilobytes. */
#include <math.h>

#include "cuda/device/byte_counters.cuh"
#include "cuda/host/device.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/work_of_job.h"
#include "cuda/strategies/lane_private/byte_pixels.h"

namespace
{

enum { WARP = 32, WARPS = 8 /* of a block */, BLOCKS = 6 /* of a multiprocessor */ };

/* For the launch bounds: 7.5 has threads for no more. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
enum { BOUND_BLOCKS = 1024 / (WARPS * WARP) };
#else
enum { BOUND_BLOCKS = BLOCKS };
#endif
enum { WORD = 8 /* bytes */, AHEAD = 4 /* words of a thread in flight */ };
enum { LEAST_IMAGES = 4096, MOST_BYTES = 8192 /* of an image */ };

struct warp_images {
    histo_pixels pixels;
    const char *begin, *end; /* all samples are between them: nothing else is read */
    uint32_t images, words;  /* words: of a row, at most */
    histo_divisor by_words;
    uint32_t counters; /* of a warp */
};

/* The eight bytes at `at`, a multiple of 8, of which those outside of all samples are zeros. */
HISTO_IN_KERNEL uint2 load_word(const warp_images *a, const char *at)
{
    if (at >= a->begin && at + WORD <= a->end) return __ldcs((const uint2 *)at);
    uint64_t bytes = 0;
#pragma unroll 1
    for (int k = WORD - 1; k >= 0; k--)
        bytes = bytes << 8 | (at + k >= a->begin && at + k < a->end ? *(const uint8_t *)(at + k) : 0);
    return make_uint2((uint32_t)bytes, (uint32_t)(bytes >> 32));
}

/* A word of a row. */
struct row_word {
    uint2 bytes;
    uint32_t beyond; /* bits before the row, and, from bit 8 on, after it; NONE: the row has no such word */
    enum { NONE = 1 << 16 };

    HISTO_MEMBER void load(const warp_images *a, const char *image, uint32_t i)
    {
        const histo_images *in = &a->pixels.in;
        const uint32_t row = histo_divide(i, a->by_words);
        const char *first = image + row * in->pitch;
        const uint32_t before = (uint32_t)((uint64_t)first % WORD), at = (i - row * a->words) * WORD,
                       end = before + (uint32_t)in->row_bytes;
        beyond = row >= in->rows || at >= end
                     ? NONE
                     : (at ? 0 : 8 * before) | (at + WORD > end ? 8 * (at + WORD - end) : 0) << 8;
        if (beyond != NONE) bytes = load_word(a, first - before + at);
    }

    HISTO_MEMBER uint32_t bytes_beyond() const { return ((beyond & 0xff) + (beyond >> 8)) / 8; }

    /* Beyond the row: zeros. */
    HISTO_MEMBER uint2 inside() const
    {
        uint64_t all = (uint64_t)bytes.y << 32 | bytes.x;
        if (beyond) all &= (~UINT64_C(0) << (beyond & 0xff)) & (~UINT64_C(0) >> (beyond >> 8));
        return make_uint2((uint32_t)all, (uint32_t)(all >> 32));
    }
};

/* FOLDS: count slots, not values. */
template <bool FOLDS>
__global__ void __launch_bounds__(WARPS *WARP, BOUND_BLOCKS) count_warp_images(const __grid_constant__ warp_images a)
{
    extern __shared__ __align__(16) unsigned int shared[];
    __shared__ uint32_t slots[HISTO_VALUES];
    const histo_pixels *p = &a.pixels;
    const uint32_t lane = threadIdx.x % WARP, first = blockIdx.x * WARPS + threadIdx.x / WARP;
    unsigned int *mine = shared + threadIdx.x / WARP * a.counters;
    slots[threadIdx.x] = p->slot_of[threadIdx.x];
    for (uint32_t i = lane; i < a.counters; i += WARP)
        mine[i] = 0;
    __syncthreads();
    for (uint32_t number = first; number < a.images; number += gridDim.x * WARPS) {
        const histo_image image = histo_image_of(&p->in, number);
        const uint32_t words = p->in.rows * a.words;
        uint32_t beyond = 0; /* bytes that were counted as zeros */
#pragma unroll 1
        for (uint32_t from = 0; from < words; from += AHEAD * WARP) {
            row_word loaded[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                loaded[k].beyond = row_word::NONE;
                if (from + (uint32_t)k * WARP < words)
                    loaded[k].load(&a, image.samples, from + (uint32_t)k * WARP + lane);
            }
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                if (loaded[k].beyond == row_word::NONE) continue;
                const uint2 word = loaded[k].inside();
                beyond += loaded[k].bytes_beyond();
#pragma unroll
                for (int b = 0; b < WORD; b++) {
                    const uint32_t value = __byte_perm(b < 4 ? word.x : word.y, 0, 0x4440 + b % 4);
                    atomicAdd(&mine[FOLDS ? slots[value] : value], 1u);
                }
            }
        }
        if (beyond) atomicSub(&mine[FOLDS ? slots[0] : 0], beyond);
        __syncwarp();
        unsigned long long *counts = p->counts + image.entry * p->counters;
#pragma unroll 2
        for (uint32_t i = lane; i < a.counters; i += WARP) {
            const unsigned int n = mine[i];
            if (!n) continue;
            mine[i] = 0;
            atomicAdd(&counts[FOLDS ? i : slots[i]], (unsigned long long)n);
        }
        __syncwarp();
    }
}

} // namespace

double histo_warp_images_us(const histo_problem *p)
{
    const double launch_us = 4.5, counted_per_us = 2.5e6, added_per_us = 5e5, image_us = 5e-4;
    const double images = (double)p->batch, samples = (double)p->samples;
    if (images < LEAST_IMAGES || samples > images * MOST_BYTES) return INFINITY;
    const double touched = images * fmin((double)p->slots, samples / images);
    return launch_us + samples / counted_per_us + images * image_us + touched / added_per_us;
}

bool histo_are_warp_images(const histo_job *job, const histo_pixels *pixels, int period)
{
    const histo_images *in = &pixels->in;
    const bool all = job->begin == 0 && job->end == job->iter.batch * job->iter.per_batch;
    return all && period == 1 && pixels->tables == 1 && in->dims > 0 && !in->mask && !pixels->filters &&
           job->iter.batch >= LEAST_IMAGES && job->iter.batch <= INT32_MAX && in->rows * in->row_bytes <= MOST_BYTES;
}

histo_status histo_warp_images_launch(const histo_job *job, const histo_pixels *pixels)
{
    const histo_images *in = &pixels->in;
    warp_images a = {*pixels, in->samples, in->samples + (in->rows - 1) * in->pitch + in->row_bytes, 0, 0, {}, 0};
    a.images = (uint32_t)job->iter.batch;
    uint64_t bits = (uint64_t)(uintptr_t)in->samples | (uint64_t)in->row_bytes;
    if (in->rows > 1) bits |= (uint64_t)in->pitch;
    for (int d = 0; d < in->dims; d++) {
        const int64_t reach = (in->image[d].extent - 1) * in->image[d].stride;
        *(reach < 0 ? &a.begin : &a.end) += reach;
        bits |= (uint64_t)in->image[d].stride;
    }
    /* A row that begins anywhere touches one word more. */
    a.words = (uint32_t)((in->row_bytes + (bits % WORD ? 2 * WORD - 2 : 0)) / WORD);
    a.by_words = histo_divisor_of(a.words);
    const bool folds = pixels->slots < HISTO_VALUES;
    a.counters = folds ? pixels->slots : (uint32_t)HISTO_VALUES;
    const size_t shared = WARPS * a.counters * sizeof(unsigned int);
    const int64_t resident =
                      histo_cuda_resident(job->problem->device, WARPS * WARP, shared + sizeof(uint32_t) * HISTO_VALUES),
                  multiprocessors = histo_cuda_device_of(job->problem->device)->multiprocessors;
    const int64_t most = resident < multiprocessors * BLOCKS ? resident : multiprocessors * BLOCKS;
    const int64_t wanted = (job->iter.batch + WARPS - 1) / WARPS;
    void *args[] = {&a};
    return histo_cuda_launch(job,
                             folds ? (const void *)count_warp_images<true> : (const void *)count_warp_images<false>,
                             dim3((unsigned)(wanted < most ? wanted : most)), WARPS * WARP, shared, args);
}
