/* A mask from a file, kept as a sliding window of full rows, one byte per pixel. Data that move back up (an array
 * stored by columns) restart the mask, which then keeps every row. */
#include "input/samples/mask.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fault_size(const mask *m, fault *f)
{
    return fault_set(f, EXIT_DATA, "the mask %s and %s must have the same height and width", input_name(m->source->in),
                     m->data_name);
}

static int fault_memory(const mask *m, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the mask %s", input_name(m->source->in));
}

static int begin(mask *m, const reader *data, fault *f)
{
    reader *r = m->source;
    m->data_name = input_name(data->in);
    m->width = r->width;
    if (data->width >= 0 && data->height >= 0 && r->height >= 0 &&
        (r->width != data->width || r->height != data->height))
        return fault_set(f, EXIT_DATA,
                         "the mask %s has %" PRId64 " x %" PRId64 " pixels and %s has %" PRId64 " x %" PRId64
                         ": they must be equal",
                         input_name(r->in), r->width, r->height, m->data_name, data->width, data->height);
    if (data->width >= 0 && r->width != data->width) return fault_size(m, f);
    m->channels = r->steps ? 1 : r->channels - (r->model == CHANNELS_GRAY_ALPHA || r->model == CHANNELS_RGBA);
    int *colors = malloc((size_t)m->channels * sizeof *colors);
    if (!colors) return fault_memory(m, f);
    for (int c = 0; c < m->channels; c++)
        colors[c] = c;
    int failed = reader_select(r, colors, NULL, m->channels, f);
    free(colors);
    return failed;
}

int mask_open(mask *m, const char *path, const reader *data, fault *f)
{
    static const read_options as_found = {.purpose = "masks", .header = -1};
    m->source = reader_open(path, &as_found, true, f);
    return m->source ? begin(m, data, f) : -1;
}

void mask_close(mask *m)
{
    reader_close(m->source);
    free(m->pixels);
    free(m->filled);
}

/* Extend the window to row `end`. */
static int reserve(mask *m, int64_t end, fault *f)
{
    int64_t rows = end - m->first;
    if (rows > m->room) {
        int64_t room = rows > m->room * 2 ? rows : m->room * 2, bytes;
        if (__builtin_mul_overflow(room, m->width, &bytes)) return fault_memory(m, f);
        unsigned char *pixels = realloc(m->pixels, (size_t)bytes + 1);
        if (pixels) m->pixels = pixels;
        int64_t *filled = realloc(m->filled, (size_t)room * sizeof *filled);
        if (filled) m->filled = filled;
        if (!pixels || !filled) return fault_memory(m, f);
        m->room = room;
    }
    if (rows > m->rows) {
        memset(m->pixels + m->rows * m->width, 0, (size_t)((rows - m->rows) * m->width));
        memset(m->filled + m->rows, 0, (size_t)(rows - m->rows) * sizeof *m->filled);
        m->rows = rows;
    }
    return 0;
}

static void forget_above(mask *m, int64_t y)
{
    int64_t gone = y - m->first < m->rows ? y - m->first : m->rows;
    if (gone <= 0) return;
    m->rows -= gone;
    memmove(m->pixels, m->pixels + gone * m->width, (size_t)(m->rows * m->width));
    memmove(m->filled, m->filled + gone, (size_t)m->rows * sizeof *m->filled);
    m->first += gone;
}

/* Whether the sample is nonzero. A float is zero if all bits except the sign are 0. */
static bool is_set(const void *sample, histo_dtype dtype)
{
    uint64_t bits = 0;
    size_t size = histo_dtype_size(dtype);
    memcpy(&bits, sample, size);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bits >>= 64 - 8 * size;
#endif
    if (dtype >= HISTO_F16) bits &= ~(UINT64_C(1) << (8 * size - 1));
    return bits != 0;
}

/* Missing samples count as zero. */
static void store(mask *m, const band *b)
{
    for (int64_t y = b->y < m->first ? m->first - b->y : 0; y < b->rows; y++) {
        unsigned char *row = m->pixels + (b->y + y - m->first) * m->width + b->x;
        for (int c = 0; c < m->channels; c++) {
            const histo_view *v = &b->views[c];
            const histo_view *valid = b->valid && b->valid[c].data ? &b->valid[c] : NULL;
            const char *from = (const char *)v->data + y * v->strides[0];
            const char *valid_row = valid ? (const char *)valid->data + y * valid->strides[0] : NULL;
            for (int64_t x = 0; x < b->cols; x++)
                row[x] |=
                    is_set(from + x * v->strides[1], v->dtype) && (!valid_row || valid_row[x * valid->strides[1]]);
        }
        m->filled[b->y + y - m->first] += b->cols;
    }
}

/* Read another band of the mask into the window. */
static int read_more(mask *m, fault *f)
{
    band b;
    int more = m->ended ? 0 : m->source->next(m->source, &b, f);
    if (more < 0) return -1;
    if (more == 0 || b.page > 0) {
        m->ended = true;
        return 0;
    }
    if (b.x + b.cols > m->width) return fault_size(m, f);
    if (reserve(m, b.y + b.rows, f) != 0) return -1;
    store(m, &b);
    return 1;
}

static bool has_rows(const mask *m, int64_t y, int64_t end)
{
    if (end > m->first + m->rows) return false;
    for (int64_t i = end; i-- > y;)
        if (m->filled[i - m->first] < m->width) return false;
    return true;
}

int mask_rewind(mask *m, fault *f)
{
    m->first = m->rows = 0;
    m->ended = false;
    return m->source->rewind(m->source, f);
}

int mask_view(mask *m, int64_t y, int64_t x, int64_t rows, int64_t cols, histo_view *view, fault *f)
{
    if (y < m->first) {
        m->keep_all = true;
        if (mask_rewind(m, f) != 0) return -1;
    }
    if (!m->keep_all) forget_above(m, y);
    if (x + cols > m->width) return fault_size(m, f);
    while (!has_rows(m, y, y + rows)) {
        int more = read_more(m, f);
        if (more < 0) return -1;
        if (more == 0) return fault_size(m, f);
        if (!m->keep_all) forget_above(m, y);
    }
    const int64_t shape[] = {rows, cols};
    *view = histo_view_nd(m->pixels + (y - m->first) * m->width + x, HISTO_U8, 2, shape);
    view->strides[0] = m->width;
    return 0;
}

int mask_end_page(mask *m, int64_t height, fault *f)
{
    int more = 1;
    while (more > 0 && m->first + m->rows <= height) {
        forget_above(m, m->first + m->rows);
        more = read_more(m, f);
    }
    if (more < 0) return -1;
    return m->first + m->rows == height ? 0 : fault_size(m, f);
}
