/* The header of a .npy array, in a file or in a member of an .npz archive. */
#ifndef CLI_READERS_NPY_H
#define CLI_READERS_NPY_H

#include "input/readers/arrays/array.h"

/* Read the header: returns the array that it describes, and its own length in bytes. subject names the array in
 * messages. */
int npy_read_header(const byte_source *source, const char *subject, array_info *info, int64_t *length, fault *f);

#endif
