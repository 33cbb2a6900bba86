/* histo: exact histograms at memory speed.
 *
 * Describe axes, create a histogram, fill it from any memory, read it:
 *
 *     histo_axis axis = histo_axis_regular(256, 0.0, 1.0);
 *     histo_hist *h;
 *     histo_hist_create(&h, 1, &axis, NULL);
 *     histo_view samples = histo_view_1d(data, HISTO_F32, n);
 *     histo_hist_fill(h, &samples, NULL);
 *     histo_hist_read_counts(h, HISTO_BINS, counts, 256);
 *     histo_hist_destroy(h);
 *
 * Rules that hold everywhere:
 *   - Every call that can fail returns a histo_status. histo_last_error() gives the sentence for the last
 *     failure on the calling thread. A failed call leaves every handle unchanged.
 *   - The library never prints, exits or aborts.
 *   - A pointer passed in is borrowed for the call only; the library copies what must outlive it.
 *   - A handle may be used by one thread at a time; different handles by different threads at once. To fill
 *     one histogram from several threads, give each thread a clone and merge the clones.
 *   - Samples may be in any host memory or in a GPU's memory; the library detects which. Reading, merging or saving
 *     a histogram waits for its fills and gathers what a GPU counted.
 *   - Options structs may be NULL, and zero in any field means its default: write them with designated
 *     initialisers.
 *   - Structs and enums grow only at their end, and only together with the number in the soname. A program runs with
 *     the soname that it was linked with, so its structs always match the library's.
 */
#ifndef HISTO_H
#define HISTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTO_VERSION_MAJOR 0
#define HISTO_VERSION_MINOR 1
#define HISTO_VERSION_PATCH 0

#ifndef HISTO_API
#define HISTO_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Limits ------------------------------------------------------------------------------------------- */

#define HISTO_MAX_AXES 8                   /* axes of one histogram */
#define HISTO_MAX_DIMS 8                   /* dimensions of one view */
#define HISTO_MAX_BINS (INT64_C(1) << 30)  /* bins of one axis, and of one dense histogram, all axes multiplied */
#define HISTO_MAX_SLOTS (INT64_C(1) << 31) /* slots (bins and flow) of one dense histogram; see HISTO_SPARSE */
#define HISTO_MAX_IMAGES 256               /* images of a stack for histo_pairs */

/* ---- Errors ------------------------------------------------------------------------------------------- */

typedef enum histo_status {
    HISTO_OK = 0,
    HISTO_INVALID,     /* an argument is wrong: the sentence says which and why */
    HISTO_NO_MEMORY,   /* not so much host memory is available */
    HISTO_UNSUPPORTED, /* valid, but not with this strategy, device or build */
    HISTO_IO,          /* a file could not be opened, read or written */
    HISTO_CORRUPT,     /* a saved histogram does not hold what it should */
    HISTO_DEVICE,      /* a device failed; the histogram must be reset unless the sentence says otherwise */
} histo_status;

/* The sentence for the last failure on this thread, or "". Valid until this thread's next call. */
HISTO_API const char *histo_last_error(void);

/* Bytes of memory that this process can still take: what the system has to give (memory and swap), the control groups
 * and the limit on its address space (ulimit -v) leave, whichever is least; SIZE_MAX where nothing is known. The
 * library compares large requests with it before it allocates, and fails with HISTO_NO_MEMORY where they do not fit. */
HISTO_API size_t histo_memory_available(void);

/* "0.1.0" */
HISTO_API const char *histo_version(void);

/* ---- Samples: typed strided views --------------------------------------------------------------------- */

typedef enum histo_dtype {
    HISTO_U8 = 0,
    HISTO_I8,
    HISTO_U16,
    HISTO_I16,
    HISTO_U32,
    HISTO_I32,
    HISTO_U64,
    HISTO_I64,
    HISTO_F16,  /* IEEE binary16 */
    HISTO_BF16, /* bfloat16: the high half of a binary32 */
    HISTO_F32,
    HISTO_F64,
    HISTO_DTYPE_COUNT
} histo_dtype;

