/* Plans: which strategy counts, and why; one-call counting; wisdom; pairs of images. Include histo/histo.h. */
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
    const char *limits;    /* what it can count: "everything", "one axis, without weights", … */
    const char *source;    /* the origin of the algorithm, such as a paper */
    histo_storage storage; /* the storage of the histograms that it fills */
    uint64_t reserved[4];
} histo_strategy_info;

/* The number of strategies of this build. */
HISTO_API int histo_strategy_count(void);
/* Describe strategy i, 0 … histo_strategy_count() - 1; HISTO_INVALID for any other i. The texts live as long as the
 * process. */
HISTO_API histo_status histo_strategy_describe(int i, histo_strategy_info *info);

typedef struct histo_plan histo_plan;

enum histo_effort HISTO_ENUM_BASE {
    /* Choose by wisdom if there is any, else by the cost model. */
    HISTO_ESTIMATE = 0,
    /* Time all candidates that are not hopeless on the given samples, and remember the winner of each device as wisdom;
     * for page-locked samples, also GPUs and the CPU together, each for a part. */
    HISTO_MEASURE,
    /* As HISTO_ESTIMATE, but where a kernel specialised for exactly these samples is faster than those in the library,
     * the first fill of each layout compiles it and waits, about a second. Fills planned with HISTO_MEASURE do so too.
     * Those with HISTO_ESTIMATE never wait: they use a specialised kernel if it is in memory or in the kernel cache. If
     * not, a general one counts; where such fills go on, a thread compiles the other, and later fills use it. */
    HISTO_COMPILE
};
typedef HISTO_ENUM(histo_effort) histo_effort;

typedef struct histo_plan_options {
    histo_effort effort;
    histo_device device;  /* default HISTO_DEVICE_AUTO */
    const char *strategy; /* use this strategy; default: the environment variable HISTO_STRATEGY, else the plan
                           * chooses */
    const char *params;   /* the strategy's parameters: "name=value,…"; an unknown name is HISTO_INVALID */
    int threads;          /* CPU threads; default: those of the fill's options, else histo_threads() */
    /* With HISTO_MEASURE: also time other values of the parameters of the requested strategy, or else of the fastest
     * strategy of each device, one parameter after the other; the fastest values are used and remembered. */
    bool vary;
    uint64_t reserved[8];
} histo_plan_options;

/* Plan fills of hist with samples like these: the same dtypes, the same choice of weights, mask and where, and about
 * the same size; addresses, shape and strides may differ from fill to fill. HISTO_MEASURE reads the samples.
 * HISTO_ESTIMATE may read a few samples in a GPU's memory, on fill->stream, to see how they are distributed, and waits
 * for that unless the stream is being captured. The plan keeps no reference to hist: it serves any histogram with equal
 * axes, batch, weighting and storage. Nothing is compiled before the first fill. The caller destroys it. */
HISTO_API histo_status histo_plan_create(histo_plan **plan, const histo_hist *hist, const histo_view *views,
                                         const histo_fill_options *fill, const histo_plan_options *options);
/* Destroy a plan; NULL is allowed. */
HISTO_API void histo_plan_destroy(histo_plan *plan);

/* As histo_hist_fill, with this plan. Several threads may fill different histograms with the same plan concurrently. */
HISTO_API histo_status histo_plan_fill(const histo_plan *plan, histo_hist *hist, const histo_view *views,
                                       const histo_fill_options *options);

/* As histo_plan_fill followed by histo_hist_read_counts on the fill's stream; the stream in `read` is ignored. For
 * samples and counts in one GPU's memory this may take a single kernel, except for the first fill and for cumulative
 * counts. If this fails, the fill may have succeeded. */
HISTO_API histo_status histo_plan_fill_read(const histo_plan *plan, histo_hist *hist, const histo_view *views,
                                            const histo_fill_options *options, histo_slots slots, void *counts,
                                            int64_t size, const histo_read_options *read);

