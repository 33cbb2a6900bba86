/* Samples: typed strided views of the caller's memory. Include histo/histo.h. */
#ifndef HISTO_SAMPLES_H
#define HISTO_SAMPLES_H

#include <histo/base.h>

#ifdef __cplusplus
extern "C" {
#endif

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

    /* One bit, least significant bit of a byte first: for masks, such as Arrow's validity bitmaps. */
    HISTO_BIT = 64,
    /* A flag: HISTO_F32 | HISTO_SWAPPED is f32 in the opposite of this machine's byte order. */
    HISTO_SWAPPED = 128
};
typedef HISTO_ENUM(histo_dtype) histo_dtype;

/* Bytes of one sample; 0 for an unknown dtype and for HISTO_BIT. */
HISTO_API size_t histo_dtype_size(histo_dtype dtype);

/* The name of a dtype, "u8" … "f64", in either byte order, or "bit"; NULL for an unknown dtype. */
HISTO_API const char *histo_dtype_name(histo_dtype dtype);

/* Parse the name of a dtype ("u8", "f32", "bf16"); HISTO_INVALID for any other. */
HISTO_API histo_status histo_dtype_parse(const char *name, histo_dtype *dtype);

/* The value of one sample, which may be unaligned, as a double; 64-bit integers are rounded to nearest. */
HISTO_API double histo_sample_value(const void *sample, histo_dtype dtype);

/* A strided view of memory that the caller owns. Element [i0, i1, …] is at
 *
 *     (const char *)data + i0 * strides[0] + i1 * strides[1] + …
 *
 * Strides are in bytes; they may be negative, zero (broadcasting) or unaligned. The first batch_ndim dimensions are
 * batch dimensions: each position along them has its own histogram. A view with ndim 0 is one sample. The same struct
 * describes row pitch, regions of interest, channels and batches of images: channel c of an interleaved RGB image is
 * {data + c, HISTO_U8, 2, 0, {h, w}, {pitch, 3}}; all three channels, one histogram each, are {data, HISTO_U8, 3, 1,
 * {3, h, w}, {1, pitch, 3}}.
 *
 * HISTO_SWAPPED samples, weights, mask and where, and HISTO_BIT masks, work in fills, surveys, quantiles and
 * statistics. A GPU takes them in its own memory only: from host memory it refuses them with HISTO_UNSUPPORTED, as do
 * maps. */
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

/* Describe arrays of one shape with more than HISTO_MAX_DIMS dimensions, up to 64. views[count] have their data and
 * dtype set; strides[v][d] is the step of view v along dimension d, and the first batch_ndim dimensions are batch
 * dimensions. Sets the views' dimensions: neighbouring dimensions that are contiguous in all views are merged, and
 * others may be reordered, so samples may come in another order, the same in all views; batch entries keep their order.
 * HISTO_UNSUPPORTED if too many dimensions are left: copy the array first. */
HISTO_API histo_status histo_view_coalesce(int count, histo_view *views, int ndim, int batch_ndim, const int64_t *shape,
                                           const int64_t *const *strides);

/* The number of samples in a valid view: the product of its shape. */
HISTO_API int64_t histo_view_size(const histo_view *view);

#ifdef __cplusplus
}

/* HISTO_F32 | HISTO_SWAPPED */
constexpr histo_dtype operator|(histo_dtype a, histo_dtype b)
{
    return static_cast<histo_dtype>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
#endif

#endif
