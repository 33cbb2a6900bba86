/* The readers that the table lists. */
#ifndef CLI_READERS_READERS_H
#define CLI_READERS_READERS_H

#include "base/module.h"
#include "input/reader.h"

#define READER(name) extern const reader_kind reader_##name;
#include "input/readers/readers.def"
#undef READER

/* In modules. */
MODULE_SYMBOL reader_open_function tiff_open;
MODULE_SYMBOL reader_open_function webp_open;
MODULE_SYMBOL reader_open_function heif_open;
MODULE_SYMBOL reader_open_function jp2_open;
MODULE_SYMBOL reader_open_function exr_open;
MODULE_SYMBOL reader_open_function gif_open;
MODULE_SYMBOL reader_open_function jxl_open;
MODULE_SYMBOL reader_open_function npz_open;
MODULE_SYMBOL reader_open_function hdf5_open;
MODULE_SYMBOL reader_open_function zarr_open;
MODULE_SYMBOL reader_open_function json_open;
MODULE_SYMBOL reader_open_function parquet_open;
MODULE_SYMBOL reader_open_function arrow_open;
MODULE_SYMBOL reader_open_function sqlite_open;
MODULE_SYMBOL reader_open_function fits_open;
MODULE_SYMBOL reader_open_function dicom_open;
MODULE_SYMBOL reader_open_function sound_open;
MODULE_SYMBOL reader_open_function mat_open;

#endif