/* What this thread enqueues on a stream of a GPU between these two calls is one piece of work to other streams, which
 * learn of it at the end, not after each call: the host takes less time, and a kernel may begin while the one before it
 * ends. A fill, a histo_map_equalize of what it counts and a histo_map_apply are such calls. Other streams may be used
 * in between as ever. Until the end, no other thread uses the objects of these calls, the stream is not destroyed, and
 * no capture of it into a graph begins, nor of any other stream if it is the default stream; if it is being captured at
 * the beginning, the two calls do nothing. Sequences nest, and only the outermost has an effect. stream: a
 * cudaStream_t; NULL: the default stream. */
HISTO_API void histo_sequence_begin(void *stream);
HISTO_API histo_status histo_sequence_end(void);

/* The name of the plan's strategy, such as "cpu/privatized"; lives as long as the plan. If the plan splits fills
 * between CPU and GPU, this is the GPU's strategy. */
HISTO_API const char *histo_plan_strategy(const histo_plan *plan);

/* The number of CPU threads that the plan may use. */
HISTO_API int histo_plan_threads(const histo_plan *plan);

/* *fill = the most host memory, in bytes, that a fill of as many samples as planned takes until it returns; *histogram
 * = that of the histogram's counters. A fill that replaces what the CPU has counted takes both. Entries of a sparse
 * histogram, 16 bytes each, and reproducible sums, whose size depends on the weights, come on top. Page-locked memory
 * for transfers to a GPU is not included. */
HISTO_API histo_status histo_plan_memory(const histo_plan *plan, size_t *fill, size_t *histogram);

/* Explain the choice in lines of text: the strategy, its predicted time and bound, and why the others were not chosen.
 * After a fill on a GPU, also whether a compiled kernel counted or, where the library's own are slow, why none did.
 * Writes at most capacity bytes including a NUL and returns the length of the whole text, as snprintf does. */
HISTO_API size_t histo_plan_explain(const histo_plan *plan, char *text, size_t capacity);

/* The plan that histo_hist_fill last used for hist, which owns it until its next fill; NULL before the first fill.
 * Small fills have no plan, as making one takes longer than counting a few samples: this call then makes one that
 * describes what was done, or returns NULL if out of memory. */
HISTO_API const histo_plan *histo_hist_last_plan(const histo_hist *hist);

/* ---- Counting in one call ----------------------------------------------------------------------------- */

typedef struct histo_count_options {
    histo_slots slots;         /* the slots to write; default HISTO_BINS */
    histo_dtype dtype;         /* what to write, as in histo_read_options; default HISTO_U64, or HISTO_F64 for sums */
    histo_weighting weighting; /* how weights are summed; default HISTO_WEIGHT_FAST_SUM if the fill has weights */
    const histo_plan_options *plan; /* as for histo_plan_create; NULL: as histo_hist_fill */
    bool zeroed;                    /* `out` holds zeros: new memory that no sample falls into may stay untouched */
    uint64_t reserved[7];
} histo_count_options;

/* Count in one call, without creating a histogram: writes to out[size] what histo_hist_read_counts would give or, for
 * weighted samples, histo_hist_read_weights (without sums of squares). The batch is the product of the views' batch
 * dimensions; with offsets it follows from size. Samples and `out` may be in a GPU's memory: `out` is then written on
 * fill->stream. tally may be NULL. After a failure the contents of `out` are undefined. A few samples are counted
 * directly into `out`, without a plan unless options->plan is given.
 *
 *     uint64_t counts[10];
 *     histo_axis axis = histo_axis_closed(histo_axis_regular(10, 0.0, 1.0));
 *     histo_view samples = histo_view_1d(data, HISTO_F64, n);
 *     histo_count(1, &axis, &samples, NULL, counts, 10, NULL, NULL); */
HISTO_API histo_status histo_count(int naxes, const histo_axis *axes, const histo_view *views,
                                   const histo_fill_options *fill, void *out, int64_t size, histo_tally *tally,
                                   const histo_count_options *options);

/* ---- Machine: wisdom, the CUDA backend and its cache -------------------------------------------------- */

/* Wisdom: what HISTO_MEASURE found on this machine, shared by all threads of the process. Saving writes lines of text
 * and replaces the file atomically; loading adds to the known wisdom and skips lines with unknown strategies. */
HISTO_API histo_status histo_wisdom_save(const char *path);
HISTO_API histo_status histo_wisdom_load(const char *path);
HISTO_API void histo_wisdom_forget(void);

