/* The binary interface of DLPack (github.com/dmlc/dlpack, include/dlpack/dlpack.h), versions 0 and 1. */
#ifndef PYTHON_DLPACK_H
#define PYTHON_DLPACK_H

#include <stdint.h>

enum { DLPACK_MAJOR = 1 };

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

#endif
