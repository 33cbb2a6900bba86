/* Estimates from measured rates: what a strategy takes, and what it takes to bring samples to a GPU and counts back.
 * The rates are rows of rates.def. */
#ifndef PLAN_RATES_H
#define PLAN_RATES_H

#include "plan/strategy.h"

typedef enum histo_rate {
#define RUN(id, date, machine, command)
#define REFERENCE(memory, arithmetic)
#define RATE(id, value, what, run) HISTO_RATE_##id,
#include "plan/rates.def"
#undef RUN
#undef REFERENCE
#undef RATE
    HISTO_RATES
} histo_rate;

double histo_rate_of(histo_rate rate);

/* Where the time of a fill goes: reading and counting overlap. */
typedef struct histo_cost {
    double fixed_us, read_us, count_us;
} histo_cost;

double histo_cost_us(const histo_cost *cost);

/* Bytes of all operands of a sample. */
double histo_sample_bytes(const histo_problem *problem);

/* The least time to read the samples on a device of this speed; 0 on the CPU, of whose memory nothing is known. */
double histo_read_us(const histo_problem *problem, const histo_speed *speed);

/* What a strategy that has an estimate takes on a device of this speed; 0 for both of a CPU. */
histo_cost histo_cost_of(const histo_strategy *strategy, const histo_problem *problem, int threads,
                         const histo_speed *speed);

/* What a GPU needs beside counting, where the samples are in host memory. */
typedef struct histo_transfer {
    double bytes;     /* of samples that travel; 0: they are there, and all of this is 0 */
    bool direct;      /* from page-locked memory, without the CPU */
    double start_us;  /* of CUDA, if nobody in this process has used it yet */
    double setup_us;  /* around the fill */
    double bytes_us;  /* the samples' way, while others are counted */
    double gather_us; /* the counts' way back */
} histo_transfer;

/* gathered: bytes of a sample that go through pinned buffers, copied by this many threads; pinned: those that need not.
 */
histo_transfer histo_transfer_of(const histo_problem *problem, double gathered, double pinned, bool awake, int threads);

/* The whole of a fill that counts for count_us. */
double histo_transfer_us(const histo_transfer *transfer, double count_us);

#endif
