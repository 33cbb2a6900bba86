/* The reader of image stacks: pairs of up to 16 images, each one contiguous run of pixels or a pitched raster of rows.
 * The work's iterator is that of the pixels of one image (histo_pairs_iter_pixels).
 *
 * A thread loads one 32-bit word of each image, which is 4 pixels of u8 or 2 of u16, and keeps them in registers. It
 * sums them up for the means, then takes pairs from the front, 8 samples at a time, and moves the remaining words
 * forward, so that every index into the words is a constant:
 *
 *     histo_tile tile = histo_tile_any(&work, item);
 *     raster image = raster::of(&work, &tile);
 *     for (uint32_t from = 0; from < tile.length; from += blockDim.x * stack<HISTO_U8>::PIXELS) {
 *         stack<HISTO_U8> s;
 *         s.load(&work, &geometry, &tile, &image, from);
 *         while (s.pairs > 0) {
 *             int32_t x[PAIR_SAMPLES];
 *             int taken = s.take<HISTO_PAIRS_RING>(x);
 *             … for each k count s.slot(&work, taken, x, k) unless it is HISTO_NO_SLOT, or use pow2_difference
 *         }
 *     } */
#ifndef CUDA_WINDOW_PAIRS_CUH
#define CUDA_WINDOW_PAIRS_CUH

#include "cuda/strategies/packed_window/packed_window.cuh"

namespace histo::packed_window
{

enum { PAIR_SAMPLES = 8 /* of a thread, at a time */ };

/* A tile's pixels in the first image. */
struct raster {
    const char *at;         /* the first pixel, or the beginning of its row */
    uint32_t column, width; /* of the first pixel; width 0: one contiguous run */
    int64_t pitch;          /* bytes from row to row */
    histo_divisor by;       /* width */

    static HISTO_MEMBER raster of(const histo_cuda_work *w, const histo_tile *tile)
    {
        const int last = w->iter.ndim - 1;
        raster image = {tile->at};
        if (last == w->iter.batch_ndim) return image;
#pragma unroll
        for (int d = 0; d <= HISTO_MAX_DIMS; d++) /* keeps index[] in registers */
            image.column = d == last ? (uint32_t)tile->index[d] : image.column;
        image.at -= image.column * w->iter.strides[0][last];
        image.width = (uint32_t)w->iter.shape[last];
        image.pitch = w->iter.strides[0][last - 1];
        image.by = w->divisors[last];
        return image;
    }

    /* The address of pixel `index` of the tile; *left: pixels from it to the end of its row. */
    HISTO_MEMBER const char *pixel(uint32_t index, int size, uint32_t *left) const
    {
        *left = UINT32_MAX;
        if (!width) return at + (int64_t)index * size;
        const uint32_t x = column + index, row = histo_divide(x, by), in_row = x - row * width;
        *left = width - in_row;
        return at + row * pitch + (int64_t)in_row * size;
    }
};

/* A thread's pixels of all images */
template <histo_dtype TYPE>
struct stack {
    using T = histo_stored<TYPE>;
    enum { BITS = 8 * (int)sizeof(T), PIXELS = 4 / (int)sizeof(T), PAIRS = PAIR_SAMPLES / PIXELS };

    uint32_t words[MAX_STACK + 1]; /* the image behind the last one is the first */
    uint32_t means[PIXELS];        /* the mean axis' part of the slots */
    int pairs;                     /* not yet taken */
    int there;                     /* pixels in the tile */

    static HISTO_MEMBER uint32_t value(uint32_t word, int k) { return word >> BITS * k & (T)~0u; }

