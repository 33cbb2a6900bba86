/* Each rank begins with the shard of its own number. Rank 0 gives the other shards to ranks that ask, between its own
 * pieces. A rank asks for its next shard before it counts one, so that it need not wait. */
#include "mpi/team.h"

#include <histo/mpi.h>
#include <string.h>

#include "base/failure.h"
#include "count/run.h"

enum { ASKED, GIVEN };   /* tags of messages */
enum { NEXT, FINISHED }; /* requests: the next shard; nothing more in this pass */

void team_begin(team *t, int64_t shards_of_a_rank)
{
    *t = (team){.comm = MPI_COMM_WORLD}; /* whose error handler aborts all ranks */
    MPI_Comm_rank(t->comm, &t->rank);
    MPI_Comm_size(t->comm, &t->ranks);
    t->shards = shards_of_a_rank * t->ranks;
}

int team_agree(void *self, int failed, fault *f)
{
    const team *t = self;
    int mine = failed ? t->rank : t->ranks, first;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, t->comm);
    if (first == t->ranks) return 0;
    MPI_Bcast(f, (int)sizeof *f, MPI_BYTE, first, t->comm);
    return -1;
}

static void ask(team *t, int what)
{
    MPI_Send(&what, 1, MPI_INT, 0, ASKED, t->comm);
}

/* Rank 0 answers one message. */
static void answer(team *t)
{
    int what;
    MPI_Status from;
    MPI_Recv(&what, 1, MPI_INT, MPI_ANY_SOURCE, ASKED, t->comm, &from);
    if (what == FINISHED) {
        t->finished++;
        return;
    }
    MPI_Send(&t->next, 1, MPI_INT64_T, from.MPI_SOURCE, GIVEN, t->comm);
    if (t->next < t->shards) t->next++;
}

static void begin_pass(void *self)
{
    team *t = self;
    t->begins = true;
    t->asked = false;
    t->next = t->ranks;
    t->finished = 0;
}

static int64_t receive(team *t)
{
    int64_t given;
    MPI_Recv(&given, 1, MPI_INT64_T, 0, GIVEN, t->comm, MPI_STATUS_IGNORE);
    t->asked = false;
    return given;
}

static int64_t take(void *self)
{
    team *t = self;
    int64_t given;
    if (t->begins)
        given = t->rank;
    else if (t->rank > 0)
        given = receive(t);
    else
        given = t->next < t->shards ? t->next++ : t->next;
    t->begins = false;
    t->asked = t->rank > 0 && given < t->shards;
    if (t->asked) ask(t, NEXT);
    return given;
}

/* MPI_Iprobe may first probe and then let messages arrive, so a message that has been sent is found by the second call
 * at the latest. With a single call, ranks that ask would wait for another piece. */
static void answer_all(void *self)
{
    team *t = self;
    for (int missed = 0; t->rank == 0 && missed < 2;) {
        int any;
        MPI_Iprobe(MPI_ANY_SOURCE, ASKED, t->comm, &any, MPI_STATUS_IGNORE);
        missed = any ? 0 : missed + 1;
        if (any) answer(t);
    }
}

/* A rank that has failed takes no more; if that is rank 0, no rank does. */
static void end_pass(void *self)
{
    team *t = self;
    if (t->asked) receive(t);
    if (t->rank > 0) ask(t, FINISHED);
    t->next = t->shards;
    while (t->rank == 0 && t->finished < t->ranks - 1)
        answer(t);
}

/* The status of a call that succeeds or fails on all ranks. */
static int check(histo_status status, const char *what, fault *f)
{
    return status == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, what);
}

static int merge_search(void *self, axis_search *search, fault *f)
{
    const team *t = self;
    const int64_t fraction = search->found.some_fraction, number = search->found.samples;
    MPI_Allreduce(&fraction, &search->found.some_fraction, 1, MPI_INT64_T, MPI_MAX, t->comm);
    if (search->passes == 1) MPI_Allreduce(&number, &search->found.samples, 1, MPI_INT64_T, MPI_SUM, t->comm);
    if (check(histo_mpi_survey(search->survey, t->comm), "the bins", f) != 0) return -1;
    return check(histo_mpi_stats(&search->found.positive, t->comm), "the bins", f);
}

static int merge_counts(void *self, run *r, fault *f)
{
    const team *t = self;
    uint64_t mine[3] = {r->bad, r->missing, r->ragged}, all[3] = {0};
    MPI_Reduce(mine, all, 3, MPI_UINT64_T, MPI_SUM, 0, t->comm);
    r->bad = all[0];
    r->missing = all[1];
    r->ragged = all[2];
    for (int i = 0; i < r->result->count; i++) {
        series *s = &r->result->series[i];
        if (check(histo_mpi_reduce(s->hist, 0, t->comm), "the histograms", f) != 0) return -1;
        for (int a = 0; a < r->naxes && s->sums; a++)
            if (check(histo_mpi_power_sums(&s->sums[a], t->comm), "the statistics", f) != 0) return -1;
    }
    return 0;
}

run_team team_of(team *t)
{
    return (run_team){.agree = team_agree,
                      .begin_pass = begin_pass,
                      .take = take,
                      .pause = answer_all,
                      .end_pass = end_pass,
                      .merge_search = merge_search,
                      .merge_counts = merge_counts,
                      .first = t->rank == 0,
                      .self = t};
}
