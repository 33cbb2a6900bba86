#include "plan/costs/rates.h"

#include <math.h>

#include "view/dtype.h"

#define RUN(id, date, machine, command)
#define REFERENCE(memory, arithmetic)
#define RATE(id, value, what, run) [HISTO_RATE_##id] = (value),
static const double rates[] = {
#include "plan/costs/rates.def"
};
#undef REFERENCE
#undef RATE

#define RATE(id, value, what, run)
#define REFERENCE(memory, arithmetic)                                                                                  \
    {                                                                                                                  \
        memory, arithmetic                                                                                             \
    }
static const histo_speed reference =
#include "plan/costs/rates.def"
    ;
#undef RUN
#undef REFERENCE
#undef RATE

double histo_rate_of(histo_rate rate)
{
    return rates[rate];
}

double histo_cost_us(const histo_cost *cost)
{
    return cost->fixed_us + fmax(cost->read_us, cost->count_us);
}

double histo_sample_bytes(const histo_problem *p)
{
    double bytes = 0;
    for (int o = 0; o < p->operands; o++)
        bytes += (double)histo_dtype_size(p->dtypes[o]);
    return bytes * histo_values_per_sample(p);
}

/* The time to move so many bytes for each sample. */
static double memory_us(const histo_problem *p, double bytes, const histo_speed *speed)
{
    if (!(speed->memory > 0)) return 0;
    return (double)p->samples * bytes / (histo_rate_of(HISTO_RATE_READ) * speed->memory / reference.memory);
}

double histo_read_us(const histo_problem *p, const histo_speed *speed)
{
    return memory_us(p, histo_sample_bytes(p), speed);
}

histo_cost histo_cost_of(const histo_strategy *strategy, const histo_problem *p, int threads, const histo_speed *speed)
{
    histo_problem twice = *p;
    twice.samples *= 2;
    double us = strategy->cost_us(p, threads), count_us = fmin(strategy->cost_us(&twice, threads) - us, us);
    double faster = speed->arithmetic > 0 ? speed->arithmetic / reference.arithmetic : 1;
    const double moved = strategy->moved_bytes ? strategy->moved_bytes(p) : 0;
    const double read_us = memory_us(p, histo_sample_bytes(p) + moved, speed);
    return (histo_cost){.fixed_us = us - count_us, .read_us = read_us, .count_us = count_us / faster};
}

histo_transfer histo_transfer_of(const histo_problem *p, double gathered, double pinned, bool awake, int threads)
{
    double n = (double)p->samples, bytes = n * (gathered + pinned), slots = (double)p->batch * (double)p->slots;
    if (p->storage == HISTO_SPARSE) slots = 2 * fmin(n, slots); /* slots and counts, at most one pair per sample */
    double copied = histo_rate_of(HISTO_RATE_COPY) * pow(threads, histo_rate_of(HISTO_RATE_COPY_GROWTH));
    return (histo_transfer){
        .bytes = bytes,
        .direct = gathered == 0,
        .start_us = awake ? 0 : histo_rate_of(HISTO_RATE_START),
        .setup_us = histo_rate_of(HISTO_RATE_FILL),
        .bytes_us = fmax(bytes / histo_rate_of(HISTO_RATE_LINK), n * gathered / copied),
        .gather_us = slots / histo_rate_of(HISTO_RATE_GATHER),
    };
}

double histo_transfer_us(const histo_transfer *t, double count_us)
{
    return t->start_us + t->setup_us + fmax(t->bytes_us, count_us) + t->gather_us;
}