    HISTO_MEMBER void load(const histo_cuda_work *w, const stack_geometry *all, const histo_tile *tile,
                           const raster *image, uint32_t from)
    {
        const int images = (int)all->images;
        const uint32_t first = from + threadIdx.x * PIXELS, left = first < tile->length ? tile->length - first : 0;
        const int64_t stride = w->iter.image_stride;
        uint32_t in_row;
        const char *at = image->pixel(min(first, tile->length - 1), (int)sizeof(T), &in_row);
        const bool is_word = min(left, in_row) >= PIXELS && (uint64_t)at % sizeof(uint32_t) == 0;
        pairs = (int)all->pairs;
        there = (int)min(left, (uint32_t)PIXELS);
        if (is_word && all->stride_of_16) {
#pragma unroll
            for (int i = 0; i < MAX_STACK; i++)
                words[i] = __ldcs((const uint32_t *)(at + (uint64_t)all->stride_of_16 * i));
            words[MAX_STACK] = 0;
        } else if (is_word && stride % sizeof(uint32_t) == 0) {
#pragma unroll
            for (int i = 0; i <= MAX_STACK; i++)
                words[i] = i < images ? __ldcs((const uint32_t *)(at + i * stride)) : 0;
        } else {
            load_single(image, first, images, stride);
        }
        uint32_t sums[PIXELS] = {0};
        add_up(sums);
        if (images == MAX_STACK)
            words[MAX_STACK] = words[0];
        else
#pragma unroll
            for (int i = 1; i < MAX_STACK; i++)
                if (i == images) words[i] = words[0];
#pragma unroll
        for (int k = 0; k < PIXELS; k++) {
            T mean = (T)histo_mean_of(sums[k], all->images, all->factor);
            means[k] = w->slot_strides[HISTO_MEAN] * histo_any_lookup<TYPE>(&w->lookups[HISTO_MEAN]).slot(mean);
        }
    }

    /* Pixel by pixel. */
    HISTO_MEMBER void load_single(const raster *image, uint32_t first, int images, int64_t stride)
    {
        uint32_t in_row;
#pragma unroll
        for (int i = 0; i <= MAX_STACK; i++) {
            words[i] = 0;
#pragma unroll
            for (int k = 0; k < PIXELS; k++)
                if (i < images && k < there) {
                    const char *one = image->pixel(first + (uint32_t)k, (int)sizeof(T), &in_row);
                    words[i] |= (uint32_t) * (const T *)(one + i * stride) << BITS * k;
                }
        }
    }

    /* The sum of each pixel over the images: the words are added up whole, too, which gives the first pixel's sum once
     * the others' are subtracted. */
    HISTO_MEMBER void add_up(uint32_t *sums) const
    {
#pragma unroll
        for (int i = 0; i < MAX_STACK; i++) {
            sums[0] += words[i];
#pragma unroll
            for (int k = 1; k < PIXELS; k++)
                sums[k] += value(words[i], k);
        }
#pragma unroll
        for (int k = 1; k < PIXELS; k++)
            sums[0] -= sums[k] << BITS * k;
    }

    /* The differences of the next pairs. Gives how many pairs there are, fewer than PAIRS at the end of the stack.
     * STEP: the iterator's, from a pair's first image to the next pair's. */
    template <int STEP>
    HISTO_MEMBER int take(int32_t *x)
    {
        const int taken = min(pairs, (int)PAIRS);
#pragma unroll
        for (int i = 0; i < PAIRS; i++)
#pragma unroll
            for (int k = 0; k < PIXELS; k++)
                x[i * PIXELS + k] = (int32_t)value(words[STEP * i], k) - (int32_t)value(words[STEP * i + 1], k);
#pragma unroll
        for (int i = 0; i + STEP * PAIRS <= MAX_STACK; i++)
            words[i] = words[i + STEP * PAIRS];
        pairs -= taken;
        return taken;
    }

    /* Are all PAIR_SAMPLES of them samples? */
    HISTO_MEMBER bool is_complete(int taken) const
    {
        return taken * PIXELS == PAIR_SAMPLES && there == PIXELS;
    }

    /* The slot of the k-th of them, or HISTO_NO_SLOT. */
    HISTO_MEMBER uint32_t slot(const histo_cuda_work *w, int taken, const int32_t *x, int k) const
    {
        int32_t difference = x[0];
        uint32_t mean = means[0];
#pragma unroll
        for (int s = 1; s < PAIR_SAMPLES; s++) { /* keeps the arrays in registers */
            difference = s == k ? x[s] : difference;
            mean = s == k ? means[s % PIXELS] : mean;
        }
        if (k % PIXELS >= there || k / PIXELS >= taken) return HISTO_NO_SLOT;
        return histo_any_lookup<HISTO_I32>(&w->lookups[HISTO_DIFFERENCE]).slot(difference) *
                   w->slot_strides[HISTO_DIFFERENCE] +
               mean;
    }
};

HISTO_IN_KERNEL uint32_t slot_by(const pow2_difference *l, int32_t difference)
{
    return (uint32_t)((difference >> l->shift) * l->factor);
}

} // namespace histo::packed_window

#endif
