#include "apply/tones.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/samples/luma.h"
#include "input/samples/select.h"

static int fault_memory(const pages *p, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the channels of %s", input_name(pages_reader(p)->in));
}

/* ---- Which tones ---- */

static int add_tone(tones *t, const pages *p, int channel, int table, const char *name, fault *f)
{
    tone *more = realloc(t->tone, (size_t)(t->count + 1) * sizeof *more);
    if (!more) return fault_memory(p, f);
    t->tone = more;
    more[t->count] = (tone){.channel = channel, .table = table};
    snprintf(more[t->count].name, sizeof more->name, "%s", name ? name : "");
    if (table >= t->tables) t->tables = table + 1;
    t->count++;
    return 0;
}

/* The colour channels, or all but alpha: one table for all, or one each. */
static int add_channels(tones *t, const pages *p, bool joint, fault *f)
{
    const reader *r = pages_reader(p);
    int count = r->channels;
    if (r->model == CHANNELS_GRAY_ALPHA) count = 1;
    if (choice_has_colors(r)) count = 3;
    for (int c = 0; c < count; c++)
        if (add_tone(t, p, c, joint ? 0 : c, NULL, f) != 0) return -1;
    return 0;
}

static int fault_no_colors(const pages *p, const char *color, fault *f)
{
    const reader *r = pages_reader(p);
    return fault_set(f, EXIT_USAGE, "%s has %s, and --color %s is for red, green and blue: choose each or joint",
                     input_name(r->in), r->model == CHANNELS_CMYK ? "CMYK inks" : "other channels", color);
}

/* --channel: these channels, each by itself; gray is the luma. */
static int add_listed(tones *t, const pages *p, const char *channels, fault *f)
{
    choice c;
    const reader *r = pages_reader(p);
    const int alpha = choice_alpha(r);
    if (choice_list(&c, r, channels, f) != 0) return -1;
    int failed = 0;
    for (int i = 0; i < c.total && !failed; i++) {
        if (c.sources[i].channel == alpha) continue;
        if (c.sources[i].luma) t->kind = TONE_LUMA;
        failed = add_tone(t, p, c.sources[i].channel, t->count, c.sources[i].name, f);
    }
    if (!failed && t->count == 0)
        failed =
            fault_set(f, EXIT_USAGE, "alpha is neither counted nor changed: choose another channel than %s", channels);
    if (!failed && t->kind == TONE_LUMA && t->count > 1)
        failed = fault_set(f, EXIT_USAGE, "--channel gray changes red, green and blue: leave out the other channels");
    choice_free(&c);
    return failed;
}

static int add_tones(tones *t, const pages *p, const char *color, const char *channels, fault *f)
{
    const reader *r = pages_reader(p);
    if (channels) return add_listed(t, p, channels, f);
    if (!color) color = choice_has_colors(r) || r->model == CHANNELS_CMYK ? "luma" : "each";
    if (strcmp(color, "each") == 0 || strcmp(color, "joint") == 0)
        return add_channels(t, p, strcmp(color, "joint") == 0, f);
    t->kind = strcmp(color, "value") == 0 ? TONE_VALUE : TONE_LUMA;
    if (choice_has_colors(r)) return add_tone(t, p, 0, 0, NULL, f);
    if (r->model == CHANNELS_CMYK || r->channels - (r->model == CHANNELS_GRAY_ALPHA) > 1)
        return fault_no_colors(p, color, f);
    t->kind = TONE_CHANNEL;
    return add_tone(t, p, 0, 0, NULL, f);
}

int tones_choose(tones *t, const pages *p, const char *color, const char *channels, fault *f)
{
    *t = (tones){.dtype = pages_reader(p)->dtypes[0]};
    if (add_tones(t, p, color, channels, f) != 0) return -1;
    const bool stored = t->dtype <= HISTO_I32 || t->dtype == HISTO_F32 || t->dtype == HISTO_F64;
    if (t->kind != TONE_CHANNEL && !stored)
        return fault_set(f, EXIT_USAGE, "%s has colours of %s, which --color each and joint can change: choose one",
                         input_name(pages_reader(p)->in), histo_dtype_name(t->dtype));
    const bool exact = t->dtype <= HISTO_I64 && histo_dtype_size(t->dtype) < 8;
    if (t->kind == TONE_LUMA && !exact) t->dtype = HISTO_F64; /* as luma_of returns it */
    return 0;
}

void tones_free(tones *t)
{
    free(t->tone);
    free(t->values);
    free(t->mapped);
    *t = (tones){0};
}

/* ---- Their values ---- */

static int make_room(tones *t, const band *b, fault *f)
{
    const size_t need = (size_t)(b->rows * b->cols) * sizeof(double);
    if (need <= t->room) return 0;
    free(t->values);
    free(t->mapped);
    t->room = 0;
    t->values = malloc(need);
    t->mapped = malloc(need);
    if (!t->values || !t->mapped)
        return fault_set(f, EXIT_DATA, "no memory for rows of %lld pixels", (long long)b->cols);
    t->room = need;
    return 0;
}

