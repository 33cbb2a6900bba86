/* GIF images by giflib, as RGB, or as RGBA if pixels may stay transparent. Frames are pages, as displayed: each is
 * drawn on the canvas that the previous frame left. */
#include <gif_lib.h>
#include <stdlib.h>
#include <string.h>

#include "input/readers/images/paged.h"

/* How a frame is drawn: the last control extension before it. */
static const GraphicsControlBlock no_control = {.TransparentColor = NO_TRANSPARENT_COLOR};

typedef struct gif_rectangle {
    int64_t x, y, width, height; /* within the canvas */
} gif_rectangle;

typedef struct gif_reader {
    paged paged; /* must be first */
    GifFileType *gif;
    size_t position; /* giflib's position in the bytes */
    GraphicsControlBlock control;
    int drawn;             /* number of frames */
    int disposal;          /* of the last frame drawn */
    gif_rectangle area;    /* of that frame */
    unsigned char *before; /* the canvas before that frame, if it is to be restored */
    GifPixelType line[1 << 16];
} gif_reader;

static int read_on(GifFileType *gif, GifByteType *to, int size)
{
    gif_reader *g = gif->UserData;
    size_t left = g->paged.size - g->position, taken = (size_t)size < left ? (size_t)size : left;
    memcpy(to, g->paged.bytes + g->position, taken);
    g->position += taken;
    return (int)taken;
}

static int damaged(const gif_reader *g, int page, const char *complaint, fault *f)
{
    const int error = g->gif ? g->gif->Error : 0;
    if (error == D_GIF_ERR_READ_FAILED || error == D_GIF_ERR_EOF_TOO_SOON) complaint = "it ends early";
    return paged_damaged(&g->paged, page, complaint, f);
}

/* Start giflib at the beginning of the file. */
static int start_library(gif_reader *g, fault *f)
{
    if (g->gif) DGifCloseFile(g->gif, NULL);
    g->position = 0;
    g->control = no_control;
    g->drawn = 0;
    g->disposal = DISPOSAL_UNSPECIFIED;
    g->gif = DGifOpen(g, read_on, NULL);
    return g->gif ? 0 : damaged(g, 0, "its header is invalid or ends early", f);
}

/* ---- Records ---- */

static int read_extension(gif_reader *g)
{
    int code;
    GifByteType *block;
    if (DGifGetExtension(g->gif, &code, &block) != GIF_OK) return -1;
    if (code == GRAPHICS_EXT_FUNC_CODE && block && DGifExtensionToGCB(block[0], block + 1, &g->control) != GIF_OK)
        g->control = no_control;
    while (block)
        if (DGifGetExtensionNext(g->gif, &block) != GIF_OK) return -1;
    return 0;
}

/* Move to the next frame and read its description: 1, 0 at the end, -1. A still image may lack the trailer. */
static int find_frame(gif_reader *g, int page, fault *f)
{
    GifRecordType type;
    for (;;) {
        if (DGifGetRecordType(g->gif, &type) != GIF_OK) {
            if (page == 1 && g->position == g->paged.size) return 0;
            return damaged(g, page, "its data is invalid", f);
        }
        if (type == TERMINATE_RECORD_TYPE) return 0;
        if (type == IMAGE_DESC_RECORD_TYPE)
            return DGifGetImageDesc(g->gif) == GIF_OK ? 1 : damaged(g, page, "its description is invalid", f);
        if (type == EXTENSION_RECORD_TYPE && read_extension(g) != 0)
            return damaged(g, page, "an extension is invalid", f);
    }
}

static gif_rectangle area_of(const gif_reader *g)
{
    const GifImageDesc *d = &g->gif->Image;
    const image_layout *l = &g->paged.layout;
    const int64_t right = d->Left + (int64_t)d->Width, bottom = d->Top + (int64_t)d->Height;
    gif_rectangle area = {d->Left, d->Top, (right < l->width ? right : l->width) - d->Left,
                          (bottom < l->height ? bottom : l->height) - d->Top};
    if (area.width < 0) area.width = 0;
    if (area.height < 0) area.height = 0;
    return area;
}

/* ---- The file ---- */

/* Skip through all frames without decoding: count them, and find whether pixels can stay transparent. */
static int survey(gif_reader *g, fault *f)
{
    paged *p = &g->paged;
    bool clear = false, cleared = false; /* the canvas may be transparent; a frame clears it for the next */
    int more;
    p->pages = 0;
    while ((more = find_frame(g, (int)p->pages, f)) > 0) {
        const GifImageDesc *d = &g->gif->Image;
        if (p->pages == 0 && (g->paged.layout.width == 0 || g->paged.layout.height == 0)) {
            g->paged.layout.width = d->Left + (int64_t)d->Width;
            g->paged.layout.height = d->Top + (int64_t)d->Height;
        }
        const gif_rectangle area = area_of(g);
        const bool covers = area.width == g->paged.layout.width && area.height == g->paged.layout.height;
        if (p->pages == 0) clear = !covers || g->control.TransparentColor != NO_TRANSPARENT_COLOR;
        clear = clear || cleared;
        cleared = g->control.DisposalMode == DISPOSE_BACKGROUND ||
                  (p->pages == 0 && g->control.DisposalMode == DISPOSE_PREVIOUS);
        g->control = no_control;
        int size;
        GifByteType *block;
        if (DGifGetCode(g->gif, &size, &block) != GIF_OK) return damaged(g, (int)p->pages, "its data is invalid", f);
        while (block)
            if (DGifGetCodeNext(g->gif, &block) != GIF_OK) return damaged(g, (int)p->pages, "its data is invalid", f);
        p->pages++;
        if (p->pages == INT32_MAX) return paged_unsupported(p, "more frames than 2^31", f);
    }
    g->paged.layout.model = clear ? CHANNELS_RGBA : CHANNELS_RGB;
    g->paged.layout.channels = clear ? 4 : 3;
    return more;
}

