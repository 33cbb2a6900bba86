/* Histograms: filling, reading, merging and other operations on counts. Include histo/histo.h. */
#ifndef HISTO_HIST_H
#define HISTO_HIST_H

#include <histo/axis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Histograms --------------------------------------------------------------------------------------- */

typedef struct histo_hist histo_hist;

/* What a slot holds in addition to its exact 64-bit count. */
enum histo_weighting HISTO_ENUM_BASE {
    HISTO_UNWEIGHTED = 0,
    HISTO_WEIGHT_FAST,            /* sums of w and of w*w in double, added in any order. After n samples the error is at
                                   * most n * 2^-53 times the sum of |w|, or of w*w */
    HISTO_WEIGHT_REPRODUCIBLE,    /* exact sums of w and of w*w (each square rounded once to double), rounded once when
                                   * read: an error of half an ulp, and the same bits whatever the device, strategy,
                                   * number of threads, chunks or ranks. Each of the two sums takes 8 bytes a slot for
                                   * every 32-bit window of exponents that the weights touch, typically 3 to 5 */
    HISTO_WEIGHT_FAST_SUM,        /* HISTO_WEIGHT_FAST without the sums of w*w: half the memory, faster fills */
    HISTO_WEIGHT_REPRODUCIBLE_SUM /* HISTO_WEIGHT_REPRODUCIBLE without the sums of w*w, likewise */
};
typedef HISTO_ENUM(histo_weighting) histo_weighting;

/* The name of a weighting in saved files: "unweighted", "fast", "reproducible", "fast-sum" or "reproducible-sum"; NULL
 * for an unknown weighting. */
HISTO_API const char *histo_weighting_name(histo_weighting weighting);

/* How counts are stored. A sparse histogram stores only occupied slots, as sorted pairs of slot number and count (16
 * bytes). Use it for several axes whose bins multiply to far more than the number of samples: five columns of 256 bins
 * have 2^40 bins. The slots of all axes times the batch may be at most 2^63 - 1, and memory must hold the pairs, twice
 * while they are merged. Sparse histograms are unweighted. Everything that reads a dense histogram reads a sparse one;
 * histo_hist_read_occupied reads the pairs. Filling takes longer per sample; on a GPU it allocates and synchronises, so
 * it cannot be captured into a CUDA graph. */
enum histo_storage HISTO_ENUM_BASE {
    HISTO_DENSE = 0, /* an array of all slots */
    HISTO_SPARSE     /* the occupied slots */
};
typedef HISTO_ENUM(histo_storage) histo_storage;

typedef struct histo_hist_options {
    int64_t batch;             /* number of histograms, default 1: the product of the batch dimensions of the views that
                                * fill them */
    histo_weighting weighting; /* default HISTO_UNWEIGHTED */
    histo_storage storage;     /* default HISTO_DENSE */
    uint64_t reserved[8];
} histo_hist_options;

/* Create a histogram with axes[naxes], naxes 1 … HISTO_MAX_AXES, and all counts zero. The caller destroys it. */
HISTO_API histo_status histo_hist_create(histo_hist **hist, int naxes, const histo_axis *axes,
                                         const histo_hist_options *options);
/* Destroy a histogram; NULL is allowed. */
HISTO_API void histo_hist_destroy(histo_hist *hist);
/* A copy with equal axes, options, counts and sums. The caller destroys it. */
HISTO_API histo_status histo_hist_clone(const histo_hist *hist, histo_hist **clone);
/* Exchange everything two histograms are and hold. A CUDA graph goes on counting into the handle that now holds its
 * counters. */
HISTO_API void histo_hist_swap(histo_hist *a, histo_hist *b);
/* Set all counts and sums to zero. stream: a cudaStream_t; its GPU does so there, after the histogram's fills and
 * reads. If no other GPU has ever counted, the call may then be captured into a CUDA graph. Other GPUs that have
 * counted, and all GPUs if stream is NULL, do so before the histogram is next used. */
HISTO_API histo_status histo_hist_reset(histo_hist *hist, void *stream);

/* What the histogram was created with: the number of axes, batch, weighting and storage. */
HISTO_API int histo_hist_naxes(const histo_hist *hist);
HISTO_API int64_t histo_hist_batch(const histo_hist *hist);
HISTO_API histo_weighting histo_hist_weighting(const histo_hist *hist);
HISTO_API histo_storage histo_hist_storage(const histo_hist *hist);
/* Axis a, whose edges, if not NULL, live as long as the histogram; a zeroed axis unless 0 <= a < naxes. */
HISTO_API histo_axis histo_hist_axis(const histo_hist *hist, int a);

