/* histo_mpi_reduce beside MPI_Reduce of the same bytes in one message, in turn, for numbers of bins; the least of many
 * runs. Run by script/bench mpi. */
#include <histo/mpi.h>
#include <malloc.h>

enum { RUNS = 30 };

static void must(histo_status status)
{
    if (status == HISTO_OK) return;
    fprintf(stderr, "%s\n", histo_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* A histogram with samples in all bins and, of weights, digits in four windows. */
static histo_hist *make(int64_t bins, histo_weighting weighting)
{
    const histo_axis axis = histo_axis_integer(0, bins);
    histo_hist *h;
    must(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.weighting = weighting}));
    double *x = malloc((size_t)bins * sizeof *x), *w = malloc((size_t)bins * sizeof *w);
    for (int64_t i = 0; i < bins; i++) {
        x[i] = (double)i;
        w[i] = (i % 2 ? 1e10 : -1e-10) / (double)(i + 3);
    }
    const histo_view samples = histo_view_1d(x, HISTO_F64, bins), weights = histo_view_1d(w, HISTO_F64, bins);
    histo_fill_options options = {.weights = weighting ? &weights : NULL};
    must(histo_hist_fill(h, &samples, &options));
    free(x);
    free(w);
    return h;
}

/* Milliseconds of the slowest rank, least of all runs. */
static void note(double began, double *shortest)
{
    double mine = (MPI_Wtime() - began) * 1e3, slowest;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (slowest < *shortest) *shortest = slowest;
}

static void measure(int64_t bins, histo_weighting weighting, const char *name, int rank)
{
    histo_hist *first = make(bins, weighting), *h;
    histo_word_layout layout;
    int64_t integers, doubles;
    must(histo_hist_word_layout(first, &layout));
    must(histo_hist_count_words(first, &layout, &integers, &doubles));
    const int64_t n = integers + doubles;
    uint64_t *from = malloc((size_t)n * sizeof *from), *to = calloc((size_t)n, sizeof *to);
    must(histo_hist_read_words(first, &layout, 0, n, from));
    double bytes = 1e9, reduce = 1e9;
    for (int run = 0; run < RUNS; run++) {
        must(histo_hist_clone(first, &h));
        MPI_Barrier(MPI_COMM_WORLD);
        double began = MPI_Wtime();
        MPI_Reduce(from, to, (int)n, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
        note(began, &bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        began = MPI_Wtime();
        must(histo_mpi_reduce(h, 0, MPI_COMM_WORLD));
        note(began, &reduce);
        histo_hist_destroy(h);
    }
    if (rank == 0)
        printf("%-16s %10lld %10.1f %12.2f %12.2f %8.2f\n", name, (long long)bins, (double)n * 8e-6, bytes, reduce,
               reduce / bytes);
    free(from);
    free(to);
    histo_hist_destroy(first);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    /* Freed memory stays with the process. Otherwise page faults in MPI's own buffers, which are largest for one large
     * message, take most of the time or none of it, depending on what happens to have been allocated before. */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) {
        printf("%d ranks; milliseconds\n", ranks);
        printf("%-16s %10s %10s %12s %12s %8s\n", "weights", "bins", "MB", "MPI_Reduce", "histo", "ratio");
    }
    for (int bits = 12; bits <= 22; bits += 2)
        measure(INT64_C(1) << bits, HISTO_UNWEIGHTED, "none", rank);
    measure(1 << 20, HISTO_WEIGHT_FAST, "fast", rank);
    measure(1 << 20, HISTO_WEIGHT_REPRODUCIBLE_SUM, "reproducible", rank);
    MPI_Finalize();
    return 0;
}
