/* PNG images by libpng. Rows are decoded on demand, except in interlaced images, which have seven passes over all rows.
 * Palettes become RGB, or RGBA with transparency; gray with 1, 2 and 4 bits is scaled to 8. */
#include <string.h>

#include "input/readers/images/exif.h"
#include "input/readers/images/paged.h"
#include "input/readers/images/png_data.h"
#include "input/readers/images/png_messages.h"

typedef struct png_reader {
    paged paged;     /* must be first */
    png_structp png; /* NULL: before the header */
    png_infop info;
    bool begun; /* rows have been read since the header */
    bool interlaced;
    int64_t decoded; /* rows of the band, for messages */
    png_complaint complaint;
    fault *fault;   /* of the current call */
    png_data *data; /* of a large file; NULL: libpng inflates */
} png_reader;

static void read_data(png_structp png, png_bytep to, size_t size)
{
    png_reader *p = png_get_io_ptr(png);
    const char *wrong = p->data ? png_data_read(p->data, to, size) : NULL;
    if (wrong) png_error(png, wrong);
    while (size > 0 && !p->data) {
        int64_t got = input_read(p->paged.image.reader.in, to, size, p->fault);
        if (got <= 0) png_error(png, "it ends early");
        to += got;
        size -= (size_t)got;
    }
}

