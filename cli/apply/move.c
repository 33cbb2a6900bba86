#include "apply/move.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"

static image_page describe(const mover *m)
{
    const reader *r = pages_reader(m->in);
    const metadata *about = pages_about(m->in);
    image_page page = {.model = r->model,
                       .channels = r->channels,
                       .dtype = r->dtypes[0],
                       .height = pages_height(m->in),
                       .width = pages_width(m->in),
                       .largest = about ? about->largest : 0,
                       .boolean = about && about->boolean,
                       .about = about,
                       .has_nodata = about && about->has_nodata};
    if (page.has_nodata) memcpy(page.nodata, about->nodata, sizeof page.nodata);
    return page;
}

static bool is_flat(const image_page *page)
{
    return page->about && page->about->ndim == MOVE_DIMS && page->width == 1 && page->channels == 1;
}

static bool has_arrays(const image_writer *writer)
{
    return strcmp(writer->name, "npy") == 0 || strcmp(writer->name, "raw") == 0;
}

static image_page page_written(const mover *m)
{
    image_page page = m->page;
    if (!m->cut) return page;
    page.height = m->page.about->shape[1];
    page.width = m->page.about->shape[2];
    page.about = NULL;
    return page;
}

int mover_open(mover *m, const char *path, const char *out, const settings *s, fault *f)
{
    *m = (mover){0};
    if (strcmp(path, "-") == 0)
        return fault_set(f, EXIT_USAGE, "standard input is read once, and an image to move twice: name a file");
    if (!(m->in = pages_open(path, &s->read, false, f))) return -1;
    if (pages_video(m->in)) return fault_set(f, EXIT_USAGE, "%s is video, which is not moved: leave OUT out", path);
    const reader *r = pages_reader(m->in);
    for (int c = 1; c < r->channels; c++)
        if (r->dtypes[c] != r->dtypes[0])
            return fault_set(f, EXIT_DATA, "%s has channels of different types and cannot be moved: leave OUT out",
                             path);
    const image_writer *writer = image_writer_find(out, r, f);
    if (!writer) return -1;
    m->page = describe(m);
    m->flat = is_flat(&m->page);
    m->cut = m->flat && !has_arrays(writer);
    const image_page written = page_written(m);
    if (m->page.about && m->page.about->white_first && !s->quiet)
        note("%s: its smallest value is white (MONOCHROME1), as that of the result", path);
    m->out = image_create_file(out, writer, &written, m->cut ? m->page.about->shape[0] : r->pages, f);
    return m->out ? 0 : -1;
}

void mover_close(mover *m)
{
    for (int64_t i = 0; i < m->count; i++)
        metadata_release(m->about[i]);
    free(m->about);
    free(m->from);
    image_abandon(m->out);
    pages_close(m->in);
    *m = (mover){0};
}

/* ---- Reading ---- */

static size_t page_bytes(const mover *m)
{
    return image_row_bytes(&m->page) * (size_t)m->page.height;
}

static int fault_memory(const mover *m, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory to move %s", input_name(pages_reader(m->in)->in));
}

static int begin_page(mover *m, fault *f)
{
    const image_page page = describe(m);
    const char *name = input_name(pages_reader(m->in)->in);
    if (m->count == 0) m->page = page;
    if (page.height != m->page.height || page.width != m->page.width || page.channels != m->page.channels ||
        page.dtype != m->page.dtype)
        return fault_set(f, EXIT_DATA, "page %" PRId64 " of %s is unlike the first one, and cannot be moved with it",
                         m->count, name);
    const size_t bytes = (size_t)(m->count + 1) * page_bytes(m);
    if (bytes > m->room) {
        const size_t room = m->count ? 2 * bytes : bytes;
        if (fault_beyond_memory(f, (double)(room - m->room), name, "leave OUT out") != 0) return -1;
        unsigned char *more = realloc(m->from, room);
        if (!more) return fault_memory(m, f);
        m->from = more;
        m->room = room;
    }
    metadata **about = realloc(m->about, (size_t)(m->count + 1) * sizeof *about);
    if (!about) return fault_memory(m, f);
    m->about = about;
    m->about[m->count++] = metadata_share(pages_about(m->in));
    return 0;
}

