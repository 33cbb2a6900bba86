/* The meaning of stored samples, by GDAL's fields and mask pages: which are missing, and how the others are scaled. */
#define _GNU_SOURCE /* memmem, strcasecmp */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/text.h"
#include "modules/tiff/tiff.h"

enum { SCALE = 0, OFFSET = 1, MOST_ATTRIBUTES = 256 };

/* The text of a field that libtiff does not know, which may lack a final NUL: returns its size, 0 if there is none. */
static uint32_t field_text(TIFF *tif, uint32_t tag, const char **text)
{
    uint32_t count = 0;
    const void *values = NULL;
    const TIFFField *known = TIFFFieldWithTag(tif, tag);
    if (!known || !TIFFFieldPassCount(known) || TIFFFieldReadCount(known) != TIFF_VARIABLE2 ||
        TIFFFieldSetGetSize(known) != 1 || !TIFFGetField(tif, tag, &count, &values) || !values)
        return 0;
    *text = values;
    return count;
}

/* Parse bounded text as a number, ignoring surrounding blanks. */
static bool parse_number(const char *text, size_t size, double *value)
{
    char copy[64];
    if (size >= sizeof copy) return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    const char *number = text_trim(copy);
    *value = NAN;
    return strcasecmp(number, "nan") == 0 || text_to_f64(number, value);
}

/* ---- Scale and offset ---- */

/* The value of an attribute such as sample="0" among those of an item; NULL if missing. */
static const char *attribute(const char *attributes, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = attributes; (at = strstr(at, name)); at += length)
        if (at > attributes && at[-1] == ' ' && at[length] == '=' && (at[length + 1] == '"' || at[length + 1] == '\''))
            return at + length + 2;
    return NULL;
}

/* Whether an item of GDAL's metadata is a scale or an offset: which, and of which channel (-1: all). */
static bool is_scaling(const char *item, size_t size, int *which, long *channel)
{
    char attributes[MOST_ATTRIBUTES];
    if (size >= sizeof attributes) return false;
    memcpy(attributes, item, size);
    attributes[size] = '\0';
    const char *role = attribute(attributes, "role"), *sample = attribute(attributes, "sample");
    if (!role || (strncmp(role, "scale", 5) != 0 && strncmp(role, "offset", 6) != 0)) return false;
    *which = role[0] == 's' ? SCALE : OFFSET;
    *channel = sample ? strtol(sample, NULL, 10) : -1;
    return true;
}

typedef struct scaling_item {
    const char *begin, *end; /* of "<Item ...>number</Item>" */
    int which;
    long channel;
    double value;
} scaling_item;

static const char *find(const char *from, const char *end, const char *word)
{
    return from < end ? memmem(from, (size_t)(end - from), word, strlen(word)) : NULL;
}

/* The next scale or offset in the text: false at the end. */
static bool next_item(const char *from, const char *end, scaling_item *item)
{
    static const char opens[] = "<Item", closes[] = "</Item>";
    for (const char *at = from; (at = find(at, end, opens)); at++) {
        const char *begin = find(at, end, ">"), *stop = find(at, end, closes);
        if (!begin || !stop || begin > stop) return false;
        if (!is_scaling(at, (size_t)(begin - at), &item->which, &item->channel) ||
            !parse_number(begin + 1, (size_t)(stop - begin - 1), &item->value))
            continue;
        item->begin = at;
        item->end = stop + sizeof closes - 1;
        return true;
    }
    return false;
}

