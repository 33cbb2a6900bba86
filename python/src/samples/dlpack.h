/* The binary interface of DLPack (github.com/dmlc/dlpack, include/dlpack/dlpack.h), versions 0 and 1. */
#ifndef PYTHON_DLPACK_H
#define PYTHON_DLPACK_H

#include <stdint.h>

enum { DLPACK_MAJOR = 1, DLPACK_READ_ONLY = 1 /* a flag */ };

typedef enum dl_device_type {
    DL_CPU = 1,
    DL_CUDA = 2,
    DL_CUDA_HOST = 3,     /* page-locked memory */
    DL_CUDA_MANAGED = 13, /* memory that both can read */
} dl_device_type;

typedef enum dl_type_code { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_BOOL = 6 } dl_type_code;

typedef struct dl_device {
    int32_t type, id;
} dl_device;

typedef struct dl_dtype {
    uint8_t code, bits;
    uint16_t lanes;
} dl_dtype;

typedef struct dl_tensor {
    void *data;
    dl_device device;
    int32_t ndim;
    dl_dtype dtype;
    int64_t *shape, *strides; /* in elements; no strides: C order */
    uint64_t byte_offset;
} dl_tensor;

/* What a capsule named "dltensor" holds. */
typedef struct dl_managed {
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *);
} dl_managed;

/* What a capsule named "dltensor_versioned" holds. */
typedef struct dl_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct dl_versioned *);
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;

typedef void dl_set_error(void *context, const char *kind, const char *message);

/* The attribute __dlpack_c_exchange_api__ of a type of arrays, a capsule named "dlpack_exchange_api" (since version
 * 1.3): what __dlpack__ does, without calls of Python, and without waiting for a stream. Functions return 0, or -1 with
 * an exception. */
typedef struct dl_exchange {
    uint32_t major, minor;
    const struct dl_exchange *older; /* for callers that do not know this major version */
    int (*allocate)(dl_tensor *like, dl_versioned **out, void *context, dl_set_error *set_error);
    int (*managed_of)(void *object, dl_versioned **out);
    int (*object_of)(dl_versioned *tensor, void **object);
    int (*tensor_of)(void *object, dl_tensor *out);                   /* borrowed from the object; may be NULL */
    int (*stream_of)(int32_t device_type, int32_t id, void **stream); /* on which the calling thread works */
} dl_exchange;

#endif