/* Bytes of one sample; 0 for an unknown dtype. */
HISTO_API size_t histo_dtype_size(histo_dtype dtype);

/* "u8" … "f64"; NULL for an unknown dtype. */
HISTO_API const char *histo_dtype_name(histo_dtype dtype);

/* The dtype of a name ("u8", "f32", "bf16"); HISTO_INVALID for any other. */
HISTO_API histo_status histo_dtype_parse(const char *name, histo_dtype *dtype);

/* The value of one sample, at any address, as a double; 64-bit integers are rounded to nearest. */
HISTO_API double histo_sample_value(const void *sample, histo_dtype dtype);

/* A strided view of memory that the caller owns. Element [i0, i1, …] is at
 *     (const char *)data + i0 * strides[0] + i1 * strides[1] + …
 * strides are bytes; they may be negative, zero (one value repeated) or unaligned. The first batch_ndim
 * dimensions are batch dimensions: each position along them has a histogram of its own. With ndim 0 the view is
 * one sample. A view can describe rows with a pitch, regions of interest, channels and many images: channel c
 * of an interleaved RGB image is {data + c, U8, 2, 0, {h, w}, {pitch, 3}}; all three at once, one histogram
 * each, are {data, U8, 3, 1, {3, h, w}, {1, pitch, 3}}. */
typedef struct histo_view {
    const void *data;
    histo_dtype dtype;
    int ndim;
    int batch_ndim;
    int64_t shape[HISTO_MAX_DIMS];
    int64_t strides[HISTO_MAX_DIMS];
} histo_view;

/* n contiguous samples. */
HISTO_API histo_view histo_view_1d(const void *data, histo_dtype dtype, int64_t n);

/* A C-contiguous array of the given shape, no batch dimension; ndim 0 … HISTO_MAX_DIMS. */
HISTO_API histo_view histo_view_nd(const void *data, histo_dtype dtype, int ndim, const int64_t *shape);

/* Number of samples of a valid view (the product of its shape). */
HISTO_API int64_t histo_view_size(const histo_view *view);

/* ---- Axes --------------------------------------------------------------------------------------------- */

/* An axis of n bins has n + 1 strictly increasing, finite edges in double, and the edges define the bins: sample x
 * is in bin i iff edges[i] <= x < edges[i+1], compared by value, whatever the sample's type. Underflow, overflow
 * and NaN have slots of their own (see HISTO_FLOW). */
typedef enum histo_axis_kind {
    HISTO_INTEGER = 0, /* edges lo, lo+1, …, lo+bins */
    HISTO_REGULAR,     /* edges[i] = lo + i * ((hi-lo)/bins) in two roundings, edges[bins] = hi: NumPy's linspace */
    HISTO_VARIABLE,    /* any edges */
    HISTO_LOG,         /* equal steps of log(x); lo > 0 */
    HISTO_SQRT,        /* equal steps of sqrt(x); lo >= 0 */
    HISTO_POWER,       /* equal steps of x^power; lo >= 0 (lo > 0 for a negative power), power != 0 */
} histo_axis_kind;

enum { HISTO_AXIS_KIND_COUNT = HISTO_POWER + 1 };

/* A description: a plain value, nothing to free. `edges` are bins + 1 values, borrowed until a histogram is created
 * from the axis, which copies them. HISTO_VARIABLE needs them. HISTO_LOG, HISTO_SQRT and HISTO_POWER compute their own
 * if it is NULL, and keep these otherwise, so that a saved axis has the same edges under another libm. HISTO_INTEGER
 * and HISTO_REGULAR always compute their own. */
typedef struct histo_axis {
    histo_axis_kind kind;
    bool closed; /* the last bin also takes x == its upper edge, as NumPy's does */
    int64_t bins;
    double lo, hi;
    double power;
    const double *edges;
} histo_axis;

