#include "apply/gaps.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/failure.h"

/* Convert a number to a sample; false if the dtype cannot represent it. Numbers beyond floats become infinite. */
static bool to_sample(double value, histo_dtype dtype, unsigned char sample[8])
{
    double lo, hi;
    memset(sample, 0, 8);
    if (dtype == HISTO_F64) memcpy(sample, &value, sizeof value);
    if (dtype == HISTO_F32) memcpy(sample, &(const float){(float)value}, sizeof(float));
    if (dtype == HISTO_F64 || dtype == HISTO_F32) return true;
    if (dtype >= HISTO_F16) return false;
    levels_of_dtype(dtype, &lo, &hi);
    if (!(value >= lo && value <= hi) || value != rint(value) || fabs(value) >= 0x1p53) return false;
    const int64_t whole = (int64_t)value;
    const size_t size = histo_dtype_size(dtype);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    memcpy(sample, (const char *)&whole + 8 - size, size);
#else
    memcpy(sample, &whole, size);
#endif
    return true;
}

bool gaps_nodata(const metadata *about, histo_dtype from, histo_dtype to, unsigned char nodata[8])
{
    if (!about || !about->has_nodata) return false;
    if (from != to) return to_sample(histo_sample_value(about->nodata, from), to, nodata);
    memcpy(nodata, about->nodata, 8);
    return true;
}

/* Move to a neighbouring value: above or, for the largest, below. Floats are moved far enough for programs that compare
 * with a tolerance, as GDAL does. */
static void nudge(histo_dtype dtype, unsigned char sample[8])
{
    double lo, hi;
    const double value = histo_sample_value(sample, dtype);
    if (dtype < HISTO_F16) {
        levels_of_dtype(dtype, &lo, &hi);
        to_sample(value < hi ? value + 1 : value - 1, dtype, sample);
    } else {
        const double step = 16 * (double)FLT_EPSILON * fabs(value), least = (double)FLT_MIN;
        const double most = dtype == HISTO_F32 ? (double)FLT_MAX : DBL_MAX;
        to_sample(step > most - value ? value - step : value + fmax(step, least), dtype, sample);
    }
}

/* Whether channel c of the band is missing at this place. For luma and value, a pixel is missing if one of its colours
 * is. */
static bool is_missing(const job *j, const band *b, int c, int64_t y, int64_t x)
{
    const tones *t = &j->tones;
    const int first = t->kind == TONE_CHANNEL && !j->kind->classes ? c : t->tone[0].channel;
    const int end = first + (t->kind == TONE_CHANNEL ? 1 : 3);
    for (int k = first; k < end; k++) {
        const histo_view *v = &b->valid[k];
        if (v->data && !((const unsigned char *)v->data)[y * v->strides[0] + x * v->strides[1]]) return true;
    }
    return false;
}

static bool is_alpha(const image_page *page, int c)
{
    return (page->model == CHANNELS_GRAY_ALPHA && c == 1) || (page->model == CHANNELS_RGBA && c == 3);
}

/* The result's value where a sample is missing: the stored value, if the type is the same; else the nodata value, NaN,
 * or 0. */
static void put_missing(const job *j, const band *b, int c, int64_t y, int64_t x, unsigned char *to)
{
    const image_page *page = &j->out->page;
    const histo_view *v = &b->views[c];
    unsigned char sample[8] = {0};
    const bool floats = page->dtype == HISTO_F32 || page->dtype == HISTO_F64;
    const bool alike = page->dtype == v->dtype && !page->classes;
    if (page->has_nodata && (!alike || floats))
        memcpy(sample, page->nodata, sizeof sample);
    else if (floats && !(alike && j->gaps))
        to_sample(NAN, page->dtype, sample);
    else if (alike)
        memcpy(sample, (const char *)v->data + y * v->strides[0] + x * v->strides[1], histo_dtype_size(v->dtype));
    memcpy(to, sample, histo_dtype_size(page->dtype));
}

/* Whether the sample's own value marks it as missing. */
static bool says_so(const image_page *page, const unsigned char *sample)
{
    const size_t size = histo_dtype_size(page->dtype);
    return (page->has_nodata && memcmp(sample, page->nodata, size) == 0) ||
           (page->dtype >= HISTO_F16 && isnan(histo_sample_value(sample, page->dtype)));
}

/* Keep samples that have a value from becoming the nodata value. */
static void spare_nodata(const job *j, const band *b)
{
    const image_page *page = &j->out->page;
    const size_t size = histo_dtype_size(page->dtype);
    unsigned char *at = j->rows.data, other[8];
    memcpy(other, page->nodata, sizeof other);
    nudge(page->dtype, other);
    for (int64_t i = 0; i < b->rows * b->cols; i++)
        for (int c = 0; c < page->channels; c++, at += size)
            if (memcmp(at, page->nodata, size) == 0 && !is_alpha(page, c)) memcpy(at, other, size);
}

int gaps_keep(job *j, const band *b, fault *f)
{
    const image_page *page = &j->out->page;
    const size_t size = histo_dtype_size(page->dtype);
    if (page->has_nodata) spare_nodata(j, b);
    if (!b->valid) return 0;
    if (!scratch_reserve(&j->marks, (size_t)(b->rows * b->cols)))
        return fault_set(f, EXIT_DATA, "no memory for the rows of %s", job_name(j));
    bool unsaid = false;
    unsigned char *at = j->rows.data, *valid = j->marks.data;
    for (int64_t y = 0; y < b->rows; y++)
        for (int64_t x = 0; x < b->cols; x++, valid++) {
            int missing = 0, said = 0, all = 0;
            for (int c = 0; c < page->channels; c++, at += size) {
                if (is_alpha(page, c)) continue;
                all++;
                if (!is_missing(j, b, c, y, x)) continue;
                missing++;
                put_missing(j, b, c, y, x, at);
                said += says_so(page, at);
            }
            *valid = missing < all || said == missing;
            unsaid |= !*valid;
            j->unsaid += !*valid && !j->gaps;
        }
    return unsaid && j->gaps ? image_leave_out(j->out, j->marks.data, b->rows, f) : 0;
}

void gaps_remark(const job *j, const char *format)
{
    const bool kept = j->dtype == pages_reader(j->pages)->dtypes[0] && !j->top && !j->kind->classes;
    note("%s: pixels without a value, which %s cannot say, %s: %" PRId64, job_name(j), format,
         kept ? "keep what is stored" : "are 0", j->unsaid);
}
