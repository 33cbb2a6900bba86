/* The orientation in EXIF data, the only field of it that matters here. */
#ifndef CLI_EXIF_H
#define CLI_EXIF_H

#include "input/metadata.h"

/* 1 … 8; 0 if there is none. */
int exif_orientation(const metadata_block *exif);
/* EXIF data with an orientation alone; false without memory. */
bool exif_make(metadata_block *exif, int orientation);

#endif
