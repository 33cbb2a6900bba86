/* JPEG images by libjpeg. Rows are decoded on demand (libjpeg buffers progressive images completely). YCbCr becomes
 * RGB; CMYK values are amounts of ink, which files with Adobe's marker store inverted. libjpeg only warns about missing
 * or corrupt data and invents samples; here that is an error. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* these need stdio.h first */
#include <jerror.h>
#include <jpeglib.h>

#include "input/readers/images/exif.h"
#include "input/readers/images/paged.h"

enum {
    BUFFER_BYTES = 65536,
    MAX_SCANS = 500, /* of a progressive image: encoders write about ten, and each costs a pass over the image */
};

typedef struct jpeg_reader {
    paged paged; /* must be first */
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf failed;
    bool described; /* the header has been read */
    bool started;   /* after the header */
    bool profiling; /* warnings concern the colour profile, which can be dropped */
    JOCTET *profile;
    unsigned profile_size;
    char complaint[JMSG_LENGTH_MAX];
    fault *fault; /* of the current call */
    unsigned char buffer[BUFFER_BYTES];
} jpeg_reader;

static void on_error(j_common_ptr jpeg)
{
    jpeg_reader *p = jpeg->client_data;
    jpeg->err->format_message(jpeg, p->complaint);
    longjmp(p->failed, 1);
}

/* Level -1 is a warning. These few concern only the container; after any other, samples are wrong. */
static void on_message(j_common_ptr jpeg, int level)
{
    jpeg_reader *p = jpeg->client_data;
    int code = jpeg->err->msg_code;
    bool harmless = code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM ||
                    code == JWRN_NOT_SEQUENTIAL;
    if (level < 0 && p->profiling)
        p->paged.image.reader.note = "its colour profile is damaged, and is not read";
    else if (level < 0 && !harmless)
        on_error(jpeg);
}

static void no_output(j_common_ptr jpeg)
{
    (void)jpeg;
}

static void no_source_call(j_decompress_ptr jpeg)
{
    (void)jpeg;
}

static boolean fill_buffer(j_decompress_ptr jpeg)
{
    jpeg_reader *p = jpeg->client_data;
    int64_t got = input_read(p->paged.image.reader.in, p->buffer, sizeof p->buffer, p->fault);
    if (got <= 0) {
        snprintf(p->complaint, sizeof p->complaint, "it ends early");
        longjmp(p->failed, 1);
    }
    p->source.next_input_byte = p->buffer;
    p->source.bytes_in_buffer = (size_t)got;
    return TRUE;
}

static void skip_data(j_decompress_ptr jpeg, long count)
{
    struct jpeg_source_mgr *source = jpeg->src;
    if (count <= 0) return;
    size_t left = (size_t)count;
    while (left > source->bytes_in_buffer) {
        left -= source->bytes_in_buffer;
        fill_buffer(jpeg);
    }
    source->next_input_byte += left;
    source->bytes_in_buffer -= left;
}

static void check_scans(j_common_ptr common)
{
    jpeg_reader *p = common->client_data;
    if (p->jpeg.input_scan_number <= MAX_SCANS) return;
    snprintf(p->complaint, sizeof p->complaint, "more than %d scans", MAX_SCANS);
    longjmp(p->failed, 1);
}

static image_layout choose_colors(j_decompress_ptr jpeg)
{
    image_layout layout = {.dtype = HISTO_U8, .channels = 3, .width = jpeg->image_width, .height = jpeg->image_height};
    switch (jpeg->jpeg_color_space) {
    case JCS_GRAYSCALE:
        layout.model = CHANNELS_GRAY;
        layout.channels = 1;
        break;
    case JCS_YCbCr:
    case JCS_RGB:
        layout.model = CHANNELS_RGB;
        jpeg->out_color_space = JCS_RGB;
        break;
    case JCS_CMYK:
    case JCS_YCCK:
        layout.model = CHANNELS_CMYK;
        layout.channels = 4;
        jpeg->out_color_space = JCS_CMYK;
        break;
    default:
        layout.channels = jpeg->num_components;
        jpeg->out_color_space = jpeg->jpeg_color_space;
    }
    return layout;
}