/* Set the histogram's name, in UTF-8, or its metadata, the text of a JSON object. The text is copied; NULL, the initial
 * state, removes it. Both formats of saved histograms keep name and metadata, and clone, project, rebin, slice and
 * regroup copy them. Merging, subtracting, writing and resetting leave those of hist unchanged, and histo_hist_equal
 * does not compare them. A name may be anything but "uhi_schema". The metadata becomes UHI's `metadata` in JSON; UHI
 * wants its values to be strings, numbers, true or false. NaN and infinities are written as Python does. HISTO_INVALID
 * for an empty name, invalid UTF-8 or JSON, nesting deeper than 62, and text that is too long. */
HISTO_API histo_status histo_hist_set_name(histo_hist *hist, const char *name);
HISTO_API histo_status histo_hist_set_metadata(histo_hist *hist, const char *json);
/* The name and the metadata, as they were set; NULL: none. Valid until hist is given others, swapped or destroyed. */
HISTO_API const char *histo_hist_name(const histo_hist *hist);
HISTO_API const char *histo_hist_metadata(const histo_hist *hist);

/* ---- Fills -------------------------------------------------------------------------------------------- */

/* A function that turns a record, a sample of any type of the caller's own, into the number that is counted. In C++,
 * histo/histo.hpp makes one from a functor. */
typedef struct histo_function {
    /* Write the numbers of n records to numbers[n], an aligned array of the view's dtype. The first record is at
     * `records`, each next one `stride` bytes further. Several threads call this at once, each for a few thousand
     * records at most. NULL: the view holds samples, not records. */
    void (*numbers_of)(const void *context, const void *records, int64_t stride, int64_t n, void *numbers);
    const void *context;
    size_t alignment; /* of records, a power of 2; 0: records may be unaligned */
    size_t size;      /* of a record. This and the fields below are needed for GPUs only */
    /* CUDA C++17 source, compiled while the program runs (by NVIDIA's NVRTC library) into the kernels that count. It
     * defines the type of a record, whose name is `record`, and whatever `functor` needs: an expression that is called
     * with a record and returns a number of the view's dtype. There are no headers; the types of stdint.h, NAN and
     * mathematical functions are known. Host and GPU give the same numbers unless the host's compiler contracts to FMA.
     * The texts are copied. NULL: records are in host memory only. */
    const char *source, *record, *functor;
    uint64_t reserved[8];
} histo_function;

typedef struct histo_fill_options {
    /* A weight for each sample, of any dtype, for a weighted histogram; NULL: all are 1. To give each sample several
     * weights, use a batch: a stride of 0 along it for samples, mask and where, but not for weights. On a CPU, fast
     * sums of such a batch find a sample's bin once for up to eight weights. */
    const histo_view *weights;
    const histo_view *mask;  /* of any dtype, including HISTO_BIT: samples whose mask is zero are not counted */
    const histo_view *where; /* of any dtype: only samples with where_lo <= where <= where_hi are counted */
    double where_lo, where_hi;
    /* Segments of different lengths: histogram b of the batch counts samples offsets[b] … offsets[b + 1] - 1 of views
     * with one dimension and no batch dimension. offsets[batch + 1] never decreases, starts with 0 and ends with the
     * number of samples. Offsets in host memory are checked; offsets in the memory of the samples' GPU are not. */
    const int64_t *offsets;
    /* The cudaStream_t on which samples in device memory become ready; NULL: the default stream. Counting is enqueued
     * there and may still be running when the call returns: do not change the samples before the stream has passed it
     * or the histogram has been read. A fill by a plan that has filled this histogram before may be captured into a
     * CUDA graph; each launch of the graph counts again. */
    void *stream;
    /* First set all counts to zero, including those of histo_hist_tally, on the stream: each launch of a graph then
     * counts from zero. During capture, only one GPU may have filled the histogram since it was created, reset or
     * replaced. */
    bool replace;
    int threads;         /* CPU threads; default: those of the plan, if one is given, else histo_threads() */
    int64_t mask_offset; /* for a mask of HISTO_BIT: the index, from 0, of the bit of its data that is its first
                          * element */
    /* functions[naxes], for fills, plans and histo_count; functions[0] for surveys, quantiles, statistics and extremes.
     * The view of axis a gives the address, shape and strides of the records of functions[a]; its dtype, in this
     * machine's byte order, is that of the numbers that the function returns, which are counted as samples. Views of
     * several axes may share records. The CPU counts records in host memory, without storing all their numbers; a GPU
     * counts records in its own memory, if all functions have a source. The first fill then waits about a second for
     * the compiler; if the source does not compile, the call fails with the compiler's messages. Surveys, quantiles,
     * statistics and extremes take records in host memory only. */
    const histo_function *functions;
    /* Of histo_hist_fill, for samples in host memory that the CPU counts; other calls refuse these, and so do
     * functions. Both copy what they count, where that does not lie as they need it. */
    /* Count the samples at these positions, counted from 0, in this order: a view of one dimension, of HISTO_U32,
     * HISTO_I32 or HISTO_I64. A position may come several times. Samples, weights, mask and where have one dimension
     * and no batch dimension; offsets are those of the list: segment b of it is batch entry b. HISTO_INVALID if a
     * position is negative or too large. */
    const histo_view *rows;
    /* Several weights of each sample: weights[weight_count]. The histogram has weight_count times the batch entries of
     * the samples: entry w * batch + b has the weights[w] of the samples of entry b. 0: one. */
    int64_t weight_count;
    uint64_t reserved[6];
} histo_fill_options;

