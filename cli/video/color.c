#include "video/color.h"

#include <math.h>

color_matrix color_matrix_of(int64_t height, int bits, bool full)
{
    const bool hd = height >= 720;
    const double kr = hd ? 0.2126 : 0.299, kb = hd ? 0.0722 : 0.114, kg = 1 - kr - kb;
    const double one = 1 << (29 - bits), all = 255.0 * (1 << (bits - 8)) / ((1 << bits) - 1);
    const double luma = one * (full ? all : 255.0 / 219), chroma = one * (full ? all : 255.0 / 224);
    return (color_matrix){
        .luma = (int32_t)lrint(luma),
        .red = (int32_t)lrint(chroma * 2 * (1 - kr)),
        .green = {(int32_t)lrint(chroma * 2 * (1 - kb) * kb / kg), (int32_t)lrint(chroma * 2 * (1 - kr) * kr / kg)},
        .blue = (int32_t)lrint(chroma * 2 * (1 - kb)),
        .black = full ? 0 : 16 << (bits - 8),
        .middle = 128 << (bits - 8),
    };
}

/* numerator * 2^12 / divisor, rounded half to even; 0 for 0. */
static int32_t quotient(int32_t numerator, int32_t divisor)
{
    return divisor ? (int32_t)lrint((double)numerator * 4096 / divisor) : 0;
}

void color_divide(color_quotients *q)
{
    for (int i = 0; i < 256; i++) {
        q->hue[i] = quotient(180, 6 * i);
        q->saturation[i] = quotient(255, i);
    }
}
