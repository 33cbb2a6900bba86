#include "apply/eight_bits.h"

#include <math.h>
#include <stdlib.h>

#include "base/failure.h"

int eight_bits_begin(job *j, fault *f)
{
    const settings *s = j->settings;
    const histo_dtype dtype = pages_reader(j->pages)->dtypes[0];
    const bool wide = dtype == HISTO_U16 || dtype == HISTO_U32 || dtype == HISTO_U64;
    if (!s->to_8_bits && !(wide && s->bits && s->bits <= 8)) return 0;
    settings *without = malloc(sizeof *without);
    if (!without) return fault_set(f, EXIT_DATA, "no memory for the options of %s", job_name(j));
    *without = *s;
    without->bits = 0; /* levels are those of the samples */
    j->top = s->bits ? (1 << s->bits) - 1 : UINT8_MAX;
    j->settings = j->other = without;
    if (!eight_bits_scales(j)) j->dtype = HISTO_U8;
    return 0;
}

bool eight_bits_scales(const job *j)
{
    return j->top && j->tones.kind != TONE_CHANNEL;
}

void eight_bits_scale(const job *j, const unsigned char *from, int64_t count, double lo, double hi, unsigned char *to)
{
    const histo_dtype dtype = pages_reader(j->pages)->dtypes[0];
    const size_t size = histo_dtype_size(dtype);
    const double top = (double)j->top;
    for (int64_t i = 0; i < count; i++, from += size) {
        const double value = rint((histo_sample_value(from, dtype) - lo) * top / (hi - lo));
        to[i] = !(value > 0) ? 0 : value > top ? (unsigned char)top : (unsigned char)value;
    }
}

void eight_bits_rest(const job *j, const unsigned char *from, int64_t count, unsigned char *to)
{
    const histo_dtype dtype = pages_reader(j->pages)->dtypes[0];
    double lo = 0, hi = 1;
    if (dtype < HISTO_F16) levels_of_dtype(dtype, &lo, &hi);
    if (j->largest) hi = (double)j->largest;
    eight_bits_scale(j, from, count, lo, hi, to);
}
