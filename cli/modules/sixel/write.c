/* Pictures as sixels, by libsixel. */
#include <sixel.h>

#include "output/writers/inline.h"

static int write_some(char *data, int size, void *to)
{
    return (int)fwrite(data, 1, (size_t)size, to);
}

/* libsixel keeps five bits per colour, and the largest value, 248, means white. */
static void stretch(sixel_dither_t *dither)
{
    unsigned char *palette = sixel_dither_get_palette(dither);
    for (int i = 0; palette && i < 3 * sixel_dither_get_num_of_palette_colors(dither); i++)
        palette[i] = (unsigned char)(palette[i] >= 248 ? 255 : palette[i] * 255 / 248);
}

int inline_sixels(unsigned char *rgb, int width, int height, FILE *to)
{
    enum { COLORS = 256 };
    sixel_output_t *encoded = NULL;
    sixel_dither_t *dither = NULL;
    SIXELSTATUS status = sixel_output_new(&encoded, write_some, to, NULL);
    if (SIXEL_SUCCEEDED(status)) status = sixel_dither_new(&dither, COLORS, NULL);
    if (SIXEL_SUCCEEDED(status))
        status = sixel_dither_initialize(dither, rgb, width, height, SIXEL_PIXELFORMAT_RGB888, SIXEL_LARGE_AUTO,
                                         SIXEL_REP_AUTO, SIXEL_QUALITY_HIGH);
    if (SIXEL_SUCCEEDED(status)) {
        stretch(dither);
        sixel_dither_set_diffusion_type(dither, SIXEL_DIFFUSE_NONE);
        status = sixel_encode(rgb, width, height, 3, dither, encoded);
    }
    if (dither) sixel_dither_unref(dither);
    if (encoded) sixel_output_unref(encoded);
    return SIXEL_SUCCEEDED(status) ? 0 : -1;
}
