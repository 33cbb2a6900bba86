/* The GPU that tests use, if there is one. */
#ifndef TESTS_DEVICE_H
#define TESTS_DEVICE_H

#include <histo/histo.h>

/* Why no test can use a GPU, or NULL. */
const char *device_missing(void);

/* The same view of a copy, in device memory, of all that the view can reach; addresses agree in their last 8 bits. NULL
 * if that fails. *memory is to be freed with device_free. */
void *device_copy(const histo_view *view, histo_view *copy);
void device_free(void *memory);

#endif