/* Count samples: views[naxes], where views[a] has the coordinates on axis a. All views, weights, mask and where have
 * the same shape. Samples that mask or where excludes are counted as masked. Fills accumulate, unless options->replace
 * is set. Host memory may be reused as soon as the call returns; for device memory see stream. */
HISTO_API histo_status histo_hist_fill(histo_hist *hist, const histo_view *views, const histo_fill_options *options);

/* A chunk of samples: what histo_hist_fill takes, with those fields of its options that each chunk has for itself. */
typedef struct histo_fill_chunk {
    const histo_view *views;                  /* [naxes] */
    const histo_view *weights, *mask, *where; /* each may be NULL */
    int64_t mask_offset;
    uint64_t reserved[8];
} histo_fill_chunk;

/* Count chunks[count], such as those of an Arrow column, with one plan: the same counts as one histo_hist_fill per
 * chunk. All chunks agree in whether they have weights, a mask and where, in dtypes, and in the device that holds them;
 * sizes and strides may differ. Options apply to all chunks; weights, mask, where and offsets must be NULL. With
 * `replace`, all chunks together replace what was counted. All arguments are checked first: if one is refused, nothing
 * is counted. If memory runs out or a device fails after the first chunk, the histogram is incomplete, and all further
 * calls refuse it until it is reset, replaced or written. */
HISTO_API histo_status histo_hist_fill_chunks(histo_hist *hist, int64_t count, const histo_fill_chunk *chunks,
                                              const histo_fill_options *options);

/* ---- Reads -------------------------------------------------------------------------------------------- */

/* Which slots of an axis to read. */
enum histo_slots HISTO_ENUM_BASE {
    HISTO_BINS = 0, /* bins only: an axis of n bins has n entries */
    HISTO_FLOW      /* n + 3 entries: underflow, the bins, overflow, NaN */
};
typedef HISTO_ENUM(histo_slots) histo_slots;

/* The number of entries read: batch times the product over the axes of n (HISTO_BINS) or n + 3 (HISTO_FLOW). */
HISTO_API int64_t histo_hist_size(const histo_hist *hist, histo_slots slots);

typedef struct histo_read_options {
    /* What to write. Counts: HISTO_U64 (the default); HISTO_U32, saturated at 2^32 - 1; HISTO_F32 or HISTO_F64, rounded
     * to nearest. Sums of weights: HISTO_F64 (the default) or HISTO_F32. */
    histo_dtype dtype;
    /* Read cumulative counts: each entry is the sum of the counts along the last axis up to and including it. Sums of
     * weights cannot be read like this. */
    bool cumulative;
    /* For an array in a GPU's memory (device or managed memory): the cudaStream_t on which it is written, after the
     * histogram's fills; NULL: the default stream. The call may return before. If only that GPU has counted since the
     * histogram was created or reset, and the histogram is dense without reproducible sums, the call neither allocates,
     * waits nor copies, and may be captured into a CUDA graph: each launch of the graph reads what this GPU has counted
     * by then. If other GPUs, but nothing else, have counted too, and this GPU has filled the histogram before, their
     * counts are first added to its own, on streams of the library. Otherwise, and for a partial read, the counts come
     * through host memory, and the call waits. */
    void *stream;
    /* Read a part: the batch entries first_entry … first_entry + entries - 1 and, on axis a, the positions begin[a] …
     * end[a] - 1. Positions count from 0 as in a full read: bins, or with HISTO_FLOW underflow, the bins, overflow,
     * NaN. A 0 in entries or end[a] means up to the last. The array written then holds this part alone, and cumulative
     * sums start at the first position read. */
    int64_t first_entry, entries;
    int64_t begin[HISTO_MAX_AXES], end[HISTO_MAX_AXES];
    uint64_t reserved[8];
} histo_read_options;