static int read_all(mover *m, fault *f)
{
    band b;
    int more = pages_unit(m->in, f);
    while (more > 0 && (more = pages_next(m->in, &b, f)) > 0) {
        if (b.y == 0 && begin_page(m, f) != 0) return -1;
        if (b.valid && m->page.dtype < HISTO_F16 && !m->page.has_nodata)
            return fault_set(f, EXIT_DATA,
                             "%s has missing values that no value stands for, and cannot be moved with "
                             "them: leave OUT out",
                             input_name(pages_reader(m->in)->in));
        const size_t pitch = image_row_bytes(&m->page);
        pages_interleave(&b, m->page.channels, m->from + (size_t)(m->count - 1) * page_bytes(m) + (size_t)b.y * pitch,
                         pitch);
    }
    return more;
}

/* ---- Moving ---- */

/* The layout of samples in memory: shape, and strides in bytes. */
typedef struct layout {
    int64_t shape[MOVE_DIMS], strides[MOVE_DIMS];
} layout;

static layout layout_of(const mover *m, bool fortran)
{
    layout l = {.shape = {m->count, m->page.height, m->page.width}};
    if (m->flat) memcpy(l.shape, m->page.about->shape, sizeof l.shape);
    int64_t stride = m->page.channels * (int64_t)histo_dtype_size(m->page.dtype);
    for (int k = 0; k < MOVE_DIMS; k++) {
        const int d = fortran ? k : MOVE_DIMS - 1 - k;
        l.strides[d] = stride;
        stride *= l.shape[d];
    }
    return l;
}

static int64_t offset_of(const layout *l, int64_t z, int64_t y, int64_t x)
{
    return z * l->strides[0] + y * l->strides[1] + x * l->strides[2];
}

static int64_t at_least_0(int64_t n)
{
    return n > 0 ? n : 0;
}

/* The positions d for which d + shift is inside: from *begin to *end. */
static void overlap(int64_t size, int64_t shift, int64_t *begin, int64_t *end)
{
    *begin = at_least_0(-shift);
    *end = size - at_least_0(shift);
}

static void move_samples(const mover *m, const int64_t shift[MOVE_DIMS], unsigned char *to)
{
    const bool fortran = m->flat && m->page.about->fortran;
    const layout from = layout_of(m, fortran), there = layout_of(m, fortran && !m->cut);
    const int64_t pixel = m->page.channels * (int64_t)histo_dtype_size(m->page.dtype);
    int64_t begin[MOVE_DIMS], end[MOVE_DIMS];
    for (int d = 0; d < MOVE_DIMS; d++)
        overlap(from.shape[d], shift[d], &begin[d], &end[d]);
    const int64_t back = offset_of(&from, shift[0], shift[1], shift[2]);
    const bool rows = from.strides[2] == pixel && there.strides[2] == pixel && end[2] > begin[2];
    const size_t bytes = (size_t)(rows ? (end[2] - begin[2]) * pixel : pixel);
    if (rows) end[2] = begin[2] + 1;
    for (int64_t z = begin[0]; z < end[0]; z++)
        for (int64_t y = begin[1]; y < end[1]; y++)
            for (int64_t x = begin[2]; x < end[2]; x++)
                memcpy(to + offset_of(&there, z, y, x), m->from + offset_of(&from, z, y, x) + back, bytes);
}

static int write_all(mover *m, unsigned char *rows, fault *f)
{
    image_page page = page_written(m);
    m->out->pages = m->cut ? m->page.about->shape[0] : m->count;
    for (int64_t i = 0; i < m->out->pages; i++) {
        if (!m->cut) page.about = m->about[i];
        if (image_begin(m->out, &page, f) != 0) return -1;
        if (image_rows(m->out, rows, page.height, f) != 0) return -1;
        rows += image_row_bytes(&page) * (size_t)page.height;
    }
    image_file *out = m->out;
    m->out = NULL;
    return image_commit(out, f);
}

int mover_write(mover *m, int ndim, const int64_t *shift, fault *f)
{
    int64_t by[MOVE_DIMS] = {0};
    memcpy(by + MOVE_DIMS - ndim, shift, (size_t)ndim * sizeof *by);
    if (read_all(m, f) != 0) return -1;
    const size_t bytes = (size_t)m->count * page_bytes(m);
    const char *name = input_name(pages_reader(m->in)->in);
    if (fault_beyond_memory(f, (double)bytes, name, "leave OUT out") != 0) return -1;
    unsigned char *rows = calloc(bytes, 1);
    if (!rows) return fault_memory(m, f);
    const size_t size = histo_dtype_size(m->page.dtype);
    for (size_t i = 0; i < bytes && m->page.has_nodata; i += size)
        memcpy(rows + i, m->page.nodata, size);
    move_samples(m, by, rows);
    const int failed = write_all(m, rows, f);
    free(rows);
    return failed;
}
