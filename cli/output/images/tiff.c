/* TIFF images: what is needed without libtiff, which the module tiff uses. */
#include "output/images/images.h"

const char *tiff_limit(const image_page *page)
{
    if (page->dtype == HISTO_BF16) return "has no bf16";
    return page->channels > UINT16_MAX || page->height > UINT32_MAX || page->width > UINT32_MAX
               ? "holds up to 65535 channels and 2^32 rows and columns"
               : NULL;
}