/* Copy the counts to counts[size] in C order: batch slowest, then axis 0, …, the last axis fastest. size must be
 * histo_hist_size(hist, slots), or the number of entries of the part that options name. Waits for fills on GPUs, except
 * for an array in a GPU's memory: see stream. */
HISTO_API histo_status histo_hist_read_counts(const histo_hist *hist, histo_slots slots, void *counts, int64_t size,
                                              const histo_read_options *options);

/* *occupied = the number of nonzero entries of such a read. */
HISTO_API histo_status histo_hist_occupied(const histo_hist *hist, histo_slots slots, int64_t *occupied);

/* Read only the nonzero entries of a sparse or dense histogram: index[size] is the position of each in the array that
 * histo_hist_read_counts would write, in increasing order, and counts[size] its count. Either may be NULL; size must be
 * what histo_hist_occupied gives. */
HISTO_API histo_status histo_hist_read_occupied(const histo_hist *hist, histo_slots slots, int64_t *index,
                                                uint64_t *counts, int64_t size);

/* Unravel the index of an entry, 0 … histo_hist_size(hist, slots) - 1: returns its batch entry, or -1 if the index is
 * out of range, and writes its position on each axis to at[naxes]: the bin for HISTO_BINS; for HISTO_FLOW 0 is
 * underflow, followed by the bins, overflow, NaN. */
HISTO_API int64_t histo_hist_unravel(const histo_hist *hist, histo_slots slots, int64_t index, int64_t *at);

/* As histo_hist_read_counts, for the sums of weights; sum_w[size] or sum_w2[size] may be NULL. An unweighted histogram
 * gives its counts. */
HISTO_API histo_status histo_hist_read_weights(const histo_hist *hist, histo_slots slots, void *sum_w, void *sum_w2,
                                               int64_t size, const histo_read_options *options);

/* Get pointers to all counts and fast sums where the histogram stores them, without a copy: each array has
 * histo_hist_size(hist, HISTO_FLOW) entries in the order of a read with HISTO_FLOW. A pointer is NULL for sums that are
 * not stored like this: of an unweighted histogram, of reproducible weights, and of squares that are not kept. Any of
 * the three arguments may be NULL. The histogram owns the arrays; do not write to them. They stay valid and unchanged
 * until the histogram is next filled, written, reset, merged into or destroyed; they do not include what a GPU counts
 * later. Waits for fills on GPUs, and copies their counts to host memory. HISTO_UNSUPPORTED if the histogram is sparse:
 * use histo_hist_read_occupied. */
HISTO_API histo_status histo_hist_borrow(const histo_hist *hist, const uint64_t **counts, const double **sum_w,
                                         const double **sum_w2);

/* Where the samples of all batch entries went: bins + flow + masked == samples. under, over and nan are per axis; a
 * sample may be in the flow of several axes. */
typedef struct histo_tally {
    uint64_t samples; /* passed to fills, including masked ones */
    uint64_t masked;  /* excluded by a mask or a range filter */
    uint64_t bins;    /* in a bin on every axis */
    uint64_t flow;    /* in underflow, overflow or NaN on at least one axis */
    uint64_t under[HISTO_MAX_AXES], over[HISTO_MAX_AXES], nan[HISTO_MAX_AXES];
    uint64_t reserved[4];
} histo_tally;
HISTO_API histo_status histo_hist_tally(const histo_hist *hist, histo_tally *tally);

/* masked[size] = the samples of each batch entry that a mask or a range filter excluded; size must be the batch. */
HISTO_API histo_status histo_hist_read_masked(const histo_hist *hist, uint64_t *masked, int64_t size);

/* ---- Arithmetic: writing, adding and comparing -------------------------------------------------------- */

/* Replace the contents of the histogram: its counts by counts[size], laid out as in a read with these slots (with
 * HISTO_BINS the flow becomes zero), its sums of weights and of their squares (NULL: as if each sample had weight 1),
 * and its masked samples by masked[batch] (NULL: zero). Reproducible sums become exactly these values. HISTO_INVALID
 * for sums that the histogram does not keep. */
