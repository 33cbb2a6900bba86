/* The floating-point state that results depend on: rounding to nearest, subnormal numbers, no traps. The caller's may
 * differ: -ffast-math flushes subnormals to zero, fesetround() changes the rounding. */
#ifndef BASE_FLOATS_H
#define BASE_FLOATS_H

#include <stdbool.h>
#include <stdint.h>

#if !defined __x86_64__ && !defined __aarch64__
#include <fenv.h>
#endif

typedef struct histo_float_state {
#if defined __x86_64__
    uint32_t bits; /* MXCSR */
#elif defined __aarch64__
    uint64_t bits; /* FPCR */
#else
    fenv_t all;
#endif
} histo_float_state;

#if defined __x86_64__

enum { HISTO_FLOAT_FLAGS = 0x3f, HISTO_FLOAT_STANDARD = 0x1f80 };

static inline histo_float_state histo_float_state_now(void)
{
    return (histo_float_state){__builtin_ia32_stmxcsr()};
}

static inline bool histo_float_state_is_standard(histo_float_state state)
{
    return (state.bits & ~(uint32_t)HISTO_FLOAT_FLAGS) == HISTO_FLOAT_STANDARD;
}

static inline void histo_float_state_set(histo_float_state state)
{
    __builtin_ia32_ldmxcsr(state.bits);
}

static inline void histo_float_state_set_standard(void)
{
    histo_float_state_set((histo_float_state){HISTO_FLOAT_STANDARD});
}

#elif defined __aarch64__

static inline histo_float_state histo_float_state_now(void)
{
    histo_float_state state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state.bits)::"memory");
    return state;
}

static inline bool histo_float_state_is_standard(histo_float_state state)
{
    return state.bits == 0;
}

static inline void histo_float_state_set(histo_float_state state)
{
    __asm__ volatile("msr fpcr, %0" ::"r"(state.bits) : "memory");
}

static inline void histo_float_state_set_standard(void)
{
    histo_float_state_set((histo_float_state){0});
}

#else

static inline histo_float_state histo_float_state_now(void)
{
    histo_float_state state;
    fegetenv(&state.all);
    return state;
}

/* fenv_t is opaque, so the state is never known to be the standard one. */
static inline bool histo_float_state_is_standard(histo_float_state state)
{
    (void)state;
    return false;
}

static inline void histo_float_state_set(histo_float_state state)
{
    fesetenv(&state.all);
}

static inline void histo_float_state_set_standard(void)
{
    fesetenv(FE_DFL_ENV);
}

#endif

static inline histo_float_state histo_floats_begin(void)
{
    const histo_float_state callers = histo_float_state_now();
    if (!histo_float_state_is_standard(callers)) histo_float_state_set_standard();
    return callers;
}

static inline void histo_floats_end(const histo_float_state *callers)
{
    if (!histo_float_state_is_standard(*callers)) histo_float_state_set(*callers);
}

/* The first line of every public function that may compute: from here until it returns, by whatever path, the state is
 * the standard one. A double that is returned must have been computed by then: see histo_float_result. */
#define HISTO_STANDARD_FLOATS                                                                                          \
    __attribute__((cleanup(histo_floats_end), unused)) const histo_float_state callers_float_state =                   \
        histo_floats_begin()

/* Forces the compiler to compute a result before the state is restored. */
static inline double histo_float_result(double computed)
{
    volatile double result = computed;
    return result;
}

#endif
