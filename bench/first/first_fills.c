/* How long the first fill in a process takes: each kind of histogram on a GPU, in new processes, which have made their
 * CUDA context before, as programs have that put samples there. What loads the library's backend and its kernels
 * counts.
 *
 *     first_fills [REPEAT]      a table, of medians of so many processes
 *     first_fills --in KIND…    in this process: the milliseconds of each kind, in this order
 *
 * It is linked to the shared library, as programs are, and calls the driver itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "histo/histo.h"

enum { N = 1 << 22, MANY = 1 << 16, FEW = 1000, MAX_AXES = 2, MOST_REPEAT = 101, MOST_KINDS = 16 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "first_fills: %s: %s\n", what, why);
    return 1;
}

/* ---- The driver ---- */

/* Make the primary context of the first GPU, and copy there. */
static int to_gpu(const void *from, size_t bytes, void **there)
{
    static void *driver;
    if (!driver) driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) return fail("libcuda.so.1", "there is no driver");
    int (*const start)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
    int (*const retain)(void **, int) = (int (*)(void **, int))dlsym(driver, "cuDevicePrimaryCtxRetain");
    int (*const set)(void *) = (int (*)(void *))dlsym(driver, "cuCtxSetCurrent");
    int (*const allocate)(void **, size_t) = (int (*)(void **, size_t))dlsym(driver, "cuMemAlloc_v2");
    int (*const copy)(void *, const void *, size_t) =
        (int (*)(void *, const void *, size_t))dlsym(driver, "cuMemcpyHtoD_v2");
    static void *context;
    if (!start || !retain || !set || !allocate || !copy || start(0) != 0) return fail("CUDA", "it does not start");
    if ((!context && retain(&context, 0) != 0) || set(context) != 0) return fail("CUDA", "it makes no context");
    return allocate(there, bytes) == 0 && copy(*there, from, bytes) == 0 ? 0 : fail("CUDA", "it takes no samples");
}

/* ---- Kinds ---- */

enum { PLAIN = 0, WEIGHTED = 1, MASKED = 2, SPARSE = 4, HOST = 8 };

typedef struct kind {
    const char *word, *name;
    histo_dtype dtype;
    int axes;
    int64_t n;
    int how;
} kind;

static const kind kinds[] = {
    {"u8", "u8, 256 bins", HISTO_U8, 1, N, PLAIN},
    {"u16", "u16, 65,536 bins", HISTO_U16, 1, N, PLAIN},
    {"f32", "f32, 100 regular bins", HISTO_F32, 1, N, PLAIN},
    {"f64", "f64, 100 regular bins", HISTO_F64, 1, N, PLAIN},
    {"few", "f32, 100 regular bins, 1000 samples", HISTO_F32, 1, FEW, PLAIN},
    {"masked", "f32, 100 regular bins, a mask of u8", HISTO_F32, 1, N, MASKED},
    {"weighted", "f32, 100 regular bins, weights of f32", HISTO_F32, 1, N, WEIGHTED},
    {"joint", "two of f32, 64 × 64 regular bins", HISTO_F32, 2, N, PLAIN},
    {"sparse", "two of f32, sparse, 65,536 samples", HISTO_F32, 2, MANY, SPARSE},
    {"host", "u8, 256 bins, in pageable host memory", HISTO_U8, 1, N, HOST},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool has(const kind *k, int how)
{
    return k->how & how;
}

static const kind *kind_of(const char *word)
{
    for (int k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].word, word) == 0) return &kinds[k];
    return NULL;
}

static histo_axis axis_of(const kind *k)
{
    enum { BYTES = 256, WORDS = 65536, REGULAR = 100, JOINT = 64, HUGE_AXIS = 100000 };
    if (k->dtype == HISTO_U8) return histo_axis_integer(0, BYTES);
    if (k->dtype == HISTO_U16) return histo_axis_integer(0, WORDS);
    return histo_axis_regular(has(k, SPARSE) ? HUGE_AXIS : k->axes > 1 ? JOINT : REGULAR, 0, 1);
}

/* Uniform samples, of N elements of any type. */
static void make(const kind *k, int a, void *samples)
{
    uint32_t state = 12345 + (uint32_t)a;
    for (int i = 0; i < N; i++) {
        state = state * 1664525 + 1013904223;
        const uint32_t high = state >> 8;
        if (k->dtype == HISTO_U8) ((uint8_t *)samples)[i] = (uint8_t)(high >> 16);
        if (k->dtype == HISTO_U16) ((uint16_t *)samples)[i] = (uint16_t)(high >> 8);
        if (k->dtype == HISTO_F32) ((float *)samples)[i] = (float)high * 0x1p-24F;
        if (k->dtype == HISTO_F64) ((double *)samples)[i] = high * 0x1p-24;
    }
}

/* ---- In this process ---- */

typedef struct times {
    double load, create, fill, read;
} times;

