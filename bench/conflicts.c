#include "bench/conflicts.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

static int degree_of(const unsigned *values, unsigned counters_per_word)
{
    int in_bank[BENCH_BANKS] = {0}, most = 0;
    for (int lane = 0; lane < BENCH_LANES; lane++) {
        int n = ++in_bank[values[lane] / counters_per_word % BENCH_BANKS];
        if (n > most) most = n;
    }
    return most;
}

static void find_moments(bench_conflicts *conflicts)
{
    double n = (double)conflicts->warps, sum = 0, squares = 0;
    for (int d = 1; d <= BENCH_LANES; d++)
        sum += (double)conflicts->of_degree[d] * d;
    conflicts->mean = sum / n;
    for (int d = 1; d <= BENCH_LANES; d++)
        squares += (double)conflicts->of_degree[d] * (d - conflicts->mean) * (d - conflicts->mean);
    conflicts->deviation = sqrt(squares / n);
}

histo_status bench_conflicts_count(const void *samples, histo_dtype dtype, int64_t n, unsigned counters_per_word,
                                   bench_conflicts *conflicts)
{
    if (dtype != HISTO_U8 && dtype != HISTO_U16)
        return histo_fail(HISTO_INVALID, "samples of %s are not pixels: bank conflicts are counted for u8 and u16",
                          histo_dtype_name(dtype));
    if (n < BENCH_LANES)
        return histo_fail(HISTO_INVALID, "%lld samples are no warp: at least %d are needed", (long long)n, BENCH_LANES);
    memset(conflicts, 0, sizeof *conflicts);
    conflicts->warps = n / BENCH_LANES;
    for (int64_t w = 0; w < conflicts->warps; w++) {
        unsigned values[BENCH_LANES];
        for (int lane = 0; lane < BENCH_LANES; lane++) {
            int64_t i = w * BENCH_LANES + lane;
            values[lane] = dtype == HISTO_U8 ? ((const uint8_t *)samples)[i] : ((const uint16_t *)samples)[i];
        }
        conflicts->of_degree[degree_of(values, counters_per_word)]++;
    }
    find_moments(conflicts);
    return HISTO_OK;
}

double bench_conflicts_share(const bench_conflicts *conflicts, int least, int most)
{
    int64_t warps = 0;
    for (int d = least; d <= most; d++)
        warps += conflicts->of_degree[d];
    return (double)warps / (double)conflicts->warps;
}
