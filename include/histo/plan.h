/* Plans: which strategy counts, and why; counting in one call; wisdom; pairs of images. Include histo/histo.h. */
#ifndef HISTO_PLAN_H
#define HISTO_PLAN_H

#include <histo/hist.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Plans: which strategy, and why ------------------------------------------------------------------- */

/* A strategy is one algorithm on one backend. */
typedef struct histo_strategy_info {
    const char *backend; /* "cpu" or "cuda" */
    const char *name;
    const char *summary;
    const char *limits;    /* what it can count: "everything", or "one axis, without weights", … */
    const char *source;    /* where the algorithm comes from: a paper */
    histo_storage storage; /* how the histograms that it fills are stored */
    uint64_t reserved[4];
} histo_strategy_info;

/* The number of strategies of this build. */
HISTO_API int histo_strategy_count(void);
/* Describe strategy i, 0 … histo_strategy_count() - 1; HISTO_INVALID for any other. The texts live as long as the
 * process. */
HISTO_API histo_status histo_strategy_describe(int i, histo_strategy_info *info);

typedef struct histo_plan histo_plan;

enum histo_effort HISTO_ENUM_BASE {
    /* Choose by wisdom if there is any, else by the cost model. */
    HISTO_ESTIMATE = 0,
    /* Time all candidates that are not hopeless on the given samples, and remember the winner of each device as wisdom;
     * for page-locked samples also GPUs and the CPU together, each for a part. */
    HISTO_MEASURE,
    /* As HISTO_ESTIMATE; and where a kernel made for exactly these samples is faster than those in the library, the
     * first fill of each layout compiles it and waits, about a second. Fills planned with HISTO_MEASURE do so, too.
     * Those with HISTO_ESTIMATE use a kernel that is in memory or in the kernel cache. Without it, they compile one and
     * wait only after 2^32 samples of a layout. */
    HISTO_COMPILE
};
typedef HISTO_ENUM(histo_effort) histo_effort;

typedef struct histo_plan_options {
    histo_effort effort;
    histo_device device;  /* default HISTO_DEVICE_AUTO */
    const char *strategy; /* use this one; default: the environment variable HISTO_STRATEGY, else the plan chooses */
    const char *params;   /* the strategy's parameters: "name=value,…"; an unknown name is HISTO_INVALID */
    int threads;          /* CPU threads; default: those of the fill's options, else histo_threads() */
    /* With HISTO_MEASURE: time other values of the parameters, too, of the fastest strategy of each device or of the
     * one asked for, one after the other; the fastest are used and remembered. */
    bool vary;
    uint64_t reserved[8];
} histo_plan_options;

/* Plan fills of hist with samples like these: the same dtypes, the same choice of weights, mask and where, and about
 * the same size; addresses, shape and strides may differ from fill to fill. HISTO_MEASURE reads the samples.
 * HISTO_ESTIMATE may read a few samples in a GPU's memory, to see how they are distributed, on fill->stream, and waits
 * for that unless the stream is being captured. The plan keeps no reference to hist: it serves any histogram with equal
 * axes, batch, weighting and storage. Nothing is compiled before the first fill. The caller destroys it. */
HISTO_API histo_status histo_plan_create(histo_plan **plan, const histo_hist *hist, const histo_view *views,
                                         const histo_fill_options *fill, const histo_plan_options *options);
/* Destroy a plan; NULL is allowed. */
HISTO_API void histo_plan_destroy(histo_plan *plan);

/* histo_hist_fill with this plan. Several threads may fill different histograms with the same plan concurrently. */
HISTO_API histo_status histo_plan_fill(const histo_plan *plan, histo_hist *hist, const histo_view *views,
                                       const histo_fill_options *options);

/* histo_plan_fill, and then histo_hist_read_counts on the stream of the fill; that of `read` is not used. Samples and
 * counts in the memory of one GPU may take a single kernel: the first fill does not, nor do cumulative counts. If this
 * fails, the fill may have succeeded. */