HISTO_API histo_status histo_hist_write(histo_hist *hist, histo_slots slots, const uint64_t *counts,
                                        const double *sum_w, const double *sum_w2, int64_t size,
                                        const uint64_t *masked);

/* Set the entries index[n] of a read with HISTO_FLOW to counts[n] and, where the histogram keeps them, to these sums of
 * weights and of their squares, else NULL. All other entries stay bit for bit as they are. HISTO_UNSUPPORTED if the
 * histogram is sparse. */
HISTO_API histo_status histo_hist_put(histo_hist *hist, int64_t n, const int64_t *index, const uint64_t *counts,
                                      const double *sum_w, const double *sum_w2);

/* Add the contents of other to hist. Axes (histo_axis_equal), batch, weighting and storage must be equal. */
HISTO_API histo_status histo_hist_merge(histo_hist *hist, const histo_hist *other);

/* Subtract the contents of other from hist, undoing a merge: the samples of a parent node minus those of one child are
 * those of the other. Axes, batch, weighting and storage must be equal. HISTO_INVALID, and nothing changes, if other
 * has more samples than hist in a slot, or more masked samples. Counts are exact, and so are reproducible sums, with
 * IEEE 754's rules for infinities and NaN; fast sums are rounded, and cancellation may leave a small residue. */
HISTO_API histo_status histo_hist_subtract(histo_hist *hist, const histo_hist *other);

/* Multiply all sums of weights by a finite factor, and sums of squares by its square, as if each weight had been
 * multiplied. Every product is rounded to double; a reproducible sum is rounded first, and then becomes exactly the
 * product. Counts stay, since they are numbers of samples, and so do masked samples. An unweighted histogram has no
 * sums: its counts are multiplied, by a factor that must be a whole number >= 0, else HISTO_INVALID. */
HISTO_API histo_status histo_hist_scale(histo_hist *hist, double factor);

/* *equal = whether two histograms are equal: axes (histo_axis_equal), batch, weighting, storage, the counts of all
 * slots, the masked samples, and all sums. Sums are compared by value, where NaN equals NaN; reproducible sums are
 * compared exactly, not as rounded by a read. */
HISTO_API histo_status histo_hist_equal(const histo_hist *a, const histo_hist *b, bool *equal);

/* A number that is equal for histograms that histo_hist_merge can merge, and almost certainly different for those it
 * refuses: machines compare it instead of all edges. The same in every version 0.1 of the library. */
HISTO_API histo_status histo_hist_fingerprint(const histo_hist *hist, uint64_t *fingerprint);

/* ---- Words: what anything that adds arrays can merge -------------------------------------------------- */

/* Words: the contents of a dense histogram as an array of 64-bit numbers. Added element by element, the words of
 * several histograms are the words of the merged histogram, so anything that adds arrays can merge histograms:
 * MPI_Reduce (histo/mpi.h does that), NCCL, shared memory. First come words of uint64_t, which are added modulo 2^64:
 *
 *   - counts[batch * slots], ordered as in a read with HISTO_FLOW;
 *   - masked[batch];
 *   - digits of reproducible sums, [batch * slots] for each window of the layout: those of w, then those of w * w;
 *   - flags[batch * slots], if the layout has them: how many of the added histograms saw infinity (bits 0 to 20),
 *     -infinity (21 to 41) and NaN (42 to 62): those of w, then those of w * w.
 *
 * Then come words of double:
 *
 *   - sums of fast weights, [batch * slots] of w, then as many of w * w.
 *
 * Up to 2^21 - 1 histograms may be added up. Words are in the machine's byte order, and in host memory. Calls with up
 * to 2^17 words cannot be cancelled by a monitor, so they cannot fail between messages. */

/* Which digits and flags are among the words. Histograms can be added up only in a common layout: the bitwise or of
 * their own. The layout of unweighted histograms and of fast weights is zero. */
typedef struct histo_word_layout {
    uint64_t windows[4]; /* bits 0 to 68: windows; bit 69: the flags; two numbers for w, then two for w * w */
} histo_word_layout;

/* The smallest layout that holds the contents of the histogram. Waits for fills on GPUs. */
HISTO_API histo_status histo_hist_word_layout(const histo_hist *hist, histo_word_layout *layout);

/* The number of words of a layout. HISTO_UNSUPPORTED if the histogram is sparse: it has occupied entries instead. */
HISTO_API histo_status histo_hist_count_words(const histo_hist *hist, const histo_word_layout *layout,
                                              int64_t *integers, int64_t *doubles);

