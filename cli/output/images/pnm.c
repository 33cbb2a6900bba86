/* Netpbm images: PGM and PPM (P5, P6), and PAM (P7) for other numbers of channels. */
#include <inttypes.h>
#include <stdio.h>

#include "output/images/images.h"

enum { MOST_CHANNELS = 65535 };

const char *pnm_limit(const image_page *page)
{
    if (page->dtype != HISTO_U8 && page->dtype != HISTO_U16) return "holds u8 and u16";
    return page->channels > MOST_CHANNELS ? "holds up to 65535 channels" : NULL;
}

static int64_t largest_of(const image_page *page)
{
    if (page->largest) return page->largest;
    return page->dtype == HISTO_U8 ? 255 : 65535;
}

/* PAM's names of the channels. */
static const char *const tuple_types[CHANNELS_YUVA + 1] = {
    [CHANNELS_GRAY_ALPHA] = "GRAYSCALE_ALPHA", [CHANNELS_RGBA] = "RGB_ALPHA", [CHANNELS_CMYK] = "CMYK"};

static int begin(image_file *file, fault *f)
{
    const image_page *p = &file->page;
    const char *type = tuple_types[p->model];
    char header[256];
    int length;
    if (p->channels == 1 || p->channels == 3)
        length = snprintf(header, sizeof header, "P%c\n%" PRId64 " %" PRId64 "\n%" PRId64 "\n",
                          p->channels == 3 ? '6' : '5', p->width, p->height, largest_of(p));
    else
        length = snprintf(header, sizeof header,
                          "P7\nWIDTH %" PRId64 "\nHEIGHT %" PRId64 "\nDEPTH %d\nMAXVAL %" PRId64 "\n%s%s%sENDHDR\n",
                          p->width, p->height, p->channels, largest_of(p), type ? "TUPLTYPE " : "", type ? type : "",
                          type ? "\n" : "");
    return image_put(file, header, (size_t)length, f);
}

static int rows(image_file *file, unsigned char *rows, int64_t count, fault *f)
{
    const size_t bytes = image_row_bytes(&file->page) * (size_t)count;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint16_t *samples = (uint16_t *)(void *)rows;
    for (size_t i = 0; file->page.dtype == HISTO_U16 && i < bytes / 2; i++)
        samples[i] = __builtin_bswap16(samples[i]);
#endif
    return image_put(file, rows, bytes, f);
}

const image_codec pnm_codec = {.begin = begin, .rows = rows};
