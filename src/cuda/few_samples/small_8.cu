/* The kernel of lane_private for few samples of 8 bits, which are counted by value. */
#include "cuda/few_samples/small.h"

constexpr small_row small_8[] = {
    {HISTO_U8, {small_count<HISTO_U8, small_by_value>, NULL}},
    {HISTO_I8, {small_count<HISTO_U8, small_by_value>, NULL}},
};
