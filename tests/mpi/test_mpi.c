/* Histograms of all ranks equal those of one process, to the bit: dense, batch, weighted, reproducible, sparse, with
 * ranks that have no samples. What one rank refuses, all refuse with the same sentence, and nothing changes. Run with
 * any number of ranks. */
#include <histo/mpi.h>

#include <math.h>

static int rank, ranks, checks;

static void fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: rank %d of %d: %s (%s)\n", file, line, rank, ranks, what, histo_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        checks++;                                                                                                      \
        if (!(condition)) fail(__FILE__, __LINE__, #condition);                                                        \
    } while (0)
#define OK(call) CHECK((call) == HISTO_OK)

enum { SAMPLES = 8000 };

static double x[SAMPLES], y[SAMPLES], w[SAMPLES];
static uint8_t mask[SAMPLES];

static uint64_t next(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double uniform(void)
{
    return (double)(next() >> 11) * 0x1p-53;
}

/* The same on every rank; whole: weights whose sums are exact in double. Others have `exponents`. */
static void make_samples(bool whole, int exponents)
{
    for (int i = 0; i < SAMPLES; i++) {
        x[i] = uniform() * 1.2 - 0.1;
        y[i] = uniform() * 12 - 1;
        w[i] = whole ? floor(uniform() * 1000) - 500
                     : ldexp(uniform() - 0.5, (int)(next() % (uint64_t)exponents) - exponents / 2);
        mask[i] = next() % 7 > 0;
        if (!whole && next() % 1000 == 0) w[i] = next() % 2 ? INFINITY : NAN;
    }
}

/* How samples are divided: evenly, all to the last rank, or nothing to ranks with odd numbers. */
enum { EVEN, LAST, HOLES, DIVISIONS };

static void my_samples(int division, int *begin, int *end)
{
    const int half = (ranks + 1) / 2, of = division == HOLES ? half : ranks, at = division == HOLES ? rank / 2 : rank;
    *begin = (int)((int64_t)SAMPLES * at / of);
    *end = (int)((int64_t)SAMPLES * (at + 1) / of);
    if (division == LAST) *begin = rank == ranks - 1 ? 0 : SAMPLES, *end = SAMPLES;
    if (division == HOLES && rank % 2) *begin = *end;
}

typedef struct kind {
    int naxes;
    histo_axis axes[2];
    histo_hist_options options;
} kind;

static void fill(histo_hist *h, const kind *k, int begin, int end)
{
    for (int64_t b = 0; b < k->options.batch && begin < end; b++) {
        /* A batch entry takes all samples, shifted by its number; the others of the batch are masked. */
        const int64_t n = end - begin, batch = k->options.batch;
        uint8_t *masks = (uint8_t *)calloc((size_t)(n * batch), 1);
        for (int64_t i = 0; i < n; i++)
            masks[b * n + i] = mask[(begin + i + b) % SAMPLES];
        histo_view views[2] = {{x + begin, HISTO_F64, 2, 1, {batch, n}, {0, 8}},
                               {y + begin, HISTO_F64, 2, 1, {batch, n}, {0, 8}}};
        histo_view weights = {w + begin, HISTO_F64, 2, 1, {batch, n}, {0, 8}};
        histo_view masked = {masks, HISTO_U8, 2, 1, {batch, n}, {n, 1}};
        histo_fill_options options = {.mask = &masked};
        if (k->options.weighting != HISTO_UNWEIGHTED) options.weights = &weights;
        OK(histo_hist_fill(h, views, &options));
        free(masks);
    }
}

static histo_hist *make(const kind *k, int begin, int end)
{
    histo_hist *h = NULL;
    OK(histo_hist_create(&h, k->naxes, k->axes, &k->options));
    fill(h, k, begin, end);
    return h;
}

static bool same(const histo_hist *a, const histo_hist *b)
{
    void *da, *db;
    size_t na, nb;
    OK(histo_hist_save(a, HISTO_BINARY, NULL, &da, &na));
    OK(histo_hist_save(b, HISTO_BINARY, NULL, &db, &nb));
    const bool equal = na == nb && memcmp(da, db, na) == 0;
    histo_free(da);
    histo_free(db);
    return equal;
}

static void check_part(const histo_hist *h, const histo_hist *whole, int64_t begin, int64_t end)
{
    const histo_word_layout counts = {{0}};
    const int64_t size = histo_hist_size(h, HISTO_FLOW), n = end - begin;
    uint64_t *mine = (uint64_t *)malloc((size_t)(n + 1) * 8), *all = (uint64_t *)malloc((size_t)size * 8);
    CHECK(begin >= 0 && begin <= end && end <= size);
    OK(histo_hist_read_words(h, &counts, begin, n, mine));
    OK(histo_hist_read_counts(whole, HISTO_FLOW, all, size, NULL));
    CHECK(memcmp(mine, all + begin, (size_t)n * 8) == 0);
    free(mine);
    free(all);
}

static void check_kind(const kind *k, int division)
{
    const bool fast = k->options.weighting == HISTO_WEIGHT_FAST || k->options.weighting == HISTO_WEIGHT_FAST_SUM;
    int begin, end;
    make_samples(fast, k->axes[0].bins < 1000 ? 1900 : 60);
    my_samples(division, &begin, &end);
    histo_hist *whole = make(k, 0, 0), *before = make(k, begin, end), *h = NULL;
    for (int r = 0; r < ranks; r++) {
        const int mine = rank;
        rank = r;
        my_samples(division, &begin, &end);
        rank = mine;
        fill(whole, k, begin, end);
    }
    const int roots[3] = {0, ranks - 1, HISTO_MPI_ALL};
    for (int i = 0; i < 3; i++) {
        OK(histo_hist_clone(before, &h));
        OK(histo_mpi_reduce(h, roots[i], MPI_COMM_WORLD));
        CHECK(same(h, roots[i] == HISTO_MPI_ALL || roots[i] == rank ? whole : before));
        histo_hist_destroy(h);
    }
    OK(histo_hist_clone(before, &h));
    int64_t first = -1, last = -1;
    if (k->options.storage == HISTO_SPARSE) {
        CHECK(histo_mpi_scatter(h, MPI_COMM_WORLD, &first, &last) == HISTO_UNSUPPORTED);
        CHECK(same(h, before));
    } else {
        OK(histo_mpi_scatter(h, MPI_COMM_WORLD, &first, &last));
        check_part(h, whole, first, last);
        OK(histo_mpi_reduce(h, 0, MPI_COMM_WORLD));
        CHECK(rank || same(h, whole));
    }
    histo_hist_destroy(h);
    histo_hist_destroy(whole);
    histo_hist_destroy(before);
}

/* In every way, or in one where many ranks would take long. */
static void check_divisions(const kind *k, int turn)
{
    const bool all = ranks < 4 && k->axes[0].bins < 1000;
    for (int division = 0; division < DIVISIONS; division++)
        if (all || division == turn % DIVISIONS) check_kind(k, division);
}

/* Every rank says the same. */
static void check_refused(histo_status status, histo_status wanted, const char *words)
{
    char mine[HISTO_MPI_TEXT] = "", first[HISTO_MPI_TEXT];
    CHECK(status == wanted);
    snprintf(mine, sizeof mine, "%s", histo_last_error());
    memcpy(first, mine, sizeof first);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK(strcmp(mine, first) == 0);
    CHECK(strstr(mine, words) != NULL);
}

static void check_refusals(void)
{
    const int odd = ranks - 1; /* the rank that is unlike the others */
    double edges[5] = {0, 0.25, 0.5, 0.75, 1};
    if (rank == odd) edges[2] = nextafter(0.5, 1);
    kind k = {1, {histo_axis_variable(4, edges)}, {.batch = 1}};
    make_samples(false, 60);
    histo_hist *h = make(&k, 0, 100), *before = NULL;
    int64_t begin, end;
    OK(histo_hist_clone(h, &before));
    if (ranks > 1) {
        check_refused(histo_mpi_reduce(h, 0, MPI_COMM_WORLD), HISTO_INVALID, "differ");
        check_refused(histo_mpi_scatter(h, MPI_COMM_WORLD, &begin, &end), HISTO_INVALID, "differ");
        check_refused(histo_mpi_reduce(h, rank == odd ? 0 : HISTO_MPI_ALL, MPI_COMM_WORLD), HISTO_INVALID, "roots");
        CHECK(same(h, before));
    }
    check_refused(histo_mpi_reduce(h, ranks, MPI_COMM_WORLD), HISTO_INVALID, "not a rank");
    check_refused(histo_mpi_reduce(rank == odd ? NULL : h, 0, MPI_COMM_WORLD), HISTO_INVALID, "NULL");
    check_refused(histo_mpi_scatter(h, MPI_COMM_WORLD, rank == odd ? NULL : &begin, &end), HISTO_INVALID, "NULL");
    histo_stats stats = {0};
    check_refused(histo_mpi_stats(rank == odd ? NULL : &stats, MPI_COMM_WORLD), HISTO_INVALID, "NULL");
    CHECK(same(h, before));
    histo_hist_destroy(h);
    histo_hist_destroy(before);
}

/* Counts of all ranks that add up to 2^64 or more. */
static void check_totals(void)
{
    const histo_axis axis = histo_axis_integer(0, 3);
    for (int storage = HISTO_DENSE; storage <= HISTO_SPARSE && ranks > 1; storage++) {
        const histo_hist_options options = {.storage = (histo_storage)storage};
        const uint64_t written[3] = {1, UINT64_MAX / (uint64_t)ranks, 0};
        uint64_t counts[3];
        int64_t begin, end;
        histo_hist *h = NULL;
        OK(histo_hist_create(&h, 1, &axis, &options));
        OK(histo_hist_write(h, HISTO_BINS, written, NULL, NULL, 3, NULL));
        check_refused(histo_mpi_reduce(h, HISTO_MPI_ALL, MPI_COMM_WORLD), HISTO_INVALID, "2^64");
        check_refused(histo_mpi_reduce(h, 0, MPI_COMM_WORLD), HISTO_INVALID, "2^64");
        if (storage == HISTO_DENSE)
            check_refused(histo_mpi_scatter(h, MPI_COMM_WORLD, &begin, &end), HISTO_INVALID, "2^64");
        OK(histo_hist_read_counts(h, HISTO_BINS, counts, 3, NULL));
        CHECK(memcmp(counts, written, sizeof counts) == 0);
        histo_hist_destroy(h);
    }
}

static void check_stats(void)
{
    int begin, end;
    make_samples(true, 60);
    for (int division = 0; division < DIVISIONS; division++) {
        my_samples(division, &begin, &end);
        histo_stats stats = {0}, whole = {0}, first;
        const histo_view mine = histo_view_1d(w + begin, HISTO_F64, end - begin),
                         all = histo_view_1d(w, HISTO_F64, SAMPLES);
        OK(histo_stats_add(&stats, &mine, NULL));
        OK(histo_stats_add(&whole, &all, NULL));
        OK(histo_mpi_stats(&stats, MPI_COMM_WORLD));
        first = stats;
        MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
        CHECK(memcmp(&first, &stats, sizeof stats) == 0);
        if (division == HOLES) continue; /* does not have all */
        CHECK(stats.samples == whole.samples && stats.min == whole.min && stats.max == whole.max);
        CHECK(fabs(stats.mean - whole.mean) <= 1e-10 && fabs(stats.m2 / whole.m2 - 1) < 1e-12);
    }
}

static void check_survey(void)
{
    const histo_survey_options kinds[] = {{.rule = HISTO_RULE_AUTO},
                                          {.bins = 10},
                                          {.range = HISTO_RANGE_PERCENTILE, .lo = 2, .hi = 95, .rule = HISTO_RULE_FD},
                                          {.rule = HISTO_RULE_STURGES}};
    make_samples(false, 60);
    for (int i = 0; i < 4 * 2; i++) {
        int begin, end;
        const int division = i % 2 ? LAST : EVEN;
        histo_survey_options options = kinds[i / 2];
        histo_axis whole, axis;
        const histo_view all = histo_view_1d(y, HISTO_F64, SAMPLES);
        OK(histo_axis_from_data(&all, NULL, &options, &whole));
        my_samples(division, &begin, &end);
        const histo_view mine = histo_view_1d(y + begin, HISTO_F64, end - begin);
        histo_survey *survey = NULL;
        options.in_parts = true;
        OK(histo_survey_create(&survey, HISTO_F64, &options));
        bool more;
        while (histo_survey_next_pass(survey, &more) == HISTO_OK && more) {
            OK(histo_survey_add(survey, &mine, NULL));
            OK(histo_mpi_survey(survey, MPI_COMM_WORLD));
        }
        OK(histo_survey_axis(survey, &axis));
        CHECK(axis.bins == whole.bins && axis.lo == whole.lo && axis.hi == whole.hi);
        histo_survey_destroy(survey);
    }
    histo_survey *survey = NULL;
    OK(histo_survey_create(&survey, HISTO_F64, &(histo_survey_options){.bins = 3, .in_parts = rank != ranks - 1}));
    bool more;
    OK(histo_survey_next_pass(survey, &more));
    if (ranks > 1) check_refused(histo_mpi_survey(survey, MPI_COMM_WORLD), HISTO_INVALID, "in_parts");
    histo_survey_destroy(survey);
}

int main(int argc, char **argv)
{

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    OK(histo_set_threads(1));
    const histo_axis few = histo_axis_regular(17, 0, 1), log = histo_axis_log(9, 1, 10);
    const histo_axis many = histo_axis_regular(100000, 0, 1), vast = histo_axis_regular(1 << 20, 0, 10);
    const histo_weighting weightings[] = {HISTO_UNWEIGHTED, HISTO_WEIGHT_FAST, HISTO_WEIGHT_FAST_SUM,
                                          HISTO_WEIGHT_REPRODUCIBLE, HISTO_WEIGHT_REPRODUCIBLE_SUM};
    for (int i = 0; i < 5; i++) {
        const kind kinds[] = {{2, {few, log}, {.batch = 1, .weighting = weightings[i]}},
                              {1, {few}, {.batch = 3, .weighting = weightings[i]}},
                              {1, {many}, {.batch = 1, .weighting = weightings[i]}}};
        for (int k = 0; k < 3; k++)
            check_divisions(&kinds[k], i + k);
    }
    const kind sparse[] = {{2, {vast, vast}, {.batch = 1, .storage = HISTO_SPARSE}},
                           {2, {few, log}, {.batch = 3, .storage = HISTO_SPARSE}}};
    for (int k = 0; k < 2; k++)
        check_divisions(&sparse[k], k);
    check_refusals();
    check_totals();
    check_stats();
    check_survey();
    if (rank == 0) printf("%d ranks: %d checks on each\n", ranks, checks);
    MPI_Finalize();
    return 0;
}