static void value_of(const histo_view *rgb, void *out)
{
    const size_t size = histo_dtype_size(rgb->dtype);
    char *to = out;
    for (int64_t y = 0; y < rgb->shape[0]; y++)
        for (int64_t x = 0; x < rgb->shape[1]; x++, to += size) {
            const char *largest = NULL;
            double value = 0;
            for (int c = 0; c < 3; c++) {
                const char *at = (const char *)rgb[c].data + y * rgb[c].strides[0] + x * rgb[c].strides[1];
                const double v = histo_sample_value(at, rgb->dtype);
                if (largest && !(v > value)) continue;
                largest = at;
                value = v;
            }
            memcpy(to, largest, size);
        }
}

int tones_view(tones *t, int i, const band *b, histo_view *view, fault *f)
{
    const histo_view *from = &b->views[t->tone[i].channel];
    const int64_t shape[] = {b->rows, b->cols};
    if (t->kind == TONE_CHANNEL) {
        *view = *from;
        return 0;
    }
    if (make_room(t, b, f) != 0) return -1;
    if (t->kind == TONE_LUMA)
        luma_of(from, t->values);
    else
        value_of(from, t->values);
    *view = histo_view_nd(t->values, t->dtype, 2, shape);
    return 0;
}

histo_view tones_place(const tones *t, int i, const tone_rows *out)
{
    const int64_t shape[] = {out->rows, out->cols}, size = (int64_t)histo_dtype_size(out->dtype);
    if (t->kind != TONE_CHANNEL) return histo_view_nd(t->mapped, t->dtype, 2, shape);
    return (histo_view){.data = out->samples + t->tone[i].channel * size,
                        .dtype = out->dtype,
                        .ndim = 2,
                        .shape = {out->rows, out->cols},
                        .strides = {out->cols * out->channels * size, out->channels * size}};
}

/* ---- Colours ---- */

static inline int32_t clamp(int32_t value, int32_t lo, int32_t hi)
{
    return value < lo ? lo : value > hi ? hi : value;
}

static inline int32_t unsigned_at(const void *samples, size_t size, int64_t i)
{
    return size == 1 ? ((const uint8_t *)samples)[i] : ((const uint16_t *)samples)[i];
}

/* Add the change of the luma to u8 or u16 colours; size and channels are constants at each call. */
static inline void add_luma(const tones *t, const tone_rows *out, size_t size, int channels, void *restrict colors)
{
    const int64_t n = out->rows * out->cols;
    const int32_t lo = (int32_t)out->lo, hi = (int32_t)out->hi;
    const void *restrict old = t->values, *restrict mapped = t->mapped;
    for (int64_t i = 0; i < n; i++) {
        const int32_t change = unsigned_at(mapped, size, i) - unsigned_at(old, size, i);
        for (int c = 0; c < 3; c++) {
            const int64_t at = i * channels + c;
            const int32_t value = clamp(unsigned_at(colors, size, at) + change, lo, hi);
            if (size == 1)
                ((uint8_t *)colors)[at] = (uint8_t)value;
            else
                ((uint16_t *)colors)[at] = (uint16_t)value;
        }
    }
}

static void store(double value, histo_dtype dtype, void *to)
{
    switch (dtype) {
    case HISTO_U8:
        *(uint8_t *)to = (uint8_t)rint(value);
        break;
    case HISTO_I8:
        *(int8_t *)to = (int8_t)rint(value);
        break;
    case HISTO_U16:
        *(uint16_t *)to = (uint16_t)rint(value);
        break;
    case HISTO_I16:
        *(int16_t *)to = (int16_t)rint(value);
        break;
    case HISTO_U32:
        *(uint32_t *)to = (uint32_t)rint(value);
        break;
    case HISTO_I32:
        *(int32_t *)to = (int32_t)rint(value);
        break;
    case HISTO_F32:
        *(float *)to = (float)value;
        break;
    default:
        *(double *)to = value;
    }
}

/* For samples of any type. Integers of up to 32 bits are added exactly in double. */
static void change_colors(const tones *t, const tone_rows *out, unsigned char *colors)
{
    const size_t size = histo_dtype_size(out->dtype), tone_size = histo_dtype_size(t->dtype);
    const int64_t n = out->rows * out->cols;
    for (int64_t i = 0; i < n; i++) {
        const double old = histo_sample_value(t->values + (size_t)i * tone_size, t->dtype);
        const double new = histo_sample_value(t->mapped + (size_t)i * tone_size, t->dtype);
        for (int c = 0; c < 3; c++) {
            unsigned char *at = colors + (size_t)(i * out->channels + c) * size;
            const double color = histo_sample_value(at, out->dtype);
            double value = t->kind == TONE_LUMA ? color + (new - old) : old > 0 ? color * new / old : new;
            value = value < out->lo ? out->lo : value > out->hi ? out->hi : value;
            store(value, out->dtype, at);
        }
    }
}

void tones_put(const tones *t, int i, const tone_rows *out)
{
    if (t->kind == TONE_CHANNEL) return;
    unsigned char *colors = out->samples + (size_t)t->tone[i].channel * histo_dtype_size(out->dtype);
    if (t->kind == TONE_VALUE || (out->dtype != HISTO_U8 && out->dtype != HISTO_U16) || out->channels > 4)
        change_colors(t, out, colors);
    else if (out->dtype == HISTO_U8 && out->channels == 3)
        add_luma(t, out, 1, 3, colors);
    else if (out->dtype == HISTO_U8)
        add_luma(t, out, 1, 4, colors);
    else if (out->channels == 3)
        add_luma(t, out, 2, 3, colors);
    else
        add_luma(t, out, 2, 4, colors);
}
