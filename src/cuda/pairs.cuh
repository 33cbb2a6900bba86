/* Pairs of up to 16 images, each of one long run or of rows, to slots. The iter is that of the places
 * (histo_strided_iter_places). A thread has a word of each image, four bytes or two numbers of 16 bits, in registers;
 * it adds them up for the means, and then takes their pairs from the front, 8 samples at once, and moves the words that
 * are left forward:
 *
 *     histo_tile tile = histo_tile_any(&work, item);
 *     histo_canvas canvas = histo_canvas_of(&work, &tile);
 *     for (uint32_t from = 0; from < tile.length; from += blockDim.x * HISTO_PLACES_u8) {
 *         histo_stack_u8 stack;
 *         histo_load_stack_u8(&work, &stacking, &tile, &canvas, from, &stack);
 *         while (stack.pairs > 0) {
 *             int32_t x[HISTO_PAIR_SLOTS];
 *             int taken = histo_take_pairs_u8(HISTO_PAIRS_RING, &stack, x);
 *             … for each k count histo_slot_of_taken_u8(&work, &stack, taken, x, k), unless it is HISTO_NO_SLOT; or
 * find out faster where it is (histo_scaled)
 *         }
 *     } */
#ifndef CUDA_PAIRS_CUH
#define CUDA_PAIRS_CUH

#include <math.h>

#include "cuda/macro_names.cuh"

enum { HISTO_STACK_IMAGES = 16, HISTO_PAIR_SLOTS = 8, HISTO_PLACES_u8 = 4, HISTO_PLACES_u16 = 2 };

/* Are the pairs' places, of iter `places`, such that these readers can read them? */
static inline bool histo_is_stack(const histo_cuda_work *places)
{
    const histo_strided_iter *iter = &places->iter;
    const int runs = iter->ndim - iter->batch_ndim, last = iter->ndim - 1;
    return iter->images <= HISTO_STACK_IMAGES && places->aligned && runs <= 2 &&
           iter->shape[last] <= (runs == 2 ? INT32_MAX : INT64_MAX) &&
           iter->strides[0][last] == (int64_t)histo_dtype_size(places->dtypes[0]);
}

/* A tile's places in the first image: one run, or rows. */
typedef struct histo_canvas {
    const char *at;         /* the first place, or the beginning of its row */
    uint32_t column, width; /* of the first place; 0: one run */
    int64_t pitch;          /* bytes */
    histo_divisor by;       /* width */
} histo_canvas;

HISTO_IN_KERNEL histo_canvas histo_canvas_of(const histo_cuda_work *w, const histo_tile *tile)
{
    const int last = w->iter.ndim - 1;
    histo_canvas canvas = {tile->at};
    if (last == w->iter.batch_ndim) return canvas;
#pragma unroll
    for (int d = 0; d <= HISTO_MAX_DIMS; d++) /* keeps index[] in registers */
        canvas.column = d == last ? (uint32_t)tile->index[d] : canvas.column;
    canvas.at -= canvas.column * w->iter.strides[0][last];
    canvas.width = (uint32_t)w->iter.shape[last];
    canvas.pitch = w->iter.strides[0][last - 1];
    canvas.by = w->divisors[last];
    return canvas;
}

/* Place `index` of the tile, and how many of its row are there from it on. */
HISTO_IN_KERNEL const char *histo_on_canvas(const histo_canvas *canvas, uint32_t index, int size, uint32_t *left)
{
    *left = UINT32_MAX;
    if (!canvas->width) return canvas->at + (int64_t)index * size;
    const uint32_t at = canvas->column + index, row = histo_divide(at, canvas->by), column = at - row * canvas->width;
    *left = canvas->width - column;
    return canvas->at + row * canvas->pitch + (int64_t)column * size;
}

/* What all stacks have in common. */
typedef struct histo_stacking {
    uint32_t images, pairs, factor; /* of histo_mean_of */
    uint32_t apart; /* bytes from an image to the next, if they are 16 and it is a multiple of 4, or 0 */
} histo_stacking;

static inline histo_stacking histo_stacking_of(const histo_strided_iter *places)
{
    const uint32_t images = (uint32_t)places->images;
    const int64_t stride = places->image_stride;
    const bool is_common = images == HISTO_STACK_IMAGES && stride > 0 && stride <= UINT32_MAX && stride % 4 == 0;
    return histo_stacking{images, images / (uint32_t)places->step, histo_mean_factor(images),
                          is_common ? (uint32_t)stride : 0};
}