/* libjpeg keeps the coefficients of multi-scan images in memory. */
static int check_whole(jpeg_reader *p, fault *f)
{
    if (!jpeg_has_multiple_scans(&p->jpeg)) return 0;
    int64_t bytes = 0;
    for (int c = 0; c < p->jpeg.num_components; c++) {
        const jpeg_component_info *info = &p->jpeg.comp_info[c];
        bytes += (int64_t)info->width_in_blocks * info->height_in_blocks * (int64_t)sizeof(JBLOCK);
    }
    if (bytes <= IMAGE_MAX_WHOLE_BYTES) return 0;
    return fault_set(f, EXIT_DATA,
                     "%s: a progressive JPEG of %u x %u pixels must be decoded whole, in more than %d MiB: "
                     "save it as a baseline JPEG",
                     input_name(p->paged.image.reader.in), p->jpeg.image_width, p->jpeg.image_height,
                     IMAGE_MAX_WHOLE_BYTES >> 20);
}

/* Keep the quantization of gray and YCbCr images. */
static void keep_quantization(const jpeg_reader *p, metadata *m)
{
    const struct jpeg_decompress_struct *jpeg = &p->jpeg;
    if (jpeg->jpeg_color_space != JCS_GRAYSCALE && jpeg->jpeg_color_space != JCS_YCbCr) return;
    for (int t = 0; t < 2; t++) {
        const int c = t < jpeg->num_components ? t : 0;
        const int number = jpeg->comp_info[c].quant_tbl_no; /* not yet checked by libjpeg */
        const JQUANT_TBL *table = number >= 0 && number < NUM_QUANT_TBLS ? jpeg->quant_tbl_ptrs[number] : NULL;
        if (!table) return;
        for (int i = 0; i < DCTSIZE2; i++)
            m->quantization[t][i] = table->quantval[i];
    }
    m->sampling[0] = jpeg->max_h_samp_factor;
    m->sampling[1] = jpeg->max_v_samp_factor;
    m->quantized = true;
}

/* Keep metadata: profile, EXIF data, resolution, quantization. Must not call libjpeg, whose errors would jump into a
 * function that has returned. */
static bool keep_metadata(paged *base, metadata *m)
{
    const jpeg_reader *p = (const jpeg_reader *)base;
    static const char exif[6] = "Exif\0";
    bool complete = !p->profile || metadata_keep(&m->profile, p->profile, p->profile_size);
    for (jpeg_saved_marker_ptr marker = p->jpeg.marker_list; marker && complete; marker = marker->next)
        if (marker->marker == JPEG_APP0 + 1 && marker->data_length > sizeof exif && !m->exif.data &&
            memcmp(marker->data, exif, sizeof exif) == 0)
            complete = metadata_keep(&m->exif, marker->data + sizeof exif, marker->data_length - sizeof exif);
    if (p->jpeg.saw_JFIF_marker) {
        static const resolution_unit units[] = {RESOLUTION_NONE, RESOLUTION_INCH, RESOLUTION_CENTIMETER};
        m->unit = p->jpeg.density_unit <= 2 ? units[p->jpeg.density_unit] : RESOLUTION_NONE;
        m->resolution[0] = p->jpeg.X_density;
        m->resolution[1] = p->jpeg.Y_density;
    }
    keep_quantization(p, m);
    m->orientation = exif_orientation(&m->exif);
    return complete;
}

static unsigned number_at(const unsigned char *at, int bytes, bool big)
{
    unsigned value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | at[big ? i : bytes - 1 - i];
    return value;
}

/* The number of images in a multi-image file (MPO, from cameras with two lenses; previews), by CIPA's Multi-Picture
 * Format; 0 for other files. */
static unsigned count_images(const unsigned char *data, size_t size)
{
    enum { NUMBER_OF_IMAGES = 0xB001 };
    if (size < 14 || memcmp(data, "MPF", 4) != 0) return 0;
    const unsigned char *head = data + 4; /* like a TIFF header */
    const bool big = head[0] == 'M';
    size -= 4;
    const unsigned first = number_at(head + 4, 4, big);
    if (first > size - 2) return 0;
    const unsigned count = number_at(head + first, 2, big);
    for (unsigned i = 0; i < count && (size_t)first + 2 + 12 * ((size_t)i + 1) <= size; i++) {
        const unsigned char *field = head + first + 2 + 12 * (size_t)i;
        if (number_at(field, 2, big) == NUMBER_OF_IMAGES) return number_at(field + 8, 4, big);
    }
    return 0;
}