/* The layout of the image after libpng's transformations. */
static image_layout set_up_expansion(png_reader *p)
{
    int color = png_get_color_type(p->png, p->info), depth = png_get_bit_depth(p->png, p->info);
    image_layout layout = {.dtype = depth == 16 ? HISTO_U16 : HISTO_U8,
                           .width = png_get_image_width(p->png, p->info),
                           .height = png_get_image_height(p->png, p->info)};
    const bool transparent = png_get_valid(p->png, p->info, PNG_INFO_tRNS); /* colours without an alpha channel */
    const bool alpha = (color & PNG_COLOR_MASK_ALPHA) || transparent;
    if (color == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(p->png);
    else if (depth < 8)
        png_set_expand_gray_1_2_4_to_8(p->png);
    if (transparent) png_set_tRNS_to_alpha(p->png);
    if (color & PNG_COLOR_MASK_COLOR) {
        layout.model = alpha ? CHANNELS_RGBA : CHANNELS_RGB;
        layout.channels = alpha ? 4 : 3;
    } else {
        layout.model = alpha ? CHANNELS_GRAY_ALPHA : CHANNELS_GRAY;
        layout.channels = alpha ? 2 : 1;
    }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    png_set_swap(p->png);
#endif
    return layout;
}

enum { LARGEST_CHUNK = 1 << 24, LARGE = 1 << 20 };

/* Keep the chunks that do not affect samples. */
static bool keep_chunks(paged *base, metadata *m)
{
    const png_reader *p = (const png_reader *)base;
    png_charp name;
    png_bytep bytes;
    png_uint_32 size, across, down;
    int method, unit;
    bool complete = true;
    if (png_get_iCCP(p->png, p->info, &name, &method, &bytes, &size))
        complete = metadata_keep(&m->profile, bytes, size);
    if (png_get_eXIf_1(p->png, p->info, &size, &bytes)) complete = complete && metadata_keep(&m->exif, bytes, size);
    m->orientation = exif_orientation(&m->exif);
    if (png_get_sRGB(p->png, p->info, &method)) m->intent = method;
    if (!png_get_gAMA(p->png, p->info, &m->gamma)) m->gamma = 0;
    if (png_get_pHYs(p->png, p->info, &across, &down, &unit)) {
        const double scale = unit == PNG_RESOLUTION_METER ? 0.01 : 1;
        m->unit = unit == PNG_RESOLUTION_METER ? RESOLUTION_CENTIMETER : RESOLUTION_NONE;
        m->resolution[0] = across * scale;
        m->resolution[1] = down * scale;
    }
    return complete;
}

static int check_whole(const png_reader *p, fault *f)
{
    const image_layout *layout = &p->paged.layout;
    int64_t row = layout->width * layout->channels * (int64_t)histo_dtype_size(layout->dtype);
    if (!p->interlaced || row < 1 || layout->height <= IMAGE_MAX_WHOLE_BYTES / row) return 0;
    return fault_set(f, EXIT_DATA,
                     "%s: an interlaced PNG of %lld x %lld pixels must be decoded whole, in more than %d MiB: "
                     "save it without interlacing",
                     input_name(p->paged.image.reader.in), (long long)layout->width, (long long)layout->height,
                     IMAGE_MAX_WHOLE_BYTES >> 20);
}

/* libpng ignores animations: it reads the image that other programs show. */
static void find_animation(png_reader *p)
{
    reader *r = &p->paged.image.reader;
    png_unknown_chunkp chunks;
    const int count = png_get_unknown_chunks(p->png, p->info, &chunks);
    for (int i = 0; i < count; i++) {
        if (memcmp(chunks[i].name, "acTL", 4) != 0 || chunks[i].size < 4) continue;
        r->pages_in_file = png_get_uint_32(chunks[i].data);
        r->first_only = r->pages_in_file > 1;
        if (!r->first_only) r->pages_in_file = 0;
    }
}

static void close_library(png_reader *p)
{
    png_destroy_read_struct(&p->png, &p->info, NULL);
    png_data_close(p->data);
    p->data = NULL;
}

static void close_png(paged *base)
{
    close_library((png_reader *)base);
}

/* Read everything before the first row. */
static int read_header(png_reader *p, fault *f)
{
    input *in = p->paged.image.reader.in;
    p->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &p->complaint, png_on_error, png_on_warning);
    p->info = p->png ? png_create_info_struct(p->png) : NULL;
    if (!p->info) return fault_set(f, EXIT_DATA, "%s: libpng cannot start", input_name(in));
    if (setjmp(png_jmpbuf(p->png))) return image_damaged(&p->paged.image, "the PNG header", p->complaint.text, f);

    if (input_size(in) >= LARGE && histo_threads() > 1) p->data = png_data_open(in);
    if (p->data) png_set_option(p->png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
    png_set_read_fn(p->png, p, read_data);
    png_set_user_limits(p->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* image_begin_page checks limits */
    /* Compressed texts and profiles could expand to gigabytes, and do not affect samples. */
    if (p->paged.options.about)
        png_set_chunk_malloc_max(p->png, LARGEST_CHUNK);
    else
        png_set_keep_unknown_chunks(p->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_keep_unknown_chunks(p->png, PNG_HANDLE_CHUNK_ALWAYS, (png_const_bytep) "acTL", 1);
    png_read_info(p->png, p->info);
    if (p->data) png_set_crc_action(p->png, PNG_CRC_QUIET_USE, PNG_CRC_NO_CHANGE);

    find_animation(p);
    p->paged.layout = set_up_expansion(p);
    p->interlaced = png_get_interlace_type(p->png, p->info) != PNG_INTERLACE_NONE;
    return check_whole(p, f);
}

/* Read the header again, if rows have been read. */
static int describe(paged *base, int page, fault *f)
{
    (void)page;
    png_reader *p = (png_reader *)base;
    p->fault = f;
    if (p->begun) {
        close_library(p);
        if (input_rewind(base->image.reader.in, f) < 0) return -1;
        p->begun = false;
    }
    return p->png ? 0 : read_header(p, f);
}

/* Check what rows libpng will deliver. */
static int decode(paged *base, fault *f)
{
    png_reader *p = (png_reader *)base;
    p->fault = f;
    if (setjmp(png_jmpbuf(p->png))) return image_damaged(&base->image, "the PNG header", p->complaint.text, f);
    png_set_interlace_handling(p->png);
    png_read_update_info(p->png, p->info);
    if (png_get_rowbytes(p->png, p->info) != image_pitch(&base->image)) png_error(p->png, "the row size is wrong");
    p->begun = true;
    return 0;
}

static int next_band(paged *base, band *b, fault *f)
{
    png_reader *p = (png_reader *)base;
    image *m = &base->image;
    int64_t rows = p->interlaced ? m->layout.height : image_band_rows(m);
    size_t pitch = image_pitch(m);
    if (image_reserve(m, &m->rows, (size_t)rows * pitch, f) < 0) return -1;

    p->fault = f;
    if (setjmp(png_jmpbuf(p->png))) {
        char place[64];
        const int64_t row = m->y + p->decoded, last = m->layout.height - 1;
        snprintf(place, sizeof place, "row %lld of %lld", (long long)(row < last ? row : last), (long long)last + 1);
        return image_damaged(m, place, p->complaint.text, f);
    }
    for (int pass = 0; pass < (p->interlaced ? PNG_INTERLACE_ADAM7_PASSES : 1); pass++)
        for (p->decoded = 0; p->decoded < rows; p->decoded++)
            png_read_row(p->png, m->rows.data + (size_t)p->decoded * pitch, NULL);
    if (m->y + rows == m->layout.height) png_read_end(p->png, NULL);
    return image_emit_rows(m, b, rows);
}

const paged_format png_pages = {.size = sizeof(png_reader),
                                .describe = describe,
                                .keep = keep_chunks,
                                .decode = decode,
                                .band = next_band,
                                .close = close_png};