HISTO_API histo_axis histo_axis_integer(int64_t lo, int64_t bins);
HISTO_API histo_axis histo_axis_regular(int64_t bins, double lo, double hi);
HISTO_API histo_axis histo_axis_variable(int64_t bins, const double *edges);
HISTO_API histo_axis histo_axis_log(int64_t bins, double lo, double hi);
HISTO_API histo_axis histo_axis_sqrt(int64_t bins, double lo, double hi);
HISTO_API histo_axis histo_axis_power(int64_t bins, double lo, double hi, double power);
/* The same axis with its last bin closed on the right. */
HISTO_API histo_axis histo_axis_closed(histo_axis axis);

/* HISTO_OK, or HISTO_INVALID with the reason the axis cannot be used. */
HISTO_API histo_status histo_axis_check(const histo_axis *axis);

/* Write the bins + 1 edges of a valid axis to edges. */
HISTO_API histo_status histo_axis_edges(const histo_axis *axis, double *edges);

/* Edge i, 0 … bins, of a valid axis. */
HISTO_API double histo_axis_edge(const histo_axis *axis, int64_t i);

/* ---- Histograms --------------------------------------------------------------------------------------- */

typedef struct histo_hist histo_hist;

/* What a histogram keeps for each slot beside its exact 64-bit count. */
typedef enum histo_weighting {
    HISTO_UNWEIGHTED = 0,
    HISTO_WEIGHT_FAST,             /* sum of w and of w*w in double, in the order samples happen to be added:
                                      relative error at most n * 2^-53 of the sum of |w| (of w*w) for n samples */
    HISTO_WEIGHT_REPRODUCIBLE,     /* the exact sum of w (and of w*w, each square rounded once to double), rounded once
                                      when read: the same bits for any device, strategy, threads, chunks or ranks.
                                      Error: half an ulp of the result. Costs 8 bytes a slot for each 32-bit window of
                                      exponents that the weights touch (typically 3 to 5), twice. */
    HISTO_WEIGHT_FAST_SUM,         /* as HISTO_WEIGHT_FAST, and … */
    HISTO_WEIGHT_REPRODUCIBLE_SUM, /* … as HISTO_WEIGHT_REPRODUCIBLE, without the sums of w*w: half the room, and
                                      faster fills */
} histo_weighting;

/* How counts are stored. A sparse histogram keeps only the occupied slots, as pairs of a slot's number and its count
 * (16 bytes), sorted by number. It is for several axes whose bins multiply to far more than the samples: five columns
 * of 256 bins have 2^40. The product of the slots of all axes and the batch is at most 2^63 - 1, and the pairs must fit
 * into memory, twice while lists of them are merged. It has no weights. It can be read like a dense one if you have
 * room for all entries; histo_hist_read_occupied gives the pairs alone. Fills are slower, and on a GPU they allocate
 * and wait, and cannot be captured into a graph. */
typedef enum histo_storage {
    HISTO_DENSE = 0, /* an array of all slots */
    HISTO_SPARSE,    /* the occupied slots */
} histo_storage;

typedef struct histo_hist_options {
    int64_t batch;             /* number of histograms, default 1; filled by views whose batch dimensions
                                  multiply to it */
    histo_weighting weighting; /* default HISTO_UNWEIGHTED */
    histo_storage storage;     /* default HISTO_DENSE */
} histo_hist_options;

/* Create a histogram with naxes axes (1 … HISTO_MAX_AXES), all counts zero. The caller destroys it. */
HISTO_API histo_status histo_hist_create(histo_hist **hist, int naxes, const histo_axis *axes,
                                         const histo_hist_options *options);
/* NULL is allowed. */
HISTO_API void histo_hist_destroy(histo_hist *hist);
HISTO_API histo_status histo_hist_clone(const histo_hist *hist, histo_hist **clone);
/* All counts and sums back to zero. */
HISTO_API histo_status histo_hist_reset(histo_hist *hist);

HISTO_API int histo_hist_naxes(const histo_hist *hist);
/* Axis a; its edges pointer, if any, lives as long as the histogram. a outside 0 … naxes-1 gives a zero axis. */
HISTO_API histo_axis histo_hist_axis(const histo_hist *hist, int a);
HISTO_API int64_t histo_hist_batch(const histo_hist *hist);
HISTO_API histo_weighting histo_hist_weighting(const histo_hist *hist);
HISTO_API histo_storage histo_hist_storage(const histo_hist *hist);

