/* Samples of 16 bits and more in rows of images, with or without a mask. */
#ifndef CUDA_LANE_IMAGES_CUH
#define CUDA_LANE_IMAGES_CUH

#include "cuda/device/images.cuh"
#include "cuda/strategies/lane_private/lane_lookups.cuh"

namespace histo::lane_private
{

/* The mask of a vector of N samples, a byte each, as one number: in a single load where it is aligned. */
template <int N>
HISTO_IN_KERNEL uint64_t load_mask_of(const char *at)
{
    if ((uint64_t)at % N != 0) return histo_bytes_at(at, N);
    return N == 8   ? __ldcs((const unsigned long long *)at)
           : N == 4 ? __ldcs((const unsigned int *)at)
                    : __ldcs((const unsigned short *)at);
}

/* How many vectors a thread loads in a step, and how many are looked up together. */
template <histo_dtype type, bool ROWS_, bool MASKED_>
struct images_reader {
    using storage = histo_stored<type>;
    enum { ROWS = ROWS_, MASKED = MASKED_, PER_VECTOR = 16 / (int)sizeof(storage) };
    enum { VECTORS = MASKED || sizeof(storage) < 4 ? 2 : 4, GROUP = sizeof(storage) < 4 ? 1 : 2 };

    struct step {
        uint4 vectors[VECTORS];
        uint64_t masks[VECTORS]; /* a byte for each sample */
    };

    /* Load the vectors of a step; bit v of the result tells whether the v-th exists. */
    static HISTO_MEMBER uint32_t load(const histo_images *in, histo_images_cursor *cursor, step *s)
    {
        uint32_t exists = 0;
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            histo_images_vector vector = histo_images_next<ROWS, (int)sizeof(storage), MASKED>(in, cursor);
            if (!vector.exists) continue;
            exists |= 1u << v;
            s->vectors[v] = __ldcs((const uint4 *)vector.at);
            if (MASKED) s->masks[v] = load_mask_of<PER_VECTOR>(vector.mask);
        }
        return exists;
    }
};

typedef struct images_args {
    histo_cuda_work work;
    counter_layout layout;
    histo_images in;
} images_args;

/* What histo_count_images counts with. */
template <class reader, class lookup, class counter>
struct images_counter {
    using storage = typename lookup::storage;
    using args = images_args;
    using step = typename reader::step;
    enum { THREADS = max_threads_of((lookup_kind)lookup::ID, sizeof(storage)), BLOCKS = counter::BLOCKS };
    enum { ROWS = reader::ROWS, SAMPLE_BYTES = sizeof(storage), VECTORS = reader::VECTORS, GROUP = reader::GROUP };
    enum { ENDS_AFTER_VECTORS = false, PER_VECTOR = reader::PER_VECTOR };

    const args *a;
    unsigned int *shared;
    lookup find;
    counter counts;

    HISTO_MEMBER images_counter(const args *arguments, unsigned int *memory)
        : a(arguments), shared(memory), find(&a->work, shared + a->layout.words), counts(shared, &a->layout)
    {
        lookup::load(&a->work.lookups[0], shared + a->layout.words);
        clear_counters<counter>(shared, &a->layout, true);
        __syncthreads();
    }

    HISTO_MEMBER uint32_t load(histo_images_cursor *cursor, step *s) { return reader::load(&a->in, cursor, s); }
    HISTO_MEMBER void prepare() {}

    HISTO_MEMBER void count(const step *s, uint32_t exists, int v)
    {
        if (!(exists >> v & ((1u << GROUP) - 1))) return;
        storage x[GROUP * PER_VECTOR];
        uint32_t slot[GROUP * PER_VECTOR];
        memcpy(x, &s->vectors[v], sizeof x);
        find.slots(x, slot);
#pragma unroll
        for (int i = 0; i < GROUP; i++) {
            if (!(exists >> (v + i) & 1)) continue;
            uint32_t *its = slot + i * PER_VECTOR;
            if (reader::MASKED)
#pragma unroll
                for (int k = 0; k < PER_VECTOR; k++)
                    its[k] = s->masks[v + i] & UINT64_C(0xff) << (8 * k) ? its[k] : a->work.slots;
            counts.count(its, PER_VECTOR);
        }
    }

    HISTO_MEMBER void count_ends(histo_images_ends *ends, uint32_t last)
    {
        for (; ends->next < last; ends->next += a->in.stride / WARP) {
            const char *row = ends->samples + ends->next * a->in.pitch;
            const char *at = histo_images_end_sample(&a->in, row, sizeof(storage));
            if (!at) continue;
            bool kept =
                !reader::MASKED || ends->mask[ends->next * a->in.mask_pitch + (at - row) / (int)sizeof(storage)];
            counts.count_slot(kept ? find.slot(*(const storage *)at) : a->work.slots);
        }
    }

    HISTO_MEMBER void merge(int64_t entry)
    {
        merge_counters<counter>(shared, &a->layout, &a->work, entry);
        clear_counters<counter>(shared, &a->layout, false);
        __syncthreads();
    }
};

} // namespace histo::lane_private

#endif
