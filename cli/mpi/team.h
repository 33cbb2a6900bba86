/* The ranks of an MPI program as a team that counts together. */
#ifndef CLI_TEAM_H
#define CLI_TEAM_H

#include <mpi.h>

#include "count/count.h"

typedef struct team {
    MPI_Comm comm;
    int rank, ranks;
    int64_t shards; /* of the run */
    int64_t next;   /* on rank 0: the next shard to give out */
    int finished;   /* on rank 0: number of ranks that take no more in this pass */
    bool begins;    /* this rank has taken nothing in this pass yet */
    bool asked;     /* on others: an answer is on its way */
} team;

/* Makes a team of all ranks. */
void team_begin(team *t, int64_t shards_of_a_rank);

/* The functions that count_together needs. */
run_team team_of(team *t);

/* 0 if no rank has failed, else -1 with the same fault on all. */
int team_agree(void *self, int failed, fault *f);

#endif
