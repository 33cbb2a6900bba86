/* partition: the partition pass for samples of one axis, and for those of any layout. */
#include "cuda/launch/work_of_job.h"
#include "cuda/strategies/partition/partition.h"

namespace histo::partition
{

/* Contiguous samples, those of the next step loaded before those of this one are scattered. */
template <histo_dtype TYPE>
struct contiguous {
    using storage = histo_stored<TYPE>;
    enum { PER_STEP = histo_sample<TYPE>::PER_STEP, VECTORS = PER_STEP / histo_sample<TYPE>::VECTOR };

    struct loaded {
        uint4 words[VECTORS];
        bool ready; /* the words are the step's samples, all of them in the tile */
    };

    static HISTO_MEMBER histo_tile tile(const histo_cuda_work *work, const histo_joint *, int64_t item)
    {
        return histo_tile_aligned(work, item, (int)sizeof(storage));
    }

    static HISTO_MEMBER void load(const histo_cuda_work *, const histo_joint *, const histo_tile *tile, uint32_t at,
                                  loaded *next)
    {
        next->ready = at >= tile->pad && at + THREADS * PER_STEP <= tile->length;
        if (next->ready)
#pragma unroll
            for (uint32_t v = 0; v < VECTORS; v++)
                next->words[v] =
                    __ldcs((const uint4 *)(tile->at + (size_t)at * sizeof(storage)) + v * THREADS + threadIdx.x);
    }

    static HISTO_MEMBER bool slots(const histo_cuda_work *work, const histo_joint *joint, const uint32_t *,
                                   const histo_tile *tile, uint32_t at, loaded *next, uint32_t (&slot)[PER_STEP])
    {
        const histo_any_lookup<TYPE> lookup(&work->lookups[0]);
        bool ready = next->ready;
        if (ready) {
            storage x[PER_STEP];
            memcpy(x, next->words, sizeof x);
            lookup.slots(x, slot);
        } else {
#pragma unroll 1
            for (uint32_t k = 0; k < PER_STEP; k++) {
                uint32_t i = at + k * THREADS + threadIdx.x, its = HISTO_NO_SLOT;
                if (i >= tile->pad && i < tile->length) its = lookup.slot(((const storage *)tile->at)[i]);
                histo_select_store(slot, (int)k, its);
            }
        }
        load(work, joint, tile, at + THREADS * PER_STEP, next);
        return ready;
    }
};

scatter_kernel scatter_kernel_of(const histo_cuda_work *work)
{
    switch (histo_cuda_reader_of(work)) {
    case HISTO_U32:
        return kernel_by<contiguous<HISTO_U32>>;
    case HISTO_I32:
        return kernel_by<contiguous<HISTO_I32>>;
    case HISTO_F32:
        return kernel_by<contiguous<HISTO_F32>>;
    case HISTO_F64:
        return kernel_by<contiguous<HISTO_F64>>;
    default:
        return {scatter<unjoined<histo_any_layout>>, histo_any_layout::PER_STEP, true};
    }
}

} // namespace histo::partition