/* Samples that are computed as they are counted, from a stack of n images of one scene (dies of a wafer, frames of a
 * film): the differences of pairs of images, and the mean of all. The histogram has two axes, and the fill one view.
 * views[0], of HISTO_U8 or HISTO_U16, is the stack: its first dimension after the batch counts the images, 2 to
 * HISTO_MAX_IMAGES; its other dimensions and its strides are those of any view. At each place of the images,
 * where these have the values p_0 … p_(n-1), every pair (i, j) is a sample:
 *     on axis 0   p_i - p_j, exactly. Its scale is the axis's: histo_axis_regular(4096, -256, 256) has steps of 1/8.
 *     on axis 1   floor((p_0 + … + p_(n-1) + floor(n / 2)) / n): the mean as a whole number, halves rounded up.
 * The difference is the first axis because most differences are small, so the occupied bins are neighbours in memory.
 * Weights, mask, where and offsets are refused, and so is a weighted histogram. The CPU counts images in host memory,
 * a GPU those in its own. */
typedef enum histo_pairs {
    HISTO_NO_PAIRS = 0, /* views are the samples */
    HISTO_PAIRS_RING,   /* each image with the next, the last with the first: n samples a place */
    HISTO_PAIRS_APART,  /* 0 with 1, 2 with 3, …: n / 2 samples a place; n must be even */
} histo_pairs;

typedef struct histo_fill_options {
    const histo_view *weights; /* one weight a sample, any dtype; needs a weighted histogram. Without it, a
                                  weighted histogram takes every weight as 1 */
    const histo_view *mask;    /* any dtype: only samples whose mask is not zero are counted */
    const histo_view *where;   /* only samples with where_lo <= where <= where_hi are counted */
    double where_lo, where_hi;
    /* Ragged segments of views with one dimension, which is no batch dimension: histogram b of the batch counts samples
     * offsets[b] … offsets[b + 1] - 1. batch + 1 numbers that never decrease, from 0 to the number of samples. They are
     * checked in host memory, but not in the memory of the samples' GPU. */
    const int64_t *offsets;
    histo_pairs pairs; /* count pairs of the images in views[0]; default HISTO_NO_PAIRS */
    void *stream; /* the cudaStream_t on which samples in device memory are ready; default stream if NULL. The counting
                     is enqueued there and may still run when the call returns: leave the samples unchanged until the
                     stream has passed it, or the histogram has been read. After its first fill by a plan, a histogram's
                     fills by that plan may be captured into a CUDA graph: each launch of the graph counts again */
} histo_fill_options;

/* Count samples: views[a] holds the coordinate on axis a, and all views, weights, mask and where have the same shape.
 * (Or views[0] is a stack of images: histo_pairs.)
 * Samples that the mask or the range filter leaves out are tallied as masked. Repeated fills add up.
 * Host memory may be reused when the call returns. */
HISTO_API histo_status histo_hist_fill(histo_hist *hist, const histo_view *views, const histo_fill_options *options);

/* Which slots of an axis a read covers. */
typedef enum histo_slots {
    HISTO_BINS = 0, /* bins only: an axis of n bins has n entries */
    HISTO_FLOW,     /* n + 3 entries: underflow, the bins, overflow, NaN */
} histo_slots;

/* Entries that a read gives: batch * product over the axes of (n or n + 3). */
HISTO_API int64_t histo_hist_size(const histo_hist *hist, histo_slots slots);

/* Copy the counts to counts[size], C order: batch slowest, then axis 0, …, the last axis fastest. size must be
 * histo_hist_size(hist, slots). */
HISTO_API histo_status histo_hist_read_counts(const histo_hist *hist, histo_slots slots, uint64_t *counts,
                                              int64_t size);

/* How many of the entries of such a read are not zero: *occupied. */
HISTO_API histo_status histo_hist_occupied(const histo_hist *hist, histo_slots slots, int64_t *occupied);

/* Those entries alone: the index of each in the array that histo_hist_read_counts would write, in rising order, and its
 * count. Either pointer may be NULL; size must be what histo_hist_occupied gives. For sparse and dense histograms. */