/* Load the CUDA backend, a separate file, libhisto-cuda.so, which keeps programs for the CPU small. It is loaded
 * automatically, from the library's own directory or from histo-VERSION in the library directory, when a plan may use a
 * GPU or samples may be in a GPU's memory; only programs that have it elsewhere need this call. path: the file; NULL:
 * search there. Any thread may call this; the backend stays loaded, and further calls do nothing, as do all calls where
 * it is linked in (libhisto.a of a build with CUDA). It can be loaded on machines without a driver. HISTO_UNSUPPORTED
 * if there is none, or if it is not from this very build of the library; HISTO_INVALID for an empty path. */
HISTO_API histo_status histo_backend_load(const char *path);

/* Set the kernel cache of the process: a directory that keeps kernels compiled for a GPU at run time (by NVIDIA's NVRTC
 * library) for the next process. Before the first fill; by default $HISTO_KERNEL_CACHE (empty: none), else
 * $XDG_CACHE_HOME/histo/kernels, else ~/.cache/histo/kernels, unless its base is another user's. The path is copied; a
 * relative one is resolved against the current directory now. It is created, private to this user, when a kernel is
 * first written, and holds at most 64 MiB; the least recently used are deleted. Nothing is read that another user owns
 * or may write. Damaged files are replaced. A cache that cannot be read or written is not an error: the kernel is
 * compiled, or another one counts. NULL: no cache from now on. HISTO_INVALID for an empty path. */
HISTO_API histo_status histo_kernel_cache(const char *directory);

/* Describe the machine in lines of text: CPU, instruction set, threads, devices. Buffer and return value are as for
 * histo_plan_explain. */
HISTO_API size_t histo_machine_describe(char *text, size_t capacity);

/* ---- Pairs: samples computed from several images ------------------------------------------------------ */

enum histo_pairing HISTO_ENUM_BASE {
    HISTO_PAIRS_RING = 1, /* each image with the next, the last with the first: n samples per pixel */
    HISTO_PAIRS_APART     /* 0 with 1, 2 with 3, …; n is even: n / 2 samples per pixel */
};
typedef HISTO_ENUM(histo_pairing) histo_pairing;

typedef struct histo_pairs {
    histo_pairing pairing;
    bool relative; /* divide differences by the mean */
    uint64_t reserved[8];
} histo_pairs;

/* Count the differences of pairs of images against the mean of all images, for a stack of n images of one scene (dies
 * of a wafer, frames of a video); the samples are computed on the fly. The histogram has two axes. After its batch
 * dimensions, the first dimension of the stack, of HISTO_U8 or HISTO_U16, is the n images, 2 … HISTO_MAX_IMAGES. At
 * each pixel, with the values p_0 … p_(n-1), every pair (i, j) gives one sample:
 *
 *   - On axis 0, the exact difference p_i - p_j; the axis sets the scale: histo_axis_regular(4096, -256, 256) has steps
 *     of 1/8. With `relative`, the difference divided by the mean, n * (p_i - p_j) / (p_0 + … + p_(n-1)), as HISTO_F32
 *     rounded once, and 0 where all are 0. u8 images have only 511 different differences but many more relative ones,
 *     which use bins of every width.
 *   - On axis 1, the mean, rounded to an integer, halves up: floor((p_0 + … + p_(n-1) + floor(n / 2)) / n).
 *
 * The difference is the first axis because most differences are small, so that the bins in use are close together in
 * memory. Options are those of histo_hist_fill; weights, mask, where, offsets and weighted histograms are not
 * supported. */
HISTO_API histo_status histo_hist_fill_pairs(histo_hist *hist, const histo_view *stack, const histo_pairs *pairs,
                                             const histo_fill_options *options);

/* A plan for such fills: pass the stack to histo_plan_fill in place of the views. */
HISTO_API histo_status histo_plan_create_pairs(histo_plan **plan, const histo_hist *hist, const histo_view *stack,
                                               const histo_pairs *pairs, const histo_fill_options *fill,
                                               const histo_plan_options *options);

#ifdef __cplusplus
}
#endif

#endif
