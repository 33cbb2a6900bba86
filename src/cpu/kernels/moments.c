/* Sums for moments. Compiled once for each instruction set level (isa.h). Every level adds in the order of eight lanes,
 * so that all give the same bits. */
#include "cpu/kernels/moments.h"

#include <string.h>

#include "cpu/kernels/isa.h"
#include "view/dtype.h"

enum { LANES = 8 };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

static inline double add_lanes(const lanes *sum)
{
    return (((*sum)[0] + (*sum)[4]) + ((*sum)[2] + (*sum)[6])) + (((*sum)[1] + (*sum)[5]) + ((*sum)[3] + (*sum)[7]));
}

#define DEFINE_WIDEN(constant, name, storage, compute, widen)                                                          \
    static void widen_##name(const storage *restrict x, int n, double *restrict widened)                               \
    {                                                                                                                  \
        for (int i = 0; i < n; i++)                                                                                    \
            widened[i] = (double)widen(x[i]);                                                                          \
    }
HISTO_DTYPES(DEFINE_WIDEN)

void HISTO_OF_ISA(widen)(histo_dtype dtype, const void *samples, int n, double *widened)
{
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant:                                                                                                     \
        widen_##name(samples, n, widened);                                                                             \
        break;
    HISTO_SWITCH_DTYPE(dtype, CASE)
#undef CASE
}

double HISTO_OF_ISA(sum)(const double *x, int n, double *min, double *max)
{
    double low[LANES], high[LANES];
    lanes sum = {0};
    for (int l = 0; l < LANES; l++)
        low[l] = high[l] = x[0];
    const int whole = n - n % LANES;
    for (int i = 0; i < whole; i += LANES) {
        lanes some;
        memcpy(&some, x + i, sizeof some);
        sum += some;
        for (int l = 0; l < LANES; l++) {
            low[l] = x[i + l] < low[l] ? x[i + l] : low[l];
            high[l] = x[i + l] > high[l] ? x[i + l] : high[l];
        }
    }
    for (int i = whole; i < n; i++) {
        sum[i - whole] += x[i];
        low[0] = x[i] < low[0] ? x[i] : low[0];
        high[0] = x[i] > high[0] ? x[i] : high[0];
    }
    for (int l = 1; l < LANES; l++) {
        low[0] = low[l] < low[0] ? low[l] : low[0];
        high[0] = high[l] > high[0] ? high[l] : high[0];
    }
    *min = low[0];
    *max = high[0];
    return add_lanes(&sum);
}

void HISTO_OF_ISA(sum_powers)(const double *x, int n, double mean, double sums[4])
{
    lanes sum = {0}, squares = {0}, cubes = {0}, fourths = {0};
    const int whole = n - n % LANES;
    for (int i = 0; i < n; i += LANES) {
        lanes d = {0};
        if (i < whole)
            memcpy(&d, x + i, sizeof d);
        else
            for (int l = 0; l < n - whole; l++)
                d[l] = x[i + l];
        d -= mean;
        for (int l = n - i; l < LANES; l++)
            d[l] = 0;
        const lanes square = d * d;
        sum += d;
        squares += square;
        cubes += square * d;
        fourths += square * square;
    }
    sums[0] = add_lanes(&sum);
    sums[1] = add_lanes(&squares);
    sums[2] = add_lanes(&cubes);
    sums[3] = add_lanes(&fourths);
}