HISTO_API histo_status histo_plan_fill_read(const histo_plan *plan, histo_hist *hist, const histo_view *views,
                                            const histo_fill_options *options, histo_slots slots, void *counts,
                                            int64_t size, const histo_read_options *read);

/* The name of the plan's strategy, such as "cpu/privatized"; it lives as long as the plan. If the plan splits fills
 * between CPU and GPU, the GPU's strategy. */
HISTO_API const char *histo_plan_strategy(const histo_plan *plan);

/* The number of CPU threads that the plan may use. */
HISTO_API int histo_plan_threads(const histo_plan *plan);

/* *fill = the bytes of host memory, at most, that a fill with this plan of as many samples as planned takes until it
 * returns, and *histogram those of the histogram's counters. A fill that replaces what the
 * CPU has counted takes both. Entries of a sparse histogram, 16 bytes each, and reproducible sums, which depend on the
 * weights, come on top. Page-locked memory for transfers to a GPU is not included. */
HISTO_API histo_status histo_plan_memory(const histo_plan *plan, size_t *fill, size_t *histogram);

/* Explain the choice in lines of text: the strategy, its predicted time and bound, and why the others were not chosen.
 * After a fill on a GPU, also whether a compiled kernel counted, or why none did, where the library's own are slow.
 * Writes at most capacity bytes including a NUL and returns the length of the whole text, as snprintf does. */
HISTO_API size_t histo_plan_explain(const histo_plan *plan, char *text, size_t capacity);

/* The plan that histo_hist_fill last used for hist, which owns it until its next fill; NULL before the first fill.
 * Small fills have none, as making one takes longer than counting a few samples: this then makes the plan that
 * describes what was done, or returns NULL if there is no memory. */
HISTO_API const histo_plan *histo_hist_last_plan(const histo_hist *hist);

/* ---- Counting in one call ----------------------------------------------------------------------------- */

typedef struct histo_count_options {
    histo_slots slots;         /* the slots to write; default HISTO_BINS */
    histo_dtype dtype;         /* what to write, as in histo_read_options: HISTO_U64 by default, HISTO_F64 for sums */
    histo_weighting weighting; /* how weights are summed; default HISTO_WEIGHT_FAST_SUM if the fill has weights */
    const histo_plan_options *plan; /* as for histo_plan_create; NULL: as histo_hist_fill */
    uint64_t reserved[8];
} histo_count_options;

/* Count in one call, without a histogram to create, read and destroy: writes to out[size] what histo_hist_read_counts
 * would give or, for weighted samples, histo_hist_read_weights (without sums of squares). The batch is that of the
 * views' batch dimensions; with offsets it follows from size. Samples and `out` may be in a GPU's memory: `out` is then
 * written on fill->stream. tally may be NULL. What is in `out` after a failure is undefined. Few samples are counted
 * straight into `out`, without a plan unless options->plan is given.
 *
 *     uint64_t counts[10];
 *     histo_axis axis = histo_axis_closed(histo_axis_regular(10, 0.0, 1.0));
 *     histo_view samples = histo_view_1d(data, HISTO_F64, n);
 *     histo_count(1, &axis, &samples, NULL, counts, 10, NULL, NULL);
 */
HISTO_API histo_status histo_count(int naxes, const histo_axis *axes, const histo_view *views,
                                   const histo_fill_options *fill, void *out, int64_t size, histo_tally *tally,
                                   const histo_count_options *options);

/* ---- Machine: wisdom, the CUDA backend and its cache -------------------------------------------------- */

/* Wisdom: what HISTO_MEASURE found on this machine, shared by all threads of the process. Saving writes lines of text
 * and replaces the file atomically; loading adds to what is known and skips lines with unknown strategies. */
HISTO_API histo_status histo_wisdom_save(const char *path);
HISTO_API histo_status histo_wisdom_load(const char *path);
HISTO_API void histo_wisdom_forget(void);

