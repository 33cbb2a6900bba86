/* The counts as a NumPy array: uint64 of shape (bins of axis 0, bins of axis 1, …), with a leading dimension for
 * several series; float64 sums of weights if there are weights. For a sparse histogram, uint64 of shape (occupied bins,
 * axes + 1): the bin on each axis, from 0, and the count. Series with different axes become a structured array: for
 * each bin the series' name, its edges lo and hi, and its count. Samples outside the bins are not in the file; a note
 * reports their number. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/failure.h"
#include "output/labels.h"
#include "output/npy_header.h"
#include "output/writers/writers.h"

/* "480, 640" or "12," */
static void describe_shape(const result *r, const table *t, char *shape, size_t size)
{
    int length = 0, naxes = result_naxes(r), ndim = naxes + (r->count > 1);
    for (int d = 0; d < ndim; d++) {
        int a = d - (r->count > 1);
        int64_t extent = a < 0 ? r->count : histo_hist_axis(r->series[0].hist, a).bins;
        length += snprintf(shape + length, size - (size_t)length, "%s%" PRId64, d ? ", " : "", extent);
    }
    if (ndim == 1) strcat(shape, ",");
    if (!t->occupied) return;
    int64_t slots[HISTO_MAX_AXES], rows = 0;
    for (int64_t cell = -1; table_next(t, &cell, slots);)
        rows += table_is_bin(t, slots);
    snprintf(shape, size, "%" PRId64 ", %d", rows, naxes + 1);
}

static uint64_t put_bins(const table *t, FILE *out)
{
    int64_t slots[HISTO_MAX_AXES];
    uint64_t outside = 0;
    for (int64_t cell = -1; table_next(t, &cell, slots);) {
        bool inside = table_is_bin(t, slots);
        for (int a = 0; inside && t->occupied && a < t->naxes; a++) {
            const uint64_t bin = (uint64_t)slots[a] - 1;
            fwrite(&bin, sizeof bin, 1, out);
        }
        if (!inside)
            outside += t->counts[cell];
        else if (t->sum_w)
            fwrite(&t->sum_w[cell], sizeof *t->sum_w, 1, out);
        else
            fwrite(&t->counts[cell], sizeof *t->counts, 1, out);
    }
    return outside;
}

/* Write an array of counts: [series,] axis, axis … */
static uint64_t put_array(const result *r, const table *tables, FILE *out)
{
    char shape[512], dtype[16];
    uint64_t outside = 0;
    describe_shape(r, &tables[0], shape, sizeof shape);
    snprintf(dtype, sizeof dtype, "'%c%s'", npy_byte_order(), result_is_weighted(r) ? "f8" : "u8");
    npy_put_header(dtype, shape, false, out);
    for (int i = 0; i < r->count; i++)
        outside += put_bins(&tables[i], out);
    return outside;
}

/* Write the records of one series: its name padded with zeros, a bin's edges, and its value. */
static uint64_t put_records(const table *t, const char *name, size_t name_bytes, FILE *out)
{
    int64_t slot;
    uint64_t outside = 0;
    for (int64_t cell = -1; table_next(t, &cell, &slot);) {
        if (!table_is_bin(t, &slot)) {
            outside += t->counts[cell];
            continue;
        }
        const double edges[] = {histo_axis_edge(&t->axes[0], slot - 1), histo_axis_edge(&t->axes[0], slot)};
        fwrite(name, 1, name_bytes, out);
        fwrite(edges, sizeof edges, 1, out);
        fwrite(t->sum_w ? (const void *)&t->sum_w[cell] : &t->counts[cell], 8, 1, out);
    }
    return outside;
}

/* Write one array of records for all series, each with its own bins. */
static uint64_t put_structured(const result *r, const table *tables, FILE *out)
{
    char name[320], shape[32], dtype[128], o = npy_byte_order();
    size_t name_bytes = 1;
    int64_t rows = 0;
    uint64_t outside = 0;
    for (int i = 0; i < r->count; i++) {
        size_t length = strlen(label_of_series(r, i, name, sizeof name));
        name_bytes = length > name_bytes ? length : name_bytes;
        rows += tables[i].bins[0];
    }
    snprintf(shape, sizeof shape, "%" PRId64 ",", rows);
    snprintf(dtype, sizeof dtype, "[('name', '|S%zu'), ('lo', '%cf8'), ('hi', '%cf8'), ('%s', '%c%s')]", name_bytes, o,
             o, result_is_weighted(r) ? "sum_w" : "count", o, result_is_weighted(r) ? "f8" : "u8");
    npy_put_header(dtype, shape, false, out);
    for (int i = 0; i < r->count; i++) {
        memset(name, 0, sizeof name);
        outside += put_records(&tables[i], label_of_series(r, i, name, sizeof name), name_bytes, out);
    }
    return outside;
}

static int write_npy(const result *r, const settings *s, outfile *o, fault *f)
{
    const bool together = result_group_end(r, 0) == r->count;
    if (!together && result_naxes(r) > 1)
        return fault_set(f, EXIT_USAGE, "joint histograms on different axes do not fit into one npy file: write json");
    table *tables = tables_read(r, TABLE_OF_OCCUPIED, f);
    if (!tables) return -1;
    FILE *out = outfile_stream(o);
    uint64_t outside = together ? put_array(r, tables, out) : put_structured(r, tables, out);
    tables_free(tables, r);
    if (outside && !s->quiet)
        note("%" PRIu64 " sample%s in underflow, overflow or NaN %s not in %s, which holds the bins alone", outside,
             outside == 1 ? "" : "s", outside == 1 ? "is" : "are", outfile_name(o));
    return 0;
}

const writer writer_npy = {.name = "npy", .binary = true, .one_sparse = true, .write = write_npy};
