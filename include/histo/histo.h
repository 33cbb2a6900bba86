/* histo: exact histograms at memory speed.
 *
 * Describe axes, create a histogram, fill it from any memory, read it:
 *
 *     histo_axis axis = histo_axis_regular(256, 0.0, 1.0);
 *     histo_hist *h;
 *     histo_hist_create(&h, 1, &axis, NULL);
 *     histo_view samples = histo_view_1d(data, HISTO_F32, n);
 *     histo_hist_fill(h, &samples, NULL);
 *     histo_hist_read_counts(h, HISTO_BINS, counts, 256, NULL);
 *     histo_hist_destroy(h);
 *
 * Rules that hold everywhere:
 *   - Every call that can fail returns a histo_status. histo_last_error() gives the sentence for the last
 *     failure on the calling thread. A failed call leaves every handle unchanged.
 *   - NULL for an argument that must not be NULL is HISTO_INVALID. Functions that return no status then do nothing, and
 *     return 0, NULL, NaN of a double, or what is said there. Destroying and freeing NULL is allowed.
 *   - Results are written through pointers only when a call succeeds; after a failure a new handle, and memory that the
 *     caller would free, is NULL, and what would be a number or a small struct is zero. Arrays are as the function
 * says.
 *   - Options that do not apply are refused, and not ignored.
 *   - The library never prints, exits or aborts.
 *   - A pointer passed in is borrowed for the call only; the library copies what must outlive it.
 *   - A handle may be used by one thread at a time; different handles by different threads at once. To fill
 *     one histogram from several threads, give each thread a clone and merge the clones.
 *   - The counts of a histogram, those of all batch entries and of masked samples together, add up to less than 2^64,
 *     so no sum of them wraps. A call that would make them more is HISTO_INVALID; a file with more is HISTO_CORRUPT.
 *     What changes counts outside of the library is not checked: launches of CUDA graphs, histo_hist_borrow_words.
 *   - Results do not depend on the floating-point state of the calling thread, such as flushing to zero (-ffast-math)
 *     or another rounding: calls compute in the standard state, and restore the caller's.
 *   - Samples, and arrays that counts are read into, may be in any host memory or in a GPU's memory; the library
 *     detects which. Reading into host memory, merging or saving waits for the histogram's fills.
 *   - Options structs may be NULL, and zero in any field means its default: write them with designated initialisers, or
 *     begin with HISTO_DEFAULTS, as code must that is C and C++17.
 *   - Structs keep their size and layout, and enumerators their numbers, from version to version, so that a program
 *     runs with any later library of the same soname. What is added takes the place of reserved fields, which are
 *     zero in structs that the library writes. In what it reads they must be zero: a library that does not know what
 *     a program asks for there returns HISTO_INVALID. Enumerations are uint32_t, whatever the compiler.
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
#if defined _WIN32 && defined HISTO_BUILDING
#define HISTO_API __declspec(dllexport)
#elif defined _WIN32
#define HISTO_API
#else
#define HISTO_API __attribute__((visibility("default")))
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Enumerations are uint32_t, whatever the compiler and its flags; C++ has types of their own for them. */
#ifdef __cplusplus
#define HISTO_ENUM_BASE : uint32_t
#define HISTO_ENUM(name) enum name
#else
#define HISTO_ENUM_BASE
#define HISTO_ENUM(name) uint32_t
#endif

/* Zero in every field of a struct, in C and in C++:
 *     histo_hist_options options = HISTO_DEFAULTS;
 *     options.batch = 3; */
/* clang-format off */
#ifdef __cplusplus
#define HISTO_DEFAULTS {}
#else
#define HISTO_DEFAULTS {0}
#endif
/* clang-format on */

/* ---- Limits ------------------------------------------------------------------------------------------- */

#define HISTO_MAX_AXES 8                   /* axes of one histogram */
#define HISTO_MAX_DIMS 8                   /* dimensions of one view */
#define HISTO_MAX_BINS (INT64_C(1) << 30)  /* bins of one axis, and of one dense histogram, all axes multiplied */
#define HISTO_MAX_SLOTS (INT64_C(1) << 31) /* slots (bins and flow) of one dense histogram; see HISTO_SPARSE */
#define HISTO_MAX_IMAGES 256               /* images whose pairs are counted */
#define HISTO_MAX_NAME 1024                /* bytes of the name of a histogram */
#define HISTO_MAX_METADATA (1 << 30)       /* bytes of its metadata */

/* ---- Errors ------------------------------------------------------------------------------------------- */

enum histo_status HISTO_ENUM_BASE {
    HISTO_OK = 0,
    HISTO_INVALID,     /* an argument is invalid; the message says which and why */
    HISTO_NO_MEMORY,   /* host memory is exhausted, or the request exceeds what is available */
    HISTO_UNSUPPORTED, /* valid, but not with this strategy, device or build */
    HISTO_IO,          /* a file could not be opened, read or written */
    HISTO_CORRUPT,     /* a saved histogram is damaged or malformed */
    HISTO_DEVICE,      /* a device failed; reset the histogram unless the message says otherwise */
    HISTO_CANCELLED    /* the monitor of the calling thread stopped the call */
};
typedef HISTO_ENUM(histo_status) histo_status;

/* "HISTO_OK", "HISTO_INVALID", …; NULL for an unknown status. */
HISTO_API const char *histo_status_name(histo_status status);

/* The sentence that describes the last failure on this thread; "" if there was none. It is valid until this thread's
 * next call of the library. */
HISTO_API const char *histo_last_error(void);

/* Make this the last failure on this thread, for code that extends the library. Copies the sentence, returns status. */
HISTO_API histo_status histo_set_error(histo_status status, const char *sentence);

/* ---- Long calls --------------------------------------------------------------------------------------- */

/* How far a call is. */
typedef struct histo_progress {
    const char *stage; /* what it is doing: "counting", "measuring", "surveying", …; it lives as long as the process */
    double done;       /* how much of the stage is done, 0 … 1; NaN if that is unknown */
} histo_progress;

/* Let `stops` watch the calls that this thread makes from now on; NULL: nothing watches them. A call that takes long
 * asks it about every 20 milliseconds, on this thread, with the pointer `context`; calls that take less than some
 * milliseconds hardly ever do. If it returns true, all threads stop working for the call, within about a tenth of a
 * second, and the call returns HISTO_CANCELLED. That is so of all that reads or writes samples, counts or edges in host
 * memory; waiting for a GPU, or for a file, cannot be cancelled.
 *
 * A cancelled call changes nothing but what it was to write: an array of results is then undefined. A histogram,
 * survey or object for quantiles that it was adding to holds a part, so that all further calls refuse it by
 * HISTO_INVALID, until a histogram is reset, replaced or written, and others are destroyed.
 *
 * `stops` may call the library, with other objects than those of the call that asks; these calls are not watched. It
 * must return, neither by longjmp nor by an exception. */
HISTO_API void histo_set_monitor(bool (*stops)(void *context, const histo_progress *progress), void *context);

/* ---- Memory ------------------------------------------------------------------------------------------- */

/* Where the library takes host memory, all but some paths of files; what it returns to the caller is of it, too, and is
 * given back by histo_free. Both functions are called by any thread, several at once, also by threads of the library.
 */
typedef struct histo_allocator {
    /* `bytes` of memory, aligned as malloc aligns it; NULL: there are none, and the call fails as HISTO_NO_MEMORY. */
    void *(*allocate)(void *context, size_t bytes);
    /* Take back what allocate gave for as many bytes. */
    void (*release)(void *context, void *memory, size_t bytes);
    void *context;
    uint64_t reserved[4];
} histo_allocator;

/* Set the allocator of the process, which is copied; NULL: malloc and free, as at the start. HISTO_INVALID if the
 * library has taken memory that it has not given back: set it before all other calls, while no other thread makes any.
 */
HISTO_API histo_status histo_set_allocator(const histo_allocator *allocator);

/* Limit the host memory that the library uses in this process; 0: only the system limits it. What exceeds the limit
 * fails as HISTO_NO_MEMORY. It may be changed at any time, also to less than is used now. */
HISTO_API void histo_set_memory_limit(size_t bytes);

/* Bytes of host memory that the library uses in this process now. */
HISTO_API size_t histo_memory_used(void);

/* Bytes of host memory that this process can still allocate: the least of what the system (memory and swap), the
 * control groups, the address-space limit (ulimit -v) and histo_set_memory_limit leave it; SIZE_MAX if none of them is
 * known. Before a large allocation the library compares it with this, and returns HISTO_NO_MEMORY if it does not fit.
 */
HISTO_API size_t histo_memory_available(void);

/* The version of the library that runs, such as "0.1.0"; it lives as long as the process. */
HISTO_API const char *histo_version(void);

/* ---- Samples: typed strided views --------------------------------------------------------------------- */

enum histo_dtype HISTO_ENUM_BASE {
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
    HISTO_DTYPE_COUNT,

    /* One bit, the least significant one of a byte first: for masks, such as Arrow's validity. */
    HISTO_BIT = 64,
    /* A flag: HISTO_F32 | HISTO_SWAPPED is f32 in the byte order that this machine does not have. */
    HISTO_SWAPPED = 128
};
typedef HISTO_ENUM(histo_dtype) histo_dtype;

/* Bytes of one sample; 0 for an unknown dtype and for HISTO_BIT. */
HISTO_API size_t histo_dtype_size(histo_dtype dtype);

