/* Axes: which bin a value is in. Include histo/histo.h. */
#ifndef HISTO_AXIS_H
#define HISTO_AXIS_H

#include <histo/samples.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Axes --------------------------------------------------------------------------------------------- */

/* An axis of n bins has n + 1 strictly increasing, finite edges of type double, and the edges define the bins: sample x
 * is in bin i iff edges[i] <= x < edges[i+1], compared by value, whatever the sample's type. Underflow, overflow and
 * NaN have slots of their own (see HISTO_FLOW).
 *
 * HISTO_VARIABLE edges may also be equal or infinite. A bin between equal edges is empty, except the last bin of a
 * closed axis, which holds samples equal to its edges. Summaries, splits and the earth mover's distance refuse infinite
 * edges; maps refuse infinite and equal edges.
 *
 * With more than 2^22 edges given by a formula, checking an axis does not compute them all. Such an axis is valid only
 * if its bins are so wide that rounding cannot close one: about 2^-40 of their edges. */
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
    HISTO_EDGES_I64,     /* int64_t; HISTO_VARIABLE only */
    HISTO_EDGES_U64      /* uint64_t; HISTO_VARIABLE only */
};
typedef HISTO_ENUM(histo_edge_type) histo_edge_type;

/* A plain value; nothing to free. edges[bins + 1], of type edge_type, is borrowed until a histogram is created from the
 * axis, which copies it. HISTO_VARIABLE requires it. HISTO_LOG, HISTO_SQRT and HISTO_POWER use it if given, so that a
 * saved axis has the same edges under another libm, and compute the edges if it is NULL. HISTO_INTEGER and
 * HISTO_REGULAR ignore it. lo and hi are the first and last edge, and are ignored if edges are integers. A histogram's
 * axis has integer edges only if doubles cannot represent all of them; histo_axis_edges then rounds them. */
typedef struct histo_axis {
    histo_axis_kind kind;
    histo_edge_type edge_type;
    int64_t bins;
    double lo, hi;
    double power;      /* HISTO_POWER only */
    const void *edges; /* or NULL */
    bool closed;       /* the last bin includes its upper edge, as in NumPy */
    unsigned char reserved[15];
} histo_axis;

/* Describe an axis of each kind; the last bin is open on the right. These calls only fill in the struct:
 * histo_axis_check and histo_hist_create report what is wrong with it. `edges` is borrowed, as in histo_axis. */
HISTO_API histo_axis histo_axis_integer(int64_t lo, int64_t bins);
HISTO_API histo_axis histo_axis_regular(int64_t bins, double lo, double hi);
HISTO_API histo_axis histo_axis_variable(int64_t bins, const double *edges);
/* Integer edges, such as times in nanoseconds: samples are compared with them by value. If doubles represent all of
 * them exactly, the axis is the one histo_axis_variable gives. */
HISTO_API histo_axis histo_axis_variable_i64(int64_t bins, const int64_t *edges);
HISTO_API histo_axis histo_axis_variable_u64(int64_t bins, const uint64_t *edges);
HISTO_API histo_axis histo_axis_log(int64_t bins, double lo, double hi);
HISTO_API histo_axis histo_axis_sqrt(int64_t bins, double lo, double hi);
HISTO_API histo_axis histo_axis_power(int64_t bins, double lo, double hi, double power);
/* The same axis with its last bin closed on the right. */
HISTO_API histo_axis histo_axis_closed(histo_axis axis);

/* HISTO_OK, or HISTO_INVALID if the axis cannot be used; the message says why. */
HISTO_API histo_status histo_axis_check(const histo_axis *axis);

/* Write the edges of a valid axis to edges[bins + 1]; integers that doubles cannot represent are rounded up. */
HISTO_API histo_status histo_axis_edges(const histo_axis *axis, double *edges);

/* Edge i of a valid axis, rounded likewise; NaN unless 0 <= i <= bins. */
HISTO_API double histo_axis_edge(const histo_axis *axis, int64_t i);

/* Whether two valid axes have the same bins: equally many, between equal edges, with the last one open or closed in
 * both. Edges are compared exactly, by value: -0 equals 0, since no sample lies between them. Kinds may differ: an
 * integer axis equals a regular one with the same edges. false if either is NULL. */
HISTO_API bool histo_axis_equal(const histo_axis *a, const histo_axis *b);

/* Write edges[bins + 1] from lo to hi, computed as numpy.linspace(lo, hi, bins + 1) does in the type `computed` and
 * then rounded to the type `edge`: HISTO_F16, HISTO_F32 or HISTO_F64. For float32 samples, numpy.histogram computes in
 * double if the range is given as Python numbers, in float if it takes the range from the samples, and rounds to float.
 * HISTO_INVALID if lo or hi is not finite in these types, or if the edges do not increase. */
HISTO_API histo_status histo_linspace(int64_t bins, double lo, double hi, histo_dtype computed, histo_dtype edge,
                                      double *edges);

#ifdef __cplusplus
}
#endif

#endif
