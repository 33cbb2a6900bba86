/* JPEG XL images by libjxl: gray and RGB, with and without alpha, integers of up to 16 bits and floats, oriented as the
 * file says. Fewer than 8 bits are scaled to 8; 9 to 15 bits are as stored. Frames of an animation are pages, as
 * displayed. */
#include <jxl/decode.h>
#include <jxl/resizable_parallel_runner.h>
#include <stdlib.h>

#include "input/readers/images/paged.h"

enum { DECODER_BYTES = 16 }; /* libjxl's approximate memory per pixel */

typedef struct jxl_reader {
    paged paged; /* must be first */
    JxlDecoder *decoder;
    void *threads;
    unsigned bits;
    int next; /* the decoder's next frame */
} jxl_reader;

/* The next of the subscribed events. */
static JxlDecoderStatus next_event(jxl_reader *j)
{
    return JxlDecoderProcessInput(j->decoder);
}

static int damaged(const jxl_reader *j, int page, JxlDecoderStatus status, fault *f)
{
    return paged_damaged(&j->paged, page, status == JXL_DEC_ERROR ? "its data is invalid" : "it ends early", f);
}

/* Start the decoder at the beginning of the file. */
static int start(jxl_reader *j, int events, fault *f)
{
    const paged *p = &j->paged;
    JxlDecoderReset(j->decoder);
    j->next = 0;
    if (JxlDecoderSubscribeEvents(j->decoder, events) != JXL_DEC_SUCCESS ||
        JxlDecoderSetParallelRunner(j->decoder, JxlResizableParallelRunner, j->threads) != JXL_DEC_SUCCESS ||
        JxlDecoderSetInput(j->decoder, p->bytes, p->size) != JXL_DEC_SUCCESS)
        return fault_set(f, EXIT_DATA, "%s: libjxl cannot start", input_name(p->image.reader.in));
    return 0;
}

static int read_layout(jxl_reader *j, const JxlBasicInfo *info, fault *f)
{
    const paged *p = &j->paged;
    const bool alpha = info->alpha_bits > 0, gray = info->num_color_channels == 1;
    j->bits = info->bits_per_sample;
    if (info->num_extra_channels > (alpha ? 1U : 0U))
        return paged_unsupported(p, "channels besides colours and alpha", f);
    if (info->exponent_bits_per_sample == 0 && j->bits > 16) return paged_unsupported(p, "integers above 16 bits", f);
    j->paged.layout = (image_layout){.model = gray ? (alpha ? CHANNELS_GRAY_ALPHA : CHANNELS_GRAY)
                                                   : (alpha ? CHANNELS_RGBA : CHANNELS_RGB),
                                     .channels = (gray ? 1 : 3) + alpha,
                                     .dtype = info->exponent_bits_per_sample ? (j->bits == 16 ? HISTO_F16 : HISTO_F32)
                                              : j->bits > 8                  ? HISTO_U16
                                                                             : HISTO_U8,
                                     .width = info->xsize,
                                     .height = info->ysize};
    const int64_t pixel = j->paged.layout.channels * (int64_t)histo_dtype_size(j->paged.layout.dtype);
    JxlResizableParallelRunnerSetThreads(j->threads,
                                         JxlResizableParallelRunnerSuggestThreads(info->xsize, info->ysize));
    return paged_check_memory(p, &j->paged.layout, pixel + DECODER_BYTES, f);
}

static int open_jxl(paged *p, fault *f)
{
    jxl_reader *j = (jxl_reader *)p;
    j->decoder = JxlDecoderCreate(NULL);
    j->threads = JxlResizableParallelRunnerCreate(NULL);
    if (!j->decoder || !j->threads) return fault_set(f, EXIT_DATA, "%s: out of memory", input_name(p->image.reader.in));
    JxlBasicInfo info;
    JxlDecoderStatus status;
    if (start(j, JXL_DEC_BASIC_INFO | JXL_DEC_FRAME, f) != 0) return -1;
    if ((status = next_event(j)) != JXL_DEC_BASIC_INFO ||
        (status = JxlDecoderGetBasicInfo(j->decoder, &info)) != JXL_DEC_SUCCESS)
        return damaged(j, 0, status, f);
    if (read_layout(j, &info, f) != 0) return -1;
    if (info.have_animation)
        for (p->pages = 0; (status = next_event(j)) != JXL_DEC_SUCCESS; p->pages++)
            if (status != JXL_DEC_FRAME) return damaged(j, (int)p->pages, status, f);
    return start(j, JXL_DEC_FULL_IMAGE, f);
}

static bool keep(paged *p, metadata *about)
{
    const jxl_reader *j = (const jxl_reader *)p;
    if (j->paged.layout.dtype == HISTO_U16 && j->bits < 16) about->largest = (1 << j->bits) - 1;
    return true;
}

/* libjxl scales integers to the full range of their type. */
static void scale_back(jxl_reader *j, size_t samples)
{
    uint16_t *sample = (uint16_t *)(void *)j->paged.image.rows.data;
    const uint32_t largest = (1U << j->bits) - 1;
    for (size_t i = 0; i < samples; i++)
        sample[i] = (uint16_t)((sample[i] * largest + 32767) / 65535);
}

static const JxlDataType types[] = {[HISTO_U8] = JXL_TYPE_UINT8,
                                    [HISTO_U16] = JXL_TYPE_UINT16,
                                    [HISTO_F16] = JXL_TYPE_FLOAT16,
                                    [HISTO_F32] = JXL_TYPE_FLOAT};

static int decode(paged *p, fault *f)
{
    jxl_reader *j = (jxl_reader *)p;
    image *m = &p->image;
    const int page = m->page;
    const size_t bytes = image_pitch(m) * (size_t)m->layout.height;
    const JxlPixelFormat format = {.num_channels = (uint32_t)m->layout.channels,
                                   .data_type = types[m->layout.dtype],
                                   .endianness = JXL_NATIVE_ENDIAN};
    size_t theirs = 0;
    JxlDecoderStatus status;
    if (image_reserve(m, &m->rows, bytes, f) != 0 || (j->next > page && start(j, JXL_DEC_FULL_IMAGE, f) != 0))
        return -1;
    if (page > j->next) JxlDecoderSkipFrames(j->decoder, (size_t)(page - j->next));
    if ((status = next_event(j)) != JXL_DEC_NEED_IMAGE_OUT_BUFFER ||
        (status = JxlDecoderImageOutBufferSize(j->decoder, &format, &theirs)) != JXL_DEC_SUCCESS || theirs != bytes ||
        (status = JxlDecoderSetImageOutBuffer(j->decoder, &format, m->rows.data, bytes)) != JXL_DEC_SUCCESS ||
        (status = next_event(j)) != JXL_DEC_FULL_IMAGE)
        return damaged(j, page, status, f);
    j->next = page + 1;
    if (m->layout.dtype == HISTO_U16 && j->bits < 16) scale_back(j, bytes / sizeof(uint16_t));
    p->pixels = m->rows.data;
    p->pitch = image_pitch(m);
    return 0;
}

static void close_jxl(paged *p)
{
    jxl_reader *j = (jxl_reader *)p;
    if (j->decoder) JxlDecoderDestroy(j->decoder);
    if (j->threads) JxlResizableParallelRunnerDestroy(j->threads);
}

const paged_format jxl_pages = {.size = sizeof(jxl_reader),
                                .whole = true,
                                .chatty = true,
                                .open = open_jxl,
                                .keep = keep,
                                .decode = decode,
                                .close = close_jxl};
