#include "plan/rates.h"

#include <math.h>
#include <string.h>

#include "view/dtype.h"

#define RUN(id, date, machine, command)
#define REFERENCE(memory, arithmetic)
#define RATE(id, value, what, run) [HISTO_RATE_##id] = (value),
#define COST(backend, strategy, form, bins, fixed_us, per_us, run)
static const double rates[] = {
#include "plan/rates.def"
};
#undef REFERENCE
#undef RATE
#undef COST

#define RATE(id, value, what, run)
#define COST(backend, strategy, form, bins, fixed_us, per_us, run)
#define REFERENCE(memory, arithmetic)                                                                                  \
    {                                                                                                                  \
        memory, arithmetic                                                                                             \
    }
static const histo_speed reference =
#include "plan/rates.def"
    ;
#undef REFERENCE
#undef COST

enum { OWN = -1 };

typedef struct cost_row {
    const char *backend, *strategy;
    histo_form form;
    double bins, fixed_us, per_us;
} cost_row;

#define REFERENCE(memory, arithmetic)
#define COST(backend, strategy, form, bins, fixed_us, per_us, run)                                                     \
    {#backend, #strategy, HISTO_FORM_##form, bins, fixed_us, per_us},
static const cost_row costs[] = {
#include "plan/rates.def"
    {NULL, NULL, HISTO_FORM_OTHER, 0, 0, 0},
};
#undef RUN
#undef REFERENCE
#undef RATE
#undef COST

double histo_rate_of(histo_rate rate)
{
    return rates[rate];
}

histo_form histo_form_of(const histo_problem *p)
{
    if (p->naxes != 1 || p->operands != 1 || p->weighting != HISTO_UNWEIGHTED) return HISTO_FORM_OTHER;
    size_t size = histo_dtype_size(p->dtypes[0]);
    const histo_lookup *l = &p->lookups[0];
    if (size == 1) return HISTO_FORM_table8;
    if (l->table) return l->pow2.is ? HISTO_FORM_whole16 : HISTO_FORM_table16;
    if (l->edges) return size == 8 ? HISTO_FORM_search64 : HISTO_FORM_search32;
    if (size == 8) return histo_dtype_is_integer(p->dtypes[0]) ? HISTO_FORM_integer64 : HISTO_FORM_float64;
    return histo_dtype_is_integer(p->dtypes[0]) && l->step == 1 ? HISTO_FORM_whole : HISTO_FORM_float32;
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
    return p->pairs ? bytes * (int)p->pairs : bytes;
}

double histo_read_us(const histo_problem *p, const histo_speed *speed)
{
    if (!(speed->memory > 0)) return 0;
    return (double)p->samples * histo_sample_bytes(p) /
           (histo_rate_of(HISTO_RATE_READ) * speed->memory / reference.memory);
}

static bool is_of(const cost_row *c, const histo_row *row, histo_form form)
{
    return c->backend && c->form == form && strcmp(c->backend, row->backend->name) == 0 &&
           strcmp(c->strategy, row->name) == 0;
}

/* The part of a strategy's own estimate that grows with the samples, and the rest. */
static double own_count_us(const histo_row *row, const histo_problem *p, int threads)
{
    histo_problem twice = *p;
    twice.samples *= 2;
    return row->strategy->cost_us(&twice, threads) - row->strategy->cost_us(p, threads);
}

static double own_fixed_us(const histo_row *row, const histo_problem *p, int threads)
{
    return fmax(row->strategy->cost_us(p, threads) - own_count_us(row, p, threads), 0);
}

/* By one row: as it was measured, and as much longer as these bins take than those of the row by the strategy's own
 * estimate, which knows of tiles and of samples probed. */
static double count_us_of(const cost_row *c, const histo_row *row, const histo_problem *p, int threads)
{
    histo_problem there = *p;
    there.bins = (int64_t)c->bins;
    there.slots = there.bins + 3;
    there.probes = 0;
    there.dense = false;
    double own = own_count_us(row, p, threads), own_there = own_count_us(row, &there, threads);
    return (double)p->samples / c->per_us * (own > 0 && own_there > 0 ? own / own_there : 1);
}

static double fixed_us_of(const cost_row *c, const histo_row *row, const histo_problem *p, int threads)
{
    return c->fixed_us == OWN ? own_fixed_us(row, p, threads) : c->fixed_us;
}

bool histo_cost_of(const histo_row *row, const histo_problem *p, int threads, const histo_speed *speed,
                   histo_cost *cost)
{
    enum { ROWS = sizeof costs / sizeof costs[0] };
    const double thread_growth = 0.8; /* memory and clock are shared */
    histo_form form = histo_form_of(p);
    int first = 0;
    while (first < ROWS && !is_of(&costs[first], row, form))
        first++;
    if (form == HISTO_FORM_OTHER || first == ROWS) return false;
    const cost_row *low = &costs[first], *high = low;
    double bins = (double)p->bins;
    while (high->bins < bins && is_of(high + 1, row, form))
        low = high++;
    if (low->bins > bins || high->bins < bins) low = high;
    double t = low == high ? 0 : log(bins / low->bins) / log(high->bins / low->bins);
    double first_count_us = count_us_of(low, row, p, threads), last_count_us = count_us_of(high, row, p, threads);
    double faster = speed->arithmetic > 0 ? speed->arithmetic / reference.arithmetic : pow(threads, thread_growth);
    double first_us = fixed_us_of(low, row, p, threads), last_us = fixed_us_of(high, row, p, threads);
    *cost = (histo_cost){.fixed_us = first_us + t * (last_us - first_us),
                         .read_us = histo_read_us(p, speed),
                         .count_us = pow(first_count_us, 1 - t) * pow(last_count_us, t) / faster};
    return true;
}

histo_transfer histo_transfer_of(const histo_problem *p, double gathered, double pinned, bool awake, int threads)
{
    double n = (double)p->samples, bytes = n * (gathered + pinned), slots = (double)p->batch * (double)p->slots;
    if (p->storage == HISTO_SPARSE) slots = 2 * fmin(n, slots); /* slots and counts, of as many as there may be */
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
