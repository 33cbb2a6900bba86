/* OpenEXR images: named channels of halves, floats and 32-bit integers, each in its own type; scanlines and tiles, of
 * which the largest level is read; parts are pages. A band is some blocks of scanlines, or rows of tiles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "input/readers/images/paged.h"
#include "modules/exr/decoder.h"

enum { MOST_CHANNELS = 4096, MOST_STEP = 64, MOST_THREADS = 16 };

typedef struct exr_reader {
    paged paged; /* must be first */
    exr_decoder *decoder;
    fault *fault; /* of the current call */
    char complaint[EXR_COMPLAINT_BYTES];
    /* The channels of all parts that are read: */
    int channels_count; /* 0: not known yet */
    exr_channel *channels;
    int *stored; /* their numbers in the file */
    const char **names;
    histo_dtype *dtypes;
    channel_step *steps;
    /* The current part: */
    exr_part part;
    exr_plane *planes; /* [selected channels] */
} exr_reader;

static int fail(const exr_reader *e, fault *f)
{
    if (f->status != EXIT_OK) return -1; /* the file could not be read */
    return paged_damaged(&e->paged, e->paged.image.page, e->complaint, f);
}

static int fail_without_memory(const exr_reader *e, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s: out of memory", input_name(e->paged.image.reader.in));
}

static int64_t read_at(void *user, int64_t at, void *to, size_t size)
{
    const exr_reader *e = user;
    return input_read_at(e->paged.image.reader.in, at, to, size, e->fault);
}

/* ---- Sizes claimed by headers ---- */

/* A position in the headers. */
typedef struct header_place {
    exr_reader *exr;
    int64_t at, size;
    bool good;
} header_place;

static void take(header_place *h, void *to, size_t size)
{
    h->good = h->good && h->at + (int64_t)size <= h->size && read_at(h->exr, h->at, to, size) == (int64_t)size;
    h->at += (int64_t)size;
    if (!h->good) memset(to, 0, size);
}

