/* The GPU that tests use, if there is one. */
#ifndef TESTS_DEVICE_H
#define TESTS_DEVICE_H

#include <histo/histo.h>

#include "check.h"

/* Why no test can use a GPU, or NULL. */
const char *device_missing(void);

/* At the beginning of a test that is nothing without one: it says so, and is skipped. */
#define NEEDS_GPU()                                                                                                    \
    do {                                                                                                               \
        if (device_missing()) {                                                                                        \
            print_message("%s SKIPPED: %s\n", __func__, device_missing());                                             \
            skip();                                                                                                    \
        }                                                                                                              \
    } while (0)

/* The same view of a copy, in device memory, of all that the view can reach; addresses agree in their last 8 bits. NULL
 * if that fails. *memory is to be freed with device_free. */
void *device_copy(const histo_view *view, histo_view *copy);
void device_free(void *memory);

#endif