/* Load the backend, unless it is, create, fill, read and destroy. */
static int count_once(const kind *k, const histo_view *views, const histo_fill_options *options, times *ms)
{
    static uint64_t counts[1 << 16];
    static double sums[1 << 16];
    const histo_axis axes[MAX_AXES] = {axis_of(k), axis_of(k)};
    const histo_hist_options how = {.weighting = has(k, WEIGHTED) ? HISTO_WEIGHT_FAST : HISTO_UNWEIGHTED,
                                    .storage = has(k, SPARSE) ? HISTO_SPARSE : HISTO_DENSE};
    int64_t bins = 1, occupied = 0;
    for (int a = 0; a < k->axes; a++)
        bins *= axes[a].bins;
    histo_hist *hist;
    const double begun = now_ms();
    histo_status status = histo_backend_load(NULL);
    const double loaded = now_ms();
    if (status == HISTO_OK) status = histo_hist_create(&hist, k->axes, axes, &how);
    const double created = now_ms();
    if (status != HISTO_OK) return fail(k->name, histo_last_error());
    status = histo_hist_fill(hist, views, options);
    const double filled = now_ms();
    if (status == HISTO_OK && has(k, SPARSE)) status = histo_hist_occupied(hist, HISTO_BINS, &occupied);
    if (status == HISTO_OK && has(k, WEIGHTED))
        status = histo_hist_read_weights(hist, HISTO_BINS, sums, NULL, bins, NULL);
    if (status == HISTO_OK && !has(k, SPARSE) && !has(k, WEIGHTED))
        status = histo_hist_read_counts(hist, HISTO_BINS, counts, bins, NULL);
    const double ended = now_ms();
    *ms = (times){loaded - begun, created - loaded, filled - created, ended - filled};
    uint64_t all = 0;
    for (int64_t b = 0; b < bins && !has(k, SPARSE); b++)
        all += has(k, WEIGHTED) ? (uint64_t)sums[b] : counts[b];
    if (status == HISTO_OK && !has(k, SPARSE) && !has(k, WEIGHTED) && all != (uint64_t)k->n)
        return fail(k->name, "it miscounts");
    histo_hist_destroy(hist);
    return status == HISTO_OK ? 0 : fail(k->name, histo_last_error());
}

static int run(const kind *k)
{
    const size_t bytes = (size_t)N * sizeof(double);
    histo_view views[MAX_AXES], mask, weights;
    histo_fill_options options = {0};
    void *there, *here = malloc(bytes);
    if (!here) return fail(k->name, "out of memory");
    for (int a = 0; a < k->axes; a++) {
        make(k, a, here);
        if (to_gpu(here, bytes, &there) != 0) return 1;
        views[a] = histo_view_1d(has(k, HOST) ? here : there, k->dtype, k->n);
    }
    if (has(k, WEIGHTED)) {
        weights = views[0];
        options.weights = &weights;
    }
    if (has(k, MASKED)) {
        memset(here, 1, N);
        if (to_gpu(here, N, &there) != 0) return 1;
        mask = histo_view_1d(there, HISTO_U8, k->n);
        options.mask = &mask;
    }
    times first, again;
    if (count_once(k, views, &options, &first) != 0 || count_once(k, views, &options, &again) != 0) return 1;
    printf("%s %.4f %.4f %.4f %.4f %.4f\n", k->word, first.load, first.create, first.fill, first.read,
           again.load + again.create + again.fill + again.read);
    free(here);
    return 0;
}

static int run_all(int n, char **words)
{
    void *there;
    if (to_gpu("", 1, &there) != 0) return 1;
    for (int i = 0; i < n; i++) {
        const kind *k = kind_of(words[i]);
        if (!k) return fail(words[i], "there is no such kind");
        if (run(k) != 0) return 1;
    }
    return 0;
}

/* ---- In new processes ---- */

typedef struct figures {
    double load, create, fill, read, again;
} figures;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *of, int n)
{
    qsort(of, (size_t)n, sizeof *of, compare);
    return of[n / 2];
}

/* Count the kind in a new process, first of all or after another. */
static int measure(const char *before, const kind *k, figures *f)
{
    char line[256], word[64];
    const char *const arguments[] = {"first_fills", "--in", before ? before : k->word, before ? k->word : NULL, NULL};
    int ends[2], status = -1;
    bool found = false;
    if (pipe(ends) != 0) return fail("pipe", strerror(errno));
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv("/proc/self/exe", (char **)arguments);
        _exit(1);
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    while (pid > 0 && from && fgets(line, sizeof line, from))
        found =
            sscanf(line, "%63s %lf %lf %lf %lf %lf", word, &f->load, &f->create, &f->fill, &f->read, &f->again) == 6;
    if (from) fclose(from);
    if (pid > 0) waitpid(pid, &status, 0);
    return status == 0 && found ? 0 : 1;
}

static double sum(const figures *f)
{
    return f->load + f->create + f->fill + f->read;
}

static int print_table(int repeat)
{
    printf("%-46s %9s %9s %9s %9s %9s %9s\n", "milliseconds, medians", "first", "load", "fill", "read", "later",
           "again");
    for (int k = 0; k < KINDS; k++) {
        double all[MOST_REPEAT], load[MOST_REPEAT], fill[MOST_REPEAT], read[MOST_REPEAT], later[MOST_REPEAT],
            again[MOST_REPEAT];
        for (int r = 0; r < repeat; r++) {
            figures first, second;
            if (measure(NULL, &kinds[k], &first) != 0 || measure(kinds[!k].word, &kinds[k], &second) != 0) return 1;
            all[r] = sum(&first);
            load[r] = first.load;
            fill[r] = first.create + first.fill;
            read[r] = first.read;
            later[r] = sum(&second);
            again[r] = second.again;
        }
        printf("%-46s %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f\n", kinds[k].name, median(all, repeat), median(load, repeat),
               median(fill, repeat), median(read, repeat), median(later, repeat), median(again, repeat));
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--in") == 0) return run_all(argc - 2, argv + 2);
    const int repeat = argc > 1 ? atoi(argv[1]) : 5;
    if (repeat < 1 || repeat > MOST_REPEAT) return fail("REPEAT", "give 1 to 101");
    return print_table(repeat);
}
