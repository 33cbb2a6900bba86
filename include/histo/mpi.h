/* histo: histograms of all ranks of an MPI program.
 *
 *     histo_hist_fill(h, &mine, NULL);                   // each rank the samples it has, or none
 *     histo_mpi_reduce(h, 0, MPI_COMM_WORLD);            // rank 0 has those of all
 *
 * These are inline functions, compiled by the program's own mpicc or mpicxx, so that one libhisto serves every MPI. The
 * result is that of a single process counting all samples: counts and reproducible sums have the same bits, whatever
 * the number of ranks.
 *
 * All calls are collective: every rank of comm makes the same calls. Before anything changes, the ranks agree that
 * their histograms can be added up. If some cannot, or if a rank fails, for example because it is out of memory, the
 * call fails on every rank with the same status and sentence, and changes no histogram. All machines must have the same
 * byte order. */
#ifndef HISTO_MPI_H
#define HISTO_MPI_H

#include <histo/histo.h>

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HISTO_MPI_ALL (-1) /* for root: every rank */

/* Add up the histograms of all ranks. The root's histogram, or every rank's with HISTO_MPI_ALL, becomes the sum; the
 * others are unchanged. Needs 2 MiB of memory; a sparse histogram needs memory for a copy and for what it receives. */
static inline histo_status histo_mpi_reduce(histo_hist *hist, int root, MPI_Comm comm);

/* Add up dense histograms, and leave each rank with a part of the sum: entries [*begin, *end) of a read with
 * HISTO_FLOW. Read them by histo_hist_read_words(hist, &(histo_word_layout){0}, *begin, *end - *begin, counts), or with
 * any call that reads all entries. A rank's other entries become zero, and rank 0 has the masked samples, so the
 * histograms of all ranks still add up to the sum. Takes as long as histo_mpi_reduce with a root, and memory for one
 * part. */
static inline histo_status histo_mpi_scatter(histo_hist *hist, MPI_Comm comm, int64_t *begin, int64_t *end);

/* Merge the statistics of all ranks, in order of rank. Every rank gets the result, with the same bits. Sums have the
 * same bits as those of a single process. */
static inline histo_status histo_mpi_stats(histo_stats *stats, MPI_Comm comm);
static inline histo_status histo_mpi_power_sums(histo_power_sums *sums, MPI_Comm comm);

/* At the end of a pass, before histo_survey_next_pass: merge the findings of the surveys of all ranks, which were
 * created with in_parts. All ranks then find the same axis, the one for all samples:
 *
 *     while (histo_survey_next_pass(survey, &more) == HISTO_OK && more) {
 *         histo_survey_add(survey, &mine, NULL);
 *         histo_mpi_survey(survey, comm);
 *     }
 *     histo_survey_axis(survey, &axis); */
static inline histo_status histo_mpi_survey(histo_survey *survey, MPI_Comm comm);

/* ---- What follows is how ---- */

enum { HISTO_MPI_WORDS = 1 << 17, HISTO_MPI_TEXT = 512 }; /* words per message; a message stays in cache */

static inline int64_t histo_mpi_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The status of an MPI call, if the communicator's error handler lets it return. */
static inline histo_status histo_mpi_check(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (code == MPI_SUCCESS) return HISTO_OK;
    MPI_Error_string(code, text, &length);
    return histo_set_error(HISTO_IO, text);
}

/* Fail on every rank if one has failed, with the message of the first that did. */
static inline histo_status histo_mpi_agree(histo_status status, MPI_Comm comm)
{
    int rank, ranks, failed, first;
    char text[HISTO_MPI_TEXT], said[HISTO_MPI_TEXT + 32];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    snprintf(text, sizeof text, "%s", status == HISTO_OK ? "" : histo_last_error());
    failed = status == HISTO_OK ? ranks : rank;
    histo_status done = histo_mpi_check(MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, comm));
    if (done != HISTO_OK || first == ranks) return done;
    int code = (int)status;
    MPI_Bcast(&code, 1, MPI_INT, first, comm);
    MPI_Bcast(text, HISTO_MPI_TEXT, MPI_CHAR, first, comm);
    snprintf(said, sizeof said, "rank %d: %s", first, text);
    return histo_set_error((histo_status)code, said);
}