HISTO_API histo_status histo_hist_read_occupied(const histo_hist *hist, histo_slots slots, int64_t *index,
                                                uint64_t *counts, int64_t size);

/* The position of an entry of such a read: at[naxes] is its place on each axis (HISTO_BINS: the bin, from 0;
 * HISTO_FLOW: 0 is underflow, then the bins, overflow, NaN). Returns its batch entry. index: 0 … histo_hist_size(hist,
 * slots) - 1. */
HISTO_API int64_t histo_hist_unravel(const histo_hist *hist, histo_slots slots, int64_t index, int64_t *at);

/* As histo_hist_read_counts, the sums of weights; either pointer may be NULL. An unweighted histogram gives its counts.
 */
HISTO_API histo_status histo_hist_read_weights(const histo_hist *hist, histo_slots slots, double *sum_w, double *sum_w2,
                                               int64_t size);

/* Where the samples of all batches went: bins + flow + masked == samples. under, over and nan are per axis; a
 * sample of a joint histogram may be in the flow of several. */
typedef struct histo_tally {
    uint64_t samples; /* offered to the histogram, masked ones included */
    uint64_t masked;  /* left out by a mask or a range filter */
    uint64_t bins;    /* in a bin on every axis */
    uint64_t flow;    /* in underflow, overflow or NaN on at least one axis */
    uint64_t under[HISTO_MAX_AXES], over[HISTO_MAX_AXES], nan[HISTO_MAX_AXES];
} histo_tally;
HISTO_API histo_status histo_hist_tally(const histo_hist *hist, histo_tally *tally);

/* The samples that a mask or filter left out of each batch: masked[batch]. */
HISTO_API histo_status histo_hist_read_masked(const histo_hist *hist, uint64_t *masked, int64_t size);

/* Add other to hist. Axes (to the bit of every edge), batch, weighting and storage must be equal. */
HISTO_API histo_status histo_hist_merge(histo_hist *hist, const histo_hist *other);

/* A new histogram of the naxes axes listed (each at most once, in the order wanted), summed over all slots of the
 * others: exactly the histogram that those columns alone would have filled. It has the storage of hist, as do the
 * results of rebin and slice. */
HISTO_API histo_status histo_hist_project(const histo_hist *hist, int naxes, const int *axes, histo_hist **out);

/* A new histogram in which every `factor` neighbouring bins of one axis are one; factor must divide the bins. The
 * remaining edges are the same doubles; an axis whose formula would give others becomes a variable one. */
HISTO_API histo_status histo_hist_rebin(const histo_hist *hist, int axis, int64_t factor, histo_hist **out);

/* A new histogram with bins [begin, end) of one axis; the other bins are added to underflow and overflow. */
HISTO_API histo_status histo_hist_slice(const histo_hist *hist, int axis, int64_t begin, int64_t end, histo_hist **out);

/* ---- Saving ------------------------------------------------------------------------------------------- */

typedef enum histo_format {
    HISTO_JSON = 0, /* Unified Histogram Interface serialization, schema 1; sums of weights rounded to double; sparse
                       histograms with an index of the cells that have a count */
    HISTO_BINARY,   /* compact, checksummed, keeps reproducible sums exact; little endian on every machine */
} histo_format;

/* Save to memory: *data is *size bytes that the caller frees with histo_free. name is the histogram's key in the
 * JSON object ("histogram" if NULL). */
HISTO_API histo_status histo_hist_save(const histo_hist *hist, histo_format format, const char *name, void **data,
                                       size_t *size);
/* Load what histo_hist_save wrote, or any UHI JSON histogram with regular, variable, integer-category or boolean
 * axes and int, double or weighted storage; the format is recognised. name chooses among several histograms of a JSON
 * object (NULL: there must be only one). Never reads outside data[0 … size). */
HISTO_API histo_status histo_hist_load(const void *data, size_t size, const char *name, histo_hist **hist);
HISTO_API void histo_free(void *memory);

/* ---- Devices ------------------------------------------------------------------------------------------ */

