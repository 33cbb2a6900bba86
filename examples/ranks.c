/* A histogram of samples that MPI ranks have: mpicc ranks.c -lhisto -o ranks && mpirun -n 4 ./ranks. Any number of
 * ranks prints the same, sums of weights to the last bit. */
#include <histo/mpi.h>

#include "must.h"

enum { SAMPLES = 100000 };

/* Sample and weight i of all. */
static double sample(int64_t i)
{
    return (double)(i * 7919 % 10007) / 10007;
}

static double weight(int64_t i)
{
    return 1 / (double)(1 + i % 97);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    static double x[SAMPLES], w[SAMPLES];
    int64_t n = 0;
    for (int64_t i = rank; i < SAMPLES; i += ranks, n++) {
        x[n] = sample(i);
        w[n] = weight(i);
    }
    const histo_axis axis = histo_axis_regular(4, 0, 1);
    const histo_view samples = histo_view_1d(x, HISTO_F64, n), weights = histo_view_1d(w, HISTO_F64, n);
    histo_hist_options reproducible = HISTO_DEFAULTS;
    reproducible.weighting = HISTO_WEIGHT_REPRODUCIBLE_SUM;
    histo_fill_options weighted = HISTO_DEFAULTS;
    weighted.weights = &weights;
    histo_hist *h;
    must(histo_hist_create(&h, 1, &axis, &reproducible));
    must(histo_hist_fill(h, &samples, &weighted));
    must(histo_mpi_reduce(h, 0, MPI_COMM_WORLD));

    uint64_t counts[4];
    double sums[4];
    must(histo_hist_read_counts(h, HISTO_BINS, counts, 4, NULL));
    must(histo_hist_read_weights(h, HISTO_BINS, sums, NULL, 4, NULL));
    for (int i = 0; i < 4 && rank == 0; i++)
        printf("[%.2f, %.2f)  %llu samples, sum of weights %.17g\n", i * 0.25, (i + 1) * 0.25,
               (unsigned long long)counts[i], sums[i]);
    histo_hist_destroy(h);
    MPI_Finalize();
    return 0;
}