/* Fail on every rank unless all have succeeded so far and have equal numbers. what: "the histograms". */
static inline histo_status histo_mpi_agree_on(histo_status status, uint64_t number, const char *what, MPI_Comm comm)
{
    int rank, ranks, first;
    uint64_t mine[3], most[3], of_root = number;
    char text[HISTO_MPI_TEXT];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    mine[0] = status != HISTO_OK;
    mine[1] = number;
    mine[2] = ~number;
    histo_status done = histo_mpi_check(MPI_Allreduce(mine, most, 3, MPI_UINT64_T, MPI_MAX, comm));
    if (done != HISTO_OK) return done;
    if (most[0]) return histo_mpi_agree(status, comm);
    if (most[1] == ~most[2]) return HISTO_OK;
    MPI_Bcast(&of_root, 1, MPI_UINT64_T, 0, comm);
    int differs = number == of_root ? ranks : rank;
    MPI_Allreduce(&differs, &first, 1, MPI_INT, MPI_MIN, comm);
    snprintf(text, sizeof text, "%s of ranks 0 and %d differ", what, first);
    return histo_set_error(HISTO_INVALID, text);
}

static inline histo_status histo_mpi_agree_alike(const histo_hist *hist, MPI_Comm comm)
{
    uint64_t fingerprint = 0;
    histo_status status = histo_hist_fingerprint(hist, &fingerprint);
    return histo_mpi_agree_on(status, fingerprint, "axes, edges, batch, weighting or storage of the histograms", comm);
}

/* Fail on every rank if the counts of all ranks would add up to 2^64 or more. */
static inline histo_status histo_mpi_agree_total(const histo_hist *hist, MPI_Comm comm)
{
    histo_tally tally;
    uint64_t mine[3], sum[3];
    memset(&tally, 0, sizeof tally);
    const histo_status status = histo_hist_tally(hist, &tally);
    mine[0] = status != HISTO_OK;
    mine[1] = tally.samples >> 32; /* two halves, whose sums cannot wrap */
    mine[2] = tally.samples & UINT32_MAX;
    const histo_status done = histo_mpi_check(MPI_Allreduce(mine, sum, 3, MPI_UINT64_T, MPI_SUM, comm));
    if (done != HISTO_OK) return done;
    if (sum[0]) return histo_mpi_agree(status, comm);
    if ((sum[1] + (sum[2] >> 32)) >> 32 == 0) return HISTO_OK;
    return histo_set_error(HISTO_INVALID, "the sum of counts would be 2^64 or more");
}

static inline histo_status histo_mpi_agree_root(int root, MPI_Comm comm)
{
    int ranks;
    char text[HISTO_MPI_TEXT];
    MPI_Comm_size(comm, &ranks);
    histo_status status = HISTO_OK;
    if (root < HISTO_MPI_ALL || root >= ranks) {
        snprintf(text, sizeof text, "the root is %d, not a rank below %d or HISTO_MPI_ALL", root, ranks);
        status = histo_set_error(HISTO_INVALID, text);
    }
    return histo_mpi_agree_on(status, (uint64_t)(int64_t)root, "the roots", comm);
}

static inline histo_status histo_mpi_allocate(size_t bytes, void **memory)
{
    *memory = malloc(bytes ? bytes : 1);
    return *memory ? HISTO_OK : histo_set_error(HISTO_NO_MEMORY, "out of memory for adding up histograms of ranks");
}

/* Agree on the layout of the words of all ranks, and make room for them; `to` is NULL where they are only read. status:
 * this rank's status so far. */
static inline histo_status histo_mpi_layout(histo_status status, const histo_hist *hist, histo_hist *to,
                                            histo_word_layout *layout, int64_t *integers, int64_t *doubles,
                                            MPI_Comm comm)
{
    histo_word_layout mine;
    memset(&mine, 0, sizeof mine);
    if (status == HISTO_OK) status = histo_hist_word_layout(hist, &mine);
    histo_status done = histo_mpi_check(MPI_Allreduce(mine.windows, layout->windows, 4, MPI_UINT64_T, MPI_BOR, comm));
    if (status == HISTO_OK) status = done;
    if (status == HISTO_OK) status = histo_hist_count_words(hist, layout, integers, doubles);
    if (status == HISTO_OK && to) status = histo_hist_write_words(to, layout, 0, 0, NULL);
    return histo_mpi_agree(status, comm);
}