static uint32_t take_number(header_place *h)
{
    unsigned char b[4];
    take(h, b, sizeof b);
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* The names of relevant attributes fit; others are truncated. */
static void take_name(header_place *h, char name[64])
{
    char c;
    size_t length = 0;
    for (take(h, &c, 1); c; take(h, &c, 1))
        if (length < 63) name[length++] = c;
    name[length] = '\0';
}

/* The minimum number of blocks for one header: scanlines of at most 256 rows, or tiles. */
static double take_header(header_place *h)
{
    enum { MOST_ROWS = 256 };
    double columns = 0, rows = 0, block_columns = 0, block_rows = MOST_ROWS;
    char name[64], type[64];
    for (take_name(h, name); *name; take_name(h, name)) {
        take_name(h, type);
        const int64_t end = (int64_t)take_number(h) + h->at;
        if (strcmp(name, "dataWindow") == 0) {
            const int32_t left = (int32_t)take_number(h), top = (int32_t)take_number(h);
            columns = (double)(int32_t)take_number(h) - left + 1;
            rows = (double)(int32_t)take_number(h) - top + 1;
        } else if (strcmp(name, "tiles") == 0) {
            block_columns = take_number(h);
            block_rows = take_number(h);
        }
        h->at = end;
    }
    return ceil(rows / fmax(block_rows, 1)) * (block_columns > 0 ? ceil(columns / block_columns) : 1);
}

/* The library allocates a table with an offset for each block that the headers claim. Each offset and block takes bytes
 * of the file. */
static int check_blocks(exr_reader *e, int64_t size, fault *f)
{
    enum { IS_MULTI_PART = 0x1000, IS_LONG = 8 + 8 };
    header_place h = {.exr = e, .size = size, .good = true};
    take_number(&h); /* magic */
    const bool several = take_number(&h) & IS_MULTI_PART;
    double blocks = 0;
    char more = 1;
    for (int part = 0; h.good && more && (several || part == 0); part++) {
        blocks += take_header(&h);
        take(&h, &more, 1);
        h.at--;
    }
    if (f->status != EXIT_OK) return -1;
    snprintf(e->complaint, sizeof e->complaint, "its headers describe more blocks than it has");
    return h.good && blocks * IS_LONG <= (double)size ? 0 : fail(e, f);
}

static int open_exr(paged *p, fault *f)
{
    exr_reader *e = (exr_reader *)p;
    e->fault = f;
    const exr_source source = {.user = e, .read_at = read_at, .size = input_random(p->image.reader.in, f)};
    if (source.size < 0 || check_blocks(e, source.size, f) != 0) return -1;
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    e->decoder = exr_decoder_open(&source, cpus < MOST_THREADS ? (int)cpus : MOST_THREADS, e->complaint);
    if (!e->decoder) return fail(e, f);
    p->pages = exr_decoder_parts(e->decoder);
    return 0;
}

/* ---- Parts ---- */

/* Sorts names as R, G, B, A or Y, A; others come after, in the file's order. */
static int rank(const char *name)
{
    static const char order[] = "YRGBA";
    const char *at = name[0] && !name[1] ? strchr(order, name[0]) : NULL;
    return at ? (int)(at - order) : (int)sizeof order;
}

static channel_model model_of(const exr_reader *e)
{
    char all[8] = "";
    for (int c = 0; c < e->channels_count && c < 5; c++)
        all[c] = rank(e->names[c]) < 5 ? e->names[c][0] : '?';
    return strcmp(all, "Y") == 0      ? CHANNELS_GRAY
           : strcmp(all, "YA") == 0   ? CHANNELS_GRAY_ALPHA
           : strcmp(all, "RGB") == 0  ? CHANNELS_RGB
           : strcmp(all, "RGBA") == 0 ? CHANNELS_RGBA
                                      : CHANNELS_PLAIN;
}

/* Sort the first part's channels by rank, and describe them to the command. */
static int list_channels(exr_reader *e, const exr_channel *stored, fault *f)
{
    arena *memory = &e->paged.image.reader.memory;
    const size_t n = (size_t)e->part.channels;
    e->channels = arena_take(memory, n, sizeof *e->channels);
    e->stored = arena_take(memory, n, sizeof *e->stored);
    e->names = arena_take(memory, n, sizeof *e->names);
    e->dtypes = arena_take(memory, n, sizeof *e->dtypes);
    e->steps = arena_take(memory, n, sizeof *e->steps);
    if (!e->channels || !e->stored || !e->names || !e->dtypes || !e->steps) return fail_without_memory(e, f);
    for (int wanted = 0; wanted <= rank("?"); wanted++)
        for (int c = 0; c < e->part.channels; c++)
            if (rank(stored[c].name) == wanted) e->stored[e->channels_count++] = c;
    for (int c = 0; c < e->channels_count; c++) {
        static const histo_dtype dtypes[] = {[EXR_U32] = HISTO_U32, [EXR_F16] = HISTO_F16, [EXR_F32] = HISTO_F32};
        const exr_channel *from = &stored[e->stored[c]];
        e->channels[c] = *from;
        e->names[c] = from->name;
        e->dtypes[c] = dtypes[from->type];
        e->steps[c] = (channel_step){.x = from->step_x, .y = from->step_y};
        if (from->step_x > 1 || from->step_y > 1) e->paged.image.reader.steps = e->steps;
    }
    if (model_of(e) == CHANNELS_PLAIN) e->paged.image.reader.names = e->names;
    return 0;
}

/* Whether the channels have samples where the window begins, and it is the window of earlier pages. */
static int check_channels(const exr_reader *e, const exr_channel *stored, fault *f)
{
    const image *m = &e->paged.image;
    bool alike = e->part.channels == e->channels_count, aligned = true;
    for (int c = 0; c < e->channels_count && alike; c++) {
        const exr_channel *own = &stored[e->stored[c]], *first = &e->channels[c];
        alike = strcmp(own->name, first->name) == 0 && own->type == first->type && own->step_x == first->step_x &&
                own->step_y == first->step_y;
        aligned = aligned && own->step_x >= 1 && own->step_y >= 1 && own->step_x <= MOST_STEP &&
                  own->step_y <= MOST_STEP && e->part.left % own->step_x == 0 && e->part.top % own->step_y == 0;
    }
    if (!alike)
        return fault_set(f, EXIT_DATA,
                         "%s: page %d has other channels than the pages before it: choose one with --page",
                         input_name(m->reader.in), m->page);
    return aligned ? 0 : paged_unsupported(&e->paged, "channels with samples between its pixels", f);
}

static int describe_channels(exr_reader *e, int page, fault *f)
{
    if (e->part.channels < 1 || e->part.channels > MOST_CHANNELS)
        return paged_unsupported(&e->paged, "no channels, or more than 4096", f);
    exr_channel *stored = calloc((size_t)e->part.channels, sizeof *stored);
    if (!stored) return fail_without_memory(e, f);
    exr_decoder_channels(e->decoder, page, stored);
    int status = e->channels_count == 0 ? list_channels(e, stored, f) : 0;
    if (status == 0) status = check_channels(e, stored, f);
    free(stored);
    return status;
}

static int describe(paged *p, int page, fault *f)
{
    exr_reader *e = (exr_reader *)p;
    image_layout *layout = &p->layout;
    p->image.page = page; /* for messages */
    e->part = exr_decoder_part(e->decoder, page);
    if (e->part.deep) return paged_unsupported(p, "pixels with several samples (deep data)", f);
    if (describe_channels(e, page, f) != 0) return -1;
    *layout = (image_layout){.model = model_of(e),
                             .channels = e->channels_count,
                             .dtype = e->dtypes[0],
                             .width = (int64_t)e->part.right - e->part.left + 1,
                             .height = (int64_t)e->part.bottom - e->part.top + 1,
                             .dtypes = e->dtypes};
    for (int c = 1; c < e->channels_count; c++)
        if (histo_dtype_size(e->dtypes[c]) > histo_dtype_size(layout->dtype)) layout->dtype = e->dtypes[c];
    /* The library has buffers for blocks of all channels. */
    const double width = (double)(e->part.tile_width > layout->width ? e->part.tile_width : layout->width);
    const double bytes = width * e->part.block_rows * layout->channels * (double)histo_dtype_size(layout->dtype);
    if (e->part.block_rows < 1 || bytes > IMAGE_MAX_WHOLE_BYTES)
        return paged_unsupported(p, "rows of blocks or tiles of more than 1 GiB", f);
    return fault_beyond_memory(f, 3 * bytes, input_name(p->image.reader.in), "save it in smaller tiles");
}

/* ---- Samples ---- */

/* The rows of a band: whole blocks of about its size, with a whole number of samples of each channel. */
static int64_t count_rows(const exr_reader *e)
{
    const image *m = &e->paged.image;
    int64_t row_bytes = 0, unit = e->part.block_rows;
    for (int i = 0; i < m->reader.selected.count; i++)
        row_bytes += m->layout.width * (int64_t)histo_dtype_size(m->layout.dtype);
    for (int c = 0; c < e->channels_count; c++)
        while (unit % e->steps[c].y)
            unit += e->part.block_rows;
    const int64_t units = IMAGE_BAND_BYTES / row_bytes / unit, rows = (units > 1 ? units : 1) * unit;
    return rows < m->layout.height - m->y ? rows : m->layout.height - m->y;
}

/* Allocate planes for this many rows of the selected channels; returns their number, as one may be selected twice. */
static int place_planes(exr_reader *e, int64_t rows, fault *f)
{
    image *m = &e->paged.image;
    const selection *s = &m->reader.selected;
    const size_t plane = (size_t)(rows * m->layout.width) * histo_dtype_size(m->layout.dtype);
    free(e->planes);
    e->planes = calloc((size_t)s->count, sizeof *e->planes);
    if (!e->planes) return fail_without_memory(e, f);
    if (image_reserve(m, &m->rows, plane * (size_t)s->count, f) != 0) return -1;
    int planes = 0;
    for (int i = 0; i < s->count; i++) {
        const int c = s->wanted[i], stored = e->stored[c];
        const int64_t own_rows = (rows + e->steps[c].y - 1) / e->steps[c].y;
        const int64_t own_cols = (m->layout.width + e->steps[c].x - 1) / e->steps[c].x;
        int at = 0;
        while (at < planes && e->planes[at].channel != stored)
            at++;
        unsigned char *to = m->rows.data + (size_t)at * plane;
        e->planes[at] = (exr_plane){stored, to, (size_t)own_cols * histo_dtype_size(e->dtypes[c])};
        if (at == planes) planes++;
        s->views[i] = histo_view_nd(to, e->dtypes[c], 2, (const int64_t[]){own_rows, own_cols});
    }
    return planes;
}

static int next_band(paged *p, band *b, fault *f)
{
    exr_reader *e = (exr_reader *)p;
    image *m = &p->image;
    const int64_t rows = count_rows(e);
    const int32_t first = (int32_t)(e->part.top + m->y), last = (int32_t)(first + rows - 1);
    e->fault = f;
    const int planes = place_planes(e, rows, f);
    if (planes < 0) return -1;
    if (!exr_decoder_read(e->decoder, m->page, first, last, e->planes, planes, e->complaint)) return fail(e, f);
    *b = (band){.page = m->page, .y = m->y, .rows = rows, .cols = m->layout.width, .views = m->reader.selected.views};
    m->y += rows;
    return 1;
}

static void close_exr(paged *p)
{
    exr_reader *e = (exr_reader *)p;
    exr_decoder_close(e->decoder);
    free(e->planes);
}

const paged_format exr_pages = {
    .size = sizeof(exr_reader), .open = open_exr, .describe = describe, .band = next_band, .close = close_exr};
