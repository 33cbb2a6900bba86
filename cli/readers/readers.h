/* The readers that the table lists. */
#ifndef CLI_READERS_READERS_H
#define CLI_READERS_READERS_H

#include "../reader.h"

#define READER(name) extern const reader_kind reader_##name;
#include "readers.def"
#undef READER

#endif
