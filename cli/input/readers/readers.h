/* The readers that the table lists. */
#ifndef CLI_READERS_READERS_H
#define CLI_READERS_READERS_H

#include "input/reader.h"

#define READER(name) extern const reader_kind reader_##name;
#include "input/readers/readers.def"
#undef READER

#endif
