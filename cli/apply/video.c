/* One frame after the other, in one buffer: memory does not grow with the video, and a frame leaves as soon as it came.
 * Luma is mapped in place. */
#include "apply/video.h"

#include <stdlib.h>

#include "apply/recent.h"
#include "base/failure.h"
#include "base/progress.h"
#include "output/clip.h"

typedef struct video {
    job *job;
    y4m *in;
    outfile *out;
    recent recent;
    unsigned char *planes; /* of the frame */
    histo_view luma;
    histo_view counted; /* part of it */
    histo_view mask;
} video;

/* ---- Before the first frame ---- */

static int check_options(const video *v, fault *f)
{
    const settings *s = v->job->settings;
    const char *name = job_name(v->job);
    if (s->color || s->channels)
        return fault_set(f, EXIT_USAGE, "%s is video, whose luma is mapped: leave --%s out", name,
                         s->color ? "color" : "channel");
    if (s->read.has_page || s->bits)
        return fault_set(f, EXIT_USAGE, "%s is video, all of whose frames stay as they are: leave --%s out", name,
                         s->bits ? "bits" : "page");
    return 0;
}

/* One table, of the luma. */
static int make_tables(job *j, histo_dtype dtype, fault *f)
{
    j->tones = (tones){.count = 1, .tables = 1, .dtype = dtype, .tone = calloc(1, sizeof(tone))};
    if (!j->tones.tone) return fault_set(f, EXIT_DATA, "%s: no memory for a table", job_name(j));
    return job_make_tables(j, f);
}

static int begin_levels(const video *v, fault *f)
{
    job *j = v->job;
    const settings *s = j->settings;
    const int64_t values = INT64_C(1) << v->in->bits, bins = s->bin_count ? s->bin_count : j->kind->bins;
    j->largest = values - 1;
    if (levels_begin(&j->levels[0], v->luma.dtype, j->largest, s, bins, f) != 0) return -1;
    if (j->levels[0].axis.bins > values) j->levels[0].axis = histo_axis_integer(0, values);
    return 0;
}

/* The part of the luma that counts. */
static int find_counted(video *v, fault *f)
{
    job *j = v->job;
    const settings *s = j->settings;
    const int64_t whole[] = {0, 0, v->in->width, v->in->height}, *roi = s->has_roi ? s->roi : whole;
    const size_t size = y4m_sample_bytes(v->in);
    if (roi[0] + roi[2] > whole[2] || roi[1] + roi[3] > whole[3])
        return fault_set(f, EXIT_USAGE, "--roi reaches outside %s, which has %lld x %lld pixels", job_name(j),
                         (long long)whole[2], (long long)whole[3]);
    v->counted = v->luma;
    v->counted.data = v->planes + (size_t)(roi[1] * whole[2] + roi[0]) * size;
    v->counted.shape[0] = roi[3];
    v->counted.shape[1] = roi[2];
    if (!s->mask) return 0;
    j->mask = mask_open(s->mask, pages_reader(j->pages), f);
    if (!j->mask) return -1;
    return mask_view(j->mask, roi[1], roi[0], roi[3], roi[2], &v->mask, f);
}

static int begin(video *v, fault *f)
{
    job *j = v->job;
    const settings *s = j->settings;
    if (check_options(v, f) != 0) return -1;
    v->planes = malloc(v->in->frame_bytes);
    if (!v->planes) return fault_set(f, EXIT_DATA, "%s: no memory for a frame", job_name(j));
    v->luma = y4m_view(v->in, 0, v->planes);
    if (make_tables(j, v->luma.dtype, f) != 0 || begin_levels(v, f) != 0 || find_counted(v, f) != 0) return -1;
    if (recent_make(&v->recent, s->smooth ? s->smooth : 1, &j->levels[0].axis, NULL, f) != 0) return -1;
    j->dtype = v->luma.dtype;
    if (j->kind->begin && j->kind->begin(j, f) != 0) return -1;
    v->out = clip_open(s->output, job_name(j), f);
    return v->out ? 0 : -1;
}

/* ---- Frames ---- */

static int count(video *v, fault *f)
{
    job *j = v->job;
    const histo_plan_options options = {.device = j->settings->device, .threads = j->settings->threads};
    const histo_fill_options fill = {.mask = j->mask ? &v->mask : NULL};
    histo_hist *hist = recent_next(&v->recent, f);
    histo_status status = HISTO_OK;
    if (!hist) return -1;
    if (!j->plan) status = histo_plan_create(&j->plan, hist, &v->counted, &fill, &options);
    if (status == HISTO_OK) status = histo_plan_fill(j->plan, hist, &v->counted, &fill);
    if (status != HISTO_OK) return fault_of_library(f, EXIT_DATA, job_name(j));
    return recent_add(&v->recent, f);
}

static int map_frame(video *v, fault *f)
{
    job *j = v->job;
    const histo_apply_options options = {.threads = j->settings->threads};
    if (count(v, f) != 0) return -1;
    j->hists[0] = v->recent.sum;
    const int failed = j->kind->make(j, 0, f);
    j->hists[0] = NULL;
    if (failed) return -1;
    if (histo_map_apply(j->maps[0], &v->luma, &v->luma, &options) == HISTO_OK) return 0;
    return fault_of_library(f, EXIT_DATA, job_name(j));
}

static int run(video *v, fault *f)
{
    const input *bytes = v->in->in;
    int more;
    if (begin(v, f) != 0 || clip_begin(v->out, &v->in->header, f) != 0) return -1;
    while ((more = y4m_next(v->in, f)) > 0) {
        if (y4m_read(v->in, v->planes, f) != 0 || map_frame(v, f) != 0) return -1;
        y4m_reorder(v->in, v->planes);
        if (clip_frame(v->out, &v->in->frame_header, v->planes, v->in->frame_bytes, f) != 0) return -1;
        progress_update(input_position(bytes), input_size(bytes));
    }
    if (more < 0) return -1;
    outfile *out = v->out;
    v->out = NULL;
    return outfile_commit(out, f);
}

int video_run(job *j, fault *f)
{
    video v = {.job = j, .in = pages_video(j->pages)};
    int failed = run(&v, f);
    recent_free(&v.recent);
    free(v.planes);
    outfile_abandon(v.out);
    return failed;
}