/* Where the histogram stores these words, or NULL: counts and fast sums can be sent from there. */
static inline const uint64_t *histo_mpi_borrow(const histo_hist *hist, int64_t first, int64_t integers)
{
    const uint64_t *counts = NULL;
    const double *sums[2] = {NULL, NULL};
    const int64_t slots = histo_hist_size(hist, HISTO_FLOW), at = first < integers ? first : first - integers;
    if (histo_hist_borrow(hist, &counts, &sums[0], &sums[1]) != HISTO_OK) return NULL;
    if (first < slots) return counts + first;
    if (first < integers) return NULL;
    return (const uint64_t *)(const void *)sums[at / slots] + at % slots;
}

/* Add up words [first, end), one message after the other. The sum is received where the histogram stores it: copying it
 * there would take a third as long again. A root other than rank 0 copies all the same, since MPICH 4.0 and 4.1 crash
 * if such a root receives in place (MPICH issue 6540). words: [2 * HISTO_MPI_WORDS], for what is not sent or received
 * in place. The words belong to one section. Only MPI can fail here: everything else that could has been done
 * before. */
static inline histo_status histo_mpi_reduce_words(histo_hist *hist, const histo_word_layout *layout, int64_t first,
                                                  int64_t end, int64_t integers, uint64_t *words, int root,
                                                  MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    const bool changes = root == HISTO_MPI_ALL || root == rank, in_place = changes && root <= 0;
    MPI_Datatype type = first < integers ? MPI_UINT64_T : MPI_DOUBLE;
    histo_status status = HISTO_OK;
    for (int64_t at = first; at < end; at += HISTO_MPI_WORDS) {
        const int n = (int)histo_mpi_least(end - at, HISTO_MPI_WORDS);
        uint64_t *borrowed = NULL;
        histo_status done = in_place ? histo_hist_borrow_words(hist, layout, at, n, &borrowed) : HISTO_OK;
        const uint64_t *mine = borrowed ? NULL : histo_mpi_borrow(hist, at, integers);
        if (!borrowed && !mine) {
            if (done == HISTO_OK) done = histo_hist_read_words(hist, layout, at, n, words);
            mine = words;
        }
        const void *from = borrowed ? MPI_IN_PLACE : mine;
        uint64_t *sum = borrowed ? borrowed : words + HISTO_MPI_WORDS;
        const int code = root == HISTO_MPI_ALL ? MPI_Allreduce(from, sum, n, type, MPI_SUM, comm)
                                               : MPI_Reduce(from, sum, n, type, MPI_SUM, root, comm);
        if (done == HISTO_OK) done = histo_mpi_check(code);
        if (done == HISTO_OK && changes && !borrowed) done = histo_hist_write_words(hist, layout, at, n, sum);
        if (status == HISTO_OK) status = done;
    }
    return status;
}

static inline histo_status histo_mpi_reduce_dense(histo_hist *hist, int root, MPI_Comm comm)
{
    histo_word_layout layout;
    int64_t integers = 0, doubles = 0;
    int rank;
    void *words = NULL;
    MPI_Comm_rank(comm, &rank);
    histo_status status = histo_mpi_allocate(2 * HISTO_MPI_WORDS * sizeof(uint64_t), &words);
    const bool changes = root == HISTO_MPI_ALL || root == rank;
    status = histo_mpi_layout(status, hist, changes ? hist : NULL, &layout, &integers, &doubles, comm);
    /* Sections: counts, other integers, and sums. */
    const int64_t slots = histo_hist_size(hist, HISTO_FLOW), all = integers + doubles;
    for (int64_t first = 0, end; first < all && status == HISTO_OK; first = end) {
        end = first < slots ? slots : first < integers ? integers : first + slots;
        status = histo_mpi_reduce_words(hist, &layout, first, end, integers, (uint64_t *)words, root, comm);
    }
    free(words);
    return status;
}

/* ---- Sparse histograms: lists of occupied entries ---- */

/* The entries and masked samples of a sparse histogram. */
typedef struct histo_mpi_entries {
    int64_t n, batch;
    int64_t *index;
    uint64_t *counts, *masked;
} histo_mpi_entries;

