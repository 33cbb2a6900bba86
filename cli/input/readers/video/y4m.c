/* Video in the YUV4MPEG2 format: each frame is a page, whose band is the whole frame, because its planes are stored one
 * after the other. The channels are luma, Cb, Cr and alpha; chroma may be subsampled. All frames are counted unless
 * --page selects one. */
#include "input/readers/video/y4m_stream.h"

#include <inttypes.h>

#include "input/readers/readers.h"

typedef struct y4m_reader {
    reader reader; /* must be first */
    y4m video;
    histo_dtype dtypes[Y4M_PLANES];
    channel_step steps[Y4M_PLANES];
    int64_t wanted;        /* the only page; -1: all */
    unsigned char *planes; /* of a frame that could not be mapped */
} y4m_reader;

/* The current frame's planes, or NULL. */
static const unsigned char *read_planes(y4m_reader *p, fault *f)
{
    const unsigned char *mapped = y4m_map(&p->video);
    if (mapped) return mapped;
    if (!p->planes && !(p->planes = arena_take(&p->reader.memory, 1, p->video.frame_bytes))) {
        fault_set(f, EXIT_DATA, "%s: no memory for a frame of %zu bytes", input_name(p->reader.in),
                  p->video.frame_bytes);
        return NULL;
    }
    return y4m_read(&p->video, p->planes, f) == 0 ? p->planes : NULL;
}

static int fault_no_page(const y4m_reader *p, fault *f)
{
    if (p->video.frames == 0) return fault_set(f, EXIT_DATA, "%s has no frames", input_name(p->reader.in));
    return fault_set(f, EXIT_USAGE, "%s has no page %" PRId64 ": its last page is %" PRId64, input_name(p->reader.in),
                     p->wanted, p->video.frames - 1);
}

static int next(reader *r, band *b, fault *f)
{
    y4m_reader *p = (y4m_reader *)r;
    const y4m *v = &p->video;
    const unsigned char *planes;
    if (p->wanted >= 0 && v->frames > p->wanted) return 0;
    do {
        int more = y4m_next(&p->video, f);
        if (more == 0 && p->wanted >= 0) return fault_no_page(p, f);
        if (more <= 0) return more;
        if (!(planes = read_planes(p, f))) return -1;
    } while (v->frames <= p->wanted);
    for (int i = 0; i < r->selected.count; i++)
        r->selected.views[i] = y4m_view(v, r->selected.wanted[i], planes);
    *b = (band){.page = (int)(v->frames - 1), .rows = v->height, .cols = v->width, .views = r->selected.views};
    return 1;
}

static int rewind_y4m(reader *r, fault *f)
{
    return input_rewind(r->in, f) == 0 ? y4m_begin(&((y4m_reader *)r)->video, r->in, f) : -1;
}

static void describe(y4m_reader *p)
{
    static const channel_model models[] = {[1] = CHANNELS_GRAY, [3] = CHANNELS_YUV, [4] = CHANNELS_YUVA};
    const y4m *v = &p->video;
    reader *r = &p->reader;
    for (int i = 0; i < v->planes; i++) {
        p->dtypes[i] = y4m_sample_bytes(v) == 1 ? HISTO_U8 : HISTO_U16;
        p->steps[i] = (channel_step){.x = v->plane[i].step_x, .y = v->plane[i].step_y};
    }
    r->model = models[v->planes];
    r->channels = v->planes;
    r->dtypes = p->dtypes;
    r->steps = p->steps;
    r->video = &p->video;
    r->pages = p->wanted >= 0 ? 1 : -1;
    r->height = v->height;
    r->width = v->width;
}

reader *y4m_open(input *in, const read_options *options, fault *f)
{
    const reader_functions functions = {.next = next, .rewind = rewind_y4m};
    y4m_reader *p = reader_create(sizeof *p, in, functions, f);
    if (!p) return NULL;
    p->wanted = options->has_page ? options->page : -1;
    if (y4m_begin(&p->video, in, f) != 0) {
        reader_destroy(&p->reader);
        return NULL;
    }
    describe(p);
    return &p->reader;
}
