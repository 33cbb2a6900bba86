/* Draws keys at random from all of the data. If the data come in pieces, each contributes keys in proportion to its
 * samples: when there is no more room, every other key is dropped, and fewer are drawn from then on. */
#include "survey/quantiles/draw.h"

#include <string.h>

#include "view/dtype.h"

enum { LEAST_OF_PIECE = 16 }; /* fewer keys are not worth drawing */

static uint64_t next_random(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *random >> 33;
}

void histo_add_drawn_keys(histo_selection *s, const uint64_t *keys, int64_t n)
{
    histo_drawn_keys *drawn = &s->bracketing.drawn;
    for (int64_t i = 0; i < n && drawn->count < drawn->room; i++)
        if (keys[i] >= s->limits.least && keys[i] <= s->limits.most) drawn->keys[drawn->count++] = keys[i];
}

/* One random sample from each part of the source, so that periodic data do no harm. */
static void draw_contiguous(histo_selection *s, const histo_source *source, int64_t wanted)
{
    const histo_strided_iter *iter = &source->iter;
    const size_t size = histo_dtype_size(s->dtype);
    const int64_t part = source->samples / wanted;
    uint64_t random = 1, keys[HISTO_KEYS_AT_ONCE];
    _Alignas(8) char samples[HISTO_KEYS_AT_ONCE * 8];
    for (int64_t done = 0, n; done < wanted; done += n) {
        n = wanted - done < HISTO_KEYS_AT_ONCE ? wanted - done : HISTO_KEYS_AT_ONCE;
        for (int64_t i = 0; i < n; i++) {
            const int64_t at = (done + i) * part + (int64_t)(next_random(&random) % (uint64_t)part);
            memcpy(samples + (size_t)i * size, iter->base[0] + at * iter->strides[0][0], size);
        }
        histo_keys_make(s->dtype, samples, n, keys);
        histo_add_drawn_keys(s, keys, n);
    }
}

/* A few neighbouring samples at random from each part, as locating a sample takes longer than reading it. */
static void draw_neighbours(histo_selection *s, const histo_source *source, int64_t wanted)
{
    enum { NEIGHBOURS = 8 };
    const int64_t parts = wanted / NEIGHBOURS, part = source->samples / parts;
    uint64_t random = 1, keys[NEIGHBOURS];
    for (int64_t i = 0; i < parts; i++) {
        const int64_t at = i * part + (int64_t)(next_random(&random) % (uint64_t)(part - NEIGHBOURS + 1));
        histo_samples from;
        histo_samples_start(&from, source, at, at + NEIGHBOURS);
        from.stoppable = false; /* there are few samples */
        while (histo_samples_next(&from)) {
            histo_keys_make(s->dtype, from.block, from.n, keys);
            histo_add_drawn_keys(s, keys, from.n);
        }
    }
}

static void draw(histo_selection *s, const histo_source *source, int64_t wanted)
{
    if (source->iter.ndim == 1 && histo_dtype_is_plain(source->stored[0]) && !histo_source_is_filtered(source))
        draw_contiguous(s, source, wanted);
    else
        draw_neighbours(s, source, wanted);
}

void histo_draw_first_keys(histo_selection *s, const histo_source *source, int64_t wanted)
{
    s->bracketing.drawn.interval = source->samples / wanted;
    draw(s, source, wanted);
}

static void drop_every_other(histo_drawn_keys *drawn)
{
    drawn->count /= 2;
    for (int64_t i = 0; i < drawn->count; i++)
        drawn->keys[i] = drawn->keys[2 * i];
    drawn->interval *= 2;
}

void histo_draw_more_keys(histo_selection *s, const histo_source *source)
{
    histo_drawn_keys *drawn = &s->bracketing.drawn;
    while (drawn->count > 1 && drawn->count + source->samples / drawn->interval > drawn->room)
        drop_every_other(drawn);
    const int64_t wanted = source->samples / drawn->interval;
    if (wanted >= LEAST_OF_PIECE) draw(s, source, wanted);
}
