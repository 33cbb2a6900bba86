/* Sizes, offsets and constants of the headers for kernels as the host's compiler sees them, to be compared with those
 * of the run-time compiler. */
#ifndef TESTS_DEVICE_LAYOUTS_H
#define TESTS_DEVICE_LAYOUTS_H

#include <stdint.h>

typedef struct device_layout {
    const char *expression; /* in C++; OFFSET(type, member) is the offset of a member. NULL behind the last one */
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