static int find_scaling(tiff_reader *t, image_layout *layout, fault *f)
{
    meaning *m = &t->meaning;
    const char *text = NULL;
    const uint32_t size = field_text(t->tif, TIFF_GDAL_METADATA, &text);
    scaling_item item = {.end = text};
    m->scaled = false;
    if (size == 0) return 0;
    if (!scratch_reserve(&m->lines, (size_t)layout->channels * sizeof(scaling)))
        return fault_set(f, EXIT_DATA, "%s: out of memory", input_name(t->image.reader.in));
    scaling *lines = (scaling *)(void *)m->lines.data;
    for (int c = 0; c < layout->channels; c++)
        lines[c] = (scaling){.slope = 1};
    while (next_item(item.end, text + size, &item)) {
        if (!isfinite(item.value)) continue;
        m->scaled |= item.value != (item.which == SCALE);
        for (int c = 0; c < layout->channels; c++)
            if (item.channel < 0 || item.channel == c)
                *(item.which == SCALE ? &lines[c].slope : &lines[c].intercept) = item.value;
    }
    const histo_dtype stored = t->stored.dtype;
    histo_dtype values = stored;
    for (int c = 0; c < layout->channels && m->scaled; c++) {
        lines[c] = scaling_of(stored, 0, lines[c].slope, lines[c].intercept);
        values = c == 0 ? lines[c].to : scaling_common(values, lines[c].to);
    }
    for (int c = 0; c < layout->channels && m->scaled; c++)
        scaling_make(&lines[c], values);
    layout->dtype = values;
    return 0;
}

/* Keep GDAL's metadata without scales and offsets, which no longer apply to scaled values. */
bool tiff_keep_unscaled(tiff_reader *t, metadata_block *block)
{
    const char *text = NULL;
    const uint32_t size = field_text(t->tif, TIFF_GDAL_METADATA, &text);
    if (size == 0 || !metadata_keep(block, text, size)) return size == 0;
    char *to = (char *)block->data;
    const char *from = text;
    for (scaling_item item; next_item(from, text + size, &item); from = item.end) {
        memcpy(to, from, (size_t)(item.begin - from));
        to += item.begin - from;
    }
    memcpy(to, from, (size_t)(text + size - from));
    to += text + size - from;
    block->size = (size_t)(to - (char *)block->data);
    return true;
}

/* ---- No data ---- */

/* The sample of a type that equals a number; false: there is none. */
static bool find_sample(const tiff_reader *t, double value, const char *text, uint64_t *sample)
{
    const histo_dtype dtype = t->stored.dtype;
    const unsigned bits = 8 * (unsigned)histo_dtype_size(dtype);
    int64_t whole;
    *sample = 0;
    if (dtype == HISTO_F64) {
        memcpy(sample, &value, sizeof value);
        return true;
    }
    if (dtype == HISTO_F32) {
        const float single = (float)value;
        memcpy(sample, &single, sizeof single);
        return true;
    }
    if (dtype == HISTO_F16) {
        for (unsigned k = 0; k <= UINT16_MAX; k++) {
            const uint16_t half = (uint16_t)k;
            *sample = k;
            if (histo_sample_value(&half, dtype) == value) return true;
        }
        return false;
    }
    const bool is_signed = dtype == HISTO_I8 || dtype == HISTO_I16 || dtype == HISTO_I32 || dtype == HISTO_I64;
    if (!text_to_i64(text, &whole)) { /* as in -9999.0; and beyond int64 */
        const double above = ldexp(1, 63);
        if (value != rint(value) || value < -above || value >= 2 * above || (value >= above && dtype != HISTO_U64))
            return false;
        whole = value >= above ? (int64_t)(uint64_t)value : (int64_t)value;
    } else if (bits == 64 && !is_signed && whole < 0) {
        return false;
    }
    const int64_t reach = INT64_C(1) << (bits < 64 ? bits - is_signed : 62);
    if (bits < 64 && (whole >= reach || whole < (is_signed ? -reach : 0))) return false;
    const uint64_t pattern = (uint64_t)whole;
    *sample = bits < 64 ? pattern & ((UINT64_C(1) << bits) - 1) : pattern;
    return true;
}

