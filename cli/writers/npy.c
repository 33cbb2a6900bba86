/* The counts as a NumPy array: uint64 of shape (bins of axis 0, bins of axis 1, …), with several series one more
 * dimension in front; float64 sums of weights if there are weights. The file has no place for what lies outside the
 * bins: a remark says how much that is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "writers.h"

static const uint16_t one = 1;

static void put_header(const result *r, FILE *out)
{
    char shape[512], header[1024];
    int length = 0, naxes = result_naxes(r), ndim = naxes + (r->count > 1);
    for (int d = 0; d < ndim; d++) {
        int a = d - (r->count > 1);
        int64_t extent = a < 0 ? r->count : histo_hist_axis(r->series[0].hist, a).bins;
        length += snprintf(shape + length, sizeof shape - (size_t)length, "%s%" PRId64, d ? ", " : "", extent);
    }
    if (ndim == 1) strcat(shape, ",");
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
    int64_t slots[HISTO_MAX_AXES] = {0}, cell = 0;
    uint64_t outside = 0;
    do {
        bool inside = true;
        for (int a = 0; a < t->naxes; a++)
            inside = inside && slots[a] >= 1 && slots[a] <= t->bins[a];
        if (!inside)
            outside += t->counts[cell];
        else if (t->sum_w)
            fwrite(&t->sum_w[cell], sizeof *t->sum_w, 1, out);
        else
            fwrite(&t->counts[cell], sizeof *t->counts, 1, out);
        cell++;
    } while (table_next(t, slots));
    return outside;
}

static int write_npy(const result *r, const settings *s, outfile *o, fault *f)
{
    uint64_t outside = 0;
    table *tables = tables_read(r, f);
    if (!tables) return -1;
    put_header(r, outfile_stream(o));
    for (int i = 0; i < r->count; i++)
        outside += put_bins(&tables[i], outfile_stream(o));
    tables_free(tables, r);
    if (outside && !s->quiet)
        fprintf(stderr,
                "histo: %" PRIu64 " sample%s in underflow, overflow or NaN %s not in %s, which holds the bins alone\n",
                outside, outside == 1 ? "" : "s", outside == 1 ? "is" : "are", outfile_name(o));
    return 0;
}

const writer writer_npy = {.name = "npy", .binary = true, .write = write_npy};
