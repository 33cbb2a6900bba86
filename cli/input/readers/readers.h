/* The readers listed in the table, and the functions that each may have. */
#ifndef CLI_READERS_READERS_H
#define CLI_READERS_READERS_H

#include "base/module.h"
#include "input/reader.h"

#define READER(name, ...)                                                                                              \
    extern const reader_kind reader_##name;                                                                            \
    reader_open_function name##_open;                                                                                  \
    extern const struct paged_format name##_pages;                                                                     \
    reader_recognise_function name##_recognise;
#include "input/readers/readers.def"
#undef READER

/* Readers that are in modules (base/module.h). */
MODULE_SYMBOL reader_open_function dicom_open;
MODULE_SYMBOL reader_open_function tiff_open;
MODULE_SYMBOL reader_open_function sound_open;
MODULE_SYMBOL reader_open_function zarr_open;
MODULE_SYMBOL reader_open_function npz_open;
MODULE_SYMBOL reader_open_function hdf5_open;
MODULE_SYMBOL reader_open_function fits_open;
MODULE_SYMBOL reader_open_function mat_open;
MODULE_SYMBOL reader_open_function parquet_open;
MODULE_SYMBOL reader_open_function arrow_open;
MODULE_SYMBOL reader_open_function sqlite_open;
MODULE_SYMBOL reader_open_function json_open;
MODULE_SYMBOL extern const struct paged_format webp_pages;
MODULE_SYMBOL extern const struct paged_format heif_pages;
MODULE_SYMBOL extern const struct paged_format jp2_pages;
MODULE_SYMBOL extern const struct paged_format exr_pages;
MODULE_SYMBOL extern const struct paged_format gif_pages;
MODULE_SYMBOL extern const struct paged_format jxl_pages;

#endif
