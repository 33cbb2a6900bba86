#include "modules/dicom/values.h"

#include <math.h>
#include <string.h>

#include "input/readers/arrays/array.h"
#include "input/readers/arrays/scaling.h"

enum { BLOCK = 512, SHOWN_MOST = 255 };

static histo_dtype stored_dtype(const dicom_about *about)
{
    static const histo_dtype floats[] = {[4] = HISTO_F32, [8] = HISTO_F64};
    static const histo_dtype integers[2][5] = {{[1] = HISTO_U8, [2] = HISTO_U16, [4] = HISTO_U32},
                                               {[1] = HISTO_I8, [2] = HISTO_I16, [4] = HISTO_I32}};
    return about->kind == DICOM_FLOATS ? floats[about->bytes] : integers[about->is_signed][about->bytes];
}

/* For samples, or for the table's entries. */
static scaling scaling_of_frame(const dicom_about *about, const dicom_meaning *m)
{
    if (m->table.count) return scaling_of(HISTO_U16, 0, 1, 0);
    return scaling_of(stored_dtype(about), about->kind == DICOM_INTEGERS ? about->stored : 0, m->slope, m->intercept);
}

histo_dtype dicom_value_dtype(const dicom_about *about, const dicom_meaning *frames, int64_t count)
{
    if (frames[0].window.kind) return HISTO_U8;
    histo_dtype dtype = scaling_of_frame(about, &frames[0]).to;
    for (int64_t i = 1; i < count; i++)
        dtype = scaling_common(dtype, scaling_of_frame(about, &frames[i]).to);
    return dtype;
}

/* ---- Integers ---- */

static int64_t load(const unsigned char *at, int bytes, bool is_signed)
{
    if (bytes == 1) return is_signed ? (int8_t)*at : *at;
    if (bytes == 2) {
        uint16_t value;
        memcpy(&value, at, sizeof value);
        return is_signed ? (int16_t)value : value;
    }
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return is_signed ? (int32_t)value : (int64_t)value;
}

/* Whether padding differs from other samples only in bits that are not part of the sample. */
static bool pads_beyond(const dicom_about *about)
{
    const int64_t reach = INT64_C(1) << (about->stored - about->is_signed);
    return about->shift == 0 && (about->pad_to >= reach || about->pad_from < (about->is_signed ? -reach : 0));
}

/* Samples with the bits that are not theirs cleared. */
static void load_integers(const dicom_about *about, const unsigned char *from, int64_t *to, unsigned char *valid, int n)
{
    const int above = 64 - about->stored - about->shift, unused = 64 - about->stored;
    const bool beyond = about->pads && pads_beyond(about);
    for (int i = 0; i < n; i++) {
        const int64_t all = load(from + i * about->bytes, about->bytes, about->is_signed);
        const uint64_t bits = (uint64_t)all << above;
        to[i] = about->is_signed ? (int64_t)bits >> unused : (int64_t)(bits >> unused);
        const int64_t value = beyond ? all : to[i];
        valid[i] = !about->pads || value < about->pad_from || value > about->pad_to;
    }
}

static uint16_t look_up(const dicom_table *t, double value)
{
    const double at = floor(value) - (double)t->first; /* from floats made by a slope */
    return t->values[!(at > 0) ? 0 : at >= t->count ? t->count - 1 : (int)at];
}

/* Store samples in the form that the scaling takes. */
static void store_integers(const dicom_about *about, const dicom_table *t, const int64_t *from, void *to, int n)
{
    uint16_t *tabled = to;
    for (int i = 0; i < n && t->count; i++)
        tabled[i] = look_up(t, (double)from[i]);
    for (int i = 0; i < n && !t->count; i++)
        memcpy((char *)to + i * about->bytes,
               (const char *)&from[i] + (LITTLE_ENDIAN_MACHINE ? 0 : (int)sizeof *from - about->bytes),
               (size_t)about->bytes);
}

/* ---- Floats ---- */

static void load_floats(const dicom_about *about, const void *from, void *to, unsigned char *valid, int n)
{
    memcpy(to, from, (size_t)(n * about->bytes));
    for (int i = 0; i < n; i++) {
        const double value = about->bytes == 4 ? (double)((const float *)to)[i] : ((const double *)to)[i];
        valid[i] = !about->pads || !(value >= about->float_pad_from && value <= about->float_pad_to);
    }
}

static void set_missing(histo_dtype dtype, void *values, const unsigned char *valid, int n)
{
    for (int i = 0; i < n; i++) {
        if (valid[i]) continue;
        if (dtype == HISTO_F32) ((float *)values)[i] = NAN;
        if (dtype == HISTO_F64) ((double *)values)[i] = (double)NAN;
    }
}

/* ---- Displayed values (PS3.3, C.11.2) ---- */

/* From 0 to 1. */
static double shown(const dicom_window *w, double value)
{
    const double exact = w->kind == DICOM_LINEAR_EXACT ? 0 : 1, center = w->center - exact / 2,
                 width = w->width - exact;
    if (w->kind == DICOM_TABLE) return look_up(&w->table, value) / (ldexp(1, w->table.bits) - 1);
    if (w->kind == DICOM_SIGMOID) return 1 / (1 + exp(-4 * (value - w->center) / w->width));
    if (value <= center - width / 2) return 0;
    return value > center + width / 2 ? 1 : (value - center) / width + 0.5;
}

static void show(const dicom_about *about, const dicom_window *w, const double *from, const unsigned char *valid,
                 unsigned char *to, int n)
{
    for (int i = 0; i < n; i++) {
        const double level = fmin(fmax(shown(w, from[i]), 0), 1) * SHOWN_MOST; /* NaN becomes 0 */
        const int whole = valid[i] ? (int)floor(level + 0.5) : 0;
        to[i] = (unsigned char)(valid[i] && about->white_first ? SHOWN_MOST - whole : whole);
    }
}

/* ---- All ---- */

void dicom_values(const dicom_about *about, const dicom_meaning *m, const void *stored, histo_dtype dtype, void *values,
                  unsigned char *valid, int64_t count)
{
    scaling s = scaling_of_frame(about, m);
    const size_t size = histo_dtype_size(dtype);
    const bool windowed = m->window.kind != DICOM_NO_WINDOW;
    scaling_make(&s, windowed ? HISTO_F64 : dtype);
    for (int64_t done = 0; done < count; done += BLOCK) {
        const int n = count - done < BLOCK ? (int)(count - done) : BLOCK;
        const unsigned char *from = (const unsigned char *)stored + done * about->bytes;
        char *to = (char *)values + (size_t)done * size;
        unsigned char *there = valid + done;
        int64_t whole[BLOCK];
        double floats[BLOCK];
        void *scaled = windowed ? (void *)floats : to;
        if (about->kind == DICOM_FLOATS) {
            load_floats(about, from, scaled, there, n);
        } else {
            load_integers(about, from, whole, there, n);
            store_integers(about, &m->table, whole, scaled, n);
        }
        scaling_apply(&s, scaled, scaled, n);
        if (windowed)
            show(about, &m->window, floats, there, (unsigned char *)to, n);
        else
            set_missing(dtype, to, there, n);
    }
}