static inline void histo_mpi_entries_free(histo_mpi_entries *e)
{
    free(e->index);
    free(e->counts);
    free(e->masked);
}

static inline histo_status histo_mpi_entries_make(histo_mpi_entries *e, int64_t n, int64_t batch)
{
    void *index = NULL, *counts = NULL, *masked = NULL;
    histo_status status = histo_mpi_allocate((size_t)n * sizeof(int64_t), &index);
    if (status == HISTO_OK) status = histo_mpi_allocate((size_t)n * sizeof(uint64_t), &counts);
    if (status == HISTO_OK) status = histo_mpi_allocate((size_t)batch * sizeof(uint64_t), &masked);
    e->n = n;
    e->batch = batch;
    e->index = (int64_t *)index;
    e->counts = (uint64_t *)counts;
    e->masked = (uint64_t *)masked;
    return status;
}

static inline histo_status histo_mpi_entries_read(histo_mpi_entries *e, const histo_hist *hist)
{
    int64_t n = 0;
    histo_status status = histo_hist_occupied(hist, HISTO_FLOW, &n);
    if (status == HISTO_OK) status = histo_mpi_entries_make(e, n, histo_hist_batch(hist));
    if (status == HISTO_OK) status = histo_hist_read_occupied(hist, HISTO_FLOW, e->index, e->counts, n);
    if (status == HISTO_OK) status = histo_hist_read_masked(hist, e->masked, e->batch);
    return status;
}

static inline histo_status histo_mpi_entries_add(const histo_mpi_entries *e, histo_hist *hist)
{
    histo_status status = histo_hist_add_occupied(hist, HISTO_FLOW, e->index, e->counts, e->n);
    return status == HISTO_OK ? histo_hist_add_masked(hist, e->masked, e->batch) : status;
}

/* How an array travels: to a rank, from a rank, or from `peer` to all. */
typedef enum histo_mpi_way { HISTO_MPI_SEND, HISTO_MPI_RECEIVE, HISTO_MPI_BROADCAST } histo_mpi_way;

/* Move n 64-bit numbers, in messages whose lengths fit an int. */
static inline histo_status histo_mpi_move(void *numbers, int64_t n, histo_mpi_way way, int peer, MPI_Comm comm)
{
    const int64_t most = 1 << 24;
    int code = MPI_SUCCESS;
    for (int64_t at = 0; at < n && code == MPI_SUCCESS; at += most) {
        const int length = (int)histo_mpi_least(n - at, most);
        uint64_t *some = (uint64_t *)numbers + at;
        if (way == HISTO_MPI_SEND)
            code = MPI_Send(some, length, MPI_UINT64_T, peer, 0, comm);
        else if (way == HISTO_MPI_RECEIVE)
            code = MPI_Recv(some, length, MPI_UINT64_T, peer, 0, comm, MPI_STATUS_IGNORE);
        else
            code = MPI_Bcast(some, length, MPI_UINT64_T, peer, comm);
    }
    return histo_mpi_check(code);
}

static inline histo_status histo_mpi_entries_move(histo_mpi_entries *e, histo_mpi_way way, int peer, MPI_Comm comm)
{
    histo_status status = histo_mpi_move(e->index, e->n, way, peer, comm);
    if (status == HISTO_OK) status = histo_mpi_move(e->counts, e->n, way, peer, comm);
    return status == HISTO_OK ? histo_mpi_move(e->masked, e->batch, way, peer, comm) : status;
}

/* Receive the entries of a rank and add them; n < 0: that rank has failed. A rank that cannot take them reports it. */
static inline histo_status histo_mpi_take(histo_status status, histo_hist *sum, int from, MPI_Comm comm)
{
    histo_mpi_entries e;
    int64_t n = 0, taken;
    memset(&e, 0, sizeof e);
    histo_status done = histo_mpi_move(&n, 1, HISTO_MPI_RECEIVE, from, comm);
    if (status == HISTO_OK) status = done;
    if (status == HISTO_OK && n >= 0) status = histo_mpi_entries_make(&e, n, histo_hist_batch(sum));
    taken = status == HISTO_OK && n >= 0;
    done = histo_mpi_move(&taken, 1, HISTO_MPI_SEND, from, comm);
    if (taken && done == HISTO_OK) done = histo_mpi_entries_move(&e, HISTO_MPI_RECEIVE, from, comm);
    if (taken && done == HISTO_OK) done = histo_mpi_entries_add(&e, sum);
    histo_mpi_entries_free(&e);
    return status == HISTO_OK ? done : status;
}

