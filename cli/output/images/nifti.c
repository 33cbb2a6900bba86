/* NIfTI-1, or NIfTI-2 if the source is or a dimension needs it: the header, taken from a NIfTI source, and the samples,
 * possibly compressed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/text.h"
#include "input/readers/arrays/nifti_header.h"
#include "output/images/images.h"

enum { MOST_DIMS = 7, PACKED_BYTES = 1 << 16 };

typedef struct nifti_file {
    image_file file;
    z_stream *zlib; /* NULL: samples are not compressed */
    unsigned char packed[PACKED_BYTES];
} nifti_file;

const char *nifti_limit(const image_page *page)
{
    return nifti_code(page->dtype, page->channels) ? NULL
                                                   : "holds one channel, or three and four of u8, and no f16 or bf16";
}

/* ---- Bytes ---- */

/* Compress the pending bytes, and write the output. */
static int deflate_all(nifti_file *n, int flush, fault *f)
{
    int status;
    do {
        n->zlib->next_out = n->packed;
        n->zlib->avail_out = PACKED_BYTES;
        status = deflate(n->zlib, flush);
        if (image_put(&n->file, n->packed, PACKED_BYTES - n->zlib->avail_out, f) != 0) return -1;
    } while (n->zlib->avail_out == 0 || (flush == Z_FINISH && status == Z_OK));
    return 0;
}

static int put(image_file *file, unsigned char *bytes, size_t size, fault *f)
{
    nifti_file *n = (nifti_file *)file;
    if (!n->zlib) return image_put(file, bytes, size, f);
    while (size) {
        const size_t part = size < 1 << 30 ? size : 1 << 30;
        n->zlib->next_in = bytes;
        n->zlib->avail_in = (uInt)part;
        if (deflate_all(n, Z_NO_FLUSH, f) != 0) return -1;
        bytes += part;
        size -= part;
    }
    return 0;
}

static int begin_packing(nifti_file *n, fault *f)
{
    if (!text_has_suffix(outfile_name(n->file.out), ".gz")) return 0;
    n->zlib = calloc(1, sizeof *n->zlib);
    if (n->zlib && deflateInit2(n->zlib, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK) return 0;
    free(n->zlib);
    n->zlib = NULL;
    return image_refused(&n->file, "there is no memory to compress it", f);
}

/* ---- The header ---- */

static void set_whole(unsigned char *header, nifti_field field, int i, int64_t value)
{
    unsigned char *at = header + field.at + (size_t)i * field.bytes;
    const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    memcpy(at, (const char *)&value + (little ? 0 : sizeof value - field.bytes), field.bytes);
}

static void set_float(unsigned char *header, nifti_field field, int i, double value)
{
    unsigned char *at = header + field.at + (size_t)i * field.bytes;
    if (field.bytes == 4)
        memcpy(at, &(const float){(float)value}, sizeof(float));
    else
        memcpy(at, &value, sizeof value);
}

/* The position in space, for sources of other formats: the rows of the affine, and the size of a sample. */
static void set_place(unsigned char *header, const nifti_layout *layout, const metadata *about)
{
    set_float(header, layout->pixdim, 0, 1);
    for (int d = 1; d <= MOST_DIMS; d++)
        set_float(header, layout->pixdim, d, 1);
    if (!about || !about->placed || !about->ndim) return;
    for (int d = 0; d < 3; d++) {
        const double size = hypot(hypot(about->place[0][d], about->place[1][d]), about->place[2][d]);
        set_float(header, layout->pixdim, d + 1, size);
        for (int k = 0; k < 4; k++)
            set_float(header, layout->rows, 4 * d + k, about->place[d][k]);
    }
    set_whole(header, layout->space_by_rows, 0, 1);
    set_whole(header, layout->units, 0, 2); /* mm */
}

static int64_t product(const int64_t *sizes, int n)
{
    int64_t all = 1;
    for (int i = 0; i < n; i++)
        all *= sizes[i];
    return all;
}

/* The source's header, if it is NIfTI and has as many samples. */
static const metadata_block *header_of_source(const metadata *about, int64_t pixels)
{
    const bool has = about && about->nifti.size && about->ndim;
    return has && product(about->shape, about->ndim) == pixels ? &about->nifti : NULL;
}

static int put_header(image_file *file, fault *f)
{
    const image_page *p = &file->page;
    const bool fortran = p->about && p->about->fortran;
    unsigned char header[NIFTI_2_BYTES + 4] = {0};
    int64_t shape[HISTO_MAX_DIMS], most = 0;
    const int ndim = image_shape(file, shape) - (p->channels > 1);
    if (ndim > MOST_DIMS) return image_refused(file, "NIfTI has up to seven dimensions", f);
    for (int d = 0; d < ndim; d++)
        most = shape[d] > most ? shape[d] : most;
    const metadata_block *source = header_of_source(p->about, product(shape, ndim));
    const nifti_layout *layout = (source ? source->size == NIFTI_2_BYTES : most > INT16_MAX) ? &nifti_2 : &nifti_1;
    if (source) {
        memcpy(header, source->data, source->size);
    } else {
        for (int d = 0; d <= MOST_DIMS; d++)
            set_whole(header, layout->dim, d, d == 0 ? ndim : d <= ndim ? shape[fortran ? d - 1 : ndim - d] : 1);
        set_place(header, layout, p->about);
    }
    set_whole(header, (nifti_field){0, 4}, 0, layout->bytes);
    memcpy(header + layout->magic, layout == &nifti_2 ? "n+2\0\r\n\x1a\n" : "n+1", layout == &nifti_2 ? 8 : 4);
    set_whole(header, layout->type, 0, nifti_code(p->dtype, p->channels));
    set_whole(header, layout->bits, 0, p->channels * (int64_t)histo_dtype_size(p->dtype) * 8);
    if (layout == &nifti_2)
        set_whole(header, layout->offset, 0, layout->bytes + 4);
    else
        set_float(header, layout->offset, 0, layout->bytes + 4);
    set_float(header, layout->slope, 0, 1);
    set_float(header, layout->intercept, 0, 0);
    set_float(header, layout->shown_most, 0, 0);
    set_float(header, layout->shown_least, 0, 0);
    return put(file, header, (size_t)layout->bytes + 4, f);
}

/* ---- Pages ---- */

static int begin(image_file *file, fault *f)
{
    if (image_alike(file, f) != 0) return -1;
    if (file->number > 0) return file->pages > 0 ? 0 : image_refused(file, "the number of pages is not known", f);
    return begin_packing((nifti_file *)file, f) == 0 ? put_header(file, f) : -1;
}

static int rows(image_file *file, unsigned char *rows, int64_t count, fault *f)
{
    return put(file, rows, image_row_bytes(&file->page) * (size_t)count, f);
}

static int end(image_file *file, bool last, fault *f)
{
    nifti_file *n = (nifti_file *)file;
    if (!last || !n->zlib) return 0;
    n->zlib->avail_in = 0;
    return deflate_all(n, Z_FINISH, f);
}

static void close_file(image_file *file)
{
    nifti_file *n = (nifti_file *)file;
    if (n->zlib) deflateEnd(n->zlib);
    free(n->zlib);
}

const image_codec nifti_codec = {
    .size = sizeof(nifti_file), .begin = begin, .rows = rows, .end = end, .close = close_file};
