#include "video/planes.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_COLS = COLOR_ROW, BLOCK_ROWS = PLANES_BLOCK_ROWS };

static int64_t blocks(int64_t pixels, int64_t each)
{
    return (pixels + each - 1) / each;
}

static int channels_of(const planes *p, const reader *r)
{
    int last = 0;
    if (p->space->kind) return 3;
    for (int a = 0; a < p->space->naxes; a++)
        last = p->space->channels[a] > last ? p->space->channels[a] : last;
    return last < r->channels ? last + 1 : r->channels;
}

static int allocate(planes *p, const reader *r, fault *f)
{
    const histo_dtype dtype = p->space->kind ? HISTO_U8 : r->dtypes[0];
    const int64_t shape[] = {p->height, p->width};
    const size_t size = (size_t)(p->width * p->height) * histo_dtype_size(dtype);
    p->samples = malloc(size * (size_t)p->space->naxes);
    p->ready = malloc((size_t)(blocks(p->width, BLOCK_COLS) * blocks(p->height, BLOCK_ROWS)));
    if (!p->samples || !p->ready) return fault_set(f, EXIT_DATA, "no memory for a frame of %s", input_name(r->in));
    for (int a = 0; a < p->space->naxes; a++)
        p->views[a] = histo_view_nd(p->samples + (size_t)a * size, dtype, 2, shape);
    return 0;
}

int planes_make(planes *p, const space *sp, const reader *r, int64_t width, int64_t height, fault *f)
{
    *p = (planes){.space = sp, .width = width, .height = height, .direct = !sp->kind};
    p->channels = channels_of(p, r);
    p->video = r->video != NULL;
    if (p->video) p->matrix = color_matrix_of(r->height, r->video->bits, r->video->range == Y4M_FULL);
    for (int c = 0; c < p->channels; c++) {
        p->steps[c] = r->steps ? r->steps[c] : (channel_step){1, 1};
        p->direct = p->direct && p->steps[c].x == 1 && p->steps[c].y == 1;
    }
    return p->direct ? 0 : allocate(p, r, f);
}

void planes_free(planes *p)
{
    free(p->samples);
    free(p->ready);
}

int planes_select(const planes *p, reader *r, fault *f)
{
    const int channels[SPACE_CHANNELS] = {0, 1, 2, 3};
    return reader_select(r, channels, NULL, p->channels, f);
}

void planes_show(planes *p, const histo_view *channels)
{
    memcpy(p->from, channels, (size_t)p->channels * sizeof *channels);
    for (int a = 0; p->direct && a < p->space->naxes; a++)
        p->views[a] = channels[p->space->channels[a]];
    if (!p->direct) memset(p->ready, 0, (size_t)(blocks(p->width, BLOCK_COLS) * blocks(p->height, BLOCK_ROWS)));
}

/* Samples of a channel from (x, y) on, one for each pixel. */
static void load(const planes *p, int channel, int64_t y, int64_t x, int n, uint16_t *samples)
{
    const histo_view *v = &p->from[channel];
    const channel_step step = p->steps[channel];
    const unsigned char *row = (const unsigned char *)v->data + y / step.y * v->strides[0];
    const int64_t stride = v->strides[1];
    if (v->dtype == HISTO_U16)
        for (int i = 0; i < n; i++)
            memcpy(&samples[i], row + (x + i) / step.x * stride, sizeof *samples);
    else if (step.x == 1)
        for (int i = 0; i < n; i++)
            samples[i] = row[(x + i) * stride];
    else if (step.x == 2) /* blocks begin at even pixels, and have room for an even number */
        for (int i = 0; i < (n + 1) / 2; i++)
            samples[2 * i] = samples[2 * i + 1] = row[(x / 2 + i) * stride];
    else
        for (int i = 0; i < n; i++)
            samples[i] = row[(x + i) / step.x * stride];
}

static void load_rgb(const planes *p, int64_t y, int64_t x, int n, uint8_t rgb[3][COLOR_ROW])
{
    uint16_t samples[3][COLOR_ROW];
    for (int c = 0; c < 3; c++)
        load(p, c, y, x, n, samples[c]);
    if (p->video) {
        color_rgb_of_yuv(&p->matrix, n, samples, rgb);
        return;
    }
    const bool wide = p->from[0].dtype == HISTO_U16; /* rounded to 8 bits */
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < n; i++)
            rgb[c][i] = (uint8_t)(wide ? (samples[c][i] + 128) / 257 : samples[c][i]);
}

static void convert_colors(planes *p, int64_t y, int64_t x, int n)
{
    uint8_t rgb[3][COLOR_ROW], colors[3][COLOR_ROW];
    load_rgb(p, y, x, n, rgb);
    (p->space->kind == SPACE_HSV ? color_hsv_of_rgb : color_opponent_of_rgb)(n, rgb, colors);
    for (int a = 0; a < p->space->naxes; a++)
        memcpy((uint8_t *)p->views[a].data + y * p->width + x, colors[p->space->channels[a]], (size_t)n);
}

static void convert_channels(planes *p, int64_t y, int64_t x, int n)
{
    uint16_t samples[BLOCK_COLS];
    for (int a = 0; a < p->space->naxes; a++) {
        unsigned char *to = (unsigned char *)p->views[a].data + y * p->views[a].strides[0];
        load(p, p->space->channels[a], y, x, n, samples);
        if (p->views[a].dtype == HISTO_U16)
            memcpy(to + 2 * x, samples, (size_t)n * sizeof *samples);
        else
            for (int i = 0; i < n; i++)
                to[x + i] = (unsigned char)samples[i];
    }
}

static void convert(planes *p, const int64_t window[4])
{
    const int64_t across = blocks(p->width, BLOCK_COLS);
    for (int64_t by = window[1] / BLOCK_ROWS; by * BLOCK_ROWS < window[1] + window[3]; by++)
        for (int64_t bx = window[0] / BLOCK_COLS; bx * BLOCK_COLS < window[0] + window[2]; bx++) {
            if (p->ready[by * across + bx]) continue;
            p->ready[by * across + bx] = 1;
            const int64_t x = bx * BLOCK_COLS, right = x + BLOCK_COLS < p->width ? x + BLOCK_COLS : p->width;
            for (int64_t y = by * BLOCK_ROWS; y < (by + 1) * BLOCK_ROWS && y < p->height; y++)
                (p->space->kind ? convert_colors : convert_channels)(p, y, x, (int)(right - x));
        }
}

void planes_window(planes *p, const int64_t window[4], histo_view *views)
{
    if (!p->direct) convert(p, window);
    for (int a = 0; a < p->space->naxes; a++) {
        views[a] = p->views[a];
        views[a].data = (const char *)views[a].data + window[1] * views[a].strides[0] + window[0] * views[a].strides[1];
        views[a].shape[0] = window[3];
        views[a].shape[1] = window[2];
    }
}