static inline histo_status histo_mpi_give(histo_status status, const histo_hist *sum, int to, MPI_Comm comm)
{
    histo_mpi_entries e;
    int64_t n, taken = 0;
    memset(&e, 0, sizeof e);
    if (status == HISTO_OK) status = histo_mpi_entries_read(&e, sum);
    n = status == HISTO_OK ? e.n : -1;
    histo_status done = histo_mpi_move(&n, 1, HISTO_MPI_SEND, to, comm);
    if (done == HISTO_OK) done = histo_mpi_move(&taken, 1, HISTO_MPI_RECEIVE, to, comm);
    if (taken && done == HISTO_OK) done = histo_mpi_entries_move(&e, HISTO_MPI_SEND, to, comm);
    histo_mpi_entries_free(&e);
    return status == HISTO_OK ? done : status;
}

/* Reduce along a binomial tree to the root. sum: what this rank has; on the root, in the end, the sum of all ranks. */
static inline histo_status histo_mpi_gather_sparse(histo_status status, histo_hist *sum, int root, MPI_Comm comm)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const int place = (rank - root + ranks) % ranks;
    for (int step = 1; step < ranks; step *= 2) {
        if (place & step) return histo_mpi_give(status, sum, (place - step + root) % ranks, comm);
        if (place + step < ranks) status = histo_mpi_take(status, sum, (place + step + root) % ranks, comm);
    }
    return status;
}

/* Broadcast from rank 0. */
static inline histo_status histo_mpi_share_sparse(histo_hist *sum, MPI_Comm comm)
{
    histo_mpi_entries e;
    int rank;
    int64_t n = 0;
    memset(&e, 0, sizeof e);
    MPI_Comm_rank(comm, &rank);
    histo_status status = rank == 0 ? histo_mpi_entries_read(&e, sum) : HISTO_OK;
    if (rank == 0) n = e.n;
    histo_status done = histo_mpi_move(&n, 1, HISTO_MPI_BROADCAST, 0, comm);
    if (status == HISTO_OK) status = done;
    if (status == HISTO_OK && rank) status = histo_mpi_entries_make(&e, n, histo_hist_batch(sum));
    status = histo_mpi_agree(status, comm);
    if (status == HISTO_OK) status = histo_mpi_entries_move(&e, HISTO_MPI_BROADCAST, 0, comm);
    if (status == HISTO_OK && rank) {
        histo_hist_reset(sum, NULL);
        status = histo_mpi_entries_add(&e, sum);
    }
    histo_mpi_entries_free(&e);
    return histo_mpi_agree(status, comm);
}

/* The sum is built in a second histogram, which replaces hist once all ranks have succeeded. */
static inline histo_status histo_mpi_reduce_sparse(histo_hist *hist, int root, MPI_Comm comm)
{
    MPI_Comm own; /* keeps its messages apart from the caller's */
    histo_hist *sum = NULL;
    int rank;
    MPI_Comm_rank(comm, &rank);
    histo_status status = histo_mpi_check(MPI_Comm_dup(comm, &own));
    if (status != HISTO_OK) return status;
    status = histo_hist_clone(hist, &sum);
    status = histo_mpi_gather_sparse(status, sum, root == HISTO_MPI_ALL ? 0 : root, own);
    status = histo_mpi_agree(status, own);
    if (status == HISTO_OK && root == HISTO_MPI_ALL) status = histo_mpi_share_sparse(sum, own);
    MPI_Comm_free(&own);
    if (status == HISTO_OK && (root == HISTO_MPI_ALL || root == rank)) histo_hist_swap(hist, sum);
    histo_hist_destroy(sum);
    return status;
}

static inline histo_status histo_mpi_reduce(histo_hist *hist, int root, MPI_Comm comm)
{
    histo_status status = histo_mpi_agree_root(root, comm);
    if (status == HISTO_OK) status = histo_mpi_agree_alike(hist, comm);
    if (status == HISTO_OK) status = histo_mpi_agree_total(hist, comm);
    if (status != HISTO_OK) return status;
    return histo_hist_storage(hist) == HISTO_SPARSE ? histo_mpi_reduce_sparse(hist, root, comm)
                                                    : histo_mpi_reduce_dense(hist, root, comm);
}