/* The image behind the last one is the first. */
#define HISTO_DEFINE_STACK(name, type)                                                                                 \
    typedef struct histo_stack_##name {                                                                                \
        uint32_t words[HISTO_STACK_IMAGES + 1];                                                                        \
        uint32_t means[HISTO_PLACES_##name]; /* slots */                                                               \
        int pairs;                           /* that are left */                                                       \
        int there;                           /* places */                                                              \
    } histo_stack_##name;                                                                                              \
                                                                                                                       \
    /* Number k of a word. */                                                                                          \
    HISTO_IN_KERNEL uint32_t histo_in_word_##name(uint32_t word, int k)                                                \
    {                                                                                                                  \
        return word >> (int)(8 * sizeof(type)) * k & (type)~0u;                                                        \
    }                                                                                                                  \
                                                                                                                       \
    HISTO_IN_KERNEL void histo_load_stack_##name(const histo_cuda_work *w, const histo_stacking *all,                  \
                                                 const histo_tile *tile, const histo_canvas *canvas, uint32_t from,    \
                                                 histo_stack_##name *stack)                                            \
    {                                                                                                                  \
        enum { PLACES = HISTO_PLACES_##name };                                                                         \
        const int images = (int)all->images;                                                                           \
        const uint32_t first = from + threadIdx.x * PLACES, left = first < tile->length ? tile->length - first : 0;    \
        const int64_t stride = w->iter.image_stride;                                                                   \
        uint32_t in_row;                                                                                               \
        const char *at = histo_on_canvas(canvas, min(first, tile->length - 1), (int)sizeof(type), &in_row);            \
        const bool is_whole = min(left, in_row) >= PLACES && (uint64_t)at % sizeof(uint32_t) == 0;                     \
        stack->pairs = (int)all->pairs;                                                                                \
        stack->there = (int)min(left, (uint32_t)PLACES);                                                               \
        if (is_whole && all->apart) {                                                                                  \
            _Pragma("unroll") for (int i = 0; i < HISTO_STACK_IMAGES; i++) stack->words[i] =                           \
                __ldcs((const uint32_t *)(at + (uint64_t)all->apart * i));                                             \
            stack->words[HISTO_STACK_IMAGES] = 0;                                                                      \
        } else if (is_whole && stride % sizeof(uint32_t) == 0) {                                                       \
            _Pragma("unroll") for (int i = 0; i <= HISTO_STACK_IMAGES; i++) stack->words[i] =                          \
                i < images ? __ldcs((const uint32_t *)(at + i * stride)) : 0;                                          \
        } else {                                                                                                       \
            _Pragma("unroll") for (int i = 0; i <= HISTO_STACK_IMAGES; i++)                                            \
            {                                                                                                          \
                stack->words[i] = 0;                                                                                   \
                _Pragma("unroll") for (int k = 0; k < PLACES; k++) if (i < images && k < stack->there)                 \
                {                                                                                                      \
                    const char *one = histo_on_canvas(canvas, first + (uint32_t)k, (int)sizeof(type), &in_row);        \
                    stack->words[i] |= (uint32_t) * (const type *)(one + i * stride) << (8 * sizeof(type)) * k;        \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        uint32_t sums[PLACES] = {0}; /* the first one: what the others leave of the sum of the words */                \
        _Pragma("unroll") for (int i = 0; i < HISTO_STACK_IMAGES; i++)                                                 \
        {                                                                                                              \
            sums[0] += stack->words[i];                                                                                \
            _Pragma("unroll") for (int k = 1; k < PLACES; k++) sums[k] += histo_in_word_##name(stack->words[i], k);    \
        }                                                                                                              \
        _Pragma("unroll") for (int k = 1; k < PLACES; k++) sums[0] -= sums[k] << (8 * sizeof(type)) * k;               \
        if (images == HISTO_STACK_IMAGES)                                                                              \
            stack->words[HISTO_STACK_IMAGES] = stack->words[0];                                                        \
        else                                                                                                           \
            _Pragma("unroll") for (int i = 1; i < HISTO_STACK_IMAGES; i++) if (i == images) stack->words[i] =          \
                stack->words[0];                                                                                       \
        _Pragma("unroll") for (int k = 0; k < PLACES; k++)                                                             \
        {                                                                                                              \
            type mean = (type)histo_mean_of(sums[k], all->images, all->factor);                                        \
            stack->means[k] = w->slot_strides[HISTO_MEAN] * histo_slot_of_##name(&w->lookups[HISTO_MEAN], mean);       \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* The differences of the next pairs, HISTO_PAIR_SLOTS numbers; gives how many pairs they are of, which is fewer   \
     * than it could be at the end. step: the strided iterator's, as a constant. */                                    \
    HISTO_IN_KERNEL int histo_take_pairs_##name(int step, histo_stack_##name *stack, int32_t *x)                       \
    {                                                                                                                  \
        enum { PLACES = HISTO_PLACES_##name, EACH = HISTO_PAIR_SLOTS / PLACES };                                       \
        const int taken = min(stack->pairs, (int)EACH);                                                                \
        _Pragma("unroll") for (int i = 0; i < EACH; i++) _Pragma("unroll") for (int k = 0; k < PLACES; k++)            \
            x[i * PLACES + k] = (int32_t)histo_in_word_##name(stack->words[step * i], k) -                             \
                                (int32_t)histo_in_word_##name(stack->words[step * i + 1], k);                          \
        _Pragma("unroll") for (int i = 0; i + step * EACH <= HISTO_STACK_IMAGES; i++) stack->words[i] =                \
            stack->words[i + step * EACH];                                                                             \
        stack->pairs -= taken;                                                                                         \
        return taken;                                                                                                  \
    }                                                                                                                  \
                                                                                                                       \
    /* Are all of them there? */                                                                                       \
    HISTO_IN_KERNEL bool histo_are_all_##name(const histo_stack_##name *stack, int taken)                              \
    {                                                                                                                  \
        return taken * HISTO_PLACES_##name == HISTO_PAIR_SLOTS && stack->there == HISTO_PLACES_##name;                 \
    }                                                                                                                  \
                                                                                                                       \
    /* The slot of the k-th of them, or HISTO_NO_SLOT. */                                                              \
    HISTO_IN_KERNEL uint32_t histo_slot_of_taken_##name(const histo_cuda_work *w, const histo_stack_##name *stack,     \
                                                        int taken, const int32_t *x, int k)                            \
    {                                                                                                                  \
        enum { PLACES = HISTO_PLACES_##name };                                                                         \
        int32_t difference = x[0];                                                                                     \
        uint32_t mean = stack->means[0];                                                                               \
        _Pragma("unroll") for (int s = 1; s < HISTO_PAIR_SLOTS; s++) /* keeps the arrays in registers */               \
        {                                                                                                              \
            difference = s == k ? x[s] : difference;                                                                   \
            mean = s == k ? stack->means[s % PLACES] : mean;                                                           \
        }                                                                                                              \
        if (k % PLACES >= stack->there || k / PLACES >= taken) return HISTO_NO_SLOT;                                   \
        return histo_slot_of_i32(&w->lookups[HISTO_DIFFERENCE], difference) * w->slot_strides[HISTO_DIFFERENCE] +      \
               mean;                                                                                                   \
    }
HISTO_DEFINE_STACK(u8, uint8_t)
HISTO_DEFINE_STACK(u16, uint16_t)

/* Differences whose bins are 2^k wide, beginning at multiples of that, or 2^-k from a whole number on, by a shift and a
 * multiplication: the slot of the pair is (difference >> shift) * factor + base + that of the mean, if this is less
 * than `end`, where the slots of NaN begin; else it is below 0, or not less than that. */
typedef struct histo_scaling {
    int32_t shift, factor;
    uint32_t base, end;
} histo_scaling;

/* On the host; end is 0 for other axes. Products are so small that no sum with another slot wraps. */
static inline histo_scaling histo_scaling_of(const histo_problem *p)
{
    const histo_lookup *l = &p->lookups[HISTO_DIFFERENCE];
    const double most = UINT16_MAX + fabs(l->lo) + l->step, stride = p->slot_strides[HISTO_DIFFERENCE];
    const double limit = 1 << 30, first = l->lo / l->step;
    int exponent;
    bool is_power = frexp(l->step, &exponent) == 0.5, is_wide = exponent > 0;
    bool is_even = l->hi == l->lo + l->bins * l->step && l->lo == floor(l->lo) && first == floor(first);
    histo_scaling s = {};
    if (l->kind != HISTO_UNIFORM || l->closed || !is_power || !is_even) return s;
    if ((most / l->step + 2) * stride >= limit || most >= limit || p->slots >= limit) return s;
    s.shift = is_wide ? exponent - 1 : 0;
    s.factor = (int32_t)(is_wide ? stride : stride / l->step);
    s.base = (uint32_t)(int32_t)((1 - first) * stride);
    s.end = (uint32_t)(((double)l->bins + 2) * stride);
    return s;
}

HISTO_IN_KERNEL uint32_t histo_scaled(const histo_scaling *s, int32_t difference)
{
    return (uint32_t)((difference >> s->shift) * s->factor);
}

#endif
