/* The GPU for tests, if there is one. */
#ifndef TESTS_DEVICE_H
#define TESTS_DEVICE_H

#include <histo/histo.h>

#include "support/check.h"

/* Why no test can use a GPU, or NULL. */
const char *device_missing(void);

/* At the beginning of a test that needs a GPU: report and skip it if there is none. */
#define NEEDS_GPU()                                                                                                    \
    do {                                                                                                               \
        if (device_missing()) {                                                                                        \
            print_message("%s SKIPPED: %s\n", __func__, device_missing());                                             \
            skip();                                                                                                    \
        }                                                                                                              \
    } while (0)

#define CUDA_OK(call) assert_int_equal(call, cudaSuccess)

/* Whether the tests run under a sanitizer, which is slow. */
bool is_sanitized(void);

/* Copy all memory that the view can reach to the device; *copy is the same view of it. Addresses keep their low 8 bits.
 * Returns NULL on failure; free *memory with device_free. */
void *device_copy(const histo_view *view, histo_view *copy);
void device_free(void *memory);

#endif
