/* PFM images of f32, which begin with the bottom row. */
#include <inttypes.h>
#include <stdio.h>

#include "output/images/images.h"

typedef struct pfm_file {
    image_file file;
    off_t begin; /* of the page's samples in the file */
} pfm_file;

const char *pfm_limit(const image_page *page)
{
    if (page->dtype != HISTO_F32) return "holds f32";
    return page->channels != 1 && page->channels != 3 ? "holds one or three channels" : NULL;
}

static int begin(image_file *file, fault *f)
{
    const image_page *p = &file->page;
    char header[96];
    const int length =
        snprintf(header, sizeof header, "P%c\n%" PRId64 " %" PRId64 "\n%s1\n", p->channels == 3 ? 'F' : 'f', p->width,
                 p->height, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "-" : "");
    if (image_put(file, header, (size_t)length, f) != 0) return -1;
    ((pfm_file *)file)->begin = ftello(outfile_stream(file->out));
    return 0;
}

static int rows(image_file *file, unsigned char *rows, int64_t count, fault *f)
{
    const pfm_file *p = (const pfm_file *)file;
    const size_t pitch = image_row_bytes(&file->page);
    const int64_t below = file->page.height - file->y - count;
    if (p->begin < 0 || fseeko(outfile_stream(file->out), p->begin + below * (off_t)pitch, SEEK_SET) != 0)
        return image_refused(file, "PFM begins with the last row, and a pipe cannot seek", f);
    for (int64_t y = count; y-- > 0;)
        if (image_put(file, rows + (size_t)y * pitch, pitch, f) != 0) return -1;
    return 0;
}

static int end(image_file *file, bool last, fault *f)
{
    (void)last;
    return fseeko(outfile_stream(file->out), 0, SEEK_END) == 0 ? 0 : image_refused(file, "the end is out of reach", f);
}

const image_codec pfm_codec = {.size = sizeof(pfm_file), .begin = begin, .rows = rows, .end = end};
