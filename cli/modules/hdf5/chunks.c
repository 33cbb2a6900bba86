/* Deflate-compressed chunks, decoded without HDF5, whose lock allows only one thread at a time. Unusual or damaged
 * chunks are left to HDF5. */
#include <stdlib.h>
#include <string.h>

#include "base/scratch.h"
#include "input/stream/decoder.h"
#include "modules/hdf5/hdf5.h"

struct hdf5_chunks {
    int ndim;
    int64_t shape[HISTO_MAX_DIMS]; /* of a chunk */
    size_t sample, bytes;          /* of a sample; of a chunk */
    int filters;                   /* the last is deflate */
    bool shuffled;
    decoder *inflater;
    scratch stored;
    size_t stored_size;
    unsigned char *inflated, *samples; /* [bytes] */
};

/* Whether the pipeline is deflate, perhaps after shuffle. */
static bool find_filters(hid_t creation, hdf5_chunks *c)
{
    const int n = c->filters = H5Pget_nfilters(creation);
    H5Z_filter_t filters[2] = {0};
    for (int i = 0; i < n && i < 2; i++) {
        unsigned flags, values[8] = {0};
        size_t count = 8;
        filters[i] = H5Pget_filter2(creation, (unsigned)i, &flags, &count, values, 0, NULL, NULL);
        if (filters[i] == H5Z_FILTER_SHUFFLE && (count < 1 || values[0] != c->sample)) return false;
    }
    c->shuffled = filters[0] == H5Z_FILTER_SHUFFLE && c->sample > 1;
    return (n == 1 && filters[0] == H5Z_FILTER_DEFLATE) ||
           (n == 2 && filters[0] == H5Z_FILTER_SHUFFLE && filters[1] == H5Z_FILTER_DEFLATE);
}

static bool is_stored_as(hid_t dataset, hid_t memory_type)
{
    hid_t stored = H5Dget_type(dataset);
    const bool same = stored >= 0 && H5Tequal(stored, memory_type) > 0;
    if (stored >= 0) H5Tclose(stored);
    return same;
}

hdf5_chunks *hdf5_chunks_open(hid_t dataset, hid_t creation, hid_t memory_type, const array_info *info)
{
    hsize_t shape[H5S_MAX_RANK];
    const int ndim = info->ndim;
    hdf5_chunks made = {.ndim = ndim, .sample = H5Tget_size(memory_type)};
    if (ndim < 1 || H5Pget_layout(creation) != H5D_CHUNKED || H5Pget_chunk(creation, ndim, shape) != ndim ||
        !is_stored_as(dataset, memory_type) || !find_filters(creation, &made))
        return NULL;
    made.bytes = made.sample;
    for (int d = 0; d < ndim; d++) {
        made.shape[d] = (int64_t)shape[d];
        if (__builtin_mul_overflow(made.bytes, (size_t)shape[d], &made.bytes) || made.bytes > BAND_BYTES) return NULL;
    }
    hdf5_chunks *c = malloc(sizeof *c);
    if (!c) return NULL;
    *c = made;
    c->inflater = deflate_decoder(false);
    c->inflated = malloc(c->bytes);
    c->samples = malloc(c->bytes);
    if (c->inflater && c->inflated && c->samples) return c;
    hdf5_chunks_close(c);
    return NULL;
}

void hdf5_chunks_close(hdf5_chunks *c)
{
    if (!c) return;
    if (c->inflater) c->inflater->close(c->inflater);
    free(c->stored.data);
    free(c->inflated);
    free(c->samples);
    free(c);
}

void hdf5_chunks_first(const hdf5_chunks *c, const int64_t *start, int64_t *at)
{
    for (int d = 0; d < c->ndim; d++)
        at[d] = start[d] / c->shape[d] * c->shape[d];
}

bool hdf5_chunks_next(const hdf5_chunks *c, const int64_t *start, const int64_t *count, int64_t *at)
{
    for (int d = c->ndim - 1; d >= 0; d--) {
        at[d] += c->shape[d];
        if (at[d] < start[d] + count[d]) return true;
        at[d] = start[d] / c->shape[d] * c->shape[d];
    }
    return false;
}

