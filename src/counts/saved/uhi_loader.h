/* Shared by the parts of the UHI reader: uhi_load.c, uhi_axes.c and uhi_storage.c. */
#ifndef COUNTS_UHI_LOADER_H
#define COUNTS_UHI_LOADER_H

#include "counts/saved/json.h"
#include "counts/saved/uhi.h"
#include "counts/saved/uhi_cells.h"

/* A dimension of the file, an axis or the batch: its cell i is slot i + shift of `slots`. */
typedef struct histo_uhi_dimension {
    int64_t cells, shift, slots;
} histo_uhi_dimension;

/* Members of writer_info.histo. */
enum { WEIGHTING, STORED, NAMED, CHECKSUM, MASKED, COUNTS, SUM_W, SUM_W2, DETAILS };

/* Slots and their counts in file order. */
typedef struct histo_uhi_pairs {
    int64_t n, room;
    histo_entry *at;
} histo_uhi_pairs;

/* The destination of values: a lane, indexed by slot, or sparse counts. */
typedef struct histo_uhi_sink {
    histo_lane lane;
    histo_uhi_pairs *pairs; /* or NULL */
} histo_uhi_sink;

enum { STORAGE_INT, STORAGE_DOUBLE, STORAGE_WEIGHTED, STORAGE_MEAN, STORAGE_WEIGHTED_MEAN, STORAGES };

typedef struct histo_uhi_loader {
    histo_json doc;
    int ndims;
    histo_uhi_dimension dims[HISTO_MAX_AXES + 1];
    int naxes;
    histo_axis axes[HISTO_MAX_AXES]; /* edges are allocated */
    size_t axis_at[HISTO_MAX_AXES];
    int64_t batch;
    histo_weighting weighting;
    histo_storage storage;
    size_t details[DETAILS], index, values, variances; /* positions, or 0 */
    const histo_uhi_arrays *arrays;                    /* replaces values and variances; or NULL */
    size_t key;                                        /* the position of the histogram's key; 0 if there is none */
    histo_hist *hist;
    double *own_sums;           /* destination of reproducible sums */
    histo_lane sums[2];         /* w and w^2; empty without weights */
    histo_uhi_pairs cells, own; /* from sparse storage, and from our own list of counts */
} histo_uhi_loader;

enum { STEPS_A_VALUE = 32 }; /* of about a nanosecond each */

#define FAIL(at, ...) histo_json_fail(&l->doc, at, HISTO_CORRUPT, __VA_ARGS__)
#define FAIL_UNSUPPORTED(at, ...) histo_json_fail(&l->doc, at, HISTO_UNSUPPORTED, __VA_ARGS__)

/* Turn the library's complaint about an invalid axis or array into one about the file. */
histo_status histo_uhi_blame(const histo_uhi_loader *l, size_t at, histo_status status);

/* The index of the string at a position among n names; -1 if it is not among them. */
int histo_uhi_choice(const histo_uhi_loader *l, size_t at, int n, const char *const *names);

histo_status histo_uhi_check_array(const histo_uhi_loader *l, size_t at);

/* The members of "histo" in the writer_info at a position; all 0 if either is missing. */
histo_status histo_uhi_find_details(const histo_uhi_loader *l, size_t writer_info, int n, const char *const *keys,
                                    size_t *members);

/* A short file can describe a large array. Fail if the memory is out of proportion to the file's size, unless the
 * caller has the arrays. */
histo_status histo_uhi_check_memory(const histo_uhi_loader *l, size_t at, int64_t slots, int64_t bytes_each);

/* uhi_axes.c: read the axes. */
histo_status histo_uhi_read_axes(histo_uhi_loader *l, size_t at);

/* uhi_storage.c: find the arrays of the storage and decide what they become; create the histogram and allocate its
 * sums; read the arrays; finally move sparse counts into the histogram. */
histo_status histo_uhi_read_storage(histo_uhi_loader *l, size_t at);
histo_status histo_uhi_prepare(histo_uhi_loader *l);
histo_status histo_uhi_read_values(histo_uhi_loader *l);
histo_status histo_uhi_keep_counts(histo_uhi_loader *l);

/* Read the value at a position into the sink. */
histo_status histo_uhi_read_value(const histo_uhi_loader *l, size_t at, histo_uhi_sink to, int64_t slot);

#endif
