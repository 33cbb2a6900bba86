/* The readers that the table lists. */
#ifndef CLI_READERS_READERS_H
#define CLI_READERS_READERS_H

#include "base/module.h"
#include "input/reader.h"

#define READER(name) extern const reader_kind reader_##name;
#include "input/readers/readers.def"
#undef READER

/* In modules. */
MODULE_SYMBOL reader *tiff_open(input *in, const read_options *options, fault *f);
MODULE_SYMBOL reader *npz_open(input *in, const read_options *options, fault *f);
MODULE_SYMBOL reader *hdf5_open(input *in, const read_options *options, fault *f);

#endif
