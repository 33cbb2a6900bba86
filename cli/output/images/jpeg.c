/* JPEG images by libjpeg: with the quantization of a JPEG source, else quality 95. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
/* these need stdio.h first */
#include <jerror.h>
#include <jpeglib.h>

#include "output/images/images.h"

enum { QUALITY = 95, MOST_EXIF = 65533 - 6, MOST_PROFILE = 255 * (65533 - 14) };

typedef struct jpeg_file {
    image_file file;
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    jmp_buf failed;
    char complaint[JMSG_LENGTH_MAX];
} jpeg_file;

const char *jpeg_limit(const image_page *page)
{
    if (page->dtype != HISTO_U8) return "holds u8";
    if (page->model != CHANNELS_CMYK && page->channels != 1 && page->channels != 3)
        return "holds gray, RGB and CMYK, and no alpha";
    return page->height > JPEG_MAX_DIMENSION || page->width > JPEG_MAX_DIMENSION ? "holds up to 65500 rows and columns"
                                                                                 : NULL;
}

static void on_error(j_common_ptr jpeg)
{
    jpeg_file *p = jpeg->client_data;
    jpeg->err->format_message(jpeg, p->complaint);
    longjmp(p->failed, 1);
}

static void no_output(j_common_ptr jpeg)
{
    (void)jpeg;
}

static void set_quantization(jpeg_file *p)
{
    const metadata *about = p->file.page.about;
    jpeg_set_quality(&p->jpeg, QUALITY, TRUE);
    for (int c = 0; c < p->jpeg.num_components; c++)
        p->jpeg.comp_info[c].h_samp_factor = p->jpeg.comp_info[c].v_samp_factor = 1;
    if (!about || !about->quantized || p->file.page.model == CHANNELS_CMYK) return;
    for (int t = 0; t < 2; t++) {
        unsigned table[DCTSIZE2];
        for (int i = 0; i < DCTSIZE2; i++)
            table[i] = about->quantization[t][i];
        jpeg_add_quant_table(&p->jpeg, t, table, 100, FALSE);
    }
    if (p->jpeg.num_components < 3) return;
    p->jpeg.comp_info[0].h_samp_factor = about->sampling[0];
    p->jpeg.comp_info[0].v_samp_factor = about->sampling[1];
}

static void put_markers(jpeg_file *p)
{
    static const char name[6] = "Exif\0";
    const metadata *about = p->file.page.about;
    unsigned char exif[sizeof name + MOST_EXIF];
    if (!about) return;
    const metadata_block *block = &about->exif;
    if (block->size > MOST_EXIF) p->file.lost = "the EXIF data, which are too large";
    if (block->data && block->size <= MOST_EXIF) {
        memcpy(exif, name, sizeof name);
        memcpy(exif + sizeof name, block->data, block->size);
        jpeg_write_marker(&p->jpeg, JPEG_APP0 + 1, exif, (unsigned)(sizeof name + block->size));
    }
    if (about->profile.size > MOST_PROFILE) p->file.lost = "the colour profile, which is too large";
    if (about->profile.data && about->profile.size <= MOST_PROFILE)
        jpeg_write_icc_profile(&p->jpeg, about->profile.data, (unsigned)about->profile.size);
}

static void set_density(jpeg_file *p)
{
    static const UINT8 units[] = {[RESOLUTION_NONE] = 0, [RESOLUTION_INCH] = 1, [RESOLUTION_CENTIMETER] = 2};
    const metadata *about = p->file.page.about;
    if (!about || !(about->resolution[0] >= 1 && about->resolution[1] >= 1) || about->resolution[0] > UINT16_MAX ||
        about->resolution[1] > UINT16_MAX)
        return;
    p->jpeg.density_unit = units[about->unit];
    p->jpeg.X_density = (UINT16)(about->resolution[0] + 0.5);
    p->jpeg.Y_density = (UINT16)(about->resolution[1] + 0.5);
}

static int begin(image_file *file, fault *f)
{
    jpeg_file *p = (jpeg_file *)file;
    const image_page *page = &file->page;
    jpeg_std_error(&p->errors);
    p->errors.error_exit = on_error;
    p->errors.output_message = no_output;
    p->jpeg.err = &p->errors;
    p->jpeg.client_data = p;
    if (setjmp(p->failed)) return image_refused(file, p->complaint, f);
    jpeg_create_compress(&p->jpeg);
    jpeg_stdio_dest(&p->jpeg, outfile_stream(file->out));
    p->jpeg.image_width = (JDIMENSION)page->width;
    p->jpeg.image_height = (JDIMENSION)page->height;
    p->jpeg.input_components = page->channels;
    p->jpeg.in_color_space = page->channels == 1 ? JCS_GRAYSCALE : page->channels == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&p->jpeg);
    set_quantization(p);
    set_density(p);
    jpeg_start_compress(&p->jpeg, TRUE);
    put_markers(p);
    return 0;
}

static int rows(image_file *file, unsigned char *rows, int64_t count, fault *f)
{
    jpeg_file *p = (jpeg_file *)file;
    const size_t pitch = image_row_bytes(&file->page);
    if (setjmp(p->failed)) return image_refused(file, p->complaint, f);
    for (int64_t y = 0; y < count; y++) {
        JSAMPROW row = rows + (size_t)y * pitch;
        if (file->page.model == CHANNELS_CMYK) /* stored inverted, with Adobe's marker */
            for (size_t i = 0; i < pitch; i++)
                row[i] = (JSAMPLE)(255 - row[i]);
        jpeg_write_scanlines(&p->jpeg, &row, 1);
    }
    return 0;
}

static int end(image_file *file, bool last, fault *f)
{
    jpeg_file *p = (jpeg_file *)file;
    (void)last;
    if (setjmp(p->failed)) return image_refused(file, p->complaint, f);
    jpeg_finish_compress(&p->jpeg);
    return 0;
}

static void close(image_file *file)
{
    jpeg_file *p = (jpeg_file *)file;
    if (p->jpeg.err) jpeg_destroy_compress(&p->jpeg);
}

const image_codec jpeg_codec = {.size = sizeof(jpeg_file), .begin = begin, .rows = rows, .end = end, .close = close};
