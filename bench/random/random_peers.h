/* Random problems as tasks for the peers, which count one array, interleaved 8-bit channels, or columns of one type. */
#ifndef BENCH_RANDOM_PEERS_H
#define BENCH_RANDOM_PEERS_H

#include "bench/peers/peer.h"
#include "bench/random/random_data.h"

/* A task refers to the other members and to data. */
typedef struct problem_task {
    bench_input input;
    bench_arrangement arranged;
    problem_fill fill;
    bench_task task;
} problem_task;

/* False if the problem cannot be described as a task. */
bool problem_task_make(const problem_data *data, int threads, problem_task *to);

/* HISTO_UNSUPPORTED if the peer cannot count the task. If there is a state, end it in any case. */
histo_status problem_peer_begin(const problem_task *to, const bench_peer *peer, void **state);

#endif