typedef int histo_device;
/* Samples in a GPU's memory are counted on that GPU; those in host memory on the CPU or on GPU 0, whichever is expected
 * to finish first, including transfers, and starting CUDA in a process that has not used it. */
#define HISTO_DEVICE_AUTO 0
#define HISTO_DEVICE_CPU 1
#define HISTO_DEVICE_CUDA(ordinal) (2 + (ordinal))

/* ---- Plans: which strategy, and why ------------------------------------------------------------------- */

/* A strategy is one algorithm on one backend. */
typedef struct histo_strategy_info {
    const char *backend; /* "cpu" or "cuda" */
    const char *name;
    const char *summary;
    const char *limits;    /* what it can count: "everything", or counts without weights, so many bins */
    const char *source;    /* where the algorithm comes from */
    histo_storage storage; /* of the histograms that it fills */
} histo_strategy_info;

HISTO_API int histo_strategy_count(void);
/* Row i of the table; HISTO_INVALID outside 0 … count-1. */
HISTO_API histo_status histo_strategy_describe(int i, histo_strategy_info *info);

typedef struct histo_plan histo_plan;

typedef enum histo_effort {
    HISTO_ESTIMATE = 0, /* choose by cost model; uses wisdom where there is some */
    HISTO_MEASURE, /* time all but the hopeless candidates on the samples given, and remember the winner of each device
                      as wisdom; if a GPU and the CPU are candidates and the samples are page-locked, also time both at
                      once, each counting a part */
} histo_effort;

typedef struct histo_plan_options {
    histo_effort effort;
    histo_device device;  /* default HISTO_DEVICE_AUTO */
    const char *strategy; /* force one by name; default: the environment's HISTO_STRATEGY, else the plan chooses */
    const char *params;   /* "name=value,…" for the strategy; unknown names are refused */
    int threads; /* CPU threads; default: HISTO_THREADS (1 … 1024; anything else is ignored), else the CPUs that this
                    process may use */
} histo_plan_options;

/* Plan fills of hist by samples like these: the same dtypes, the same choice of weights, mask and where, and about the
 * same size; addresses, shape and strides may differ from fill to fill. HISTO_MEASURE reads the samples. If the choice
 * depends on how densely samples in a GPU's memory lie, the call examines a few of them on fill->stream and waits for
 * it, unless the stream is being captured. A plan does not refer to hist afterwards: it serves any histogram with equal
 * axes, batch, weighting and storage. */
HISTO_API histo_status histo_plan_create(histo_plan **plan, const histo_hist *hist, const histo_view *views,
                                         const histo_fill_options *fill, const histo_plan_options *options);
HISTO_API void histo_plan_destroy(histo_plan *plan);

/* As histo_hist_fill, by this plan. Several threads may fill different histograms by one plan at once. */
HISTO_API histo_status histo_plan_fill(const histo_plan *plan, histo_hist *hist, const histo_view *views,
                                       const histo_fill_options *options);

/* Such as "cpu/privatized"; lives as long as the plan. For a plan that splits fills, the GPU's strategy. */
HISTO_API const char *histo_plan_strategy(const histo_plan *plan);

/* The CPU threads that the plan may use. */
HISTO_API int histo_plan_threads(const histo_plan *plan);

/* What was chosen, the predicted time and bound, and why the others lost, as lines of text. Writes at most
 * capacity bytes, including a NUL, and returns the length of the whole text, as snprintf does. */
HISTO_API size_t histo_plan_explain(const histo_plan *plan, char *text, size_t capacity);

/* The plan that histo_hist_fill last used on hist (owned by hist, until its next fill); NULL before the first. */
HISTO_API const histo_plan *histo_hist_last_plan(const histo_hist *hist);

/* Wisdom: what HISTO_MEASURE found on this machine, shared by all threads of the process. It is saved as lines of text,
 * and the file is replaced atomically. Loading adds to what is known and skips lines of unknown strategies. */
HISTO_API histo_status histo_wisdom_save(const char *path);
HISTO_API histo_status histo_wisdom_load(const char *path);
HISTO_API void histo_wisdom_forget(void);