static int open_gif(paged *p, fault *f)
{
    gif_reader *g = (gif_reader *)p;
    if (start_library(g, f) != 0) return -1;
    g->paged.layout = (image_layout){.dtype = HISTO_U8, .width = g->gif->SWidth, .height = g->gif->SHeight};
    if (survey(g, f) != 0 || start_library(g, f) != 0) return -1;
    return paged_check_memory(p, &g->paged.layout, 2 * g->paged.layout.channels, f); /* the canvas, and the previous
                                                                                      * one */
}

/* ---- Frames ---- */

static unsigned char *pixel_at(const gif_reader *g, int64_t x, int64_t y)
{
    return g->paged.image.rows.data + (size_t)((y * g->paged.layout.width + x) * g->paged.layout.channels);
}

static void clear_area(const gif_reader *g, gif_rectangle area)
{
    for (int64_t y = area.y; y < area.y + area.height; y++)
        memset(pixel_at(g, area.x, y), 0, (size_t)(area.width * g->paged.layout.channels));
}

static size_t canvas_bytes(const gif_reader *g)
{
    return image_pitch(&g->paged.image) * (size_t)g->paged.layout.height;
}

/* Leave the canvas as the last frame requires for the next one. */
static void dispose(const gif_reader *g)
{
    const gif_rectangle whole = {0, 0, g->paged.layout.width, g->paged.layout.height};
    if (g->drawn == 0)
        clear_area(g, whole);
    else if (g->disposal == DISPOSE_BACKGROUND)
        clear_area(g, g->area);
    else if (g->disposal == DISPOSE_PREVIOUS)
        memcpy(g->paged.image.rows.data, g->before, canvas_bytes(g));
}

/* Transparent pixels of the first frame have their colour, as in other formats. */
static int draw_row(gif_reader *g, const ColorMapObject *colors, int64_t y, fault *f)
{
    const int channels = g->paged.layout.channels;
    if (DGifGetLine(g->gif, g->line, g->gif->Image.Width) != GIF_OK)
        return damaged(g, g->drawn, "its data is invalid", f);
    if (y >= g->area.y + g->area.height) return 0;
    unsigned char *to = pixel_at(g, g->area.x, y);
    for (int64_t x = 0; x < g->area.width; x++, to += channels) {
        const int index = g->line[x];
        const bool transparent = index == g->control.TransparentColor;
        if (transparent && (g->drawn > 0 || index >= colors->ColorCount)) continue;
        if (index >= colors->ColorCount) return damaged(g, g->drawn, "it has colours that its palette lacks", f);
        to[0] = colors->Colors[index].Red;
        to[1] = colors->Colors[index].Green;
        to[2] = colors->Colors[index].Blue;
        if (channels == 4) to[3] = transparent ? 0 : 255;
    }
    return 0;
}

static int draw_frame(gif_reader *g, fault *f)
{
    const GifImageDesc *d = &g->gif->Image;
    const ColorMapObject *colors = d->ColorMap ? d->ColorMap : g->gif->SColorMap;
    if (!colors) return damaged(g, g->drawn, "it has no palette", f);
    if (d->Width < 1 || d->Width > (int)(sizeof g->line) || d->Height < 1)
        return damaged(g, g->drawn, "it has no pixels", f);
    dispose(g);
    g->disposal = g->control.DisposalMode;
    g->area = area_of(g);
    if (g->disposal == DISPOSE_PREVIOUS) {
        if (!g->before && !(g->before = malloc(canvas_bytes(g))))
            return fault_set(f, EXIT_DATA, "%s: out of memory", input_name(g->paged.image.reader.in));
        memcpy(g->before, g->paged.image.rows.data, canvas_bytes(g));
    }
    static const int begin[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    for (int pass = 0; pass < (d->Interlace ? 4 : 1); pass++)
        for (int y = d->Interlace ? begin[pass] : 0; y < d->Height; y += d->Interlace ? step[pass] : 1)
            if (draw_row(g, colors, d->Top + (int64_t)y, f) != 0) return -1;
    g->control = no_control;
    g->drawn++;
    return 0;
}

static int decode(paged *p, fault *f)
{
    gif_reader *g = (gif_reader *)p;
    if (g->drawn > p->image.page && start_library(g, f) != 0) return -1;
    p->pitch = image_pitch(&p->image);
    if (image_reserve(&p->image, &p->image.rows, canvas_bytes(g), f) != 0) return -1;
    while (g->drawn <= p->image.page) {
        const int more = find_frame(g, g->drawn, f);
        if (more < 0 || (more == 0 && damaged(g, g->drawn, "it is missing", f) != 0) || draw_frame(g, f) != 0)
            return -1;
    }
    p->pixels = p->image.rows.data;
    return 0;
}

static void close_gif(paged *p)
{
    gif_reader *g = (gif_reader *)p;
    if (g->gif) DGifCloseFile(g->gif, NULL);
    free(g->before);
}

const paged_format gif_pages = {
    .size = sizeof(gif_reader), .whole = true, .open = open_gif, .decode = decode, .close = close_gif};
