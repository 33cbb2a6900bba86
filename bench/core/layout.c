#include "bench/core/layout.h"

typedef struct layout_row {
    const char *name;
    int64_t channels, counted;     /* interleaved; how many of the first are counted */
    int64_t width, height, images; /* 0: as many as wanted; images: the maximum */
    int64_t margin;                /* samples outside the region in each row, half of them on the left */
    bool masked;
    histo_pairing pairs; /* of a stack of images */
} layout_row;

static const layout_row layouts[] = {
    [BENCH_ONE_ARRAY] = {"", 1, 1, 0, 0, 1, 0, false},
    [BENCH_RGBA] = {"rgba", 4, 4, 0, 0, 1, 0, false},
    [BENCH_RGB_OF_RGBA] = {"rgb-of-rgba", 4, 3, 0, 0, 1, 0, false},
    [BENCH_RGB] = {"rgb", 3, 3, 0, 0, 1, 0, false},
    [BENCH_IMAGES] = {"images", 1, 1, 256, 256, 10000, 0, false},
    [BENCH_REGION] = {"region", 1, 1, 3840, 0, 1, 512 + 26, false},
    [BENCH_MASK] = {"mask", 1, 1, 0, 0, 1, 0, true},
    [BENCH_1080P] = {"1080p", 1, 1, 1920, 1080, 1, 0, false},
    [BENCH_4K] = {"4k", 1, 1, 3840, 2160, 1, 0, false},
    [BENCH_RING] = {.name = "ring-16", .pairs = HISTO_PAIRS_RING},
    [BENCH_APART] = {.name = "apart-16", .pairs = HISTO_PAIRS_APART},
};

const char *bench_layout_name(bench_layout layout)
{
    return layouts[layout].name;
}

static bench_arrangement arrange_stack(const bench_input *input, int64_t wanted)
{
    enum { EVEN = 1024 /* so that images are aligned */ };
    const int64_t shape[] = {BENCH_STACKED, (wanted / BENCH_STACKED + EVEN - 1) / EVEN * EVEN};
    bench_arrangement arranged = {
        .batch = 1, .pairs = layouts[input->layout].pairs, .view = histo_view_nd(NULL, input->dtype, 2, shape)};
    arranged.stored = arranged.touched = shape[0] * shape[1];
    arranged.counted = arranged.stored / (int)arranged.pairs;
    return arranged;
}

bench_arrangement bench_arrange(const bench_input *input, int64_t wanted)
{
    const layout_row *l = &layouts[input->layout];
    if (l->pairs) return arrange_stack(input, wanted);
    const int64_t size = (int64_t)histo_dtype_size(input->dtype);
    const int64_t width = l->width ? l->width : wanted / l->channels;
    const int64_t height = l->height ? l->height : l->width ? wanted / width : 1;
    const int64_t pitch = width * l->channels + l->margin, image = pitch * height, possible = wanted / image;
    const int64_t images = l->images <= possible ? l->images : possible > 1 ? possible : 1;
    bench_arrangement arranged = {.stored = images * image,
                                  .counted = images * height * width * l->counted,
                                  .touched = images * height * width * l->channels,
                                  .batch = images * l->counted,
                                  .masked = l->masked,
                                  .first = l->margin / 2,
                                  .view = {.dtype = input->dtype, .ndim = 4}};
    const int64_t shape[] = {images, l->counted, height, width}, strides[] = {image, 1, pitch, l->channels};
    arranged.view.batch_ndim = arranged.batch > 1 ? 2 : 0;
    for (int d = 0; d < 4; d++) {
        arranged.view.shape[d] = shape[d];
        arranged.view.strides[d] = strides[d] * size;
    }
    return arranged;
}

histo_view bench_samples_at(const bench_arrangement *arranged, const void *samples)
{
    histo_view view = arranged->view;
    view.data = (const char *)samples + (size_t)arranged->first * histo_dtype_size(view.dtype);
    return view;
}

/* A mask has a byte for each sample, in their order. */
histo_view bench_mask_at(const bench_arrangement *arranged, const void *mask)
{
    histo_view view = histo_view_nd(mask, HISTO_U8, arranged->view.ndim, arranged->view.shape);
    view.batch_ndim = arranged->view.batch_ndim;
    return view;
}
