/* The sample types inside kernels. Everything typed is a template over histo_dtype and not over the C type, because
 * u16, f16 and bf16 are stored alike. */
#ifndef CUDA_DEVICE_DTYPE_CUH
#define CUDA_DEVICE_DTYPE_CUH

#include "axis/slot_of.h"
#include "view/half.h"

#define HISTO_IN_KERNEL static __device__ __forceinline__
#define HISTO_MEMBER __device__ __forceinline__

/* storage: as samples lie in memory. compute: what edges are compared in; double for all that double holds exactly.
 * native: what nearest edges and positions are computed in. */
template <typename storage_type, typename compute_type = double, typename native_type = double>
struct histo_sample_of {
    using storage = storage_type;
    using compute = compute_type;
    using native = native_type;
    enum {
        VECTOR = 16 / (int)sizeof(storage), /* samples in 16 bytes */
        PER_STEP = sizeof(storage) == 1  ? 16
                   : sizeof(storage) < 8 ? 8
                                         : 4 /* that a thread reads in one step */
    };
    static HISTO_MEMBER storage widen(storage x) { return x; }
};

template <histo_dtype type>
struct histo_sample;

template <>
struct histo_sample<HISTO_U8> : histo_sample_of<uint8_t> {
};
template <>
struct histo_sample<HISTO_I8> : histo_sample_of<int8_t> {
};
template <>
struct histo_sample<HISTO_U16> : histo_sample_of<uint16_t> {
};
template <>
struct histo_sample<HISTO_I16> : histo_sample_of<int16_t> {
};
template <>
struct histo_sample<HISTO_U32> : histo_sample_of<uint32_t> {
};
template <>
struct histo_sample<HISTO_I32> : histo_sample_of<int32_t> {
};
template <>
struct histo_sample<HISTO_U64> : histo_sample_of<uint64_t, uint64_t, uint64_t> {
};
template <>
struct histo_sample<HISTO_I64> : histo_sample_of<int64_t, int64_t, int64_t> {
};
template <>
struct histo_sample<HISTO_F32> : histo_sample_of<float, double, float> {
};
template <>
struct histo_sample<HISTO_F64> : histo_sample_of<double> {
};

template <>
struct histo_sample<HISTO_F16> : histo_sample_of<uint16_t, double, float> {
    static HISTO_MEMBER float widen(uint16_t x) { return histo_f16_to_f32(x); }
};

template <>
struct histo_sample<HISTO_BF16> : histo_sample_of<uint16_t, double, float> {
    static HISTO_MEMBER float widen(uint16_t x) { return histo_bf16_to_f32(x); }
};

template <histo_dtype type>
using histo_stored = typename histo_sample<type>::storage;

template <histo_dtype type>
HISTO_IN_KERNEL typename histo_sample<type>::compute histo_to_compute(histo_stored<type> x)
{
    return (typename histo_sample<type>::compute)histo_sample<type>::widen(x);
}

template <histo_dtype type>
HISTO_IN_KERNEL typename histo_sample<type>::native histo_to_native(histo_stored<type> x)
{
    return (typename histo_sample<type>::native)histo_sample<type>::widen(x);
}

/* The unsigned type of so many bytes with which vectors are loaded. */
template <int BYTES>
constexpr auto histo_word_value()
{
    if constexpr (BYTES == 1) return uint8_t();
    if constexpr (BYTES == 2) return uint16_t();
    if constexpr (BYTES == 4) return uint32_t();
    if constexpr (BYTES == 8) return uint2();
    if constexpr (BYTES == 16) return uint4();
}

template <int BYTES>
using histo_word_of_bytes = decltype(histo_word_value<BYTES>());

/* A dtype as a value whose type names it: what histo_with_dtype calls with. */
template <histo_dtype value>
struct histo_dtype_constant {
    static constexpr histo_dtype type = value;
};

/* f(histo_dtype_constant<dtype>()) of a dtype that is known only at run time. */
template <typename function>
HISTO_IN_KERNEL auto histo_with_dtype(histo_dtype dtype, function f)
{
    switch (dtype) {
    case HISTO_U8:
        return f(histo_dtype_constant<HISTO_U8>());
    case HISTO_I8:
        return f(histo_dtype_constant<HISTO_I8>());
    case HISTO_U16:
        return f(histo_dtype_constant<HISTO_U16>());
    case HISTO_I16:
        return f(histo_dtype_constant<HISTO_I16>());
    case HISTO_U32:
        return f(histo_dtype_constant<HISTO_U32>());
    case HISTO_I32:
        return f(histo_dtype_constant<HISTO_I32>());
    case HISTO_U64:
        return f(histo_dtype_constant<HISTO_U64>());
    case HISTO_I64:
        return f(histo_dtype_constant<HISTO_I64>());
    case HISTO_F16:
        return f(histo_dtype_constant<HISTO_F16>());
    case HISTO_BF16:
        return f(histo_dtype_constant<HISTO_BF16>());
    case HISTO_F32:
        return f(histo_dtype_constant<HISTO_F32>());
    case HISTO_F64:
        return f(histo_dtype_constant<HISTO_F64>());
    default:
        return decltype(f(histo_dtype_constant<HISTO_U8>()))();
    }
}

#endif
