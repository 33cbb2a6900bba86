/* Replaces the C library's headers in headers shared by host and device. The run-time compiler of kernels (NVRTC) has
 * no such headers, so the types are defined here. It needs --std=c++17 --fmad=false, for lambdas in kernels
 * --device-as-default-execution-space, and for fixed-point weights --device-int128. tests/cuda/test_device_headers.c
 * compares the types with the host's. */
#ifndef BASE_HOST_DEVICE_H
#define BASE_HOST_DEVICE_H

#ifdef __CUDACC_RTC__

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;

#define UINT32_C(x) x##U
#define UINT64_C(x) x##UL
#define INT64_C(x) x##L
#define INT32_MAX 0x7fffffff
#define INT32_MIN (-INT32_MAX - 1)
#define UINT32_MAX 0xffffffffU
#define UINT64_MAX 0xffffffffffffffffUL
#define FLT_MAX 0x1.fffffep127f
#define INFINITY __int_as_float(0x7f800000)
#ifndef NULL
#define NULL 0
#endif

/* As in histo.h, which device code cannot include. */
#define HISTO_MAX_AXES 8
#define HISTO_MAX_DIMS 8

typedef enum histo_dtype : uint32_t {
    HISTO_U8,
    HISTO_I8,
    HISTO_U16,
    HISTO_I16,
    HISTO_U32,
    HISTO_I32,
    HISTO_U64,
    HISTO_I64,
    HISTO_F16,
    HISTO_BF16,
    HISTO_F32,
    HISTO_F64,
    HISTO_DTYPE_COUNT
} histo_dtype;

#else

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <histo/histo.h>

#endif

#ifdef __CUDACC__
#define HISTO_INLINE static __host__ __device__ inline
#else
#define HISTO_INLINE static inline
#endif

#endif