/* The name of a dtype, "u8" … "f64", in either byte order, or "bit"; NULL for an unknown dtype. */
HISTO_API const char *histo_dtype_name(histo_dtype dtype);

/* The dtype of a name ("u8", "f32", "bf16"); HISTO_INVALID for any other. */
HISTO_API histo_status histo_dtype_parse(const char *name, histo_dtype *dtype);

/* The value of one sample, at any address, as a double; 64-bit integers are rounded to nearest. */
HISTO_API double histo_sample_value(const void *sample, histo_dtype dtype);

/* A strided view of memory that the caller owns. Element [i0, i1, …] is at
 *     (const char *)data + i0 * strides[0] + i1 * strides[1] + …
 * Strides are in bytes; they may be negative, zero (broadcasting) or unaligned. The first batch_ndim dimensions are
 * batch dimensions: each position along them has its own histogram. With ndim 0 the view is one sample. Views describe
 * row pitch, regions of interest, channels and batches of images alike: channel c of an interleaved RGB image is
 * {data + c, HISTO_U8, 2, 0, {h, w}, {pitch, 3}}; all three channels, one histogram each, are
 * {data, HISTO_U8, 3, 1, {3, h, w}, {1, pitch, 3}}.
 *
 * Swapped samples, weights, masks and where, and masks of bits, are for fills, surveys, quantiles and statistics. A GPU
 * takes them in its own memory; maps refuse them by HISTO_UNSUPPORTED, and so does a GPU in host memory. */
typedef struct histo_view {
    const void *data;
    histo_dtype dtype;
    int ndim;
    int batch_ndim;
    int64_t shape[HISTO_MAX_DIMS];
    int64_t strides[HISTO_MAX_DIMS]; /* in bytes; in bits if the dtype is HISTO_BIT */
} histo_view;

/* A view of n contiguous samples. */
HISTO_API histo_view histo_view_1d(const void *data, histo_dtype dtype, int64_t n);

/* A view of a C-contiguous array of shape[ndim], ndim 0 … HISTO_MAX_DIMS, without batch dimensions. */
HISTO_API histo_view histo_view_nd(const void *data, histo_dtype dtype, int ndim, const int64_t *shape);

/* Describe arrays of one shape that has more than HISTO_MAX_DIMS dimensions: up to 64. views[count] have their data
 * and dtype; strides[v][d] is the step of view v along dimension d, and the first batch_ndim dimensions are batch
 * dimensions. Sets the views' dimensions: neighbours that are contiguous in all views become one, and others may change
 * places, so samples may come in another order, the same in all views; batch entries keep theirs. HISTO_UNSUPPORTED if
 * too many dimensions are left: copy the array first. */
HISTO_API histo_status histo_view_coalesce(int count, histo_view *views, int ndim, int batch_ndim, const int64_t *shape,
                                           const int64_t *const *strides);

/* The number of samples of a valid view: the product of its shape. */
HISTO_API int64_t histo_view_size(const histo_view *view);

/* ---- Axes --------------------------------------------------------------------------------------------- */

/* An axis of n bins has n + 1 strictly increasing, finite edges of type double, and the edges define the bins: sample x
 * is in bin i iff edges[i] <= x < edges[i+1], compared by value, whatever the sample's type. Underflow, overflow and
 * NaN have slots of their own (see HISTO_FLOW).
 * The edges of HISTO_VARIABLE may also be equal or infinite. A bin between equal edges is empty, but for the last of a
 * closed axis, which holds that value. Summaries, splits and the earth mover's distance take no infinite edges, and
 * maps neither infinite nor equal ones.
 * More than 2^22 edges of a formula are not all computed to check an axis: there, bins must be so wide that rounding
 * cannot close one, that is some 2^-40 of their edges. */
enum histo_axis_kind HISTO_ENUM_BASE {
    HISTO_INTEGER = 0, /* edges lo, lo+1, …, lo+bins */
    HISTO_REGULAR,     /* edges[i] = lo + i * ((hi-lo)/bins), rounded twice, edges[bins] = hi: numpy.linspace */
    HISTO_VARIABLE,    /* any edges that do not decrease */
    HISTO_LOG,         /* equal steps of log(x); lo > 0 */
    HISTO_SQRT,        /* equal steps of sqrt(x); lo >= 0 */
    HISTO_POWER        /* equal steps of x^power; lo >= 0 (lo > 0 for a negative power), power != 0 */
};
typedef HISTO_ENUM(histo_axis_kind) histo_axis_kind;

enum { HISTO_AXIS_KIND_COUNT = HISTO_POWER + 1 };

/* The name of a kind in saved files, "integer" … "power"; NULL for an unknown kind. */
HISTO_API const char *histo_axis_kind_name(histo_axis_kind kind);

/* The type of an axis' edges. */
enum histo_edge_type HISTO_ENUM_BASE {
    HISTO_EDGES_F64 = 0, /* double */
    HISTO_EDGES_I64,     /* int64_t; of HISTO_VARIABLE only, as is the next */
    HISTO_EDGES_U64      /* uint64_t */
};
typedef HISTO_ENUM(histo_edge_type) histo_edge_type;

/* A plain value; nothing to free. edges[bins + 1], of the type edge_type, is borrowed until a histogram is created from
 * the axis, which copies it. HISTO_VARIABLE requires it. HISTO_LOG, HISTO_SQRT and HISTO_POWER use it if it is given,
 * so that a saved axis has the same edges under another libm, and compute the edges if it is NULL. HISTO_INTEGER and
 * HISTO_REGULAR ignore it. lo and hi are the first and the last edge, and are ignored if edges are integers. The axis
 * of a histogram has integer edges only if doubles do not hold all of them; histo_axis_edges then rounds them. */
typedef struct histo_axis {
    histo_axis_kind kind;
    histo_edge_type edge_type;
    int64_t bins;
    double lo, hi;
    double power;      /* of HISTO_POWER */
    const void *edges; /* or NULL */
    bool closed;       /* the last bin includes its upper edge, as in NumPy */
    unsigned char reserved[15];
} histo_axis;

/* Describe axes of each kind; the last bin is open on the right. These calls only fill in the struct: histo_axis_check
 * and histo_hist_create say what is wrong with it. `edges` is borrowed, as in histo_axis. */
HISTO_API histo_axis histo_axis_integer(int64_t lo, int64_t bins);
HISTO_API histo_axis histo_axis_regular(int64_t bins, double lo, double hi);
HISTO_API histo_axis histo_axis_variable(int64_t bins, const double *edges);
/* Edges that are integers, such as times in nanoseconds: samples are compared with them by value. If doubles hold them
 * all, the axis is that of histo_axis_variable. */
HISTO_API histo_axis histo_axis_variable_i64(int64_t bins, const int64_t *edges);
HISTO_API histo_axis histo_axis_variable_u64(int64_t bins, const uint64_t *edges);
HISTO_API histo_axis histo_axis_log(int64_t bins, double lo, double hi);
HISTO_API histo_axis histo_axis_sqrt(int64_t bins, double lo, double hi);
HISTO_API histo_axis histo_axis_power(int64_t bins, double lo, double hi, double power);
/* The axis with its last bin closed on the right. */
HISTO_API histo_axis histo_axis_closed(histo_axis axis);

/* HISTO_OK, or HISTO_INVALID if the axis cannot be used; the message says why. */
HISTO_API histo_status histo_axis_check(const histo_axis *axis);

/* Write the edges of a valid axis to edges[bins + 1]; integers that doubles do not hold are rounded up. */
HISTO_API histo_status histo_axis_edges(const histo_axis *axis, double *edges);

/* Edge i of a valid axis, likewise; i is 0 … bins, and the edge of another i is NaN. */
HISTO_API double histo_axis_edge(const histo_axis *axis, int64_t i);

/* Do two valid axes have the same bins: as many, between the same edges, the last one open or closed in both? Edges are
 * compared by value, every bit of them counts, and -0 equals 0, as no sample lies between them. Kinds may differ: an
 * integer axis equals a regular one with its edges. false if either is NULL. */
HISTO_API bool histo_axis_equal(const histo_axis *a, const histo_axis *b);

/* Write edges[bins + 1] from lo to hi, as numpy.linspace(lo, hi, bins + 1) computes them in the type `computed` and
 * rounds them to the type `edge`: HISTO_F16, HISTO_F32 or HISTO_F64. For samples of float32, numpy.histogram computes
 * in double if the range is given as Python numbers, in float if it is found from the samples, and rounds to float.
 * HISTO_INVALID if lo or hi is not finite in these types, or if the edges do not increase. */
HISTO_API histo_status histo_linspace(int64_t bins, double lo, double hi, histo_dtype computed, histo_dtype edge,
                                      double *edges);

/* ---- Histograms --------------------------------------------------------------------------------------- */

typedef struct histo_hist histo_hist;

/* What a slot holds in addition to its exact 64-bit count. */
enum histo_weighting HISTO_ENUM_BASE {
    HISTO_UNWEIGHTED = 0,
    HISTO_WEIGHT_FAST,            /* sums of w and of w*w in double, added in any order. The error of n samples is at
                                     most n * 2^-53 times the sum of |w|, and of w*w */
    HISTO_WEIGHT_REPRODUCIBLE,    /* exact sums of w and of w*w (each square rounded once to double), rounded once when
                                     read: error half an ulp, and the same bits whatever the device, strategy, number
                                     of threads, chunks or ranks. Each of both sums takes 8 bytes a slot for every
                                     32-bit window of exponents that the weights touch, typically 3 to 5 */
    HISTO_WEIGHT_FAST_SUM,        /* HISTO_WEIGHT_FAST without the sums of w*w: half the memory, faster fills */
    HISTO_WEIGHT_REPRODUCIBLE_SUM /* HISTO_WEIGHT_REPRODUCIBLE without the sums of w*w, likewise */
};
typedef HISTO_ENUM(histo_weighting) histo_weighting;