/* Copy words [first, first + n) to words[n]. Any range is allowed, so no buffer for all words is needed. Fastest in
 * increasing order. */
HISTO_API histo_status histo_hist_read_words(const histo_hist *hist, const histo_word_layout *layout, int64_t first,
                                             int64_t n, uint64_t *words);
/* Replace words [first, first + n), or add to them. Only all words together are a histogram: while some have been
 * replaced and others not, sums are meaningless. HISTO_INVALID for words that sums of reproducible weights cannot have,
 * and for counts that would, with those that stay, add up to 2^64 or more; earlier wraparound cannot be detected. With
 * n = 0, memory for all words is allocated, so that further calls in increasing order cannot run out of memory. */
HISTO_API histo_status histo_hist_write_words(histo_hist *hist, const histo_word_layout *layout, int64_t first,
                                              int64_t n, const uint64_t *words);
HISTO_API histo_status histo_hist_add_words(histo_hist *hist, const histo_word_layout *layout, int64_t first, int64_t n,
                                            const uint64_t *words);
/* Set *words to point to words [first, first + n) where the histogram stores them, so that they can be changed in
 * place, without a copy, until the next call with this histogram. *words is NULL if the histogram stores them in
 * another form, as it does digits and flags, or in more than one array. The caller must see to it that counts still add
 * up to less than 2^64: nothing checks it. */
HISTO_API histo_status histo_hist_borrow_words(histo_hist *hist, const histo_word_layout *layout, int64_t first,
                                               int64_t n, uint64_t **words);

/* Add counts[size] to the entries index[size], in increasing order, of a read with these slots: the inverse of
 * histo_hist_read_occupied, for sparse and dense histograms. HISTO_UNSUPPORTED if the histogram is weighted. */
HISTO_API histo_status histo_hist_add_occupied(histo_hist *hist, histo_slots slots, const int64_t *index,
                                               const uint64_t *counts, int64_t size);
/* Add masked[size] to the masked samples of each batch entry; size must be the batch. */
HISTO_API histo_status histo_hist_add_masked(histo_hist *hist, const uint64_t *masked, int64_t size);

/* ---- Projections: histograms with other axes ---------------------------------------------------------- */

/* Create a histogram of the axes listed in axes[naxes], each at most once, summed over all slots of the other axes:
 * exactly what a fill with these columns alone would give. project, rebin and slice keep the storage of hist; the
 * caller destroys the new histogram. */
HISTO_API histo_status histo_hist_project(const histo_hist *hist, int naxes, const int *axes, histo_hist **out);

/* Create a histogram in which every `factor` adjacent bins of one axis are merged; factor must divide the number of
 * bins. The remaining edges keep their values: if the axis' formula would give others, the axis becomes
 * HISTO_VARIABLE. */
HISTO_API histo_status histo_hist_rebin(const histo_hist *hist, int axis, int64_t factor, histo_hist **out);

/* Create a histogram with the bins [begin, end) of one axis; the other bins are added to underflow and overflow. */
HISTO_API histo_status histo_hist_slice(const histo_hist *hist, int axis, int64_t begin, int64_t end, histo_hist **out);

/* How the slots of one histogram map to those of another. Axis a becomes axis targets[a], or is summed over if that is
 * negative. Its slot s (0 is underflow, then come the bins, overflow and NaN) goes to slot maps[a][s]: 0 if the axis is
 * summed over, HISTO_NOWHERE to discard it. If maps[a] is NULL, bins keep their numbers, followed by overflow and NaN;
 * or all slots are summed. */
#define HISTO_NOWHERE UINT32_MAX
typedef struct histo_regrouping {
    int naxes;
    const histo_axis *axes; /* [naxes] of the new histogram */
    int targets[HISTO_MAX_AXES];
    const uint32_t *maps[HISTO_MAX_AXES]; /* [bins + 3] of the old axis; or NULL */
    int64_t entry;                        /* the only batch entry to copy; -1: all */
    uint64_t reserved[8];
} histo_regrouping;

/* Create a histogram of other axes by adding the slots of hist to those they map to: the general form of project, rebin
 * and slice. It has the weighting and storage of hist, and reproducible sums stay exact. The caller destroys it. */
HISTO_API histo_status histo_hist_regroup(const histo_hist *hist, const histo_regrouping *by, histo_hist **out);

#ifdef __cplusplus
}
#endif

#endif
