/* histo track: follow a window through frames. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "output/rows.h"
#include "video/frames.h"
#include "video/shift.h"

typedef struct track {
    shift_method *method;
    bool by_kernel;
    frames frames;
    model model;
    rows *to;
    int64_t window[4];
} track;

/* The model is the window of the first frame, unless one is saved. */
static int find_model(track *t, const settings *s, fault *f)
{
    float *profile = NULL;
    histo_view weights;
    if (t->by_kernel) {
        if (!(profile = shift_profile(t->window))) return fault_set(f, EXIT_DATA, "no memory for the window");
        weights = histo_view_nd(profile, HISTO_F32, 2, (const int64_t[]){t->window[3], t->window[2]});
    }
    int failed = s->model ? 0 : model_count(&t->model.hist, &t->frames.planes, t->window, profile ? &weights : NULL, f);
    free(profile);
    return failed ? -1 : model_project(&t->model, &t->frames.space, f);
}

static int begin(track *t, const settings *s, fault *f)
{
    if (s->window[2] == 0)
        return fault_set(f, EXIT_USAGE,
                         "the window around the object in the first frame is missing: add --window X,Y,W,H");
    t->by_kernel = s->method && strcmp(s->method, "comaniciu") == 0;
    t->method = t->by_kernel ? shift_kernel : s->method && strcmp(s->method, "camshift") == 0 ? shift_cam : shift_mean;
    memcpy(t->window, s->window, sizeof t->window);
    if (s->model && model_load(&t->model, s->model, f) != 0) return -1;
    if (frames_open(&t->frames, s, t->model.hist, model_name(&t->model), f) != 0 ||
        model_check_space(&t->model, &t->frames.space, s, f) != 0)
        return -1;
    const planes *p = &t->frames.planes;
    return model_check_window("window", t->window, p->width, p->height, input_name(t->frames.reader->in), f);
}

/* The object is where it was said to be in the first frame, unless its model is another's. */
static int follow(track *t, const settings *s, fault *f)
{
    static const char *const names[] = {"frame", "x", "y", "w", "h", "iterations"};
    int more;
    while ((more = frames_next(&t->frames, f)) > 0) {
        const bool first = t->frames.count == 1;
        int steps = 0;
        if (first && find_model(t, s, f) != 0) return -1;
        if (first) rows_begin(t->to, names, 6);
        if ((!first || s->model) && t->method(&t->model, &t->frames.planes, t->window, &steps, f) != 0) return -1;
        rows_count(t->to, (uint64_t)t->frames.count - 1);
        for (int i = 0; i < 4; i++)
            rows_count(t->to, (uint64_t)t->window[i]);
        rows_count(t->to, (uint64_t)steps);
        if (fflush(outfile_stream(t->to->file)) != 0) return outfile_fail(t->to->file, errno, f);
    }
    if (more == 0 && t->frames.count == 0)
        return fault_set(f, EXIT_DATA, "%s has no frames", input_name(t->frames.reader->in));
    return more < 0 ? -1 : 0;
}

static int run(const settings *s, rows *to, fault *f)
{
    track t = {.to = to};
    if (to->format == ROWS_TEXT && !s->output) to->format = ROWS_TSV; /* which does not wait for the widest cells */
    int failed = begin(&t, s, f);
    if (!failed) failed = follow(&t, s, f);
    frames_close(&t.frames);
    model_free(&t.model);
    return failed;
}

int command_track(const settings *s)
{
    return rows_command(s, run);
}