hdf5_chunk hdf5_chunks_load(hdf5_chunks *c, hid_t dataset, const int64_t *at)
{
    hsize_t offset[HISTO_MAX_DIMS], size = 0;
    uint32_t left_out = 0;
    for (int d = 0; d < c->ndim; d++)
        offset[d] = (hsize_t)at[d];
    if (H5Dget_chunk_storage_size(dataset, offset, &size) < 0 || size == 0) return CHUNK_LEFT;
    if (size > 2 * c->bytes + 4096) return CHUNK_DAMAGED;
    if (!scratch_reserve(&c->stored, (size_t)size)) return CHUNK_LEFT;
    c->stored_size = (size_t)size;
    if (H5Dread_chunk(dataset, H5P_DEFAULT, offset, &left_out, c->stored.data) < 0) return CHUNK_LEFT;
    if (left_out == 0) return CHUNK_GOOD;
    const bool is_plain = left_out >> (c->filters - 1) & 1;
    return is_plain && size != c->bytes ? CHUNK_DAMAGED : CHUNK_LEFT;
}

static hdf5_chunk inflate_all(hdf5_chunks *c, unsigned char *to)
{
    decoder_span s = {.in = c->stored.data, .in_size = c->stored_size, .out = to, .out_size = c->bytes};
    decoded done = DECODED_SOME;
    if (!c->inflater->restart(c->inflater)) return CHUNK_LEFT;
    while (done == DECODED_SOME) {
        const size_t in = s.in_size, out = s.out_size;
        done = c->inflater->decode(c->inflater, &s);
        if (done == DECODED_SOME && s.in_size == in && s.out_size == out) return CHUNK_LEFT;
    }
    if (done != DECODED_MEMBER) return CHUNK_LEFT;
    return s.out_size == 0 ? CHUNK_GOOD : CHUNK_DAMAGED;
}

/* Undo shuffle: from all first bytes of samples, then all second ones and so on, to whole samples. */
static void unshuffle(const unsigned char *restrict from, unsigned char *restrict to, size_t sample, size_t n)
{
    switch (sample) {
    case 2:
        for (size_t i = 0; i < n; i++) {
            to[2 * i] = from[i];
            to[2 * i + 1] = from[n + i];
        }
        break;
    case 4:
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < 4; k++)
                to[4 * i + k] = from[k * n + i];
        break;
    case 8:
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < 8; k++)
                to[8 * i + k] = from[k * n + i];
        break;
    default:
        for (size_t k = 0; k < sample; k++)
            for (size_t i = 0; i < n; i++)
                to[sample * i + k] = from[k * n + i];
    }
}

/* Copy the samples of the chunk at `at` that are in the tile. */
static void place(const hdf5_chunks *c, const unsigned char *samples, const int64_t *at, const int64_t *start,
                  const int64_t *count, unsigned char *tile)
{
    int64_t first[HISTO_MAX_DIMS], end[HISTO_MAX_DIMS], i[HISTO_MAX_DIMS];
    const int last = c->ndim - 1;
    for (int d = 0; d < c->ndim; d++) {
        first[d] = at[d] > start[d] ? at[d] : start[d];
        end[d] = at[d] + c->shape[d] < start[d] + count[d] ? at[d] + c->shape[d] : start[d] + count[d];
        i[d] = first[d];
    }
    const size_t row = (size_t)(end[last] - first[last]) * c->sample;
    for (int d = last; d >= 0;) {
        int64_t from = 0, to = 0;
        for (int k = 0; k < c->ndim; k++) {
            from = from * c->shape[k] + i[k] - at[k];
            to = to * count[k] + i[k] - start[k];
        }
        memcpy(tile + (size_t)to * c->sample, samples + (size_t)from * c->sample, row);
        for (d = last - 1; d >= 0 && ++i[d] == end[d]; d--)
            i[d] = first[d];
    }
}

hdf5_chunk hdf5_chunks_decode(hdf5_chunks *c, const int64_t *at, const int64_t *start, const int64_t *count,
                              unsigned char *tile)
{
    const hdf5_chunk state = inflate_all(c, c->inflated);
    if (state != CHUNK_GOOD) return state;
    if (c->shuffled) unshuffle(c->inflated, c->samples, c->sample, c->bytes / c->sample);
    place(c, c->shuffled ? c->samples : c->inflated, at, start, count, tile);
    return CHUNK_GOOD;
}
