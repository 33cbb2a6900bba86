/* Sizes, offsets and constants of the kernels' headers as seen by the host's compiler, for comparison with those of the
 * run-time compiler. */
#ifndef TESTS_DEVICE_LAYOUTS_H
#define TESTS_DEVICE_LAYOUTS_H

#include <stdint.h>

typedef struct device_layout {
    const char *expression; /* in C++; OFFSET(type, member) is the offset of a member. NULL after the last one */
    uint64_t value;
} device_layout;

#ifdef __cplusplus
extern "C" {
#endif

extern const device_layout device_layouts[];

#ifdef __cplusplus
}
#endif

#endif
