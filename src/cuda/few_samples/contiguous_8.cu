/* The kernel for few samples of 8 bits, which are counted by value. */
#include "cuda/few_samples/contiguous.h"

constexpr few_row few_8[] = {
    {HISTO_U8, {few_count<HISTO_U8, few_by_value>, NULL}},
    {HISTO_I8, {few_count<HISTO_U8, few_by_value>, NULL}},
};