/* ---- Parts ---- */

/* The slots of a rank are [rank * part, rank * part + part), clipped to the number of slots. */
typedef struct histo_mpi_parts {
    int rank, ranks;
    int64_t slots, part, begin, end; /* begin and end: this rank's slots */
    int64_t piece;                   /* slots of each rank per message */
    uint64_t *words, *mine;          /* [ranks * piece], [part] */
} histo_mpi_parts;

/* Add up the words of one section, which starts at word `first` and has one word for each slot, and keep this rank's
 * part. */
static inline histo_status histo_mpi_scatter_section(histo_hist *hist, const histo_word_layout *layout, int64_t first,
                                                     MPI_Datatype type, const histo_mpi_parts *p, MPI_Comm comm)
{
    histo_status status = HISTO_OK, done = HISTO_OK;
    for (int64_t at = 0; at < p->part; at += p->piece) {
        const int64_t n = histo_mpi_least(p->part - at, p->piece);
        for (int rank = 0; rank < p->ranks; rank++) {
            const int64_t slot = histo_mpi_least(rank * p->part + at, p->slots);
            const int64_t some = histo_mpi_least(p->slots - slot, n);
            uint64_t *to = p->words + rank * n;
            if (some) done = histo_hist_read_words(hist, layout, first + slot, some, to);
            memset(to + some, 0, (size_t)(n - some) * sizeof *to);
            if (status == HISTO_OK) status = done;
        }
        done = histo_mpi_check(MPI_Reduce_scatter_block(p->words, p->mine + at, (int)n, type, MPI_SUM, comm));
        if (status == HISTO_OK) status = done;
    }
    /* In increasing order: zeros, the part, zeros. */
    memset(p->words, 0, (size_t)(p->ranks * p->piece) * sizeof *p->words);
    for (int64_t slot = 0; slot < p->slots && status == HISTO_OK;) {
        const bool inside = slot >= p->begin && slot < p->end;
        const int64_t until = slot < p->begin ? p->begin : inside ? p->end : p->slots;
        const int64_t n = histo_mpi_least(until - slot, histo_mpi_least(p->ranks * p->piece, HISTO_MPI_WORDS));
        status = histo_hist_write_words(hist, layout, first + slot, n, inside ? p->mine + (slot - p->begin) : p->words);
        slot += n;
    }
    return status;
}

/* Rank 0 gets the masked samples of all ranks. */
static inline histo_status histo_mpi_gather_masked(histo_hist *hist, const histo_word_layout *layout, int64_t integers,
                                                   const histo_mpi_parts *p, MPI_Comm comm)
{
    const int64_t batch = histo_hist_batch(hist);
    uint64_t *const words = p->words;
    histo_status status = histo_mpi_reduce_words(hist, layout, p->slots, p->slots + batch, integers, words, 0, comm);
    memset(words, 0, HISTO_MPI_WORDS * sizeof *words);
    for (int64_t at = 0; at < batch && p->rank && status == HISTO_OK; at += HISTO_MPI_WORDS)
        status =
            histo_hist_write_words(hist, layout, p->slots + at, histo_mpi_least(batch - at, HISTO_MPI_WORDS), words);
    return status;
}

