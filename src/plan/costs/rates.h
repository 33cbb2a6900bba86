/* Estimated times of strategies, and of transferring samples to a GPU and counts back, from measured rates. The rates
 * are rows of rates.def. */
#ifndef PLAN_RATES_H
#define PLAN_RATES_H

#include "plan/strategy.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum histo_rate {
#define RUN(id, date, machine, command)
#define REFERENCE(memory, arithmetic)
#define RATE(id, value, what, run) HISTO_RATE_##id,
#include "plan/costs/rates.def"
#undef RUN
#undef REFERENCE
#undef RATE
    HISTO_RATES
} histo_rate;

double histo_rate_of(histo_rate rate);

/* The parts of a fill's time; reading, or what else moves to and from memory, and counting overlap. */
typedef struct histo_cost {
    double fixed_us, read_us, count_us;
} histo_cost;

double histo_cost_us(const histo_cost *cost);

/* Bytes of all operands per sample. */
double histo_sample_bytes(const histo_problem *problem);

/* The minimum time to read the samples on a device of this speed; 0 on the CPU, whose memory bandwidth is unknown. */
double histo_read_us(const histo_problem *problem, const histo_speed *speed);

/* The cost of a strategy that has an estimate, on a device of this speed ({0, 0} for a CPU). */
histo_cost histo_cost_of(const histo_strategy *strategy, const histo_problem *problem, int threads,
                         const histo_speed *speed);

/* The cost of using a GPU for samples in host memory, in addition to counting. */
typedef struct histo_transfer {
    double bytes;     /* to transfer; 0: the samples are there, and everything here is 0 */
    bool direct;      /* from page-locked memory, without the CPU's help */
    double start_us;  /* starting CUDA, if this process has not used it yet */
    double setup_us;  /* once per fill */
    double bytes_us;  /* transferring samples, overlapped with counting */
    double gather_us; /* transferring counts back */
} histo_transfer;

/* gathered: bytes per sample that go through pinned buffers, copied by this many threads; pinned: bytes per sample that
 * do not. */
histo_transfer histo_transfer_of(const histo_problem *problem, double gathered, double pinned, bool awake, int threads);

/* The total time of a fill that counts for count_us. */
double histo_transfer_us(const histo_transfer *transfer, double count_us);

#ifdef __cplusplus
}
#endif

#endif
