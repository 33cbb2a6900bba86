/* The counts as a NumPy array: uint64 of shape (bins of axis 0, bins of axis 1, …), with several series one more
 * dimension in front; float64 sums of weights if there are weights. Of a sparse histogram, uint64 of shape (occupied
 * bins, axes + 1): the bin on each axis, from 0, and the count. The file has no place for what lies outside the
 * bins: a remark says how much that is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/writers/writers.h"

static const uint16_t one = 1;

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

static void put_header(const result *r, const table *t, FILE *out)
{
    char shape[512], header[1024];
    describe_shape(r, t, shape, sizeof shape);
    bool little = *(const unsigned char *)&one == 1;
    int size = snprintf(header, sizeof header, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s), }",
                        little ? '<' : '>', result_is_weighted(r) ? "f8" : "u8", shape);
    int padded = (10 + size + 1 + 63) / 64 * 64 - 10; /* the data begins at a multiple of 64 bytes */
    const unsigned char preamble[] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(padded & 255), (unsigned char)(padded >> 8)};
    fwrite(preamble, 1, sizeof preamble, out);
    fprintf(out, "%-*s\n", padded - 1, header);
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

static int write_npy(const result *r, const settings *s, outfile *o, fault *f)
{
    uint64_t outside = 0;
    table *tables = tables_read(r, TABLE_OF_OCCUPIED, f);
    if (!tables) return -1;
    put_header(r, &tables[0], outfile_stream(o));
    for (int i = 0; i < r->count; i++)
        outside += put_bins(&tables[i], outfile_stream(o));
    tables_free(tables, r);
    if (outside && !s->quiet)
        fprintf(stderr,
                "histo: %" PRIu64 " sample%s in underflow, overflow or NaN %s not in %s, which holds the bins alone\n",
                outside, outside == 1 ? "" : "s", outside == 1 ? "is" : "are", outfile_name(o));
    return 0;
}

const writer writer_npy = {.name = "npy", .binary = true, .one_sparse = true, .write = write_npy};