static void find_nodata(tiff_reader *t)
{
    meaning *m = &t->meaning;
    const char *field = NULL;
    char text[64] = "";
    const uint32_t size = field_text(t->tif, TIFF_GDAL_NODATA, &field);
    double value;
    m->has_nodata = false;
    if (size == 0 || size >= sizeof text || !parse_number(field, strnlen(field, size), &value)) return;
    memcpy(text, field, size);
    if (t->stored.palette || t->stored.bits < 8) { /* samples are stored with fewer bits, and scaled when read */
        const unsigned most = (1U << t->stored.bits) - 1;
        if (!(value >= 0 && value <= (double)most) || value != rint(value)) return;
        m->has_nodata = true;
        m->nodata = (uint64_t)value;
        if (!t->stored.palette) m->nodata *= 255 / most;
    } else {
        m->has_nodata = find_sample(t, value, text_trim(text), &m->nodata);
    }
    if (!m->has_nodata || !t->stored.white_is_zero) return;
    const unsigned bits = t->stored.bits < 8 ? 8 : t->stored.bits;
    m->nodata ^= bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

int tiff_find_meaning(tiff_reader *t, image_layout *layout, fault *f)
{
    if (t->options.raw) return 0;
    find_nodata(t);
    return t->stored.palette ? 0 : find_scaling(t, layout, f);
}

/* The nodata number stays the same if values are scaled. */
bool tiff_delivered_nodata(const tiff_reader *t, unsigned char value[8])
{
    const meaning *m = &t->meaning;
    const histo_dtype from = t->stored.dtype, to = t->image.layout.dtype;
    const scaling same = {.from = from, .to = to, .slope = 1, .none = from == to};
    if (!m->has_nodata || t->stored.palette) return false;
    uint64_t sample = 0; /* aligned, which the value may not be */
    scaling_apply(&same, &m->nodata, &sample, 1);
    memcpy(value, &sample, sizeof sample);
    const double before = histo_sample_value(&m->nodata, from), after = histo_sample_value(&sample, to);
    return before == after || isnan(before);
}

/* ---- Mask pages ---- */

/* Read the directory at this offset completely as the mask; 0: there is none. Afterwards libtiff is at that
 * directory. */
int tiff_read_mask(tiff_reader *t, const image_layout *page, uint64_t directory, fault *f)
{
    meaning *m = &t->meaning;
    const storage saved = t->stored;
    const image of_page = t->image;
    image_layout layout;
    m->masked = false;
    if (directory == 0) return 0;
    if (!TIFFSetSubDirectory(t->tif, directory))
        return image_damaged(&t->image, "the directory of a mask", tiff_complaint_or(t, "it is missing"), f);
    if (tiff_describe_page(t, t->image.page, &layout, f) != 0) return -1;
    if (layout.width != page->width || layout.height != page->height || layout.channels != 1 ||
        layout.dtype != HISTO_U8) {
        t->stored = saved;
        return 0; /* of another page, or of unknown meaning */
    }
    const double bytes = (double)layout.width * (double)layout.height;
    if (fault_beyond_memory(f, bytes, input_name(t->image.reader.in), "count its samples with --raw") != 0) return -1;
    const size_t width = (size_t)layout.width;
    if (!scratch_reserve(&m->mask, width * (size_t)layout.height))
        return fault_set(f, EXIT_DATA, "%s: no memory for its mask", input_name(t->image.reader.in));
    const int64_t stop = t->stop;
    t->image.layout = layout;
    t->image.y = t->x = 0;
    t->stop = -1;
    int failed = 0;
    while (!failed && t->image.y < layout.height) {
        const int64_t y = t->image.y, x = t->x;
        band b;
        failed = tiff_read_band(t, &(const int){0}, 1, &(histo_view){0}, &b, f);
        for (int64_t k = 0; k < b.rows && !failed; k++) {
            const unsigned char *from = (const unsigned char *)b.views[0].data + k * b.views[0].strides[0];
            unsigned char *to = m->mask.data + (size_t)(y + k) * width + (size_t)x;
            for (int64_t i = 0; i < b.cols; i++)
                to[i] = from[i * b.views[0].strides[1]] != 0;
        }
    }
    t->stored = saved;
    t->image.layout = of_page.layout;
    t->image.y = of_page.y;
    t->stop = stop;
    t->x = 0;
    m->masked = !failed;
    return failed;
}

/* ---- Bands ---- */

/* Inlined for constant sizes. */
__attribute__((always_inline)) static inline bool mark_row(const char *from, int64_t step, int64_t count, size_t size,
                                                           const uint64_t nodata[2], unsigned char *valid)
{
    bool any = false;
    for (int64_t x = 0; x < count; x++, from += step) {
        uint64_t sample = 0;
        memcpy(&sample, from, size);
        const bool gone = sample == nodata[0] || sample == nodata[1];
        valid[x] &= !gone;
        any |= gone;
    }
    return any;
}

static bool mark_nan(const char *from, int64_t step, int64_t count, histo_dtype dtype, unsigned char *valid)
{
    bool any = false;
    for (int64_t x = 0; x < count; x++, from += step) {
        const bool gone = isnan(histo_sample_value(from, dtype));
        valid[x] &= !gone;
        any |= gone;
    }
    return any;
}

/* Clear the marks of a row's samples that equal the stored nodata value. */
static bool mark_nodata(const tiff_reader *t, const char *from, int64_t step, int64_t count, unsigned char *valid)
{
    const histo_dtype dtype = t->stored.dtype;
    const size_t size = histo_dtype_size(dtype);
    const uint64_t sign = UINT64_C(1) << (8 * size - 1), nodata = t->meaning.nodata;
    const bool zero = dtype >= HISTO_F16 && (nodata & ~sign) == 0; /* both zeros */
    const uint64_t two[] = {nodata, zero ? nodata ^ sign : nodata};
    if (dtype >= HISTO_F16 && isnan(histo_sample_value(&nodata, dtype)))
        return mark_nan(from, step, count, dtype, valid);
    switch (size) {
    case 1:
        return mark_row(from, step, count, 1, two, valid);
    case 2:
        return mark_row(from, step, count, 2, two, valid);
    case 4:
        return mark_row(from, step, count, 4, two, valid);
    default:
        return mark_row(from, step, count, 8, two, valid);
    }
}

/* For a palette, where different indices may have the same colour. */
static bool mark_packed(const tiff_reader *t, int64_t y, int64_t count, unsigned char *valid)
{
    const unsigned bits = t->stored.bits;
    const unsigned char *row = t->image.packed.data + (size_t)y * t->stored.pitch;
    bool any = false;
    for (int64_t x = 0; x < count; x++) {
        const unsigned stored =
            bits == 16 ? ((const uint16_t *)(const void *)row)[x] : image_packed_sample(row, bits, (size_t)x);
        const bool gone = stored == t->meaning.nodata;
        valid[x] &= !gone;
        any |= gone;
    }
    return any;
}

static bool is_alpha(const tiff_reader *t, int channel)
{
    const channel_model model = t->image.layout.model;
    return (model == CHANNELS_GRAY_ALPHA && channel == 1) || (model == CHANNELS_RGBA && channel == 3);
}

/* The marks for a view of the band at row y: false if all are set. */
static bool mark_view(const tiff_reader *t, const histo_view *v, int channel, int64_t y, int64_t x,
                      unsigned char *valid)
{
    const meaning *m = &t->meaning;
    const int64_t rows = v->shape[0], cols = v->shape[1];
    bool any = false;
    memset(valid, 1, (size_t)(rows * cols));
    if (is_alpha(t, channel)) return false;
    for (int64_t k = 0; k < rows; k++, valid += cols) {
        const char *from = (const char *)v->data + k * v->strides[0];
        if (m->has_nodata)
            any |=
                t->stored.palette ? mark_packed(t, k, cols, valid) : mark_nodata(t, from, v->strides[1], cols, valid);
        if (!m->masked) continue;
        const unsigned char *mask = m->mask.data + (size_t)((y + k) * t->image.layout.width + x);
        for (int64_t i = 0; i < cols; i++) {
            valid[i] &= mask[i];
            any |= !mask[i];
        }
    }
    return any;
}

/* Overwrite missing samples by another one. */
static void put_missing(const histo_view *v, const unsigned char *valid, const void *sample)
{
    const size_t size = histo_dtype_size(v->dtype);
    for (int64_t y = 0; y < v->shape[0]; y++)
        for (int64_t x = 0; x < v->shape[1]; x++, valid++)
            if (!*valid) memcpy((char *)v->data + y * v->strides[0] + x * v->strides[1], sample, size);
}

/* Missing floats become NaN; if they will be written again, they keep the stored value or, scaled, the nodata
 * number. */
static void set_missing(const tiff_reader *t, const histo_view *v, const unsigned char *valid)
{
    static const uint16_t half = 0x7e00;
    static const float single = NAN;
    static const double twice = NAN;
    unsigned char nodata[8];
    if (t->options.about && t->meaning.scaled && tiff_delivered_nodata(t, nodata)) {
        put_missing(v, valid, nodata);
    } else if (!t->options.about && v->dtype >= HISTO_F16) {
        const size_t size = histo_dtype_size(v->dtype);
        put_missing(v, valid,
                    size == 2   ? (const void *)&half
                    : size == 4 ? (const void *)&single
                                : (const void *)&twice);
    }
}

/* Scale a view's values into contiguous rows. */
static void scale_view(const scaling *s, histo_view *v, unsigned char *to)
{
    const size_t size = histo_dtype_size(s->from), row_bytes = (size_t)v->shape[1] * histo_dtype_size(s->to);
    for (int64_t y = 0; y < v->shape[0]; y++) {
        const char *from = (const char *)v->data + y * v->strides[0];
        unsigned char *row = to + (size_t)y * row_bytes;
        for (int64_t x = 0; x < v->shape[1]; x++)
            memcpy(row + (size_t)x * size, from + x * v->strides[1], size);
        scaling_apply(s, row, row, v->shape[1]);
    }
    *v = histo_view_nd(to, s->to, 2, v->shape);
}

int tiff_apply_meaning(tiff_reader *t, band *b, fault *f)
{
    meaning *m = &t->meaning;
    const selection *w = &t->image.reader.selected;
    const size_t pixels = (size_t)(b->rows * b->cols), list = (size_t)w->count * sizeof *b->valid;
    const bool gaps = m->has_nodata || m->masked;
    bool any = false;
    if (!gaps && !m->scaled) return 0;
    if (gaps && (image_reserve(&t->image, &m->valid, list, f) != 0 ||
                 image_reserve(&t->image, &m->marks, pixels * (size_t)w->count, f) != 0))
        return -1;
    histo_view *valid = (histo_view *)(void *)m->valid.data;
    for (int i = 0; i < w->count && gaps; i++) {
        unsigned char *marks = m->marks.data + pixels * (size_t)i;
        valid[i] = histo_view_nd(marks, HISTO_U8, 2, b->views[i].shape);
        any |= mark_view(t, &b->views[i], w->wanted[i], b->y, b->x, marks);
    }
    const size_t size = histo_dtype_size(t->image.layout.dtype);
    if (m->scaled && image_reserve(&t->image, &m->values, pixels * size * (size_t)w->count, f) != 0) return -1;
    for (int i = 0; i < w->count && m->scaled; i++)
        scale_view((const scaling *)(void *)m->lines.data + w->wanted[i], &b->views[i],
                   m->values.data + pixels * size * (size_t)i);
    if (!any) return 0;
    b->valid = valid;
    for (int i = 0; i < w->count; i++)
        set_missing(t, &b->views[i], valid[i].data);
    return 0;
}

void tiff_free_meaning(tiff_reader *t)
{
    meaning *m = &t->meaning;
    free(m->lines.data);
    free(m->mask.data);
    free(m->valid.data);
    free(m->marks.data);
    free(m->values.data);
}
