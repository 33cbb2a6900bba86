/* PNG images by libpng. */
#include <setjmp.h>

#include "input/readers/images/png_messages.h"
#include "output/images/images.h"

typedef struct png_file {
    image_file file;
    png_structp png;
    png_infop info;
    png_complaint complaint;
} png_file;

/* Photographs become about 10 % larger than at zlib's default, in a third of the time. */
enum { COMPRESSION_LEVEL = 3 };

const char *png_limit(const image_page *page)
{
    if (page->dtype != HISTO_U8 && page->dtype != HISTO_U16) return "holds u8 and u16";
    if (page->channels > 4 || page->model == CHANNELS_CMYK) return "holds gray and RGB, with and without alpha";
    return page->height > PNG_UINT_31_MAX || page->width > PNG_UINT_31_MAX ? "holds up to 2^31 rows and columns" : NULL;
}

static void put_metadata(png_file *p)
{
    const metadata *about = p->file.page.about;
    if (!about) return;
    if (about->profile.data) {
        png_set_iCCP(p->png, p->info, "icc", PNG_COMPRESSION_TYPE_BASE, about->profile.data,
                     (png_uint_32)about->profile.size);
        if (!png_get_valid(p->png, p->info, PNG_INFO_iCCP)) p->file.lost = "the colour profile, which does not fit it";
    } else if (about->intent >= 0)
        png_set_sRGB(p->png, p->info, about->intent);
    if (about->gamma > 0) png_set_gAMA(p->png, p->info, about->gamma);
    if (about->exif.data) png_set_eXIf_1(p->png, p->info, (png_uint_32)about->exif.size, about->exif.data);
    const double scale = about->unit == RESOLUTION_INCH ? 1 / 0.0254 : about->unit == RESOLUTION_CENTIMETER ? 100 : 1;
    const double across = about->resolution[0] * scale + 0.5, down = about->resolution[1] * scale + 0.5;
    if (across >= 1 && down >= 1 && across < PNG_UINT_31_MAX && down < PNG_UINT_31_MAX)
        png_set_pHYs(p->png, p->info, (png_uint_32)across, (png_uint_32)down,
                     about->unit ? PNG_RESOLUTION_METER : PNG_RESOLUTION_UNKNOWN);
}

static int begin(image_file *file, fault *f)
{
    static const int colors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                 PNG_COLOR_TYPE_RGB_ALPHA};
    png_file *p = (png_file *)file;
    const image_page *page = &file->page;
    p->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &p->complaint, png_on_error, png_on_warning);
    p->info = p->png ? png_create_info_struct(p->png) : NULL;
    if (!p->info) return image_refused(file, "libpng cannot start", f);
    if (setjmp(png_jmpbuf(p->png))) return image_refused(file, p->complaint.text, f);
    png_init_io(p->png, outfile_stream(file->out));
    png_set_user_limits(p->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_level(p->png, COMPRESSION_LEVEL);
    png_set_benign_errors(p->png, 1);
    png_set_IHDR(p->png, p->info, (png_uint_32)page->width, (png_uint_32)page->height, page->dtype == HISTO_U8 ? 8 : 16,
                 colors[page->channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    put_metadata(p);
    png_write_info(p->png, p->info);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (page->dtype == HISTO_U16) png_set_swap(p->png);
#endif
    return 0;
}

static int rows(image_file *file, unsigned char *rows, int64_t count, fault *f)
{
    png_file *p = (png_file *)file;
    const size_t pitch = image_row_bytes(&file->page);
    if (setjmp(png_jmpbuf(p->png))) return image_refused(file, p->complaint.text, f);
    for (int64_t y = 0; y < count; y++)
        png_write_row(p->png, rows + (size_t)y * pitch);
    return 0;
}

static int end(image_file *file, bool last, fault *f)
{
    png_file *p = (png_file *)file;
    (void)last;
    if (setjmp(png_jmpbuf(p->png))) return image_refused(file, p->complaint.text, f);
    png_write_end(p->png, NULL);
    return 0;
}

static void close(image_file *file)
{
    png_file *p = (png_file *)file;
    png_destroy_write_struct(&p->png, &p->info);
}

const image_codec png_codec = {.size = sizeof(png_file), .begin = begin, .rows = rows, .end = end, .close = close};
