/* libFuzzer target for the image readers: for any bytes, the reader that recognises them delivers bands of valid
 * samples, equally many in two passes, or fails with a message. What files say besides samples is read where their size
 * is odd. */
#define _GNU_SOURCE
#include "drain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const reader_kind *const kinds[] = {
        &reader_png, &reader_jpeg, &reader_tiff, &reader_pnm, &reader_webp, &reader_heif,
        &reader_jp2, &reader_exr,  &reader_gif,  &reader_jxl, &reader_bmp,  &reader_hdr,
    };
    const read_options options = {.page = -1, .about = size % 2 == 1};
    const size_t head = size < INPUT_PEEK_BYTES ? size : INPUT_PEEK_BYTES;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (reader_recognises(kinds[i], data, head, "image")) {
            drain_bytes(kinds[i], data, size, &options);
            break;
        }
    return 0;
}
