#include "input/epoch.h"

#include <math.h>
#include <string.h>

static const int64_t second = 1000000; /* in microseconds */

static const double first_time = -62167219200e6, last_time = 253402300800e6; /* of the years 0 to 9999 */

static double time_of(const void *sample, histo_dtype dtype, int64_t per_second)
{
    if (per_second <= second) return rint(histo_sample_value(sample, dtype) * (double)(second / per_second));
    const int64_t divisor = per_second / second;
    if (dtype != HISTO_I64) return floor(histo_sample_value(sample, dtype) / (double)divisor);
    int64_t value; /* more digits than doubles have */
    memcpy(&value, sample, sizeof value);
    return (double)(value / divisor - (value % divisor < 0));
}

static bool is_valid(const histo_view *valid, int64_t y, int64_t x)
{
    return !valid || !valid->data ||
           ((const unsigned char *)valid->data)[y * valid->strides[0] + x * valid->strides[1]] != 0;
}

bool epoch_times(const histo_view *samples, const histo_view *valid, int64_t per_second, double *out, double *beyond)
{
    for (int64_t y = 0; y < samples->shape[0]; y++)
        for (int64_t x = 0; x < samples->shape[1]; x++) {
            const char *sample = (const char *)samples->data + y * samples->strides[0] + x * samples->strides[1];
            const double us = *out++ =
                is_valid(valid, y, x) ? time_of(sample, samples->dtype, per_second) : (double)NAN;
            if (isnan(us) || (us >= first_time && us < last_time)) continue;
            *beyond = histo_sample_value(sample, samples->dtype);
            return false;
        }
    return true;
}
