/* FITS images: cfitsio reads their values, rescaled by BZERO and BSCALE, from plain and from compressed tiles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modules/fits/fits.h"

int fits_image_read(fits_unit *u, const isolated_request *q, void *samples, unsigned char *valid, fault *f)
{
    const fits_about *m = &u->about;
    int status = 0, any = 0;
    float nan32 = NAN;
    double nan64 = NAN;
    void *none = m->floats ? NULL : m->type == TFLOAT ? (void *)&nan32 : m->type == TDOUBLE ? (void *)&nan64 : NULL;
    if (m->gaps)
        fits_read_imgnull(u->file, m->type, q->first + 1, q->count, samples, (char *)valid, &any, &status);
    else
        fits_read_img(u->file, m->type, q->first + 1, q->count, none, samples, &any, &status);
    if (status) return fits_fault(u, status, f);
    for (int64_t i = 0; m->gaps && i < q->count; i++)
        valid[i] = !valid[i];
    if (m->above) fits_raise(samples, q->count);
    return 0;
}

/* The type of scaled 64-bit integers, whose signedness cfitsio does not report. */
static int type_of_64_bits(fitsfile *file)
{
    const double scale = fits_key(file, "BSCALE", 1), zero = fits_key(file, "BZERO", 0);
    if (scale == 1 && (zero == 0 || zero == 0x1p63)) return zero == 0 ? LONGLONG_IMG : ULONGLONG_IMG;
    return DOUBLE_IMG;
}

/* The number of pixels in the rows that a row of compressed tiles covers. */
static int64_t tile_pixels(fitsfile *file, const grid_info *info)
{
    int status = 0;
    int64_t pixels = 0, below = 1;
    if (!fits_is_compressed_image(file, &status)) return 0;
    for (int d = 0; d < info->ndim; d++) {
        const int64_t size = info->shape[info->ndim - 1 - d];
        char key[FLEN_KEYWORD];
        snprintf(key, sizeof key, "ZTILE%d", d + 1);
        const double stated = fits_key(file, key, 1);
        const int64_t tile = d == 0 ? size : stated >= 1 && stated <= (double)size ? (int64_t)stated : 1;
        if (tile > 1) pixels = below * tile;
        below *= size;
    }
    return pixels;
}

/* Whether a compressed image of floats is stored as integers, one of which represents NaN. */
static bool is_quantized(fitsfile *file)
{
    int status = 0, found;
    return fits_is_compressed_image(file, &status) &&
           fits_get_colnum(file, CASEINSEN, (char[]){"ZSCALE"}, &found, &status) == 0;
}

int fits_image_describe(fits_unit *u, fault *f)
{
    fits_about *m = &u->about;
    grid_info *info = &m->grid;
    static const fits_type types[] = {
        {BYTE_IMG, TBYTE, HISTO_U8},          {SBYTE_IMG, TSBYTE, HISTO_I8},         {SHORT_IMG, TSHORT, HISTO_I16},
        {USHORT_IMG, TUSHORT, HISTO_U16},     {LONG_IMG, TINT, HISTO_I32},           {ULONG_IMG, TUINT, HISTO_U32},
        {LONGLONG_IMG, TLONGLONG, HISTO_I64}, {ULONGLONG_IMG, TLONGLONG, HISTO_U64}, {FLOAT_IMG, TFLOAT, HISTO_F32},
        {DOUBLE_IMG, TDOUBLE, HISTO_F64},
    };
    fitsfile *file = u->file;
    int status = 0, stored = 0, type = 0, dims = 0;
    LONGLONG size[GRID_MAX_DIMS];
    fits_get_img_dim(file, &dims, &status);
    fits_get_img_type(file, &stored, &status);
    fits_get_img_equivtype(file, &type, &status);
    if (status == 0 && dims > GRID_MAX_DIMS)
        return fault_set(f, EXIT_DATA, "%s has %d dimensions, more than %d", u->name, dims, GRID_MAX_DIMS);
    fits_get_img_sizell(file, dims, size, &status);
    if (status) return fits_fault(u, status, f);
    if (stored == LONGLONG_IMG) type = type_of_64_bits(file);
    if (u->raw) { /* BLANK is a stored value */
        fits_set_bscale(file, 1, 0, &status);
        type = stored;
    }
    if (stored > 0 && type < 0) type = DOUBLE_IMG;
    *info = (grid_info){.channels = 1, .ndim = dims};
    for (int d = 0; d < dims; d++)
        info->shape[d] = size[dims - 1 - d];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].equivalent == type) {
            m->type = types[i].in_memory;
            info->dtype = types[i].dtype;
        }
    m->above = type == ULONGLONG_IMG;
    if (m->above) fits_set_bscale(file, 1, 0, &status);
    m->gaps = type > 0 && !isnan(fits_key(file, "BLANK", fits_key(file, "ZBLANK", NAN)));
    m->floats = stored < 0 && !is_quantized(file);
    info->block = tile_pixels(file, info);
    return m->type ? 0 : fault_set(f, EXIT_DATA, "%s has an unknown BITPIX", u->name);
}