/* Load the CUDA backend, which is a file of its own, libhisto-cuda.so, so that programs for the CPU are small. Only
 * programs that have it elsewhere need this call: it is loaded by itself from beside the library, or from histo-VERSION
 * in the directory of libraries, when a plan may use a GPU or samples may be in the memory of one. path: the file;
 * NULL: look there. Any thread may call it; the backend remains loaded, and further calls do nothing, as do all where
 * it is linked in (libhisto.a of a build with CUDA). Machines without a driver can load it, too. HISTO_UNSUPPORTED if
 * there is none, or if it is not of this very build of the library; HISTO_INVALID for an empty path. */
HISTO_API histo_status histo_backend_load(const char *path);

/* The kernel cache: a directory of kernels that were compiled for a GPU while the program ran (which needs NVIDIA's
 * NVRTC library), so that the next process need not compile them. There is none until this sets one, for all threads
 * of the process; set it before the first fill. The path is copied; a relative one starts from the directory that is
 * current now. The directory is made when a kernel is first written, for this user only. It holds at most 64 MiB: the
 * least recently used kernels are deleted. Nothing is read from a directory or file that belongs to another user or
 * that others may write. Damaged files are replaced. A cache that cannot be read or written is not an error: the fill
 * compiles the kernel, or uses another. NULL: no cache from now on. HISTO_INVALID for an empty path. */
HISTO_API histo_status histo_kernel_cache(const char *directory);

/* Describe the machine in lines of text: CPU, instruction set, threads, devices. Writes and returns as
 * histo_plan_explain does. */
HISTO_API size_t histo_machine_describe(char *text, size_t capacity);

/* ---- Pairs: samples computed from several images ------------------------------------------------------ */

enum histo_pairing HISTO_ENUM_BASE {
    HISTO_PAIRS_RING = 1, /* each image with the next, the last with the first: n samples a pixel */
    HISTO_PAIRS_APART     /* 0 with 1, 2 with 3, …; n is even: n / 2 samples a pixel */
};
typedef HISTO_ENUM(histo_pairing) histo_pairing;

typedef struct histo_pairs {
    histo_pairing pairing;
    bool relative; /* differences are divided by the mean */
    uint64_t reserved[8];
} histo_pairs;

/* Count the differences of pairs of images against the mean of all, for a stack of n images of one scene (dies of a
 * wafer, frames of a video); the samples are computed on the fly. The histogram has two axes. The first dimension of
 * the stack, of HISTO_U8 or HISTO_U16, after its batch dimensions has the n images, from 2 to HISTO_MAX_IMAGES. At each
 * pixel, with the values p_0 … p_(n-1), every pair (i, j) gives one sample:
 *
 *   - On axis 0 the difference p_i - p_j, exactly; the axis sets the scale: histo_axis_regular(4096, -256, 256) has
 *     steps of 1/8. With `relative` the difference divided by the mean, n * (p_i - p_j) / (p_0 + … + p_(n-1)), as
 *     HISTO_F32 rounded once, and 0 where all are 0. Images of u8 have only 511 differences, but many more of these,
 *     which use bins of every width.
 *   - On axis 1 the mean, rounded to an integer, halves up: floor((p_0 + … + p_(n-1) + floor(n / 2)) / n).
 *
 * The difference comes first because most differences are small, so that the bins in use are neighbours in memory.
 * Options are those of histo_hist_fill; weights, mask, where, offsets and weighted histograms are not supported. */
HISTO_API histo_status histo_hist_fill_pairs(histo_hist *hist, const histo_view *stack, const histo_pairs *pairs,
                                             const histo_fill_options *options);

/* A plan for such fills: histo_plan_fill with it takes the stack in place of the views. */
HISTO_API histo_status histo_plan_create_pairs(histo_plan **plan, const histo_hist *hist, const histo_view *stack,
                                               const histo_pairs *pairs, const histo_fill_options *fill,
                                               const histo_plan_options *options);

#ifdef __cplusplus
}
#endif

#endif
