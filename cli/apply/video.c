/* One frame after the other, in a single buffer: memory does not grow with the video, and each frame is written before
 * the next is read. Luma is mapped in place. */
#include "apply/video.h"

#include <stdlib.h>

#include "apply/recent.h"
#include "base/failure.h"
#include "base/progress.h"
#include "output/clip.h"

typedef struct video {
    job *job;
    y4m *in;
    outfile *out; /* or NULL */
    recent recent;
    unsigned char *planes; /* of the frame */
    histo_view luma;
    band frame;             /* of the luma */
    unsigned char *classes; /* written instead of the planes, or NULL */
} video;

/* ---- Before the first frame ---- */

static int check_options(const video *v, fault *f)
{
    const settings *s = v->job->settings;
    const char *name = job_name(v->job);
    if (s->color || s->channels)
        return fault_set(f, EXIT_USAGE, "%s is video, whose luma is mapped: leave --%s out", name,
                         s->color ? "color" : "channel");
    if (s->to_8_bits) return fault_set(f, EXIT_USAGE, "%s is video, which keeps its bits: leave --to 8bit out", name);
    if (s->read.has_page || s->bits)
        return fault_set(f, EXIT_USAGE, "%s is video, which keeps its frames and bits: leave --%s out", name,
                         s->bits ? "bits" : "page");
    return 0;
}

/* Make a single table, for the luma. */
static int make_table(job *j, int bits, histo_dtype dtype, fault *f)
{
    const int64_t values = INT64_C(1) << bits;
    j->largest = values - 1;
    j->dtype = j->kind->classes ? HISTO_U8 : dtype;
    j->tones = (tones){.count = 1, .tables = 1, .dtype = dtype, .tone = calloc(1, sizeof(tone))};
    if (!j->tones.tone) return fault_set(f, EXIT_DATA, "%s: no memory for a table", job_name(j));
    if (job_make_tables(j, f) != 0) return -1;
    levels *l = &j->levels[0];
    if (levels_begin(l, dtype, j->largest, j->settings, j->kind->bins, f) != 0) return -1;
    if (l->axis.kind == HISTO_INTEGER) l->axis = histo_axis_integer(0, values);
    return 0;
}

static int make_room(video *v, fault *f)
{
    const y4m *in = v->in;
    v->planes = malloc(in->frame_bytes);
    if (v->job->kind->classes) v->classes = malloc((size_t)(in->width * in->height));
    if (!v->planes || (v->job->kind->classes && !v->classes))
        return fault_set(f, EXIT_DATA, "%s: no memory for a frame", job_name(v->job));
    v->luma = y4m_view(in, 0, v->planes);
    v->frame = (band){.rows = in->height, .cols = in->width, .views = &v->luma};
    return 0;
}

static int open_output(video *v, fault *f)
{
    const char *path = v->job->settings->output;
    y4m_line header = v->in->header;
    if (!path) return 0;
    if (!(v->out = clip_open(path, job_name(v->job), f))) return -1;
    if (v->classes) y4m_gray_header(v->in, &header);
    return clip_begin(v->out, &header, f);
}

static int begin(video *v, fault *f)
{
    job *j = v->job;
    const settings *s = j->settings;
    if (check_options(v, f) != 0 || make_room(v, f) != 0) return -1;
    if (make_table(j, v->in->bits, v->luma.dtype, f) != 0) return -1;
    if (s->mask && mask_open(&j->mask, s->mask, pages_reader(j->pages), f) != 0) return -1;
    if (recent_make(&v->recent, s->smooth ? s->smooth : 1, &j->levels[0].axis, NULL, f) != 0) return -1;
    if (j->kind->begin && j->kind->begin(j, f) != 0) return -1;
    return open_output(v, f);
}

/* ---- Frames ---- */

/* Whether hists[0] is v->recent's sum; a job with its own gather owns its counts. */
static bool counts_frames(const job_kind *kind)
{
    return !kind->gather || kind->gathers_counts;
}

/* Count the last frames. */
static int count(video *v, fault *f)
{
    job *j = v->job;
    if (!(j->hists[0] = recent_next(&v->recent, f)) || job_fill(j, f) != 0 || recent_add(&v->recent, f) != 0) return -1;
    j->hists[0] = v->recent.sum;
    histo_tally tally;
    if (histo_hist_tally(j->hists[0], &tally) != HISTO_OK) return fault_of_library(f, EXIT_DATA, job_name(j));
    return tally.bins ? 0 : job_fault_nothing(j, f);
}

static int make_map(video *v, fault *f)
{
    job *j = v->job;
    const job_kind *kind = j->kind;
    if (counts_frames(kind) && count(v, f) != 0) return -1;
    if (kind->gather && kind->gather(j, f) != 0) return -1;
    return kind->make(j, 0, f);
}

static int apply_map(video *v, fault *f)
{
    job *j = v->job;
    const histo_apply_options options = {.threads = j->settings->threads};
    histo_view to = v->luma;
    if (v->classes) to = histo_view_nd(v->classes, HISTO_U8, 2, v->luma.shape);
    if (j->kind->apply) return j->kind->apply(j, 0, &v->frame, &v->luma, &to, f);
    if (histo_map_apply(j->maps[0], &v->luma, &to, &options) == HISTO_OK) return 0;
    return fault_of_library(f, EXIT_DATA, job_name(j));
}

static int put_frame(video *v, fault *f)
{
    const y4m *in = v->in;
    if (v->classes) return clip_frame(v->out, &in->frame_header, v->classes, (size_t)(in->width * in->height), f);
    y4m_reorder(in, v->planes);
    return clip_frame(v->out, &in->frame_header, v->planes, in->frame_bytes, f);
}

static int run(video *v, fault *f)
{
    job *j = v->job;
    const input *bytes = v->in->in;
    int more;
    if (begin(v, f) != 0) return -1;
    j->frame = &v->frame;
    for (; (more = y4m_next(v->in, f)) > 0; j->unit++) {
        if (y4m_read(v->in, v->planes, f) != 0 || make_map(v, f) != 0) return -1;
        if (v->out && (apply_map(v, f) != 0 || put_frame(v, f) != 0)) return -1;
        progress_update(input_position(bytes), input_size(bytes));
    }
    outfile *out = v->out;
    if (more < 0 || !out) return more;
    v->out = NULL;
    return outfile_commit(out, f);
}

int video_run(job *j, fault *f)
{
    video v = {.job = j, .in = pages_video(j->pages)};
    int failed = run(&v, f);
    if (j->hists && counts_frames(j->kind)) j->hists[0] = NULL;
    j->frame = NULL;
    recent_free(&v.recent);
    free(v.planes);
    free(v.classes);
    outfile_abandon(v.out);
    return failed;
}
