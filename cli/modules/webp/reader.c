/* WebP images by libwebp: 8-bit RGB or RGBA. Frames of an animation are pages, as displayed: on the canvas, over the
 * previous frames. */
#include <stdio.h>
#include <stdlib.h>
#include <webp/decode.h>
#include <webp/demux.h>

#include "input/readers/images/exif.h"
#include "input/readers/images/paged.h"

typedef struct webp_reader {
    paged paged; /* must be first */
    WebPDemuxer *demuxer;
    WebPAnimDecoder *animation; /* NULL: a still image */
    int decoded;                /* frames of the animation decoded since its beginning */
} webp_reader;

static const char *describe_status(VP8StatusCode status)
{
    static const char *const words[] = {[VP8_STATUS_OUT_OF_MEMORY] = "no memory",
                                        [VP8_STATUS_NOT_ENOUGH_DATA] = "it ends early",
                                        [VP8_STATUS_SUSPENDED] = "it ends early",
                                        [VP8_STATUS_UNSUPPORTED_FEATURE] = "it has an unknown feature"};
    const size_t count = sizeof words / sizeof *words;
    return status < count && words[status] ? words[status] : "its data is invalid";
}

static int open_webp(paged *p, fault *f)
{
    webp_reader *w = (webp_reader *)p;
    const WebPData data = {p->bytes, p->size};
    WebPBitstreamFeatures features;
    const VP8StatusCode status = WebPGetFeatures(p->bytes, p->size, &features);
    if (status != VP8_STATUS_OK) return paged_damaged(p, 0, describe_status(status), f);
    w->paged.layout = (image_layout){.model = features.has_alpha ? CHANNELS_RGBA : CHANNELS_RGB,
                                     .channels = features.has_alpha ? 4 : 3,
                                     .dtype = HISTO_U8,
                                     .width = features.width,
                                     .height = features.height};
    if (!(w->demuxer = WebPDemux(&data))) return paged_damaged(p, 0, "it ends early", f);
    if (!features.has_animation) return paged_check_memory(p, &w->paged.layout, w->paged.layout.channels, f);

    if (paged_check_memory(p, &w->paged.layout, 12, f) != 0) return -1; /* two canvases and a page */
    WebPAnimDecoderOptions options;
    WebPAnimDecoderOptionsInit(&options);
    options.color_mode = MODE_RGBA;
    if (!(w->animation = WebPAnimDecoderNew(&data, &options)))
        return paged_damaged(p, 0, "its animation is invalid", f);
    p->pages = (int64_t)WebPDemuxGetI(w->demuxer, WEBP_FF_FRAME_COUNT);
    return 0;
}

static bool keep_chunk(const webp_reader *w, const char *name, metadata_block *block)
{
    WebPChunkIterator chunk;
    if (!WebPDemuxGetChunk(w->demuxer, name, 1, &chunk)) return true;
    const bool kept = metadata_keep(block, chunk.chunk.bytes, chunk.chunk.size);
    WebPDemuxReleaseChunkIterator(&chunk);
    return kept;
}

static bool keep(paged *p, metadata *about)
{
    const webp_reader *w = (const webp_reader *)p;
    if (!keep_chunk(w, "ICCP", &about->profile) || !keep_chunk(w, "EXIF", &about->exif)) return false;
    about->orientation = exif_orientation(&about->exif);
    return true;
}

static int decode_still(webp_reader *w, fault *f)
{
    paged *p = &w->paged;
    const image_layout *l = &w->paged.layout;
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) return paged_damaged(p, 0, "libwebp is of another version", f);
    const size_t bytes = p->pitch * (size_t)l->height;
    if (image_reserve(&p->image, &p->image.rows, bytes, f) != 0) return -1;
    config.options.use_threads = 1;
    config.output.colorspace = l->channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = p->image.rows.data;
    config.output.u.RGBA.stride = (int)p->pitch;
    config.output.u.RGBA.size = bytes;
    const VP8StatusCode status = WebPDecode(p->bytes, p->size, &config);
    WebPFreeDecBuffer(&config.output);
    return status == VP8_STATUS_OK ? 0 : paged_damaged(p, 0, describe_status(status), f);
}

static int decode_frame(webp_reader *w, int page, fault *f)
{
    paged *p = &w->paged;
    uint8_t *canvas = NULL;
    int time;
    if (w->decoded > page) {
        WebPAnimDecoderReset(w->animation);
        w->decoded = 0;
    }
    for (; w->decoded <= page; w->decoded++)
        if (!WebPAnimDecoderGetNext(w->animation, &canvas, &time))
            return paged_damaged(p, w->decoded, "its data is invalid or ends early", f);
    p->pixels = canvas;
    if (w->paged.layout.channels == 4) return 0;
    const size_t pixels = (size_t)(w->paged.layout.width * w->paged.layout.height);
    if (image_reserve(&p->image, &p->image.rows, 3 * pixels, f) != 0) return -1;
    p->pixels = p->image.rows.data;
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < 3; c++)
            p->image.rows.data[3 * i + c] = canvas[4 * i + c];
    return 0;
}

static int decode(paged *p, fault *f)
{
    webp_reader *w = (webp_reader *)p;
    p->pitch = image_pitch(&p->image);
    if (w->animation) return decode_frame(w, p->image.page, f);
    if (decode_still(w, f) != 0) return -1;
    p->pixels = p->image.rows.data;
    return 0;
}

static void close_webp(paged *p)
{
    webp_reader *w = (webp_reader *)p;
    WebPAnimDecoderDelete(w->animation);
    WebPDemuxDelete(w->demuxer);
}

const paged_format webp_pages = {
    .size = sizeof(webp_reader), .whole = true, .open = open_webp, .keep = keep, .decode = decode, .close = close_webp};
