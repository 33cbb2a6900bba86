/* The orientation in EXIF data, the only field that matters here. */
#ifndef CLI_EXIF_H
#define CLI_EXIF_H

#include "input/metadata.h"

/* 1 … 8; 0 if there is none. */
int exif_orientation(const metadata_block *exif);
/* Make EXIF data with only an orientation; false if out of memory. */
bool exif_make(metadata_block *exif, int orientation);

#endif