/* The name of a weighting in saved files: "unweighted", "fast", "reproducible", "fast-sum" or "reproducible-sum"; NULL
 * for an unknown weighting. */
HISTO_API const char *histo_weighting_name(histo_weighting weighting);

/* How counts are stored. A sparse histogram stores occupied slots only, as sorted pairs of a slot's number and its
 * count (16 bytes). Use it for several axes whose bins multiply to far more than the number of samples: five columns of
 * 256 bins have 2^40 bins. The slots of all axes times the batch may be at most 2^63 - 1, and the pairs must fit into
 * memory, twice while they are merged. There are no weights. Everything that reads a dense histogram reads a sparse
 * one; histo_hist_read_occupied reads the pairs. Filling takes longer per sample; on a GPU it allocates and
 * synchronises, so it cannot be captured into a CUDA graph. */
enum histo_storage HISTO_ENUM_BASE {
    HISTO_DENSE = 0, /* an array of all slots */
    HISTO_SPARSE     /* the occupied slots */
};
typedef HISTO_ENUM(histo_storage) histo_storage;

typedef struct histo_hist_options {
    int64_t batch;             /* number of histograms, default 1: the product of the batch dimensions of the views
                                  that fill them */
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
/* Exchange all that two histograms are and hold. A CUDA graph counts into the one that now holds what it counted. */
HISTO_API void histo_hist_swap(histo_hist *a, histo_hist *b);
/* Set all counts and sums to zero. stream: a cudaStream_t, on which its GPU does so, after the fills and reads of the
 * histogram; if no other GPU has ever counted, the call may then be captured into a CUDA graph. Other GPUs that have
 * counted, and all GPUs if stream is NULL, do so before whatever the histogram is next used for. */
HISTO_API histo_status histo_hist_reset(histo_hist *hist, void *stream);

/* What the histogram was created with: the number of axes, batch, weighting and storage. */
HISTO_API int histo_hist_naxes(const histo_hist *hist);
HISTO_API int64_t histo_hist_batch(const histo_hist *hist);
HISTO_API histo_weighting histo_hist_weighting(const histo_hist *hist);
HISTO_API histo_storage histo_hist_storage(const histo_hist *hist);
/* Axis a, whose edges, if not NULL, live as long as the histogram; a zero axis if a is not in 0 … naxes-1. */
HISTO_API histo_axis histo_hist_axis(const histo_hist *hist, int a);

/* A name, in UTF-8, and metadata of the caller's, the text of a JSON object: they are copied; NULL: none, as at first.
 * Both formats of saved histograms keep them, and so does what clone, project, rebin, slice and regroup make. Merging,
 * subtracting, writing and resetting leave those of hist, and equal does not compare them. The name is any but
 * "uhi_schema". UHI, whose `metadata` these are in JSON, wants their values to be strings, numbers, true or false; NaN
 * and infinities are written as Python does. HISTO_INVALID for an empty name, what is not UTF-8 or JSON, what is nested
 * deeper than 62, or too long. */
HISTO_API histo_status histo_hist_set_name(histo_hist *hist, const char *name);
HISTO_API histo_status histo_hist_set_metadata(histo_hist *hist, const char *json);
/* The name and the metadata, as they were given; NULL: none. They are valid until hist is given others, swapped or
 * destroyed. */
HISTO_API const char *histo_hist_name(const histo_hist *hist);
HISTO_API const char *histo_hist_metadata(const histo_hist *hist);

/* A function from a record, which is a sample of any type of the caller's own, to the number that is counted. In C++,
 * histo/histo.hpp makes it of a functor. */
typedef struct histo_function {
    /* Write the numbers of n records, of which the first is at `records` and each next one `stride` bytes further, to
     * numbers[n], an aligned array of the dtype of the view. Several threads call it at once, each for some thousand
     * records at most. NULL: the view has samples, and no records. */
    void (*numbers_of)(const void *context, const void *records, int64_t stride, int64_t n, void *numbers);
    const void *context;
    size_t alignment; /* of records, a power of 2; 0: they may be anywhere */
    size_t size;      /* of a record; for a GPU, as is what follows */
    /* CUDA C++17, which is compiled while the program runs (by NVIDIA's NVRTC library) and becomes part of the kernels
     * that count: it defines the type of a record, called `record`, and what `functor` needs, an expression that is
     * called with a record and gives a number of the view's dtype. There are no headers; the types of stdint.h, NAN and
     * mathematical functions are known. Without contraction to FMA, which the host's compiler may do, both give the
     * same numbers. The texts are copied. NULL: records are in host memory only. */
    const char *source, *record, *functor;
    uint64_t reserved[8];
} histo_function;

typedef struct histo_fill_options {
    /* A weight for each sample, of any dtype, for a weighted histogram; NULL: all are 1. Several weights of each sample
     * are a batch whose samples, mask and where have a stride of 0 along it, and whose weights have not: on a CPU, fast
     * sums of such a batch find the bin of a sample once for up to eight weights. */
    const histo_view *weights;
    const histo_view *mask;  /* of any dtype, HISTO_BIT included: samples whose mask is zero are not counted */
    const histo_view *where; /* of any dtype: only samples with where_lo <= where <= where_hi are counted */
    double where_lo, where_hi;
    /* Segments of different lengths: histogram b of the batch counts the samples offsets[b] … offsets[b + 1] - 1 of
     * views with one dimension and no batch dimension. offsets[batch + 1] never decreases, starts with 0 and ends with
     * the number of samples. Offsets in host memory are checked; offsets in the memory of the samples' GPU are not. */
    const int64_t *offsets;
    /* The cudaStream_t on which samples in device memory become ready; NULL: the default stream. The counting is
     * enqueued there and may still run when the call returns: do not change the samples before the stream has passed it
     * or the histogram has been read. A fill by a plan that has filled this histogram before may be captured into a
     * CUDA graph; each launch of the graph counts again. */
    void *stream;
    /* First set all counts to zero, those of histo_hist_tally included, on the stream: each launch of a graph then
     * counts from zero. During capture, one GPU alone must have filled the histogram since it was created, reset or
     * replaced. */
    bool replace;
    int threads;         /* CPU threads that count; default: those of the plan, if one is given, else histo_threads() */
    int64_t mask_offset; /* for a mask of HISTO_BIT: the bit of its data that is its first element, counted from 0 */
    /* functions[naxes], for fills, plans and histo_count; functions[0] for surveys, quantiles, statistics and extremes.
     * The view of axis a describes the records of functions[a]: their addresses, shape and strides. Its dtype, in this
     * machine's byte order, is that of the numbers that the function makes of them, which are counted as samples. Views
     * of several axes may be of the same records. The CPU counts those in host memory, without a copy of all numbers; a
     * GPU counts those in its memory, if all functions have a source. The first fill then waits about a second for the
     * compiler, and if that refuses the source, the call fails with its messages. Surveys, quantiles, statistics and
     * extremes take records in host memory only. */
    const histo_function *functions;
    uint64_t reserved[8];
} histo_fill_options;

/* Count samples: views[naxes], where views[a] has the coordinates on axis a. All views, weights, mask and where have
 * the same shape. Samples that mask or where leave out are counted
 * as masked. Fills accumulate, unless options->replace is set. Host memory may be reused as soon as the call returns;
 * for device memory see stream. */
HISTO_API histo_status histo_hist_fill(histo_hist *hist, const histo_view *views, const histo_fill_options *options);

/* A chunk of samples: what histo_hist_fill takes, and the fields of its options that a chunk has for itself. */
typedef struct histo_fill_chunk {
    const histo_view *views;                  /* [naxes] */
    const histo_view *weights, *mask, *where; /* each may be NULL */
    int64_t mask_offset;
    uint64_t reserved[8];
} histo_fill_chunk;

/* Count chunks[count], such as those of a column of Arrow, by one plan: what as many calls of histo_hist_fill count.
 * The chunks have one choice of weights, mask and where, equal dtypes and the memory of one device; their sizes and
 * strides may differ. Options are those of all chunks, without weights, mask, where and offsets; with `replace`, all
 * chunks together replace what was counted. All arguments are checked first: if one is refused, nothing is counted.
 * Where memory runs out, or a device fails, while it counts, the sentence says which chunks were counted. */
HISTO_API histo_status histo_hist_fill_chunks(histo_hist *hist, int64_t count, const histo_fill_chunk *chunks,
                                              const histo_fill_options *options);

/* Which slots of an axis are read. */
enum histo_slots HISTO_ENUM_BASE {
    HISTO_BINS = 0, /* bins only: an axis of n bins has n entries */
    HISTO_FLOW      /* n + 3 entries: underflow, the bins, overflow, NaN */
};
typedef HISTO_ENUM(histo_slots) histo_slots;

/* The number of entries read: batch times the product over the axes of n (HISTO_BINS) or n + 3 (HISTO_FLOW). */
HISTO_API int64_t histo_hist_size(const histo_hist *hist, histo_slots slots);

typedef struct histo_read_options {
    /* What to write. Of counts: HISTO_U64, which is the default; HISTO_U32, where counts of more than 2^32 - 1 become
     * 2^32 - 1; HISTO_F32 or HISTO_F64, rounded to nearest. Of sums of weights: HISTO_F64 by default, or HISTO_F32. */
    histo_dtype dtype;
    /* Each entry of the last axis is the sum of the counts up to and with it, as a cumulative histogram has it. Sums of
     * weights cannot be read like this. */
    bool cumulative;
    /* For an array in a GPU's memory (device or managed memory): the cudaStream_t on which it is written, after the
     * fills of the histogram; NULL: the default stream. The call may return before. If that GPU alone has counted since
     * the histogram was created or reset, in a dense histogram without reproducible sums, nothing allocates, waits or
     * copies, and the call may be captured into a CUDA graph: each launch of the graph reads what this GPU has
     * counted by then. If other GPUs have counted, too, but nothing else, and this GPU has filled the histogram before,
     * their counts are first added to its own, on streams of the library. Otherwise, and if a part is read, the counts
     * come through host memory, and the call waits. */
    void *stream;
    /* Read a part: of the batch the entries first_entry … first_entry + entries - 1, and on axis a the positions
     * begin[a] … end[a] - 1, which count from 0 as in a read of all: bins, or with HISTO_FLOW underflow, the bins,
     * overflow, NaN. 0 in entries or end[a]: up to the last. What is written is then the array of this part alone, and
     * cumulative sums begin with the first that is read. */
    int64_t first_entry, entries;
    int64_t begin[HISTO_MAX_AXES], end[HISTO_MAX_AXES];
    uint64_t reserved[8];
} histo_read_options;

/* Copy the counts to counts[size] in C order: batch slowest, then axis 0, …, the last axis fastest. size must be
 * histo_hist_size(hist, slots), or the number of entries of the part that options name. Waits for fills on GPUs, except
 * for an array in a GPU's memory: see stream. */
HISTO_API histo_status histo_hist_read_counts(const histo_hist *hist, histo_slots slots, void *counts, int64_t size,
                                              const histo_read_options *options);

/* *occupied = the number of entries of such a read that are not zero. */
HISTO_API histo_status histo_hist_occupied(const histo_hist *hist, histo_slots slots, int64_t *occupied);

/* Read only those entries, of a sparse or a dense histogram: index[size] is the position of each in the array that
 * histo_hist_read_counts would write, in increasing order, and counts[size] its count. Either may be NULL; size must be
 * what histo_hist_occupied gives. */
HISTO_API histo_status histo_hist_read_occupied(const histo_hist *hist, histo_slots slots, int64_t *index,
                                                uint64_t *counts, int64_t size);

/* Unravel the index of an entry, 0 … histo_hist_size(hist, slots) - 1: returns its batch entry, -1 for another index,
 * and writes its position on each axis to at[naxes]: the bin for HISTO_BINS; for HISTO_FLOW 0 is underflow, followed by
 * the bins, overflow, NaN. */
HISTO_API int64_t histo_hist_unravel(const histo_hist *hist, histo_slots slots, int64_t index, int64_t *at);

/* histo_hist_read_counts for the sums of weights; sum_w[size] or sum_w2[size] may be NULL. An unweighted histogram
 * gives its counts. */
HISTO_API histo_status histo_hist_read_weights(const histo_hist *hist, histo_slots slots, void *sum_w, void *sum_w2,
                                               int64_t size, const histo_read_options *options);

/* Get pointers to all counts and fast sums, where the histogram keeps them, without a copy: each array has
 * histo_hist_size(hist, HISTO_FLOW) entries in the order of a read of these slots. NULL for sums that the histogram
 * does not keep like this: those of an unweighted histogram, of reproducible weights, and of squares that it does
 * without. Any of the three arguments may be NULL. The arrays are the histogram's, and must not be written. They stay
 * valid, and as they are, until the histogram is next filled, written, reset, merged into or destroyed; what a GPU
 * counts later is not in them. Waits for fills on GPUs, and copies what these have counted to host memory.
 * HISTO_UNSUPPORTED if the histogram is sparse: histo_hist_read_occupied reads that. */
HISTO_API histo_status histo_hist_borrow(const histo_hist *hist, const uint64_t **counts, const double **sum_w,
                                         const double **sum_w2);

/* Where the samples of all batch entries went: bins + flow + masked == samples. under, over and nan are per axis; a
 * sample may be in the flow of several axes. */
typedef struct histo_tally {
    uint64_t samples; /* passed to fills, including masked ones */
    uint64_t masked;  /* left out by a mask or a range filter */
    uint64_t bins;    /* in a bin on every axis */
    uint64_t flow;    /* in underflow, overflow or NaN on at least one axis */
    uint64_t under[HISTO_MAX_AXES], over[HISTO_MAX_AXES], nan[HISTO_MAX_AXES];
    uint64_t reserved[4];
} histo_tally;
HISTO_API histo_status histo_hist_tally(const histo_hist *hist, histo_tally *tally);

/* masked[size] = the samples that a mask or a range filter left out of each batch entry; size must be the batch. */
HISTO_API histo_status histo_hist_read_masked(const histo_hist *hist, uint64_t *masked, int64_t size);

/* Set all that the histogram holds: the counts[size] of a read of these slots, where the flow becomes zero if they are
 * HISTO_BINS, its sums of weights and of their squares (NULL: as if each sample had weight 1), and masked[batch] (NULL:
 * zero). Reproducible sums become exactly these. HISTO_INVALID for sums that the histogram does not keep. */
HISTO_API histo_status histo_hist_write(histo_hist *hist, histo_slots slots, const uint64_t *counts,
                                        const double *sum_w, const double *sum_w2, int64_t size,
                                        const uint64_t *masked);

/* Set the entries index[n] of a read with HISTO_FLOW to these counts[n] and, where the histogram keeps them, to these
 * sums of weights and of their squares, else NULL. All others stay as they are, to the bit. HISTO_UNSUPPORTED of a
 * sparse histogram. */
HISTO_API histo_status histo_hist_put(histo_hist *hist, int64_t n, const int64_t *index, const uint64_t *counts,
                                      const double *sum_w, const double *sum_w2);

/* Add the contents of other to hist. Axes (histo_axis_equal), batch, weighting and storage must be equal. */
HISTO_API histo_status histo_hist_merge(histo_hist *hist, const histo_hist *other);

/* Subtract the contents of other from hist: take out again what merging has added, so that the samples of a parent node
 * without those of one child are those of the other. Axes, batch, weighting and storage must be equal. HISTO_INVALID,
 * and nothing changes, if other has more samples than hist in a slot, or has left out more. Counts are exact, and so
 * are reproducible sums, with IEEE 754's rules for infinities and NaN; fast sums are rounded, and may leave a little of
 * what cancels. */
HISTO_API histo_status histo_hist_subtract(histo_hist *hist, const histo_hist *other);

/* Multiply all sums of weights by a finite factor, and those of squares by it twice, as if each weight had been
 * multiplied. Every product is rounded to double; a reproducible sum is rounded before, and then is exactly the
 * product. Counts stay, as they are numbers of samples. An unweighted histogram has no sums: its counts are multiplied,
 * by a factor that is a whole number from 0 on. Any other is HISTO_INVALID. Samples that were left out stay. */
HISTO_API histo_status histo_hist_scale(histo_hist *hist, double factor);

/* *equal = whether two histograms are the same: axes (histo_axis_equal), batch, weighting, storage, the counts of all
 * slots, the samples left out, and all sums. Sums are compared by value, where NaN equals NaN; reproducible ones
 * exactly, not as they are rounded for a read. */
HISTO_API histo_status histo_hist_equal(const histo_hist *a, const histo_hist *b, bool *equal);

/* A number that is equal of histograms that histo_hist_merge can merge, and differs with near certainty if it refuses
 * them: machines compare it instead of all edges. The same in every version 0.1 of the library. */
HISTO_API histo_status histo_hist_fingerprint(const histo_hist *hist, uint64_t *fingerprint);

/* Words: what a dense histogram holds as an array of 64-bit numbers which, added up one by one, are those of the merged
 * histogram. So anything that adds arrays can merge histograms: MPI_Reduce (histo/mpi.h does that), NCCL, shared
 * memory. First come words of uint64_t, which are added modulo 2^64:
 *
 *   - counts[batch * slots], as a read with HISTO_FLOW has them;
 *   - masked[batch];
 *   - digits of reproducible sums, for each window of the layout [batch * slots]: those of w, then those of w * w;
 *   - flags[batch * slots], if the layout has them: how many of the added histograms saw infinity (bits 0 to 20),
 *     -infinity (21 to 41) and NaN (42 to 62): those of w, then those of w * w.
 *
 * Then come words of double:
 *
 *   - sums of fast weights, [batch * slots] of w, then as many of w * w.
 *
 * Up to 2^21 - 1 histograms may be added up. Words are in the byte order of the machine, and in host memory. */

/* Which digits and flags are among the words. Histograms that are to be added up need one layout: the bitwise or of
 * theirs. That of unweighted histograms and of fast weights is zero. */
typedef struct histo_word_layout {
    uint64_t windows[4]; /* bits 0 to 68 are windows, bit 69 are the flags: two numbers for w, two for w * w */
} histo_word_layout;

/* The smallest layout that holds what the histogram holds. Waits for fills on GPUs. */
HISTO_API histo_status histo_hist_word_layout(const histo_hist *hist, histo_word_layout *layout);

/* How many words there are in a layout. HISTO_UNSUPPORTED of a sparse histogram, which has occupied entries instead. */
HISTO_API histo_status histo_hist_count_words(const histo_hist *hist, const histo_word_layout *layout,
                                              int64_t *integers, int64_t *doubles);

/* Copy words [first, first + n) to words[n]: any range, so that nobody needs room for all. Fastest in rising order. */
HISTO_API histo_status histo_hist_read_words(const histo_hist *hist, const histo_word_layout *layout, int64_t first,
                                             int64_t n, uint64_t *words);
/* Replace words [first, first + n), or add to them. All words together are a histogram; while only some have been
 * replaced, sums mean nothing. HISTO_INVALID for words that sums of reproducible weights cannot have. With n = 0,
 * memory for all words is allocated, so that further calls in rising order cannot fail for the lack of it. */
HISTO_API histo_status histo_hist_write_words(histo_hist *hist, const histo_word_layout *layout, int64_t first,
                                              int64_t n, const uint64_t *words);
HISTO_API histo_status histo_hist_add_words(histo_hist *hist, const histo_word_layout *layout, int64_t first, int64_t n,
                                            const uint64_t *words);
/* Set *words to point to words [first, first + n) where the histogram keeps them, so that they can be changed in place,
 * without a copy, until the next call with this histogram. *words is NULL if the histogram does not keep them as words,
 * which is so for digits and flags, or does not keep them all in one array. */
HISTO_API histo_status histo_hist_borrow_words(histo_hist *hist, const histo_word_layout *layout, int64_t first,
                                               int64_t n, uint64_t **words);

/* Add counts[size] to the entries index[size] of a read of these slots, in increasing order: the inverse of
 * histo_hist_read_occupied, of a sparse or a dense histogram. HISTO_UNSUPPORTED of a weighted one. */
HISTO_API histo_status histo_hist_add_occupied(histo_hist *hist, histo_slots slots, const int64_t *index,
                                               const uint64_t *counts, int64_t size);
/* Add masked[size] to the samples of each batch entry that were left out; size must be the batch. */
HISTO_API histo_status histo_hist_add_masked(histo_hist *hist, const uint64_t *masked, int64_t size);

/* Create a histogram of the axes listed in axes[naxes], each at most once, summed over all slots of the others: exactly
 * what a fill with these columns alone would give. project, rebin and slice keep the storage of hist; the caller
 * destroys the new histogram. */
HISTO_API histo_status histo_hist_project(const histo_hist *hist, int naxes, const int *axes, histo_hist **out);

/* Create a histogram with each `factor` adjacent bins of one axis merged; factor must divide the number of bins. The
 * remaining edges keep their values: where the axis' formula would give others, the axis becomes HISTO_VARIABLE. */
HISTO_API histo_status histo_hist_rebin(const histo_hist *hist, int axis, int64_t factor, histo_hist **out);

/* Create a histogram with the bins [begin, end) of one axis; the other bins are added to underflow and overflow. */
HISTO_API histo_status histo_hist_slice(const histo_hist *hist, int axis, int64_t begin, int64_t end, histo_hist **out);

/* How the slots of a histogram go to those of another: axis a becomes axis targets[a], or is summed over if that is
 * negative, and its slot s (0 is underflow, then come the bins, overflow and NaN) goes to slot maps[a][s]: 0 if the
 * axis is summed over, HISTO_NOWHERE to leave out what is there. Where maps[a] is NULL, bins keep their numbers, and
 * overflow and NaN stay behind them; or all slots are summed. */
#define HISTO_NOWHERE UINT32_MAX
typedef struct histo_regrouping {
    int naxes;
    const histo_axis *axes; /* [naxes] of the new histogram */
    int targets[HISTO_MAX_AXES];
    const uint32_t *maps[HISTO_MAX_AXES]; /* [bins + 3] of the old axis; or NULL */
    int64_t entry;                        /* the only one of the batch that is copied; -1: all are */
    uint64_t reserved[8];
} histo_regrouping;

/* Create a histogram of other axes, to whose slots those of hist are added: what project, rebin and slice do, and all
 * else of the kind. It has the weighting and storage of hist, and reproducible sums stay exact. The caller destroys it.
 */
HISTO_API histo_status histo_hist_regroup(const histo_hist *hist, const histo_regrouping *by, histo_hist **out);

/* ---- Numbers from a histogram ------------------------------------------------------------------------- */

/* All of these read the counts, and so wait for fills on GPUs. They are computed on the host in one order: the results
 * have the same bits whatever device, strategy, number of threads or chunks counted. Arrays of results are in host
 * memory and have an element for each batch entry. "Shares" are counts over their sum in bins; without counts they, and
 * what follows from them, are NaN. Where samples have a value, it is that of their bin: on HISTO_INTEGER axes the
 * integer itself, elsewhere the bin's centre, (lower edge + upper edge) / 2. The flow counts only where this is said.
 */

/* numpy.quantile's methods, by the names and formulas of Hyndman and Fan, "Sample quantiles in statistical packages",
 * The American Statistician 50 (1996). */
enum histo_quantile_rule HISTO_ENUM_BASE {
    HISTO_QUANTILE_LINEAR = 0,
    HISTO_QUANTILE_LOWER,
    HISTO_QUANTILE_HIGHER,
    HISTO_QUANTILE_NEAREST,
    HISTO_QUANTILE_MIDPOINT,
    HISTO_QUANTILE_INVERTED_CDF,
    HISTO_QUANTILE_AVERAGED_INVERTED_CDF,
    HISTO_QUANTILE_CLOSEST_OBSERVATION,
    HISTO_QUANTILE_INTERPOLATED_INVERTED_CDF,
    HISTO_QUANTILE_HAZEN,
    HISTO_QUANTILE_WEIBULL,
    HISTO_QUANTILE_MEDIAN_UNBIASED,
    HISTO_QUANTILE_NORMAL_UNBIASED
};
typedef HISTO_ENUM(histo_quantile_rule) histo_quantile_rule;

/* "linear" … "normal_unbiased", NumPy's names; HISTO_INVALID for any other. */
HISTO_API histo_status histo_quantile_rule_parse(const char *name, histo_quantile_rule *rule);

/* The quantiles q[n], each 0 … 1, of a histogram with one axis: values[batch][n]. On an integer axis they are those of
 * the samples, equal to numpy.quantile of the samples as doubles. On other axes the c samples of a bin count as if they
 * were spread over it, at (k + 1/2) / c of its width for k = 0 … c-1, so that the error is less than the bin's width.
 * Underflow and overflow take part: a quantile that needs a sample of either, or of a bin with an infinite edge, is
 * -infinity or infinity. NaN samples do not take part. Without samples, all quantiles are NaN. */
HISTO_API histo_status histo_hist_quantiles(const histo_hist *hist, histo_quantile_rule rule, int n, const double *q,
                                            double *values);

/* Exact quantiles of samples of any dtype: those of numpy.nanquantile of the samples as doubles, except that a quantile
 * between an infinity and another sample is not NaN. Add the same samples in each pass, in any pieces:
 *
 *     histo_quantiles_create(&quantiles, dtype, HISTO_QUANTILE_LINEAR, 3, (double[]){0.25, 0.5, 0.75});
 *     while (histo_quantiles_next_pass(quantiles, &more) == HISTO_OK && more)
 *         for each piece: histo_quantiles_add(quantiles, &piece, NULL);
 *     histo_quantiles_read(quantiles, values);
 *
 * One pass is enough for 8- and 16-bit types, and mostly for others if there are at most 8 quantiles: a few samples of
 * the first piece tell where to look. Pieces unlike the first, and more quantiles of more than 2^17 samples, take a
 * second pass. Memory is bounded, whatever the size of the data: at most 50 MiB, and 200 bytes for each quantile.
 * Several threads read pieces of 2^17 samples and more. */
typedef struct histo_quantiles histo_quantiles;
/* Begin to find the quantiles q[n], each 0 … 1, which are copied. The caller destroys the object. */
HISTO_API histo_status histo_quantiles_create(histo_quantiles **quantiles, histo_dtype dtype, histo_quantile_rule rule,
                                              int n, const double *q);
/* Destroy it; NULL is allowed. */
HISTO_API void histo_quantiles_destroy(histo_quantiles *quantiles);
/* Begin a pass: *more = whether the samples must be added (again), or the quantiles are known. */
HISTO_API histo_status histo_quantiles_next_pass(histo_quantiles *quantiles, bool *more);
/* Add samples, with options as for histo_survey_add. NaN is left out. Samples in a GPU's memory are counted there,
 * digit by digit of their bits, in one to four passes; see histo_survey. */
HISTO_API histo_status histo_quantiles_add(histo_quantiles *quantiles, const histo_view *samples,
                                           const histo_fill_options *options);
/* values[n] in the order of q; NaN if there were no samples. */
HISTO_API histo_status histo_quantiles_read(const histo_quantiles *quantiles, double *values);

typedef struct histo_summary {
    uint64_t count;         /* the samples in bins */
    double mean, variance;  /* variance: the mean of (x - mean)^2 */
    double skewness;        /* the mean of (x - mean)^3, over variance^1.5; NaN if the variance is 0 */
    double kurtosis;        /* the mean of (x - mean)^4, over variance^2, minus 3; NaN if the variance is 0 */
    double entropy;         /* the entropy of the shares, in bits */
    int64_t first, last;    /* the lowest and the highest occupied bin; -1 if there is none, as for mode */
    int64_t mode, occupied; /* the bin with the largest count, the lowest of equals; the number of occupied bins */
    uint64_t reserved[4];
} histo_summary;

/* Summarize a histogram with one axis: summaries[batch]. */
HISTO_API histo_status histo_hist_summarize(const histo_hist *hist, histo_summary *summaries);

/* How to split a histogram into classes of neighbouring bins; with two classes, how to find a threshold. */
enum histo_split_method HISTO_ENUM_BASE {
    HISTO_SPLIT_OTSU = 0,   /* any number of classes: the least variance within classes (Otsu 1979), by dynamic
                               programming with divide and conquer in O(classes * occupied * log(occupied)). Two
                               classes of an integer or regular axis are compared exactly, and the lowest of equal
                               splits is taken */
    HISTO_SPLIT_TRIANGLE,   /* two classes, as are all that follow: Zack et al. 1977 */
    HISTO_SPLIT_LI,         /* the least cross entropy, by the iteration of Li and Tam 1998 */
    HISTO_SPLIT_YEN,        /* the largest correlation: Yen et al. 1995 */
    HISTO_SPLIT_ISODATA,    /* half-way between the means of both classes: Ridler and Calvard 1978 */
    HISTO_SPLIT_MINIMUM,    /* the minimum between two maxima, after smoothing: Prewitt and Mendelsohn 1966 */
    HISTO_SPLIT_MEAN,       /* the mean of all samples */
    HISTO_SPLIT_MAX_ENTROPY /* the largest sum of both classes' entropies: Kapur, Sahoo and Wong 1985 */
};
typedef HISTO_ENUM(histo_split_method) histo_split_method;

/* "otsu", "triangle", "li", "yen", "isodata", "minimum", "mean", "max-entropy"; HISTO_INVALID for any other. */
HISTO_API histo_status histo_split_method_parse(const char *name, histo_split_method *method);

/* Split the bins of a histogram with one axis into classes, 2 or more: last[batch][classes - 1] is the last bin of each
 * class but the highest, increasing. A sample is above a threshold iff its bin is above last[0]. If all samples are in
 * one bin and there are two classes, last[0] is that bin. HISTO_INVALID, naming the batch entry, if fewer bins are
 * occupied than there are classes, or if HISTO_SPLIT_MINIMUM finds no two maxima; HISTO_UNSUPPORTED if it would have to
 * smooth more than 2^16 bins. */
HISTO_API histo_status histo_hist_split(const histo_hist *hist, histo_split_method method, int classes, int64_t *last);

/* How to compare the counts a and b of two histograms, whose sums are A and B. */
enum histo_metric HISTO_ENUM_BASE {
    HISTO_CORRELATION = 0, /* Pearson's coefficient: -1 … 1 */
    HISTO_CHI_SQUARE,      /* sum of (a - b)^2 / a where a > 0 */
    HISTO_CHI_SQUARE_ALT,  /* 2 * sum of (a - b)^2 / (a + b) */
    HISTO_INTERSECTION,    /* sum of min(a / A, b / B): 0 … 1 */
    HISTO_BHATTACHARYYA,   /* sqrt(1 - sum of sqrt(a * b / (A * B))): 0 … 1, also called Hellinger distance */
    HISTO_KL_DIVERGENCE,   /* sum of a/A * log((a/A) / (b/B)), in nats; infinite where only b is 0 */
    HISTO_JS_DIVERGENCE,   /* Jensen-Shannon: half of both KL divergences from the mean of the shares: 0 … log(2) */
    HISTO_KOLMOGOROV,      /* one axis: the largest difference of the cumulative shares: 0 … 1 */
    HISTO_EARTH_MOVER      /* one axis: the area between the cumulative shares, in units of the axis (Wasserstein 1) */
};
typedef HISTO_ENUM(histo_metric) histo_metric;

/* "correlation", "chi-square", "chi-square-alt", "intersection", "bhattacharyya", "kl-divergence", "js-divergence",
 * "kolmogorov", "earth-mover"; HISTO_INVALID for any other. */
HISTO_API histo_status histo_metric_parse(const char *name, histo_metric *metric);

/* Compare the counts of two histograms, whose axes, batch, weighting and storage must be equal: values[batch]. */
HISTO_API histo_status histo_hist_compare(const histo_hist *a, const histo_hist *b, histo_metric metric,
                                          double *values);

typedef struct histo_information { /* in nats */
    double entropy[2];             /* of each axis alone */
    double joint_entropy;
    double mutual;     /* entropy[0] + entropy[1] - joint_entropy, 0 … */
    double normalized; /* (entropy[0] + entropy[1]) / joint_entropy, 1 … 2 (Studholme et al. 1999); 1 for 0 / 0 */
    uint64_t reserved[4];
} histo_information;

/* The information that the two axes of a histogram have about each other, from its counts or, if it is weighted, its
 * sums of weights, none of which may be negative: information[batch]. Where few bins are occupied, memory is taken for
 * those only. */
HISTO_API histo_status histo_hist_inform(const histo_hist *hist, histo_information *information);

/* ---- Maps: from a sample to its bin to a value -------------------------------------------------------- */

/* A map has axes, by which a sample has a slot exactly as in a histogram, and a table of values for these slots: lookup
 * tables of images, equalization, matching, normalization, class numbers, back projection. The values are written by
 * the caller, or made from histograms. Results have the same bits for any number of threads. */
typedef struct histo_map histo_map;

enum histo_within HISTO_ENUM_BASE {
    /* A value for each slot, flow included. */
    HISTO_MAP_STEP = 0,
    /* One axis: a value for each edge, and straight lines between; samples outside have the value of the edge that is
     * next to them, NaN stays NaN. */
    HISTO_MAP_LINEAR
};
typedef HISTO_ENUM(histo_within) histo_within;

typedef struct histo_map_options {
    int64_t batch;       /* number of tables, default 1: for the batch entries of samples, or the tiles of an image */
    histo_within within; /* default HISTO_MAP_STEP */
    uint64_t reserved[8];
} histo_map_options;

/* Create a map with axes[naxes] and all values zero. The caller destroys it. */
HISTO_API histo_status histo_map_create(histo_map **map, int naxes, const histo_axis *axes,
                                        const histo_map_options *options);
/* Destroy a map; NULL is allowed. */
HISTO_API void histo_map_destroy(histo_map *map);

/* The number of values: batch times the product over the axes of n + 3 (HISTO_MAP_STEP: underflow, the bins, overflow,
 * NaN), or n + 1 (HISTO_MAP_LINEAR: the edges). */
HISTO_API int64_t histo_map_size(const histo_map *map);

/* Copy all values from or to values[size], in the order of a read with HISTO_FLOW; size must be histo_map_size(map). */
HISTO_API histo_status histo_map_write(histo_map *map, const double *values, int64_t size);
HISTO_API histo_status histo_map_read(const histo_map *map, double *values, int64_t size);

/* The functions below make the values from histograms with the same axes as the map: each table from its batch entry,
 * or all tables from a histogram without a batch. C is the cumulative count up to and including a bin, n that of the
 * last bin; the flow is left out. In a HISTO_MAP_STEP map, underflow has the value of the lowest bin, overflow that of
 * the highest, and NaN stays NaN.
 *
 * A GPU makes the values, with the same bits, if it alone has filled the histograms since they were created or reset,
 * and these are dense and without reproducible sums: after the fills, on the given stream, without waiting and, once
 * the map has been made there, without allocating. Such calls may be captured into a CUDA graph, each launch of which
 * makes the values from the counts of that time. Counts that the host would refuse are not an error there, since to
 * see them the call would have to wait: all values of such a table are NaN. Otherwise, the counts are copied to the
 * host, and the call waits. */

enum histo_equalize_rule HISTO_ENUM_BASE {
    /* (C - c) / (n - c), where c is the count of the lowest occupied bin, which thus gets the lowest value, as in
     * OpenCV. A single occupied bin keeps its relative place. */
    HISTO_EQUALIZE_MINIMUM = 0,
    /* C / n, as in scikit-image. HISTO_MAP_LINEAR maps have C / n at the edges by either rule. */
    HISTO_EQUALIZE_CDF
};
typedef HISTO_ENUM(histo_equalize_rule) histo_equalize_rule;

typedef struct histo_make_options {
    double lo, hi; /* values go from lo to hi; both zero: from 0 to 1. If both are whole numbers, up to 2^53, those of
                      HISTO_MAP_STEP maps are too, rounded half to even */
    histo_equalize_rule rule;
    double clip; /* histo_map_equalize: the contrast limit of CLAHE. Counts above clip times the mean count of all bins,
                    rounded down but at least 1, are clipped, and the excess is spread over all bins once; INFINITY
                    clips nothing. The rule is HISTO_EQUALIZE_CDF. Default 0: no CLAHE */
    void *stream; /* the cudaStream_t on which a GPU makes the values; NULL: the default stream */
    uint64_t reserved[8];
} histo_make_options;

/* Equalization: the values are the cumulative distribution of a histogram with one axis, scaled to lo … hi. Without
 * counts they are equally spaced. Arithmetic is exact, except that HISTO_EQUALIZE_MINIMUM of 256 bins to 0 … 255 and
 * tables with `clip` are computed in float in OpenCV's order, to have the bits of cv::equalizeHist and cv::CLAHE. */
HISTO_API histo_status histo_map_equalize(histo_map *map, const histo_hist *hist, const histo_make_options *options);

/* Matching: the value at which the cumulative distribution of the reference, a histogram with one axis of any bins, is
 * that of the bin. As in scikit-image, it is interpolated linearly between the reference's occupied bins, or edges for
 * HISTO_MAP_LINEAR maps. HISTO_INVALID if either has no counts. */
HISTO_API histo_status histo_map_match(histo_map *map, const histo_hist *hist, const histo_hist *reference,
                                       void *stream);

/* Piecewise linear through n landmarks: the quantile q[k] of hist, by HISTO_QUANTILE_LINEAR, has the value target[k]; q
 * increases. Below the first and above the last landmark, values are constant (with two landmarks, a percentile
 * stretch); with `extend`, they are extrapolated (the standardization of Nyul and Udupa). HISTO_INVALID if hist has no
 * counts, or if a quantile is in the flow. */
HISTO_API histo_status histo_map_landmarks(histo_map *map, const histo_hist *hist, int n, const double *q,
                                           const double *target, bool extend, void *stream);

/* Back projection, for HISTO_MAP_STEP maps of any number of axes: lo for the smallest to hi for the largest count, and
 * lo in the flow, as in OpenCV; if all counts are equal, lo. Values from 0 to 1 are not rounded; others are as lo and
 * hi say, so that those from 0 to 255 are the bytes of cv::calcBackProject. With `against`, which may be NULL, the
 * values are sqrt(p / q), the weights of Comaniciu, Ramesh and Meer's mean shift: p and q are the bin's relative
 * frequencies in hist and against (of sums of weights if these are weighted), and the value is 0 where p or q is not
 * above 0. */
HISTO_API histo_status histo_map_project(histo_map *map, const histo_hist *hist, const histo_hist *against,
                                         const histo_make_options *options);

/* The classes into which histo_hist_split splits a histogram with one axis, for HISTO_MAP_STEP maps: 0, 1, …, classes -
 * 1 or, with lo and hi, values in equal steps from lo to hi. Two classes and {.hi = 255} make a binary image. GPUs
 * split into two classes by HISTO_SPLIT_OTSU, on integer and regular axes of up to 2^24 bins; the host splits all else.
 */
HISTO_API histo_status histo_map_classes(histo_map *map, const histo_hist *hist, histo_split_method method, int classes,
                                         const histo_make_options *options);

/* Tables on a grid over the last ndim dimensions of the views, none of them a batch dimension: count[d] tiles of
 * size[d] samples; the last one may reach beyond the end. A sample's value is interpolated multilinearly, in float,
 * between the tables of the tiles whose centres surround it. The map has a table for each tile, or for each tile of
 * each batch entry. The tiles of a histogram are a view with batch dimensions: {count[0], count[1], size[0], size[1]}.
 */
typedef struct histo_tiles {
    int ndim; /* 1 … 3; 0: no tiles */
    int64_t count[3], size[3];
} histo_tiles;

typedef struct histo_apply_options {
    const histo_view *mask; /* of any dtype: where it is zero, out is left as it is */
    histo_tiles tiles;
    int threads;       /* CPU threads; default: histo_threads() */
    int64_t origin[3]; /* with tiles: the position of the views' first sample in the grid, 0 for a whole image */
    void *stream;      /* the cudaStream_t of samples and results in a GPU's memory; NULL: the default stream */
    uint64_t reserved[8];
} histo_apply_options;

/* Write the value of each sample to out, which has the shape of views[naxes] and any dtype. Integers are rounded half
 * to even and clamped to their range, and NaN becomes 0; floats are rounded, and NaN becomes the positive quiet NaN
 * without a payload. The map has one table, or one for each batch entry. views[a] may be out itself; other overlaps are
 * undefined. All views are in host memory, or all in the memory of one GPU. There, the work is enqueued on
 * options->stream. Once the map has been applied to samples of the same dtypes, calls allocate and copy nothing, do not
 * wait, and may be captured into a graph. */
HISTO_API histo_status histo_map_apply(const histo_map *map, const histo_view *views, const histo_view *out,
                                       const histo_apply_options *options);

typedef struct histo_moments { /* m_pq: the sum over a window of value * x^p * y^q, where x and y count from the
                                  window's corner, x along the last dimension */
    double m00, m10, m01, m20, m11, m02;
} histo_moments;

/* Moments over a window of the values that histo_map_apply would write as doubles: one iteration of mean shift or
 * CamShift, without an image of back projection. Views have two dimensions, the map one table, options no tiles. window
 * is x, y, width and height, inside the views; NULL: all of them. Samples where the mask is zero add nothing. Additions
 * have a fixed order, so any number of threads gives the same bits. Sums of whole numbers are exact up to 2^53: those
 * of the values 0 … 255, for windows of up to 3000 x 3000 samples. If the views are in a GPU's memory, `moments` may be
 * there, too: it is then written on options->stream, and the call may be captured like histo_map_apply, for windows of
 * no more rows than before. Otherwise the call waits. */
HISTO_API histo_status histo_map_moments(const histo_map *map, const histo_view *views, const int64_t window[4],
                                         const histo_apply_options *options, histo_moments *moments);

/* ---- Saving ------------------------------------------------------------------------------------------- */

enum histo_format HISTO_ENUM_BASE {
    HISTO_JSON = 0, /* Unified Histogram Interface serialization, schema 1; sums of weights are rounded to double;
                       sparse histograms have an index of their occupied cells */
    HISTO_BINARY    /* compact and checksummed, with exact reproducible sums; little endian on every machine */
};
typedef HISTO_ENUM(histo_format) histo_format;

/* Save to memory: *data points to *size bytes that the caller frees with histo_free. name is the histogram's key in the
 * JSON object, by rules of histo_hist_set_name; NULL: the histogram's name, or "histogram" if it has none. */
HISTO_API histo_status histo_hist_save(const histo_hist *hist, histo_format format, const char *name, void **data,
                                       size_t *size);
/* Load what histo_hist_save or the command wrote, or any UHI JSON histogram with regular, variable, integer-category or
 * boolean axes and int, double or weighted storage; the format is detected. Double storage of other software becomes
 * counts if all values are counts, else sums of weights without sums of squares (HISTO_WEIGHT_FAST_SUM). name selects
 * one of several histograms in a JSON object or a file of the command; with NULL there must be only one. Never reads
 * outside data[0 … size), so the data may be untrusted: HISTO_CORRUPT, HISTO_UNSUPPORTED or HISTO_INVALID with a
 * message. The histogram has the name that is its key, but none for "histogram" or for what is no name. The caller
 * destroys it. */
HISTO_API histo_status histo_hist_load(const void *data, size_t size, const char *name, histo_hist **hist);
/* For programs that keep the values of a UHI histogram as arrays, such as Python's dicts: the JSON of a dense histogram
 * whose storage has a type, but neither values nor variances. These are arrays with a dimension for the batch, if it is
 * not 1, and one for each axis, of cells: underflow, the bins, and overflow, to which NaN is added. flow[naxes]:
 * whether an axis has a cell of underflow, flow[a][0], and of overflow, flow[a][1]. Slots that the arrays do not tell
 * are listed in writer_info, as in all JSON. *data points to *size bytes that the caller frees with histo_free. */
HISTO_API histo_status histo_hist_save_outline(const histo_hist *hist, const bool (*flow)[2], void **data,
                                               size_t *size);
/* Load such a document, of one histogram, with its values[cells] of HISTO_U64 or HISTO_F64, and variances[cells], which
 * storage of the type weighted has, or NULL. Without values, the document may have all, as that of histo_hist_load. It
 * may be untrusted, too, but a short one may make a histogram of any size. The caller destroys the histogram. */
HISTO_API histo_status histo_hist_load_outline(const void *data, size_t size, int64_t cells, histo_dtype dtype,
                                               const void *values, const double *variances, histo_hist **hist);
/* Free memory that the library returned; NULL is allowed. */
HISTO_API void histo_free(void *memory);

/* ---- Devices ------------------------------------------------------------------------------------------ */

typedef int histo_device;
/* HISTO_DEVICE_AUTO counts samples in a GPU's memory on that GPU, and samples in host memory on the CPU or on GPU 0,
 * whichever is expected to finish first, including the transfers and, in a process that has not used CUDA, its start.
 * It may also count page-locked samples on the CPU and all GPUs that this process has used, at the same time.
 * HISTO_DEVICE_CUDA_ALL counts page-locked samples on all GPUs and the CPU: each takes the next part when it is free.
 * GPU 0 alone counts other samples in host memory, segments (offsets), pairs, and samples for sparse histograms, which
 * would keep no second GPU busy. Samples in a GPU's memory are counted there. */
#define HISTO_DEVICE_AUTO 0
#define HISTO_DEVICE_CPU 1
#define HISTO_DEVICE_CUDA(ordinal) (2 + (ordinal))
#define HISTO_DEVICE_CUDA_ALL 65536

/* The GPU whose memory holds this address, HISTO_DEVICE_CUDA(0) and up; HISTO_DEVICE_CPU for host memory, page-locked
 * memory, memory that is not allocated, and where there is no GPU. */
HISTO_API histo_device histo_memory_device(const void *memory);

/* ---- Threads ------------------------------------------------------------------------------------------ */

/* Set the process's default number of CPU threads: 1 … 1024; or 0, as at the start: the environment variable
 * HISTO_THREADS if it is such a number, else the number of CPUs that this process may use. HISTO_INVALID for any other
 * number. Results have the same bits for any number of threads, except HISTO_WEIGHT_FAST sums. */
HISTO_API histo_status histo_set_threads(int threads);
/* The default number of threads now. */
HISTO_API int histo_threads(void);

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

/* ---- Pairs of images: samples computed from several views -------------------------------------------- */

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

/* ---- Axes from data ----------------------------------------------------------------------------------- */

/* How to choose the number of bins; the result equals that of numpy.histogram_bin_edges on the same data. */
enum histo_rule HISTO_ENUM_BASE {
    HISTO_RULE_NONE = 0, /* bins or width is given */
    HISTO_RULE_AUTO,
    HISTO_RULE_FD,
    HISTO_RULE_SCOTT,
    HISTO_RULE_STONE,
    HISTO_RULE_STURGES,
    HISTO_RULE_DOANE,
    HISTO_RULE_RICE,
    HISTO_RULE_SQRT
};
typedef HISTO_ENUM(histo_rule) histo_rule;

/* "auto", "fd", "scott", "stone", "sturges", "doane", "rice", "sqrt"; HISTO_INVALID for any other. */
HISTO_API histo_status histo_rule_parse(const char *name, histo_rule *rule);

enum histo_range HISTO_ENUM_BASE {
    /* From the smallest to the largest finite sample. */
    HISTO_RANGE_MINMAX = 0,
    /* The percentiles lo and hi of the samples that are not NaN, as numpy.percentile (linear). */
    HISTO_RANGE_PERCENTILE,
    /* Every value of an integer dtype: [min, max + 1); [0, 1) for floats. */
    HISTO_RANGE_DTYPE,
    /* lo and hi are given; an infinite one stands for the first or last finite sample that is in the range. */
    HISTO_RANGE_FIXED,
    /* lo is a percentile, hi is given. */
    HISTO_RANGE_FROM_PERCENTILE,
    /* lo is given, hi is a percentile. */
    HISTO_RANGE_TO_PERCENTILE
};
typedef HISTO_ENUM(histo_range) histo_range;

typedef struct histo_survey_options {
    histo_range range;
    double lo, hi; /* what `range` asks for; percentiles are 0 … 100 */
    histo_rule rule;
    int64_t bins; /* with HISTO_RULE_NONE: the number of bins, unless width is given */
    double width; /* with HISTO_RULE_NONE: if > 0, the width of each bin; the last may extend beyond the range */
    /* Others survey other parts of the samples, and histo_survey_merge merges what they find: order statistics are then
     * found by counting, in one to five passes. */
    bool in_parts;
    /* About how many bytes order statistics may take, at least 2 MiB; 0: as many as are useful, 20 MB. With less, more
     * passes may be needed. */
    size_t memory;
    uint64_t reserved[8];
} histo_survey_options;

/* A survey finds a range and a number of bins in one or more passes over the data, which may be added in any pieces,
 * the same in each pass:
 *
 *     histo_survey_create(&survey, dtype, &options);
 *     while (histo_survey_next_pass(survey, &more) == HISTO_OK && more)
 *         for each piece: histo_survey_add(survey, &piece, NULL);
 *     histo_survey_axis(survey, &axis);
 *
 * Its memory is bounded, whatever the size of the data. Samples in a GPU's memory are surveyed there, after the work of
 * options->stream, with the same result; the call waits. Their mask and where must be in that memory, too.
 * HISTO_UNSUPPORTED for the rules scott and doane, which take moments, for a range of the samples together with where,
 * and for quantiles if a pass has samples in host memory, too, or if the survey is in parts. */
typedef struct histo_survey histo_survey;
/* Create a survey of samples of a dtype. The caller destroys it. */
HISTO_API histo_status histo_survey_create(histo_survey **survey, histo_dtype dtype,
                                           const histo_survey_options *options);
/* Destroy a survey; NULL is allowed. */
HISTO_API void histo_survey_destroy(histo_survey *survey);
/* Begin a pass: *more = whether the samples must be added (again), or the survey is complete. */
HISTO_API histo_status histo_survey_next_pass(histo_survey *survey, bool *more);
/* Add samples. Batch dimensions are like any others. Of the options, mask, where, functions, threads and stream apply;
 * weights, offsets and replace are HISTO_INVALID. */
HISTO_API histo_status histo_survey_add(histo_survey *survey, const histo_view *samples,
                                        const histo_fill_options *options);
/* Surveys in parts (see options), of processes, threads or machines that have some of the samples each. All are created
 * with the same options, and make the same passes. At the end of each, before histo_survey_next_pass, what every part
 * has found is saved, and merged into one, by which the others replace what they have found; histo_mpi_survey does
 * that. The axis is that of a survey of all samples, but for the last bits of moments, which scott and doane use: those
 * depend on the order of merging. *data points to *size bytes, which the caller frees with histo_free. Merging reads
 * data that may be untrusted: HISTO_CORRUPT or HISTO_INVALID. */
HISTO_API histo_status histo_survey_save(const histo_survey *survey, void **data, size_t *size);
HISTO_API histo_status histo_survey_merge(histo_survey *survey, const void *data, size_t size);
HISTO_API histo_status histo_survey_replace(histo_survey *survey, const void *data, size_t size);

/* The axis found, regular and closed. If lo == hi, the range is extended by one half on both sides, as in NumPy.
 * HISTO_INVALID if the range depends on the samples and none is finite. */
HISTO_API histo_status histo_survey_axis(const histo_survey *survey, histo_axis *axis);

/* Create a survey, add samples in memory, and give its axis, in one call. */
HISTO_API histo_status histo_axis_from_data(const histo_view *samples, const histo_fill_options *fill,
                                            const histo_survey_options *options, histo_axis *axis);

/* Statistics of the samples that are not masked, in host memory (HISTO_UNSUPPORTED for a GPU's). Initialise with zeros;
 * add the data in any pieces, or merge the statistics of parts. */
typedef struct histo_stats {
    uint64_t samples; /* not masked: finite, infinite and NaN */
    uint64_t nan, infinite, masked;
    double min, max;     /* of the finite samples; 64-bit integers that doubles do not hold are rounded outwards */
    double mean, m2, m3; /* mean and sums of (x - mean)^2 and ^3 of the finite samples */
    double m4;           /* the sum of (x - mean)^4 of the finite samples */
    uint64_t reserved[4];
} histo_stats;
HISTO_API histo_status histo_stats_add(histo_stats *stats, const histo_view *samples,
                                       const histo_fill_options *options);
/* Add the statistics of other samples. HISTO_INVALID if these would be 2^64 samples or more, masked ones included. */
HISTO_API histo_status histo_stats_merge(histo_stats *stats, const histo_stats *other);

/* Exact sums of samples and of their squares, from which the mean and m2 follow, each rounded once. They have the same
 * bits whatever the pieces, their order, the number of threads and the merges. Initialise with zeros; add and merge as
 * with histo_stats. The sums are fixed-point numbers in two's complement, the lowest word first. */
enum { HISTO_SUM_WORDS = 34, HISTO_SQUARES_WORDS = 67 };
typedef struct histo_power_sums {
    uint64_t samples, nan, infinite, masked; /* these and the extremes as in histo_stats */
    double min, max;
    uint64_t sum[HISTO_SUM_WORDS];         /* of the finite samples, in units of 2^-1074 */
    uint64_t squares[HISTO_SQUARES_WORDS]; /* of their squares, in units of 2^-2148 */
} histo_power_sums;
HISTO_API histo_status histo_power_sums_add(histo_power_sums *sums, const histo_view *samples,
                                            const histo_fill_options *options);
HISTO_API histo_status histo_power_sums_merge(histo_power_sums *sums, const histo_power_sums *other);
/* The sums as statistics, without m3 and m4, which are NaN. */
HISTO_API void histo_power_sums_read(const histo_power_sums *sums, histo_stats *stats);
/* Do histo_survey_add and histo_power_sums_add in one pass, which takes little longer than the survey alone. */
HISTO_API histo_status histo_survey_add_sums(histo_survey *survey, const histo_view *samples,
                                             const histo_fill_options *options, histo_power_sums *sums);

/* A number that no conversion has rounded: u64 for samples of unsigned integers, i64 for signed ones, f64 for floats of
 * any dtype. */
typedef union histo_number {
    uint64_t u64;
    int64_t i64;
    double f64;
} histo_number;

/* The smallest and largest of samples. */
typedef struct histo_extremes {
    uint64_t samples; /* not masked: finite, infinite and NaN */
    uint64_t nan;
    uint64_t below, above; /* -infinity and infinity */
    uint64_t masked;       /* left out by a mask or a range filter */
    histo_number min, max; /* of the finite samples, exact, a zero without its sign; 0 if none is finite */
    uint64_t reserved[4];
} histo_extremes;

/* Find the extremes of samples of any dtype in one pass: extremes[size], one for each batch entry; size is the product
 * of the batch dimensions, 1 without any. options->mask, where, offsets (of size segments) and threads are as in fills;
 * weights are ignored. Samples in a GPU's memory are read there, once, with mask and where in the same memory, after
 * the work of options->stream; the call waits, and is refused while the stream is captured. */
HISTO_API histo_status histo_find_extremes(const histo_view *samples, const histo_fill_options *options,
                                           histo_extremes *extremes, int64_t size);

#ifdef __cplusplus
}

/* HISTO_F32 | HISTO_SWAPPED */
constexpr histo_dtype operator|(histo_dtype a, histo_dtype b)
{
    return static_cast<histo_dtype>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
#endif

#endif