/* What the library found on this machine (CPU, features, threads, devices), as lines of text; like
 * histo_plan_explain. */
HISTO_API size_t histo_machine_describe(char *text, size_t capacity);

/* ---- Axes from data ----------------------------------------------------------------------------------- */

/* Number of bins by a rule, equal to numpy.histogram_bin_edges on the same data. */
typedef enum histo_rule {
    HISTO_RULE_NONE = 0, /* bins or width says it */
    HISTO_RULE_AUTO,
    HISTO_RULE_FD,
    HISTO_RULE_SCOTT,
    HISTO_RULE_STONE,
    HISTO_RULE_STURGES,
    HISTO_RULE_DOANE,
    HISTO_RULE_RICE,
    HISTO_RULE_SQRT,
} histo_rule;

/* HISTO_INVALID for an unknown name. */
HISTO_API histo_status histo_rule_parse(const char *name, histo_rule *rule);

typedef enum histo_range {
    HISTO_RANGE_MINMAX = 0, /* smallest to largest finite sample */
    HISTO_RANGE_PERCENTILE, /* percentiles lo to hi of the samples that are not NaN, as numpy.percentile (linear) */
    HISTO_RANGE_DTYPE,      /* every value of an integer dtype: [min, max + 1); [0, 1) for floats */
    HISTO_RANGE_FIXED,      /* lo and hi are given */
} histo_range;

typedef struct histo_survey_options {
    histo_range range;
    double lo, hi; /* HISTO_RANGE_FIXED: the range; HISTO_RANGE_PERCENTILE: per cent, 0 … 100 */
    histo_rule rule;
    int64_t bins; /* HISTO_RULE_NONE: the number of bins, … */
    double width; /* … or, if > 0, the width of each; the last may reach beyond the range */
} histo_survey_options;

/* A survey finds a range and a number of bins in as many passes over the data as it needs. The data may come in any
 * pieces, but must be the same in each pass:
 *
 *     histo_survey_create(&survey, dtype, &options);
 *     while (histo_survey_next_pass(survey))
 *         for each piece: histo_survey_add(survey, &piece, NULL);
 *     histo_survey_axis(survey, &axis);
 *
 * Its memory is bounded, whatever the size of the data. */
typedef struct histo_survey histo_survey;
HISTO_API histo_status histo_survey_create(histo_survey **survey, histo_dtype dtype,
                                           const histo_survey_options *options);
HISTO_API void histo_survey_destroy(histo_survey *survey);
/* True if the survey needs another pass. */
HISTO_API bool histo_survey_next_pass(histo_survey *survey);
/* Add samples, in memory that the host can read. Ignores weights; batch dimensions are like any others. */
HISTO_API histo_status histo_survey_add(histo_survey *survey, const histo_view *samples,
                                        const histo_fill_options *options);
/* The regular, closed axis found. If lo == hi, it extends by a half each way, as in NumPy. HISTO_INVALID if there is no
 * finite sample to take a range from. */
HISTO_API histo_status histo_survey_axis(const histo_survey *survey, histo_axis *axis);

/* A whole survey of samples in memory, in one call. */
HISTO_API histo_status histo_axis_from_data(const histo_view *samples, const histo_fill_options *fill,
                                            const histo_survey_options *options, histo_axis *axis);

/* Moments of the unmasked samples, in memory that the host can read. Begin with all zero; pieces may be added, and
 * parts merged. */
typedef struct histo_stats {
    uint64_t samples; /* finite, infinite and NaN, not masked */
    uint64_t nan, infinite, masked;
    double min, max;     /* of the finite samples; 64-bit integers that are no doubles are rounded outwards */
    double mean, m2, m3; /* mean and sums of (x - mean)^2 and ^3 of the finite samples */
} histo_stats;
HISTO_API histo_status histo_stats_add(histo_stats *stats, const histo_view *samples,
                                       const histo_fill_options *options);
HISTO_API void histo_stats_merge(histo_stats *stats, const histo_stats *other);

#ifdef __cplusplus
}
#endif

#endif