static inline histo_status histo_mpi_scatter(histo_hist *hist, MPI_Comm comm, int64_t *begin, int64_t *end)
{
    histo_mpi_parts p;
    histo_word_layout layout;
    int64_t integers = 0, doubles = 0;
    void *words = NULL, *mine = NULL;
    histo_status status = begin && end ? HISTO_OK : histo_set_error(HISTO_INVALID, "the place for the part is NULL");
    status = histo_mpi_agree(status, comm);
    if (status == HISTO_OK) status = histo_mpi_agree_alike(hist, comm);
    if (status == HISTO_OK) status = histo_mpi_agree_total(hist, comm);
    if (status != HISTO_OK) return status;
    MPI_Comm_rank(comm, &p.rank);
    MPI_Comm_size(comm, &p.ranks);
    const int64_t batch = histo_hist_batch(hist);
    p.slots = histo_hist_size(hist, HISTO_FLOW);
    p.part = (p.slots + p.ranks - 1) / p.ranks;
    p.begin = histo_mpi_least(p.rank * p.part, p.slots);
    p.end = histo_mpi_least(p.begin + p.part, p.slots);
    p.piece = HISTO_MPI_WORDS / p.ranks;
    if (p.piece < 1024) p.piece = 1024;
    if (p.piece > p.part) p.piece = p.part;
    const int64_t sent = p.ranks * p.piece, masked = 2 * HISTO_MPI_WORDS;
    status = histo_mpi_allocate((size_t)(sent > masked ? sent : masked) * sizeof(uint64_t), &words);
    if (status == HISTO_OK) status = histo_mpi_allocate((size_t)p.part * sizeof(uint64_t), &mine);
    p.words = (uint64_t *)words;
    p.mine = (uint64_t *)mine;
    if (histo_hist_storage(hist) == HISTO_SPARSE)
        status = histo_set_error(HISTO_UNSUPPORTED, "a sparse histogram cannot be scattered: use histo_mpi_reduce");
    status = histo_mpi_layout(status, hist, hist, &layout, &integers, &doubles, comm);
    /* Each section of the layout has a word for each slot, except the masked samples after the counts. */
    for (int64_t first = 0; first < integers + doubles && status == HISTO_OK;) {
        MPI_Datatype type = first < integers ? MPI_UINT64_T : MPI_DOUBLE;
        status = histo_mpi_scatter_section(hist, &layout, first, type, &p, comm);
        if (first == 0 && status == HISTO_OK) status = histo_mpi_gather_masked(hist, &layout, integers, &p, comm);
        first += p.slots + (first == 0 ? batch : 0);
    }
    free(words);
    free(mine);
    if (status != HISTO_OK) return status;
    *begin = p.begin;
    *end = p.end;
    return HISTO_OK;
}

/* ---- Statistics ---- */

/* Gather `size` bytes from each rank, in order of rank; the caller frees *all, also on failure. */
static inline histo_status histo_mpi_gather(const void *mine, size_t size, void **all, MPI_Comm comm)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    histo_status status = mine ? HISTO_OK : histo_set_error(HISTO_INVALID, "the statistics are NULL");
    if (status == HISTO_OK) status = histo_mpi_allocate((size_t)ranks * size, all);
    status = histo_mpi_agree(status, comm);
    if (status != HISTO_OK) return status;
    return histo_mpi_check(MPI_Allgather(mine, (int)size, MPI_BYTE, *all, (int)size, MPI_BYTE, comm));
}

/* Gather and merge `size` bytes from each rank into `sum`, which is zero. All ranks do the same, and so fail alike. */
static inline histo_status histo_mpi_merge_all(const void *mine, void *sum, size_t size,
                                               histo_status (*merge)(void *to, const void *from), MPI_Comm comm)
{
    int ranks;
    void *all = NULL;
    MPI_Comm_size(comm, &ranks);
    histo_status status = histo_mpi_gather(mine, size, &all, comm);
    for (int rank = 0; rank < ranks && status == HISTO_OK; rank++)
        status = merge(sum, (const char *)all + (size_t)rank * size);
    free(all);
    return status;
}

static inline histo_status histo_mpi_merge_stats(void *to, const void *from)
{
    return histo_stats_merge((histo_stats *)to, (const histo_stats *)from);
}

static inline histo_status histo_mpi_stats(histo_stats *stats, MPI_Comm comm)
{
    histo_stats sum;
    memset(&sum, 0, sizeof sum);
    const histo_status status = histo_mpi_merge_all(stats, &sum, sizeof sum, histo_mpi_merge_stats, comm);
    if (status == HISTO_OK) *stats = sum;
    return status;
}

static inline histo_status histo_mpi_merge_power_sums(void *to, const void *from)
{
    return histo_power_sums_merge((histo_power_sums *)to, (const histo_power_sums *)from);
}

static inline histo_status histo_mpi_power_sums(histo_power_sums *sums, MPI_Comm comm)
{
    histo_power_sums sum;
    memset(&sum, 0, sizeof sum);
    const histo_status status = histo_mpi_merge_all(sums, &sum, sizeof sum, histo_mpi_merge_power_sums, comm);
    if (status == HISTO_OK) *sums = sum;
    return status;
}

