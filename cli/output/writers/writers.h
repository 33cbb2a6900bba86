/* The writers that outputs.def lists: writer_NAME. */
#ifndef CLI_WRITERS_H
#define CLI_WRITERS_H

#include "output/write.h"

#define OUTPUT(name, what) extern const writer writer_##name;
#include "output/outputs.def"
#undef OUTPUT

#endif