static void find_others(jpeg_reader *p)
{
    reader *r = &p->paged.image.reader;
    for (jpeg_saved_marker_ptr marker = p->jpeg.marker_list; marker; marker = marker->next) {
        if (marker->marker != JPEG_APP0 + 2) continue;
        const unsigned images = count_images(marker->data, marker->data_length);
        if (images < 2 || p->paged.options.has_page) continue;
        r->first_only = true;
        r->pages_in_file = images;
    }
}

/* Read the header, again if it has been read. */
static int describe(paged *base, int page, fault *f)
{
    (void)page;
    jpeg_reader *p = (jpeg_reader *)base;
    if (p->described && !p->started) return 0;
    if (p->described) {
        jpeg_abort_decompress(&p->jpeg);
        if (input_rewind(base->image.reader.in, f) < 0) return -1;
    }
    p->fault = f;
    p->started = false;
    p->source.bytes_in_buffer = 0;
    if (setjmp(p->failed)) return image_damaged(&base->image, "the JPEG header", p->complaint, f);
    if (base->options.about) jpeg_save_markers(&p->jpeg, JPEG_APP0 + 1, 0xFFFF);
    jpeg_save_markers(&p->jpeg, JPEG_APP0 + 2, 0xFFFF);
    jpeg_read_header(&p->jpeg, TRUE);
    p->profiling = true;
    if (base->options.about && !p->profile) jpeg_read_icc_profile(&p->jpeg, &p->profile, &p->profile_size);
    p->profiling = false;
    find_others(p);
    p->described = true;
    base->layout = choose_colors(&p->jpeg);
    return check_whole(p, f);
}

static int damaged_in_data(const jpeg_reader *p, fault *f)
{
    char place[64];
    if (p->started)
        snprintf(place, sizeof place, "row %u of %u", p->jpeg.output_scanline, p->jpeg.image_height);
    else
        snprintf(place, sizeof place, "scan %d", p->jpeg.input_scan_number);
    return image_damaged(&p->paged.image, place, p->complaint, f);
}

static int next_band(paged *base, band *b, fault *f)
{
    jpeg_reader *p = (jpeg_reader *)base;
    image *m = &base->image;
    int64_t rows = image_band_rows(m);
    size_t pitch = image_pitch(m);
    if (image_reserve(m, &m->rows, (size_t)rows * pitch, f) < 0) return -1;

    p->fault = f;
    if (setjmp(p->failed)) return damaged_in_data(p, f);
    if (!p->started) jpeg_start_decompress(&p->jpeg);
    p->started = true;
    while (p->jpeg.output_scanline < m->y + rows) {
        JSAMPROW row = m->rows.data + (size_t)(p->jpeg.output_scanline - m->y) * pitch;
        jpeg_read_scanlines(&p->jpeg, &row, 1);
        if (m->layout.model == CHANNELS_CMYK && p->jpeg.saw_Adobe_marker)
            for (size_t i = 0; i < pitch; i++)
                row[i] = (JSAMPLE)(255 - row[i]);
    }
    if (m->y + rows == m->layout.height) jpeg_finish_decompress(&p->jpeg); /* reads up to the end marker */
    return image_emit_rows(m, b, rows);
}

static void close_jpeg(paged *base)
{
    jpeg_reader *p = (jpeg_reader *)base;
    jpeg_destroy_decompress(&p->jpeg);
    free(p->profile);
}

static int open_jpeg(paged *base, fault *f)
{
    jpeg_reader *p = (jpeg_reader *)base;
    jpeg_std_error(&p->errors);
    p->errors.error_exit = on_error;
    p->errors.emit_message = on_message;
    p->errors.output_message = no_output;
    p->jpeg.err = &p->errors;
    p->jpeg.client_data = p;
    if (setjmp(p->failed))
        return fault_set(f, EXIT_DATA, "%s: libjpeg cannot start (%s)", input_name(p->paged.image.reader.in),
                         p->complaint);
    jpeg_create_decompress(&p->jpeg);
    p->source = (struct jpeg_source_mgr){.init_source = no_source_call,
                                         .fill_input_buffer = fill_buffer,
                                         .skip_input_data = skip_data,
                                         .resync_to_restart = jpeg_resync_to_restart,
                                         .term_source = no_source_call};
    p->jpeg.src = &p->source;
    p->progress.progress_monitor = check_scans;
    p->jpeg.progress = &p->progress;
    return 0;
}

const paged_format jpeg_pages = {.size = sizeof(jpeg_reader),
                                 .open = open_jpeg,
                                 .describe = describe,
                                 .keep = keep_metadata,
                                 .band = next_band,
                                 .close = close_jpeg};
