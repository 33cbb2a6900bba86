/* How files of saved histograms begin, which hold no samples; output/saved.c writes and loads them. */
#ifndef CLI_SAVED_HEAD_H
#define CLI_SAVED_HEAD_H

#include <stdbool.h>
#include <stddef.h>

#define SAVED_SET_MAGIC "histo set 1\n"

bool saved_is_set(const char *data, size_t size);    /* several, or one with a name, in the binary form */
bool saved_is_binary(const char *data, size_t size); /* one in the binary form */
bool saved_is_object(const char *data, size_t size); /* perhaps JSON */

/* One of these; of JSON, if it says that it holds histograms. */
bool saved_begins(const char *head, size_t size);

#endif
