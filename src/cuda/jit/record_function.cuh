/* Functions of records (histo_function) in kernels that are compiled at run time. What their texts may use besides what
 * the compiler knows: the types of stdint.h, and what follows. */
#ifndef CUDA_JIT_RECORD_FUNCTION_CUH
#define CUDA_JIT_RECORD_FUNCTION_CUH

#include "cuda/device/dtype.cuh"

#ifdef __CUDACC_RTC__
#define NAN __int_as_float(0x7fffffff)

namespace std
{
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
} // namespace std
#endif

/* The function of the records of operand O, which the library writes: number(at) is the number of the record at this
 * address. */
template <int O>
struct histo_record_function;

/* Is a type of numbers stored as this one? */
template <class number, class stored>
HISTO_INLINE constexpr bool histo_is_stored_as()
{
    if constexpr (sizeof(number) != sizeof(stored))
        return false;
    else if constexpr (__is_enum(number))
        return true;
    else
        return ((number)0.5 == 0.5) == ((stored)0.5 == 0.5) && ((number)-1 < (number)0) == ((stored)-1 < (stored)0);
}

/* A number as its dtype is stored. A conversion could give other counts than the host's. */
template <histo_dtype type, class number>
HISTO_IN_KERNEL histo_stored<type> histo_as_stored(number x)
{
    using stored = histo_stored<type>;
    static_assert(histo_is_stored_as<number, stored>(), "the functor gives numbers of another dtype than the view has");
    return (stored)x;
}

#endif