/* ---- Surveys ---- */

/* Send a saved survey, or receive one, which the caller frees. Size 0: the sender has failed. */
static inline histo_status histo_mpi_survey_move(void **data, int64_t *size, histo_mpi_way way, int peer, MPI_Comm comm)
{
    int64_t taken = 1;
    histo_status status = HISTO_OK, done = histo_mpi_move(size, 1, way, peer, comm);
    if (way == HISTO_MPI_RECEIVE && *size) {
        status = histo_mpi_allocate((size_t)*size, data);
        taken = status == HISTO_OK;
    }
    if (done == HISTO_OK && *size && way == HISTO_MPI_RECEIVE)
        done = histo_mpi_move(&taken, 1, HISTO_MPI_SEND, peer, comm);
    if (done == HISTO_OK && *size && way == HISTO_MPI_SEND)
        done = histo_mpi_move(&taken, 1, HISTO_MPI_RECEIVE, peer, comm);
    if (done == HISTO_OK && *size && taken) done = histo_mpi_move(*data, *size / 8, way, peer, comm);
    return status == HISTO_OK ? done : status;
}

static inline histo_status histo_mpi_survey_give(histo_status status, const histo_survey *survey, int to, MPI_Comm comm)
{
    void *data = NULL;
    size_t size = 0;
    if (status == HISTO_OK) status = histo_survey_save(survey, &data, &size);
    int64_t sent = status == HISTO_OK ? (int64_t)size : 0;
    histo_status done = histo_mpi_survey_move(&data, &sent, HISTO_MPI_SEND, to, comm);
    histo_free(data);
    return status == HISTO_OK ? done : status;
}

static inline histo_status histo_mpi_survey_take(histo_status status, histo_survey *survey, int from, MPI_Comm comm)
{
    void *data = NULL;
    int64_t size = 0;
    histo_status done = histo_mpi_survey_move(&data, &size, HISTO_MPI_RECEIVE, from, comm);
    if (status == HISTO_OK) status = done;
    if (status == HISTO_OK && size) status = histo_survey_merge(survey, data, (size_t)size);
    free(data);
    return status;
}

/* Broadcast from rank 0. */
static inline histo_status histo_mpi_survey_share(histo_survey *survey, MPI_Comm comm)
{
    int rank;
    void *data = NULL, *room = NULL;
    size_t size = 0;
    MPI_Comm_rank(comm, &rank);
    histo_status status = rank ? HISTO_OK : histo_survey_save(survey, &data, &size);
    int64_t sent = (int64_t)size;
    histo_status done = histo_mpi_move(&sent, 1, HISTO_MPI_BROADCAST, 0, comm);
    if (status == HISTO_OK) status = done;
    if (status == HISTO_OK && rank) status = histo_mpi_allocate((size_t)sent, &room);
    status = histo_mpi_agree(status, comm);
    if (status == HISTO_OK) status = histo_mpi_move(rank ? room : data, sent / 8, HISTO_MPI_BROADCAST, 0, comm);
    if (status == HISTO_OK && rank) status = histo_survey_replace(survey, room, (size_t)sent);
    histo_free(data);
    free(room);
    return histo_mpi_agree(status, comm);
}

/* Reduce along a binomial tree, which merges in order of rank. */
static inline histo_status histo_mpi_survey(histo_survey *survey, MPI_Comm comm)
{
    MPI_Comm own; /* keeps its messages apart from the caller's */
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    histo_status status = survey ? HISTO_OK : histo_set_error(HISTO_INVALID, "the survey is NULL");
    status = histo_mpi_agree(status, comm);
    if (status == HISTO_OK) status = histo_mpi_check(MPI_Comm_dup(comm, &own));
    if (status != HISTO_OK) return status;
    bool given = false;
    for (int step = 1; step < ranks && !given; step *= 2) {
        given = (rank & step) != 0;
        if (given)
            status = histo_mpi_survey_give(status, survey, rank - step, own);
        else if (rank + step < ranks)
            status = histo_mpi_survey_take(status, survey, rank + step, own);
    }
    status = histo_mpi_agree(status, own);
    if (status == HISTO_OK) status = histo_mpi_survey_share(survey, own);
    MPI_Comm_free(&own);
    return status;
}

#endif
