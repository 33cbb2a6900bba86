/* Saving and loading histograms. Include histo/histo.h. */
#ifndef HISTO_SAVE_H
#define HISTO_SAVE_H

#include <histo/hist.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Saving ------------------------------------------------------------------------------------------- */

enum histo_format HISTO_ENUM_BASE {
    HISTO_JSON = 0, /* Unified Histogram Interface serialization, schema 1; sums of weights are rounded to double;
                     * sparse histograms have an index of their occupied cells */
    HISTO_BINARY    /* compact and checksummed, with exact reproducible sums; little endian on every machine */
};
typedef HISTO_ENUM(histo_format) histo_format;

/* Save to memory: *data points to *size bytes that the caller frees with histo_free. name is the histogram's key in the
 * JSON object, subject to the rules of histo_hist_set_name; NULL: the histogram's name, or "histogram" if it has
 * none. */
HISTO_API histo_status histo_hist_save(const histo_hist *hist, histo_format format, const char *name, void **data,
                                       size_t *size);
/* Load what histo_hist_save or the command wrote, or any UHI JSON histogram with regular, variable, category or boolean
 * axes and int, double or weighted storage; the format is detected. Integer categories must be consecutive; string
 * categories become the integers from 0 on, and only the document has the strings. Double storage of other software
 * becomes counts if all values are counts, else sums of weights without sums of squares (HISTO_WEIGHT_FAST_SUM). name
 * selects one of several histograms in a JSON object or a file of the command; with NULL there must be only one. Never
 * reads outside data[0 … size), so the data may be untrusted: HISTO_CORRUPT, HISTO_UNSUPPORTED or HISTO_INVALID with a
 * message. The histogram's name is its key; it has none if the key is "histogram" or not a valid name. The caller
 * destroys it. */
HISTO_API histo_status histo_hist_load(const void *data, size_t size, const char *name, histo_hist **hist);
/* Save an outline, for programs that keep the values of a UHI histogram as arrays, such as Python's dicts: the JSON of
 * a dense histogram whose storage has a type, but neither values nor variances. The program's arrays have a dimension
 * for the batch, unless it is 1, and one for each axis, whose cells are underflow, the bins, and overflow, to which NaN
 * is added. flow[naxes] tells whether an axis has a cell for underflow, flow[a][0], and for overflow, flow[a][1]. Slots
 * that the arrays cannot represent are listed in writer_info, as in all JSON. *data points to *size bytes that the
 * caller frees with histo_free. */
HISTO_API histo_status histo_hist_save_outline(const histo_hist *hist, const bool (*flow)[2], void **data,
                                               size_t *size);
/* Load an outline, of one histogram, with its values[cells] of HISTO_U64 or HISTO_F64, and its variances[cells] for
 * storage of type weighted, else NULL. If values is NULL, the document may be complete, as for histo_hist_load. It may
 * be untrusted, too, but note that a short one can make a histogram of any size. The caller destroys the histogram. */
HISTO_API histo_status histo_hist_load_outline(const void *data, size_t size, int64_t cells, histo_dtype dtype,
                                               const void *values, const double *variances, histo_hist **hist);
/* Free memory that the library returned; NULL is allowed. */
HISTO_API void histo_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif
