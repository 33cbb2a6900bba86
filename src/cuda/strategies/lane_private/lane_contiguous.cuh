/* Contiguous, aligned samples of one axis. */
#ifndef CUDA_LANE_CONTIGUOUS_CUH
#define CUDA_LANE_CONTIGUOUS_CUH

#include "cuda/strategies/lane_private/lane_lookups.cuh"

namespace histo::lane_private
{

/* A block's part of a tile: full steps of vectors of 16 bytes, equally many for each block of a team; fewer than a step
 * of the remaining vectors, of which each thread takes equally many; and the samples before and after all vectors. */
template <histo_dtype type, int VECTORS_>
struct contiguous_reader {
    using storage = histo_stored<type>;
    enum { VECTORS = VECTORS_, PER_VECTOR = 16 / (int)sizeof(storage), PER_GROUP = histo_sample<type>::PER_STEP };
    enum { GROUPS = VECTORS * PER_VECTOR / PER_GROUP };

    const uint4 *vectors;
    uint32_t begin, end;  /* vectors of all steps */
    uint32_t own, stride; /* this block's first vector, and vectors from one of its steps to the next */

    HISTO_MEMBER contiguous_reader(const histo_tile *tile, uint32_t member, uint32_t team)
    {
        uint32_t step = blockDim.x * VECTORS;
        vectors = (const uint4 *)tile->at;
        begin = tile->pad > 0;
        stride = step * team;
        end = begin + (last(tile) - begin) / stride * stride;
        own = begin + step * member;
    }

    HISTO_MEMBER void load(uint32_t at, uint4 (&words)[VECTORS]) const
    {
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
            words[v] = __ldcs(&vectors[at + (uint32_t)v * blockDim.x + threadIdx.x]);
    }

    /* Where all vectors end. */
    HISTO_MEMBER uint32_t last(const histo_tile *tile) const
    {
        return max(tile->length / PER_VECTOR, begin);
    }

    /* This thread's v-th vector after the steps; beyond the last if it has none. */
    HISTO_MEMBER uint32_t rest(int v) const
    {
        return end + (own - begin + (uint32_t)v * stride) / VECTORS + threadIdx.x;
    }

    HISTO_MEMBER void load_rest(const histo_tile *tile, uint4 (&words)[VECTORS]) const
    {
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
            if (rest(v) < last(tile)) words[v] = __ldcs(&vectors[rest(v)]);
    }

    /* The i-th sample outside all vectors, of fewer than two vectors; beyond the end of the tile if there is none. */
    HISTO_MEMBER uint32_t outside_vectors(const histo_tile *tile, uint32_t i) const
    {
        i += tile->pad;
        return i < begin * PER_VECTOR ? i : i + (last(tile) - begin) * PER_VECTOR;
    }
};

/* The tile `item`, from a multiple of 16 bytes on. */
HISTO_IN_KERNEL histo_tile contiguous_tile(const histo_cuda_work *w, const counter_layout *l, int64_t item, int size)
{
    if (!l->only) return histo_tile_aligned(w, item, size);
    histo_tile tile;
    const uint32_t beyond = (uint32_t)((uint64_t)l->only & 15);
    tile.entry = l->entry;
    tile.pad = beyond / (uint32_t)size;
    tile.at = l->only - beyond;
    tile.length = l->length + tile.pad;
    return tile;
}

/* The first samples travel while a block prepares. */
template <class reader, class lookup, class counter>
static __global__ void __launch_bounds__(max_threads_of((lookup_kind)lookup::ID, sizeof(typename lookup::storage)),
                                         counter::BLOCKS)
    count_contiguous(const __grid_constant__ histo_cuda_work work, const __grid_constant__ counter_layout l)
{
    typedef typename lookup::storage storage;
    extern __shared__ __align__(16) unsigned int shared[];
    const lookup find(&work, shared + l.words);
    const counter counts(shared, &l);
    const uint32_t team = l.team, member = blockIdx.x % team;
    bool is_prepared = false;
    for (int64_t item = blockIdx.x / team; item < work.tiles; item += gridDim.x / team) {
        const histo_tile tile = contiguous_tile(&work, &l, item, (int)sizeof(storage));
        if (!tile.length) continue;
        const reader steps(&tile, member, team);
        uint4 now[reader::VECTORS] = {}, next[reader::VECTORS] = {};
        if (steps.own < steps.end)
            steps.load(steps.own, now);
        else
            steps.load_rest(&tile, now);
        if (!is_prepared) lookup::load(&work.lookups[0], shared + l.words);
        clear_counters<counter>(shared, &l, !is_prepared);
        is_prepared = true;
        __syncthreads();
        for (uint32_t at = steps.own; at < steps.end; at += steps.stride) {
            if (at + steps.stride < steps.end)
                steps.load(at + steps.stride, next);
            else
                steps.load_rest(&tile, next);
#pragma unroll
            for (int group = 0; group < reader::GROUPS; group++) {
                storage x[reader::PER_GROUP];
                uint32_t slot[reader::PER_GROUP];
                memcpy(x, (const char *)now + group * (int)sizeof x, sizeof x);
                find.slots(x, slot);
                counts.count(slot, reader::PER_GROUP);
            }
            memcpy(now, next, sizeof now);
        }
#pragma unroll
        for (int v = 0; v < reader::VECTORS; v++) {
            if (steps.rest(v) >= steps.last(&tile)) continue;
            storage x[reader::PER_VECTOR];
            uint32_t slot[reader::PER_VECTOR];
            memcpy(x, &now[v], sizeof x);
            find.slots(x, slot);
            counts.count(slot, reader::PER_VECTOR);
        }
        const uint32_t outside = steps.outside_vectors(&tile, member * blockDim.x + threadIdx.x);
        if (outside < tile.length) counts.count_slot(find.slot(((const storage *)tile.at)[outside]));
        merge_counters<counter>(shared, &l, &work, tile.entry);
    }
}

} // namespace histo::lane_private

#endif
